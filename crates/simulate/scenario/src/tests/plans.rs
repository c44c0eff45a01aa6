use std::collections::BTreeMap;

use base::{Span, Time};
use plan::workload::{Plan, PlannedFlow};

use crate::{Overrides, Scenario, Source};

/// Ten racks of ten hosts, and random flows between racks as in the RC3 paper's experiments.
const WIDE: &str = "topology.kind = \"tree\"\ntopology.racks = 10\ntopology.hosts = 10\n\
    [workload]\nkind = \"poisson\"\nload = 0.3\nload_of = \"hosts\"\npeers = \"other-racks\"\n\
    size = \"internet\"\nduration = \"2s\"\nstart = \"0s\"\n";

/// Start, sender, receiver and size of a flow.
type Flow = (Time, u32, u32, Option<u64>);

/// The flows of a scenario for a scheme, in the order of the plan.
fn flows(text: &str, scheme: &str, seed: u64) -> Vec<Flow> {
    flows_by_group(text, scheme, seed)
        .into_iter()
        .map(|(_, flow)| flow)
        .collect()
}

/// The flows, with the name of each flow's group.
fn flows_by_group(text: &str, scheme: &str, seed: u64) -> Vec<(String, Flow)> {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        seed: Some(seed),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("test.toml", text), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let point = &scenario.points()[0];
    let plan = Plan::of(point);
    let flow = |flow: &PlannedFlow| {
        let connection = &plan.connections[flow.connection as usize];
        let (from, to) = (connection.sender.0, connection.receiver.0);
        let group = point.groups[flow.group as usize].name.to_string();
        (group, (flow.start, from, to, flow.size))
    };
    plan.flows.iter().map(flow).collect()
}

/// The number of flows for each value of `of`.
fn counts<K: Ord>(flows: &[Flow], of: impl Fn(&Flow) -> K) -> BTreeMap<K, u32> {
    let mut counts = BTreeMap::new();
    for flow in flows {
        *counts.entry(of(flow)).or_default() += 1;
    }
    counts
}

#[test]
fn a_load_of_hosts_is_that_of_their_payload_together() {
    // 0.3 * 100 * 1 Gbit/s over 8 * 269,334 bits: 13,923 flows a second. The standard deviation of two
    // seconds is 0.6 %.
    let all = flows(WIDE, "newreno", 1);
    assert!((27_300..28_400).contains(&all.len()), "{}", all.len());
    assert!(all.is_sorted_by_key(|flow| flow.0));
    // Half of the hosts make half of the flows.
    let half = flows(&format!("{WIDE}from = \"0-9:0-4\"\n"), "newreno", 1);
    assert!((13_500..14_350).contains(&half.len()), "{}", half.len());
    assert!(half.iter().all(|flow| flow.1 % 10 < 5));
}

/// Four racks of 16 hosts, and random incasts among them.
const INCASTS: &str = "topology.kind = \"tree\"\ntopology.racks = 4\ntopology.hosts = 16\n\
    [workload]\nkind = \"poisson\"\nload = 0.02\nsize = \"500KB\"\nduration = \"10s\"\nstart = \"0s\"\n";

/// Every incast: when it begins, its receiver, and its senders.
fn incasts(text: &str) -> Vec<(Time, u32, Vec<u32>)> {
    let mut all: Vec<(Time, u32, Vec<u32>)> = Vec::new();
    for (start, from, to, _) in flows(text, "newreno", 1) {
        match all.last_mut() {
            Some((at, receiver, senders)) if (*at, *receiver) == (start, to) => senders.push(from),
            _ => all.push((start, to, vec![from])),
        }
    }
    all
}

#[test]
fn random_incasts_make_the_load_of_single_flows_from_distinct_senders() {
    let alone = flows(INCASTS, "newreno", 1).len();
    let all = incasts(&format!("{INCASTS}fan_in = 60\n"));
    for (_, receiver, senders) in &all {
        let distinct: std::collections::BTreeSet<u32> = senders.iter().copied().collect();
        assert_eq!((senders.len(), distinct.len()), (60, 60));
        assert!(!distinct.contains(receiver));
    }
    // 0.02 * 64 * 1 Gbit/s over 4 Mbit and headers: about 3,100 flows in ten seconds, 52 incasts; the standard
    // deviation is 2 % and 14 %.
    assert!((2_900..3_300).contains(&alone), "{alone}");
    assert!((32..73).contains(&all.len()), "{}", all.len());
    let receivers: std::collections::BTreeSet<u32> =
        all.iter().map(|(_, receiver, _)| *receiver).collect();
    assert!(receivers.len() > 20, "{}", receivers.len());
}

