//! The words of a report.

use results::{Against, Summary};

/// The functions that write the sentences of a report, passed by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Sentences {
    /// The answer to a run.
    pub of_run: fn(&Summary) -> Vec<String>,
    /// Where a run lost its packets, if its network has several tiers.
    pub drops: fn(&Summary) -> Option<String>,
    /// How the second of two runs differs from the first; gets the names of both.
    pub of_change: fn(&Against, [&str; 2]) -> Vec<String>,
}
