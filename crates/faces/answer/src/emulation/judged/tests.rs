use claims::catalogue;
use protocol::{
    BedLine, EmulationLine, FlowRow, Line, LinuxMetrics, LinuxRun, LossKind, PointLine, Results,
    RunsOn, Settings, SkippedLine,
};
use scenario::{Overrides, Source};

use super::*;
use crate::emulation::measured::of_linux;

/// A figure that claims a queue half as long with HSCC, and equally fast long flows.
const FIGURE: &str = r#"
title = "Queues"
figure = "Fig. 1"
scale = "1 seed"
schemes = ["cubic", "hscc+cubic", "dctcp"]

[workload]
senders = 2
size = "10KB"
deadline = "20ms"

[trace]
series = "queue, throughput, events"
interval = "change"
window = "10ms"

[live]
scale = "half of the flows"
runs = 4
set = { "workload.senders" = 1 }
claims = ["half", "order", "of-dctcp", "timeouts", "late", "waits", "cycle", "slower"]

[[claim]]
id = "half"
kind = "number"
says = "HSCC halves the queue"
where = "Fig. 1"
measure = "queue_mean_bytes"
of = "hscc+cubic"
against = "cubic"
compare = "reduction"
paper = 50
unit = "%"

[[claim]]
id = "order"
kind = "order"
says = "Flows are faster with HSCC"
where = "Fig. 1"
measure = { flows = "fct_us", statistic = "mean" }
sorted = ["hscc+cubic", "cubic"]

[[claim]]
id = "of-dctcp"
kind = "order"
says = "DCTCP has the longest queue"
where = "Fig. 1"
measure = "queue_mean_bytes"
highest = "dctcp"

[[claim]]
id = "timeouts"
kind = "number"
says = "One of ten segments is followed by a timeout"
where = "Fig. 1"
measure = { flows = "timeouts", statistic = "sum" }
of = "cubic"
against = { scheme = "cubic", measure = { flows = "packets", statistic = "sum" } }
compare = "ratio"
paper = 0.1

[[claim]]
id = "late"
kind = "shape"
says = "More flows are late without HSCC"
where = "Fig. 1"
measure = { flows = "late", statistic = "sum" }
shape = "greater"
of = "cubic"
than = "hscc+cubic"

[[claim]]
id = "waits"
kind = "shape"
says = "Packets wait for half of the time"
where = "Fig. 1"
measure = { series = "queue_bytes", statistic = "share", above = "0B", during = ["0s", "40ms"] }
shape = "near"
level = "50%"
tolerance = 0.01
of = "cubic"

[[claim]]
id = "cycle"
kind = "number"
says = "The time from one loss to the next is twice as long with HSCC"
where = "Fig. 1"
measure = { events = ["fast_retransmit", "timeout"], statistic = "mean" }
of = "hscc+cubic"
against = "cubic"
compare = "ratio"
paper = 2

[[claim]]
id = "slower"
kind = "number"
says = "Its second half is a quarter as fast as its first"
where = "Fig. 1"
of = { scheme = "cubic", measure = { series = "throughput_bps", statistic = "mean", flow = 0, during = ["20ms", "30ms"] } }
against = { scheme = "cubic", measure = { series = "throughput_bps", statistic = "mean", flow = 0, during = ["10ms", "20ms"] } }
compare = "ratio"
paper = 0.25

[[claim]]
id = "not-live"
kind = "number"
says = "The queue is 10 KB"
where = "Fig. 1"
measure = "queue_mean_bytes"
of = "cubic"
paper = 10
unit = "KB"
"#;

