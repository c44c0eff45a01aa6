//! Nodes and links as data, with generators for the usual shapes.

use std::collections::VecDeque;
use std::fmt;

use base::{HostId, Rate, Span};

use crate::port::PortId;

/// A node; dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// An end host.
    Host(HostId),
    /// A switch or router.
    Switch,
}

/// Rate and one-way delay of a link, the same in both directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSpec {
    /// Bits per second.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
}

/// A full-duplex link between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate and delay.
    pub spec: LinkSpec,
}

/// Nodes and links. Hosts are numbered in the order they are added.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    nodes: Vec<Node>,
    links: Vec<Link>,
    hosts: Vec<NodeId>,
    /// The first port of each host.
    host_ports: Vec<Option<PortId>>,
}

/// Why a topology cannot carry traffic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopologyError {
    /// No path leads from one host to another.
    Unconnected(HostId, HostId),
    /// A host has no link, or more than one: which to use would be ambiguous.
    HostLinks(HostId, usize),
}

impl Topology {
    /// No nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// `hosts` hosts around one switch. Link `h` belongs to host `h`.
    pub fn star(hosts: u32, edge: LinkSpec) -> Self {
        let mut topology = Self::new();
        let switch = topology.add_switch();
        for _ in 0..hosts {
            let (host, _) = topology.add_host();
            topology.connect(host, switch, edge);
        }
        topology
    }

    /// Two switches joined by `middle` (link 0), with `pairs` hosts at each: hosts `0..pairs` on the
    /// left, `pairs..2 * pairs` on the right.
    pub fn dumbbell(pairs: u32, edge: LinkSpec, middle: LinkSpec) -> Self {
        Self::chain(2, pairs, edge, middle)
    }

    /// `switches` switches in a row with `hosts` hosts at each. Link `i` joins switch `i` to the next
    /// one, and host `h` is at switch `h / hosts`.
    pub fn chain(switches: u32, hosts: u32, edge: LinkSpec, middle: LinkSpec) -> Self {
        let mut topology = Self::new();
        let row: Vec<NodeId> = (0..switches).map(|_| topology.add_switch()).collect();
        for pair in row.windows(2) {
            topology.connect(pair[0], pair[1], middle);
        }
        topology.add_racks(&row, hosts, edge);
        topology
    }

    /// `racks` switches with `hosts` hosts at each below one root switch, which is the last one. Link
    /// `r` is the uplink of rack `r`, and host `h` is in rack `h / hosts`.
    pub fn tree(racks: u32, hosts: u32, edge: LinkSpec, uplink: LinkSpec) -> Self {
        let mut topology = Self::new();
        let tops: Vec<NodeId> = (0..racks).map(|_| topology.add_switch()).collect();
        let root = topology.add_switch();
        for top in &tops {
            topology.connect(*top, root, uplink);
        }
        topology.add_racks(&tops, hosts, edge);
        topology
    }

    /// Adds `hosts` hosts to each of `switches`.
    fn add_racks(&mut self, switches: &[NodeId], hosts: u32, edge: LinkSpec) {
        for switch in switches {
            for _ in 0..hosts {
                let (host, _) = self.add_host();
                self.connect(host, *switch, edge);
            }
        }
    }

