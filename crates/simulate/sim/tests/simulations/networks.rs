//! Networks with explicit switches and links, and links whose directions differ.

use std::fs;
use std::path::Path;

use base::cast::real;
use scenario::{Overrides, Scenario, Source};
use sim::metrics::Outcome;
use sim::run;

use crate::support::{outcome, points};

/// A small network of a user's own.
const SQUARE: &str = r#"{"nodes": [{"id": "n"}, {"id": "e"}, {"id": "s"}, {"id": "w"}], "links": [
    {"source": "n", "target": "e", "capacity": "2Gbps", "delay": "1ms"},
    {"source": "e", "target": "s", "capacity": "2Gbps", "delay": "1ms"},
    {"source": "s", "target": "w", "capacity": "2Gbps", "delay": "1ms"},
    {"source": "w", "target": "n", "capacity": "2Gbps", "delay": "1ms"}]}"#;

/// A leaf-spine network in which the link between the first leaf and the spine that its traffic takes is slow.
const HALVED: &str = r#"{"nodes": [{"id": "l0", "layer": "leaf"}, {"id": "l1", "layer": "leaf"},
    {"id": "s0", "layer": "spine"}, {"id": "s1", "layer": "spine"}], "links": [
    {"source": "l0", "target": "s0", "capacity": "1Gbps", "delay": "5us"},
    {"source": "l1", "target": "s0", "capacity": "2Gbps", "delay": "5us"},
    {"source": "l0", "target": "s1", "capacity": "2Gbps", "delay": "5us"},
    {"source": "l1", "target": "s1", "capacity": "2Gbps", "delay": "5us"}]}"#;

const INTERNET2: &str = r#"
[topology]
kind = "graph"
graph = "internet2"
[link]
delay = "1ms"
[workload]
start = "0s"
"#;

/// Nothing but defaults.
const PLAIN: &str = "[workload]\nstart = \"0s\"\n";

/// The results of the port between two nodes.
fn port<'a>(outcome: &'a Outcome, from: &str, to: &str) -> &'a sim::metrics::PortRecord {
    let mut ports = outcome.ports.iter();
    let found = ports.find(|port| port.from == from && port.to == to);
    found.unwrap_or_else(|| panic!("no port from {from} to {to}"))
}