#[test]
fn the_builtin_incasts_are_a_fifteenth_of_the_mix_beside_them() {
    let overrides = Overrides {
        schemes: Some("newreno".to_owned()),
        seeds: std::num::NonZeroU32::new(40),
        ..Overrides::default()
    };
    let source = Source::builtin("random-incast").expect("a built-in scenario");
    let scenario = Scenario::load(source, &overrides).expect("a correct scenario");
    let (mut incasts, mut mix, mut flows) = (0, 0, 0);
    for point in scenario.points() {
        for flow in &Plan::of(point).flows {
            let size = flow.size.expect("only flows without end");
            match &*point.groups[flow.group as usize].name {
                "incasts" => {
                    incasts += size;
                    flows += 1;
                }
                _ => mix += size,
            }
        }
    }
    assert_eq!(flows % 60, 0);
    // 2 % beside 30 %; about 120 incasts have a standard deviation of a tenth.
    assert!(
        (10 * mix..20 * mix).contains(&(200 * incasts)),
        "{incasts} and {mix}"
    );
}

#[test]
fn a_fan_in_may_be_drawn_and_keep_to_other_racks() {
    let all = incasts(&format!(
        "{INCASTS}fan_in = \"20-40\"\npeers = \"other-racks\"\n"
    ));
    let sizes: Vec<usize> = all.iter().map(|(_, _, senders)| senders.len()).collect();
    assert!(sizes.iter().all(|size| (20..=40).contains(size)));
    assert!(sizes.iter().any(|size| *size < 27) && sizes.iter().any(|size| *size > 33));
    let elsewhere = |(_, receiver, senders): &(Time, u32, Vec<u32>)| {
        senders.iter().all(|from| from / 16 != receiver / 16)
    };
    assert!(all.iter().all(elsewhere));
}

#[test]
fn arrivals_follow_a_law_if_one_is_given() {
    let text = format!(
        "{INCASTS}fan_in = 8\narrivals = \"100ms\"\njitter = \"50us\"\ninterval = \"1ms\"\n"
    );
    let all = flows(&text, "newreno", 1);
    // Flow i of an incast starts i milliseconds and up to 50 us later.
    assert_eq!(all.len(), 99 * 8);
    for (number, (start, ..)) in (0_u64..).zip(&all) {
        let (incast, place) = (number / 8, number % 8);
        let base = Time::ZERO + Span::from_millis((incast + 1) * 100 + place);
        assert!(
            start.since(base) < Span::from_micros(50) && *start >= base,
            "{number}: {start}"
        );
    }
    // A limited number of flows cuts the last incast.
    let some = incasts(&format!("{INCASTS}fan_in = 60\nflows = 150\n"));
    assert_eq!(
        some.iter()
            .map(|(_, _, senders)| senders.len())
            .collect::<Vec<_>>(),
        [60, 60, 30]
    );
}

#[test]
fn an_incast_of_more_senders_than_there_are_is_refused() {
    let refused = |more: &str| {
        let source = Source::new("test.toml", format!("{INCASTS}{more}"));
        let problems = Scenario::load(source, &Overrides::default())
            .err()
            .expect("a conflict");
        problems.0[0].to_string()
    };
    assert_eq!(
        refused("fan_in = 64\n"),
        "a receiver has only 63 senders, but an incast needs 64"
    );
    let others = refused("fan_in = 49\npeers = \"other-racks\"\n");
    assert_eq!(
        others,
        "a receiver has only 48 senders, but an incast needs 49"
    );
    assert_eq!(
        refused("arrivals = \"0s\"\n"),
        "the time between two arrivals is 0"
    );
    let source = Source::new("test.toml", "[workload]\nfan_in = 5\n");
    let problems = Scenario::load(source, &Overrides::default())
        .err()
        .expect("a conflict");
    assert_eq!(
        problems.0[0].to_string(),
        "only random arrivals have a fan-in"
    );
}

