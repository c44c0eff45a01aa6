//! Nodes and links as data, with generators for the usual shapes.

mod generators;

use std::collections::BTreeMap;
use std::fmt;

use base::cast::id;
use base::{HostId, Rate, Span};

use crate::port_id::PortId;

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

/// Rate and one-way delay of a link in one direction or, where nothing else is said, in both.
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
    /// From `a` to `b`.
    pub spec: LinkSpec,
    /// From `b` to `a`.
    pub back: LinkSpec,
    /// Whether it has failed: no route leads over it. Its ports stay, so that other ports keep their numbers.
    pub down: bool,
}

/// The place of a switch among its equals, the switches that packets could take instead.
///
/// Flows spread evenly over equals; see [`Routes`](crate::Routes). In a leaf-spine network every
/// spine is the equal of every other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// What kind of switch it is.
    pub layer: Layer,
    /// Its number among its equals, from 0.
    pub position: u32,
    /// Number of equals, itself included.
    pub of: u32,
}

base::names! {
    /// The layer of a switch, from the hosts upwards.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[expect(missing_docs, reason = "the names are the field's")]
    pub enum Layer {
        Switch = "switch",
        Leaf = "leaf",
        Edge = "edge",
        Aggregation = "aggregation",
        Spine = "spine",
        Core = "core",
    }
}

/// Nodes and links. Hosts are numbered in the order they are added.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    nodes: Vec<Node>,
    /// Places of switches; of hosts without meaning.
    places: Vec<Place>,
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

    /// Adds a host.
    pub fn add_host(&mut self) -> (NodeId, HostId) {
        let (node, host) = (NodeId(id(self.nodes.len())), HostId(id(self.hosts.len())));
        self.nodes.push(Node::Host(host));
        self.places.push(Place::default());
        self.hosts.push(node);
        self.host_ports.push(None);
        (node, host)
    }

    /// Adds a switch without equals.
    pub fn add_switch(&mut self) -> NodeId {
        self.add_switch_at(Place::default())
    }

    /// Adds a switch that stands at `place` among its equals.
    ///
    /// # Panics
    /// If the place is none of those that there are.
    pub fn add_switch_at(&mut self, place: Place) -> NodeId {
        assert!(place.position < place.of, "positions count from 0");
        let node = NodeId(id(self.nodes.len()));
        self.nodes.push(Node::Switch);
        self.places.push(place);
        node
    }

    /// Joins two nodes. Returns the port from `a` to `b`; the port back has the next number.
    pub fn connect(&mut self, a: NodeId, b: NodeId, spec: LinkSpec) -> PortId {
        let index = self.links.len();
        let back = spec;
        self.links.push(Link {
            a,
            b,
            spec,
            back,
            down: false,
        });
        for (node, direction) in [(a, 0), (b, 1)] {
            if let Node::Host(host) = self.nodes[node.0 as usize] {
                self.host_ports[host.0 as usize].get_or_insert(port_of(index, direction));
            }
        }
        port_of(index, 0)
    }

    /// Gives every link of a host another rate from the switch to the host: hosts send faster or slower
    /// than they receive.
    #[must_use]
    pub fn with_down_rate(mut self, rate: Rate) -> Self {
        for link in &mut self.links {
            if let Node::Host(_) = self.nodes[link.a.0 as usize] {
                link.back.rate = rate;
            }
            if let Node::Host(_) = self.nodes[link.b.0 as usize] {
                link.spec.rate = rate;
            }
        }
        self
    }

    /// A link that is to differ from the others, by its number.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn link_mut(&mut self, link: usize) -> &mut Link {
        &mut self.links[link]
    }

    /// Two hosts between which no path leads, if there are any. O(links).
    pub fn apart(&self) -> Option<(HostId, HostId)> {
        let mut parts: Vec<usize> = (0..self.nodes.len()).collect();
        for link in self.links.iter().filter(|link| !link.down) {
            let [a, b] = [link.a, link.b].map(|node| root(&mut parts, node.0 as usize));
            parts[a] = b;
        }
        let first = root(&mut parts, self.hosts.first()?.0 as usize);
        let hosts = (0..).map(HostId).zip(&self.hosts);
        for (host, node) in hosts {
            if root(&mut parts, node.0 as usize) != first {
                return Some((HostId(0), host));
            }
        }
        None
    }

    /// Says what the switches are, in the order in which they were added; routes do not depend on it where every
    /// switch is alone in its place.
    #[must_use]
    pub fn with_layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        let nodes = self.nodes.iter().zip(&mut self.places);
        let switches = nodes.filter(|(node, _)| **node == Node::Switch);
        for ((_, place), layer) in switches.zip(layers) {
            place.layer = layer;
        }
        self
    }

    /// The nodes that `port` leads from and to.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        let link = &self.links[port.0 as usize / 2];
        match port.0 % 2 {
            0 => (link.a, link.b),
            _ => (link.b, link.a),
        }
    }

    /// What people call each node: hosts and the switches of each layer are numbered separately, each
    /// from 0.
    pub fn names(&self) -> Vec<String> {
        let mut switches = BTreeMap::new();
        let name = |(node, place): (&Node, &Place)| match node {
            Node::Host(host) => format!("host {}", host.0),
            Node::Switch => {
                let next = switches.entry(place.layer).or_insert(0);
                *next += 1;
                format!("{} {}", place.layer, *next - 1)
            }
        };
        self.nodes.iter().zip(&self.places).map(name).collect()
    }

    /// The tier of a port: `host`; `leaf up` and `leaf down`, of other layers alike; `spine` and `core`, above which there is
    /// nothing; and `switch` between switches that are not in layers, which reach hosts by `switch down`.
    pub fn tier(&self, port: PortId) -> String {
        let (from, to) = self.ends(port);
        let layer = |node: NodeId| match self.nodes[node.0 as usize] {
            Node::Host(_) => None,
            Node::Switch => Some(self.places[node.0 as usize].layer),
        };
        let Some(own) = layer(from) else {
            return "host".to_owned();
        };
        match layer(to) {
            _ if matches!(own, Layer::Spine | Layer::Core) => own.to_string(),
            Some(other) if other == own => own.to_string(),
            Some(other) if other > own => format!("{own} up"),
            _ => format!("{own} down"),
        }
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The place of a switch.
    pub(crate) fn place(&self, switch: NodeId) -> Place {
        self.places[switch.0 as usize]
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
    /// If the host has no link; [`Routes::new`](crate::Routes::new) reports that as an error.
    pub fn host_port(&self, host: HostId) -> PortId {
        self.host_ports[host.0 as usize].expect("a host has a link")
    }
}

impl Default for Place {
    fn default() -> Self {
        Self {
            layer: Layer::Switch,
            position: 0,
            of: 1,
        }
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

impl PortId {
    /// The port at the other end of the link, which leads back.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The node that stands for the part of the network that `node` is in. Every step halves the way of the next.
fn root(parts: &mut [usize], mut node: usize) -> usize {
    while parts[node] != node {
        parts[node] = parts[parts[node]];
        node = parts[node];
    }
    node
}

const fn port_of(link: usize, direction: u32) -> PortId {
    PortId(id(link) * 2 + direction)
}
