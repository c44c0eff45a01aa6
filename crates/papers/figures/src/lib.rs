//! The file of a figure as tables.
//!
//! A figure has three sources: its own file, the tables that it shares with others, which stand in the file of the paper
//! ([`joined`]), and tables that are written once with a list of what differs ([`write_out`]). [`digest`] is taken of what
//! comes out, so that two ways to write the same down have the same digest.
//!
//! It knows no scenario and no claim, only TOML: the chores of the repository use it as well as the program.
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
