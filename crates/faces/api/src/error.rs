//! Why there is no result.

use scenario::{Problem, Problems};

/// Why there is no result.
///
/// ```
/// use api::{Error, Scenario};
///
/// let Err(Error::Problems(problems)) = Scenario::builder("incats").build() else {
///     panic!("there is no such scenario");
/// };
/// assert!(problems.to_string().contains("incats"));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input was wrong, or a file could not be written.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// The run was stopped before its end. A run with a folder can be continued.
    #[error("the run was stopped before its end")]
    Stopped,
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problems(problem.into())
    }
}

/// The error of a result that cannot be kept, because a disk is full or an executor failed.
pub(crate) fn not_kept(cause: impl Into<String>) -> Error {
    Problem::new(cause).for_lack_of_room().into()
}
