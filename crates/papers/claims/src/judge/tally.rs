//! Counts the places at which an order or a shape holds.

use super::verdict::{Finding, Verdict};

/// At how many places an order or a shape holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    held: usize,
    all: usize,
    /// Places left out because all ordered values are equal there.
    pub(super) equal: usize,
    /// The error at the first place where it does not hold.
    miss: Option<String>,
}

impl Tally {
    pub(super) fn add(&mut self, holds: bool, miss: impl FnOnce() -> String) {
        self.all += 1;
        if holds {
            self.held += 1;
        } else if self.miss.is_none() {
            self.miss = Some(miss());
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        if self.all > 0 && self.held == self.all {
            Verdict::Reproduced
        } else if self.held > 0 && 2 * self.held >= self.all {
            Verdict::Partly
        } else {
            Verdict::NotReproduced
        }
    }

    /// The finding; `counted` names the counted places, in the plural.
    pub(super) fn finding(&self, paper: String, ours: String, counted: &str) -> Finding {
        Finding {
            paper,
            ours,
            value: None,
            interval: None,
            unit: String::new(),
            verdict: self.verdict(),
            reason: self.reason(counted),
        }
    }

    /// The reason, in one sentence; `places` names the counted places, in the plural.
    fn reason(&self, places: &str) -> String {
        let count = match (self.held, self.all) {
            (_, 0) if self.equal > 0 => return "all are equal, so none has a place".to_owned(),
            (_, 0) => return "nothing was run at these values".to_owned(),
            (1, 1) => return "it holds".to_owned(),
            (0, 1) => "it does not hold".to_owned(),
            (held, all) if held == all => return format!("it holds at all {all} {places}"),
            (held, all) => format!("it holds at {held} of {all} {places}"),
        };
        let miss = self.miss.as_deref().unwrap_or_default();
        format!("{count}: {miss}")
    }

    pub(super) fn ours(&self, places: &str) -> String {
        match (self.held, self.all) {
            (_, 0) if self.equal > 0 => "all equal".to_owned(),
            (_, 0) => "no runs".to_owned(),
            (1, 1) => "yes".to_owned(),
            (0, 1) => "no".to_owned(),
            (held, all) => format!("at {held} of {all} {places}"),
        }
    }
}
