//! What one world told, as a run folder by which claims are judged.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use claims::Measured;
use plan::PointSpec;
use plan::workload::Plan;
use record::trace::{EventKind, Told};
use results::{Access, RunInfo, Store};
use scenario::{Problem, Problems, Scenario};
use serde_json::{Value, json};
use sim::metrics::{Cost, FlowRecord, Metrics, Outcome, PortRecord};

/// The runs of `world` among `lines`, each a point of `scenario`; `folder` is there while they are put together.
/// A run that is not valid has no result.
pub(super) fn measured(
    scenario: &Scenario,
    folder: &Path,
    (world, lines): (&str, &[Value]),
) -> Result<Measured, Problems> {
    let damaged = |error: &dyn std::fmt::Display| Problem::new(error.to_string());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| damaged(&error))?;
    }
    let store = Store::open(folder, scenario, None, Access::Scratch)?;
    store.begin(scenario)?;
    for point in scenario.points() {
        let run = point.index % scenario.seeds() as usize;
        let line = lines.iter().find(|line| is_of(line, point, (world, run)));
        let result = match line {
            None => Err("it did not run".to_owned()),
            Some(line) if line["live"]["valid"] == false => Err(reasons(line)),
            Some(line) => Ok(outcome(point, line).map_err(|error| damaged(&error))?),
        };
        let told = line.zip(record::trace::Plan::of(point));
        match (result, told) {
            (Ok(outcome), Some((line, plan))) => {
                let files = store.files(point, scenario);
                let written = series(point, line, (&plan, files.series()));
                written.map_err(|error| damaged(&error))?;
                store.keep_with(point, scenario, outcome, &files)
            }
            (result, _) => store.keep(point, scenario, &result),
        }
        .map_err(|error| damaged(&error))?;
    }
    store.assemble(scenario, |_| ())?;
    store.write_info(&RunInfo::default())?;
    store.complete()?;
    drop(store);
    Measured::open(folder)
}

/// Whether a line is run number `run` of the scheme and the settings of a point.
fn is_of(line: &Value, point: &PointSpec, (world, run): (&str, usize)) -> bool {
    let mut set = point.set.iter();
    line["type"] == "point"
        && line["world"] == world
        && line["run"] == run
        && line["scheme"] == point.scheme
        && set.all(|(key, text)| line["set"][key] == *text)
}

/// Why a run does not count.
fn reasons(line: &Value) -> String {
    let reasons = line["live"]["reasons"].as_array().into_iter().flatten();
    let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
    reasons.join("; ")
}

/// A run as the outcome of a simulation. What Linux does not tell is zero; no claim about it is judged.
fn outcome(point: &PointSpec, line: &Value) -> Result<Outcome, serde_json::Error> {
    let mut metrics = json!({
        "tail_timeouts": 0, "after_timeout": 0, "marks": 0, "threshold_crossings": 0,
        "flows_late": 0, "goodput_p50_bps": null, "goodput_weighted_bps": null, "breakdown": null,
        "queue_mean_bytes": 0.0, "queue_p5_bytes": 0, "queue_p50_bytes": 0, "queue_p95_bytes": 0,
        "queue_max_bytes": 0, "tail_probes": 0, "window_probes": 0, "bound_p50_us": null, "bound_p99_us": null,
        "bound_max_us": null, "active": null, "held_up": null,
    });
    let count = |name: &str| line["metrics"][name].as_u64().unwrap_or(0);
    metrics["timers"] = json!(count("timeouts") + count("syn_timeouts"));
    for (name, value) in line["metrics"].as_object().into_iter().flatten() {
        if !value.is_null() || metrics.get(name).is_none() {
            metrics[name] = value.clone();
        }
    }
    Ok(Outcome {
        metrics: serde_json::from_value::<Metrics>(metrics)?,
        groups: Vec::new(),
        cost: Cost {
            simulated_us: line["ended_us"].as_f64().unwrap_or(f64::NAN),
            packet_hops: 0,
            events: 0,
            cpu_us: 0.0,
            ns_per_hop: 0.0,
        },
        flows: flows(point, line),
        ports: vec![bottleneck(point)],
        tiers: Vec::new(),
        digest: 0,
    })
}

/// What a run did over time, as the file of its series.
fn series(
    point: &PointSpec,
    line: &Value,
    (plan, path): (&record::trace::Plan, &Path),
) -> io::Result<()> {
    let mut told = Told::new(plan, point, File::create(path)?)?;
    let rows = |name: &str| line[name].as_array().into_iter().flatten();
    let port = Plan::of(point).bottleneck;
    for row in rows("queue") {
        if let Some((at, bytes)) = row[0].as_f64().zip(row[1].as_f64()) {
            told.queue(port, at, bytes);
        }
    }
    for row in rows("arrivals") {
        let connection = row[1].as_u64().and_then(|flow| u32::try_from(flow).ok());
        if let Some(((at, flow), bytes)) = row[0].as_f64().zip(connection).zip(row[2].as_u64()) {
            told.arrived(flow, at, bytes);
        }
    }
    for row in rows("losses") {
        let kind = match row[2].as_str() {
            Some("timeout") => EventKind::Timeout,
            _ => EventKind::FastRetransmit,
        };
        let flow = row[1].as_u64().and_then(|flow| u32::try_from(flow).ok());
        if let Some((at, flow)) = row[0].as_f64().zip(flow) {
            told.event(kind, flow, at);
        }
    }
    told.finish()
}

