use std::collections::BTreeMap;

use base::{FlowId, HostId, Packet};
use fabric::{LinkSpec, NodeId, PortId, Routes, Spread, Topology};
use proptest::prelude::*;

use super::*;
use crate::keys::{self, Keys};

mod import;
mod writers;

/// Default settings with a few changes.
fn keys(sets: &[(&str, &str)]) -> Keys {
    let text = |name: &str| {
        let set = sets.iter().find(|(key, _)| *key == name);
        let default = keys::key(name).map(|key| key.default);
        set.map_or(default, |(_, text)| Some(*text))
            .unwrap()
            .to_owned()
    };
    Keys::read(&text).unwrap()
}

fn builtin(name: &str) -> Arc<Graph> {
    builtin::named(name).unwrap()
}

/// One column of the file of a graph that comes with the program.
fn column(builtin: &BuiltinGraph, column: usize) -> Vec<u64> {
    let cell = |row: [&str; 5]| row[column].parse().unwrap();
    builtin.rows().map(cell).collect()
}

/// Packets on the wires of a graph with a host at every node.
struct Walk {
    topology: Topology,
    routes: Routes,
    rows: Vec<Option<fabric::Row>>,
}

impl Walk {
    fn on(graph: &Graph, spread: Spread) -> Self {
        let spec = LinkSpec {
            rate: Rate::from_bps(1_000_000_000),
            delay: Span::from_millis(1),
        };
        let links = graph.links().iter().map(|link| (link.a, link.b, spec));
        let topology = Topology::graph(graph.count(), 1, spec, links);
        let (routes, rows) = Routes::new(&topology, spread, 7).unwrap();
        Self {
            topology,
            routes,
            rows,
        }
    }

    /// The links between nodes that a packet takes from one host to another.
    fn links(&mut self, flow: u32, from: u32, to: u32) -> Vec<usize> {
        self.routes
            .introduce(FlowId(flow), flow.into(), [HostId(from), HostId(to)]);
        let packet = Packet::new(FlowId(flow), HostId(to));
        let mut links = Vec::new();
        let (mut node, target) = (NodeId(from), self.topology.host_port(HostId(to)).reverse());
        loop {
            let row = self.rows[node.0 as usize].unwrap();
            let port: PortId = self.routes.next(row, &packet);
            if port == target {
                return links;
            }
            let (here, next) = self.topology.ends(port);
            assert_eq!(here, node, "a switch sends out of a port of its own");
            assert!(
                links.len() < self.rows.len(),
                "a packet goes round in circles"
            );
            links.push(port.0 as usize / 2);
            node = next;
        }
    }
}

#[test]
fn the_graphs_have_the_sizes_that_they_are_known_for() {
    let sizes = BUILTINS.iter().map(|builtin| {
        let graph = builtin.graph();
        (builtin.name, graph.nodes().len(), graph.links().len())
    });
    let known = [
        ("internet2", 10, 16),
        ("telstra", 104, 151),
        ("redclara", 13, 17),
        ("esnet", 68, 79),
    ];
    assert_eq!(sizes.collect::<Vec<_>>(), known);
    assert_eq!(builtin("redclara").nodes()[1].label.as_deref(), Some("MX"));
    assert!(
        BUILTINS
            .iter()
            .all(|builtin| builtin.graph().unreached().is_none())
    );
}

#[test]
fn links_lie_on_the_paths_of_as_many_pairs_as_their_files_say() {
    for builtin in BUILTINS {
        // The files count a link on no path as if it were on one.
        let pairs = builtin
            .graph()
            .pairs()
            .iter()
            .map(|pairs| (*pairs).max(1))
            .collect::<Vec<_>>();
        assert_eq!(pairs, column(builtin, 2), "{}", builtin.name);
    }
}

