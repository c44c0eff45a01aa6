//! What could be there instead of what is there today.

use crate::seen::Observation;

/// One cure, as a row of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Cure {
    /// What people call it.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// What `tailwater attach` calls it, if that can put it at the port.
    pub attach: Option<&'static str>,
    /// If the label is that of a variant: the label, the scheme it varies, and the setting that differs.
    pub(crate) variant: Option<(String, String, &'static str, String)>,
}

impl Cure {
    /// The composition of schemes.
    pub(crate) fn bundle(&self) -> &str {
        self.variant
            .as_ref()
            .map_or(&self.scheme, |(_, base, ..)| base)
    }

    fn law(name: &'static str, today: &str) -> Self {
        Self {
            name: name.to_owned(),
            scheme: format!("{name}+{today}"),
            attach: Some(name),
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
    |_, _| Some(Cure::alone("rcc")),
    |_, today| Some(Cure::law("hscc", today)),
    |_, today| Some(Cure::law("rwndq", today)),
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
