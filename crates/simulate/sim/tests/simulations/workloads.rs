//! The starts of flows (where and when) and their sizes, read from the records of whole simulations.

mod losses;
mod parts_and_groups;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use scenario::{Overrides, Scenario, Source};
use sim::metrics::{FlowRecord, Outcome};
use sim::run;

/// The network of the RCC paper, into which tests write their workload.
const NETWORK: &str = "net.header_bytes = 54\ntcp.mss = 1446\ntcp.min_rto = \"10ms\"\ntcp.syn_rto = \"10ms\"\n\
    schemes = [\"newreno\"]\n";

fn scenario(text: &str) -> Scenario {
    let source = Source::new("test.toml", format!("{NETWORK}{text}"));
    Scenario::load(source, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(text: &str) -> Outcome {
    run::run(&scenario(text).points()[0]).expect("the simulation succeeds")
}

fn wrong(text: &str) -> String {
    let source = Source::new("test.toml", format!("{NETWORK}{text}"));
    match Scenario::load(source, &Overrides::default()) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problems) => problems.to_string(),
    }
}

fn starts(flows: &[FlowRecord]) -> Vec<f64> {
    flows.iter().map(|flow| flow.start_us).collect()
}

#[test]
fn flows_start_one_interval_after_the_other() {
    let flows = outcome("[workload]\nsenders = 3\nstart = \"0s\"\ninterval = \"20ms\"").flows;
    assert_eq!(starts(&flows), [0.0, 20_000.0, 40_000.0]);
}

#[test]
fn a_run_may_end_before_a_connection_has_taken_the_place_of_another() {
    // The third request of each connection takes the place of the first, when both of its ends have closed.
    let text = |end: &str| {
        format!(
            "topology.kind = \"tree\"\ntopology.racks = 4\ntopology.hosts = 7\nrun.duration = \"{end}\"\n\
             [workload]\nkind = \"requests\"\nsenders = 6\nconnections = 126\nrequests = 20\n\
             size = \"11500B\"\nstart = \"0s\"\n"
        )
    };
    let mut before = 0;
    for end in ["1ms", "20ms", "50ms", "100ms", "10s"] {
        let outcome = outcome(&text(end));
        let completed = outcome.metrics.flows_completed;
        assert!(completed >= before, "{completed} by {end}");
        let whole = outcome
            .flows
            .iter()
            .filter(|flow| flow.fct_us.get().is_some());
        assert!(whole.clone().all(|flow| flow.received_bytes == 11_500));
        assert_eq!(whole.count() as u64, completed);
        before = completed;
    }
    assert_eq!(before, 126 * 20);
}

#[test]
fn a_round_begins_when_all_flows_of_the_one_before_are_complete() {
    let flows = outcome(
        "[workload]\nsenders = 20\nrounds = 3\nthink = \"1ms\"\nstart = \"0s\"\nsize = \"32KiB\"",
    )
    .flows;
    assert_eq!(flows.len(), 60);
    for round in 1..3 {
        let (before, these) = (
            &flows[(round - 1) * 20..round * 20],
            &flows[round * 20..][..20],
        );
        let last = before.iter().filter_map(|flow| flow.completion_us.get());
        let last = last.fold(0.0, f64::max);
        for (first, flow) in before.iter().zip(these) {
            assert!((flow.start_us - last - 1000.0).abs() < 1e-6, "{flow:?}");
            assert_eq!(flow.sender, first.sender, "the same senders answer again");
        }
    }
}

#[test]
fn rounds_that_did_not_begin_leave_no_flows() {
    let flows = outcome(
        "run.duration = \"30ms\"\n[workload]\nsenders = 20\nrounds = 50\nsize = \"320KiB\"",
    )
    .flows;
    assert_eq!(flows.len() % 20, 0);
    assert!((20..1000).contains(&flows.len()), "{}", flows.len());
}

#[test]
fn flows_to_one_receiver_are_delayed_together() {
    let flows = outcome(
        "topology.kind = \"tree\"\n[workload]\nreceivers = 3\nsenders = 5\ntogether = true\n\
         delay = \"exponential(1ms, 2ms)\"\nstart = \"0s\"",
    )
    .flows;
    let mut by_receiver: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for flow in &flows {
        by_receiver
            .entry(flow.receiver)
            .or_default()
            .insert(flow.start_us.to_bits());
    }
    assert_eq!(by_receiver.len(), 3);
    assert!(
        by_receiver.values().all(|starts| starts.len() == 1),
        "{by_receiver:?}"
    );
    let all: BTreeSet<_> = by_receiver.values().flatten().collect();
    assert_eq!(all.len(), 3, "each receiver draws for itself");
}

