//! The place of hosts: the topology, and the hosts that each group of flows uses.

mod origins;

use std::sync::Arc;

use base::Ordered as _;
use base::cast::{count, real, whole};
use base::{Factor, HostId, Rate};
use fabric::{LinkSpec, PortId, Topology};

use crate::Group;
use crate::flow_trace::TracedFlow;
use crate::graph::Graph;
use crate::hosts::HostSet;
use crate::keys::{Keys, PeerKind, TopologyKind, WorkloadKind};
pub(super) use origins::Origins;

/// Racks with equal numbers of hosts: one in a star, two in a dumbbell, one at each switch of a chain, at each leaf of
/// a leaf-spine network, at each edge switch of a fat tree, at each node of a graph.
///
/// Host `h` is number `h % hosts` of rack `h / hosts`.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) kind: TopologyKind,
    pub(super) racks: u32,
    /// Hosts of a rack.
    pub(super) hosts: u32,
    /// Links of a rack towards the layer above; 0 without a layer above.
    uplinks: u32,
    /// Racks and the links between them, if the settings give a graph.
    pub(super) graph: Option<Arc<Graph>>,
}

/// Hosts of one group.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) senders: Vec<HostId>,
    pub(super) receivers: Vec<HostId>,
}

impl Layout {
    /// A layout with the hosts that `groups` need, or with the number in the settings.
    pub fn of(keys: &Keys, groups: &[Group]) -> Self {
        let kind = keys.topology.kind;
        let half = keys.topology.pods.0 / 2;
        let graph = keys.topology.network();
        let (racks, uplinks) = match kind {
            TopologyKind::Star => (1, 0),
            TopologyKind::Dumbbell => (2, 0),
            TopologyKind::Chain => (keys.topology.switches.0, 0),
            TopologyKind::Tree => (keys.topology.racks.0, 1),
            TopologyKind::LeafSpine => (keys.topology.racks.0, keys.topology.spines.0),
            TopologyKind::FatTree => (keys.topology.pods.0.saturating_mul(half), half),
            TopologyKind::Graph => (u32::try_from(graph.nodes().len()).unwrap_or(u32::MAX), 0),
        };
        let hosts = match (kind, keys.topology.hosts.0) {
            (TopologyKind::FatTree, _) => half.into(),
            (_, Some(count)) => count.0.into(),
            (TopologyKind::Graph, None) => GRAPH_HOSTS,
            (_, None) => needed(kind, racks, groups),
        };
        Self {
            kind,
            racks,
            hosts: u32::try_from(hosts).unwrap_or(u32::MAX),
            uplinks,
            graph: (kind == TopologyKind::Graph).then(|| Arc::clone(graph)),
        }
    }

    /// Racks.
    pub fn racks(&self) -> u64 {
        self.racks.into()
    }

    /// Hosts of all racks.
    pub fn all_hosts(&self) -> u64 {
        u64::from(self.racks) * u64::from(self.hosts)
    }

    /// The number of ports: one for each direction of each link.
    pub fn ports(&self) -> u64 {
        2 * (self.all_hosts() + self.links_between())
    }

    /// Links between switches.
    pub(super) fn links_between(&self) -> u64 {
        let (racks, uplinks) = (u64::from(self.racks), u64::from(self.uplinks));
        if let Some(graph) = &self.graph {
            return graph.links().len() as u64;
        }
        match self.kind {
            TopologyKind::Star | TopologyKind::Graph => 0,
            TopologyKind::Dumbbell | TopologyKind::Chain => racks - 1,
            TopologyKind::Tree | TopologyKind::LeafSpine => racks * uplinks,
            // The layer above the racks has as many links upwards as downwards.
            TopologyKind::FatTree => 2 * racks * uplinks,
        }
    }

    /// The rack of a host.
    pub(super) fn rack(&self, host: HostId) -> u32 {
        host.0 / self.hosts.max(1)
    }

    /// The number of `hosts` in each rack.
    pub(super) fn racks_of(&self, hosts: &[HostId]) -> Vec<usize> {
        let mut racks = vec![0; self.racks as usize];
        for host in hosts {
            racks[self.rack(*host) as usize] += 1;
        }
        racks
    }

    /// Links that lead from a rack to other racks; 0 for networks without uplinks. In a graph the number differs
    /// between racks and this returns 1; see [`Layout::taken`].
    pub(super) fn uplinks_of_rack(&self) -> u32 {
        match self.kind {
            TopologyKind::Dumbbell => 1,
            TopologyKind::Graph => u32::from(self.racks > 1),
            _ => self.uplinks,
        }
    }

