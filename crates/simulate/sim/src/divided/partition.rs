//! Which part of a network each host and port belongs to.

use std::num::NonZeroUsize;

use base::Sort as _;
use base::cast::id;
use base::{HostId, Span};
use fabric::{Node, NodeId, PortId, Topology};
use plan::workload::Plan;

/// A network in parts: a switch with its hosts, or several of them. Parts are numbered from 0.
#[derive(Debug)]
pub(super) struct Partition {
    hosts: Vec<u16>,
    /// For each port, the part of its sending node.
    from: Vec<u16>,
    /// For each port, the part of the node that it leads to.
    to: Vec<u16>,
    parts: usize,
    /// The least time that a packet takes from one part to another.
    window: Span,
}

impl Partition {
    /// At most this many parts, with about equal work. A host is in the part of its switch. Nodes without a delay
    /// between them are in one part, and so are both ends of `together`. O(nodes log nodes + flows).
    pub(super) fn of(plan: &Plan, parts: usize, together: Option<PortId>) -> Self {
        let topology = &plan.topology;
        let groups = groups(topology, together);
        let loads = loads(plan, &groups);
        let parts = parts.clamp(1, loads.len().min(usize::from(u16::MAX)));
        // Groups are taken from the largest to the smallest. Each goes to the part with the least work so far.
        let mut order: Vec<usize> = (0..loads.len()).collect();
        order.order_by_key(|group| std::cmp::Reverse(loads[*group]));
        let mut sums = vec![0_u128; parts];
        let mut part_of = vec![0_u16; loads.len()];
        for group in order {
            let least = (0..).zip(&mut sums).min_by_key(|(_, sum)| **sum);
            let (part, sum) = least.expect("there is a part");
            *sum += loads[group] + 1;
            part_of[group] = part;
        }
        let part = |node: NodeId| part_of[groups[node.0 as usize]];
        let ports = || {
            (0..2 * topology.links().len())
                .map(port)
                .map(|port| topology.ends(port))
        };
        let mut window = Span::from_ps(u64::MAX);
        for link in topology.links() {
            if part(link.a) != part(link.b) {
                window = window.min(link.spec.delay).min(link.back.delay);
            }
        }
        Self {
            hosts: topology.hosts().iter().map(|node| part(*node)).collect(),
            from: ports().map(|(from, _)| part(from)).collect(),
            to: ports().map(|(_, to)| part(to)).collect(),
            parts,
            window,
        }
    }

    pub(super) const fn parts(&self) -> usize {
        self.parts
    }

    /// The least time that a packet takes from one part to another.
    pub(super) const fn window(&self) -> Span {
        self.window
    }

    /// The time between two exchanges of packets: the window, divided by `shortened`.
    pub(super) fn window_of(&self, shortened: NonZeroUsize) -> Span {
        Span::from_ps((self.window.as_ps() / shortened.get() as u64).clamp(1, LONGEST))
    }

    pub(super) fn ports(&self) -> usize {
        self.from.len()
    }

    pub(super) fn of_host(&self, host: HostId) -> u16 {
        self.hosts[host.0 as usize]
    }

    /// The part whose nodes send out of `port`.
    #[inline(always)]
    pub(super) fn before(&self, port: PortId) -> u16 {
        self.from[port.0 as usize]
    }

    /// The part in which packets from `port` arrive.
    #[inline(always)]
    pub(super) fn behind(&self, port: PortId) -> u16 {
        self.to[port.0 as usize]
    }
}