#[test]
fn a_thousand_hosts_of_a_tree_have_a_flow_each() {
    let text = "topology.kind = \"tree\"\ntopology.racks = 40\nbottleneck.rate = \"25Gbps\"\n\
        [group.long.workload]\nreceivers = 5\nsenders = 1\nsize = \"64KiB\"\n\
        [group.short.workload]\nreceivers = 5\nsenders = 198\nsize = \"2KiB\"";
    let point = scenario(text).points()[0].clone();
    let outcome = run::run(&point).unwrap();
    let senders: BTreeSet<u32> = outcome.flows.iter().map(|flow| flow.sender).collect();
    let receivers: BTreeSet<u32> = outcome.flows.iter().map(|flow| flow.receiver).collect();
    assert_eq!((senders.len(), receivers.len()), (995, 5));
    assert!(senders.is_disjoint(&receivers));
    // Hosts are numbered rack by rack, 25 to each: receivers in racks 0 to 4, senders in all.
    assert_eq!(receivers, (0..5).map(|rack| rack * 25).collect());
    let racks: BTreeSet<u32> = senders.iter().map(|host| host / 25).collect();
    assert_eq!(racks.len(), 40);
    // 1000 hosts and 40 uplinks, a port at each end.
    assert_eq!(outcome.ports.len(), 2080);
    assert_eq!(outcome.metrics.flows_completed, 995);
    let groups: Vec<_> = outcome.groups.iter().map(|group| &*group.group).collect();
    assert_eq!(groups, ["long", "short"]);
    assert_eq!(outcome.groups[1].flows_completed, 990);
}

#[test]
fn named_hosts_send_and_receive() {
    // The multi-hop network of the DCTCP and RCC papers: S1 and S2 at the first switch of three.
    let text = "topology.kind = \"chain\"\ntopology.switches = 3\nbottleneck.rate = \"10Gbps\"\n\
        [group.s1.workload]\nfrom = \"0:0-19\"\nto = \"2:0\"\nsenders = 20\n\
        [group.s2.workload]\nkind = \"pairs\"\nfrom = \"0:20-39\"\nto = \"2:1-20\"\nsenders = 20\n\
        [group.s3.workload]\nfrom = \"1:0-19\"\nto = \"2:0\"\nsenders = 20";
    let outcome = outcome(text);
    let ends = |group: &str| -> (BTreeSet<u32>, BTreeSet<u32>) {
        let flows = outcome.flows.iter().filter(|flow| flow.group == group);
        flows.map(|flow| (flow.sender, flow.receiver)).unzip()
    };
    // 40 hosts at each switch.
    assert_eq!(ends("s1"), ((0..20).collect(), [80].into()));
    assert_eq!(ends("s2"), ((20..40).collect(), (81..101).collect()));
    assert_eq!(ends("s3"), ((40..60).collect(), [80].into()));
    let port = |from: &str, to: &str| {
        let mut ports = outcome.ports.iter();
        ports
            .find(|port| port.from == from && port.to == to)
            .unwrap()
            .bytes
    };
    // The data of S3 does not cross the first link between switches.
    assert!(port("switch 1", "switch 2") > port("switch 0", "switch 1") * 4 / 3);
}

#[test]
fn random_arrivals_make_the_load_that_is_asked_for() {
    let flows = outcome(
        "topology.hosts = 8\n[workload]\nkind = \"poisson\"\nload = 0.4\nduration = \"2s\"\n\
         size = \"exponential(20KB)\"\nstart = \"0s\"",
    )
    .flows;
    assert!(flows.iter().all(|flow| flow.sender != flow.receiver));
    assert!(flows.iter().is_sorted_by(|a, b| a.start_us <= b.start_us));
    let bytes: u64 = flows.iter().filter_map(|flow| flow.size_bytes).sum();
    // Eight receivers for 2 s at 1 Gbit/s; 1446 of 1500 bytes are payload. Some 32,000 flows: the
    // standard error of their sum is 0.8 %.
    let bytes = f64::from(u32::try_from(bytes).unwrap());
    let load = bytes * 8.0 * 1500.0 / 1446.0 / (8.0 * 2.0 * 1e9);
    assert!((0.385..0.415).contains(&load), "{load}");
}

