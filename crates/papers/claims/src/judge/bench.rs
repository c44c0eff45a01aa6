//! The runs by which claims are judged.

use std::collections::BTreeMap;

use scenario::Problems;

use super::along::Along;
use crate::{Cause, Claim, Measured, Operand};

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
    pub(super) fn runs(&self, operand: &Operand) -> Option<&'a Measured> {
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
    pub(super) fn along(&self, claim: &Claim, operand: &Operand) -> Result<Along, Problems> {
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
