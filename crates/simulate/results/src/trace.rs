//! Makes a trace from the flows of a simulation in a run folder.

use std::io;

use base::Time;
use base::shown::cell;
use plan::PointSpec;
use plan::replay::{Inexact, Replay};
use plan::workload::Plan;
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use sim::metrics::FlowRecord;

use crate::Folder;

/// A trace that reproduces a simulation.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The trace, and the settings that it needs.
    pub replay: Replay,
    /// The scheme of the simulation, if its scenario has several.
    pub scheme: Option<String>,
    /// Its seed.
    pub seed: u64,
    /// The simulation's values on the axes of its scenario.
    pub axes: Vec<(String, String)>,
}

/// Why there is no such trace.
#[derive(Debug)]
pub enum NoTrace {
    /// Something in the folder cannot be read.
    Problems(Problems),
    /// A trace cannot reproduce it.
    Inexact(Inexact),
}

impl From<Problems> for NoTrace {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Inexact> for NoTrace {
    fn from(reason: Inexact) -> Self {
        Self::Inexact(reason)
    }
}

/// The trace that reproduces simulation `point` of a run.
pub fn exact(folder: &Folder, point: u32) -> Result<Exact, NoTrace> {
    let file = folder.path().join("scenario.toml").display().to_string();
    let source = Source::new(file, folder.scenario_text());
    let scenario = Scenario::load(source, &Overrides::default())?;
    let other =
        || Inexact::new("another version of the program made the run and planned different flows");
    let spec = scenario.points().get(point as usize).ok_or_else(other)?;
    let replay = Replay::of(spec)?;
    if !is_as_planned(folder, spec)? {
        return Err(other().into());
    }
    let swept = |key: &String| folder.summary().axes.contains(key);
    let axes = spec.set.iter().filter(|(key, _)| swept(key));
    Ok(Exact {
        replay,
        scheme: (scenario.schemes().len() > 1).then(|| spec.scheme.clone()),
        seed: spec.seed,
        axes: axes.cloned().collect(),
    })
}

/// Whether the flows in the folder equal the flows that the current plan makes.
fn is_as_planned(folder: &Folder, spec: &PointSpec) -> Result<bool, Problems> {
    let plan = Plan::of(spec);
    let mut same = true;
    folder.flows(&mut |of, flow| {
        if of as usize == spec.index {
            let planned = plan.flows.get(flow.flow as usize);
            same &= planned.is_some_and(|planned| {
                let start = planned.start.since(Time::ZERO).as_micros();
                // For a flow that waited for others, the plan has the delay after them.
                let as_planned =
                    flow.waited_for.is_some() || (start - flow.start_us).abs() < PICOSECOND;
                planned.size == flow.size_bytes && as_planned
            });
        }
    })?;
    Ok(same)
}

/// Calls `each` with the names of columns, then with a row for each flow of a simulation, at its observed start. The
/// inner result is the first failure of `each`.
pub fn inexact(folder: &Folder, point: u32, each: Each<'_>) -> Result<io::Result<()>, Problems> {
    let mut flows = Vec::new();
    folder.flows(&mut |of, flow| {
        if of == point {
            flows.push(flow.clone());
        }
    })?;
    if flows.iter().any(|flow| flow.size_bytes.is_none()) {
        let problem = Problem::new("flows without end have no size, which a trace needs");
        let help = "run it with a finite workload.size and export that run";
        return Err(problem.help(help).into());
    }
    Ok(rows(&flows, each))
}

/// A row for each flow that started, without columns that say nothing.
fn rows(flows: &[FlowRecord], each: Each<'_>) -> io::Result<()> {
    let shares = flows
        .windows(2)
        .any(|pair| pair[0].connection >= pair[1].connection);
    let grouped = flows.iter().any(|flow| !flow.group.is_empty());
    let mut names = vec!["start_us", "size_bytes", "sender", "receiver"];
    names.extend(shares.then_some("connection"));
    names.extend(grouped.then_some("group"));
    let awaited = flows.iter().any(|flow| flow.round.is_some());
    names.extend(awaited.then_some("round"));
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    each(&names)?;
    for flow in flows.iter().filter(|flow| flow.start_us.is_finite()) {
        let mut row = vec![
            format!("{:.6}", flow.start_us),
            flow.size_bytes.unwrap_or_default().to_string(),
            flow.sender.to_string(),
            flow.receiver.to_string(),
        ];
        row.extend(shares.then(|| flow.connection.to_string()));
        row.extend(grouped.then(|| cell(&flow.group).into_owned()));
        let round = || {
            flow.round
                .map_or_else(String::new, |round| round.to_string())
        };
        row.extend(awaited.then(round));
        each(&row)?;
    }
    Ok(())
}

/// Takes a row.
type Each<'a> = &'a mut dyn FnMut(&[String]) -> io::Result<()>;

/// In microseconds.
const PICOSECOND: f64 = 1e-6;