#[test]
fn a_load_of_uplinks_counts_what_crosses() {
    // Three racks of four hosts: of eleven possible senders eight are in other racks.
    let flows = outcome(
        "topology.kind = \"tree\"\ntopology.racks = 3\ntopology.hosts = 4\nbottleneck.rate = \"2Gbps\"\n\
         [workload]\nkind = \"poisson\"\nload = 0.3\nload_of = \"uplinks\"\nduration = \"1s\"\n\
         size = \"exponential(20KB)\"\nstart = \"0s\"",
    )
    .flows;
    let crossing = flows
        .iter()
        .filter(|flow| flow.sender / 4 != flow.receiver / 4);
    let bytes: u64 = crossing.filter_map(|flow| flow.size_bytes).sum();
    let bytes = f64::from(u32::try_from(bytes).unwrap());
    // Three uplinks of 2 Gbit/s for 1 s. Some 10,000 flows cross: the standard error is 1.4 %.
    let load = bytes * 8.0 * 1500.0 / 1446.0 / (3.0 * 2e9);
    assert!((0.28..0.32).contains(&load), "{load}");
}

#[test]
fn as_many_random_flows_arrive_as_are_asked_for() {
    let text = |stop: &str| {
        format!(
            "topology.hosts = 8\n[workload]\nkind = \"poisson\"\nload = 0.4\n{stop}\n\
             size = \"exponential(20KB)\"\nstart = \"0s\""
        )
    };
    let counted = outcome(&text("flows = 500")).flows;
    assert_eq!(counted.len(), 500);
    // They are the first of an open-ended stream of flows.
    let timed = outcome(&text("duration = \"100ms\"")).flows;
    assert!(timed.len() > 500, "{}", timed.len());
    assert_eq!(starts(&counted), starts(&timed[..500]));
}

#[test]
fn a_burst_has_one_flow_between_any_two_hosts() {
    let flows = outcome("topology.hosts = 7\n[workload]\nkind = \"burst\"\ndelay = \"0s\"").flows;
    let pairs: BTreeSet<_> = flows
        .iter()
        .map(|flow| (flow.sender, flow.receiver))
        .collect();
    assert_eq!((flows.len(), pairs.len()), (42, 42));
    assert!(
        flows
            .iter()
            .all(|flow| flow.sender != flow.receiver && (flow.start_us - 10_000.0).abs() < 1e-6)
    );
    let some =
        outcome("[workload]\nkind = \"burst\"\nfrom = \"0:0-3\"\nto = \"0:3-4\"\ndelay = \"0s\"")
            .flows;
    assert_eq!(some.len(), 4 * 2 - 1, "host 3 does not send to itself");
}

#[test]
fn the_first_flows_of_a_burst_are_those_of_the_whole_one() {
    let burst = |flows: &str| {
        let text = format!(
            "topology.hosts = 7\n[workload]\nkind = \"burst\"\nload = 0.5\nsize = \"exponential(20KB)\"\n\
             epochs = 2\nepoch_interval = \"1s\"\n{flows}"
        );
        let flows = outcome(&text).flows;
        let mut flows: Vec<_> = flows
            .iter()
            .map(|flow| (flow.start_us, flow.sender, flow.receiver, flow.size_bytes))
            .collect();
        flows.sort_by(|a, b| a.0.total_cmp(&b.0));
        flows
    };
    let (all, some) = (burst(""), burst("flows = 20"));
    assert_eq!((all.len(), some.len()), (84, 40), "42 pairs, twice");
    assert_eq!(some[..20], all[..20]);
    assert_eq!(some[20..], all[42..62], "the second epoch begins anew");
    assert_eq!(burst("flows = 42"), all);
}

