//! Which port of a switch leads to which host, and how flows spread over equal paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use base::{FlowId, HostId, Packet};

use crate::port::PortId;
use crate::topology::{Layer, Node, NodeId, Topology, TopologyError};

/// How packets spread over paths of equally few links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// By a hash of the connection, so that its ACKs come back the way its data went.
    Symmetric,
    /// By a hash of the connection, the direction and the switch: the ways there and back differ.
    Flow,
    /// Every packet for itself at every switch, whatever its connection.
    Packet,
    /// Not at all: there is one path between two hosts, the same in both directions.
    Off,
}

/// The ports of every switch towards every host, along paths of fewest links.
///
/// # Symmetric paths
///
/// A switch knows the destination and a hash of the flow, not the source. So a flow belongs to one of `K`
/// *planes* by its hash, and in each plane there is exactly one path between two hosts, the same from
/// either end:
///
/// - A plane ranks all switches, no two alike: the higher layer first, then the place among equals
///   counted from the plane's number on, then the number of the switch.
/// - Of the shortest paths between two hosts the plane uses the one for which the sum of
///   `2^rank` over its switches is least.
/// - Two such paths have different sums. A sum tells the set of switches, and a shortest path passes
///   them in the order of their distance; so equal sums mean the same switches in the same order.
/// - The sum is the same in both directions, hence so is the path of least sum.
/// - What follows a switch on that path is the path of least sum from there, or the path could be
///   improved. So forwarding switch by switch, by destination and plane, stays on it.
///
/// Of parallel links between two switches the plane takes one, by the order in which they were added.
///
/// With `K` a multiple of the number of equals in every group, each of them is the first in equally
/// many planes. In a leaf-spine network a plane is one spine, in a fat tree one core switch and the
/// aggregation switches below it, and flows spread evenly over all paths.
///
/// # One path
///
/// With [`Spread::Off`] both directions take, of the shortest paths between two hosts, the one whose
/// switches, read from the host with the lower number, come first in the order of their numbers, as
/// words in a dictionary. It is the path that a breadth-first search from there finds which visits
/// neighbours in the order of their numbers. No switch needs to know the source of a packet, only
/// which way it goes:
///
/// - Away from the lower host, what follows any switch on the path is itself the first path from there.
///   So a switch forwards to the lowest of the neighbours that are nearer to the destination.
/// - Towards the lower host, what lies between it and any switch is the first path as well. So a switch
///   forwards to its parent in the tree of the search.
///
/// Where both are the same port, which is the rule, it is the only one in the table. Where they differ
/// there is a list of both, and the ends of the flow tell which way a packet goes.
///
/// # Costs
///
/// A destination with one path costs one load. Switches with several share lists of ports: a load of what
/// is known of the flow and two more, from a table of `K` ports for each distinct list.
#[derive(Debug)]
pub struct Routes {
    /// Of every switch, by host: a port, or with the highest bit a list.
    entries: Vec<u32>,
    /// Lists of ports that packets choose from: where in `ports` they begin, and their length.
    lists: Vec<(u32, u32)>,
    ports: Vec<PortId>,
    spread: Spread,
    /// Makes hashes of runs with different seeds unrelated.
    salt: u64,
    /// Packets that chose a path for themselves, at each switch.
    sprayed: Vec<u64>,
    /// What paths of each flow depend on: with [`Spread::Off`] the end with the lower number, else a hash.
    /// Empty where nobody asks.
    flows: Vec<u32>,
    hosts: usize,
}

/// The part of [`Routes`] that belongs to one switch; dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row(u32);