#[test]
fn packets_take_the_paths_that_were_counted_in_both_directions() {
    for builtin in BUILTINS {
        let graph = builtin.graph();
        let mut walk = Walk::on(&graph, Spread::Off);
        let mut taken = vec![0; graph.links().len()];
        let mut flow = 0;
        for low in 0..graph.count() {
            for high in low + 1..graph.count() {
                let there = walk.links(flow, low, high);
                let mut back = walk.links(flow, high, low);
                back.reverse();
                assert_eq!(there, back, "{}: {low} and {high}", builtin.name);
                for link in there {
                    taken[link] += 1;
                }
                flow += 1;
            }
        }
        assert_eq!(taken, graph.pairs(), "{}", builtin.name);
    }
}

#[test]
fn the_rule_gives_every_capacity_that_was_published() {
    // The rates of Internet2 are all published; the files of the other graphs have rates by the same rule.
    for builtin in BUILTINS {
        let mbps: Vec<u64> = column(builtin, 3);
        let published: Vec<u64> = mbps.iter().map(|mbps| mbps * 1_000_000).collect();
        for capacity in ["auto", "equal-load"] {
            let keys = keys(&[("topology.capacity", capacity), ("link.rate", "1Gbps")]);
            let rates = builtin.graph().rates(&keys, 10);
            let bits: Vec<u64> = rates.iter().map(|rate| rate.as_bps()).collect();
            assert_eq!(bits, published, "{}", builtin.name);
        }
    }
}

#[test]
fn capacities_follow_the_rate_of_hosts_and_their_number() {
    let internet2 = builtin("internet2");
    let at = |rate, hosts| internet2.rates(&keys(&[("link.rate", rate)]), hosts);
    // 5556, 7778 and 14445 Mbit/s at 1 Gbit/s: exactly a tenth of each.
    let tenth = at("100Mbps", 10);
    let bits: Vec<u64> = tenth[..3].iter().map(|rate| rate.as_bps()).collect();
    assert_eq!(bits, [555_600_000, 777_800_000, 1_444_500_000]);
    // 5 pairs * 3 hosts * 1000 / 9 others = 1666.7 thousandths.
    assert_eq!(at("1Gbps", 3)[0], Rate::from_bps(1_667_000_000));
    let one = keys(&[
        ("bottleneck.rate", "2Gbps"),
        ("topology.capacity", "equal-load"),
    ]);
    let rates = internet2.rates(&one, 10);
    assert!(
        rates
            .iter()
            .all(|rate| *rate == Rate::from_bps(2_000_000_000))
    );
}

#[test]
fn rates_of_a_range_are_drawn_from_a_seed_of_their_own() {
    let internet2 = builtin("internet2");
    let drawn = |seed| {
        let range = ("topology.capacity", "500Mbps-2Gbps");
        internet2.rates(&keys(&[range, ("topology.capacity_seed", seed)]), 10)
    };
    let rates = drawn("1");
    assert_eq!(rates, drawn("1"));
    assert_ne!(rates, drawn("2"));
    let within = |rate: &Rate| (500_000_000..=2_000_000_000).contains(&rate.as_bps());
    assert!(rates.iter().all(within));
    // Standard deviation of the mean of 151 uniform rates: 35 Mbit/s around 1250.
    let many = builtin("telstra").rates(&keys(&[("topology.capacity", "500Mbps-2Gbps")]), 10);
    let mean = many
        .iter()
        .map(|rate| rate.as_bps() / 1_000_000)
        .sum::<u64>()
        / 151;
    assert!((1145..1355).contains(&mean), "{mean}");
}

#[test]
fn delays_are_those_of_the_file_unless_set() {
    let internet2 = builtin("internet2");
    let delays = internet2.delays(&keys(&[]));
    assert!(delays.iter().all(|delay| *delay == Span::from_millis(10)));
    // The longest shortest path has four links.
    assert_eq!(internet2.span(&keys(&[])), Span::from_millis(40));
    let set = internet2.delays(&keys(&[("bottleneck.delay", "3ms")]));
    assert!(set.iter().all(|delay| *delay == Span::from_millis(3)));
}