#[test]
fn a_burst_is_spread_by_the_load_of_one_link() {
    // The harness of HSCC's sister project: with uplinks of 8 Gbit/s and web search the mean delay is
    // 1,711,250 * 8 * 1500/1446 / (0.3 * 8e9) s = 5917 us, from one second on.
    let text = "topology.kind = \"tree\"\ntopology.racks = 4\ntopology.hosts = 10\nlink.rate = \"10Gbps\"\n\
         bottleneck.rate = \"8Gbps\"\nrun.duration = \"1.2s\"\n\
         [workload]\nkind = \"burst\"\nload = 0.3\nload_of = \"uplinks\"\nstart = \"1s\"\nsize = \"websearch\"";
    let delays: Vec<f64> = starts(&outcome(text).flows)
        .into_iter()
        .map(|at| at - 1e6)
        .collect();
    assert_eq!(delays.len(), 40 * 39);
    // The standard error of the mean of 1560 exponential times is 2.5 %.
    let mean = delays.iter().sum::<f64>() / 1560.0;
    assert!((0.93..1.07).contains(&(mean / 5917.0)), "{mean}");
}

#[test]
fn epochs_start_on_the_clock() {
    let flows = outcome(
        "[workload]\nsenders = 3\nstart = \"1ms\"\ninterval = \"1us\"\nsize = \"10KB\"\nepochs = 4\n\
         epoch_interval = \"20us\"",
    )
    .flows;
    let expected: Vec<f64> = (0..12)
        .map(|i| 1000.0 + f64::from(i / 3) * 20.0 + f64::from(i % 3))
        .collect();
    assert_eq!(starts(&flows), expected);
    // The first flow takes longer than that, and no other flow waited.
    assert!(flows[0].completion_us.get().unwrap() > flows[11].start_us);
    let senders: Vec<u32> = flows.iter().map(|flow| flow.sender).collect();
    assert_eq!(
        senders[..3],
        senders[9..],
        "the same hosts send in each epoch"
    );
}

#[test]
fn elephants_stop_and_close_both_ways() {
    let outcome = outcome(
        "topology.kind = \"dumbbell\"\ntcp.receive_buffer = \"32KiB\"\n[workload]\nkind = \"pairs\"\n\
         senders = 3\nsize = \"unlimited\"\n\
         start = \"0s\"\ninterval = \"10ms\"\nstop = \"50ms\"\nstop_interval = \"20ms\"",
    );
    // All connections ended by themselves: without run.duration the simulation is over when they are,
    // both FINs acknowledged.
    for (number, flow) in (0..).zip(&outcome.flows) {
        let stop = 50_000.0 + 20_000.0 * f64::from(number);
        let end = flow.completion_us.get().unwrap();
        // Packets under way still arrive: three windows of 32 KiB take 0.8 ms, and fit the buffer.
        assert!((stop..stop + 1_500.0).contains(&end), "{flow:?}");
        assert_eq!(
            (flow.size_bytes, flow.fct_us.get()),
            (None, None),
            "it has no size to complete"
        );
    }
    assert_eq!(outcome.metrics.flows_unfinished, 0);
    let bytes = |flow: usize| outcome.flows[flow].received_bytes;
    // Alone from 70 to 90 ms: the last flow has 20 ms of the link and its shares before.
    assert!(bytes(2) > 2_000_000, "{}", bytes(2));
    assert!(bytes(0) > 1_000_000, "{}", bytes(0));
}

#[test]
fn persistent_connections_are_open_before_the_first_flow() {
    let text = |kind: &str| {
        format!(
            "[workload]\nsenders = 8\nsize = \"1B\"\nstart = \"10ms\"\ninterval = \"1ms\"\nconnection = \"{kind}\""
        )
    };
    let fct = |kind: &str| {
        outcome(&text(kind))
            .flows
            .iter()
            .map(|flow| flow.fct_us.get().unwrap())
            .collect::<Vec<_>>()
    };
    let (new, open) = (fct("new"), fct("persistent"));
    for (new, open) in new.iter().zip(&open) {
        // The handshake takes two more ways over both links, with headers of 54 bytes, and its ACK goes
        // ahead of the data: 2 * (2 * 40 us + 2 * 0.432 us) + 0.432 us = 162.16 us.
        assert!((new - open - 162.16).abs() < 1e-6, "{new} {open}");
    }
    // Two links of 40 us, and 55 bytes at 1 Gbit/s on each.
    assert!((open[0] - 80.88).abs() < 1e-6, "{}", open[0]);
}