impl Routes {
    /// The routes of `topology`, and the row of every switch, by node.
    ///
    /// O(racks * planes * links) time, where a rack is a switch with hosts.
    ///
    /// # Panics
    /// If switches times hosts exceed 2^32.
    pub fn new(
        topology: &Topology,
        spread: Spread,
        salt: u64,
    ) -> Result<(Self, Vec<Option<Row>>), TopologyError> {
        let map = Map::of(topology)?;
        let hosts = topology.hosts().len();
        let mut rows = Vec::with_capacity(topology.nodes().len());
        let mut switches = 0;
        for node in topology.nodes() {
            rows.push((*node == Node::Switch).then_some(Row(switches)));
            switches += u32::from(*node == Node::Switch);
        }
        let mut routes = Self {
            // A switch without a path to a host never gets a packet for it: any port will do.
            entries: vec![0; switches as usize * hosts],
            lists: Vec::new(),
            ports: Vec::new(),
            spread,
            salt,
            sprayed: vec![0; switches as usize],
            flows: Vec::new(),
            hosts,
        };
        let planes = match spread {
            Spread::Symmetric => map.planes(),
            _ => 1,
        };
        let mut known = BTreeMap::new();
        for (rack, hosts) in map.racks() {
            let distance = map.distances(rack);
            map.check_reach(&distance, hosts[0])?;
            let choices = match spread {
                Spread::Symmetric => map.by_plane(&distance, planes),
                Spread::Off => map.by_direction(&distance, rack),
                Spread::Flow | Spread::Packet => map.closer_ports(&distance),
            };
            for (node, row) in rows.iter().enumerate() {
                let Some(Row(row)) = row else { continue };
                let entry = routes.entry(&choices[node], &mut known);
                for host in &hosts {
                    let direct = || topology.host_port(*host).reverse().0;
                    let entry = if node == rack { direct() } else { entry };
                    let place = routes.place(Row(*row), *host);
                    routes.entries[place] = entry;
                }
            }
        }
        Ok((routes, rows))
    }

    /// Tells of a flow between which hosts it is, and a number that stands for it in the choice of its
    /// path. Flows are numbered densely from 0.
    pub fn introduce(&mut self, flow: FlowId, key: u64, [a, b]: [HostId; 2]) {
        if self.lists.is_empty() || self.spread == Spread::Packet {
            return;
        }
        let place = flow.0 as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, 0);
        }
        self.flows[place] = match self.spread {
            Spread::Off => a.min(b).0,
            _ => upper(mix(key ^ self.salt)),
        };
    }

    /// The port by which `packet` leaves the switch of `row`.
    ///
    /// # Panics
    /// If nobody told of the flow and it has several paths.
    #[inline(always)]
    pub fn next(&mut self, row: Row, packet: &Packet) -> PortId {
        let entry = self.entries[self.place(row, packet.to)];
        if entry & LIST == 0 {
            return PortId(entry);
        }
        let (first, length) = self.lists[(entry & !LIST) as usize];
        let place = first as usize + self.choose(row, packet, length);
        self.ports[place]
    }

    fn place(&self, row: Row, to: HostId) -> usize {
        row.0 as usize * self.hosts + to.0 as usize
    }

    /// The place of a packet's port in a list of so many.
    #[inline(always)]
    fn choose(&mut self, row: Row, packet: &Packet, length: u32) -> usize {
        let flow = packet.flow.0 as usize;
        let hash = match self.spread {
            Spread::Off => return usize::from(packet.to.0 == self.flows[flow]),
            Spread::Symmetric => self.flows[flow],
            Spread::Flow => {
                let direction = u64::from(packet.to.0) << 32 | u64::from(self.flows[flow]);
                upper(mix(direction ^ self.at(row)))
            }
            Spread::Packet => {
                let count = &mut self.sprayed[row.0 as usize];
                *count += 1;
                upper(mix(*count ^ self.at(row)))
            }
        };
        (u64::from(hash) * u64::from(length) >> 32) as usize
    }

    /// What makes the hashes of a switch unrelated to those of others.
    fn at(&self, row: Row) -> u64 {
        mix(u64::from(row.0) ^ self.salt)
    }

    /// What stands for `ports` in the table.
    fn entry(&mut self, ports: &[PortId], known: &mut BTreeMap<Vec<PortId>, u32>) -> u32 {
        let Some(first) = ports.first() else { return 0 };
        if ports.iter().all(|port| port == first) {
            return first.0;
        }
        if let Some(entry) = known.get(ports) {
            return *entry;
        }
        let entry = LIST | index(self.lists.len());
        self.lists
            .push((index(self.ports.len()), index(ports.len())));
        self.ports.extend(ports);
        known.insert(ports.to_vec(), entry);
        entry
    }
}

/// A topology with what routes are made from.
struct Map<'a> {
    topology: &'a Topology,
    /// Ports and neighbours of every node, in the order of links.
    adjacent: Vec<Vec<(PortId, NodeId)>>,
}

/// Links from every node to the rack in question.
type Distances = Vec<Option<u32>>;

impl<'a> Map<'a> {
    fn of(topology: &'a Topology) -> Result<Self, TopologyError> {
        let adjacent = topology.adjacent();
        for (host, node) in (0..).map(HostId).zip(topology.hosts()) {
            let links = adjacent[node.0 as usize].len();
            if links != 1 {
                return Err(TopologyError::HostLinks(host, links));
            }
        }
        Ok(Self { topology, adjacent })
    }