/// The group of each node, numbered from 0 in the order of nodes. Nodes that must be in one part have the same group.
fn groups(topology: &Topology, together: Option<PortId>) -> Vec<usize> {
    let nodes = topology.nodes();
    let mut parents: Vec<usize> = (0..nodes.len()).collect();
    let is_host = |node: NodeId| matches!(nodes[node.0 as usize], Node::Host(_));
    for (number, link) in topology.links().iter().enumerate() {
        let joined = is_host(link.a)
            || is_host(link.b)
            || link.spec.delay.min(link.back.delay) == Span::ZERO
            || together.is_some_and(|port| port.0 as usize / 2 == number);
        if joined {
            let [a, b] = [link.a, link.b].map(|node| root(&mut parents, node.0 as usize));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut numbers = vec![usize::MAX; nodes.len()];
    let mut count = 0;
    let number = |node| {
        let root = root(&mut parents, node);
        if numbers[root] == usize::MAX {
            numbers[root] = count;
            count += 1;
        }
        numbers[root]
    };
    (0..nodes.len()).map(number).collect()
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

/// The work of each group, in bytes that pass it: the bytes of its hosts, and for each switch without hosts an equal
/// share of the bytes between groups.
fn loads(plan: &Plan, groups: &[usize]) -> Vec<u128> {
    let topology = &plan.topology;
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let (mut loads, mut between) = (vec![0; count], 0);
    let group = |host: HostId| groups[topology.hosts()[host.0 as usize].0 as usize];
    for flow in &plan.flows {
        let connection = &plan.connections[flow.connection as usize];
        let bytes = u128::from(flow.size.unwrap_or(ENDLESS) + PER_FLOW);
        let ends = [group(connection.sender), group(connection.receiver)];
        for end in ends {
            loads[end] += AT_HOSTS * bytes;
        }
        if ends[0] != ends[1] {
            between += bytes;
        }
    }
    let mut has_hosts = vec![false; count];
    for node in topology.hosts() {
        has_hosts[groups[node.0 as usize]] = true;
    }
    let others = has_hosts.iter().filter(|has| !**has).count() as u128;
    for (load, _) in loads.iter_mut().zip(&has_hosts).filter(|(_, has)| !**has) {
        *load = BETWEEN * between / others;
    }
    loads
}

const fn port(number: usize) -> PortId {
    PortId(id(number))
}

/// The window if no wire leads from part to part: long, but times do not overflow with it.
const LONGEST: u64 = 1 << 50;
/// Bytes that count for a flow without end, and bytes that count for the handshake of each flow.
const ENDLESS: u64 = 1 << 30;
const PER_FLOW: u64 = 4 << 10;
/// Events of a data packet and its ACK in the part of one of their hosts, the work of TCP included, and in a part
/// between. In a leaf-spine network they make three arrivals each in the part of a host, and two at a spine.
const AT_HOSTS: u128 = 4;
const BETWEEN: u128 = 2;

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario, Source};

    use super::*;

    fn plan(sets: &[&str]) -> Plan {
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        let scenario = Scenario::load(
            Source::new("test", "[workload]\nstart = \"0s\"\n"),
            &overrides,
        )
        .unwrap();
        Plan::of(&scenario.points()[0])
    }

    #[test]
    fn a_star_has_one_part_and_a_switch_goes_with_its_hosts() {
        assert_eq!(Partition::of(&plan(&[]), 8, None).parts(), 1);
        let plan = plan(&["topology.kind=leaf-spine"]);
        let partition = Partition::of(&plan, usize::MAX, None);
        let switches = plan
            .topology
            .nodes()
            .iter()
            .filter(|node| **node == Node::Switch);
        assert_eq!(partition.parts(), switches.count());
        for host in (0..).map(HostId).take(plan.topology.hosts().len()) {
            let port = plan.topology.host_port(host);
            let part = partition.of_host(host);
            assert_eq!([partition.before(port), partition.behind(port)], [part; 2]);
        }
        let least = plan
            .topology
            .links()
            .iter()
            .map(|link| link.spec.delay)
            .min();
        assert!(Some(partition.window()) >= least);
    }

    #[test]
    fn both_ends_of_a_link_that_delivers_late_are_in_one_part() {
        let plan = plan(&["topology.kind=leaf-spine"]);
        let ports = (0..2 * plan.topology.links().len()).map(port);
        let all = Partition::of(&plan, usize::MAX, None);
        for port in ports.filter(|port| all.before(*port) != all.behind(*port)) {
            let partition = Partition::of(&plan, usize::MAX, Some(port));
            assert_eq!(partition.before(port), partition.behind(port));
            assert_eq!(partition.parts(), all.parts() - 1);
        }
    }
}
