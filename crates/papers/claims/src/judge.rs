//! Judging claims by what was measured.
//!
//! A number is reproduced if ours is within the claim's tolerance of the paper's, or if the paper's lies
//! between the least and the greatest of the seeds; a range is reproduced if ours is inside. Partly, if sign
//! and order hold and ours is within a factor of 2. Orders and shapes are counted: reproduced if they hold
//! everywhere, partly if at half of the places or more. Nothing else enters a verdict.

mod along;
mod count;
mod number;
mod order;
mod shape;

use std::collections::BTreeMap;
use std::fmt;

use scenario::Problems;
use serde::Serialize;

use super::measured::Measured;
use super::unit::Dimension;
use super::{Cause, Claim, ClaimKind, Experiment, Operand};
use along::Along;
pub use count::{Bias, Counts, Shift, Standing};

/// What becomes of a claim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Verdict {
    /// It holds.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Sign and order hold and the number is within a factor of 2; or it holds at half of the places.
    #[serde(rename = "partly")]
    Partly,
    /// It does not hold.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// What it would need was never published, or it says nothing about these runs.
    #[serde(rename = "not testable")]
    NotTestable,
}

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

/// What was measured for a claim and what follows.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What the paper says, in a few words: `47.5 %`, `rcc lowest`.
    pub paper: String,
    /// What came out, in a few words.
    pub ours: String,
    /// Ours as a number in the claim's unit, if the claim is one.
    pub value: Option<f64>,
    /// Its 95 % interval over the seeds.
    pub interval: Option<(f64, f64)>,
    /// The unit of both.
    pub unit: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
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

impl Tried {
    /// What `cause` makes of a claim, judged with the runs of `bench` that it changes.
    pub fn new(
        claim: &Claim,
        cause: &Cause,
        bench: &Bench<'_>,
        effect: Effect,
    ) -> Result<Self, Problems> {
        Ok(Self {
            id: cause.id.clone(),
            says: cause.says.clone(),
            set: cause.change(),
            finding: judge(claim, bench)?,
            effect,
        })
    }

    /// Whether it is the cause: the claim holds with it, and it explains more claims than it breaks.
    pub fn explains(&self) -> bool {
        self.finding.verdict == Verdict::Reproduced && self.effect.is_gain()
    }
}

/// A figure that has been run and judged: what a report shows.
pub struct Figure<'a> {
    /// The figure.
    pub experiment: &'a Experiment,
    /// Its runs, and those of other figures that its plots and claims refer to.
    pub bench: Bench<'a>,
    /// Its claims, in the order of the file.
    pub claims: Vec<Judged>,
    /// How far its numbers are off; none without any.
    pub bias: Option<Bias>,
}

/// The runs by which the claims of an experiment are judged.
#[derive(Clone)]
pub struct Bench<'a> {
    /// The runs of the experiment itself.
    pub own: &'a Measured,
    /// Those of other figures of the paper, by name.
    pub others: BTreeMap<&'a str, &'a Measured>,
    /// A cause, and its runs if it has any.
    pub changed: Option<(&'a Cause, Option<&'a Measured>)>,
}

impl<'a> Bench<'a> {
    /// The same with what a cause changes; `runs` are those of its settings, if it has any.
    #[must_use]
    pub fn with(&self, cause: &'a Cause, runs: Option<&'a Measured>) -> Self {
        Self {
            changed: Some((cause, runs)),
            ..self.clone()
        }
    }

    /// The runs in which an operand is measured; none if its figure was not run.
    fn runs(&self, operand: &Operand) -> Option<&'a Measured> {
        if let Some(name) = &operand.run {
            return self.others.get(name.as_str()).copied();
        }
        match self.changed {
            Some((cause, Some(runs)))
                if cause.schemes.is_empty() || cause.schemes.contains(&operand.scheme) =>
            {
                Some(runs)
            }
            _ => Some(self.own),
        }
    }

    /// The values of an operand along the axes.
    fn along(&self, claim: &Claim, operand: &Operand) -> Result<Along, Problems> {
        match self.runs(operand) {
            Some(runs) => {
                let measure = match self.changed {
                    Some((cause, _)) => cause.measured(&operand.measure),
                    None => operand.measure.clone(),
                };
                Along::new(runs, claim, (operand, &measure))
            }
            None => Ok(Along::default()),
        }
    }
}