    /// Nodes with hosts at them, and these.
    fn racks(&self) -> BTreeMap<usize, Vec<HostId>> {
        let mut racks: BTreeMap<usize, Vec<HostId>> = BTreeMap::new();
        for (host, node) in (0..).map(HostId).zip(self.topology.hosts()) {
            racks.entry(self.rack(*node)).or_default().push(host);
        }
        racks
    }

    /// The only neighbour of a host.
    fn rack(&self, host: NodeId) -> usize {
        self.adjacent[host.0 as usize][0].1.0 as usize
    }

    /// Breadth-first distances to `target`; hosts do not forward.
    fn distances(&self, target: usize) -> Distances {
        let mut distance = vec![None; self.adjacent.len()];
        distance[target] = Some(0);
        let mut open = VecDeque::from([(target, 0)]);
        while let Some((node, here)) = open.pop_front() {
            for (_, next) in &self.adjacent[node] {
                let next = next.0 as usize;
                if distance[next].is_none() {
                    distance[next] = Some(here + 1);
                    if self.topology.nodes()[next] == Node::Switch {
                        open.push_back((next, here + 1));
                    }
                }
            }
        }
        distance
    }

    /// Whether every host has a path to `host`, whose rack the distances are for.
    fn check_reach(&self, distance: &Distances, host: HostId) -> Result<(), TopologyError> {
        for (other, node) in (0..).map(HostId).zip(self.topology.hosts()) {
            if other != host && distance[node.0 as usize].is_none() {
                return Err(TopologyError::Unconnected(other, host));
            }
        }
        Ok(())
    }

    /// Ports and neighbours of `node` that are nearer to the rack.
    fn closer<'b>(
        &'b self,
        distance: &'b Distances,
        node: usize,
    ) -> impl Iterator<Item = (PortId, NodeId)> + 'b {
        let here = distance[node];
        let closer = move |next: NodeId| {
            let there = distance[next.0 as usize];
            there.is_some_and(|there| Some(there + 1) == here)
        };
        let ports = self.adjacent[node].iter().copied();
        ports.filter(move |(_, next)| closer(*next))
    }

    /// The ports of every node that lead nearer to the rack, in the order of links.
    fn closer_ports(&self, distance: &Distances) -> Vec<Vec<PortId>> {
        let ports = |node| self.closer(distance, node).map(|(port, _)| port).collect();
        (0..self.adjacent.len()).map(ports).collect()
    }

    /// The ports of every node for packets to the rack: of those from lower hosts, then of those from
    /// higher ones.
    fn by_direction(&self, distance: &Distances, rack: usize) -> Vec<Vec<PortId>> {
        let parents = self.parents(rack);
        let port = |node: usize, to: NodeId| {
            let mut ports = self.adjacent[node].iter();
            ports.find(|(_, next)| *next == to).map(|(port, _)| *port)
        };
        let both = |node: usize| {
            let away = self.closer(distance, node).map(|(_, next)| next).min();
            let next = [away, parents[node]].into_iter().flatten();
            next.filter_map(|next| port(node, next)).collect()
        };
        (0..self.adjacent.len()).map(both).collect()
    }

    /// The parent of every node in the tree of a breadth-first search from `root` that visits
    /// neighbours in the order of their numbers; hosts do not forward.
    fn parents(&self, root: usize) -> Vec<Option<NodeId>> {
        let mut parents = vec![None; self.adjacent.len()];
        let mut open = VecDeque::from([root]);
        while let Some(node) = open.pop_front() {
            let mut neighbours: Vec<NodeId> =
                self.adjacent[node].iter().map(|(_, next)| *next).collect();
            neighbours.sort_unstable();
            for next in neighbours {
                let next = next.0 as usize;
                if next != root && parents[next].is_none() {
                    parents[next] = Some(NodeId(index(node)));
                    if self.topology.nodes()[next] == Node::Switch {
                        open.push_back(next);
                    }
                }
            }
        }
        parents
    }

    /// How many planes there are.
    fn planes(&self) -> u32 {
        self.turns().saturating_mul(self.lanes()).min(MAX_PLANES)
    }

    /// Planes after which the ranks of switches repeat.
    fn turns(&self) -> u32 {
        let nodes = (0..index(self.adjacent.len())).map(NodeId);
        least_common_multiple(nodes.map(|node| self.topology.place(node).of))
    }

    /// The least number that every number of parallel links divides.
    fn lanes(&self) -> u32 {
        let mut between = BTreeMap::new();
        for link in self.topology.links() {
            let ends = (link.a.min(link.b), link.a.max(link.b));
            *between.entry(ends).or_insert(0) += 1;
        }
        least_common_multiple(between.into_values())
    }

    /// The port of every node in each plane.
    fn by_plane(&self, distance: &Distances, planes: u32) -> Vec<Vec<PortId>> {
        let mut nodes: Vec<usize> = (0..distance.len())
            .filter(|node| distance[*node].is_some_and(|far| far > 0))
            .collect();
        nodes.sort_by_key(|node| distance[*node]);
        let mut ports = vec![Vec::new(); distance.len()];
        let mut next = vec![None; distance.len()];
        let turns = self.turns();
        for plane in 0..planes {
            for node in &nodes {
                let closer = self.closer(distance, *node);
                let neighbours = closer.map(|(_, neighbour)| neighbour);
                let chosen =
                    neighbours.reduce(|best, other| self.better(best, other, &next, plane));
                let chosen = chosen.expect("who has a distance has someone closer");
                next[*node] = Some(chosen);
                let lanes = self.closer(distance, *node).filter(|(_, to)| *to == chosen);
                let lanes: Vec<PortId> = lanes.map(|(port, _)| port).collect();
                ports[*node].push(lanes[(plane / turns) as usize % lanes.len()]);
            }
        }
        ports
    }

    /// Of two neighbours at the same distance the one whose path has the smaller sum of `2^rank`:
    /// these compare as the ranks do, the largest first.
    fn better(&self, a: NodeId, b: NodeId, next: &[Option<NodeId>], plane: u32) -> NodeId {
        if a == b {
            return a;
        }
        let ranks = |from: NodeId| {
            let path = std::iter::successors(Some(from), |node| next[node.0 as usize]);
            let mut ranks: Vec<_> = path.map(|node| Reverse(self.rank(node, plane))).collect();
            ranks.sort_unstable();
            ranks
        };
        // `Reverse` sorts the largest first and turns the comparison around.
        if ranks(a) > ranks(b) { a } else { b }
    }

    fn rank(&self, switch: NodeId, plane: u32) -> (Layer, u32, NodeId) {
        let place = self.topology.place(switch);
        let turned = (place.position + place.of - plane % place.of) % place.of;
        (place.layer, turned, switch)
    }
}

