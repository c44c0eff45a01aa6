//! Stub of the registry of schemes: the interface that the scenario reader uses.

use std::fmt;

use base::setting::{Key, Settings};
use base::{Count, Fraction, Size};

/// One registered scheme.
pub struct Scheme {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// Its settings.
    pub keys: &'static [Key],
    /// Whether it makes sense only where queues mark.
    pub needs_marking: bool,
}

/// Every registered scheme.
pub fn all() -> &'static [Scheme] {
    &SCHEMES
}

/// A composition of schemes, such as `hscc+cubic`.
pub struct Bundle {
    parts: Vec<&'static Scheme>,
}

impl Bundle {
    /// Reads names joined by `+`.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let part = |name: &str| {
            all()
                .iter()
                .find(|scheme| scheme.name == name)
                .ok_or_else(|| BundleError::Unknown { name: name.into() })
        };
        let parts = text.split('+').map(part).collect::<Result<Vec<_>, _>>()?;
        match parts.as_slice() {
            [_] => Ok(Self { parts }),
            _ => Err(BundleError::Conflict { text: text.into() }),
        }
    }

    /// Whether a part needs queues that mark.
    pub fn needs_marking(&self) -> bool {
        self.parts.iter().any(|part| part.needs_marking)
    }
}

/// Why a text is not a composition of schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleError {
    /// No scheme has this name.
    Unknown {
        /// The name.
        name: String,
    },
    /// Two parts want the same role.
    Conflict {
        /// The composition.
        text: String,
    },
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "there is no scheme {name:?}"),
            Self::Conflict { text } => {
                let parts = text.replace('+', " and ");
                write!(
                    f,
                    "{parts} cannot be combined: both decide the sender's congestion control"
                )
            }
        }
    }
}

impl std::error::Error for BundleError {}

base::settings! {
    /// Settings of DCTCP.
    pub struct Dctcp in "dctcp" {
        /// Weight g of a new sample in the estimate of the share of marked bytes.
        pub g: Fraction = "0.0625",
        /// Estimate before the first sample.
        pub initial_alpha: Fraction = "1",
        /// Smallest congestion window in segments.
        pub min_window: Count = "2",
    }
}

base::settings! {
    /// Settings of RCC.
    pub struct Rcc in "rcc" {
        /// Data in flight towards a receiver, as a queue length.
        pub max_queue: Size = "40pkt",
    }
}

static SCHEMES: [Scheme; 3] = [
    Scheme {
        name: "newreno",
        summary: "TCP NewReno: slow start, congestion avoidance, fast recovery",
        reference: "RFC 5681, RFC 6582",
        keys: &[],
        needs_marking: false,
    },
    Scheme {
        name: "dctcp",
        summary: "Data Center TCP: windows shrink with the share of marked bytes",
        reference: "RFC 8257",
        keys: Dctcp::KEYS,
        needs_marking: true,
    },
    Scheme {
        name: "rcc",
        summary: "Receiver-oriented congestion control: the receiver grants windows",
        reference: "RCC",
        keys: Rcc::KEYS,
        needs_marking: false,
    },
];
