//! Runs a point and returns its outcome.
//!
//! A point of a scenario is one simulation with every setting resolved. [`run`] builds its world, runs and measures it;
//! [`sweep`] runs many points on all cores. An outcome is a pure function of its point and of the version of this
//! program: nothing here touches a file or reads a clock. A caller that wants to see more than the outcome passes a
//! [`probe`].
//!
//! ```
//! use scenario::Scenario;
//!
//! let scenario = Scenario::builtin("incast");
//! let outcome = sim::run::run(&scenario.points()[0]).expect("a simulation that balances its books");
//! assert_eq!(outcome.metrics.flows_completed, outcome.flows.len() as u64);
//! ```

#[macro_use]
mod forward;

mod alone;
pub mod breakdown;
mod collectives;
pub mod columns;
pub mod divided;
pub mod error;
mod failure;
mod measure;
pub mod memory;
pub mod metrics;
pub mod observation;
mod parts;
pub mod probe;
mod rounds;
pub mod run;
mod standstill;
pub mod stepper;
pub mod sweep;
pub mod threads;
mod watched;
mod world;

pub use world::endpoint_config;

/// The version of this program and a hash of the sources that affect a simulation: equal versions give equal results.
pub const VERSION: &str = env!("TAILWATER_VERSION");
