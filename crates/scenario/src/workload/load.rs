//! What a load means: how many flows in how much time.

use base::{HostId, Rate, Span};

use super::TimeLaw;
use super::layout::{Layout, Places};
use crate::keys::{Keys, LoadOf, PeerKind, WorkloadKind};

/// How long each flow is delayed: `workload.delay`, or what it follows from.
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

/// Flows per second of a Poisson process at each receiver; with a load of hosts the mean of those at
/// all of them.
///
/// A load of uplinks counts flows between racks alone. Senders are as likely as each other, so of the
/// flows to a receiver the share of senders in other racks crosses, and all if no others may send. In a
/// graph flows take several links, which all lie between racks: it is the mean load of all that any flow
/// takes, weighted by their rates.
pub(super) fn arrivals(keys: &Keys, layout: &Layout, places: &Places) -> f64 {
    match keys.workload.load_of {
        LoadOf::Receivers => at_receivers(keys),
        LoadOf::Hosts => of_hosts(keys, places) / real(places.receivers.len()),
        LoadOf::Uplinks => {
            let racks = layout.racks_of(&places.senders);
            if let Some((links, rate)) = layout.taken(keys, &racks, places) {
                return flows_per_second(keys, rate) / links;
            }
            let crossing: f64 = places
                .receivers
                .iter()
                .map(|receiver| match keys.workload.peers {
                    PeerKind::Any => crossing_share(layout, &racks, &places.senders, *receiver),
                    PeerKind::OtherRacks => 1.0,
                })
                .sum();
            let used = racks.iter().filter(|hosts| **hosts > 0).count();
            let links = real(used) * f64::from(layout.uplinks_of_rack());
            // Of the flows at all receivers, `crossing` of those at one take the links together.
            flows_per_second(keys, layout.rate_between(keys)) * links / crossing
        }
    }
}

/// Flows per second from all senders together that fill the wanted share of their links.
pub(super) fn of_hosts(keys: &Keys, places: &Places) -> f64 {
    flows_per_second(keys, keys.link.rate) * real(places.senders.len())
}

/// As [`arrivals`] if the load is one of receivers, which no other host changes; of hosts, the flows
/// from one sender.
pub(crate) fn at_receivers(keys: &Keys) -> f64 {
    let rate = match keys.workload.load_of {
        LoadOf::Hosts => keys.link.rate,
        LoadOf::Receivers | LoadOf::Uplinks => keys.link.to_hosts(),
    };
    flows_per_second(keys, rate)
}

/// Of the flows to `receiver` from any sender but itself, the share from other racks.
pub(super) fn crossing_share(
    layout: &Layout,
    racks: &[usize],
    senders: &[HostId],
    receiver: HostId,
) -> f64 {
    let itself = usize::from(senders.contains(&receiver));
    let others = senders.len() - itself;
    let near = racks[layout.rack(receiver) as usize];
    real(senders.len() - near) / real(others.max(1))
}

/// The mean time between so many flows.
pub(super) fn mean_gap(per_second: f64) -> Span {
    Span::from_secs_f64(1.0 / per_second).max(Span::from_ps(1))
}

/// Flows per second that make the wanted share of a link of this rate: full packets with their
/// headers, or of a load of hosts their payload alone.
fn flows_per_second(keys: &Keys, rate: Rate) -> f64 {
    let mss = u64::from(keys.tcp.mss.0);
    let mean = keys.workload.size.mean(mss).unwrap_or(f64::INFINITY);
    let counted = match keys.workload.load_of {
        LoadOf::Receivers | LoadOf::Uplinks => keys.packet_bytes(),
        LoadOf::Hosts => mss,
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate and a packet have few digits"
    )]
    let (packet, rate) = (counted as f64, rate.as_bps() as f64);
    keys.workload.load.0 * rate / (8.0 * mean * packet / f64::from(keys.tcp.mss.0))
}

#[expect(clippy::cast_precision_loss, reason = "hosts are fewer than 2^53")]
fn real(count: usize) -> f64 {
    count as f64
}