/// The lines of four runs of both schemes; `invalid` of the runs are invalid.
fn emulation(invalid: u32) -> Emulation {
    let set = Settings::from([("workload.senders".to_owned(), "1".to_owned())]);
    let mut lines = vec![
        Line::Emulation(EmulationLine {
            scenario: "fig1".to_owned(),
            runs: 4,
            version: "0.1.0".to_owned(),
        }),
        Line::Skipped(SkippedLine {
            scheme: "dctcp".to_owned(),
            set: set.clone(),
            reason: "this kernel has no dctcp".to_owned(),
        }),
        Line::Bed(BedLine {
            set: set.clone(),
            kernel: "6.18.44".to_owned(),
            hosts: 2,
            switches: 1,
            rate_bps: 100_000_000,
            scenario_rate_bps: 1_000_000_000,
            burst_bytes: Some(1_514),
            rtt_us: 40.0,
            different: Vec::new(),
        }),
    ];
    for world in WORLDS {
        // Completions at 36 and 35 ms are 26 and 25 ms after the start; alone, a flow needs 5.5 ms. Losses are 5 and 10
        // ms apart.
        for (scheme, queue, end, loss) in [
            ("cubic", 10_000.0, 36_000.0, 17_000.0),
            ("hscc+cubic", 5_200.0, 35_000.0, 22_000.0),
        ] {
            for run in 0..4 {
                lines.push(Line::Point(Box::new(PointLine {
                    scheme: scheme.to_owned(),
                    seed: 1,
                    run,
                    set: set.clone(),
                    results: results(world, queue, run >= invalid),
                    fct_us: vec![end - 10_000.0],
                    flows: Some(vec![FlowRow {
                        start_us: Some(10_000.0),
                        completion_us: Some(end),
                        received: 10_000,
                        packets: Some(10),
                        retransmissions: Some(2),
                        timeouts: Some(1),
                        syn_timeouts: Some(0),
                        alone_us: Some(5_500.0),
                    }]),
                    ended_us: Some(40_000.0),
                    queue: Some(vec![(0.0, 0), (10_000.0, 700), (30_000.0, 0)]),
                    arrivals: Some(vec![
                        (11_000.0, 0, 7_000),
                        (19_000.0, 0, 1_000),
                        (20_000.0, 0, 2_000),
                    ]),
                    losses: Some(vec![
                        (12_000.0, 0, LossKind::FastRetransmit),
                        (loss, 0, LossKind::Timeout),
                    ]),
                })));
            }
        }
    }
    Emulation::of(lines).unwrap_or_else(|_| panic!("an emulation"))
}

fn results(world: RunsOn, queue: f64, valid: bool) -> Results {
    let metrics = LinuxMetrics {
        goodput_bps: Some(1e6),
        timeouts: Some(0),
        retransmissions: Some(0),
        packets: Some(7),
        drops: Some(0),
        queue_mean_bytes: Some(queue),
        flows_completed: 1,
        ..LinuxMetrics::default()
    };
    match world {
        RunsOn::Linux => Results::Linux {
            metrics: Box::new(metrics),
            live: Box::new(LinuxRun {
                valid,
                reasons: (!valid)
                    .then(|| "cores 99 % busy".to_owned())
                    .into_iter()
                    .collect(),
                ..LinuxRun::default()
            }),
        },
        RunsOn::Simulator => Results::Simulated {
            metrics: Box::new(of_linux(&metrics)),
        },
    }
}

/// The same with every run on Linux changed.
fn changed(change: fn(&mut PointLine)) -> Emulation {
    let mut emulated = emulation(0);
    let points = emulated.points.iter_mut();
    points
        .filter(|point| point.runs_on() == RunsOn::Linux)
        .for_each(change);
    emulated
}

fn judged(name: &str, emulated: &Emulation) -> Vec<ClaimLine> {
    let folder = std::env::temp_dir().join(format!("tailwater-{name}-{}", std::process::id()));
    let file = folder.join("fig1.toml");
    fs::create_dir_all(&folder).unwrap();
    fs::write(&file, FIGURE).unwrap();
    let found = catalogue::find(&[file.display().to_string()]).unwrap();
    let figure = &found[0].paper.experiments[0];
    let live = figure.live.as_ref().unwrap();
    let overrides = Overrides {
        sets: live
            .set
            .iter()
            .map(|(key, text)| format!("{key}={text}"))
            .collect(),
        seeds: Some(live.runs),
        ..Overrides::default()
    };
    let source = Source::new("fig1", catalogue::scenario_text(&figure.source).unwrap());
    let scenario = Scenario::load(source, &overrides).unwrap();
    let bed = BedFigure {
        figure,
        live,
        run: figure,
    };
    let judged = judge(&[bed], (&scenario, &folder), emulated).unwrap();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "the figure alone is left");
    fs::remove_dir_all(folder).unwrap();
    judged.concat()
}

