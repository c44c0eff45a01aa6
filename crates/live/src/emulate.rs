//! A scenario on real stacks and, with the network as it was found, in the simulator.
//!
//! What is learnt is told as JSON values, in the order in which it is learnt; nothing here speaks to
//! people.

use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

use scenario::workload::Plan;
use scenario::{PointSpec, Problems, Scenario};
use serde_json::{Map, Value, json};

use crate::bed::Bed;
use crate::calibrate::{self, RateChoice, Unfit};
use crate::interrupt;
use crate::lan::{Lan, Speed};
use crate::measure;
use crate::traffic::{self, Work};
use crate::twin::{self, Found};

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// How fast the links are.
    pub rate: RateChoice,
    /// How often every scheme runs.
    pub runs: NonZeroU32,
    /// Whether the twins are simulated.
    pub simulate: bool,
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
            io::ErrorKind::PermissionDenied => Self::Machine(error.to_string()),
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
    let cells = cells(scenario);
    // Nothing is made if any part of the scenario is refused.
    for cell in &cells {
        for (arm, _) in cell.stacks() {
            Bed::of(arm[0])?;
        }
    }
    for cell in &cells {
        for arm in &cell.arms {
            if let Err(reason) = stack(arm[0]) {
                tell(json!({
                    "type": "skipped", "scheme": arm[0].scheme, "set": set(arm[0]), "reason": reason,
                }));
            }
        }
        run_cell(cell, order, tell)?;
    }
    Ok(())
}

/// Makes the network of the first point of `scenario` and leaves it. Returns what it is.
///
/// # Errors
/// As [`emulate`].
pub fn up(scenario: &Scenario, rate: RateChoice) -> Result<Value, Failure> {
    let point = &scenario.points()[0];
    let bed = Bed::of(point)?;
    let lan = Lan::up(&bed, calibrate::planned(&bed))?;
    let speed = fit(calibrate::speed(&bed, &lan, &Plan::of(point), rate))?;
    let nodes = lan.namespaces().iter().map(|node| node.name().to_owned());
    let nodes: Vec<_> = nodes.collect();
    let run = lan.keep()?;
    Ok(json!({ "type": "up", "run": run, "nodes": nodes, "rate_bps": speed.real }))
}

/// Points that differ in scheme and seed alone: they share a network.
struct Cell<'a> {
    /// By scheme, then by seed.
    arms: Vec<Vec<&'a PointSpec>>,
}

impl<'a> Cell<'a> {
    /// Schemes that this build and this kernel have, with the kernel's name.
    fn stacks(&self) -> Vec<(&Vec<&'a PointSpec>, &'static str)> {
        let arms = self.arms.iter();
        let known = arms.filter_map(|arm| Some((arm, stack(arm[0]).ok()?)));
        known.collect()
    }
}

fn cells(scenario: &Scenario) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for point in scenario.points() {
        let place = cells
            .iter()
            .position(|cell| cell.arms[0][0].set == point.set)
            .unwrap_or(cells.len());
        if place == cells.len() {
            cells.push(Cell { arms: Vec::new() });
        }
        let cell = &mut cells[place];
        match cell
            .arms
            .iter_mut()
            .find(|arm| arm[0].scheme == point.scheme)
        {
            Some(arm) => arm.push(point),
            None => cell.arms.push(vec![point]),
        }
    }
    cells
}

/// The kernel's name of a scheme's congestion control, or why there is none.
fn stack(point: &PointSpec) -> Result<&'static str, String> {
    if point.scheme != point.bundle {
        // All schemes share the network of the first one.
        return Err("a variant may have settings of its own: give them with --set".to_owned());
    }
    match &*point.bundle {
        "newreno" => Ok("reno"),
        "cubic" if calibrate::has_control("cubic") => Ok("cubic"),
        "cubic" => Err("this kernel has no cubic (CONFIG_TCP_CONG_CUBIC)".to_owned()),
        "dctcp" if !calibrate::has_control("dctcp") => {
            Err("this kernel has no dctcp (CONFIG_TCP_CONG_DCTCP)".to_owned())
        }
        _ => Err(
            "needs the programs at switch ports, feature kernel, which this build lacks".to_owned(),
        ),
    }
}

