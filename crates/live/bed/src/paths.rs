//! Addresses, and static routes along the shortest paths.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use base::HostId;
use fabric::{Node, NodeId, PortId, Topology};
use machine::RouteOptions;
use machine::netlink::Route;
use plan::workload::PlannedConnection;

/// The address of a host.
pub(crate) fn address(host: HostId) -> Ipv4Addr {
    let [_, _, high, low] = (host.0 + 1).to_be_bytes();
    Ipv4Addr::new(10, 88, high, low)
}

/// The address of a node. A switch's address is only known to its neighbours.
pub(crate) fn node_address(topology: &Topology, node: NodeId) -> Ipv4Addr {
    match topology.nodes()[node.0 as usize] {
        Node::Host(host) => address(host),
        Node::Switch => {
            let [_, _, high, low] = (node.0 + 1).to_be_bytes();
            Ipv4Addr::new(169, 254, high, low)
        }
    }
}

/// The address of the node at the other end of a port.
pub(crate) fn next_hop(topology: &Topology, port: PortId) -> Ipv4Addr {
    let (_, to) = topology.ends(port);
    node_address(topology, to)
}

/// The routes of a node. A host has one way out, with these options; a switch has a route to every host.
pub(crate) fn routes(
    topology: &Topology,
    id: NodeId,
    ports: &[PortId],
    interfaces: &[u32],
    options: RouteOptions,
) -> Vec<Route> {
    let way = |port: &PortId| (interfaces[port.0 as usize], next_hop(topology, *port));
    match topology.nodes()[id.0 as usize] {
        Node::Host(_) => vec![Route {
            to: Ipv4Addr::new(10, 88, 0, 0),
            prefix: 16,
            ways: ports.iter().map(way).collect(),
            options: Some(options),
        }],
        Node::Switch => {
            let hosts = (0..).zip(topology.hosts());
            let route = |(host, to): (u32, &NodeId)| {
                let distance = distances(topology, *to);
                let own = distance[id.0 as usize];
                let nearer = ports.iter().filter(|port| {
                    let (_, next) = topology.ends(**port);
                    distance[next.0 as usize] + 1 == own
                });
                Route {
                    to: address(HostId(host)),
                    prefix: 32,
                    ways: nearer.map(way).collect(),
                    options: None,
                }
            };
            hosts.map(route).collect()
        }
    }
}

/// Number of links between two hosts.
pub(crate) fn links_between(topology: &Topology, from: HostId, to: HostId) -> u32 {
    let node = |host: HostId| topology.hosts()[host.0 as usize];
    distances(topology, node(to))[node(from).0 as usize]
}

/// The ports of switches that carry data between `pairs` of hosts, over any of the shortest paths.
pub(crate) fn on_the_way(
    topology: &Topology,
    pairs: &BTreeSet<(HostId, HostId)>,
) -> BTreeSet<PortId> {
    let node = |host: HostId| topology.hosts()[host.0 as usize];
    let ports = (0..).map(PortId).take(2 * topology.links().len());
    let ports: Vec<PortId> = ports.collect();
    let mut found = BTreeSet::new();
    for (from, to) in pairs {
        let (before, after) = (
            distances(topology, node(*from)),
            distances(topology, node(*to)),
        );
        let all = after[node(*from).0 as usize];
        found.extend(ports.iter().filter(|port| {
            let (near, far) = topology.ends(**port);
            let is_switch = topology.nodes()[near.0 as usize] == Node::Switch;
            is_switch && before[near.0 as usize] + 1 + after[far.0 as usize] == all
        }));
    }
    found
}

/// The switch port that most connections pass; among equals, their `bottleneck`.
pub(crate) fn busiest(
    topology: &Topology,
    bottleneck: PortId,
    connections: &[PlannedConnection],
) -> PortId {
    let mut pairs: BTreeMap<(HostId, HostId), u32> = BTreeMap::new();
    for connection in connections {
        *pairs
            .entry((connection.sender, connection.receiver))
            .or_default() += 1;
    }
    let mut passing: BTreeMap<PortId, u32> = BTreeMap::new();
    for (pair, count) in pairs {
        for port in on_the_way(topology, &BTreeSet::from([pair])) {
            *passing.entry(port).or_default() += count;
        }
    }
    let most = passing.values().max().copied();
    if passing.get(&bottleneck).copied() == most {
        return bottleneck;
    }
    let busiest = passing.iter().find(|(_, count)| Some(**count) == most);
    busiest.map_or(bottleneck, |(port, _)| *port)
}

/// The number of links between every node and `to`.
fn distances(topology: &Topology, to: NodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX - 1; topology.nodes().len()];
    distance[to.0 as usize] = 0;
    let mut next = VecDeque::from([to]);
    while let Some(node) = next.pop_front() {
        for link in topology.links() {
            let other = if link.a == node {
                link.b
            } else if link.b == node {
                link.a
            } else {
                continue;
            };
            if distance[other.0 as usize] == u32::MAX - 1 {
                distance[other.0 as usize] = distance[node.0 as usize] + 1;
                next.push_back(other);
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario, Source};

    use super::*;
    use crate::testbed::Testbed;

    fn bed(text: &str) -> Testbed {
        let text = format!("schemes = [\"cubic\"]\n{text}\n[workload]\nsenders = 2");
        let scenario = Scenario::load(Source::new("test", text), &Overrides::default());
        Testbed::of(&scenario.expect("a correct scenario").points()[0]).expect("a shape of Linux")
    }

    const LEAF_SPINE: &str = "[topology]\nkind = \"leaf-spine\"\nracks = 2\nspines = 3";

    #[test]
    fn data_passes_the_ports_towards_their_receiver() {
        let star = bed("");
        let [first, second, third] = [0, 1, 2].map(HostId);
        let towards = |host| star.topology.host_port(host).reverse();
        let pairs = BTreeSet::from([(second, first), (third, first)]);
        assert_eq!(
            on_the_way(&star.topology, &pairs),
            BTreeSet::from([towards(first)])
        );
        let leaves = bed(LEAF_SPINE);
        let last = HostId(u32::try_from(leaves.topology.hosts().len()).unwrap() - 1);
        // Three spines: the ports up to each, down from each, and of the last leaf.
        assert_eq!(
            on_the_way(&leaves.topology, &BTreeSet::from([(first, last)])).len(),
            7
        );
    }

    #[test]
    fn a_leaf_spreads_connections_over_its_spines() {
        let bed = bed(LEAF_SPINE);
        let interfaces: Vec<u32> = (0..).take(2 * bed.topology.links().len()).collect();
        // The switch port of the first host.
        let port = bed.topology.host_port(HostId(0));
        let (_, leaf) = bed.topology.ends(port);
        let all = (0..).take(interfaces.len()).map(PortId);
        let ports: Vec<_> = all
            .filter(|port| bed.topology.ends(*port).0 == leaf)
            .collect();
        let routes = routes(&bed.topology, leaf, &ports, &interfaces, bed.route);
        assert_eq!(routes.len(), bed.topology.hosts().len());
        assert_eq!(routes[0].ways, [(port.0 ^ 1, address(HostId(0)))]);
        assert_eq!(routes.last().unwrap().ways.len(), 3);
    }
}