    /// Adds a host.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "node and host numbers have 32 bits"
    )]
    pub fn add_host(&mut self) -> (NodeId, HostId) {
        let (node, host) = (
            NodeId(self.nodes.len() as u32),
            HostId(self.hosts.len() as u32),
        );
        self.nodes.push(Node::Host(host));
        self.hosts.push(node);
        self.host_ports.push(None);
        (node, host)
    }

    /// Adds a switch.
    #[expect(clippy::cast_possible_truncation, reason = "node numbers have 32 bits")]
    pub fn add_switch(&mut self) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::Switch);
        node
    }

    /// Joins two nodes. Returns the port from `a` to `b`; the port back has the next number.
    pub fn connect(&mut self, a: NodeId, b: NodeId, spec: LinkSpec) -> PortId {
        let index = self.links.len();
        self.links.push(Link { a, b, spec });
        for (node, direction) in [(a, 0), (b, 1)] {
            if let Node::Host(host) = self.nodes[node.0 as usize] {
                self.host_ports[host.0 as usize].get_or_insert(port_of(index, direction));
            }
        }
        port_of(index, 0)
    }

    /// The nodes that `port` leads from and to.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        let link = &self.links[port.0 as usize / 2];
        match port.0 % 2 {
            0 => (link.a, link.b),
            _ => (link.b, link.a),
        }
    }

    /// What people call each node: hosts and switches are numbered separately, each from 0.
    pub fn names(&self) -> Vec<String> {
        let mut switches = 0;
        let name = |node: &Node| match node {
            Node::Host(host) => format!("host {}", host.0),
            Node::Switch => {
                switches += 1;
                format!("switch {}", switches - 1)
            }
        };
        self.nodes.iter().map(name).collect()
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The nodes of all hosts, by host.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// The only port of `host`.
    ///
    /// # Panics
    /// If the host has no link; [`Topology::routes`] reports that as an error.
    pub fn host_port(&self, host: HostId) -> PortId {
        self.host_ports[host.0 as usize].expect("a host has a link")
    }

    /// For every switch the port towards every host along a path of fewest links, `[node][host]`;
    /// among equal paths the link added first. Rows of hosts are empty: a host has one port.
    ///
    /// O(hosts * (nodes + links)) time, O(hosts * switches) space.
    pub fn routes(&self) -> Result<Vec<Vec<Option<PortId>>>, TopologyError> {
        let adjacent = self.adjacent();
        for (host, node) in self.hosts.iter().enumerate() {
            let links = adjacent[node.0 as usize].len();
            if links != 1 {
                return Err(TopologyError::HostLinks(host_id(host), links));
            }
        }
        let row = |node: &Node| match node {
            Node::Switch => vec![None; self.hosts.len()],
            Node::Host(_) => Vec::new(),
        };
        let mut routes: Vec<Vec<Option<PortId>>> = self.nodes.iter().map(row).collect();
        for (host, target) in self.hosts.iter().enumerate() {
            let distance = self.distances(*target, &adjacent);
            for (node, ports) in adjacent.iter().enumerate() {
                let Some(here) = distance[node] else {
                    if let Node::Host(other) = self.nodes[node] {
                        return Err(TopologyError::Unconnected(other, host_id(host)));
                    }
                    continue;
                };
                if self.nodes[node] != Node::Switch {
                    continue;
                }
                let closer =
                    |next: &NodeId| distance[next.0 as usize].is_some_and(|d| d + 1 == here);
                routes[node][host] = ports
                    .iter()
                    .find(|(_, next)| closer(next))
                    .map(|(port, _)| *port);
            }
        }
        Ok(routes)
    }

    /// Ports and neighbours of every node, in the order of links.
    fn adjacent(&self) -> Vec<Vec<(PortId, NodeId)>> {
        let mut adjacent = vec![Vec::new(); self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            adjacent[link.a.0 as usize].push((port_of(index, 0), link.b));
            adjacent[link.b.0 as usize].push((port_of(index, 1), link.a));
        }
        adjacent
    }

    /// Breadth-first distances to `target`; hosts do not forward.
    fn distances(&self, target: NodeId, adjacent: &[Vec<(PortId, NodeId)>]) -> Vec<Option<u32>> {
        let mut distance = vec![None; self.nodes.len()];
        distance[target.0 as usize] = Some(0);
        let mut open = VecDeque::from([(target, 0)]);
        while let Some((node, here)) = open.pop_front() {
            for (_, next) in &adjacent[node.0 as usize] {
                if distance[next.0 as usize].is_none() {
                    distance[next.0 as usize] = Some(here + 1);
                    if self.nodes[next.0 as usize] == Node::Switch {
                        open.push_back((*next, here + 1));
                    }
                }
            }
        }
        distance
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unconnected(from, to) => {
                write!(
                    f,
                    "no path leads from host {} to host {}; add a link",
                    from.0, to.0
                )
            }
            Self::HostLinks(host, links) => {
                write!(
                    f,
                    "host {} has {links} links; a host has exactly one",
                    host.0
                )
            }
        }
    }
}

