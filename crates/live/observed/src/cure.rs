//! What could be there instead of what is there today.

use serde::{Deserialize, Serialize};

use crate::seen::Observation;

/// One cure, as a row of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Cure {
    /// What people call it.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// How `tailwater attach` puts it there, if it can.
    pub attach: Option<Attach>,
    /// If the label is that of a variant: the label, the scheme it varies, and the setting that differs.
    pub(crate) variant: Option<(String, String, &'static str, String)>,
}

/// How `tailwater attach` puts a cure there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attach {
    /// What it calls the cure.
    pub scheme: String,
    /// Where.
    pub at: Place,
    /// Settings as in `--set`, beside those that it has by itself.
    pub sets: Vec<String>,
}

/// Where a cure stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// At the port that was watched, in front of whose link the queue is.
    Port,
    /// At the device by which the receiver's ACKs leave.
    Receiver,
}

impl Cure {
    /// The composition of schemes.
    pub(crate) fn bundle(&self) -> &str {
        self.variant
            .as_ref()
            .map_or(&self.scheme, |(_, base, ..)| base)
    }

    /// A law at the port. Where traffic comes in by the device, the queue is that of a switch before it.
    fn law(name: &str, seen: &Observation, today: &str) -> Self {
        let attach = seen.leaves().then(|| Attach {
            scheme: name.to_owned(),
            at: Place::Port,
            sets: Vec::new(),
        });
        Self {
            name: name.to_owned(),
            scheme: format!("{name}+{today}"),
            attach,
            variant: None,
        }
    }

    /// RCC as a kernel has it, by grants, beside the senders that are there.
    fn grants(seen: &Observation, today: &str) -> Self {
        Self {
            name: "rcc (grant)".to_owned(),
            scheme: format!("rcc+{today}"),
            attach: Some(Attach {
                scheme: "rcc".to_owned(),
                at: Place::Receiver,
                sets: vec![format!("rcc.max_queue={}B", seen.budget())],
            }),
            variant: None,
        }
    }

    fn alone(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            scheme: name.to_owned(),
            attach: None,
            variant: None,
        }
    }

    fn setting(name: &str, label: &str, today: &str, (key, value): (&'static str, String)) -> Self {
        let variant = (label.to_owned(), today.to_owned(), key, value);
        Self {
            name: name.to_owned(),
            scheme: label.to_owned(),
            attach: None,
            variant: Some(variant),
        }
    }
}

/// Makes one for a port that has this scheme today, unless it is there.
type MakeCure = fn(&Observation, &str) -> Option<Cure>;

/// All of them.
pub(crate) const CURES: [MakeCure; 6] = [
    |seen, today| Some(Cure::grants(seen, today)),
    |seen, today| Some(Cure::law("hscc", seen, today)),
    |seen, today| Some(Cure::law("rwndq", seen, today)),
    |_, today| (today != "dctcp").then(|| Cure::alone("dctcp")),
    |seen, today| {
        let has_longer = seen.min_rto_ms.is_none_or(|rto| rto > 10.0);
        let value = ("tcp.min_rto", "10ms".to_owned());
        has_longer.then(|| Cure::setting("min_rto 10ms", "min_rto-10ms", today, value))
    },
    |seen, today| {
        let (room, _) = seen.buffer();
        let value = ("switch.buffer", format!("{}B", 4 * room));
        Some(Cure::setting("buffer x4", "buffer-x4", today, value))
    },
];