/// The port whose queue is told. What its metrics would be is among those of the run.
fn bottleneck(point: &PointSpec) -> PortRecord {
    PortRecord {
        port: Plan::of(point).bottleneck.0,
        tier: String::new(),
        from: "switch".to_owned(),
        to: "host".to_owned(),
        bottleneck: true,
        packets: 0,
        bytes: 0,
        drops: 0,
        marks: 0,
        threshold_crossings: 0,
        queue_mean_bytes: 0.0,
        queue_p50_bytes: 0,
        queue_p95_bytes: 0,
        queue_p99_bytes: 0,
        queue_max_bytes: 0,
    }
}

/// Why losses over time are not known of a scheme, if they are not.
pub(super) fn unnoticed(lines: &[Value], scheme: &str) -> Option<String> {
    let mut points = linux(lines, scheme);
    let is_untold = points.any(|line| line["losses"].is_null());
    let why = "when senders noticed losses is not told: it needs programs in the kernel, which this build lacks or the kernel refused";
    is_untold.then(|| why.to_owned())
}

fn linux<'a>(lines: &'a [Value], scheme: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| {
        line["type"] == "point" && line["world"] == "linux" && line["scheme"] == scheme
    })
}

/// What a row of a flow lacks of a column that a claim is about, if anything.
pub(super) fn untold(column: &str, lines: &[Value], scheme: &str) -> Option<String> {
    let (_, place, lacks) = COUNTS.iter().find(|(name, ..)| *name == column)?;
    let is_untold = linux(lines, scheme).any(|line| {
        let mut flows = line["flows"].as_array().into_iter().flatten();
        flows.any(|flow| flow[*place].is_null())
    });
    is_untold.then(|| format!("flows have no {column}: {lacks}"))
}

/// The flows that were told, each with what the plan says of it. One is late that takes `workload.deadline` longer than
/// alone.
fn flows(point: &PointSpec, line: &Value) -> Vec<FlowRecord> {
    let plan = Plan::of(point);
    let told = line["flows"].as_array().into_iter().flatten();
    let both = (0..).zip(plan.flows.iter().zip(told));
    let flows = both.filter_map(|(number, (planned, told))| {
        let connection = &plan.connections[planned.connection as usize];
        let start_us = told[0].as_f64()?;
        let completion_us = told[1].as_f64();
        let group = &point.groups[planned.group as usize];
        let count = |place: usize| {
            let count = told[place].as_u64().unwrap_or(0);
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let end_us = completion_us.or(line["ended_us"].as_f64());
        let deadline = group.keys.workload.deadline.0;
        let limit_us = told[ALONE].as_f64().zip(deadline);
        let limit_us = limit_us.map(|(alone, deadline)| alone + deadline.as_micros());
        Some(FlowRecord {
            flow: number,
            group: group.name.to_string(),
            connection: planned.connection,
            round: planned.round,
            sender: connection.sender.0,
            receiver: connection.receiver.0,
            size_bytes: planned.size,
            received_bytes: told[2].as_u64().unwrap_or(0),
            start_us,
            first_byte_us: None.into(),
            completion_us: completion_us.into(),
            fct_us: (completion_us.filter(|_| planned.size.is_some()))
                .map(|end| end - start_us)
                .into(),
            slowdown: None.into(),
            acknowledged_us: None.into(),
            buffered_us: None.into(),
            packets: count(PACKETS),
            retransmissions: count(RETRANSMISSIONS),
            after_timeout: 0,
            timeouts: count(TIMEOUTS),
            tail_timeouts: 0,
            syn_timeouts: count(SYN_TIMEOUTS),
            tail_probes: 0,
            window_probes: 0,
            drops: 0,
            late: end_us
                .zip(limit_us)
                .is_some_and(|(end, limit)| end - start_us > limit),
            failed: false,
            breakdown: None,
        })
    });
    flows.collect()
}

/// Where the row of a flow has its counts, and how long it takes alone.
const PACKETS: usize = 3;
const RETRANSMISSIONS: usize = 4;
const TIMEOUTS: usize = 5;
const SYN_TIMEOUTS: usize = 6;
const ALONE: usize = 7;

/// Columns that not every kernel or run tells, their place in a row, and what is lacking then.
const COUNTS: [(&str, usize, &str); 5] = [
    ("packets", PACKETS, SEGMENTS),
    ("retransmissions", RETRANSMISSIONS, SEGMENTS),
    ("timeouts", TIMEOUTS, TIMERS),
    ("syn_timeouts", SYN_TIMEOUTS, TIMERS),
    ("late", ALONE, "what flows take alone is not known"),
];
const SEGMENTS: &str = "this kernel does not count segments of a connection";
const TIMERS: &str = "kernels count timers of a connection (tcpi_total_rto) since Linux 6.7";
