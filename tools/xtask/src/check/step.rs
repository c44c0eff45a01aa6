//! One step of the check: its work, its requirements, and its failures.

use crate::repository::{Failure, Repository};

/// One thing that is checked.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) name: &'static str,
    /// Requirements of the step that this machine lacks.
    pub(super) lacks: fn(&Repository) -> Option<Lack>,
    pub(super) run: fn(&Repository) -> Result<(), Failure>,
}

/// The result of a step that did not fail.
#[derive(Debug, PartialEq)]
pub(super) enum StepResult {
    Done,
    /// It did not run, for this reason.
    Skipped(&'static str),
}

/// Why a step cannot run.
#[derive(Clone, Copy)]
pub(super) enum Lack {
    /// `.ci/run` installs it. If nothing may be skipped, it must be there.
    Installable(&'static str),
    /// CI may be unable to have it, so its absence is never a failure.
    Optional(&'static str),
}

impl Step {
    /// A step that runs on every machine.
    pub(super) const fn new(
        name: &'static str,
        run: fn(&Repository) -> Result<(), Failure>,
    ) -> Self {
        Self {
            name,
            lacks: |_| None,
            run,
        }
    }
}

impl Lack {
    /// Skips the step, unless `no_skip` says that the missing requirement must be there.
    pub(super) fn skip(self, no_skip: bool) -> Result<StepResult, Failure> {
        match self {
            Self::Installable(why) if no_skip => Err(Failure(format!(
                "{why}, and TAILWATER_NO_SKIP is set: .ci/run installs it"
            ))),
            Self::Installable(why) | Self::Optional(why) => Ok(StepResult::Skipped(why)),
        }
    }
}

/// Fails with every line that a step found. Each line has a place, the error and the remedy.
pub(super) fn failed(found: &[Vec<String>]) -> Result<(), Failure> {
    let wrong = found.concat();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("\n  {}", wrong.join("\n  "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ci_installs_may_be_skipped_elsewhere_alone() {
        let lack = Lack::Installable("node is not installed");
        let skipped = StepResult::Skipped("node is not installed");
        assert_eq!(lack.skip(false).unwrap(), skipped);
        let Failure(why) = lack.skip(true).unwrap_err();
        let refused = "node is not installed, and TAILWATER_NO_SKIP is set: .ci/run installs it";
        assert_eq!(why, refused);
    }

    #[test]
    fn what_ci_may_be_unable_to_have_is_skipped_everywhere() {
        let lack = Lack::Optional("there is no database");
        let skipped = StepResult::Skipped("there is no database");
        assert_eq!(lack.skip(true).unwrap(), skipped);
    }
}
