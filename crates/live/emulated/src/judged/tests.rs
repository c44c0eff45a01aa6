use claims::catalogue;
use scenario::{Overrides, Source};

use super::*;

/// A figure whose queue is to be half as long with HSCC, and long flows to be equally fast.
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

/// What the other program tells of four runs of both schemes, `invalid` of which do not count.
fn lines(invalid: usize) -> Vec<Value> {
    let set = json!({ "workload.senders": "1" });
    let mut lines = vec![
        json!({ "type": "skipped", "scheme": "dctcp", "set": set, "reason": "this kernel has no dctcp" }),
        json!({ "type": "bed", "set": set, "rate_bps": 1e8, "scenario_rate_bps": 1e9 }),
    ];
    for world in WORLDS {
        // Completions at 36 and 35 ms are 26 and 25 ms from the start, of which 5.5 ms would do alone.
        // Losses are 5 and 10 ms apart.
        for (scheme, queue, end, loss) in [
            ("cubic", 10_000.0, 36_000.0, 17_000.0),
            ("hscc+cubic", 5_200.0, 35_000.0, 22_000.0),
        ] {
            for run in 0..4 {
                let valid = world != "linux" || run >= invalid;
                lines.push(json!({
                    "type": "point", "world": world, "scheme": scheme, "run": run, "set": set,
                    "metrics": {
                        "goodput_bps": 1e6, "fct_mean_us": null, "fct_p50_us": null, "fct_p95_us": null,
                        "fct_p99_us": null, "fct_max_us": null, "timeouts": 0, "tail_timeouts": null,
                        "syn_timeouts": 0, "timeout_rate": null, "retransmissions": 0, "after_timeout": null,
                        "packets": 7, "fairness": null, "drops": 0, "marks": null,
                        "threshold_crossings": null, "queue_mean_bytes": queue, "queue_p5_bytes": null,
                        "queue_p50_bytes": 0, "queue_p95_bytes": 0, "queue_max_bytes": 0,
                        "flows_completed": 1, "flows_failed": 0, "flows_unfinished": 0,
                    },
                    "live": { "valid": valid, "reasons": if valid { json!([]) } else { json!(["cores 99 % busy"]) } },
                    "flows": [[10_000.0, end, 10_000, 10, 2, 1, 0, 5_500.0]],
                    "queue": [[0.0, 0], [10_000.0, 700], [30_000.0, 0]],
                    "arrivals": [[11_000.0, 0, 7_000], [19_000.0, 0, 1_000], [20_000.0, 0, 2_000]],
                    "losses": [[12_000.0, 0, "fast_retransmit"], [loss, 0, "timeout"]],
                    "ended_us": 40_000.0,
                }));
            }
        }
    }
    lines
}

fn judged(name: &str, lines: &[Value]) -> Vec<Value> {
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
    let bed = Bed {
        figure,
        live,
        run: figure,
    };
    let judged = judge(&[bed], (&scenario, &folder), lines).unwrap();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "the figure alone is left");
    fs::remove_dir_all(folder).unwrap();
    judged.concat()
}

#[test]
fn orders_and_ratios_are_judged_on_linux_with_the_twin_beside() {
    let judged = judged("judged", &lines(1));
    let ids: Vec<&str> = judged
        .iter()
        .filter_map(|line| line["claim"].as_str())
        .collect();
    assert_eq!(
        ids,
        [
            "half", "order", "of-dctcp", "timeouts", "late", "waits", "cycle", "slower"
        ]
    );
    assert_eq!(judged[0]["verdict"], "reproduced");
    assert_eq!(judged[0]["linux"]["text"], "48 \u{b1} 0 %");
    assert_eq!(judged[0]["simulated"]["ours"], 48.0);
    assert_eq!(judged[0]["valid_runs"], 3, "the other one does not count");
    let scale = "half of the flows; 100 Mbit/s instead of 1 Gbit/s, 4 runs of each scheme";
    assert_eq!(judged[0]["scale"], scale);
    assert_eq!(judged[1]["verdict"], "reproduced", "{}", judged[1]);
}

#[test]
fn timeouts_are_those_of_each_flow_and_deadlines_begin_where_it_would_end_alone() {
    let judged = judged("counts", &lines(0));
    assert_eq!(judged[3]["verdict"], "reproduced", "{}", judged[3]);
    assert_eq!(judged[3]["linux"]["ours"], 0.1);
    assert_eq!(judged[4]["verdict"], "reproduced", "{}", judged[4]);
}

#[test]
fn the_queue_what_is_read_and_losses_are_judged_over_time() {
    let judged = judged("over-time", &lines(0));
    assert_eq!(judged[5]["linux"]["ours"], "50 %", "{}", judged[5]);
    assert_eq!(judged[5]["verdict"], "reproduced", "{}", judged[5]);
    assert_eq!(judged[6]["linux"]["ours"], 2.0, "{}", judged[6]);
    assert_eq!(judged[6]["verdict"], "reproduced", "{}", judged[6]);
    assert_eq!(judged[7]["linux"]["ours"], 0.25, "{}", judged[7]);
}

#[test]
fn losses_that_nobody_hears_of_are_not_none() {
    let mut told = lines(0);
    for line in &mut told {
        if line["world"] == "linux" {
            line["losses"] = Value::Null;
        }
    }
    let judged = judged("unheard", &told);
    assert_eq!(judged[6]["verdict"], "not testable");
    let reason = judged[6]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("when senders noticed losses"),
        "{reason}"
    );
    assert_eq!(judged[5]["verdict"], "reproduced", "the queue is told");
}

#[test]
fn what_a_kernel_does_not_tell_is_not_zero() {
    let mut told = lines(0);
    for line in &mut told {
        if line["world"] == "linux" {
            line["flows"][0][5] = Value::Null;
        }
    }
    let judged = judged("untold", &told);
    assert_eq!(judged[3]["verdict"], "not testable");
    let reason = judged[3]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("flows have no timeouts: kernels"),
        "{reason}"
    );
    assert_eq!(judged[4]["verdict"], "reproduced", "the others are told");
}

#[test]
fn what_did_not_run_is_not_testable() {
    let judged = judged("skipped", &lines(0));
    assert_eq!(judged[2]["verdict"], "not testable");
    assert_eq!(
        judged[2]["reason"],
        "dctcp did not run: this kernel has no dctcp"
    );
}

#[test]
fn runs_that_are_not_valid_reproduce_nothing() {
    let judged = judged("disowned", &lines(2));
    for line in &judged[..2] {
        assert_eq!(line["verdict"], "not valid");
        let reason = line["reason"].as_str().unwrap();
        assert!(reason.starts_with("2 of 4 runs are valid of"), "{reason}");
        assert!(reason.ends_with("cores 99 % busy"), "{reason}");
    }
}