    /// In a graph: the mean rate of the links, by direction, that flows from these origins to the receivers take, and
    /// the mean number of such links that a flow at each receiver takes. `None` in other networks.
    pub(super) fn taken(
        &self,
        keys: &Keys,
        origins: &Origins,
        receivers: &[HostId],
    ) -> Option<(f64, Rate)> {
        let graph = self.graph.as_ref()?;
        let racks = &origins.racks;
        // Every sender, or every rack with senders, is equally likely to be drawn.
        let drawn = |rack: usize| match keys.workload.peers {
            PeerKind::Any => racks[rack],
            PeerKind::OtherRacks => usize::from(racks[rack] > 0),
        };
        let all: usize = (0..racks.len()).map(drawn).sum();
        // The flows from each rack to the receivers of each rack, if each receiver gets one flow.
        let mut each = vec![0.0; self.racks as usize];
        for receiver in receivers {
            let rack = self.rack(*receiver) as usize;
            let left_out = match keys.workload.peers {
                PeerKind::Any => usize::from(origins.has(*receiver)),
                PeerKind::OtherRacks => drawn(rack),
            };
            each[rack] += 1.0 / count((all - left_out).max(1));
        }
        let mut crossings = 0.0;
        let mut used = vec![[false; 2]; graph.links().len()];
        graph.each_hop(|[low, high], link, from_a| {
            for (from, to, direction) in [(low, high, !from_a), (high, low, from_a)] {
                let flows = count(drawn(from as usize)) * each[to as usize];
                crossings += flows;
                used[link][usize::from(direction)] |= flows > 0.0;
            }
        });
        let rates = graph.rates(keys, self.hosts).into_iter().zip(used);
        let (mut sum, mut count) = (0, 0);
        for (rate, used) in rates {
            let directions = used.into_iter().filter(|used| *used).count();
            sum += u128::from(rate.as_bps()) * directions as u128;
            count += directions;
        }
        Some((crossings / real(count as u64), mean(sum, count)?))
    }

    /// The hosts of a group of random flows: all hosts, except on a side that names its hosts.
    pub(super) fn everywhere(&self, group: &Group) -> Places {
        let side = |set: &Option<HostSet>| match set {
            Some(set) => self.hosts_of(set).collect(),
            None => self.everyone().collect(),
        };
        let workload = &group.keys.workload;
        Places {
            senders: side(&workload.from.0),
            receivers: side(&workload.to.0),
        }
    }

    /// Switches.
    pub fn switches(&self) -> u64 {
        let (racks, uplinks) = (u64::from(self.racks), u64::from(self.uplinks));
        racks
            + match self.kind {
                TopologyKind::Star
                | TopologyKind::Dumbbell
                | TopologyKind::Chain
                | TopologyKind::Graph => 0,
                TopologyKind::Tree | TopologyKind::LeafSpine => uplinks,
                TopologyKind::FatTree => racks + uplinks * uplinks,
            }
    }

    /// The rate of every link between switches, or their mean.
    pub fn rate_between(&self, keys: &Keys) -> Rate {
        let edge = keys.link.rate;
        if let Some(graph) = &self.graph {
            let rates = graph.rates(keys, self.hosts);
            let sum = rates.iter().map(|rate| u128::from(rate.as_bps())).sum();
            return mean(sum, rates.len()).unwrap_or(edge);
        }
        let Some(Factor(over)) = keys.topology.oversubscription.0 else {
            return keys.bottleneck.rate.0.unwrap_or(edge);
        };
        let bits = whole(
            (real(edge.as_bps()) * f64::from(self.hosts) / (f64::from(self.uplinks) * over))
                .round(),
        );
        Rate::from_bps(bits.max(1))
    }

    /// The network, and the port whose queue the metrics describe: the port of the first link between switches in a
    /// dumbbell or chain, else the port of the link to `receiver`.
    pub fn topology(&self, keys: &Keys, receiver: HostId) -> (Topology, PortId) {
        let (topology, port) = self.symmetric(keys, receiver);
        let topology = match keys.link.down_rate.0 {
            Some(rate) => topology.with_down_rate(rate),
            None => topology,
        };
        (keys.topology.exceptions.change(topology), port)
    }

