//! The metrics of collectives.

use serde::{Deserialize, Serialize};

/// The collectives of one group of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveMetrics {
    /// Name of the group; empty if the scenario has none.
    pub group: String,
    /// Collectives that were complete.
    pub completed: u64,
    /// Time of a collective in an empty network, from the closed form of its algorithm: each message has the mean delay
    /// and the slowest link of all their paths, and carries no headers.
    pub ideal_us: f64,
    /// Mean time of those that were complete.
    pub mean_us: f64,
    /// Time of the slowest of them.
    pub slowest_us: f64,
    /// The message that held up the slowest one most.
    pub held_up: Option<HeldUp>,
}

impl CollectiveMetrics {
    /// The mean time over the ideal one; `NaN` if none was complete.
    pub fn over_ideal(&self) -> f64 {
        self.mean_us / self.ideal_us
    }
}

/// The message that held a collective up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldUp {
    /// Number of the flow.
    pub flow: u32,
    /// Its step within the collective, from 0.
    pub step: u32,
    /// Steps of the collective.
    pub steps: u32,
    /// The sending host.
    pub sender: u32,
    /// The receiving host.
    pub receiver: u32,
    /// From the end of the message that it waited for, or from the start of the collective, to its own end.
    pub took_us: f64,
    /// The time that it takes in an empty network.
    pub ideal_us: f64,
}