fn least_common_multiple(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(1, |product, number| {
        let (mut a, mut b) = (product, number);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        product.saturating_mul(number / a)
    })
}

/// The finaliser of `MurmurHash3`: every bit of `z` changes every other one half of the time.
#[inline(always)]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ (z >> 33)
}

#[expect(clippy::cast_possible_truncation, reason = "the upper half")]
const fn upper(z: u64) -> u32 {
    (z >> 32) as u32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "nodes and ports have 32-bit numbers"
)]
const fn index(i: usize) -> u32 {
    i as u32
}

/// The bit of an entry that is no port but a list.
const LIST: u32 = 1 << 31;
/// Bounds the time and the tables of networks whose equals are hard to share evenly.
const MAX_PLANES: u32 = 4096;

#[cfg(test)]
mod tests {
    use base::{Rate, Span};

    use super::*;
    use crate::topology::{LinkSpec, Place};

    const EDGE: LinkSpec = LinkSpec {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
    };

    /// Every port that packets to `host` may take at switch `node`.
    fn ports(topology: &Topology, spread: Spread, node: usize, host: u32) -> Vec<u32> {
        let (routes, rows) = Routes::new(topology, spread, 1).unwrap();
        let entry = routes.entries[routes.place(rows[node].unwrap(), HostId(host))];
        if entry & LIST == 0 {
            return vec![entry];
        }
        let (first, length) = routes.lists[(entry & !LIST) as usize];
        let list = &routes.ports[first as usize..(first + length) as usize];
        list.iter().map(|port| port.0).collect()
    }

    /// The only such port, whatever the spread.
    fn port(topology: &Topology, node: usize, host: u32) -> u32 {
        let spreads = [Spread::Symmetric, Spread::Flow, Spread::Packet, Spread::Off];
        let all = spreads.map(|spread| ports(topology, spread, node, host));
        assert!(all.iter().all(|ports| *ports == all[0]), "one path");
        assert_eq!(all[0].len(), 1);
        all[0][0]
    }

