//! The runs by which claims are judged.

use std::collections::BTreeMap;

use scenario::Problems;

use super::swept::SweptValues;
use crate::{Claim, ExperimentChange, Measure, MeasuredRun, Number, Operand};

/// The runs by which the claims of an experiment are judged.
#[derive(Clone)]
pub struct Bench<'a> {
    /// The runs of the experiment itself.
    pub own: &'a MeasuredRun,
    /// The runs of other figures of the paper, by name.
    pub others: BTreeMap<&'a str, &'a MeasuredRun>,
    /// Changed settings or measures, and the runs with them if there are any.
    pub changed: Option<(&'a ExperimentChange, Option<&'a MeasuredRun>)>,
}

impl<'a> Bench<'a> {
    /// The same bench with a reading or a cause; `runs` are the runs with its settings, if it has any.
    #[must_use]
    pub fn with(&self, change: &'a ExperimentChange, runs: Option<&'a MeasuredRun>) -> Self {
        Self {
            changed: Some((change, runs)),
            ..self.clone()
        }
    }

    /// Announces these claims to the runs, so that one pass over a table computes everything that is needed.
    pub fn expect<'c>(&self, claims: impl Iterator<Item = &'c Claim>) {
        for operand in claims.flat_map(|claim| claim.kind.operands()) {
            if let Some(runs) = self.runs(operand) {
                runs.expect([self.measured(operand)].iter());
            }
        }
    }

    /// The runs in which an operand is measured; `None` if its figure was not run.
    pub(super) fn runs(&self, operand: &Operand) -> Option<&'a MeasuredRun> {
        if let Some(name) = &operand.run {
            return self.others.get(name.as_str()).copied();
        }
        match self.changed {
            Some((change, Some(runs)))
                if change.schemes.is_empty() || change.schemes.contains(&operand.scheme) =>
            {
                Some(runs)
            }
            _ => Some(self.own),
        }
    }

    /// Whether a number compares averages, instead of averaging the comparisons at each point.
    pub(super) fn of_averages(&self, number: &Number) -> bool {
        let changed = self.changed.and_then(|(change, _)| change.of_averages);
        changed.unwrap_or(number.of_averages)
    }

    /// The values of an operand along the axes.
    pub(super) fn along(&self, claim: &Claim, operand: &Operand) -> Result<SweptValues, Problems> {
        match self.runs(operand) {
            Some(runs) => SweptValues::new(runs, claim, (operand, &self.measured(operand))),
            None => Ok(SweptValues::default()),
        }
    }

    /// The measure of an operand, with the change applied.
    fn measured(&self, operand: &Operand) -> Measure {
        match self.changed {
            Some((change, _)) => change.measured(&operand.measure),
            None => operand.measure.clone(),
        }
    }
}
