//! Priority-based flow control: which priorities are lossless, and when they are paused.

use base::{Factor, Quantity, QuantityError, WireSize};

/// The priorities that switches pause rather than drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lossless(u64);

/// The bytes that one port may bring into a switch before it is paused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PauseThreshold {
    /// The alpha of the shared buffer's first priority.
    Auto,
    /// This multiple of the free bytes in the shared buffer.
    Dynamic(f64),
    /// Bytes.
    Static(WireSize),
}

impl Lossless {
    /// A bit mask of the priorities, with priority 0 as the lowest bit; `None` if there are none.
    pub fn classes(self) -> Option<u64> {
        (self.0 > 0).then_some(self.0)
    }

    /// Whether all priorities are lossless.
    pub fn is_all(self) -> bool {
        self.0 == u64::MAX
    }
}

impl Quantity for Lossless {
    fn expected() -> String {
        "\"off\", \"all\", or priorities from 0 to 63 joined by +, as in \"0\" or \"0 + 3\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "off" => return Ok(Self(0)),
            "all" => return Ok(Self(u64::MAX)),
            _ => {}
        }
        let bit = |text: &str| {
            let class = u32::parse(text.trim()).ok().filter(|class| *class < 64);
            class.map(|class| 1 << class)
        };
        text.split('+')
            .try_fold(0, |all, class| Some(all | bit(class)?))
            .map(Self)
            .ok_or_else(|| QuantityError::expected(&Self::expected(), text))
    }
}

impl Quantity for PauseThreshold {
    fn expected() -> String {
        format!(
            "\"auto\", a number above 0 that multiplies what the shared buffer has free, as in \"0.125\", or {}",
            WireSize::expected()
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "auto" {
            return Ok(Self::Auto);
        }
        if let Ok(Factor(factor)) = Factor::parse(text) {
            return Ok(Self::Dynamic(factor));
        }
        WireSize::parse(text)
            .map(Self::Static)
            .map_err(|_| QuantityError::expected(&Self::expected(), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_numbers_joined_by_plus() {
        let classes = |text| Lossless::parse(text).unwrap().classes();
        assert_eq!(classes("off"), None);
        assert_eq!(
            [classes("all"), classes("0 + 3")],
            [Some(u64::MAX), Some(0b1001)]
        );
        for text in ["", "64", "0, 3", "on"] {
            assert!(Lossless::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_threshold_is_a_size_or_a_factor() {
        let threshold = |text| PauseThreshold::parse(text).unwrap();
        assert_eq!(threshold("0.125"), PauseThreshold::Dynamic(0.125));
        assert_eq!(
            threshold("24KB"),
            PauseThreshold::Static(WireSize::bytes(24_000))
        );
        assert!(PauseThreshold::parse("0").is_err());
    }
}
