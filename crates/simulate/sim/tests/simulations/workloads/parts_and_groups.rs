//! Applications that write in parts, losses at every queue, and groups that share hosts and ports.

use std::collections::BTreeMap;

use sim::metrics::{FlowRecord, Outcome};

use super::{outcome, wrong};

#[test]
fn an_application_that_writes_in_parts_is_done_when_all_has_arrived() {
    let flow = |text: &str| {
        let text = format!("[workload]\nsenders = 1\nstart = \"0s\"\n{text}");
        outcome(&text).flows.remove(0)
    };
    let parts = flow(
        "size = \"290KB\"\nfirst_write = \"100KB\"\nwrite = \"50KB\"\nwrite_interval = \"10ms\"",
    );
    // 100 KB arrive as a flow of 100 KB does.
    let whole = flow("size = \"100KB\"");
    let same = parts.buffered_us.get().unwrap() - whole.fct_us.get().unwrap();
    assert!(same.abs() < 1e-6, "{same}");
    assert_eq!(whole.buffered_us.get(), None);
    // The rest comes in 50, 50, 50 and 40 KB; the last is written at 40 ms and takes a few round trips
    // of 160 us.
    let fct = parts.fct_us.get().unwrap();
    assert!((40_000.0..41_500.0).contains(&fct), "{fct}");
    assert_eq!((parts.received_bytes, parts.timeouts), (290_000, 0));
    // A flow smaller than the first write is written at once.
    let small = flow("size = \"32KiB\"\nfirst_write = \"100KB\"");
    assert_eq!(small.buffered_us.get(), small.fct_us.get());
    assert_eq!(small.fct_us.get(), flow("size = \"32KiB\"").fct_us.get());
}

#[test]
fn the_sender_knows_of_the_end_when_the_last_ack_is_back() {
    let link = "[link]\nrate = \"1Gbps\"\ndelay = \"20us\"\n[bottleneck]\nrate = \"1Gbps\"\n";
    let flow = |connection: &str, rounds: u32| {
        let text = format!(
            "{link}[workload]\nsenders = 1\nsize = \"100KB\"\nstart = \"1ms\"\nrounds = {rounds}\nconnection = \"{connection}\""
        );
        outcome(&text).flows
    };
    // 54 bytes take 432 ns on each of two links of 20 us.
    let back = |flow: &FlowRecord| flow.acknowledged_us.get().unwrap() - flow.fct_us.get().unwrap();
    let lone = flow("new", 1).remove(0);
    assert!((back(&lone) - 40.864).abs() < 1e-6, "{lone:?}");
    // Of messages in sequence, only the last one's ACK can be told from others.
    let rounds = flow("persistent", 3);
    let known: Vec<bool> = rounds
        .iter()
        .map(|flow| flow.acknowledged_us.get().is_some())
        .collect();
    assert_eq!(known, [false, false, true]);
    assert!((back(&rounds[2]) - 40.864).abs() < 1e-6, "{:?}", rounds[2]);
}

#[test]
fn answers_may_be_written_in_parts_too() {
    let outcome = outcome(
        "[workload]\nkind = \"requests\"\nsenders = 2\nconnections = 4\nrequests = 3\nsize = \"60KB\"\n\
         first_write = \"20KB\"\nwrite = \"20KB\"\nwrite_interval = \"5ms\"",
    );
    assert_eq!(outcome.metrics.flows_completed, 12);
    for flow in &outcome.flows {
        // Two intervals after the answer began; a request and its handshake take some 400 us.
        let fct = flow.fct_us.get().unwrap();
        assert!((10_000.0..13_000.0).contains(&fct), "{flow:?}");
        assert!(flow.buffered_us.get().unwrap() < 3_000.0, "{flow:?}");
    }
}

