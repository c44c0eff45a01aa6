//! A judged claim: its finding, whether it counts, and the causes that were tried.

use std::fmt;
use std::iter::Sum;

use serde::Serialize;

use super::verdict::{Finding, Verdict};
use crate::{Claim, Experiment};

/// A claim with its measurements.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its full name, as in `rcc/fig5a/queue-lowest`.
    pub id: String,
    /// The claim.
    pub claim: Claim,
    /// The result.
    pub finding: Finding,
    /// Seeds it was judged on.
    pub seeds: u32,
    /// The scale of the run, in one sentence.
    pub scale: String,
    /// Whether it counts among the paper's claims.
    pub standing: Standing,
    /// Its verdicts by other readings of the paper, in the order of the file.
    pub readings: Vec<OtherReading>,
    /// Its verdicts with random lateness of links, by the name of the lateness; empty if none was tried.
    pub phases: Vec<OtherReading>,
    /// Explanations that were tried on its runs.
    pub causes: Vec<TriedCause>,
}

/// Whether a claim counts among those of its paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It does.
    Counted,
    /// It is a check of ours, for this reason.
    Own(String),
    /// It is weaker than the paper's statement, for this reason, and is counted separately.
    Weaker(String),
    /// It is about the runs of this figure of another paper, and counted there.
    CountedIn(String),
}

impl Standing {
    /// The standing of a claim of an experiment.
    pub fn of(claim: &Claim, experiment: &Experiment) -> Self {
        match (&claim.own, &experiment.counted_in) {
            (Some(reason), _) => Self::Own(reason.clone()),
            (None, Some(figure)) => Self::CountedIn(figure.clone()),
            (None, None) => match &claim.weaker {
                Some(reason) => Self::Weaker(reason.clone()),
                None => Self::Counted,
            },
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted => f.write_str("counted"),
            Self::Own(reason) => write!(f, "our own check: {reason}"),
            Self::Weaker(reason) => write!(f, "weaker than the paper's claim: {reason}"),
            Self::CountedIn(figure) => write!(f, "counted in {figure}"),
        }
    }
}

/// A claim by another reading of the paper, or with random lateness of links.
#[derive(Clone, Debug)]
pub struct OtherReading {
    /// Its name, as in `code`.
    pub name: String,
    /// The paper's sentence in this reading.
    pub says: String,
    /// The difference, as `KEY = VALUE` or in words; empty for the experiment's own reading.
    pub set: String,
    /// The claim's result.
    pub finding: Finding,
}

/// A cause that was tried, as one claim sees it.
#[derive(Clone, Debug)]
pub struct TriedCause {
    /// Its name within the experiment.
    pub id: String,
    /// Its assumption.
    pub says: String,
    /// The change, as `KEY = VALUE` or in words.
    pub set: String,
    /// The claim's result.
    pub finding: Finding,
    /// Its effect on all claims of the figures in `over`.
    pub effect: Effect,
    /// The figures of the paper on whose runs it was tried; empty for this figure alone.
    pub over: Vec<String>,
}

/// The effect of a cause on the claims about the runs that it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Effect {
    /// Claims that hold with it but not without.
    pub explains: usize,
    /// Claims that hold without it but not with it.
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

impl Sum for Effect {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |sum, effect| Self {
            explains: sum.explains + effect.explains,
            breaks: sum.breaks + effect.breaks,
        })
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { explains, breaks } = self;
        write!(f, "explains {explains}, breaks {breaks}")
    }
}

impl Judged {
    /// Whether its verdict depends on the order of simultaneous events, which random lateness of links changes.
    pub fn hangs_on_order(&self) -> bool {
        let mut phases = self.phases.iter();
        phases.any(|phase| phase.finding.verdict != self.finding.verdict)
    }

    /// Its verdict by the reading with this name, or by the experiment's own reading if there is none.
    pub fn verdict_by(&self, reading: &str) -> Verdict {
        let mut readings = self.readings.iter();
        let read = readings.find(|read| read.name == reading);
        read.map_or(self.finding.verdict, |read| read.finding.verdict)
    }

    /// The causes that explain it, if it needs an explanation.
    pub fn explained_by(&self) -> impl Iterator<Item = &TriedCause> {
        let missed = self.finding.verdict.is_missed();
        let causes = self.causes.iter();
        causes.filter(move |tried| missed && tried.explains())
    }
}

impl TriedCause {
    /// Its effect on claims, and the figures if there are several: `explains 3, breaks 1 in fig8, fig9`.
    pub fn weighs(&self) -> String {
        match &self.over[..] {
            [] | [_] => self.effect.to_string(),
            figures => format!("{} in {}", self.effect, figures.join(", ")),
        }
    }

    /// Whether it is the cause: the claim holds with it, and it explains more claims than it breaks.
    pub fn explains(&self) -> bool {
        self.finding.verdict == Verdict::Reproduced && self.effect.is_gain()
    }
}