#[test]
fn racks_of_peers_are_distinct_and_as_likely_as_each_other_and_so_are_their_hosts() {
    let all = flows(WIDE, "newreno", 2);
    // Some 27,850 flows: 309 to each pair of racks, 278 from and to each host; five standard deviations
    // are 88 and 84.
    let pairs = counts(&all, |flow| (flow.1 / 10, flow.2 / 10));
    assert_eq!(pairs.len(), 90);
    assert!(pairs.keys().all(|(from, to)| from != to));
    assert!(
        pairs.values().all(|count| (221..398).contains(count)),
        "{pairs:?}"
    );
    for hosts in [counts(&all, |flow| flow.1), counts(&all, |flow| flow.2)] {
        assert_eq!(hosts.len(), 100);
        assert!(
            hosts.values().all(|count| (194..363).contains(count)),
            "{hosts:?}"
        );
    }
    // A rack with one sender sends as much as one with ten.
    let few = flows(
        &format!("{WIDE}from = \"0:3+1\"\nto = \"5-9\"\n"),
        "newreno",
        2,
    );
    let racks = counts(&few, |flow| flow.1 / 10);
    // 11 hosts: 3,063 flows of which half are 1,532, standard deviation 28.
    assert!((1_380..1_680).contains(&racks[&0]), "{racks:?}");
    assert!((1_380..1_680).contains(&racks[&1]), "{racks:?}");
    assert!(few.iter().all(|flow| flow.1 / 10 > 0 || flow.1 == 3));
}

#[test]
fn any_pair_of_hosts_is_as_likely_as_any_other() {
    let text = WIDE.replace("other-racks", "any");
    let all = flows(&text, "newreno", 3);
    assert!(all.iter().all(|flow| flow.1 != flow.2));
    // Nine of the 99 other hosts are in the same rack.
    let near = counts(&all, |flow| flow.1 / 10 == flow.2 / 10)[&true];
    let expected = u32::try_from(all.len()).unwrap() / 11;
    assert!(near.abs_diff(expected) < 240, "{near} of {expected}");
}

#[test]
fn flows_at_each_receiver_come_from_other_racks_if_asked() {
    for load_of in ["receivers", "uplinks"] {
        let text = WIDE.replace("\"hosts\"", &format!("\"{load_of}\""));
        let all = flows(&text, "newreno", 4);
        assert!(all.len() > 1000);
        assert!(
            all.iter().all(|flow| flow.1 / 10 != flow.2 / 10),
            "{load_of}"
        );
    }
    // Now all flows load uplinks: ten of 1 Gbit/s at 0.3, with full packets in which 1460 of 1500 bytes count.
    let text = WIDE.replace("\"hosts\"", "\"uplinks\"");
    let expected = 2.0 * 0.3 * 10.0 * 1e9 / (8.0 * 269_334.0 * 1500.0 / 1460.0);
    let made = f64::from(u32::try_from(flows(&text, "newreno", 5).len()).unwrap());
    assert!((made / expected - 1.0).abs() < 0.1, "{made} of {expected}");
}

#[test]
fn the_flows_are_those_of_the_seed_whatever_the_scheme() {
    let short = WIDE.replace("2s", "100ms");
    let receivers = short.replace("\"hosts\"", "\"receivers\"");
    for text in [&short, &receivers] {
        let first = flows(text, "newreno", 7);
        assert!(first.len() > 1000);
        for scheme in schemes::all() {
            assert_eq!(flows(text, scheme.name, 7), first, "{}", scheme.name);
        }
        assert_ne!(flows(text, "newreno", 8), first);
    }
}

#[test]
fn a_group_draws_its_own_flows_whatever_scheme_another_follows() {
    let halves = |scheme: &str| {
        let short = WIDE.replace("2s", "100ms");
        let text = format!(
            "{short}[group.a]\nscheme = \"{scheme}\"\nworkload.from = \"0-9:0-4\"\n\
             [group.b]\nscheme = \"newreno\"\nworkload.from = \"0-9:5-9\"\n"
        );
        flows(&text, "newreno", 7)
    };
    let plain = halves("newreno");
    for scheme in ["rcp", "qos", "pias"] {
        assert_eq!(halves(scheme), plain);
    }
}

