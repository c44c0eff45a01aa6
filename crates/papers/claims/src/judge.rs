//! Judges claims by measurements.
//!
//! A number is reproduced if ours is within the claim's tolerance of the paper's, or if the paper's is between the
//! least and the greatest of the seeds. A range is reproduced if ours is inside. Partly reproduced means that sign and
//! order hold and ours is within a factor of 2. A reduction by more than half, and a share of more than half, are
//! judged by the remainder. Orders and shapes are counted: they are reproduced if they hold everywhere, and partly if
//! they hold at half of the places or more. Nothing else enters a verdict.

mod bench;
mod count;
mod judged;
mod line;
mod number;
mod order;
mod shape;
mod swept;
mod tally;
mod verdict;
mod words;

use scenario::Problems;

use super::{Claim, ClaimKind, Experiment, ExperimentChange};
pub use bench::Bench;
pub use count::{Bias, CauseShift, Counts};
pub use judged::{Effect, Judged, OtherReading, Standing, TriedCause};
pub use verdict::{Finding, Verdict};
pub use words::{digits, display};

/// A figure that has been run and judged, for a report.
pub struct JudgedFigure<'a> {
    /// The figure.
    pub experiment: &'a Experiment,
    /// Its runs, and the runs of other figures to which its plots and claims refer.
    pub bench: Bench<'a>,
    /// Its claims, in the order of the file.
    pub claims: Vec<Judged>,
    /// The deviation of its numbers as a whole; `None` without numbers.
    pub bias: Option<Bias>,
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
            seeds: bench.own.run().summary().seeds,
            scale: scale.to_owned(),
            standing: Standing::of(claim, experiment),
            readings: Vec::new(),
            phases: Vec::new(),
            causes: Vec::new(),
        })
    }
}

impl OtherReading {
    /// Judges a claim under `change`, with the changed runs of `bench`.
    pub fn new(
        claim: &Claim,
        change: &ExperimentChange,
        bench: &Bench<'_>,
    ) -> Result<Self, Problems> {
        Ok(Self {
            name: change.id.clone(),
            says: change.says.clone(),
            set: change.change(),
            finding: judge(claim, bench)?,
        })
    }
}

impl TriedCause {
    /// The verdict on a claim with `cause`, judged with the changed runs of `bench`.
    pub fn new(
        claim: &Claim,
        cause: &ExperimentChange,
        bench: &Bench<'_>,
        effect: Effect,
    ) -> Result<Self, Problems> {
        Ok(Self {
            id: cause.id.clone(),
            says: cause.says.clone(),
            set: cause.change(),
            finding: judge(claim, bench)?,
            effect,
            over: Vec::new(),
        })
    }
}
