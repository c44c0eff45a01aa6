//! A claim that has been judged: its finding, whether it counts, and the causes that were tried.

use std::fmt;

use serde::Serialize;

use super::verdict::{Finding, Verdict};
use crate::{Claim, Experiment};

/// A claim with what was measured.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its full name, as in `rcc/fig5a/queue-lowest`.
    pub id: String,
    /// The claim.
    pub claim: Claim,
    /// What came out.
    pub finding: Finding,
    /// Seeds it was judged on.
    pub seeds: u32,
    /// At what scale, in one sentence.
    pub scale: String,
    /// Whether it counts among the paper's claims.
    pub standing: Standing,
    /// Explanations that were tried on its runs.
    pub causes: Vec<Tried>,
}

/// Whether a claim counts among those of its paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It does.
    Counted,
    /// It is a check of our own, for this reason.
    Own(String),
    /// It is about the runs of this figure of another paper, and counted there.
    CountedIn(String),
}

impl Standing {
    /// That of a claim of an experiment.
    pub fn of(claim: &Claim, experiment: &Experiment) -> Self {
        match (&claim.own, &experiment.counted_in) {
            (Some(reason), _) => Self::Own(reason.clone()),
            (None, Some(figure)) => Self::CountedIn(figure.clone()),
            (None, None) => Self::Counted,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted => f.write_str("counted"),
            Self::Own(reason) => write!(f, "our own check: {reason}"),
            Self::CountedIn(figure) => write!(f, "counted in {figure}"),
        }
    }
}

/// A cause that was tried, as one claim sees it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its name within the experiment.
    pub id: String,
    /// What it supposes.
    pub says: String,
    /// What is different, as `KEY = VALUE` or in words.
    pub set: String,
    /// What came out for the claim.
    pub finding: Finding,
    /// What it does to all claims about the same runs.
    pub effect: Effect,
}

/// What a cause does to the claims of a paper about the runs that it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Effect {
    /// Claims that hold with it and not without.
    pub explains: usize,
    /// Claims that hold without it and not with it.
    pub breaks: usize,
}

impl Effect {
    /// Counts a claim with its verdicts without the cause and with it.
    pub fn add(&mut self, without: Verdict, with: Verdict) {
        self.explains += usize::from(without.is_missed() && with == Verdict::Reproduced);
        self.breaks += usize::from(without == Verdict::Reproduced && with.is_missed());
    }

    /// Whether it explains more than it breaks.
    pub fn is_gain(self) -> bool {
        self.explains > self.breaks
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { explains, breaks } = self;
        write!(f, "explains {explains}, breaks {breaks}")
    }
}

impl Judged {
    /// The causes that explain it, if it needs an explanation.
    pub fn explained_by(&self) -> impl Iterator<Item = &Tried> {
        let missed = self.finding.verdict.is_missed();
        let causes = self.causes.iter();
        causes.filter(move |tried| missed && tried.explains())
    }
}

impl Tried {
    /// Whether it is the cause: the claim holds with it, and it explains more claims than it breaks.
    pub fn explains(&self) -> bool {
        self.finding.verdict == Verdict::Reproduced && self.effect.is_gain()
    }
}
