//! A scenario on real stacks and, with the network as it was found, in the simulator.
//!
//! What is learnt is told as JSON values, in the order in which it is learnt; nothing here speaks to
//! people.

use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use machine::{Sysctl, clock, interrupt};
use plan::PointSpec;
use plan::workload::Plan;
use scenario::{Problems, Scenario};
use serde_json::{Map, Value, json};

use crate::bed::Bed;
use crate::linux::alone::{self, Unknown};
use crate::linux::along::{self, Along};
use crate::linux::calibrate::{self, RateChoice, Unfit};
use crate::linux::cell::{self, Arm, Cell};
use crate::linux::lan::{Lan, Speed};
use crate::linux::measure::{self, ToldFlow};
use crate::linux::paths;
use crate::linux::starts::Starts;
use crate::linux::traffic::Work;
use crate::linux::twin::{self, Found};

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Order {
    /// How fast the links are.
    pub rate: RateChoice,
    /// What the user asks of every host besides.
    pub sysctls: Vec<Sysctl>,
    /// How often every scheme runs.
    pub runs: NonZeroU32,
    /// Whether the twins are simulated.
    pub simulate: bool,
    /// The run folder, if there is one: traces of starts go there, which twins replay.
    pub folder: Option<PathBuf>,
    /// Whether packets of the first run of every scheme go there, too.
    pub captures: bool,
    /// How much is told of every run.
    pub detail: Detail,
}

/// How much is told of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub enum Detail {
    /// Its metrics.
    Metrics,
    /// Every flow, too.
    Flows,
    /// The queue, what is read and the losses over time, too.
    Series,
}

