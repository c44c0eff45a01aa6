//! The number of flows that settings make, as far as it is known without the network.

use base::Rate;
use base::cast::{count, real};

use super::{Keys, LoadOf, WorkloadKind};

/// The number of flows that `keys` make, as far as it is known without the network. For a Poisson process it is the
/// expected number for each receiver, for a burst the number for one pair of hosts.
pub(crate) fn expected(keys: &Keys) -> f64 {
    let workload = &keys.workload;
    let senders = f64::from(workload.senders.0);
    let epochs = f64::from(workload.epochs.0);
    match (workload.kind, workload.flows.0) {
        (WorkloadKind::Incast, _) => {
            senders * f64::from(workload.receivers.0) * f64::from(workload.rounds.0) * epochs
        }
        (WorkloadKind::Pairs, _) => senders * epochs,
        (WorkloadKind::Burst, _) => epochs,
        (WorkloadKind::Collective, _) => {
            let (messages, _) = workload.shape(keys.tcp.mss.0.into()).extent();
            messages * f64::from(workload.rounds.0) * epochs
        }
        (WorkloadKind::Trace, _) => count(workload.trace.content().flows().len()),
        (WorkloadKind::Requests, _) => {
            f64::from(workload.connections.0)
                * f64::from(workload.requests.0)
                * f64::from(workload.rounds.0)
                * epochs
        }
        (WorkloadKind::Poisson, Some(flows)) => f64::from(flows.0),
        (WorkloadKind::Poisson, None) => {
            by_law(keys).unwrap_or_else(|| at_receivers(keys)) * workload.duration.as_secs()
        }
    }
}

/// Flows per second at all receivers together, if `workload.arrivals` gives a law.
pub(crate) fn by_law(keys: &Keys) -> Option<f64> {
    let law = keys.workload.arrivals.0?;
    Some(keys.workload.fan_in.mean() / law.mean().as_secs())
}

/// Flows per second at each receiver, if the load is the receivers' and no other host changes it. For a load of hosts,
/// the flows per second from one sender.
pub(crate) fn at_receivers(keys: &Keys) -> f64 {
    let rate = match keys.workload.load_of {
        LoadOf::Hosts => keys.link.rate,
        LoadOf::Receivers | LoadOf::Uplinks => keys.link.to_hosts(),
    };
    flows_per_second(keys, rate)
}

/// Flows per second that make the wanted share of a link of this rate. A load counts full packets with their headers; a
/// load of hosts counts payload only.
pub(crate) fn flows_per_second(keys: &Keys, rate: Rate) -> f64 {
    let mss = u64::from(keys.tcp.mss.0);
    let mean = keys.workload.size.mean(mss).unwrap_or(f64::INFINITY);
    let counted = match keys.workload.load_of {
        LoadOf::Receivers | LoadOf::Uplinks => keys.packet_bytes(),
        LoadOf::Hosts => mss,
    };
    let (packet, rate) = (real(counted), real(rate.as_bps()));
    keys.workload.load.0 * rate / (8.0 * mean * packet / f64::from(keys.tcp.mss.0))
}
