//! Turns the runs on Linux or in the simulator into a run folder for judging claims.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use base::cast::real;
use claims::{MeasuredRun, Of};
use plan::PointSpec;
use plan::workload::Plan;
use protocol::{FlowRow, LinuxMetrics, LossKind, PointLine, Results, RunsOn};
use record::trace::{EventKind, ObservedSeries};
use results::{Access, RunInfo, Store};
use scenario::{Problem, Problems, Scenario};
use sim::metrics::{FlowRecord, Metrics, Outcome, PortRecord, RunCost};

use super::runs::Emulation;

/// The runs of one side, each as a point of `scenario`; `folder` exists while they are assembled. An invalid run has no
/// result.
pub(super) fn measured(
    scenario: &Scenario,
    folder: &Path,
    (world, emulated): (RunsOn, &Emulation),
) -> Result<MeasuredRun, Problems> {
    let damaged = |error: &dyn std::fmt::Display| Problem::new(error.to_string());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| damaged(&error))?;
    }
    let store = Store::open(folder, scenario, None, Access::Scratch)?;
    store.begin(scenario)?;
    for point in scenario.points() {
        let run = point.index % scenario.seeds() as usize;
        let mut lines = emulated.points.iter();
        let line = lines.find(|line| is_of(line, point, (world, run)));
        let result = match line {
            None => Err("it did not run".to_owned()),
            Some(line) => match line.live() {
                Some(live) if !live.valid => Err(live.reasons.join("; ")),
                _ => Ok(outcome(point, line)),
            },
        };
        let told = line.zip(record::trace::TracePlan::of(point));
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
    MeasuredRun::open(folder)
}

/// Whether a line is run number `run` for the scheme and the settings of a point.
fn is_of(line: &PointLine, point: &PointSpec, (world, run): (RunsOn, usize)) -> bool {
    let mut set = point.set.iter();
    line.runs_on() == world
        && line.run as usize == run
        && line.scheme == point.scheme
        && set.all(|(key, text)| line.set.get(key) == Some(text))
}

/// A run as the outcome of a simulation.
fn outcome(point: &PointSpec, line: &PointLine) -> Outcome {
    let metrics = match &line.results {
        Results::Linux { metrics, .. } => of_linux(metrics),
        Results::Simulated { metrics } => (**metrics).clone(),
    };
    Outcome {
        metrics,
        groups: Vec::new(),
        cost: RunCost {
            simulated_us: line.ended_us.unwrap_or(f64::NAN),
            packet_hops: 0,
            events: 0,
            cpu_us: 0.0,
            ns_per_hop: 0.0,
        },
        flows: flows(point, line),
        ports: vec![bottleneck(point)],
        tiers: Vec::new(),
        deadlock: String::new(),
        collectives: Vec::new(),
        digest: 0,
    }
}

/// The metrics of Linux as metrics of a simulation. Counts and queues that Linux does not report are zero there;
/// [`untold`] prevents claims from being judged by them.
pub(super) fn of_linux(linux: &LinuxMetrics) -> Metrics {
    let real = |number: Option<f64>| number.unwrap_or(f64::NAN);
    let count = |number: Option<u64>| number.unwrap_or(0);
    Metrics {
        goodput_bps: real(linux.goodput_bps),
        fct_mean_us: real(linux.fct_mean_us),
        fct_p50_us: real(linux.fct_p50_us),
        fct_p95_us: real(linux.fct_p95_us),
        fct_p99_us: real(linux.fct_p99_us),
        fct_max_us: real(linux.fct_max_us),
        timeouts: count(linux.timeouts),
        tail_timeouts: count(linux.tail_timeouts),
        syn_timeouts: count(linux.syn_timeouts),
        timers: count(linux.timeouts) + count(linux.syn_timeouts),
        timeout_rate: real(linux.timeout_rate),
        retransmissions: count(linux.retransmissions),
        after_timeout: count(linux.after_timeout),
        packets: count(linux.packets),
        fairness: real(linux.fairness),
        drops: count(linux.drops),
        marks: count(linux.marks),
        threshold_crossings: count(linux.threshold_crossings),
        queue_mean_bytes: linux.queue_mean_bytes.unwrap_or(0.0),
        queue_p5_bytes: count(linux.queue_p5_bytes),
        queue_p50_bytes: count(linux.queue_p50_bytes),
        queue_p95_bytes: count(linux.queue_p95_bytes),
        queue_max_bytes: count(linux.queue_max_bytes),
        flows_completed: linux.flows_completed,
        flows_failed: linux.flows_failed,
        flows_unfinished: linux.flows_unfinished,
        ..Metrics::NONE
    }
}