#[test]
fn messages_wait_for_each_other_on_a_connection() {
    // 2 x 100 KB, the second 20 us after the first, which takes above 800 us.
    let text = |kind: &str| {
        format!(
            "[workload]\nsenders = 1\nsize = \"100KB\"\nstart = \"10ms\"\nepochs = 2\nepoch_interval = \"20us\"\n\
             connection = \"{kind}\""
        )
    };
    let persistent = outcome(&text("persistent"));
    let [first, second] = &persistent.flows[..] else {
        panic!("two flows")
    };
    let (one, two) = (
        first.completion_us.get().unwrap(),
        second.completion_us.get().unwrap(),
    );
    assert!((second.start_us - first.start_us - 20.0).abs() < 1e-6);
    assert!((two - second.start_us - second.fct_us.get().unwrap()).abs() < 1e-6);
    // The bytes of the second message follow those of the first. Its first bytes may share the last packet of the first.
    assert!(
        second.first_byte_us.get().unwrap() >= one - 12.0,
        "{persistent:?}"
    );
    assert!(two - one > 100_000.0 * 8.0 / 1000.0, "{one} {two}");
    assert_eq!(
        (first.received_bytes, second.received_bytes),
        (100_000, 100_000)
    );
    assert_eq!(first.connection, second.connection);
    let new = outcome(&text("new"));
    assert_ne!(new.flows[0].connection, new.flows[1].connection);
}

#[test]
fn a_connection_that_was_idle_starts_from_its_initial_window() {
    let second = |restart: bool| {
        let outcome = outcome(&format!(
            "tcp.initial_window = 2\ntcp.idle_restart = {restart}\n[workload]\nsenders = 1\nsize = \"60KB\"\n\
             epochs = 2\nepoch_interval = \"1s\"\nconnection = \"persistent\""
        ));
        (
            outcome.flows[0].fct_us.get().unwrap(),
            outcome.flows[1].fct_us.get().unwrap(),
        )
    };
    let (first, again) = second(true);
    assert!(
        (first - again).abs() < 1e-6,
        "it starts as the first time: {first} {again}"
    );
    // 42 packets fit in the window that the first message reached: one way over two links, and the
    // packets behind each other.
    let (_, at_once) = second(false);
    assert!(at_once < first - 300.0, "{at_once} {first}");
}

#[test]
fn requests_are_a_closed_loop() {
    for kind in ["new", "persistent"] {
        let outcome = outcome(&format!(
            "[workload]\nkind = \"requests\"\nsenders = 3\nreceivers = 2\nconnections = 12\nrequests = 5\n\
             request_size = \"100B\"\nsize = \"11500B\"\nthink = \"50us\"\nconnection = \"{kind}\""
        ));
        let flows = &outcome.flows;
        assert_eq!(
            (flows.len(), outcome.metrics.flows_completed),
            (60, 60),
            "{kind}"
        );
        for of_one in flows.chunks(5) {
            for pair in of_one.windows(2) {
                let end = pair[0].completion_us.get().unwrap();
                assert!(
                    (pair[1].start_us - end - 50.0).abs() < 1e-6,
                    "{kind} {pair:?}"
                );
                let same = pair[0].connection == pair[1].connection;
                assert_eq!(same, kind == "persistent");
            }
        }
        // Twelve connections of six pairs: two each.
        let mut pairs = BTreeMap::new();
        for flow in flows.iter().step_by(5) {
            *pairs.entry((flow.sender, flow.receiver)).or_insert(0) += 1;
        }
        assert_eq!(pairs.into_values().collect::<Vec<_>>(), [2; 6], "{kind}");
    }
}

#[test]
fn the_time_of_an_answer_counts_from_the_request() {
    let fct = |kind: &str| {
        let outcome = outcome(&format!(
            "[workload]\nkind = \"requests\"\nsenders = 1\nrequests = 2\nrequest_size = \"100B\"\n\
             size = \"1446B\"\nthink = \"1ms\"\nconnection = \"{kind}\""
        ));
        outcome
            .flows
            .iter()
            .map(|flow| flow.fct_us.get().unwrap())
            .collect::<Vec<_>>()
    };
    // One packet each way over two links of 40 us: 154 bytes there, 1500 back, at 1 Gbit/s.
    // The ACK of the request, 54 bytes, leaves just before the answer.
    let there_and_back = 4.0 * 40.0 + 2.0 * (1.232 + 12.0) + 0.432;
    // A new connection takes a SYN and its answer of 54 bytes before, at each request, which follows the
    // ACK of the handshake.
    let handshake = 4.0 * (40.0 + 0.432) + 0.432;
    for time in fct("persistent") {
        assert!((time - there_and_back).abs() < 1e-6, "{time}");
    }
    for time in fct("new") {
        assert!((time - there_and_back - handshake).abs() < 1e-6, "{time}");
    }
}