    /// The same for hosts that receive at the rate at which they send.
    fn symmetric(&self, keys: &Keys, receiver: HostId) -> (Topology, PortId) {
        let edge = LinkSpec {
            rate: keys.link.rate,
            delay: keys.link.delay,
        };
        let (racks, hosts) = (self.racks, self.hosts);
        // Links between switches come first. The second port of a host's link leads to the host.
        let before = u32::try_from(self.links_between()).expect("ports have 32-bit numbers");
        let receiver = PortId(2 * (before + receiver.0) + 1);
        if let Some(graph) = &self.graph {
            let links = graph.links().iter().zip(graph.specs(keys, hosts));
            let links = links.map(|(link, spec)| (link.a, link.b, spec));
            let layers = graph.nodes().iter().map(|node| node.layer);
            let topology = Topology::graph(racks, hosts, edge, links).with_layers(layers);
            return (topology, receiver);
        }
        let between = LinkSpec {
            rate: self.rate_between(keys),
            delay: keys.bottleneck.delay.0.unwrap_or(edge.delay),
        };
        match self.kind {
            TopologyKind::Star => (Topology::star(hosts, edge), receiver),
            TopologyKind::Dumbbell => (Topology::dumbbell(hosts, edge, between), PortId(0)),
            TopologyKind::Chain => {
                let first = if racks == 1 { receiver } else { PortId(0) };
                (Topology::chain(racks, hosts, edge, between), first)
            }
            TopologyKind::Tree => (Topology::tree(racks, hosts, edge, between), receiver),
            TopologyKind::LeafSpine => {
                let switches = (racks, self.uplinks);
                let topology = Topology::leaf_spine(switches, hosts, edge, between);
                (topology, receiver)
            }
            TopologyKind::FatTree => (Topology::fat_tree(2 * hosts, edge, between), receiver),
            TopologyKind::Graph => unreachable!("the layout of a graph has one"),
        }
    }

    /// Hosts of every group, in the order of the groups.
    ///
    /// Groups that do not name a side share the chosen receivers, and each has chosen senders of its own. No group
    /// names or receives at these senders.
    pub(super) fn places(&self, groups: &[Group]) -> Vec<Places> {
        // Flags, as an incast of a million senders is checked for each of its points.
        let mut taken = vec![false; (self.racks * self.hosts) as usize];
        let mut places = Vec::new();
        for group in groups {
            let receivers = self.receivers(group, &mut taken);
            places.push(Places {
                senders: Vec::new(),
                receivers,
            });
            if let Some(set) = &group.keys.workload.from.0 {
                take(&mut taken, self.hosts_of(set));
            }
        }
        for place in &places {
            take(&mut taken, place.receivers.iter().copied());
        }
        for (group, place) in groups.iter().zip(&mut places) {
            let workload = &group.keys.workload;
            place.senders = match &workload.from.0 {
                Some(set) => self.hosts_of(set).collect(),
                None if takes_all(workload.kind) || workload.kind == WorkloadKind::Collective => {
                    self.everyone().collect()
                }
                None if workload.kind == WorkloadKind::Trace => traced(group, |flow| flow.sender),
                None => {
                    let wanted = senders_needed(group);
                    let free = self.side(0).filter(|host| !taken[host.0 as usize]);
                    let chosen: Vec<HostId> = free.take(wanted).collect();
                    take(&mut taken, chosen.iter().copied());
                    chosen
                }
            };
        }
        places
    }

    fn receivers(&self, group: &Group, taken: &mut [bool]) -> Vec<HostId> {
        let workload = &group.keys.workload;
        if let Some(set) = &workload.to.0 {
            return self.hosts_of(set).collect();
        }
        match workload.kind {
            WorkloadKind::Poisson | WorkloadKind::Burst => self.everyone().collect(),
            WorkloadKind::Collective => match &workload.from.0 {
                Some(set) => self.hosts_of(set).collect(),
                None => self.everyone().collect(),
            },
            WorkloadKind::Trace => traced(group, |flow| flow.receiver),
            WorkloadKind::Incast | WorkloadKind::Requests => {
                let wanted = workload.receivers.0 as usize;
                self.receiving_side().take(wanted).collect()
            }
            WorkloadKind::Pairs => {
                let free = self.receiving_side().filter(|host| !taken[host.0 as usize]);
                let chosen: Vec<HostId> = free.take(workload.senders.0 as usize).collect();
                take(taken, chosen.iter().copied());
                chosen
            }
        }
    }

    fn everyone(&self) -> impl Iterator<Item = HostId> + use<> {
        (0..self.racks * self.hosts).map(HostId)
    }

    fn receiving_side(&self) -> Box<dyn Iterator<Item = HostId>> {
        self.side(self.racks - 1)
    }

    /// Hosts in the order in which they are chosen; in a dumbbell or chain those of this rack, where senders have the first.
    fn side(&self, rack: u32) -> Box<dyn Iterator<Item = HostId>> {
        let first = rack * self.hosts;
        match self.kind {
            TopologyKind::Star => Box::new(self.everyone()),
            TopologyKind::Dumbbell | TopologyKind::Chain => {
                Box::new((first..first + self.hosts).map(HostId))
            }
            TopologyKind::Tree
            | TopologyKind::LeafSpine
            | TopologyKind::FatTree
            | TopologyKind::Graph => Box::new(self.across_racks()),
        }
    }

    /// The first host of every rack, then the second of every rack, and so on.
    fn across_racks(&self) -> impl Iterator<Item = HostId> + use<> {
        let (racks, hosts) = (self.racks, self.hosts);
        (0..hosts).flat_map(move |host| (0..racks).map(move |rack| HostId(rack * hosts + host)))
    }

