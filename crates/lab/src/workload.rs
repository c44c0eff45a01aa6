//! Who sends what to whom, and when: from settings to a network with flows between its hosts.
//!
//! The plan is a pure function of a point: each [`Group`](crate::scenario::Group) of it adds the flows of its own
//! settings to the same network. Draws of a flow depend on its number and the seed alone.

mod hosts;
mod law;
mod layout;
mod plan;
mod table;

pub use hosts::HostSet;
pub use law::{SizeLaw, TimeLaw};
pub(crate) use layout::{Layout, conflicts};
pub(crate) use plan::{Barrier, Plan, PlannedFlow};
pub use table::{NAMED, Named, Table};

use crate::keys::{Keys, WorkloadKind};

/// How many flows `keys` make: exactly, or of a Poisson process the expected number for each receiver.
pub(crate) fn expected_flows(keys: &Keys) -> f64 {
    let workload = &keys.workload;
    let senders = f64::from(workload.senders.0);
    match workload.kind {
        WorkloadKind::Incast => {
            senders * f64::from(workload.receivers.0) * f64::from(workload.rounds.0)
        }
        WorkloadKind::Pairs => senders,
        WorkloadKind::Poisson => plan::poisson_rate(keys) * workload.duration.as_secs(),
    }
}
