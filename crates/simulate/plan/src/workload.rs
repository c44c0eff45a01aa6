//! Makes flows from settings: who sends what to whom, and when, in which network.
//!
//! The plan is a pure function of a point: each [`Group`](crate::Group) adds the flows of its own settings to the same
//! network. The random numbers of a flow depend only on the name of its group, its number in the group, and the seed.
//! So other groups and their order do not change them.

mod checks;
mod dependency;
mod exceptions;
mod faults;
mod layout;
mod load;
mod peers;
mod plan;

pub use checks::conflicts;
pub use dependency::Dependencies;
pub use faults::FaultTarget;
pub use layout::Layout;
pub use plan::{Barrier, Plan, PlannedCollective, PlannedConnection, PlannedFlow};

use base::Span;

use crate::keys::flows;
use crate::keys::{ConnectionKind, Keys, WorkloadKind};
use distributions::TimeLaw;

/// Whether flows of a group may have rounds. Clients that ask once on one connection have none even so.
pub(crate) fn has_rounds(keys: &Keys) -> bool {
    let workload = &keys.workload;
    match workload.kind {
        WorkloadKind::Incast => workload.interval == Span::ZERO || workload.rounds.0 > 1,
        // By default its flows start at random times.
        WorkloadKind::Burst => {
            workload.interval == Span::ZERO && matches!(workload.delay.0, Some(TimeLaw::Fixed(_)))
        }
        WorkloadKind::Requests => workload.rounds.0 > 1,
        WorkloadKind::Poisson => workload.fan_in.most > 1 && workload.interval == Span::ZERO,
        WorkloadKind::Trace => workload.trace.content().has_rounds(),
        WorkloadKind::Collective => true,
        WorkloadKind::Pairs => false,
    }
}

/// Flows that arrive each second at a receiver. For a load of hosts: from a sender. For a law of arrivals: at all
/// receivers together.
pub fn arrivals_per_second(keys: &Keys) -> f64 {
    flows::by_law(keys).unwrap_or_else(|| flows::at_receivers(keys))
}

/// The most connections that are open at a time, for a group with this many flows.
pub fn expected_connections(keys: &Keys, flows: f64) -> f64 {
    let workload = &keys.workload;
    let again = f64::from(workload.epochs.0) * f64::from(workload.rounds.0);
    match (workload.connection, workload.kind) {
        (ConnectionKind::Persistent, WorkloadKind::Requests) => workload.connections.0.into(),
        (ConnectionKind::Persistent, _) => flows / again,
        (ConnectionKind::New, WorkloadKind::Requests) => {
            let chains = f64::from(workload.connections.0) * f64::from(workload.epochs.0);
            chains
                * f64::from(
                    (workload.requests.0.saturating_mul(workload.rounds.0)).min(plan::PLACES),
                )
        }
        (ConnectionKind::New, _) => flows,
    }
}