/// Why it was not done.
#[derive(Debug)]
pub enum Failure {
    /// Linux cannot have the scenario.
    Problems(Problems),
    /// The machine lacks something, or refused.
    Machine(String),
    /// A simulation failed, or a file.
    Failed(String),
    /// The input was wrong, which has been said.
    Refused,
    /// A signal was heard.
    Interrupted,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted if interrupt::heard().is_some() => Self::Interrupted,
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                Self::Machine(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Problems(problems) => problems.into(),
            Unknown::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<tun::Failure> for Failure {
    fn from(failure: tun::Failure) -> Self {
        match failure {
            tun::Failure::Problems(problems) => problems.into(),
            tun::Failure::Io(error) => error.into(),
        }
    }
}

/// Runs every point of `scenario`, whose seeds are the runs, and tells each result.
///
/// # Errors
/// If Linux cannot have the scenario, or the machine refuses. The network is removed all the same.
pub fn emulate(
    scenario: &Scenario,
    order: &Order,
    tell: &mut dyn FnMut(Value),
) -> Result<(), Failure> {
    // Nothing is made if any part of the scenario is refused.
    let cells = cell::all(scenario)?;
    tell(json!({
        "type": "emulation",
        "scenario": scenario.name(),
        "runs": order.runs,
        "version": sim::VERSION,
    }));
    for cell in &cells {
        for (point, reason) in &cell.left_out {
            tell(json!({
                "type": "skipped", "scheme": point.scheme, "set": set(point), "reason": reason,
            }));
        }
        run_cell(cell, order, tell)?;
    }
    Ok(())
}

/// Makes the network of the first point of `scenario` and leaves it. Returns what it is.
///
/// # Errors
/// As [`emulate`].
pub fn up(scenario: &Scenario, rate: RateChoice, sysctls: &[Sysctl]) -> Result<Value, Failure> {
    let point = &scenario.points()[0];
    let bed = bed(point, sysctls)?;
    let lan = Lan::up(&bed, calibrate::planned(&bed))?;
    let speed = fit(calibrate::speed(&bed, &lan, &Plan::of(point), rate))?;
    let nodes = lan.namespaces().iter().map(|node| node.name().to_owned());
    let nodes: Vec<_> = nodes.collect();
    let run = lan.keep()?;
    Ok(json!({ "type": "up", "run": run, "nodes": nodes, "rate_bps": speed.real }))
}

fn run_cell(cell: &Cell<'_>, order: &Order, tell: &mut dyn FnMut(Value)) -> Result<(), Failure> {
    let Some(first) = cell.arms.first() else {
        return Ok(());
    };
    let first = first.points[0];
    let bed = bed(first, &order.sysctls)?;
    let lan = Lan::up(&bed, calibrate::planned(&bed))?;
    let plan = Plan::of(first);
    let speed = fit(calibrate::speed(&bed, &lan, &plan, order.rate))?;
    let (rtt_us, links) = calibrate::round_trip(&bed, &lan, &plan)?;
    let mut found = Found {
        speed,
        rtt_us,
        links,
        spread_us: 0.0,
    };
    tell(describe(cell, order, &bed, &found));
    let alone = cell.arms.iter().map(|arm| match &order.folder {
        Some(folder) if order.detail >= Detail::Flows => {
            alone::completions_us(arm, (&bed, &found), folder)
        }
        _ => Ok(Vec::new()),
    });
    let alone = alone.collect::<Result<Vec<_>, _>>()?;
    let mut late = Vec::new();
    let mut starts: Vec<Vec<Option<Starts>>> = vec![Vec::new(); cell.arms.len()];
    for run in 0..order.runs.get() {
        for (place, (arm, starts)) in cell.arms.iter().zip(&mut starts).enumerate() {
            let tell = &mut |mut told: Value| {
                add_alone(&mut told, &alone[place]);
                tell(told);
            };
            let begun = live_point(arm, run, order, (&bed, &lan, &found), tell)?;
            late.extend(begun.late_us);
            starts.push(begun.starts);
        }
    }
    late.sort_by(f64::total_cmp);
    // A spread that is even has twice its mean.
    found.spread_us = 2.0 * late.get(late.len() / 2).copied().unwrap_or(0.0);
    // The simulator would take the cores from the kernel.
    drop(lan);
    if order.simulate {
        for ((arm, starts), alone) in cell.arms.iter().zip(starts).zip(&alone) {
            let tell = &mut |mut told: Value| {
                add_alone(&mut told, alone);
                tell(told);
            };
            let starts = starts.into_iter().collect::<Option<Vec<_>>>();
            simulate(arm, (&bed, &found), starts.unwrap_or_default(), order, tell)?;
        }
    }
    Ok(())
}

/// The bed of a point with these settings of its hosts besides.
fn bed(point: &PointSpec, sysctls: &[Sysctl]) -> Result<Bed, Problems> {
    let mut bed = Bed::of(point)?.with(sysctls);
    bed.watched = paths::busiest(&bed, &Plan::of(point).connections);
    Ok(bed)
}

fn fit(speed: Result<Speed, Unfit>) -> Result<Speed, Failure> {
    speed.map_err(|unfit| match unfit {
        Unfit::Failed(error) => error.into(),
        unfit @ Unfit::TooFast(..) => {
            Failure::Machine(format!("{unfit}; leave out --rate, or give a lower one"))
        }
    })
}

/// The network of a cell, with everything that its schemes have otherwise than the scenario says.
fn describe(cell: &Cell<'_>, order: &Order, bed: &Bed, found: &Found) -> Value {
    let of_schemes = cell.arms.iter().flat_map(|arm| &arm.stack.different);
    let mut different: Vec<Value> = Vec::new();
    for row in bed.different.iter().chain(of_schemes) {
        let row = json!({ "key": row.key, "instead": row.instead });
        if !different.contains(&row) {
            different.push(row);
        }
    }
    different.extend(order.sysctls.iter().map(|setting| {
        let instead = format!(
            "{}, as asked for; the twin has no such setting",
            setting.value
        );
        json!({ "key": setting.name(), "instead": instead })
    }));
    json!({
        "type": "bed",
        "set": set(cell.arms[0].points[0]),
        "kernel": calibrate::kernel(),
        "hosts": bed.topology.hosts().len(),
        "switches": bed.topology.nodes().len() - bed.topology.hosts().len(),
        "rate_bps": found.speed.real,
        "scenario_rate_bps": found.speed.planned,
        "burst_bytes": found.speed.burst * bed.packet_bytes(),
        "rtt_us": found.rtt_us,
        "different": different,
    })
}

/// One run of one scheme.
fn live_point(
    arm: &Arm<'_>,
    run: u32,
    order: &Order,
    (bed, lan, found): (&Bed, &Lan, &Found),
    tell: &mut dyn FnMut(Value),
) -> Result<Begun, Failure> {
    let point = arm.points[run as usize % arm.points.len()];
    let plan = Plan::of(point);
    let duration = point.keys.run.duration.0;
    let limit = duration.map_or(LONGEST, clock::duration).min(LONGEST);
    let name = format!("capture-{}-{}.pcapng", arm.number, point.scheme);
    let folder = order.folder.as_ref().filter(|_| order.captures && run == 0);
    let capture = folder.map(|folder| folder.join(&name));
    let work = Work {
        connections: &plan.connections,
        flows: &plan.flows,
        barriers: &plan.barriers,
        control: arm.stack.control,
        nodelay: point.keys.tcp.nodelay,
        laws: &arm.stack.laws,
        tos: &arm.stack.tos,
        limit,
        capture: capture.as_deref(),
        over_time: order.detail == Detail::Series,
    };
    let done = measure::run(bed, lan, found.speed, &work)?;
    if let Some(captured) = &done.captured {
        tell(json!({
            "type": "capture",
            "scheme": point.scheme,
            "set": set(point),
            "file": name,
            "packets": captured.packets,
            "lost": captured.lost,
            "left_out": captured.left_out,
        }));
    }
    let facts = done.facts();
    let reasons = facts.reasons();
    let mut live = json!({
        "kernel": calibrate::kernel(),
        "rate_bps": found.speed.real,
        "rtt_us": found.rtt_us,
        "control": arm.stack.control,
        "valid": reasons.is_empty(),
        "reasons": reasons,
        "loss_probes": done.loss_probes(),
        "ports": done.told.counts,
    });
    if let (Value::Object(live), Ok(Value::Object(facts))) =
        (&mut live, serde_json::to_value(&facts))
    {
        live.extend(facts);
    }
    let mut told = json!({
        "type": "point",
        "world": "linux",
        "scheme": point.scheme,
        "seed": point.seed,
        "run": run,
        "set": set(point),
        "metrics": done.metrics(),
        "live": live,
        "fct_us": done.completions_us(),
    });
    if order.detail >= Detail::Flows {
        told["flows"] = done.flows().map(|flow| flow.row()).collect();
        told["ended_us"] = clock::micros(done.traffic.ended).into();
    }
    if order.detail == Detail::Series {
        done.along().tell(&mut told);
    }
    tell(told);
    Ok(Begun {
        late_us: facts.start_lateness_mean_us,
        starts: Starts::of(&plan, &done.traffic.flows),
    })
}

/// How a run began.
struct Begun {
    /// By how much its flows started late on average.
    late_us: Option<f64>,
    starts: Option<Starts>,
}

/// The twin of a scheme: of each run with its starts, where `starts` holds them all and an incast is late; else as
/// many seeds as runs if anything is drawn.
fn simulate(
    arm: &Arm<'_>,
    network: (&Bed, &Found),
    mut starts: Vec<Starts>,
    order: &Order,
    tell: &mut dyn FnMut(Value),
) -> Result<(), Failure> {
    let point = arm.points[0];
    let folder = order.folder.as_deref().unwrap_or(Path::new(""));
    if order.folder.is_none() || !twin::is_incast(point) {
        starts.clear();
    }
    let mut traces = Vec::new();
    for (run, starts) in starts.iter().enumerate() {
        let name = format!("starts-{}-{}-{}.csv", arm.number, point.scheme, run + 1);
        let written = starts.write(&folder.join(&name));
        written.map_err(|error| Failure::Failed(format!("cannot write {name}: {error}")))?;
        traces.push(name);
    }
    let twin = twin::of(point, &arm.stack, network, (folder, &traces), order.runs)?;
    tell(json!({
        "type": "twin",
        "scheme": point.scheme,
        "set": set(point),
        "file": format!("twin-{}-{}.toml", arm.number, point.scheme),
        "toml": twin::text(&twin, folder),
        "starts": traces,
    }));
    for (run, simulated) in twin.points().iter().enumerate() {
        if interrupt::heard().is_some() {
            return Err(Failure::Interrupted);
        }
        let outcome = if order.detail == Detail::Series {
            along::simulate(simulated)
        } else {
            sim::run::run(simulated).map(|outcome| (outcome, Along::default()))
        };
        let (outcome, along) = outcome.map_err(|error| Failure::Failed(error.to_string()))?;
        let mut metrics = json!(outcome.metrics);
        let flows = outcome.flows.iter().map(|flow| flow.fct_us.get());
        let mut fct: Vec<f64> = match starts.get(run) {
            // Completion times are from the start of a flow, not from its first bytes.
            Some(starts) => {
                let both = flows.zip(starts.leads_us());
                both.filter_map(|(fct, lead)| Some(fct? + lead)).collect()
            }
            None => flows.flatten().collect(),
        };
        fct.sort_by(f64::total_cmp);
        if starts.get(run).is_some() {
            measure::tell_completions(&fct, &mut metrics);
        }
        let mut told = json!({
            "type": "point",
            "world": "simulated",
            "scheme": point.scheme,
            "seed": simulated.seed,
            "run": run,
            "set": set(point),
            "metrics": metrics,
            "fct_us": fct,
        });
        if order.detail >= Detail::Flows {
            let mut leads = starts.get(run).map(Starts::leads_us);
            let flows = outcome.flows.iter().map(|flow| {
                let lead = leads.as_mut().and_then(Iterator::next).unwrap_or(0.0);
                let told = ToldFlow::simulated(flow, lead);
                told.row()
            });
            told["flows"] = flows.collect();
            told["ended_us"] = outcome.cost.simulated_us.into();
        }
        if order.detail == Detail::Series {
            along.tell(&mut told);
        }
        tell(told);
    }
    Ok(())
}

/// Appends to the row of each flow how long it takes alone.
fn add_alone(told: &mut Value, alone: &[Option<f64>]) {
    let flows = told.get_mut("flows").and_then(Value::as_array_mut);
    let flows = flows.into_iter().flatten();
    for (flow, alone) in flows.zip(alone) {
        if let Some(row) = flow.as_array_mut() {
            row.push(json!(alone));
        }
    }
}

/// The settings of a point that have several values.
pub(crate) fn set(point: &PointSpec) -> Value {
    let pairs = point.set.iter();
    let pairs = pairs.map(|(key, text)| (key.clone(), Value::from(text.as_str())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// What is unfinished after this is told as unfinished.
const LONGEST: Duration = Duration::from_mins(2);
