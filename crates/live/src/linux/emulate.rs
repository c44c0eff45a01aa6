//! A scenario on real stacks and, with the network as it was found, in the simulator.
//!
//! What is learnt is told as JSON values, in the order in which it is learnt; nothing here speaks to
//! people.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use scenario::workload::Plan;
use scenario::{PointSpec, Problems, Scenario};
use serde_json::{Map, Value, json};

use crate::bed::{Bed, Sysctl};
use crate::linux::calibrate::{self, RateChoice, Unfit};
use crate::linux::cell::{self, Arm, Cell};
use crate::linux::clock;
use crate::linux::interrupt;
use crate::linux::lan::{Lan, Speed};
use crate::linux::measure;
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
    /// The folder for packets of the first run of every scheme, if they are to be kept.
    pub captures: Option<PathBuf>,
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
    let bed = Bed::of(point)?.with(sysctls);
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
    let bed = Bed::of(first)?.with(&order.sysctls);
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
    let mut late = Vec::new();
    for run in 0..order.runs.get() {
        for arm in &cell.arms {
            late.extend(live_point(arm, run, order, (&bed, &lan, &found), tell)?);
        }
    }
    late.sort_by(f64::total_cmp);
    // A spread that is even has twice its mean.
    found.spread_us = 2.0 * late.get(late.len() / 2).copied().unwrap_or(0.0);
    // The simulator would take the cores from the kernel.
    drop(lan);
    if order.simulate {
        for arm in &cell.arms {
            simulate(arm, &bed, &found, order.runs, tell)?;
        }
    }
    Ok(())
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

/// One run of one scheme. Returns by how much its flows started late on average.
fn live_point(
    arm: &Arm<'_>,
    run: u32,
    order: &Order,
    (bed, lan, found): (&Bed, &Lan, &Found),
    tell: &mut dyn FnMut(Value),
) -> Result<Option<f64>, Failure> {
    let point = arm.points[run as usize % arm.points.len()];
    let plan = Plan::of(point);
    let duration = point.keys.run.duration.0;
    let limit = duration.map_or(LONGEST, clock::duration).min(LONGEST);
    let name = format!("capture-{}-{}.pcapng", arm.number, point.scheme);
    let folder = order.captures.as_ref().filter(|_| run == 0);
    let capture = folder.map(|folder| folder.join(&name));
    let work = Work {
        connections: &plan.connections,
        flows: &plan.flows,
        barriers: &plan.barriers,
        control: arm.stack.control,
        laws: &arm.stack.laws,
        limit,
        capture: capture.as_deref(),
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
        "ports": done.counts,
    });
    if let (Value::Object(live), Ok(Value::Object(facts))) =
        (&mut live, serde_json::to_value(&facts))
    {
        live.extend(facts);
    }
    tell(json!({
        "type": "point",
        "world": "linux",
        "scheme": point.scheme,
        "seed": point.seed,
        "run": run,
        "set": set(point),
        "metrics": done.metrics(),
        "live": live,
        "fct_us": done.completions_us(),
    }));
    Ok(facts.start_lateness_mean_us)
}

/// The twin of a scheme: as many seeds as runs if anything is drawn.
fn simulate(
    arm: &Arm<'_>,
    bed: &Bed,
    found: &Found,
    runs: NonZeroU32,
    tell: &mut dyn FnMut(Value),
) -> Result<(), Failure> {
    let point = arm.points[0];
    let twin = twin::of(point, &arm.stack, (bed, found), runs)?;
    tell(json!({
        "type": "twin",
        "scheme": point.scheme,
        "set": set(point),
        "file": format!("twin-{}-{}.toml", arm.number, point.scheme),
        "toml": twin.resolved(),
    }));
    for (run, simulated) in twin.points().iter().enumerate() {
        if interrupt::heard().is_some() {
            return Err(Failure::Interrupted);
        }
        let outcome = sim::run::run(simulated);
        let outcome = outcome.map_err(|error| Failure::Failed(error.to_string()))?;
        let fct = outcome.flows.iter().filter_map(|flow| flow.fct_us);
        let mut fct: Vec<f64> = fct.collect();
        fct.sort_by(f64::total_cmp);
        tell(json!({
            "type": "point",
            "world": "simulated",
            "scheme": point.scheme,
            "seed": simulated.seed,
            "run": run,
            "set": set(point),
            "metrics": outcome.metrics,
            "fct_us": fct,
        }));
    }
    Ok(())
}

fn set(point: &PointSpec) -> Value {
    let pairs = point.set.iter();
    let pairs = pairs.map(|(key, text)| (key.clone(), Value::from(text.as_str())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// What is unfinished after this is told as unfinished.
const LONGEST: Duration = Duration::from_mins(2);