/// The series of a run, as a file.
fn series(
    point: &PointSpec,
    line: &PointLine,
    (plan, path): (&record::trace::TracePlan, &Path),
) -> io::Result<()> {
    let mut told = ObservedSeries::new(plan, point, File::create(path)?)?;
    let port = Plan::of(point).bottleneck;
    for (at, bytes) in line.queue.iter().flatten() {
        told.queue(port, *at, real(*bytes));
    }
    for (at, flow, bytes) in line.arrivals.iter().flatten() {
        told.arrived(*flow, *at, *bytes);
    }
    for (at, flow, kind) in line.losses.iter().flatten() {
        let kind = match kind {
            LossKind::Timeout => EventKind::Timeout,
            LossKind::FastRetransmit => EventKind::FastRetransmit,
        };
        told.event(kind, *flow, *at);
    }
    told.finish()
}

/// The port with the reported queue. Its metrics are among those of the run.
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
        drops_pool: 0,
        drops_threshold: 0,
        drops_headroom: 0,
        drops_fault: 0,
        marks: 0,
        threshold_crossings: 0,
        queue_mean_bytes: 0.0,
        queue_p50_bytes: 0,
        queue_p95_bytes: 0,
        queue_p99_bytes: 0,
        queue_max_bytes: 0,
        pauses: 0,
        paused_us: 0.0,
        deadlock: 0,
    }
}

/// Why some run of a scheme on Linux lacks the measure of a claim, if one does.
pub(super) fn untold(of: &Of, emulated: &Emulation, scheme: &str) -> Option<String> {
    let points = emulated.points.iter().filter(|line| line.scheme == scheme);
    let runs = points.filter(|line| line.runs_on() == RunsOn::Linux);
    let any = |is_untold: &dyn Fn(&PointLine) -> bool| runs.clone().any(is_untold);
    match of {
        Of::Metric(name) => {
            let is_untold = |line: &PointLine| match &line.results {
                Results::Linux { metrics, live } => live.valid && is_untold_metric(metrics, name),
                Results::Simulated { .. } => false,
            };
            any(&is_untold).then(|| format!("runs have no {name}: Linux did not tell it"))
        }
        Of::Flows { column, .. } => {
            if any(&|line| line.flows.is_none()) {
                return Some(format!("flows have no {column}: they were not recorded"));
            }
            let (_, of, lacks) = COUNTS.iter().find(|(name, ..)| name == column)?;
            let is_untold =
                |line: &PointLine| line.flows.iter().flatten().any(|flow| of(flow).is_none());
            any(&is_untold).then(|| format!("flows have no {column}: {lacks}"))
        }
        Of::Series { column, .. } => {
            let is_untold = |line: &PointLine| line.queue.is_none() || line.arrivals.is_none();
            any(&is_untold).then(|| format!("runs have no {column} over time: it was not recorded"))
        }
        Of::Events { .. } => any(&|line| line.losses.is_none()).then(|| UNNOTICED.to_owned()),
        Of::Ports { .. } | Of::Model { .. } => None,
    }
}