/// A connected graph: a random tree with some additional links.
fn random() -> impl Strategy<Value = Graph> {
    let tree = prop::collection::vec(any::<prop::sample::Index>(), 1..24);
    let more = prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..40);
    (tree, more, any::<prop::sample::Index>()).prop_map(|(tree, more, turn)| {
        let count = tree.len() + 1;
        // Node numbers are rotated, so that the root of the tree is not always node 0.
        let number = |node: usize| u32::try_from((node + turn.index(count)) % count).unwrap();
        let mut ends = BTreeMap::new();
        let parents = (1..count).map(|node| (tree[node - 1].index(node), node));
        let others = more.iter().map(|(a, b)| (a.index(count), b.index(count)));
        for (a, b) in parents.chain(others).filter(|(a, b)| a != b) {
            let (a, b) = (number(a), number(b));
            ends.insert((a.min(b), a.max(b)), (a, b));
        }
        let link = |(a, b)| GraphLink {
            a,
            b,
            capacity: None,
            delay: None,
            weight: None,
        };
        let node = |id: usize| GraphNode {
            id: id.to_string(),
            label: None,
            layer: Layer::Switch,
        };
        Graph::new(
            (0..count).map(node).collect(),
            ends.into_values().map(link).collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn both_directions_of_every_pair_take_the_same_shortest_path(graph in random()) {
        let mut walk = Walk::on(&graph, Spread::Off);
        let mut paths: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        graph.each_hop(|ends, link, _| paths.entry(ends).or_default().push(link));
        let mut pairs = vec![0; graph.links().len()];
        for (flow, ([low, high], mut hops)) in (0..).zip(paths) {
            // The path from the higher end to the lower one.
            prop_assert_eq!(&walk.links(flow, high, low), &hops);
            hops.reverse();
            prop_assert_eq!(&walk.links(flow, low, high), &hops);
            for link in &hops {
                pairs[*link] += 1;
            }
            // Every spread takes shortest paths; the tests of routes show this.
            let spread = Walk::on(&graph, Spread::Flow).links(0, low, high);
            prop_assert_eq!(hops.len(), spread.len());
        }
        prop_assert_eq!(pairs, graph.pairs());
    }

    #[test]
    fn flows_that_spread_over_a_graph_come_back_the_way_they_went(graph in random()) {
        let mut walk = Walk::on(&graph, Spread::Symmetric);
        for flow in 0..16 {
            let mut back = walk.links(flow, graph.count() - 1, 0);
            back.reverse();
            prop_assert_eq!(walk.links(flow, 0, graph.count() - 1), back);
        }
    }
}

#[test]
fn flows_spread_over_paths_of_a_graph_if_they_shall() {
    // Four ways from 0 to 5.
    let ends = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 5),
        (2, 5),
        (3, 5),
        (4, 5),
    ];
    let link = |(a, b)| GraphLink {
        a,
        b,
        capacity: None,
        delay: None,
        weight: None,
    };
    let node = |id: u32| GraphNode {
        id: id.to_string(),
        label: None,
        layer: Layer::Switch,
    };
    let graph = Graph::new((0..6).map(node).collect(), ends.map(link).to_vec());
    for (spread, ways) in [(Spread::Off, 1), (Spread::Symmetric, 4), (Spread::Flow, 4)] {
        let mut walk = Walk::on(&graph, spread);
        let paths = (0..200).map(|flow| walk.links(flow, 0, 5));
        let paths: std::collections::BTreeSet<_> = paths.collect();
        assert_eq!(paths.len(), ways, "{spread:?}");
    }
}

#[test]
fn a_misspelt_name_is_answered_with_the_nearest_one() {
    let error = GraphChoice::parse("intrenet2").unwrap_err().message;
    assert!(error.contains("did you mean `internet2`?"), "{error}");
    assert!(error.contains("telstra, redclara, esnet"), "{error}");
    let error = GraphChoice::parse("no/such.graphml").unwrap_err().message;
    assert!(
        error.contains("no/such.graphml: there is no such file; a path is relative to"),
        "{error}"
    );
    let error = GraphChoice::parse("net/links.csv").unwrap_err().message;
    assert!(error.contains("there is no such file"), "{error}");
}
