//! Linux and its simulation side by side: a table, a page, and the same for programs.
//!
//! The privileged program writes a line for each run when it ends ([`protocol`]). An [`Emulation`] holds all lines.
//!
//! ```
//! use protocol::Line;
//!
//! let line = r#"{ "type": "emulation", "scenario": "incast", "runs": 5, "version": "0.1.0" }"#;
//! let emulated = answer::emulation::Emulation::of(vec![Line::read(line)?])?;
//! assert_eq!(answer::emulation::page(&emulated).name, "incast");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod claims;
mod export;
pub mod judged;
mod measured;
mod page;
mod runs;
mod table;

pub use export::{csv, json};
pub use page::page;
pub use runs::Emulation;
pub use table::table;

#[cfg(test)]
mod tests;
