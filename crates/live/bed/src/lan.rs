//! The bed on the machine: namespaces, links, routes and queues, which are removed when this value is dropped.

use std::io;
use std::net::Ipv4Addr;

use base::HostId;
use fabric::{Node, NodeId, PortId};
use machine::namespace::Namespace;
use machine::netlink::{Ethtool, LinkEnd, Route, Routing, Tbf};
use machine::record::Record;
use machine::{Sysctl, sysctl};

use crate::paths;
use crate::testbed::Testbed;

/// A network of namespaces.
#[derive(Debug)]
pub(crate) struct Lan {
    record: Record,
    /// By node.
    namespaces: Vec<Namespace>,
    /// By port: its interface number.
    pub(crate) interfaces: Vec<u32>,
    /// By port: the sending node.
    owners: Vec<NodeId>,
}

/// How fast ports are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    /// The factor for all rates of the scenario, as (real, planned) rate of the fastest link.
    pub(crate) real: u64,
    pub(crate) planned: u64,
    /// Packets that a port may send at once after an idle time.
    pub(crate) burst: u32,
}

impl Speed {
    /// The real rate of a port that the scenario gives `bps`.
    pub(crate) fn of(&self, bps: u64) -> u64 {
        let scaled = u128::from(bps) * u128::from(self.real) / u128::from(self.planned);
        u64::try_from(scaled).expect("slower than planned")
    }
}

/// A bed on the machine with ports of one speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running<'a> {
    pub(crate) bed: &'a Testbed,
    pub(crate) lan: &'a Lan,
    pub(crate) speed: Speed,
}

impl Lan {
    /// Makes the network. If a step fails, the parts made so far are removed.
    pub(crate) fn up(bed: &Testbed, speed: Speed) -> io::Result<Self> {
        let nodes = bed.topology.nodes().len();
        let ports = 2 * bed.topology.links().len();
        let port = |port: usize| PortId(u32::try_from(port).expect("ports have 32-bit numbers"));
        let mut lan = Self {
            record: Record::begin()?,
            namespaces: Vec::with_capacity(nodes),
            interfaces: (0..ports).map(|number| FIRST + port(number).0).collect(),
            owners: (0..ports)
                .map(|number| bed.topology.ends(port(number)).0)
                .collect(),
        };
        for node in 0..nodes {
            let node = NodeId(u32::try_from(node).expect("nodes have 32-bit numbers"));
            let name = format!("{}{}", lan.record.prefix(), bed.node_name(node));
            lan.namespaces.push(Namespace::create(&name)?);
        }
        lan.connect(bed)?;
        for node in 0..nodes {
            lan.configure(
                bed,
                NodeId(u32::try_from(node).expect("nodes have 32-bit numbers")),
            )?;
        }
        lan.set_speed(bed, speed)?;
        Ok(lan)
    }

    /// Lets the network stay when the process ends.
    pub(crate) fn keep(mut self) -> io::Result<String> {
        self.record.keep()?;
        Ok(self.record.run.clone())
    }

    /// The namespace of a node.
    pub(crate) fn node(&self, node: NodeId) -> &Namespace {
        &self.namespaces[node.0 as usize]
    }

    /// The namespace of a host.
    pub(crate) fn host(&self, bed: &Testbed, host: HostId) -> &Namespace {
        self.node(bed.topology.hosts()[host.0 as usize])
    }

    /// All namespaces.
    pub(crate) fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The namespace of the node that sends through a port.
    pub(crate) fn owner(&self, port: PortId) -> &Namespace {
        self.node(self.owners[port.0 as usize])
    }

    /// Ports of every node.
    pub(crate) fn ports_of(&self, node: NodeId) -> impl Iterator<Item = PortId> {
        let ports = self.owners.iter().zip(0..);
        ports
            .filter(move |(owner, _)| **owner == node)
            .map(|(_, port)| PortId(port))
    }

