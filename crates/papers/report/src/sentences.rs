//! The words of a report.

use results::{Against, Summary};

/// The sentences of a report. A report draws; the caller passes the functions that write.
#[derive(Clone, Copy, Debug)]
pub struct Sentences {
    /// The answer to a run.
    pub of_run: fn(&Summary) -> Vec<String>,
    /// Where a run lost its packets, if its network has several tiers.
    pub drops: fn(&Summary) -> Option<String>,
    /// How the second of two runs differs from the first, with their names.
    pub of_change: fn(&Against, [&str; 2]) -> Vec<String>,
}