#[test]
fn every_queue_of_a_switch_loses_its_share_of_all_packets() {
    let text = |host: &str| {
        format!(
            "switch.loss = 0.02\nswitch.buffer = \"unlimited\"\nswitch.ecn_threshold = \"off\"\n{host}\n\
             [workload]\nsenders = 10\nsize = \"1MB\""
        )
    };
    let (own, like) = (
        outcome(&text("")),
        outcome(&text("host.queue = \"switch\"")),
    );
    assert_eq!(own.metrics.flows_completed, 10);
    assert_eq!(like.metrics.flows_completed, 10);
    // Arrivals and losses at the ports of some nodes.
    let at = |outcome: &Outcome, node: &str| {
        let ports = outcome.ports.iter();
        let ports = ports.filter(|port| port.from.starts_with(node));
        ports.fold((0, 0), |(arrived, lost), port| {
            (arrived + port.packets + port.drops, lost + port.drops)
        })
    };
    for (outcome, node) in [(&own, "switch"), (&like, "switch"), (&like, "host")] {
        let (arrived, lost) = at(outcome, node);
        assert!(arrived > 10_000, "{arrived}");
        // Some 14,000 arrivals, data and ACKs: five standard deviations of their number lost are 85.
        let expected = arrived / 50;
        assert!(lost.abs_diff(expected) < 85, "{lost} of {arrived}");
    }
    assert_eq!(at(&own, "host").1, 0);
    // Ports towards senders carry ACKs alone, and lose some.
    let acks = own.ports.iter();
    let acks = acks.filter(|port| port.from.starts_with("switch") && port.to != "host 0");
    assert!(acks.map(|port| port.drops).sum::<u64>() > 50);
}

/// Random flows between racks: half of the hosts of each follow one scheme, half another.
const HALVES: &str = "topology.kind = \"tree\"\ntopology.racks = 3\ntopology.hosts = 4\n\
    [workload]\nkind = \"poisson\"\nload = 0.2\nload_of = \"hosts\"\npeers = \"other-racks\"\n\
    size = \"exponential(20KB)\"\nduration = \"40ms\"\nstart = \"0s\"\n";

#[test]
fn half_of_the_hosts_may_follow_another_scheme() {
    for other in ["pias", "rcp", "qos", "hscc", "xcp"] {
        let outcome = outcome(&format!(
            "{HALVES}[group.new]\nscheme = \"{other}\"\nworkload.from = \"0-2:0-1\"\n\
             [group.tcp]\nscheme = \"newreno\"\nworkload.from = \"0-2:2-3\""
        ));
        assert_eq!(outcome.metrics.flows_completed, outcome.flows.len() as u64);
        for (group, hosts) in [("new", 0..2), ("tcp", 2..4)] {
            let flows = outcome.flows.iter().filter(|flow| flow.group == group);
            let flows: Vec<_> = flows.collect();
            // 0.2 * 6 hosts * 1 Gbit/s over 160,000 bits: 7,500 a second, 300 in 40 ms.
            assert!((220..380).contains(&flows.len()), "{}", flows.len());
            for flow in flows {
                assert!(hosts.contains(&(flow.sender % 4)), "{flow:?}");
                assert_ne!(flow.sender / 4, flow.receiver / 4, "{flow:?}");
            }
        }
    }
}

/// Two groups between racks with several paths. They use all kinds of draws: times and peers of random flows, sizes,
/// jitter, delays that are drawn together, paths and losses.
const RANDOM: [&str; 2] = [
    "[group.random]\nworkload.kind = \"poisson\"\nworkload.load = 0.2\nworkload.size = \"exponential(30KB)\"\n\
     workload.duration = \"20ms\"\nworkload.from = \"0-2:0-1\"\nworkload.to = \"0-2:0-1\"\n",
    "[group.bursts]\nworkload.senders = 5\nworkload.rounds = 4\nworkload.jitter = \"100us\"\n\
     workload.delay = \"exponential(1ms)\"\nworkload.together = true\nworkload.size = \"exponential(50KB)\"\n\
     workload.from = \"1-2:2-3\"\nworkload.to = \"0:2\"\n",
];

/// All records of the flows of each group, in their order there, without their numbers among all flows.
fn by_group(outcome: &Outcome) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for flow in &outcome.flows {
        let record = FlowRecord {
            flow: 0,
            connection: 0,
            round: None,
            waited_for: None,
            ..flow.clone()
        };
        let group = groups.entry(flow.group.clone()).or_default();
        group.push(format!("{record:?}"));
    }
    groups
}

#[test]
fn neither_the_order_of_groups_nor_an_idle_one_changes_anything_for_the_flows_of_another() {
    let idle = "[group.idle]\nworkload.senders = 1\nworkload.start = \"10s\"\nworkload.from = \"0:3\"\n\
                workload.to = \"2:3\"\n";
    let run = |spread: &str, groups: &[&str]| {
        outcome(&format!(
            "topology.kind = \"leaf-spine\"\ntopology.racks = 3\ntopology.spines = 4\ntopology.hosts = 4\n\
             topology.ecmp = \"{spread}\"\nswitch.loss = 0.002\n{}",
            groups.concat()
        ))
    };
    for spread in ["symmetric", "flow", "off"] {
        let [random, bursts] = RANDOM;
        let plain = by_group(&run(spread, &[random, bursts]));
        assert!(plain["random"].len() > 50 && plain["bursts"].len() == 20);
        assert_eq!(by_group(&run(spread, &[bursts, random])), plain, "{spread}");
        let mut others = by_group(&run(spread, &[idle, random, bursts]));
        assert_eq!(others.remove("idle").map(|flows| flows.len()), Some(1));
        assert_eq!(others, plain, "{spread}");
    }
}