#[test]
fn orders_and_ratios_are_judged_on_linux_with_the_twin_beside() {
    let judged = judged("judged", &emulation(1));
    let ids: Vec<&str> = judged.iter().map(|line| line.claim.as_str()).collect();
    assert_eq!(
        ids,
        [
            "half", "order", "of-dctcp", "timeouts", "late", "waits", "cycle", "slower"
        ]
    );
    assert_eq!(judged[0].verdict, "reproduced");
    assert_eq!(judged[0].linux.text, "48 \u{b1} 0 %");
    assert_eq!(judged[0].simulated.ours, ClaimValue::Number(48.0));
    assert_eq!(judged[0].valid_runs, 3, "the other one does not count");
    let scale = "half of the flows; 100 Mbit/s instead of 1 Gbit/s, 4 runs of each scheme";
    assert_eq!(judged[0].scale, scale);
    assert_eq!(judged[1].verdict, "reproduced", "{:?}", judged[1]);
}

#[test]
fn timeouts_are_those_of_each_flow_and_deadlines_begin_where_it_would_end_alone() {
    let judged = judged("counts", &emulation(0));
    assert_eq!(judged[3].verdict, "reproduced", "{:?}", judged[3]);
    assert_eq!(judged[3].linux.ours, ClaimValue::Number(0.1));
    assert_eq!(judged[4].verdict, "reproduced", "{:?}", judged[4]);
}

#[test]
fn the_queue_what_is_read_and_losses_are_judged_over_time() {
    let judged = judged("over-time", &emulation(0));
    assert_eq!(
        judged[5].linux.ours,
        ClaimValue::Words("50 %".to_owned()),
        "{:?}",
        judged[5]
    );
    assert_eq!(judged[5].verdict, "reproduced", "{:?}", judged[5]);
    assert_eq!(
        judged[6].linux.ours,
        ClaimValue::Number(2.0),
        "{:?}",
        judged[6]
    );
    assert_eq!(judged[6].verdict, "reproduced", "{:?}", judged[6]);
    assert_eq!(
        judged[7].linux.ours,
        ClaimValue::Number(0.25),
        "{:?}",
        judged[7]
    );
}

#[test]
fn losses_that_nobody_hears_of_are_not_none() {
    let told = changed(|line| line.losses = None);
    let judged = judged("unheard", &told);
    assert_eq!(judged[6].verdict, "not testable");
    let reason = &judged[6].reason;
    assert!(
        reason.starts_with("when senders noticed losses"),
        "{reason}"
    );
    assert_eq!(judged[5].verdict, "reproduced", "the queue is told");
}

#[test]
fn what_a_kernel_does_not_tell_is_not_zero() {
    let told = changed(|line| {
        for flow in line.flows.iter_mut().flatten() {
            flow.timeouts = None;
        }
        if let Results::Linux { metrics, .. } = &mut line.results {
            metrics.queue_mean_bytes = None;
        }
        line.queue = None;
    });
    let judged = judged("untold", &told);
    for (place, reason) in [
        (0, "runs have no queue_mean_bytes: Linux did not tell it"),
        (5, "runs have no queue_bytes over time: it was not recorded"),
    ] {
        assert_eq!(judged[place].verdict, "not testable");
        assert_eq!(judged[place].reason, reason);
    }
    assert_eq!(judged[3].verdict, "not testable");
    let reason = &judged[3].reason;
    assert!(
        reason.starts_with("flows have no timeouts: kernels"),
        "{reason}"
    );
    assert_eq!(judged[4].verdict, "reproduced", "the others are told");
}

#[test]
fn flows_that_were_not_recorded_are_not_none() {
    let judged = judged("unrecorded", &changed(|line| line.flows = None));
    assert_eq!(judged[1].verdict, "not testable");
    assert_eq!(
        judged[1].reason,
        "flows have no fct_us: they were not recorded"
    );
}

#[test]
fn what_did_not_run_is_not_testable() {
    let judged = judged("skipped", &emulation(0));
    assert_eq!(judged[2].verdict, "not testable");
    assert_eq!(
        judged[2].reason,
        "dctcp did not run: this kernel has no dctcp"
    );
}

#[test]
fn runs_that_are_not_valid_reproduce_nothing() {
    let judged = judged("disowned", &emulation(2));
    for line in &judged[..2] {
        assert_eq!(line.verdict, "not valid");
        let reason = &line.reason;
        assert!(reason.starts_with("2 of 4 runs are valid of"), "{reason}");
        assert!(reason.ends_with("cores 99 % busy"), "{reason}");
    }
}
