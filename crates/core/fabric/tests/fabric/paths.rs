//! Where packets go in networks with several paths between two hosts.

use base::{FlowId, HostId, Packet, Rate, Span, Time};
use engine::{Scheduler, Token};
use fabric::{
    Layer, Limit, LinkSpec, Network, NetworkConfig, NodeId, Place, PortId, PortParts, Spread,
    Topology, Watch,
};
use proptest::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const LINK: LinkSpec = LinkSpec {
    rate: Rate::from_bps(10_000_000_000),
    delay: Span::from_micros(5),
};

/// Every port that a packet leaves by.
#[derive(Default)]
struct Ports(Vec<PortId>);

impl Watch for Ports {
    fn on_accept(&mut self, port: PortId, _packet: &Packet, _now: Time) {
        self.0.push(port);
    }
}

struct Walk {
    network: Network,
    sched: Scheduler,
}

impl Walk {
    fn through(topology: &Topology, spread: Spread, salt: u64) -> Self {
        let config = NetworkConfig {
            header_bytes: 40,
            sack_bytes: false,
            switch_limit: Limit::Unlimited,
            host_limit: Limit::Unlimited,
            switch_port: &|_, _| PortParts::plain(),
            host_port: &|_, _| PortParts::plain(),
            switch_hold_bytes: 0,
            pool: None,
            measure_from: Time::ZERO,
            spread,
            salt,
            withdraws: false,
        };
        Self {
            network: Network::new(topology, &config).expect("a connected network"),
            sched: Scheduler::new(salt),
        }
    }

    /// The ports of the way from one host to another.
    fn path(&mut self, flow: u32, from: HostId, to: HostId) -> Vec<PortId> {
        self.path_by(flow.into(), flow, from, to)
    }

    /// The same of a flow with a key of its own.
    fn path_by(&mut self, key: u64, flow: u32, from: HostId, to: HostId) -> Vec<PortId> {
        let mut packet = Packet::new(FlowId(flow), to);
        let mut ports = Ports::default();
        let Self { network, sched } = self;
        network.introduce(FlowId(flow), key, [from, to]);
        network.send(from, &mut packet, sched, &mut ports);
        while let Some(Token(port)) = sched.next_before(Time::NEVER) {
            assert!(ports.0.len() < 100, "a packet goes round in circles");
            let port = PortId(port);
            packet = network.arrive(port, sched, &mut ports, &mut |_| false);
            let reached = network.on_arrival(port, &mut packet, sched, &mut ports);
            assert!(reached.is_none_or(|host| host == to));
        }
        ports.0
    }
}

fn hosts(topology: &Topology) -> u32 {
    u32::try_from(topology.hosts().len()).expect("few hosts")
}

fn back(path: &[PortId]) -> Vec<PortId> {
    path.iter().rev().map(|port| port.reverse()).collect()
}

/// Switches at random places, linked at random and in a row, and hosts at some of them.
#[derive(Clone, Debug)]
struct Random {
    places: Vec<(u8, u32, u32)>,
    links: Vec<(prop::sample::Index, prop::sample::Index)>,
    hosts: Vec<prop::sample::Index>,
    salt: u64,
}

fn random() -> impl Strategy<Value = Random> {
    let place = (0_u8..3, 0_u32..12, 1_u32..=4);
    let link = any::<(prop::sample::Index, prop::sample::Index)>();
    (
        prop::collection::vec(place, 2..14),
        prop::collection::vec(link, 0..50),
        prop::collection::vec(any::<prop::sample::Index>(), 2..8),
        any::<u64>(),
    )
        .prop_map(|(places, links, hosts, salt)| Random {
            places,
            links,
            hosts,
            salt,
        })
}

impl Random {
    fn topology(&self) -> Topology {
        let mut topology = Topology::new();
        let switches: Vec<NodeId> = self
            .places
            .iter()
            .map(|(layer, position, of)| {
                topology.add_switch_at(Place {
                    layer: [Layer::Leaf, Layer::Aggregation, Layer::Spine][usize::from(*layer)],
                    position: position % of,
                    of: *of,
                })
            })
            .collect();
        // Links between the same two switches, possibly in either direction, are parallel.
        for (a, b) in &self.links {
            let (a, b) = (*a.get(&switches), *b.get(&switches));
            if a != b {
                topology.connect(a, b, LINK);
            }
        }
        for pair in switches.windows(2) {
            topology.connect(pair[1], pair[0], LINK);
        }
        for place in &self.hosts {
            let (host, _) = topology.add_host();
            topology.connect(*place.get(&switches), host, LINK);
        }
        topology
    }
}

/// Links of a shortest path between two hosts, by Floyd and Warshall's algorithm.
fn shortest(topology: &Topology) -> Vec<Vec<usize>> {
    let nodes = topology.nodes().len();
    let mut links = vec![vec![usize::MAX / 2; nodes]; nodes];
    for link in topology.links() {
        let (a, b) = (link.a.0 as usize, link.b.0 as usize);
        (links[a][b], links[b][a]) = (1, 1);
    }
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                links[from][to] = links[from][to].min(links[from][via] + links[via][to]);
            }
        }
    }
    links
}

