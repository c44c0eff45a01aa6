//! The buffer that the queues of a switch share, and chips that have such a buffer.

use base::cast::{real, whole};
use base::{Factor, Quantity, QuantityError, WireSize};

/// Whether the queues of a switch share a buffer, and how large it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SharedPool {
    /// Every queue has room of its own.
    Off,
    /// A buffer of this size.
    Size(WireSize),
    /// That of a family of chips.
    Chip(Chip),
}

/// A family of switch chips.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chip {
    /// Its name in settings.
    pub name: &'static str,
    /// Its buffer.
    pub bytes: u64,
    /// The factor of its dynamic thresholds, if it is known or can be computed from the most that one port gets.
    pub alpha: Option<f64>,
    /// Its description, and the source of the figures.
    pub about: &'static str,
}

/// The factor of the dynamic threshold of each priority.
#[derive(Clone, PartialEq, Debug)]
pub enum Alphas {
    /// The factor of the chip if it is known, else 1.
    Auto,
    /// By priority, 0 first; the last one counts for all others.
    Given(Vec<f64>),
}

impl SharedPool {
    /// The bytes of the shared buffer, if there is one.
    pub fn bytes(self, packet_bytes: u64) -> Option<u64> {
        match self {
            Self::Off => None,
            Self::Size(size) => Some(size.in_bytes(packet_bytes)),
            Self::Chip(chip) => Some(chip.bytes),
        }
    }

    /// The bytes that a queue of priority 0 with this reserve gets if no other queue holds any: alpha B / (1 + alpha),
    /// plus the reserve. Schemes that measure queues in shares of their buffer use this as the buffer.
    pub fn lone_share(self, alphas: &Alphas, reserve: WireSize, packet_bytes: u64) -> Option<u64> {
        let bytes = self.bytes(packet_bytes)?;
        let reserve = reserve.in_bytes(packet_bytes);
        Some(share(bytes, alphas.of(self)[0]) + reserve)
    }
}

/// The bytes of a pool that a lone queue gets: alpha B / (1 + alpha).
pub(super) fn share(bytes: u64, alpha: f64) -> u64 {
    whole(alpha * real(bytes) / (1.0 + alpha))
}

impl Alphas {
    /// The factors for queues that share `pool`.
    pub fn of(&self, pool: SharedPool) -> Vec<f64> {
        match (self, pool) {
            (Self::Given(alphas), _) => alphas.clone(),
            (Self::Auto, SharedPool::Chip(chip)) => vec![chip.alpha.unwrap_or(USUAL_ALPHA)],
            (Self::Auto, _) => vec![USUAL_ALPHA],
        }
    }
}

impl Quantity for SharedPool {
    fn expected() -> String {
        let names = CHIPS.map(|chip| format!("{:?}", chip.name)).join(", ");
        format!("\"off\", a chip ({names}), or {}", WireSize::expected())
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        if text == "off" {
            return Ok(Self::Off);
        }
        if let Some(chip) = CHIPS.into_iter().find(|chip| chip.name == text) {
            return Ok(Self::Chip(chip));
        }
        let size = WireSize::parse(text);
        size.map(Self::Size)
            .map_err(|_| QuantityError::expected(&Self::expected(), text))
    }
}

impl Quantity for Alphas {
    fn expected() -> String {
        "\"auto\", or numbers above 0 joined by +, that of priority 0 first, as in \"1\" or \"8 + 1\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "auto" {
            return Ok(Self::Auto);
        }
        let factors = text.split('+').map(|factor| Factor::parse(factor).ok());
        let factors: Option<Vec<f64>> = factors.map(|factor| Some(factor?.0)).collect();
        factors
            .map(Self::Given)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

/// Families of chips, the oldest first.
pub const CHIPS: [Chip; 8] = [
    Chip {
        name: "triumph",
        bytes: 4_000_000,
        alpha: Some(0.21),
        about: "48 ports of 1 Gbit/s and 4 of 10: the test bed of DCTCP (SIGCOMM 2010), where one port gets about 700 KB",
    },
    Chip {
        name: "trident+",
        bytes: 9_000_000,
        alpha: Some(1.25),
        about: "48 ports of 10 Gbit/s and 4 of 40; one port gets at most 5 MB",
    },
    Chip {
        name: "trident2",
        bytes: 12 << 20,
        alpha: Some(1.14),
        about: "1.28 Tbit/s, as in DCQCN (SIGCOMM 2015); one port gets at most 6.7 MB",
    },
    Chip {
        name: "trident3",
        bytes: 32_000_000,
        alpha: None,
        about: "3.2 Tbit/s; size as its maker publishes it",
    },
    Chip {
        name: "trident4",
        bytes: 132_000_000,
        alpha: None,
        about: "12.8 Tbit/s; size as its maker publishes it",
    },
    Chip {
        name: "tomahawk",
        bytes: 16 << 20,
        alpha: None,
        about: "3.2 Tbit/s; size as its maker publishes it",
    },
    Chip {
        name: "tomahawk3",
        bytes: 64 << 20,
        alpha: None,
        about: "12.8 Tbit/s; size as its maker publishes it",
    },
    Chip {
        name: "tomahawk6",
        bytes: 267_000_000,
        alpha: None,
        about: "102.4 Tbit/s; size as its maker publishes it",
    },
];

/// The factor for lossless traffic in the profiles of `SONiC`.
const USUAL_ALPHA: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_brings_its_buffer_and_its_factor() {
        let triumph = SharedPool::parse("triumph").unwrap();
        assert_eq!(triumph.bytes(1500), Some(4_000_000));
        assert_eq!(Alphas::Auto.of(triumph), [0.21]);
        let given = Alphas::parse("8 + 0.5").unwrap();
        assert_eq!(given.of(triumph), [8.0, 0.5]);
        let size = SharedPool::parse("100pkt").unwrap();
        assert_eq!(
            (size.bytes(1500), Alphas::Auto.of(size)),
            (Some(150_000), vec![1.0])
        );
    }

    // The most that a lone port gets is alpha B / (1 + alpha).
    #[test]
    fn the_factors_of_chips_give_a_lone_port_what_is_said_of_it() {
        for (name, most) in [("triumph", 700e3), ("trident+", 5e6), ("trident2", 6.7e6)] {
            let chip = CHIPS.into_iter().find(|chip| chip.name == name).unwrap();
            let alpha = chip.alpha.unwrap();
            let share = alpha / (1.0 + alpha) * real(chip.bytes);
            assert!((share / most - 1.0).abs() < 0.01, "{name}: {share}");
        }
    }

    #[test]
    fn what_is_no_pool_is_refused_with_the_names_of_the_chips() {
        let error = SharedPool::parse("trident").unwrap_err().message;
        assert!(error.contains("\"trident+\", \"trident2\""), "{error}");
        for text in ["", "0", "1 + x", "-1", "off"] {
            assert!(Alphas::parse(text).is_err(), "{text}");
        }
    }
}