#[test]
fn requests_start_anew_in_epochs() {
    let outcome = outcome(
        "[workload]\nkind = \"requests\"\nsenders = 2\nconnections = 4\nrequests = 3\nsize = \"5KB\"\nepochs = 3\n\
         epoch_interval = \"20ms\"\nstart = \"10ms\"",
    );
    let first = outcome.flows.iter().step_by(3).map(|flow| flow.start_us);
    let expected: Vec<f64> = (0..12)
        .map(|i| 10_000.0 + f64::from(i / 4) * 20_000.0)
        .collect();
    assert_eq!(first.collect::<Vec<_>>(), expected);
    assert_eq!(outcome.metrics.flows_completed, 36);
}

#[test]
fn a_heavy_incast_of_requests_loses_and_still_answers_each() {
    for kind in ["new", "persistent"] {
        let outcome = outcome(&format!(
            "switch.buffer = \"20pkt\"\nswitch.ecn_threshold = \"off\"\ntcp.initial_window = 10\n[workload]\n\
             kind = \"requests\"\nsenders = 21\nconnections = 63\nrequests = 10\nsize = \"11500B\"\nconnection = \"{kind}\""
        ));
        assert_eq!(outcome.metrics.flows_completed, 630, "{kind}");
        assert!(outcome.metrics.drops > 500, "{}", outcome.metrics.drops);
        let drops: u64 = outcome.flows.iter().map(|flow| u64::from(flow.drops)).sum();
        assert_eq!(drops, outcome.metrics.drops, "{kind}");
        let timeouts: u64 = outcome
            .flows
            .iter()
            .map(|flow| u64::from(flow.timeouts))
            .sum();
        assert!(timeouts > 0 && timeouts == outcome.metrics.timeouts);
    }
}

#[test]
fn results_tell_classes_of_sizes_apart() {
    let outcome = outcome(
        "run.classes = \"10KB+1MB\"\nworkload.deadline = \"8ms\"\nswitch.buffer = \"30pkt\"\n\
         switch.ecn_threshold = \"off\"\nrun.duration = \"100ms\"\n\
         [group.mice.workload]\nsenders = 20\nsize = \"10KB\"\ninterval = \"2ms\"\n\
         [group.middle.workload]\nsenders = 5\nsize = \"10001B\"\ninterval = \"2ms\"\n\
         [group.elephants.workload]\nsenders = 2\nsize = \"unlimited\"",
    );
    let names: Vec<_> = outcome.groups.iter().map(|group| &*group.group).collect();
    assert_eq!(
        names,
        ["mice", "middle", "elephants", "<=10KB", "10KB-1MB", ">1MB"]
    );
    // Here each class is a group.
    for (group, class) in outcome.groups[..3].iter().zip(&outcome.groups[3..]) {
        let text = |metrics: &sim::metrics::GroupMetrics| {
            let mut values = serde_json::to_value(metrics).unwrap();
            values["group"] = "".into();
            values.to_string()
        };
        assert_eq!(text(group), text(class));
    }
    let late = |flow: &&FlowRecord| {
        flow.size_bytes.is_some() && flow.fct_us.get().is_none_or(|time| time > 8_000.0)
    };
    let expected = outcome.flows.iter().filter(late).count() as u64;
    assert!(expected > 0 && expected < 25, "{expected}");
    assert_eq!(outcome.metrics.flows_late, expected);
    assert_eq!(
        outcome.flows.iter().filter(|flow| flow.late).count() as u64,
        expected
    );
    assert!(
        outcome.metrics.after_timeout > 0,
        "a timeout of 10 ms is what makes them late"
    );
    assert!(outcome.metrics.after_timeout <= outcome.metrics.retransmissions);
}