    #[test]
    fn a_star_routes_through_its_switch() {
        let star = Topology::star(3, EDGE);
        // Node 0 is the switch; the port to host h is the second one of link h.
        assert_eq!([0, 1, 2].map(|host| port(&star, 0, host)), [1, 3, 5]);
        let (_, rows) = Routes::new(&star, Spread::Off, 0).unwrap();
        assert_eq!(rows[1], None, "a host has one port");
    }

    #[test]
    fn a_dumbbell_crosses_its_middle_only_when_it_must() {
        let dumbbell = Topology::dumbbell(2, EDGE, EDGE);
        assert_eq!(port(&dumbbell, 0, 2), 0, "the middle link leads right");
        assert_eq!(port(&dumbbell, 0, 1), 5, "a neighbour is reached directly");
        assert_eq!(dumbbell.host_port(HostId(3)), PortId(8));
    }

    #[test]
    fn a_chain_leads_along_its_switches() {
        let chain = Topology::chain(3, 2, EDGE, EDGE);
        // Links 0 and 1 join the switches; host 5 is the last one at the third.
        assert_eq!(port(&chain, 0, 5), 0);
        assert_eq!(port(&chain, 1, 5), 2);
        assert_eq!(port(&chain, 1, 0), 1, "and back");
    }

    #[test]
    fn a_tree_leads_over_its_root_between_racks_only() {
        let tree = Topology::tree(3, 2, EDGE, EDGE);
        // Host 1 is in rack 0, host 4 in rack 2; the root is switch 3, links 0 to 2 lead to it.
        assert_eq!(port(&tree, 0, 1), 9, "a neighbour directly");
        assert_eq!(port(&tree, 0, 4), 0, "another rack by the uplink");
        assert_eq!(port(&tree, 3, 4), 5, "down the uplink of rack 2");
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
        assert_eq!(port(&topology, 0, 1), direct.0);
    }

    #[test]
    fn a_leaf_chooses_among_all_spines_and_a_spine_has_one_way_down() {
        let topology = Topology::leaf_spine((3, 4), 2, EDGE, EDGE);
        assert_eq!(topology.names()[2..5], ["leaf 2", "spine 0", "spine 1"]);
        // Leaf 0 has links 0 to 3, leaf 2 links 8 to 11. Host 5 is the second at leaf 2.
        for spread in [Spread::Symmetric, Spread::Flow, Spread::Packet] {
            assert_eq!(ports(&topology, spread, 0, 5), [0, 2, 4, 6]);
            assert_eq!(ports(&topology, spread, 3, 5), [17], "back down link 8");
            assert_eq!(ports(&topology, spread, 0, 1), [27], "its own host");
        }
        assert_eq!(ports(&topology, Spread::Off, 0, 5), [0], "the first spine");
    }

    #[test]
    fn a_fat_tree_has_a_plane_for_every_core_switch() {
        // Four pods: edge switches 0 to 7 are nodes 0 to 7, aggregation switches nodes 8 to 15. Links
        // 0 to 15 lead from edge to aggregation switches, 16 to 31 from these to the cores.
        let topology = Topology::fat_tree(4, EDGE, EDGE);
        assert_eq!((topology.hosts().len(), topology.links().len()), (16, 48));
        let names = topology.names();
        assert_eq!(
            [0, 8, 16, 20].map(|node| &*names[node]),
            ["edge 0", "aggregation 0", "core 0", "host 0"]
        );
        // Host 15 is in pod 3. Cores 0 and 1 are above aggregation switch 0, cores 2 and 3 above 1.
        assert_eq!(ports(&topology, Spread::Symmetric, 0, 15), [0, 0, 2, 2]);
        // In the planes of the latter nothing for pod 3 comes by aggregation switch 0.
        assert_eq!(ports(&topology, Spread::Symmetric, 8, 15)[..2], [32, 34]);
        // Host 3 is in pod 0 like edge switch 0: both aggregation switches serve.
        assert_eq!(ports(&topology, Spread::Symmetric, 0, 3), [0, 2, 0, 2]);
        assert_eq!(ports(&topology, Spread::Flow, 0, 15), [0, 2]);
    }

    #[test]
    fn parallel_links_are_planes_of_their_own() {
        // Two switches with two equals between them, each with three links to either side.
        let mut topology = Topology::new();
        let (a, b) = (topology.add_switch(), topology.add_switch());
        for position in 0..2 {
            let layer = Layer::Spine;
            let place = Place {
                layer,
                position,
                of: 2,
            };
            let middle = topology.add_switch_at(place);
            for end in [a, b, a, b, a, b] {
                topology.connect(end, middle, EDGE);
            }
        }
        for switch in [a, b] {
            let (host, _) = topology.add_host();
            topology.connect(host, switch, EDGE);
        }
        // The links of a are 0, 2, 4 to the first and 6, 8, 10 to the second; ports are twice that.
        let planes = ports(&topology, Spread::Symmetric, 0, 1);
        assert_eq!(planes, [0, 12, 4, 16, 8, 20]);
    }

