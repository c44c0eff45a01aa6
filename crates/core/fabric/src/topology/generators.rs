//! The usual shapes.

use crate::topology::{Layer, LinkSpec, NodeId, Place, Topology};

impl Topology {
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

    /// `racks` leaves with `hosts` hosts at each, and `spines` spines. Every leaf has a link to every
    /// spine: link `r * spines + s` joins leaf `r` to spine `s`. Host `h` is at leaf `h / hosts`.
    pub fn leaf_spine(
        (racks, spines): (u32, u32),
        hosts: u32,
        edge: LinkSpec,
        uplink: LinkSpec,
    ) -> Self {
        let mut topology = Self::new();
        let leaves = topology.add_layer(Layer::Leaf, racks, 1);
        let tops = topology.add_layer(Layer::Spine, spines, spines);
        for leaf in &leaves {
            for top in &tops {
                topology.connect(*leaf, *top, uplink);
            }
        }
        topology.add_racks(&leaves, hosts, edge);
        topology
    }

    /// The fat tree of `pods` pods (Al-Fares, Loukissas, Vahdat 2008, §3): in each of them
    /// `pods / 2` edge switches with as many hosts, and as many aggregation switches above; core
    /// switch `a * pods / 2 + c` is above aggregation switch `a` of every pod. Host `h` is at edge
    /// switch `h / (pods / 2)`.
    ///
    /// # Panics
    /// If `pods` is odd.
    pub fn fat_tree(pods: u32, edge: LinkSpec, between: LinkSpec) -> Self {
        assert!(pods.is_multiple_of(2), "half the ports of a switch lead up");
        let half = pods / 2;
        let mut topology = Self::new();
        let edges = topology.add_layer(Layer::Edge, pods * half, 1);
        let aggregations = topology.add_layer(Layer::Aggregation, pods * half, half);
        let cores = topology.add_layer(Layer::Core, half * half, half * half);
        let half = half as usize;
        for (below, above) in edges.chunks(half).zip(aggregations.chunks(half)) {
            for edge in below {
                for aggregation in above {
                    topology.connect(*edge, *aggregation, between);
                }
            }
        }
        for (index, aggregation) in aggregations.iter().enumerate() {
            let first = index % half * half;
            for core in &cores[first..first + half] {
                topology.connect(*aggregation, *core, between);
            }
        }
        topology.add_racks(&edges, pods / 2, edge);
        topology
    }

    /// `switches` switches with `hosts` hosts at each, and links between switches: link `l` is
    /// `links[l]`, and host `h` is at switch `h / hosts`.
    ///
    /// The switches of a graph have no places that would make them equal. To spread flows over several
    /// paths with [`Spread::Symmetric`](crate::Spread::Symmetric), as many of them as there are planes
    /// count as equals.
    ///
    /// # Panics
    /// If a link leads to a switch that is not there.
    pub fn graph(
        switches: u32,
        hosts: u32,
        edge: LinkSpec,
        links: impl IntoIterator<Item = (u32, u32, LinkSpec)>,
    ) -> Self {
        let mut topology = Self::new();
        let of = switches.clamp(1, GRAPH_PLANES);
        let place = |index: u32| Place {
            position: index % of,
            of,
            ..Place::default()
        };
        let places = (0..switches).map(place);
        let nodes: Vec<NodeId> = places.map(|place| topology.add_switch_at(place)).collect();
        for (a, b, spec) in links {
            topology.connect(nodes[a as usize], nodes[b as usize], spec);
        }
        topology.add_racks(&nodes, hosts, edge);
        topology
    }

    /// Adds `count` switches in groups of `of` equals.
    fn add_layer(&mut self, layer: Layer, count: u32, of: u32) -> Vec<NodeId> {
        let place = |index: u32| Place {
            layer,
            position: index % of,
            of,
        };
        let places = (0..count).map(place);
        places.map(|place| self.add_switch_at(place)).collect()
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
}

/// Rankings of the switches of a graph among which flows choose: more paths than two switches of wide-area
/// networks mostly have between them, and little work for graphs of hundreds of switches.
const GRAPH_PLANES: u32 = 8;