#[test]
fn draws_of_a_group_go_by_its_name_whatever_its_place_and_its_neighbours() {
    // One group for each kind of workload, with all possible random settings.
    let laws = "workload.size = \"exponential(50KB)\"\nworkload.jitter = \"1ms\"\n\
                workload.delay = \"exponential(1ms)\"\n";
    let groups = [
        "[group.random]\nworkload.kind = \"poisson\"\nworkload.load = 0.1\nworkload.duration = \"20ms\"\n\
         workload.size = \"exponential(50KB)\"\n"
            .to_owned(),
        format!(
            "[group.incast]\nworkload.senders = 4\nworkload.rounds = 3\nworkload.epochs = 2\n\
             workload.epoch_interval = \"1s\"\n{laws}\
             workload.together = true\nworkload.from = \"0\"\nworkload.to = \"1:0\"\n"
        ),
        format!(
            "[group.burst]\nworkload.kind = \"burst\"\nworkload.flows = 9\n{laws}workload.from = \"2\"\n\
             workload.to = \"3\"\n"
        ),
        format!(
            "[group.requests]\nworkload.kind = \"requests\"\nworkload.connections = 3\n\
             workload.requests = 4\n{laws}workload.from = \"4:0-2\"\nworkload.to = \"5:0\"\n"
        ),
    ];
    let plan = |order: &[usize], before: &str| {
        let groups: String = order.iter().map(|group| &*groups[*group]).collect();
        let text = format!(
            "topology.kind = \"tree\"\ntopology.racks = 10\ntopology.hosts = 10\n\
             [workload]\nstart = \"0s\"\n{before}{groups}"
        );
        let mut groups: BTreeMap<String, Vec<Flow>> = BTreeMap::new();
        for (group, flow) in flows_by_group(&text, "newreno", 3) {
            groups.entry(group).or_default().push(flow);
        }
        groups
    };
    let all = plan(&[0, 1, 2, 3], "");
    assert_eq!(all.len(), 4);
    assert_eq!(plan(&[3, 1, 0, 2], ""), all);
    let idle = "[group.idle]\nworkload.senders = 5\nworkload.from = \"9\"\nworkload.to = \"8:0\"\n";
    let mut more = plan(&[0, 1, 2, 3], idle);
    assert_eq!(more.remove("idle").map(|flows| flows.len()), Some(5));
    assert_eq!(more, all);
    // A group alone draws the same numbers as among others.
    for (group, name) in ["random", "incast", "burst", "requests"]
        .into_iter()
        .enumerate()
    {
        assert_eq!(plan(&[group], "")[name], all[name], "{name}");
    }
}

#[test]
fn clients_ask_in_rounds_and_none_begins_before_all_of_the_one_before_are_answered() {
    let text = "[workload]\nkind = \"requests\"\nsenders = 3\nreceivers = 2\nconnections = 5\nrequests = 2\n\
                rounds = 3\nconnection = \"persistent\"\ninterval = \"1ms\"\n";
    let plan = plan_of_newreno(text);
    assert_eq!((plan.connections.len(), plan.flows.len()), (5, 30));
    // The first client has connections 0, 2 and 4: three flows a turn, two turns a round. The flow behind a barrier
    // is on the connection of the flow before it, or the round is over.
    let client = |flow: u32| {
        let connection = plan.flows[flow as usize].connection;
        plan.connections[connection as usize].receiver
    };
    let mut begun = vec![false; 30];
    let mut waiting: BTreeMap<u32, u32> = BTreeMap::new();
    let is_behind = |flow: u32| {
        let mut barriers = plan.barriers.iter();
        barriers.any(|barrier| barrier.next.contains(&flow))
    };
    let mut ready: Vec<u32> = (0..30).filter(|flow| !is_behind(*flow)).collect();
    assert_eq!(ready, [0, 1, 2, 18, 19]);
    while let Some(flow) = ready.pop() {
        assert!(!std::mem::replace(&mut begun[flow as usize], true));
        let barrier = plan.flows[flow as usize]
            .awaited_by
            .expect("every flow is awaited");
        let done = waiting.entry(barrier).or_default();
        *done += 1;
        let barrier = &plan.barriers[barrier as usize];
        if *done == barrier.waits_for {
            assert!(
                barrier
                    .next
                    .clone()
                    .all(|next| client(next) == client(flow))
            );
            if barrier.waits_for > 1 {
                // All earlier flows of this client are over.
                let earlier = (0..flow).filter(|other| client(*other) == client(flow));
                assert!(earlier.into_iter().all(|other| begun[other as usize]));
            } else {
                let next = barrier.next.start as usize;
                let connection = |flow: usize| plan.flows[flow].connection;
                assert_eq!(connection(next), connection(flow as usize));
            }
            ready.extend(barrier.next.clone());
        }
    }
    assert!(begun.into_iter().all(|begun| begun));
}

#[test]
fn the_first_request_on_each_connection_is_delayed_in_every_round() {
    let text = "[workload]\nkind = \"requests\"\nsenders = 3\nconnections = 3\nrequests = 2\nrounds = 2\n\
                connection = \"persistent\"\nstart = \"1ms\"\ninterval = \"2us\"\njitter = \"1us\"\n";
    let plan = plan_of_newreno(text);
    let start = |flow: usize| plan.flows[flow].start;
    // Three connections, two turns, two rounds. Starts of later rounds and turns are relative to the flows that they
    // wait for.
    for (first, base) in [(0, Time::from_ps(1_000_000_000)), (6, Time::ZERO)] {
        for place in 0..3 {
            let interval = Span::from_micros(2 * place as u64);
            let jitter = start(first + place).since(base + interval);
            assert!(jitter < Span::from_micros(1), "{jitter:?}");
            assert_eq!(start(first + 3 + place), Time::ZERO);
        }
    }
    assert_ne!(
        start(0).since(Time::from_ps(1_000_000_000)),
        start(6).since(Time::ZERO)
    );
}