impl std::error::Error for TopologyError {}

#[expect(clippy::cast_possible_truncation, reason = "port numbers have 32 bits")]
const fn port_of(link: usize, direction: u32) -> PortId {
    PortId(link as u32 * 2 + direction)
}

#[expect(clippy::cast_possible_truncation, reason = "host numbers have 32 bits")]
const fn host_id(index: usize) -> HostId {
    HostId(index as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGE: LinkSpec = LinkSpec {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
    };

    #[test]
    fn a_star_routes_through_its_switch() {
        let star = Topology::star(3, EDGE);
        let routes = star.routes().unwrap();
        // Node 0 is the switch; the port to host h is the second one of link h.
        assert_eq!(
            routes[0],
            [Some(PortId(1)), Some(PortId(3)), Some(PortId(5))]
        );
        assert!(routes[1].is_empty(), "a host has one port");
    }

    #[test]
    fn a_dumbbell_crosses_its_middle_only_when_it_must() {
        let dumbbell = Topology::dumbbell(2, EDGE, EDGE);
        let routes = dumbbell.routes().unwrap();
        let left = &routes[0];
        assert_eq!(left[2], Some(PortId(0)), "the middle link leads right");
        assert_eq!(left[1], Some(PortId(5)), "a neighbour is reached directly");
        assert_eq!(dumbbell.host_port(HostId(3)), PortId(8));
    }

    #[test]
    fn a_chain_leads_along_its_switches() {
        let chain = Topology::chain(3, 2, EDGE, EDGE);
        let routes = chain.routes().unwrap();
        // Links 0 and 1 join the switches; host 5 is the last one at the third.
        assert_eq!(routes[0][5], Some(PortId(0)));
        assert_eq!(routes[1][5], Some(PortId(2)));
        assert_eq!(routes[1][0], Some(PortId(1)), "and back");
    }

    #[test]
    fn a_tree_leads_over_its_root_between_racks_only() {
        let tree = Topology::tree(3, 2, EDGE, EDGE);
        let routes = tree.routes().unwrap();
        // Host 1 is in rack 0, host 4 in rack 2; the root is switch 3, links 0 to 2 lead to it.
        assert_eq!(routes[0][1], Some(PortId(9)), "a neighbour directly");
        assert_eq!(routes[0][4], Some(PortId(0)), "another rack by the uplink");
        assert_eq!(routes[3][4], Some(PortId(5)), "down the uplink of rack 2");
        assert_eq!(tree.names()[3], "switch 3");
    }

    #[test]
    fn the_shortest_of_several_paths_wins() {
        // host0 - s0 - s1 - host1, and a longer way s0 - s2 - s1 added first.
        let mut topology = Topology::new();
        let s: Vec<NodeId> = (0..3).map(|_| topology.add_switch()).collect();
        topology.connect(s[0], s[2], EDGE);
        topology.connect(s[2], s[1], EDGE);
        let direct = topology.connect(s[0], s[1], EDGE);
        for switch in [s[0], s[1]] {
            let (host, _) = topology.add_host();
            topology.connect(host, switch, EDGE);
        }
        assert_eq!(topology.routes().unwrap()[0][1], Some(direct));
    }

    #[test]
    fn a_topology_that_cannot_carry_traffic_is_refused() {
        let mut islands = Topology::star(1, EDGE);
        let other = islands.add_switch();
        let (host, _) = islands.add_host();
        islands.connect(host, other, EDGE);
        assert_eq!(
            islands.routes(),
            Err(TopologyError::Unconnected(HostId(1), HostId(0)))
        );
        let mut lonely = Topology::new();
        lonely.add_host();
        assert_eq!(lonely.routes(), Err(TopologyError::HostLinks(HostId(0), 0)));
    }
}