fn complaint(text: &str, sets: &[&str]) -> String {
    let overrides = Overrides {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    match Scenario::load(Source::new("test.toml", text), &overrides) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn a_segment_takes_the_time_of_its_path_there_and_back() {
    // Three links lie between nodes 0 and 9, over 3 and 7: 32 ms one way with the links of hosts. A SYN, its
    // answer and the segment make three times that. Serialisation of 1500 bytes: 12 us at each host,
    // 0.8, 0.8 and 1.5 us between (14445, 14445 and 7778 Mbit/s); of 40 bytes twice as many times, under
    // 1 us together.
    let sets = [
        "workload.senders=1",
        "workload.size=1460B",
        "workload.from=0:3",
        "workload.to=9:7",
    ];
    let outcome = outcome(INTERNET2, "newreno", &sets);
    let fct =
        outcome.flows[0].completion_us.get().expect("it completes") - outcome.flows[0].start_us;
    assert!((fct - 96_027.2).abs() < 2.0, "{fct}");
    // Data and ACKs pass the same three links.
    for (a, b) in [
        ("switch 0", "switch 3"),
        ("switch 3", "switch 7"),
        ("switch 7", "switch 9"),
    ] {
        assert!(port(&outcome, a, b).packets > 0, "{a} {b}");
        assert!(port(&outcome, b, a).packets > 0, "{b} {a}");
    }
    let names = |port: &&sim::metrics::PortRecord| {
        port.packets > 0 && port.from.starts_with("switch") && port.to.starts_with("switch")
    };
    assert_eq!(outcome.ports.iter().filter(names).count(), 6);
}

// The routes of ns-3 3.16, with which the published simulation ran: it sets no kind of ECMP. They were followed by hand
// through its algorithm: a router takes, of its links on shortest paths to another, the one with the lowest address, and
// addresses have the order of links. Pairs of nodes by link, in the direction of the file and back.
const PAIRS: [(u32, u32, u64, u64); 16] = [
    (0, 1, 4, 5),
    (0, 2, 6, 7),
    (0, 3, 13, 11),
    (1, 2, 4, 3),
    (2, 4, 3, 3),
    (1, 5, 5, 7),
    (4, 5, 3, 2),
    (3, 5, 2, 3),
    (3, 4, 4, 3),
    (5, 6, 6, 8),
    (3, 6, 7, 3),
    (3, 7, 13, 15),
    (7, 8, 1, 5),
    (6, 8, 8, 6),
    (8, 9, 2, 4),
    (7, 9, 7, 5),
];

#[test]
fn with_the_first_link_of_every_node_packets_take_the_paths_of_the_published_simulation() {
    let sets = [
        "topology.ecmp=first",
        "topology.hosts=1",
        "workload.kind=burst",
        "workload.load=0.1",
        "workload.load_of=hosts",
        "workload.size=1460B",
    ];
    let outcome = outcome(INTERNET2, "newreno", &sets);
    assert_eq!(outcome.flows.len(), 90);
    let packets = |from: u32, to: u32| {
        let name = |node| format!("switch {node}");
        port(&outcome, &name(from), &name(to)).packets
    };
    // Each pair sends data on one path and ACKs on another, which is that of the data of the opposite pair.
    let of_a_pair = packets(0, 1) / 4;
    assert!(of_a_pair > 5, "{of_a_pair}");
    for (a, b, there, back) in PAIRS {
        assert_eq!(packets(a, b), there * of_a_pair, "{a} to {b}");
        assert_eq!(packets(b, a), back * of_a_pair, "{b} to {a}");
    }
}

#[test]
fn every_node_is_a_rack_of_ten_hosts() {
    let [point] = points(INTERNET2, "newreno", &["workload.senders=1"])
        .try_into()
        .expect("one point");
    let outcome = run::run(&point).expect("a run");
    let hosts = outcome
        .ports
        .iter()
        .filter(|port| port.from.starts_with("host"));
    assert_eq!(hosts.count(), 100);
    let error = complaint(INTERNET2, &["workload.from=10:0"]);
    assert!(
        error.contains("the network has 10 racks of 10 hosts"),
        "{error}"
    );
    let error = complaint(INTERNET2, &["workload.senders=100"]);
    assert!(error.contains("do not fit on 10 hosts"), "{error}");
}

#[test]
fn a_load_of_uplinks_is_the_mean_load_of_the_links_that_flows_take() {
    // 0.3 of all links between nodes, in both directions, with hosts at 100 Mbit/s; equal load makes
    // that the load of each.
    let sets = [
        "link.rate=100Mbps",
        "bottleneck.delay=100us",
        "workload.kind=poisson",
        "workload.load=0.3",
        "workload.load_of=uplinks",
        "workload.size=14600B",
        "workload.duration=500ms",
        "tcp.delayed_ack=2",
    ];
    for peers in ["workload.peers=any", "workload.peers=other-racks"] {
        let load = load_between_nodes(&[&sets[..], &[peers]].concat());
        assert!((0.29..0.325).contains(&load), "{peers}: {load}");
    }
}

/// Mean load of all links between the nodes of Internet2 with hosts at 100 Mbit/s, over 500 ms.
fn load_between_nodes(sets: &[&str]) -> f64 {
    let outcome = outcome(INTERNET2, "newreno", sets);
    let core = |port: &&sim::metrics::PortRecord| {
        port.from.starts_with("switch") && port.to.starts_with("switch")
    };
    let bytes = outcome
        .ports
        .iter()
        .filter(core)
        .map(|port| real(port.bytes))
        .sum::<f64>();
    // The published capacities at 1 Gbit/s sum to 98,897 Mbit/s, each way. Beside data there are ACKs for
    // every other segment, SYNs and FINs: 8 packets of 40 bytes and their answers for 15,000 of data.
    let capacity = 2.0 * 98_897e6 / 10.0 * 0.5 / 8.0;
    bytes / capacity
}

#[test]
fn rates_that_are_drawn_do_not_depend_on_the_seed_of_the_run() {
    let sets = [
        "topology.capacity=500Mbps-2Gbps",
        "workload.from=0:0",
        "workload.to=9:0",
        "workload.senders=1",
        "workload.size=1MB",
        "link.rate=10Gbps",
    ];
    let fct = |seed: &str| {
        let text = format!("seed = {seed}\n{INTERNET2}");
        outcome(&text, "newreno", &sets).flows[0]
            .completion_us
            .get()
            .expect("it completes")
    };
    assert!((fct("1") - fct("2")).abs() < 1e-9);
    let other = [&sets[..], &["topology.capacity_seed=2"]].concat();
    let other = outcome(INTERNET2, "newreno", &other).flows[0]
        .completion_us
        .get()
        .expect("it completes");
    assert!((fct("1") - other).abs() > 1.0);
}

#[test]
fn downlinks_can_be_the_bottleneck_of_every_network() {
    let kinds = [
        "star",
        "dumbbell",
        "chain",
        "tree",
        "leaf-spine",
        "fat-tree",
        "graph",
    ];
    for kind in kinds {
        let kind = format!("topology.kind={kind}");
        let sets = [
            kind.as_str(),
            "link.rate=10Gbps",
            "link.down_rate=100Mbps",
            "bottleneck.delay=40us",
            "workload.senders=1",
            "workload.size=10MB",
            "switch.buffer=unlimited",
        ];
        let outcome = outcome(PLAIN, "newreno", &sets);
        // 10 MB with 2.7 % of headers last 822 ms at 100 Mbit/s.
        let fct =
            outcome.flows[0].completion_us.get().expect("it completes") - outcome.flows[0].start_us;
        assert!((822_000.0..826_000.0).contains(&fct), "{kind}: {fct}");
        let down = outcome
            .ports
            .iter()
            .filter(|port| port.to.starts_with("host"));
        let longest = down.map(|port| port.queue_max_bytes).max();
        assert!(longest > Some(1_000_000), "{kind}: {longest:?}");
    }
}

#[test]
fn a_load_of_receivers_is_one_of_their_downlinks() {
    let flows = |down: &str| {
        let sets = [
            "link.rate=1Gbps",
            down,
            "topology.hosts=8",
            "workload.kind=poisson",
            "workload.duration=1s",
            "workload.size=100KB",
        ];
        outcome(PLAIN, "newreno", &sets).flows.len()
    };
    let (slow, fast) = (
        flows("link.down_rate=100Mbps"),
        flows("link.down_rate=1Gbps"),
    );
    // 486 and 4864 flows are expected.
    assert!(
        (400..580).contains(&slow) && (4600..5150).contains(&fast),
        "{slow} {fast}"
    );
}

#[test]
fn a_fat_tree_of_a_hundred_gigabits_delivers_its_rate() {
    let sets = [
        "topology.kind=fat-tree",
        "link.rate=100Gbps",
        "link.delay=1us",
        "workload.senders=1",
        "workload.size=10MB",
        "switch.buffer=unlimited",
        "switch.ecn_threshold=off",
    ];
    let outcome = outcome(PLAIN, "newreno", &sets);
    // 10 MB with headers last 822 us at 100 Gbit/s; the handshake and slow start over 12 us of round
    // trip add under 100.
    let fct =
        outcome.flows[0].completion_us.get().expect("it completes") - outcome.flows[0].start_us;
    assert!((822.0..930.0).contains(&fct), "{fct}");
}

#[test]
fn a_file_lies_beside_the_scenario_or_in_the_working_directory() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("networks");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("square.json"), SQUARE).expect("a file");
    let text =
        "topology.kind = \"graph\"\ntopology.graph = \"square.json\"\nworkload.senders = 1\n";
    let scenario = folder.join("my.toml");
    let load =
        |name: &str, text: &str| Scenario::load(Source::new(name, text), &Overrides::default());
    let beside = load(&scenario.to_string_lossy(), text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        run::run(&beside.points()[0])
            .expect("a run")
            .metrics
            .flows_completed,
        1
    );
    // The resolved scenario is found from another folder and notices other contents.
    let resolved = beside.resolved();
    assert!(
        resolved.contains("square.json: 4 nodes, 4 links, contents "),
        "{resolved}"
    );
    let again =
        load("elsewhere/scenario.toml", &resolved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.resolved(), resolved);
    fs::write(folder.join("square.json"), SQUARE.replace("2Gbps", "3Gbps")).expect("a file");
    let changed =
        load("elsewhere/scenario.toml", &resolved).unwrap_or_else(|error| panic!("{error}"));
    assert_ne!(changed.resolved(), resolved);
    // A path with dots is not taken for a range, and it is not lost on a command line.
    let missing = complaint(
        "topology.kind = \"graph\"\n",
        &["topology.graph=../square.json"],
    );
    assert!(
        missing.contains("../square.json: there is no such file"),
        "{missing}"
    );
    fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn a_graph_of_several_parts_without_delays_runs_on_request_and_says_what_it_takes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts");
    fs::create_dir_all(&folder).expect("a folder");
    let parts = r#"{"nodes": [{"id": "x"}, {"id": "a"}, {"id": "b"}, {"id": "c"}],
        "edges": [{"source": "a", "target": "b", "dist": 200}, {"source": "b", "target": "c", "weight": 3}]}"#;
    fs::write(folder.join("parts.json"), parts).expect("a file");
    let text = "schemes = [\"newreno\"]\nlink.delay = \"0s\"\nbottleneck.rate = \"1Gbps\"\n\
        [topology]\nkind = \"graph\"\ngraph = \"parts.json\"\nhosts = 1\n\
        [workload]\nkind = \"pairs\"\nsenders = 1\nsize = \"1KB\"\nfrom = \"0:0\"\nto = \"2:0\"\n";
    let scenario = folder.join("parts.toml");
    let load = |sets: &[&str]| {
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        Scenario::load(Source::new(&*scenario.to_string_lossy(), text), &overrides)
    };
    let error = load(&[]).err().expect("two parts").to_string();
    assert!(
        error.contains("nodes[1], node \"a\": no links lead to it from node \"x\""),
        "{error}"
    );
    let largest = load(&["topology.part=largest"]).unwrap_or_else(|error| panic!("{error}"));
    let [warning] = largest.warnings() else {
        panic!("one warning: {:?}", largest.warnings())
    };
    let said = warning.to_string();
    assert!(said.starts_with("1 of the 2 links of "), "{said}");
    assert!(
        said.ends_with("each takes topology.missing_delay = 1ms"),
        "{said}"
    );
    let remedy = warning.remedy().expect("a remedy");
    assert!(
        remedy.starts_with("their weights count as lengths or delays with"),
        "{remedy}"
    );
    // The SYN and the data take 1 ms over 200 km and 1 ms more, there and back and there: 6 ms.
    let outcome = run::run(&largest.points()[0]).expect("a run");
    let flow = &outcome.flows[0];
    let fct = flow.completion_us.get().expect("it completes") - flow.start_us;
    assert!((6000.0..6100.0).contains(&fct), "{fct}");
    let weighed = load(&["topology.part=largest", "topology.weight=ms"]);
    let weighed = weighed.unwrap_or_else(|error| panic!("{error}"));
    assert!(weighed.warnings().is_empty(), "{:?}", weighed.warnings());
}

