//! Lines in a file.

use std::fmt;

use serde::Deserialize;

use crate::{Line, Unreadable};

/// The file of a run folder that holds the lines of its run.
pub const FILE: &str = "live.jsonl";

/// Reads the lines of a file.
///
/// # Errors
/// If a line cannot be read. The error names the version that wrote the file, if that is another one.
pub fn read_all(text: &str) -> Result<Vec<Line>, Malformed> {
    let lines = text.lines().zip(1..).map(|(line, number)| {
        Line::read(line).map_err(|cause| Malformed {
            number,
            cause,
            version: version(text).filter(|version| version != sim::VERSION),
        })
    });
    lines.collect()
}

/// The version of the program that wrote a file, which its first line has.
fn version(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct First {
        version: String,
    }

    let first = serde_json::from_str::<First>(text.lines().next()?);
    first.ok().map(|first| first.version)
}

/// A line of a file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    number: u32,
    cause: Unreadable,
    /// The version that wrote the file, if it is known and another one.
    version: Option<String>,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.cause)?;
        match &self.version {
            Some(version) => write!(
                f,
                "; tailwater {version} wrote the file, and this is {}",
                sim::VERSION
            ),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Malformed {}
