//! What could be there instead of what is there today.

use schemes::Scheme;
use schemes::linux::{self, KernelLaw, Site};
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

impl From<Site> for Place {
    fn from(site: Site) -> Self {
        match site {
            Site::Port => Self::Port,
            Site::Receiver => Self::Receiver,
        }
    }
}

impl Cure {
    /// The composition of schemes.
    pub(crate) fn bundle(&self) -> &str {
        self.variant
            .as_ref()
            .map_or(&self.scheme, |(_, base, ..)| base)
    }

    /// A law of the kernel, beside the senders that are there. Where traffic comes in by the device, the queue is that of a
    /// switch before it.
    fn law(scheme: &Scheme, law: &KernelLaw, seen: &Observation, today: &str) -> Option<Self> {
        let is_there = law.site == Site::Receiver || seen.leaves();
        let budget = law.budget;
        let attach = is_there.then(|| Attach {
            scheme: law.name.to_owned(),
            at: law.site.into(),
            sets: budget
                .map(|key| format!("{key}={}B", seen.budget()))
                .into_iter()
                .collect(),
        });
        Some(Self {
            name: law.cure?.to_owned(),
            scheme: format!("{}+{today}", scheme.name),
            attach,
            variant: None,
        })
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

/// Schemes of other senders and laws of the kernel, as the registry has them.
pub(crate) fn of_registry(seen: &Observation, today: &str) -> Vec<Cure> {
    let laws = schemes::all().iter().filter_map(|scheme| {
        let law = scheme.linux.law?;
        Cure::law(scheme, law, seen, today)
    });
    let controls = linux::controls().into_iter();
    let marked = controls.filter(|(scheme, _)| scheme.needs_marking && scheme.name != today);
    laws.chain(marked.map(|(scheme, _)| Cure::alone(scheme.name)))
        .collect()
}

/// Other settings of what is there.
pub(crate) const SETTINGS: [MakeCure; 2] = [
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