#[test]
fn fairness_is_jains_index_of_throughputs() {
    let outcome = outcome("[workload]\nsenders = 4\nsize = \"uniform(10KB, 200KB)\"");
    let rates: Vec<f64> = outcome
        .flows
        .iter()
        .map(|flow| {
            flow.size_bytes
                .map_or(0, |size| u32::try_from(size).unwrap())
                .into()
        })
        .zip(outcome.flows.iter().map(|flow| flow.fct_us.get().unwrap()))
        .map(|(size, time): (f64, f64)| size / time)
        .collect();
    let (sum, squares) = (
        rates.iter().sum::<f64>(),
        rates.iter().map(|rate| rate * rate).sum::<f64>(),
    );
    assert!((outcome.metrics.fairness - sum * sum / (4.0 * squares)).abs() < 1e-12);
    let equal = self::outcome("[workload]\nsenders = 1").metrics.fairness;
    assert!((equal - 1.0).abs() < 1e-12);
}

#[test]
fn sizes_come_in_steps() {
    let flows = outcome(
        "[workload]\nsenders = 100\nsize = \"pareto(50KiB, 1.2, 100KiB)\"\nsize_step = \"1KiB\"",
    )
    .flows;
    let sizes: BTreeSet<u64> = flows.iter().filter_map(|flow| flow.size_bytes).collect();
    assert!(
        sizes
            .iter()
            .all(|size| size % 1024 == 0 && *size <= 102_400),
        "{sizes:?}"
    );
    // The least size of the law is 50 / 6 = 8.33 KiB.
    assert!(sizes.len() > 10 && *sizes.first().unwrap() >= 8 * 1024);
}

#[test]
fn schemes_share_a_network_and_even_a_receiving_host() {
    for to in ["1:0", "1:1"] {
        let outcome = outcome(&format!(
            "topology.kind = \"dumbbell\"\nworkload.size = \"1MB\"\nworkload.senders = 2\n\
             [group.tcp]\nscheme = \"newreno\"\nworkload.to = \"{to}\"\n\
             [group.rcc]\nscheme = \"rcc\"\nworkload.to = \"1:0\"",
        ));
        assert_eq!(outcome.metrics.flows_completed, 4, "to {to}");
    }
}

#[test]
fn what_is_emulated_as_load_delays_packets_and_shrinks_queues() {
    let one = |load: &str| {
        outcome(&format!(
            "switch.emulated_load = {load}\nworkload.senders = 1\nworkload.size = \"1KB\""
        ))
    };
    let fct = |load| one(load).flows[0].fct_us.get().unwrap();
    // A SYN, its answer and the data cross the switch, and at half load each is held for 40 packets of
    // 12 us.
    assert!(
        (fct("0.5") - fct("0") - 3.0 * 480.0).abs() < 1e-6,
        "{}",
        fct("0.5")
    );
    let burst = |load: &str| {
        let text = format!("switch.emulated_load = {load}\nworkload.senders = 30");
        outcome(&text).metrics.queue_max_bytes
    };
    assert!(
        burst("0") > 96_000 && burst("0.2") <= 64 * 1500,
        "{}",
        burst("0.2")
    );
}