    fn hosts_of<'a>(&'a self, set: &'a HostSet) -> impl Iterator<Item = HostId> + 'a {
        set.0.iter().flat_map(move |part| {
            let (first, last) = part.hosts.unwrap_or((0, self.hosts.saturating_sub(1)));
            (part.racks.0..=part.racks.1).flat_map(move |rack| {
                (first..=last).map(move |host| HostId(rack * self.hosts + host))
            })
        })
    }
}

/// Sets the flags of these hosts, which no further group may choose. Hosts outside the network are refused elsewhere.
fn take(taken: &mut [bool], hosts: impl Iterator<Item = HostId>) {
    for host in hosts {
        if let Some(flag) = taken.get_mut(host.0 as usize) {
            *flag = true;
        }
    }
}

/// One side of a group's flows in its trace; each host once.
fn traced(group: &Group, side: impl Fn(&TracedFlow) -> HostId) -> Vec<HostId> {
    let flows = group.keys.workload.trace.content().of(&group.name);
    let hosts = flows.map(side).into_set();
    hosts.into_iter().collect()
}

/// The mean of this many rates; `None` without rates.
fn mean(sum: u128, count: usize) -> Option<Rate> {
    let bits = sum.checked_div(count as u128)?;
    u64::try_from(bits).ok().map(Rate::from_bps)
}

/// Number of senders that a group takes if it names none.
pub(super) fn senders_needed(group: &Group) -> usize {
    let workload = &group.keys.workload;
    let each = workload.senders.0 as usize;
    match workload.kind {
        WorkloadKind::Incast => each * workload.receivers.0 as usize,
        WorkloadKind::Pairs | WorkloadKind::Requests => each,
        WorkloadKind::Poisson
        | WorkloadKind::Burst
        | WorkloadKind::Collective
        | WorkloadKind::Trace => 0,
    }
}

/// Whether all hosts take part, unless the scenario names some.
pub(super) const fn takes_all(kind: WorkloadKind) -> bool {
    matches!(kind, WorkloadKind::Poisson | WorkloadKind::Burst)
}

/// Hosts that each rack needs so that there are enough for all groups.
pub(super) fn needed(kind: TopologyKind, racks: u32, groups: &[Group]) -> u64 {
    let (mut senders, mut shared, mut own, mut named) = (0_u64, 0_u64, 0_u64, 0_u64);
    for group in groups {
        let workload = &group.keys.workload;
        for set in [&workload.from.0, &workload.to.0].into_iter().flatten() {
            let last = set
                .0
                .iter()
                .map(|part| part.hosts.map_or(0, |(_, last)| last));
            named = named.max(1 + u64::from(last.max().unwrap_or(0)));
        }
        if workload.from.0.is_none() {
            senders += senders_needed(group) as u64;
        }
        match workload.kind {
            _ if workload.to.0.is_some() => {}
            WorkloadKind::Incast | WorkloadKind::Requests => {
                shared = shared.max(workload.receivers.0.into());
            }
            WorkloadKind::Pairs => own += u64::from(workload.senders.0),
            WorkloadKind::Poisson | WorkloadKind::Burst => {}
            WorkloadKind::Collective if workload.from.0.is_some() => {}
            WorkloadKind::Collective => {
                named = named.max(u64::from(workload.ranks.0).div_ceil(racks.max(1).into()));
            }
            WorkloadKind::Trace => {
                let hosts = u64::from(workload.trace.content().last_host()) + 1;
                named = named.max(hosts.div_ceil(racks.max(1).into()));
            }
        }
        if takes_all(workload.kind) {
            // A sender is another host than the receiver.
            let all = u64::from(workload.fan_in.most) + 1;
            named = named.max(all.div_ceil(racks.max(1).into())).max(2);
            if workload.peers == PeerKind::OtherRacks && racks > 1 {
                named = named.max((all - 1).div_ceil(u64::from(racks) - 1));
            }
        }
    }
    let receivers = shared + own;
    let free = match kind {
        TopologyKind::Dumbbell | TopologyKind::Chain if racks > 1 => senders.max(receivers),
        TopologyKind::Star | TopologyKind::Dumbbell | TopologyKind::Chain => senders + receivers,
        TopologyKind::Tree
        | TopologyKind::LeafSpine
        | TopologyKind::FatTree
        | TopologyKind::Graph => (senders + receivers).div_ceil(racks.into()),
    };
    // If groups name hosts in racks where other groups choose theirs, more hosts are needed there.
    match (free, named) {
        (0, named) => named,
        (free, 0) => free,
        (free, named) => free + named,
    }
    .max(1)
}

/// Hosts at each node of RC3's networks.
const GRAPH_HOSTS: u64 = 10;
