//! Sentences and tables for people, and the same numbers for programs.
//!
//! Other crates compute: [`results`] ranks rows and judges goals, `claims` judges figures, `observed` judges a network.
//! This crate writes the texts. So texts with flags of the command are only here and in the command, and a number looks
//! the same in every text ([`words`]).
//!
//! ```
//! assert_eq!(answer::words::counted(3, "claim"), "3 claims");
//! assert_eq!(answer::pairs([("rcc", "a scheme"), ("cubic", "another")]), "rcc    a scheme\ncubic  another\n");
//! ```

pub mod against;
pub mod certificate;
pub mod claims;
pub mod deployment;
pub mod emulation;
mod layout;
mod observation;
mod prediction;
pub mod run;
mod sentences;
pub mod shards;
pub mod trial;
pub mod words;

pub use against::of_change;
pub use layout::{WIDTH, pairs, paragraph, wrap};
pub use observation::{observed, verdicts};
pub use prediction::predicted;
pub use sentences::{cost, drops, of_run};

/// The sentences of a report.
pub const SENTENCES: report::Sentences = report::Sentences {
    of_run,
    drops,
    of_change,
};