#[test]
fn connections_of_requests_in_rounds_take_the_places_of_those_two_requests_before() {
    let text = "[workload]\nkind = \"requests\"\nsenders = 2\nconnections = 2\nrounds = 4\n";
    let plan = plan_of_newreno(text);
    let heirs: Vec<Option<u32>> = plan.connections.iter().map(|one| one.heir_of).collect();
    let expected = [None, None, None, None, Some(0), Some(1), Some(2), Some(3)];
    assert_eq!(heirs, expected);
    for (heir, former) in plan.connections[4..].iter().zip(&plan.connections) {
        assert_eq!(heir.sender, former.sender);
    }
}

fn plan_of_newreno(text: &str) -> Plan {
    let overrides = Overrides {
        schemes: Some("newreno".to_owned()),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("test.toml", text), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Plan::of(&scenario.points()[0])
}

/// For each round, its number of flows and the number of receiving hosts; and the number of flows without a round.
fn rounds(text: &str) -> (Vec<(usize, usize)>, usize) {
    let overrides = Overrides {
        schemes: Some("newreno".to_owned()),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("test.toml", text), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Plan::of(&scenario.points()[0]);
    let mut rounds: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut without = 0;
    for flow in &plan.flows {
        match flow.round {
            Some(round) => {
                let receiver = plan.connections[flow.connection as usize].receiver.0;
                rounds.entry(round).or_default().push(receiver);
            }
            None => without += 1,
        }
    }
    // Numbers are dense.
    assert!(
        (0..)
            .zip(rounds.keys())
            .all(|(number, round)| number == *round)
    );
    let counted = rounds.into_values().map(|mut receivers| {
        let flows = receivers.len();
        receivers.sort_unstable();
        receivers.dedup();
        (flows, receivers.len())
    });
    (counted.collect(), without)
}

#[test]
fn flows_of_which_somebody_waits_for_the_last_are_a_round() {
    let incast =
        "[workload]\nsenders = 5\nrounds = 3\nreceivers = 2\nepochs = 2\nepoch_interval = \"1s\"\n";
    assert_eq!(rounds(incast), (vec![(5, 1); 12], 0));
    // Two clients with three and two connections; on each they ask twice in a round.
    let requests = "topology.hosts = 8\n[workload]\nkind = \"requests\"\nsize = \"10KB\"\nconnections = 5\n\
                    requests = 2\nrounds = 2\nsenders = 6\nfrom = \"0:2-7\"\nto = \"0:0-1\"\n";
    assert_eq!(rounds(requests), (vec![(6, 1), (6, 1), (4, 1), (4, 1)], 0));
    let burst = "topology.hosts = 4\n[workload]\nkind = \"burst\"\nsize = \"10KB\"\nepochs = 2\n\
                 epoch_interval = \"1s\"\n";
    let shuffles = format!("{burst}delay = \"0s\"\n");
    assert_eq!(rounds(&shuffles), (vec![(12, 4), (12, 4)], 0));
    // Without a common start, they start at random times.
    assert_eq!(rounds(burst), (vec![], 24));
    let (incasts, others) = rounds(&format!("{INCASTS}fan_in = 60\n"));
    assert!(incasts.len() > 30 && incasts.iter().all(|one| *one == (60, 1)));
    assert_eq!(others, 0);
}

#[test]
fn where_nobody_waits_for_several_flows_there_are_no_rounds() {
    // Each client asks on one connection, once in a round.
    let single = "topology.hosts = 8\n[workload]\nkind = \"requests\"\nsize = \"10KB\"\nconnections = 2\n\
                  requests = 1\nrounds = 3\nsenders = 6\nfrom = \"0:2-7\"\nto = \"0:0-1\"\n";
    assert_eq!(rounds(single), (vec![], 6));
    let chains = "topology.hosts = 8\n[workload]\nkind = \"requests\"\nsize = \"10KB\"\nconnections = 4\nsenders = 6\n\
                  requests = 5\n";
    assert_eq!(rounds(chains), (vec![], 20));
    // They start one after the other, and no round follows.
    let joining = "[workload]\nsenders = 5\ninterval = \"1ms\"\n";
    assert_eq!(rounds(joining), (vec![], 5));
    let awaited = format!("{joining}rounds = 2\n");
    assert_eq!(rounds(&awaited), (vec![(5, 1); 2], 0));
    let (none, flows) = rounds(WIDE);
    assert!(none.is_empty() && flows > 1000);
}
