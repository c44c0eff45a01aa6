//! A trace of a simulation reproduces it, flow by flow and packet by packet, or there is none.

use std::fs;

use plan::PointSpec;
use plan::replay::Replay;
use scenario::{Overrides, Scenario, Source};
use sim::metrics::FlowRecord;
use sim::run;

#[test]
fn every_kind_of_workload_is_replayed_exactly_or_refused() {
    let (mut exact, mut refused) = (0, 0);
    for network in NETWORKS {
        for (kind, replayed) in KINDS {
            for more in MORE {
                let sets = [*network, *kind, *more].concat();
                let Some(point) = load(&sets) else { continue };
                match Replay::of(&point) {
                    Ok(replay) => {
                        assert!(*replayed, "{sets:?}");
                        assert_same(&sets, &point, &replay);
                        exact += 1;
                    }
                    Err(reason) => {
                        let reason = reason.to_string();
                        assert!(!replayed || reason.contains("port"), "{sets:?}: {reason}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(
        exact > 300 && refused > 80,
        "{exact} exact, {refused} refused"
    );
}

#[test]
fn groups_are_replayed_each_with_its_own_settings() {
    let reads = "[group.reads]\nworkload.kind = \"incast\"\nworkload.senders = 6\nworkload.jitter = \"50us\"\n";
    let others = "[group.others]\nworkload.kind = \"poisson\"\nworkload.flows = 40\nworkload.load = 0.1\n\
                  workload.from = \"0:10-19\"\nworkload.to = \"0:10-19\"\n";
    let long = "[group.long]\nworkload.from = \"0:9\"\nworkload.to = \"0:8\"\nworkload.size = \"1MB\"\n\
                workload.senders = 1\nworkload.connection = \"persistent\"\n";
    let text = format!("[topology]\nhosts = 20\n{reads}{others}{long}");
    let point = load_text(&text, &[]).expect("a scenario");
    let replay = Replay::of(&point).expect("nothing waits");
    let head = "start_us,open_us,size_bytes,sender,receiver,connection,group,round\n";
    assert!(replay.csv.starts_with(head));
    assert_same_text(&text, &[], &point, &replay);
    let text = text.replace("jitter = \"50us\"", "rounds = 2");
    let point = load_text(&text, &[]).expect("a scenario");
    let reason = Replay::of(&point).expect_err("rounds wait").to_string();
    assert!(
        reason.contains("each round of the group reads waits"),
        "{reason}"
    );
}

#[test]
fn a_flow_that_waits_starts_when_the_last_of_the_others_is_done_and_its_trace_keeps_that() {
    let rows = "id,start_us,after,delay_us,size_bytes,sender,receiver\n\
                a,10000,,,200000,0,1\nb,10000,,,20000,2,1\nc,,a+b@50,7,30000,1,3\nd,,1 of a+b,,5000,1,2\n\
                e,,c@0.5,,1000,3,0\n";
    let file = std::env::temp_dir().join(format!("waits-{}.csv", std::process::id()));
    fs::write(&file, rows).expect("a file");
    let trace = format!("workload.trace={}", file.display());
    let sets = ["workload.kind=trace", &trace];
    let point = load(&sets).expect("a scenario");
    let outcome = run::run(&point).expect("a conserving run");
    let [long, short, both, either, last] = outcome.flows.as_slice() else {
        panic!("five flows")
    };
    let done = |flow: &FlowRecord| flow.completion_us.get().expect("a complete flow");
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    // The short flow and its delay are over before the end of the long one.
    assert!(done(short) + 50.0 < done(long));
    assert!(near(both.start_us, done(long) + 7.0), "{both:?}");
    assert!(near(either.start_us, done(short)), "{either:?}");
    assert!(near(last.start_us, done(both) + 0.5), "{last:?}");
    let held_by = [long, short, both, either, last].map(|flow| flow.waited_for);
    assert_eq!(held_by, [None, None, Some(0), Some(1), Some(2)]);
    let replay = Replay::of(&point).expect("a trace tells what flows wait for");
    assert_same(&sets, &point, &replay);
    fs::remove_file(&file).expect("the file");
}

#[test]
fn flows_of_a_group_wait_for_those_of_another_with_the_same_trace() {
    let rows = "id,start_us,after,size_bytes,sender,receiver,group\n0,10000,,9000,0,1,x\n1,,0,9000,1,2,y\n";
    let file = std::env::temp_dir().join(format!("waits-of-groups-{}.csv", std::process::id()));
    fs::write(&file, rows).expect("a file");
    let text = format!(
        "[workload]\nkind = \"trace\"\ntrace = \"{}\"\n",
        file.display()
    );
    let point = load_text(&format!("{text}[group.x]\n[group.y]\n"), &[]).expect("a scenario");
    let outcome = run::run(&point).expect("a conserving run");
    let [x, y] = outcome.flows.as_slice() else {
        panic!("two flows")
    };
    assert_eq!(Some(y.start_us), x.completion_us.get());
    // Without the other group, nothing would let the flow start.
    assert!(load_text(&format!("{text}[group.y]\n"), &[]).is_none());
    fs::remove_file(&file).expect("the file");
}

/// Runs a point and its trace.
fn assert_same(sets: &[&str], point: &PointSpec, replay: &Replay) {
    assert_same_text(BASE, sets, point, replay);
}

fn assert_same_text(text: &str, sets: &[&str], point: &PointSpec, replay: &Replay) {
    let flows = replay.csv.lines().count();
    let name = format!("replay-{}-{flows}.csv", std::process::id());
    let file = std::env::temp_dir().join(name);
    fs::write(&file, &replay.csv).expect("a file");
    let more = replay
        .settings
        .iter()
        .map(|(key, text)| format!("{key}={text}"));
    let traces = replay
        .traces
        .iter()
        .map(|key| format!("{key}={}", file.display()));
    let changed: Vec<String> = more.chain(traces).collect();
    let key_of = |set: &str| set.split_once('=').map(|(key, _)| key.to_owned());
    let kept = sets
        .iter()
        .filter(|set| !changed.iter().any(|other| key_of(other) == key_of(set)));
    let sets: Vec<&str> = kept
        .copied()
        .chain(changed.iter().map(String::as_str))
        .collect();
    let traced = load_text(text, &sets).unwrap_or_else(|| panic!("{sets:?} is refused"));
    let (first, again) = [point, &traced]
        .map(|point| run::run(point).expect("a conserving run"))
        .into();
    // A trace does not say which of its flows are awaited together.
    let flows = [&first, &again].map(|outcome| {
        let mut flows = outcome.flows.clone();
        for flow in &mut flows {
            flow.round = None;
        }
        format!("{flows:?}")
    });
    assert_eq!(flows[1], flows[0], "{sets:?}");
    assert_eq!(again.digest, first.digest, "{sets:?}");
    fs::remove_file(&file).expect("the file");
}

fn load(sets: &[&str]) -> Option<PointSpec> {
    load_text(BASE, sets)
}

/// The point of a scenario, unless settings contradict each other.
fn load_text(text: &str, sets: &[&str]) -> Option<PointSpec> {
    let overrides = Overrides {
        schemes: Some("dctcp".to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        seed: Some(7),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("base", text), &overrides).ok()?;
    scenario.points().first().cloned()
}

const BASE: &str = "[workload]\nsize = \"20KB\"\nsenders = 6\nstart = \"10ms\"\n";

const NETWORKS: &[&[&str]] = &[
    &["topology.kind=star"],
    &["topology.kind=star", "topology.hosts=20"],
    &["topology.kind=dumbbell"],
    &[
        "topology.kind=dumbbell",
        "bottleneck.loss=0.02",
        "bottleneck.rate=100Mbps",
    ],
    &["topology.kind=chain"],
    &["topology.kind=tree"],
    &["topology.kind=leaf-spine"],
    &["topology.kind=fat-tree"],
    &["topology.kind=graph"],
];

/// Settings, and whether a trace can reproduce them.
const KINDS: &[(&[&str], bool)] = &[
    (&["workload.kind=incast"], true),
    (&["workload.kind=incast", "workload.receivers=2"], true),
    (&["workload.kind=incast", "workload.rounds=3"], false),
    (
        &[
            "workload.kind=incast",
            "workload.epochs=3",
            "workload.epoch_interval=30ms",
        ],
        true,
    ),
    (&["workload.kind=pairs"], true),
    (&["workload.kind=pairs", "workload.first_write=1KB"], true),
    (&["workload.kind=poisson", "workload.flows=40"], true),
    (
        &[
            "workload.kind=poisson",
            "workload.duration=20ms",
            "run.duration=20ms",
        ],
        true,
    ),
    (&["workload.kind=burst", "workload.flows=30"], true),
    (&["workload.kind=collective"], true),
    (
        &[
            "workload.kind=collective",
            "workload.collective=all-to-all",
            "workload.stragglers=2",
            "workload.straggler_delay=70us",
        ],
        true,
    ),
    (&["workload.kind=collective", "workload.rounds=2"], false),
    (
        &[
            "workload.kind=requests",
            "workload.senders=6",
            "workload.connections=9",
            "workload.request_size=3KB",
        ],
        true,
    ),
    (
        &[
            "workload.kind=requests",
            "workload.connection=persistent",
            "workload.request_writes=2",
            "workload.answer_writes=3",
        ],
        true,
    ),
    (&["workload.kind=requests", "workload.requests=3"], false),
    (&["workload.kind=trace", "topology.hosts=21"], true),
];

const MORE: &[&[&str]] = &[
    &[],
    &["workload.jitter=1ms"],
    &["link.jitter=auto"],
    &["workload.connection=persistent"],
    &[
        "workload.connection=persistent",
        "workload.jitter=1ms",
        "switch.buffer=4pkt",
        "switch.ecn_threshold=2pkt",
    ],
    &["workload.interval=3us", "workload.size=exponential(20KB)"],
];
