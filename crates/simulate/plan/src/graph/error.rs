//! Errors in a file of a graph.

/// The error in a file, its place, and the remedy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Error {
    /// The place in the file; empty if the error concerns the whole file.
    place: String,
    cause: String,
    remedy: String,
}

impl Error {
    pub(super) fn new(
        place: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn of_file(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new("", cause, remedy)
    }

    pub(super) fn at_line(
        line: usize,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(format!("line {line}"), cause, remedy)
    }

    /// The error as one sentence without a full stop.
    pub(super) fn in_file(&self, path: &str) -> String {
        let Self {
            place,
            cause,
            remedy,
        } = self;
        let separator = if place.is_empty() { "" } else { ", " };
        format!("{path}{separator}{place}: {cause}; {remedy}")
    }
}
