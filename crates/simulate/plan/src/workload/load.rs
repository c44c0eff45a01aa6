//! The meaning of a load: how many flows in how much time.

use base::Span;
use base::cast::{count, whole};
use distributions::TimeLaw;

use super::layout::{Layout, Origins, Places};
use crate::Group;
use crate::keys::flows::{self, at_receivers, flows_per_second};
use crate::keys::{Keys, LoadOf, PeerKind, WorkloadKind};

/// The delay of each flow: `workload.delay`, or its automatic value.
pub(super) fn delay(keys: &Keys, layout: &Layout) -> TimeLaw {
    let workload = &keys.workload;
    match (workload.delay.0, workload.kind) {
        (Some(law), _) => law,
        (None, WorkloadKind::Burst) => {
            let rate = match workload.load_of {
                LoadOf::Receivers => keys.link.to_hosts(),
                LoadOf::Hosts => keys.link.rate,
                LoadOf::Uplinks => layout.rate_between(keys),
            };
            TimeLaw::exponential(mean_gap(flows_per_second(keys, rate)))
        }
        (None, _) => TimeLaw::Fixed(Span::ZERO),
    }
}

impl Layout {
    /// The number of flows of all groups; the expected number where arrivals are random.
    pub fn all_flows(&self, groups: &[Group]) -> u64 {
        let each = groups.iter().map(|group| self.expected_flows(group));
        whole(each.sum::<f64>())
    }

    /// The number of flows of a group; the expected number where arrivals are random.
    pub fn expected_flows(&self, group: &Group) -> f64 {
        let (each, workload) = (flows::expected(&group.keys), &group.keys.workload);
        match workload.kind {
            WorkloadKind::Incast
            | WorkloadKind::Pairs
            | WorkloadKind::Requests
            | WorkloadKind::Collective => each,
            WorkloadKind::Trace => count(workload.trace.content().of(&group.name).count()),
            WorkloadKind::Poisson if workload.flows.0.is_some() => each,
            WorkloadKind::Poisson => {
                let places = self.everywhere(group);
                let rate = arrivals(&group.keys, self, &places);
                rate * workload.duration.as_secs() * count(places.receivers.len())
            }
            WorkloadKind::Burst => {
                let places = self.everywhere(group);
                let origins = Origins::of(self, &places.senders);
                let themselves = places.receivers.iter().filter(|host| origins.has(**host));
                let pairs = places.senders.len() * places.receivers.len() - themselves.count();
                let most = workload.flows.0.map_or(u32::MAX, |flows| flows.0);
                each * count(pairs).min(f64::from(most))
            }
        }
    }
}

/// Flows per second of a Poisson process at each receiver. With a load of hosts, the mean over all receivers.
///
/// A load of uplinks counts only flows between racks. Senders are equally likely, so the share of a receiver's flows
/// that cross is the share of senders in other racks; it is 1 if only other racks may send. In a graph every link lies
/// between racks, and a flow takes several. There the load is the mean over all links that some flow takes, weighted by
/// their rates.
pub(super) fn arrivals(keys: &Keys, layout: &Layout, places: &Places) -> f64 {
    if let Some(together) = flows::by_law(keys) {
        return together / count(places.receivers.len());
    }
    match keys.workload.load_of {
        LoadOf::Receivers => at_receivers(keys),
        LoadOf::Hosts => of_hosts(keys, places) / count(places.receivers.len()),
        LoadOf::Uplinks => {
            let origins = Origins::of(layout, &places.senders);
            if let Some((links, rate)) = layout.taken(keys, &origins, &places.receivers) {
                return flows_per_second(keys, rate) / links;
            }
            let crossing: f64 = places
                .receivers
                .iter()
                .map(|receiver| match keys.workload.peers {
                    PeerKind::Any => origins.crossing_share(layout, *receiver),
                    PeerKind::OtherRacks => 1.0,
                })
                .sum();
            let used = origins.racks.iter().filter(|hosts| **hosts > 0).count();
            let links = count(used) * f64::from(layout.uplinks_of_rack());
            // Counted in flows of one receiver, `crossing` of the flows at all receivers take the links together.
            flows_per_second(keys, layout.rate_between(keys)) * links / crossing
        }
    }
}

/// Flows per second from all senders together that fill the wanted share of the senders' links.
pub(super) fn of_hosts(keys: &Keys, places: &Places) -> f64 {
    flows_per_second(keys, keys.link.rate) * count(places.senders.len())
}

/// The mean time between this many flows.
pub(super) fn mean_gap(per_second: f64) -> Span {
    Span::from_secs_f64(1.0 / per_second).max(Span::from_ps(1))
}