    /// Nodes with the interfaces of all their ports.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (&Namespace, Vec<u32>)> {
        let nodes = self.namespaces.iter().zip(0..);
        nodes.map(|(namespace, node)| {
            let ports = self.ports_of(NodeId(node));
            let indices = ports.map(|port| self.interfaces[port.0 as usize]);
            (namespace, indices.collect())
        })
    }

    /// Sets the rate and the limit of every port.
    pub(crate) fn set_speed(&self, bed: &Testbed, speed: Speed) -> io::Result<()> {
        self.at_all_ports(bed, |routing, port, limit| {
            let tbf = Tbf {
                rate_bps: speed.of(bed.port_rate(port).as_bps()),
                burst: speed.burst * bed.packet_bytes(),
                limit,
            };
            routing.set_queue(self.interfaces[port.0 as usize], tbf)
        })
    }

    /// Lets every port serve packets by priority during `act`. Each band has room for as many packets as the port.
    pub(crate) fn in_bands<T>(
        &self,
        bed: &Testbed,
        speed: Speed,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.at_all_ports(bed, |routing, port, limit| {
            routing.set_bands(self.interfaces[port.0 as usize], bed.room_of_band(limit))
        })?;
        let done = act()?;
        self.at_all_ports(bed, |routing, port, _| {
            routing.remove_bands(self.interfaces[port.0 as usize])
        })?;
        self.set_speed(bed, speed)?;
        Ok(done)
    }

    /// Calls `act` for every port with the limit of its queue, in the namespace of its node.
    fn at_all_ports(
        &self,
        bed: &Testbed,
        act: impl Fn(&mut Routing, PortId, u32) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        for (place, node) in bed.topology.nodes().iter().enumerate() {
            let limit = match node {
                Node::Host(_) => bed.host_limit,
                Node::Switch => bed.switch_limit,
            };
            let id = NodeId(u32::try_from(place).expect("nodes have 32-bit numbers"));
            let ports: Vec<_> = self.ports_of(id).collect();
            self.namespaces[place].within(|| {
                let mut routing = Routing::open()?;
                let mut ports = ports.into_iter();
                ports.try_for_each(|port| act(&mut routing, port, limit))
            })?;
        }
        Ok(())
    }

    /// Makes all links, each in the namespace of its first node.
    fn connect(&self, bed: &Testbed) -> io::Result<()> {
        for (number, link) in (0..).zip(bed.topology.links()) {
            let end = self.end(bed, PortId(2 * number));
            let peer = self.end(bed, PortId(2 * number + 1));
            let there = self.node(link.b);
            self.node(link.a).within(|| {
                use std::os::fd::AsFd;
                Routing::open()?.add_link(&end, &peer, there.as_fd(), bed.mtu())
            })?;
        }
        Ok(())
    }

    /// The interface of a port.
    fn end(&self, bed: &Testbed, port: PortId) -> LinkEnd {
        let owner = self.owners[port.0 as usize];
        let name = match bed.topology.nodes()[owner.0 as usize] {
            Node::Host(_) => "eth0".to_owned(),
            Node::Switch => format!("p{}", port.0),
        };
        LinkEnd {
            name,
            index: self.interfaces[port.0 as usize],
            mac: mac(port),
        }
    }

    /// Turns a namespace into a node: settings, addresses, neighbours and routes.
    fn configure(&self, bed: &Testbed, id: NodeId) -> io::Result<()> {
        let topology = &bed.topology;
        let node = topology.nodes()[id.0 as usize];
        let ports: Vec<_> = self.ports_of(id).collect();
        let routes = paths::routes(topology, id, &ports, &self.interfaces, bed.route);
        let own = paths::node_address(topology, id);
        self.node(id).within(|| {
            set_files(bed, node)?;
            let mut routing = Routing::open()?;
            let mut ethtool = Ethtool::open()?;
            for port in ports {
                let index = self.interfaces[port.0 as usize];
                ethtool.set_offloads(index)?;
                routing.set_up(index)?;
                // A switch has one address at all its ports. Without an address, the kernel accepts no neighbour.
                routing.add_address(index, own)?;
                let there = port.reverse();
                let next = paths::next_hop(topology, port);
                routing.add_neighbour(index, next, mac(there))?;
            }
            routes
                .iter()
                .try_for_each(|route: &Route| routing.add_route(route))
        })
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        if !self.record.kept {
            // Anything left is found by its record.
            drop(self.record.remove());
        }
    }
}

/// Writes the settings of a node into `/proc/sys/net`, which every namespace has for itself.
fn set_files(bed: &Testbed, node: Node) -> io::Result<()> {
    match node {
        Node::Host(_) => bed.sysctls.iter().try_for_each(Sysctl::set),
        Node::Switch => sysctl::set_all(&SWITCH),
    }
}

/// ACKs may take another of two ways to a host than the data.
const SWITCH: [(&str, &str); 6] = [
    ("ipv4/ip_forward", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/fib_multipath_hash_policy", "1"),
    ("ipv6/conf/all/disable_ipv6", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
];

/// The address of a port's interface: locally administered, with the interface's number.
fn mac(port: PortId) -> [u8; 6] {
    let [a, b, c, d] = port.0.to_be_bytes();
    [0x02, 0x74, a, b, c, d]
}

/// Interfaces are numbered by port, above the numbers that a namespace uses itself.
const FIRST: u32 = 16;

/// The address of a host in every bed.
pub(crate) fn host_address(host: HostId) -> Ipv4Addr {
    paths::address(host)
}