#[test]
fn what_cannot_be_is_refused_with_the_place() {
    let two = "[group.a]\nscheme = \"rcc\"\n[group.b]\nscheme = \"ictcp\"\n";
    for (text, expected) in [
        ("workload.to = \"3:0\"", "there is no host 0 in rack 3"),
        (
            "workload.from = \"0:0\"\nworkload.to = \"0:0\"",
            "send to itself",
        ),
        ("[group.a]\nlink.rate = \"1Gbps\"", "a group sets link.rate"),
        (
            "[group.\"a.b\"]\nworkload.senders = 1",
            "cannot be the name of a group",
        ),
        ("[group.a]\nscheme = \"tpc\"", "there is no scheme"),
        (
            "columns = [\"group.b.tcp.mss\"]\n[group.a]\nworkload.senders = 1",
            "names a group \"b\"",
        ),
        (
            "workload.kind = \"pairs\"\nworkload.rounds = 2\ntopology.kind = \"dumbbell\"",
            "only incasts, requests and collectives are repeated",
        ),
        (
            "workload.stop = \"1s\"",
            "only flows without end can be stopped",
        ),
        (
            "[workload]\nsize = \"unlimited\"\nstop = \"5ms\"",
            "stop before it starts",
        ),
        ("workload.epochs = 2", "start at the same time"),
        (
            "[workload]\nepochs = 2\nepoch_interval = \"1s\"\nsize = \"unlimited\"\nstop = \"1s\"",
            "cannot start again in every epoch",
        ),
        (
            "[workload]\nkind = \"poisson\"\nload_of = \"uplinks\"",
            "no uplinks to load",
        ),
        (
            "topology.kind = \"tree\"\n[workload]\nkind = \"poisson\"\nload_of = \"uplinks\"\nfrom = \"1\"\n\
             to = \"1\"",
            "no flow leaves its rack",
        ),
        (
            "[workload]\nkind = \"burst\"\nload = 0",
            "no flow ever arrives",
        ),
        (
            "host.queue = \"switch\"\nhost.buffer = \"84pkt\"",
            "host.buffer has no effect",
        ),
        (
            "switch.emulated_load = 1",
            "the emulated load takes the whole buffer",
        ),
        ("trace.flows = \"60\"", "there is no flow 60 among 40"),
        (two, "would both control the receiving host 0"),
        (
            "[group.a]\nscheme = \"rcc\"\n[group.b]\nscheme = \"dctcp\"\ndctcp.receiver_alpha = \"1ms\"",
            "rcc and dctcp would both control",
        ),
        (
            "[group.a]\nscheme = \"rcc\"\n[group.b]\nscheme = \"rcc\"\nrcc.max_queue = \"20pkt\"",
            "with two sets of settings",
        ),
    ] {
        let message = wrong(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_group_keeps_its_settings_and_the_rest_is_shared() {
    let text = "[variant.iw4]\nbase = \"newreno\"\ntcp.initial_window = 4\n\
        [group.a]\nworkload.senders = [1, 2]\n[group.b]\nscheme = \"dctcp\"\ntcp.min_rto = \"7ms\"";
    let source = Source::new("test.toml", text);
    let sets = vec!["tcp.max_rto=9s".into(), "group.b.workload.senders=3".into()];
    let overrides = Overrides {
        sets,
        schemes: Some("iw4".into()),
        ..Overrides::default()
    };
    let scenario = Scenario::load(source, &overrides).unwrap();
    assert_eq!(scenario.points().len(), 2);
    let groups = &scenario.points()[1].groups;
    let windows = |group: usize| groups[group].keys.tcp.initial_window.0;
    assert_eq!(
        (windows(0), windows(1)),
        (4, 10),
        "a variant is about its own scheme's flows"
    );
    assert_eq!(groups[0].keys.workload.senders.0, 2);
    assert_eq!(groups[1].keys.workload.senders.0, 3);
    assert_eq!(groups[1].bundle, "dctcp");
    assert_eq!(&groups[1].texts["tcp.min_rto"], "7ms");
    assert_eq!(&groups[1].texts["tcp.max_rto"], "9s");
    // Written out in full, it is the same scenario.
    let again = Scenario::load(
        Source::new("again.toml", scenario.resolved()),
        &Overrides::default(),
    );
    let again = again.unwrap();
    let texts = |scenario: &Scenario| -> Vec<_> {
        let points = scenario.points().iter();
        points
            .flat_map(|point| point.groups.iter().map(|group| group.texts.clone()))
            .collect()
    };
    assert_eq!(texts(&again), texts(&scenario));
    assert_eq!(again.set_keys(), scenario.set_keys());
}

// Section 5 of the HPCC paper: incasts of 60 random senders beside other flows. Here the flows are shorter and fewer.
#[test]
fn every_scheme_delivers_random_incasts_beside_a_mix_of_flows() {
    let sets = [
        "workload.duration=2ms",
        "group.mix.workload.load=0.03",
        "group.incasts.workload.size=50KB",
    ];
    let names: Vec<&str> = schemes::all().iter().map(|scheme| scheme.name).collect();
    let overrides = Overrides {
        schemes: Some(names.join(",")),
        sets: sets.map(str::to_owned).to_vec(),
        seeds: NonZeroU32::new(1),
        ..Overrides::default()
    };
    let source = Source::builtin("random-incast").expect("a built-in scenario");
    let scenario = Scenario::load(source, &overrides).expect("a correct scenario");
    assert_eq!(scenario.points().len(), names.len());
    for point in scenario.points() {
        let outcome = run::run(point).expect("a conserving run");
        let flows = outcome.flows.len() as u64;
        let m = &outcome.metrics;
        assert_eq!(m.flows_completed, flows, "{}: {m:?}", point.scheme);
        let incasts = outcome.flows.iter().filter(|flow| flow.group == "incasts");
        assert_eq!(incasts.count(), 120, "two incasts");
    }
}