#[test]
fn where_nothing_is_drawn_the_name_of_a_group_changes_nothing() {
    let run = |name: &str| {
        outcome(&format!(
            "[workload]\nsize = \"100KB\"\n[group.{name}]\nworkload.senders = 20\n\
             [group.other]\nworkload.senders = 10\nworkload.start = \"1ms\"\n"
        ))
    };
    let results = |outcome: Outcome| -> Vec<_> {
        let result = |flow: &FlowRecord| {
            (
                flow.completion_us.get().map(f64::to_bits),
                flow.drops,
                flow.timeouts,
            )
        };
        outcome.flows.iter().map(result).collect()
    };
    assert_eq!(results(run("first")), results(run("renamed")));
}

#[test]
fn flows_of_one_host_have_the_priority_of_their_group() {
    // Two bulk flows and a short one share hosts and links: the short one first, last, or in line.
    let fct = |critical: &str, bulk: &str| {
        let outcome = outcome(&format!(
            "topology.kind = \"dumbbell\"\ntopology.hosts = 2\nlink.rate = \"2Gbps\"\n\
             bottleneck.rate = \"1Gbps\"\nswitch.buffer = \"unlimited\"\n\
             tcp.receive_buffer = \"256KiB\"\n[workload]\nkind = \"pairs\"\n\
             from = \"0\"\nto = \"1\"\n\
             [group.critical]\n{critical}\nworkload.senders = 1\nworkload.size = \"20KB\"\n\
             workload.start = \"20ms\"\n\
             [group.bulk]\n{bulk}\nworkload.senders = 2\nworkload.size = \"10MB\"\n\
             workload.start = \"0s\""
        ));
        assert_eq!(outcome.metrics.flows_completed, 3);
        let critical = outcome.flows.iter().find(|flow| flow.group == "critical");
        critical.unwrap().fct_us.get().unwrap()
    };
    let qos = |priority: u32| format!("scheme = \"qos\"\nqos.priority = {priority}");
    let plain = "scheme = \"newreno\"".to_owned();
    let in_line = fct(&plain, &plain);
    // Alone it takes four round trips of some 250 us; before the bulk it waits for a packet per hop.
    for first in [fct(&plain, &qos(1)), fct(&qos(0), &qos(1))] {
        assert!(
            first < 1_500.0 && first < in_line / 4.0,
            "{first} {in_line}"
        );
    }
    let last = fct(&qos(1), &qos(0));
    assert!(last > in_line, "{last} {in_line}");
    // The same priority for all is the same as none.
    let same = fct(&qos(1), &qos(1));
    assert!((same / in_line - 1.0).abs() < 0.01, "{same} {in_line}");
}

#[test]
fn peers_parts_and_priorities_that_cannot_be_are_refused_with_the_place() {
    for (text, expected) in [
        (
            "[workload]\nkind = \"poisson\"\npeers = \"other-racks\"",
            "no sender in another rack",
        ),
        (
            "topology.kind = \"tree\"\n[workload]\nkind = \"poisson\"\npeers = \"other-racks\"\nfrom = \"1\"",
            "no sender in another rack",
        ),
        (
            "topology.kind = \"tree\"\nworkload.peers = \"other-racks\"",
            "only random arrivals draw",
        ),
        (
            "[workload]\nfirst_write = \"10KB\"\nsize = \"unlimited\"\nstop = \"1s\"",
            "cannot be written in parts",
        ),
        (
            "[workload]\nfirst_write = \"10KB\"\nconnection = \"persistent\"",
            "mix with the parts of another",
        ),
        (
            "[workload]\nfirst_write = \"10KB\"\nwrite_interval = \"0s\"",
            "must be above 0",
        ),
        (
            "[group.a]\nscheme = \"qos\"\nqos.priority = 2",
            "no priority 2: the 2 priorities",
        ),
        (
            "[group.a]\nscheme = \"qos\"\n[group.b]\nscheme = \"qos\"\nqos.levels = 3",
            "would both work in the switches",
        ),
        (
            "[group.a]\nscheme = \"qos\"\n[group.b]\nscheme = \"pias\"",
            "would both work in the switches",
        ),
    ] {
        let message = wrong(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}