    #[test]
    fn one_path_is_the_first_from_its_lower_end() {
        // A ring of six switches, a host at each. From 0 to 3 by 1 and 2, not by 4 and 5.
        let ring = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 3)];
        let links = ring.map(|(a, b)| (a, b, EDGE));
        let topology = Topology::graph(6, 1, EDGE, links);
        assert_eq!(ports(&topology, Spread::Off, 0, 3), [0], "link 0");
        assert_eq!(ports(&topology, Spread::Off, 3, 0), [5], "back over link 2");
        // Between 2 and 4 the ways over 0 and over 3 are equally long; from 2 the first leads over 1.
        assert_eq!(
            ports(&topology, Spread::Off, 2, 4),
            [3],
            "link 1 to switch 1"
        );
        assert_eq!(
            ports(&topology, Spread::Off, 4, 2),
            [7],
            "link 3 to switch 0"
        );
        // From 1 the first path to 5 leads over 0, which is also the way back. From 5 the first path to 1
        // would lead over 3: lists have a port for either way round.
        let lists = [(1, 5), (5, 1)].map(|(at, to)| ports(&topology, Spread::Off, at, to));
        assert_eq!(lists, [[1, 2], [10, 9]]);
        let (mut routes, rows) = Routes::new(&topology, Spread::Off, 1).unwrap();
        routes.introduce(FlowId(7), 7, [HostId(5), HostId(1)]);
        let mut next = |at: usize, to| {
            let packet = Packet::new(FlowId(7), HostId(to));
            routes.next(rows[at].unwrap(), &packet).0
        };
        assert_eq!([next(1, 5), next(5, 1)], [1, 9]);
    }

    #[test]
    fn equal_choices_share_a_list() {
        let topology = Topology::leaf_spine((9, 4), 16, EDGE, EDGE);
        let (routes, _) = Routes::new(&topology, Spread::Symmetric, 1).unwrap();
        assert_eq!(routes.lists.len(), 9, "one at each leaf");
        assert_eq!(routes.ports.len(), 36);
    }

    #[test]
    fn packets_that_choose_for_themselves_use_every_path() {
        let topology = Topology::leaf_spine((2, 4), 1, EDGE, EDGE);
        let (mut routes, rows) = Routes::new(&topology, Spread::Packet, 1).unwrap();
        let packet = Packet::new(FlowId(3), HostId(1));
        let mut counts = [0_u32; 4];
        for _ in 0..4000 {
            counts[routes.next(rows[0].unwrap(), &packet).0 as usize / 2] += 1;
        }
        // 1000 each with a standard deviation of 27.
        assert!(counts.iter().all(|count| count.abs_diff(1000) < 110));
    }

    #[test]
    fn packets_at_one_switch_change_no_choice_at_another() {
        let topology = Topology::leaf_spine((2, 4), 1, EDGE, EDGE);
        let choices = |elsewhere: usize| {
            let (mut routes, rows) = Routes::new(&topology, Spread::Packet, 1).unwrap();
            let mut next = |at: usize, to| {
                let packet = Packet::new(FlowId(3), HostId(to));
                routes.next(rows[at].unwrap(), &packet).0
            };
            let mut chosen = Vec::new();
            for _ in 0..100 {
                (0..elsewhere).for_each(|_| assert!(next(1, 0) < 16));
                chosen.push(next(0, 1));
            }
            chosen
        };
        assert_eq!(choices(0), choices(3));
    }

    #[test]
    fn a_topology_that_cannot_carry_traffic_is_refused() {
        let refused = |topology: &Topology| Routes::new(topology, Spread::Off, 0).unwrap_err();
        let mut islands = Topology::star(1, EDGE);
        let other = islands.add_switch();
        let (host, _) = islands.add_host();
        islands.connect(host, other, EDGE);
        assert_eq!(
            refused(&islands),
            TopologyError::Unconnected(HostId(1), HostId(0))
        );
        let mut lonely = Topology::new();
        lonely.add_host();
        assert_eq!(refused(&lonely), TopologyError::HostLinks(HostId(0), 0));
    }
}
