//! What was seen of a network at a device: whether it is incast, what it costs, and the scenario of it.
//!
//! An [`Observation`] holds what was counted; [`judge`] finds the [`Verdict`] from the milliseconds in which many flows
//! went to one receiver ([`Crowd`]) and from what was lost ([`Loss`]); [`Observation::scenario`] writes what a
//! simulation needs. Nothing here touches a network: the crate `live` watches, and the command draws.

mod numbers;
mod scenario;
mod seen;
mod verdict;

pub use numbers::percentile;
pub use scenario::trace;
pub use seen::{Cost, Flow, Judged, Observation, Queue, Verdict};
pub use verdict::{Crowd, DEGREE, Loss, judge};