#[test]
fn what_a_graph_lacks_is_said_with_a_remedy() {
    let error = complaint(INTERNET2, &["topology.oversubscription=5"]);
    assert!(
        error.contains("only leaf-spine networks and fat trees"),
        "{error}"
    );
    let error = complaint(INTERNET2, &["topology.capacity=2Gbps"]);
    assert!(error.contains("bottleneck.rate = \"2Gbps\""), "{error}");
    // A quarter of the time before the first flow is for one way over two links of hosts and four between
    // nodes: 42 ms.
    let persistent = "workload.connection=persistent";
    let error = complaint(INTERNET2, &[persistent, "workload.start=167ms"]);
    assert!(
        error.contains("no time to open persistent connections"),
        "{error}"
    );
    points(INTERNET2, "newreno", &[persistent, "workload.start=168ms"]);
}

#[test]
fn the_worst_port_of_each_tier_is_named_where_a_link_of_a_spine_is_slow() {
    // Two racks of four hosts below two spines. A graph has one path between two nodes, which leads over the first
    // spine, and its link to the first rack has half the rate of the others.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("halved");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("fabric.json"), HALVED).expect("a file");
    let text = "schemes = [\"newreno\"]\ntopology.kind = \"graph\"\ntopology.graph = \"fabric.json\"\ntopology.hosts = 4\n\
        switch.buffer = \"30pkt\"\nswitch.ecn_threshold = \"off\"\n\
        [workload]\nkind = \"pairs\"\nsenders = 4\nfrom = \"1:0-3\"\nto = \"0:0-3\"\nsize = \"1MB\"\n";
    let scenario = folder.join("halved.toml");
    let source = Source::new(&*scenario.to_string_lossy(), text);
    let scenario = Scenario::load(source, &Overrides::default()).expect("a correct scenario");
    let outcome = run::run(&scenario.points()[0]).expect("a conserving run");
    let tier = |name: &str| {
        let found = outcome.tiers.iter().find(|tier| tier.tier == name);
        found.unwrap_or_else(|| panic!("no tier {name}"))
    };
    let names: Vec<&str> = outcome.tiers.iter().map(|tier| &*tier.tier).collect();
    assert_eq!(names, ["host", "leaf up", "spine", "leaf down"]);
    let slow = tier("spine");
    assert!(slow.worst_drops > 0, "{slow:?}");
    assert_eq!(slow.worst, "spine 0 to leaf 0");
    let drops: u64 = outcome.tiers.iter().map(|tier| tier.drops).sum();
    assert_eq!(drops, outcome.metrics.drops);
    for tier in &outcome.tiers {
        let own = outcome.ports.iter().filter(|port| port.tier == tier.tier);
        assert_eq!(own.map(|port| port.drops).sum::<u64>(), tier.drops);
    }
}