fn run_cell(cell: &Cell<'_>, order: &Order, tell: &mut dyn FnMut(Value)) -> Result<(), Failure> {
    let stacks = cell.stacks();
    let Some((first, _)) = stacks.first() else {
        return Ok(());
    };
    let first = first[0];
    let bed = Bed::of(first)?;
    let lan = Lan::up(&bed, calibrate::planned(&bed))?;
    let plan = Plan::of(first);
    let speed = fit(calibrate::speed(&bed, &lan, &plan, order.rate))?;
    let (rtt_us, links) = calibrate::round_trip(&bed, &lan, &plan)?;
    let found = Found {
        speed,
        rtt_us,
        links,
    };
    tell(describe(first, &bed, &found));
    for run in 0..order.runs.get() {
        for (arm, control) in &stacks {
            let point = arm[run as usize % arm.len()];
            tell(live_point(
                point,
                run,
                control,
                (&bed, &lan, speed, rtt_us),
            )?);
        }
    }
    // The simulator would take the cores from the kernel.
    drop(lan);
    if order.simulate {
        for (arm, _) in &stacks {
            simulate(arm[0], &bed, &found, order.runs, tell)?;
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

/// The network of a cell.
fn describe(point: &PointSpec, bed: &Bed, found: &Found) -> Value {
    let different = bed
        .different
        .iter()
        .map(|row| json!({ "key": row.key, "instead": row.instead }));
    json!({
        "type": "bed",
        "set": set(point),
        "kernel": calibrate::kernel(),
        "hosts": bed.topology.hosts().len(),
        "switches": bed.topology.nodes().len() - bed.topology.hosts().len(),
        "rate_bps": found.speed.real,
        "scenario_rate_bps": found.speed.planned,
        "burst_bytes": found.speed.burst * bed.packet_bytes(),
        "rtt_us": found.rtt_us,
        "different": different.collect::<Vec<_>>(),
    })
}

/// One run of one scheme.
fn live_point(
    point: &PointSpec,
    run: u32,
    control: &str,
    (bed, lan, speed, rtt_us): (&Bed, &Lan, Speed, f64),
) -> Result<Value, Failure> {
    let plan = Plan::of(point);
    let duration = point.keys.run.duration.0;
    let limit = duration.map_or(LONGEST, traffic::duration).min(LONGEST);
    let work = Work::of(&plan, control, limit);
    let done = measure::run(bed, lan, speed, &work)?;
    let facts = done.facts();
    let reasons = facts.reasons();
    let mut live = json!({
        "kernel": calibrate::kernel(),
        "rate_bps": speed.real,
        "rtt_us": rtt_us,
        "valid": reasons.is_empty(),
        "reasons": reasons,
        "loss_probes": done.loss_probes(),
    });
    if let (Value::Object(live), Ok(Value::Object(facts))) =
        (&mut live, serde_json::to_value(&facts))
    {
        live.extend(facts);
    }
    Ok(json!({
        "type": "point",
        "world": "linux",
        "scheme": point.scheme,
        "seed": point.seed,
        "run": run,
        "set": set(point),
        "metrics": done.metrics(),
        "live": live,
    }))
}

/// The twin of a scheme: as many seeds as runs if anything is drawn.
fn simulate(
    point: &PointSpec,
    bed: &Bed,
    found: &Found,
    runs: NonZeroU32,
    tell: &mut dyn FnMut(Value),
) -> Result<(), Failure> {
    let twin = twin::of(point, bed, found, runs)?;
    tell(json!({
        "type": "twin", "scheme": point.scheme, "set": set(point), "toml": twin.resolved(),
    }));
    for (run, simulated) in twin.points().iter().enumerate() {
        if interrupt::heard().is_some() {
            return Err(Failure::Interrupted);
        }
        let outcome = sim::run::run(simulated);
        let outcome = outcome.map_err(|error| Failure::Failed(error.to_string()))?;
        tell(json!({
            "type": "point",
            "world": "simulated",
            "scheme": point.scheme,
            "seed": simulated.seed,
            "run": run,
            "set": set(point),
            "metrics": outcome.metrics,
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

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Source};

    use super::*;

    #[test]
    fn a_variant_does_not_run_on_the_network_of_another_scheme() {
        let text = "schemes = [\"newreno\", \"slow\"]\n[variant.slow]\nbase = \"newreno\"\n\
                    tcp.min_rto = \"200ms\"\n[workload]\nsenders = 2\n";
        let loaded = Scenario::load(Source::new("variant.toml", text), &Overrides::default());
        let scenario = loaded.expect("a correct scenario");
        let stacks: Vec<_> = scenario.points().iter().map(stack).collect();
        assert_eq!(stacks[0], Ok("reno"));
        let reason = stacks[1].as_ref().expect_err("a row with its reason");
        assert!(reason.contains("variant"), "{reason}");
    }
}
