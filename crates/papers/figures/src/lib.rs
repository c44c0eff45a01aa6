//! The file of a figure as tables.
//!
//! A figure has three sources: its own file; tables that it shares with others, in the file of the paper ([`joined`]);
//! and tables written once with a list of differences ([`write_out`]). The [`digest`] covers the expanded result, so
//! two notations of the same figure have the same digest.
//!
//! This crate knows only TOML, no scenarios and claims: the repository's maintenance programs use it as well.
//!
//! ```
//! let file = |name: &str| match name {
//!     "fig1" => Some("seeds = 2\n[[claim]]\nid = \"drops-{n}\"\neach = [{ n = 10 }, { n = 20 }]".to_owned()),
//!     "fig2" => Some("seeds = 2\n[[claim]]\nid = \"drops-10\"\n[[claim]]\nid = \"drops-20\"".to_owned()),
//!     _ => None,
//! };
//! assert_eq!(figures::digest("fig1", &file), figures::digest("fig2", &file));
//! ```

mod digest;
mod rows;
mod shared;

pub use digest::digest;
pub use rows::{Mistake, write_out};
pub use shared::{Unjoined, joined, listed};