/// Judges a claim.
pub fn judge(claim: &Claim, bench: &Bench<'_>) -> Result<Finding, Problems> {
    let mut finding = match &claim.kind {
        ClaimKind::Number(number) => number::judge(claim, number, bench)?,
        ClaimKind::Order(order) => order::judge(claim, order, bench)?,
        ClaimKind::Shape(shape) => shape::judge(claim, shape, bench)?,
    };
    if let Some(reason) = &claim.untestable {
        finding.verdict = Verdict::NotTestable;
        finding.reason.clone_from(reason);
    }
    Ok(finding)
}

impl Judged {
    /// Judges a claim of an experiment. `scale` says at what scale it was run.
    pub fn new(
        experiment: &Experiment,
        claim: &Claim,
        bench: &Bench<'_>,
        scale: &str,
    ) -> Result<Self, Problems> {
        Ok(Self {
            id: format!("{}/{}", experiment.id(), claim.id),
            claim: claim.clone(),
            finding: judge(claim, bench)?,
            seeds: bench.own.folder().summary().seeds,
            scale: scale.to_owned(),
            standing: Standing::of(claim, experiment),
            causes: Vec::new(),
        })
    }

    /// The causes that explain it, if it needs an explanation.
    pub fn explained_by(&self) -> impl Iterator<Item = &Tried> {
        let missed = self.finding.verdict.is_missed();
        let causes = self.causes.iter();
        causes.filter(move |tried| missed && tried.explains())
    }
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::NotReproduced => "not reproduced",
            Self::NotTestable => "not testable",
        }
    }

    /// Whether there is something to explain: it could be tested and does not hold, or only in part.
    pub fn is_missed(self) -> bool {
        matches!(self, Self::Partly | Self::NotReproduced)
    }

    /// Every verdict, the best first.
    pub const ALL: [Self; 4] = [
        Self::Reproduced,
        Self::Partly,
        Self::NotReproduced,
        Self::NotTestable,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// At how many places something holds.
#[derive(Clone, Debug, Default)]
struct Tally {
    held: usize,
    all: usize,
    /// Places left out because all that is ordered is equal there.
    equal: usize,
    /// What is wrong where it first does not hold.
    miss: Option<String>,
}

impl Tally {
    fn add(&mut self, holds: bool, miss: impl FnOnce() -> String) {
        self.all += 1;
        if holds {
            self.held += 1;
        } else if self.miss.is_none() {
            self.miss = Some(miss());
        }
    }

    fn verdict(&self) -> Verdict {
        if self.all > 0 && self.held == self.all {
            Verdict::Reproduced
        } else if self.held > 0 && 2 * self.held >= self.all {
            Verdict::Partly
        } else {
            Verdict::NotReproduced
        }
    }

    /// Why, in one sentence; `places` is what was counted, in the plural.
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

    fn ours(&self, places: &str) -> String {
        match (self.held, self.all) {
            (_, 0) if self.equal > 0 => "all equal".to_owned(),
            (_, 0) => "no runs".to_owned(),
            (1, 1) => "yes".to_owned(),
            (0, 1) => "no".to_owned(),
            (held, all) => format!("at {held} of {all} {places}"),
        }
    }
}

/// A value of a column in a unit that fits, with three significant digits.
pub fn display(value: f64, dimension: Dimension) -> String {
    let (scale, unit) = match dimension {
        Dimension::Time if value.abs() >= 1e6 => (1e6, " s"),
        Dimension::Time if value.abs() >= 1e3 => (1e3, " ms"),
        Dimension::Time => (1.0, " us"),
        Dimension::TimeSquared if value.abs() >= 1e10 => (1e12, " s²"),
        Dimension::TimeSquared if value.abs() >= 1e4 => (1e6, " ms²"),
        Dimension::TimeSquared => (1.0, " us²"),
        Dimension::Bytes if value.abs() >= 1e6 => (1e6, " MB"),
        Dimension::Bytes if value.abs() >= 1e3 => (1e3, " KB"),
        Dimension::Bytes => (1.0, " bytes"),
        Dimension::Rate if value.abs() >= 1e9 => (1e9, " Gbit/s"),
        Dimension::Rate => (1e6, " Mbit/s"),
        Dimension::Share => (0.01, " %"),
        Dimension::Count => (1.0, ""),
    };
    format!("{}{unit}", digits(value / scale))
}

/// A number with three significant digits, or all digits of a whole number.
pub fn digits(value: f64) -> String {
    if value.is_nan() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    let text = if magnitude >= 100.0 {
        format!("{value:.0}")
    } else if magnitude >= 10.0 {
        format!("{value:.1}")
    } else if magnitude >= 1.0 || value == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
