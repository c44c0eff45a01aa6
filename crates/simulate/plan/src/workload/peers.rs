//! Draws the sender and the receiver of random flows.

use std::collections::{BTreeMap, BTreeSet};

use base::HostId;
use base::Ordered as _;
use base::Sort as _;
use engine::random::Stream;

use super::layout::{Layout, Places};
use crate::Group;
use crate::keys::{Conflict, FanIn, LoadOf, PeerKind, WorkloadKind};

/// The senders and receivers from which random flows are drawn.
pub(super) struct Peers<'a> {
    place: &'a Places,
    layout: &'a Layout,
    /// If flows go to other racks: the senders, and the receivers, by rack.
    racks: Option<(Vec<Rack>, Vec<Rack>)>,
}

/// Hosts of one rack; at least one.
struct Rack {
    number: u32,
    hosts: Vec<HostId>,
}

impl<'a> Peers<'a> {
    pub(super) fn new(kind: PeerKind, place: &'a Places, layout: &'a Layout) -> Self {
        let racks = match kind {
            PeerKind::Any => None,
            PeerKind::OtherRacks => Some((
                racks(&place.senders, layout),
                racks(&place.receivers, layout),
            )),
        };
        Self {
            place,
            layout,
            racks,
        }
    }

    /// A sender for `receiver`: another host, or a host of another rack, all equally likely. At least one must exist,
    /// or this does not end.
    pub(super) fn sender_to(&self, receiver: HostId, stream: &mut Stream) -> HostId {
        let Some((senders, _)) = &self.racks else {
            loop {
                let from = *one_of(&self.place.senders, stream);
                if from != receiver {
                    return from;
                }
            }
        };
        let own = self.layout.rack(receiver);
        loop {
            let rack = one_of(senders, stream);
            if rack.number != own {
                return *one_of(&rack.hosts, stream);
            }
        }
    }

    /// The other senders of an incast with `fan_in` flows, each sender once. Loops for ever if there are too few hosts.
    pub(super) fn others(
        &self,
        fan_in: FanIn,
        (from, receiver): (HostId, HostId),
        stream: &mut Stream,
    ) -> Vec<HostId> {
        let more = fan_in.most - fan_in.least;
        let drawn = if more == 0 {
            fan_in.least
        } else {
            let drawn = stream.below(u64::from(more) + 1);
            fan_in.least + u32::try_from(drawn).expect("at most the difference")
        };
        let mut chosen = BTreeSet::from([from]);
        let mut others = Vec::new();
        while others.len() + 1 < drawn as usize {
            let sender = self.sender_to(receiver, stream);
            if chosen.insert(sender) {
                others.push(sender);
            }
        }
        others
    }

    /// A sender and a receiver: two hosts, or a host of each of two racks, all equally likely. They must exist, or this
    /// does not end.
    pub(super) fn pair(&self, stream: &mut Stream) -> (HostId, HostId) {
        loop {
            if let Some((senders, receivers)) = &self.racks {
                let (from, to) = (one_of(senders, stream), one_of(receivers, stream));
                if from.number != to.number {
                    return (*one_of(&from.hosts, stream), *one_of(&to.hosts, stream));
                }
            } else {
                let (from, to) = (
                    *one_of(&self.place.senders, stream),
                    *one_of(&self.place.receivers, stream),
                );
                if from != to {
                    return (from, to);
                }
            }
        }
    }
}

/// A conflict if an incast needs more senders than a receiver has.
pub(super) fn too_few(layout: &Layout, place: &Places, group: &Group) -> Option<Conflict> {
    let workload = &group.keys.workload;
    let FanIn { most, .. } = workload.fan_in;
    if most == 1 {
        return None;
    }
    if workload.kind != WorkloadKind::Poisson {
        return Some(Conflict::new(
            &["workload.fan_in", "workload.kind"],
            "only random arrivals have a fan-in",
            "set workload.kind = \"poisson\"; the senders of an incast are workload.senders",
        ));
    }
    let senders = place.senders.iter().copied().into_set();
    let by_rack = racks(&place.senders, layout);
    let of = |receiver: &HostId| match workload.peers {
        PeerKind::Any => senders.len() - usize::from(senders.contains(receiver)),
        PeerKind::OtherRacks => {
            let own = layout.rack(*receiver);
            let others = by_rack.iter().filter(|rack| rack.number != own);
            others.map(|rack| rack.hosts.len()).sum()
        }
    };
    let fewest = place.receivers.iter().map(of).min().unwrap_or(0);
    (fewest < most as usize).then(|| {
        Conflict::new(
            &["workload.fan_in", "workload.from", "topology.hosts"],
            format!("a receiver has only {fewest} senders, but an incast needs {most}"),
            "lower workload.fan_in, name more hosts in workload.from, or enlarge the network",
        )
    })
}

/// A conflict if no sender exists for flows to other racks.
pub(super) fn lonely(layout: &Layout, place: &Places, group: &Group) -> Option<Conflict> {
    let workload = &group.keys.workload;
    if workload.peers == PeerKind::Any {
        return None;
    }
    if workload.kind != WorkloadKind::Poisson {
        return Some(Conflict::new(
            &["workload.peers", "workload.kind"],
            "only random arrivals draw their peers",
            "set workload.kind = \"poisson\", or leave workload.peers out",
        ));
    }
    let (senders, receivers) = (
        racks(&place.senders, layout),
        racks(&place.receivers, layout),
    );
    let is_served = |to: &Rack| senders.iter().any(|from| from.number != to.number);
    // A process at each receiver needs a sender for each receiver; a process over all hosts needs one pair.
    let possible = match workload.load_of {
        LoadOf::Hosts => receivers.iter().any(is_served),
        LoadOf::Receivers | LoadOf::Uplinks => receivers.iter().all(is_served),
    };
    (!possible).then(|| {
        Conflict::new(
            &["workload.peers", "workload.from", "workload.to"],
            "some receivers have no sender in another rack",
            "choose a topology with several racks, name hosts of several racks in workload.from, or set workload.peers = \
             \"any\"",
        )
    })
}

/// The hosts by rack, each once.
fn racks(hosts: &[HostId], layout: &Layout) -> Vec<Rack> {
    let mut racks: BTreeMap<u32, Vec<HostId>> = BTreeMap::new();
    for host in hosts {
        racks.entry(layout.rack(*host)).or_default().push(*host);
    }
    let rack = |(number, mut hosts): (u32, Vec<HostId>)| {
        hosts.order();
        hosts.dedup();
        Rack { number, hosts }
    };
    racks.into_iter().map(rack).collect()
}

fn one_of<'a, T>(list: &'a [T], stream: &mut Stream) -> &'a T {
    let chosen = stream.below(list.len() as u64);
    &list[usize::try_from(chosen).expect("an index of a list")]
}
