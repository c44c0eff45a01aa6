use base::{Rate, Span};

use super::*;
use crate::topology::{Layer, LinkSpec, NodeId, Place};

const EDGE: LinkSpec = LinkSpec {
    rate: Rate::from_bps(1_000_000_000),
    delay: Span::from_micros(40),
};

/// Every port that packets to `host` may take at switch `node`.
fn ports(topology: &Topology, spread: Spread, node: usize, host: u32) -> Vec<u32> {
    let (mut routes, rows) = Routes::new(topology, spread, 1).unwrap();
    routes.find_ways(HostId(host));
    let place = routes.places[host as usize];
    let row = rows[node].unwrap();
    if place.rack == row {
        return vec![place.port.0];
    }
    let entry = routes.entries[place.ways as usize + row.0 as usize];
    match Lists::only(entry) {
        Some(port) => vec![port.0],
        None => routes
            .lists
            .ports(entry)
            .iter()
            .map(|port| port.0)
            .collect(),
    }
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
    let (mut routes, _) = Routes::new(&topology, Spread::Symmetric, 1).unwrap();
    (0..144).for_each(|host| routes.find_ways(HostId(host)));
    // One at each leaf, of four ports.
    assert_eq!(routes.lists.sizes(), (9, 36));
}

#[test]
fn packets_that_choose_for_themselves_use_every_path() {
    let topology = Topology::leaf_spine((2, 4), 1, EDGE, EDGE);
    let (mut routes, rows) = Routes::new(&topology, Spread::Packet, 1).unwrap();
    routes.introduce(FlowId(3), 3, [HostId(0), HostId(1)]);
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
        routes.introduce(FlowId(3), 3, [HostId(0), HostId(1)]);
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

/// The ports that packets to `host` take at the switch `at` by the definition: in each plane the first
/// step of the shortest path with the least sum of `2^rank`, of all that there are.
fn by_definition(topology: &Topology, at: usize, host: u32) -> Vec<u32> {
    let (_, rows) = Routes::new(topology, Spread::Symmetric, 1).unwrap();
    let map = Map::of(topology, &rows);
    let rack = map::racks(topology, &rows).unwrap()[host as usize].0;
    let (at, search) = (rows[at].unwrap(), map.search(rack));
    let rank = |switch: Row, plane: u32| {
        let place = map.place(switch);
        let turned = (place.position + place.of - plane % place.of) % place.of;
        (place.layer, turned, switch)
    };
    let mut paths = vec![vec![at]];
    while paths[0].last() != Some(&rack) {
        let longer = |path: Vec<Row>| -> Vec<Vec<Row>> {
            let steps = map.closer(&search, *path.last().unwrap());
            steps
                .map(|(_, next)| [&path[..], &[next]].concat())
                .collect()
        };
        paths = paths.into_iter().flat_map(longer).collect();
    }
    let ports = (0..Planes::of(&map).count()).map(|plane| {
        let sum = |path: &&Vec<Row>| {
            let mut ranks: Vec<_> = path.iter().map(|switch| rank(*switch, plane)).collect();
            ranks.sort_unstable_by(|a, b| b.cmp(a));
            ranks
        };
        let next = paths.iter().min_by_key(sum).unwrap()[1];
        let lanes: Vec<u32> = map
            .closer(&search, at)
            .filter(|(_, to)| *to == next)
            .map(|(port, _)| port.0)
            .collect();
        lanes[(plane / map.turns()) as usize % lanes.len()]
    });
    let ports: Vec<u32> = ports.collect();
    if ports.iter().all(|port| *port == ports[0]) {
        return vec![ports[0]];
    }
    ports
}

/// Compares what all switches of `topology` do with the definition.
fn follows_the_definition(topology: &Topology) {
    let (mut routes, rows) = Routes::new(topology, Spread::Symmetric, 1).unwrap();
    for (host, place) in (0..).zip(routes.places.clone()) {
        if routes.places[host as usize].ways != NO_WAYS {
            // Another host of its rack was looked at.
            continue;
        }
        routes.find_ways(HostId(host));
        let ways = routes.places[host as usize].ways as usize;
        for (node, row) in rows.iter().enumerate() {
            let Some(row) = row.filter(|row| *row != place.rack) else {
                continue;
            };
            let entry = routes.entries[ways + row.0 as usize];
            let ports = match Lists::only(entry) {
                Some(port) => vec![port.0],
                None => routes
                    .lists
                    .ports(entry)
                    .iter()
                    .map(|port| port.0)
                    .collect(),
            };
            let same = ports == by_definition(topology, node, host);
            assert!(same, "{node} to {host} in {topology:?}");
        }
    }
}

#[test]
fn the_usual_networks_follow_the_definition_of_symmetric_paths() {
    follows_the_definition(&Topology::leaf_spine((3, 5), 1, EDGE, EDGE));
    // More planes than are chosen without looking for what was chosen before.
    follows_the_definition(&Topology::leaf_spine((4, 20), 2, EDGE, EDGE));
    follows_the_definition(&Topology::fat_tree(4, EDGE, EDGE));
    follows_the_definition(&Topology::fat_tree(10, EDGE, EDGE));
}

#[test]
fn networks_of_any_shape_follow_the_definition_of_symmetric_paths() {
    let mut random = engine::random::Stream::new(1, "networks", 0);
    let mut below = |bound: u32| u32::try_from(random.below(bound.into())).unwrap();
    for network in 0..30 {
        // Every other one has up to 60 planes, else 12.
        let equals = 4 + network % 2;
        let mut topology = Topology::new();
        let switches: Vec<NodeId> = (0..3 + below(10))
            .map(|_| {
                let of = 1 + below(equals);
                topology.add_switch_at(Place {
                    layer: [Layer::Leaf, Layer::Aggregation, Layer::Spine][below(3) as usize],
                    position: below(of),
                    of,
                })
            })
            .collect();
        for pair in switches.windows(2) {
            topology.connect(pair[1], pair[0], EDGE);
        }
        let count = u32::try_from(switches.len()).unwrap();
        for _ in 0..below(20) {
            let [a, b] = [below(count), below(count)].map(|switch| switches[switch as usize]);
            if a != b {
                topology.connect(a, b, EDGE);
            }
        }
        for _ in 0..5 {
            let (host, _) = topology.add_host();
            topology.connect(host, switches[below(count) as usize], EDGE);
        }
        follows_the_definition(&topology);
    }
}

#[test]
fn hosts_that_do_not_communicate_have_no_ways() {
    let topology = Topology::fat_tree(8, EDGE, EDGE);
    let (mut routes, _) = Routes::new(&topology, Spread::Symmetric, 1).unwrap();
    assert_eq!(routes.entries.len(), 0);
    for (flow, other) in (0..).zip([4, 5, 100]) {
        routes.introduce(FlowId(flow), flow.into(), [HostId(0), HostId(other)]);
    }
    // Three racks, of which hosts 4 and 5 share one, and 80 switches.
    assert_eq!(routes.entries.len(), 3 * 80);
}