/// The nodes of every shortest path from one node to another.
fn all_shortest(
    topology: &Topology,
    links: &[Vec<usize>],
    from: usize,
    to: usize,
) -> Vec<Vec<usize>> {
    if from == to {
        return vec![vec![to]];
    }
    let rest = |node: usize| if node == to { 0 } else { links[node][to] };
    let nodes = 0..topology.nodes().len();
    let nearer = nodes.filter(|node| links[from][*node] == 1 && rest(*node) + 1 == links[from][to]);
    let paths = nearer.flat_map(|next| all_shortest(topology, links, next, to));
    paths.map(|path| [vec![from], path].concat()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn acks_come_back_the_way_the_data_went(random in random()) {
        let topology = random.topology();
        let links = shortest(&topology);
        let mut walk = Walk::through(&topology, Spread::Symmetric, random.salt);
        for from in 0..hosts(&topology) {
            for to in 0..from {
                let ends = [from, to].map(|host| topology.hosts()[host as usize].0 as usize);
                for flow in 0..24 {
                    let there = walk.path(flow, HostId(from), HostId(to));
                    let and_back = walk.path(flow, HostId(to), HostId(from));
                    prop_assert_eq!(&and_back, &back(&there));
                    prop_assert_eq!(there.len(), links[ends[0]][ends[1]]);
                }
            }
        }
    }

    #[test]
    fn without_a_spread_there_is_one_path_the_first_from_its_lower_end(random in random()) {
        let topology = random.topology();
        let links = shortest(&topology);
        let mut walk = Walk::through(&topology, Spread::Off, random.salt);
        let mut flow = 0;
        for to in 0..hosts(&topology) {
            for from in 0..to {
                let ends = [from, to].map(|host| topology.hosts()[host as usize].0 as usize);
                let first = all_shortest(&topology, &links, ends[0], ends[1]).into_iter().min();
                let there = walk.path(flow, HostId(from), HostId(to));
                let passed = there.iter().map(|port| topology.ends(*port).1.0 as usize);
                let nodes: Vec<usize> = std::iter::once(ends[0]).chain(passed).collect();
                prop_assert_eq!(Some(nodes), first);
                // An ACK, and data the other way on a flow of its own.
                prop_assert_eq!(&walk.path(flow, HostId(to), HostId(from)), &back(&there));
                prop_assert_eq!(&walk.path(flow + 1, HostId(to), HostId(from)), &back(&there));
                flow += 2;
            }
        }
    }

    #[test]
    fn every_switch_may_take_the_first_of_its_links_that_lead_nearer(random in random()) {
        let topology = random.topology();
        let links = shortest(&topology);
        let mut walk = Walk::through(&topology, Spread::First, random.salt);
        let ports = || (0..).map(PortId).take(topology.links().len() * 2);
        for (flow, to) in (0..).zip(1..hosts(&topology)) {
            let target = topology.hosts()[to as usize].0 as usize;
            let far = |node: NodeId| {
                let node = node.0 as usize;
                if node == target { 0 } else { links[node][target] }
            };
            for port in &walk.path(flow, HostId(0), HostId(to)) {
                let (here, _) = topology.ends(*port);
                let nearer = ports().find(|port| {
                    let (from, next) = topology.ends(*port);
                    from == here && far(next) < far(here)
                });
                prop_assert_eq!(nearer, Some(*port));
            }
        }
    }

    #[test]
    fn every_spread_takes_shortest_paths(random in random()) {
        let topology = random.topology();
        let links = shortest(&topology);
        let ends = [0, 1].map(|host| topology.hosts()[host].0 as usize);
        for spread in [Spread::Flow, Spread::Packet, Spread::Off, Spread::First] {
            let mut walk = Walk::through(&topology, spread, random.salt);
            for flow in 0..24 {
                let path = walk.path(flow, HostId(0), HostId(1));
                prop_assert_eq!(path.len(), links[ends[0]][ends[1]]);
            }
        }
    }
}

/// How many of 20,000 flows between the same two hosts take each path.
fn shares(topology: &Topology, spread: Spread, key: impl Fn(u64) -> u64) -> Vec<u32> {
    let last = HostId(hosts(topology) - 1);
    let mut walk = Walk::through(topology, spread, 7);
    let mut shares = std::collections::BTreeMap::new();
    for flow in 0..20_000 {
        let path = walk.path_by(key(flow.into()), flow, HostId(0), last);
        *shares.entry(path).or_insert(0) += 1;
    }
    shares.into_values().collect()
}

/// The probability that shares at least as uneven come about if all paths are equally likely.
fn chance(shares: &[u32]) -> f64 {
    let paths = f64::from(u32::try_from(shares.len()).expect("few paths"));
    let expected = f64::from(shares.iter().sum::<u32>()) / paths;
    let deviation = |count: &u32| f64::from(*count) - expected;
    let squares = shares
        .iter()
        .map(|count| deviation(count) * deviation(count));
    let law = ChiSquared::new(paths - 1.0).expect("several paths");
    law.sf(squares.sum::<f64>() / expected)
}

#[test]
fn flows_take_every_path_equally_often() {
    let networks = [
        (Topology::leaf_spine((9, 4), 16, LINK, LINK), 4),
        (Topology::leaf_spine((2, 5), 1, LINK, LINK), 5),
        (Topology::fat_tree(4, LINK, LINK), 4),
        (Topology::fat_tree(6, LINK, LINK), 9),
    ];
    // As flows are numbered, and with strides that a simple hash would fold onto few paths.
    for stride in [1, 4, 7, 64, 0x0101, 0x1_0000, 1 << 32] {
        for (topology, paths) in &networks {
            for spread in [Spread::Symmetric, Spread::Flow] {
                let shares = shares(topology, spread, |flow| flow.wrapping_mul(stride));
                assert_eq!(shares.len(), *paths);
                // 56 tests: one in twenty of good hashes would fail one of them at 0.001. And too
                // even is as suspicious as too uneven.
                let chance = chance(&shares);
                assert!((0.001..0.999).contains(&chance), "{shares:?}: {chance}");
            }
        }
    }
}

#[test]
fn every_core_of_a_fat_tree_carries_both_directions_of_its_flows() {
    let topology = Topology::fat_tree(8, LINK, LINK);
    let mut walk = Walk::through(&topology, Spread::Symmetric, 3);
    for flow in 0..500 {
        let (from, to) = (HostId(flow % 128), HostId((flow * 37 + 16) % 128));
        if from != to {
            let there = walk.path(flow, from, to);
            assert_eq!(walk.path(flow, to, from), back(&there));
        }
    }
}

#[test]
fn hosts_may_receive_at_another_rate_than_they_send_at() {
    let up = |topology: &Topology, port: PortId| {
        let (from, _) = topology.ends(port);
        let link = &topology.links()[port.0 as usize / 2];
        let spec = if link.a == from { link.spec } else { link.back };
        (topology.nodes()[from.0 as usize], spec.rate)
    };
    let down = Rate::from_bps(1_000_000_000);
    // The second network has hosts at either end of their links.
    let mut other = Topology::new();
    let (switch, (first, _), (second, _)) =
        (other.add_switch(), other.add_host(), other.add_host());
    other.connect(switch, first, LINK);
    other.connect(second, switch, LINK);
    for topology in [Topology::dumbbell(2, LINK, LINK), other] {
        let topology = topology.with_down_rate(down);
        for port in (0..topology.links().len() * 2).map(|port| PortId(u32::try_from(port).unwrap()))
        {
            let (node, rate) = up(&topology, port);
            let (_, to) = topology.ends(port);
            let to_host = matches!(topology.nodes()[to.0 as usize], fabric::Node::Host(_));
            assert_eq!(
                rate,
                if to_host { down } else { LINK.rate },
                "from {node:?}"
            );
        }
    }
}

#[test]
fn a_hash_of_the_direction_separates_data_and_acks() {
    let topology = Topology::leaf_spine((2, 4), 1, LINK, LINK);
    let mut walk = Walk::through(&topology, Spread::Flow, 7);
    let same = (0..4000).filter(|flow| {
        let there = walk.path(*flow, HostId(0), HostId(1));
        walk.path(*flow, HostId(1), HostId(0)) == back(&there)
    });
    // One in four by chance: 1000 with a standard deviation of 27.
    assert!(same.count().abs_diff(1000) < 110);
}

#[test]
fn no_route_leads_over_a_link_that_is_down() {
    // Three leaves with two hosts each, two spines: link 3 joins leaf 1 to spine 1.
    let spreads = [
        Spread::Symmetric,
        Spread::Flow,
        Spread::Packet,
        Spread::Off,
        Spread::First,
    ];
    for spread in spreads {
        let mut topology = Topology::leaf_spine((3, 2), 2, LINK, LINK);
        topology.link_mut(3).down = true;
        assert_eq!(topology.apart(), None);
        let mut walk = Walk::through(&topology, spread, 5);
        let mut flow = 0;
        for from in (0..6).map(HostId) {
            for to in (0..6).map(HostId).filter(|to| *to != from) {
                for _ in 0..8 {
                    let path = walk.path(flow, from, to);
                    let uses = |port: &PortId| port.0 / 2 == 3;
                    assert!(
                        !path.iter().any(uses),
                        "{spread:?} {from:?} {to:?} {path:?}"
                    );
                    // Two links in a rack, four over a spine.
                    assert_eq!(path.len(), if from.0 / 2 == to.0 / 2 { 2 } else { 4 });
                    flow += 1;
                }
            }
        }
    }
}

#[test]
fn links_that_are_down_may_cut_a_network_in_two() {
    let mut topology = Topology::leaf_spine((3, 2), 2, LINK, LINK);
    topology.link_mut(2).down = true;
    topology.link_mut(3).down = true;
    assert_eq!(topology.apart(), Some((HostId(0), HostId(2))));
}
