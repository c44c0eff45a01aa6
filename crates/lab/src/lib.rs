//! From a scenario to results.
//!
//! A scenario is a TOML file. [`scenario`] reads it into points, each of which is one simulation
//! with every setting resolved; [`sweep`] runs points on all cores; [`columns`] describes what comes
//! out. A point is a pure function of its settings, its seed and the version of this program.
//!
//! ```
//! use lab::scenario::{Overrides, Scenario, Source};
//!
//! let source = Source::builtin("incast").expect("a built-in scenario");
//! let overrides = Overrides { sets: vec!["workload.senders=10..30:10".into()], ..Overrides::default() };
//! let scenario = Scenario::load(source, &overrides).expect("a correct scenario");
//! assert_eq!(scenario.points().len(), 3 * scenario.schemes().len());
//! ```

pub mod columns;
pub mod error;
pub mod experiment;
pub mod graph;
pub mod guard;
pub mod keys;
pub mod memory;
pub mod metrics;
pub mod pcap;
pub mod probe;
pub mod results;
pub mod run;
pub mod scenario;
pub mod statistics;
pub mod sweep;
mod tokens;
pub mod trace;
pub mod work;
pub mod workload;
mod world;

/// The version of this program and a hash of the sources that a simulation runs through: equal
/// versions give equal results.
pub const VERSION: &str = env!("TAILWATER_VERSION");