/// Whether a metric is zero because Linux does not report it. Other missing metrics are `NaN`.
fn is_untold_metric(metrics: &LinuxMetrics, name: &str) -> bool {
    match name {
        "timeouts" => metrics.timeouts.is_none(),
        "syn_timeouts" => metrics.syn_timeouts.is_none(),
        "retransmissions" => metrics.retransmissions.is_none(),
        "packets" => metrics.packets.is_none(),
        "drops" => metrics.drops.is_none(),
        "queue_mean_bytes" => metrics.queue_mean_bytes.is_none(),
        "queue_p5_bytes" => metrics.queue_p5_bytes.is_none(),
        "queue_p50_bytes" => metrics.queue_p50_bytes.is_none(),
        "queue_p95_bytes" => metrics.queue_p95_bytes.is_none(),
        "queue_max_bytes" => metrics.queue_max_bytes.is_none(),
        _ => false,
    }
}

/// The reported flows, each with its facts from the plan. A flow is late if it takes `workload.deadline` longer than
/// alone.
fn flows(point: &PointSpec, line: &PointLine) -> Vec<FlowRecord> {
    let plan = Plan::of(point);
    let told = line.flows.iter().flatten();
    let both = (0..).zip(plan.flows.iter().zip(told));
    let flows = both.filter_map(|(number, (planned, told))| {
        let connection = &plan.connections[planned.connection as usize];
        let start_us = told.start_us?;
        let completion_us = told.completion_us;
        let group = &point.groups[planned.group as usize];
        let end_us = completion_us.or(line.ended_us);
        let deadline = group.keys.workload.deadline.0;
        let limit_us = told.alone_us.zip(deadline);
        let limit_us = limit_us.map(|(alone, deadline)| alone + deadline.as_micros());
        Some(FlowRecord {
            flow: number,
            group: group.name.to_string(),
            connection: planned.connection,
            round: planned.round,
            waited_for: None,
            sender: connection.sender.0,
            receiver: connection.receiver.0,
            size_bytes: planned.size,
            received_bytes: told.received,
            start_us,
            first_byte_us: None.into(),
            completion_us: completion_us.into(),
            fct_us: (completion_us.filter(|_| planned.size.is_some()))
                .map(|end| end - start_us)
                .into(),
            slowdown: None.into(),
            acknowledged_us: None.into(),
            buffered_us: None.into(),
            packets: told.packets.unwrap_or(0),
            retransmissions: told.retransmissions.unwrap_or(0),
            after_timeout: 0,
            timeouts: told.timeouts.unwrap_or(0),
            tail_timeouts: 0,
            syn_timeouts: told.syn_timeouts.unwrap_or(0),
            tail_probes: 0,
            window_probes: 0,
            drops: 0,
            late: end_us
                .zip(limit_us)
                .is_some_and(|(end, limit)| end - start_us > limit),
            failed: false,
            failure: None,
            pfc_victim: None,
            breakdown: None,
        })
    });
    flows.collect()
}

/// A column of a flow.
type FlowColumn = fn(&FlowRow) -> Option<f64>;

/// Columns that not every kernel or run reports, and the reason if they are missing.
const COUNTS: [(&str, FlowColumn, &str); 5] = [
    ("packets", |flow| flow.packets.map(f64::from), SEGMENTS),
    (
        "retransmissions",
        |flow| flow.retransmissions.map(f64::from),
        SEGMENTS,
    ),
    ("timeouts", |flow| flow.timeouts.map(f64::from), TIMERS),
    (
        "syn_timeouts",
        |flow| flow.syn_timeouts.map(f64::from),
        TIMERS,
    ),
    (
        "late",
        |flow| flow.alone_us,
        "what flows take alone is not known",
    ),
];
const UNNOTICED: &str = "when senders noticed losses is not told: it needs programs in the kernel, which this build lacks \
                         or the kernel refused";
const SEGMENTS: &str = "this kernel does not count segments of a connection";
const TIMERS: &str = "kernels count timers of a connection (tcpi_total_rto) since Linux 6.7";
