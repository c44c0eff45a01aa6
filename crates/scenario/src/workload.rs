//! Who sends what to whom, and when: from settings to a network with flows between its hosts.
//!
//! The plan is a pure function of a point: each [`Group`](crate::Group) of it adds the flows of its own
//! settings to the same network. Draws of a flow depend on the name of its group, its number there and
//! the seed alone, so that what other groups there are, and in which order, changes none.

mod checks;
mod hosts;
mod law;
mod layout;
mod load;
mod peers;
mod plan;
mod table;

pub(crate) use checks::conflicts;
pub use hosts::HostSet;
pub use law::{SizeLaw, TimeLaw};
pub use layout::Layout;
pub use plan::{Barrier, Plan, PlannedConnection, PlannedFlow};
pub use table::{NAMED, Named, Table};

use crate::keys::{ConnectionKind, Keys, WorkloadKind};

/// How many flows `keys` make, as far as that is known without the network: of a Poisson process the
/// expected number for each receiver, of a burst those of one pair of hosts.
pub fn expected_flows(keys: &Keys) -> f64 {
    let workload = &keys.workload;
    let senders = f64::from(workload.senders.0);
    let epochs = f64::from(workload.epochs.0);
    match (workload.kind, workload.flows.0) {
        (WorkloadKind::Incast, _) => {
            senders * f64::from(workload.receivers.0) * f64::from(workload.rounds.0) * epochs
        }
        (WorkloadKind::Pairs, _) => senders * epochs,
        (WorkloadKind::Burst, _) => epochs,
        (WorkloadKind::Requests, _) => {
            f64::from(workload.connections.0) * f64::from(workload.requests.0) * epochs
        }
        (WorkloadKind::Poisson, Some(flows)) => f64::from(flows.0),
        (WorkloadKind::Poisson, None) => load::at_receivers(keys) * workload.duration.as_secs(),
    }
}

/// Flows that arrive each second at a receiver, or of a load of hosts from a sender.
pub fn arrivals_per_second(keys: &Keys) -> f64 {
    load::at_receivers(keys)
}

/// How many connections there are at a time at most, of a group with so many flows.
pub fn expected_connections(keys: &Keys, flows: f64) -> f64 {
    let workload = &keys.workload;
    let again = f64::from(workload.epochs.0) * f64::from(workload.rounds.0);
    match (workload.connection, workload.kind) {
        (ConnectionKind::Persistent, WorkloadKind::Requests) => workload.connections.0.into(),
        (ConnectionKind::Persistent, _) => flows / again,
        (ConnectionKind::New, WorkloadKind::Requests) => {
            let chains = f64::from(workload.connections.0) * f64::from(workload.epochs.0);
            chains * f64::from(workload.requests.0.min(plan::PLACES))
        }
        (ConnectionKind::New, _) => flows,
    }
}
