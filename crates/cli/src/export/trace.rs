//! The flows of a simulation as a trace.

use std::io;

use base::Time;
use results::Folder;
use scenario::replay::Replay;
use scenario::shown::cell;
use scenario::workload::Plan;
use scenario::{Overrides, PointSpec, Problem, Problems, Scenario, Source};
use sim::metrics::FlowRecord;

use super::Writer;
use crate::args::ExportArgs;
use crate::progress;

/// A trace that gives a simulation again.
pub(super) struct Exact {
    pub(super) csv: String,
    /// The command that does.
    pub(super) command: String,
}

/// The trace that gives simulation `point` of a run again.
pub(super) fn exact(folder: &Folder, point: u32, args: &ExportArgs) -> Result<Exact, Problems> {
    let file = folder.path().join("scenario.toml").display().to_string();
    let source = Source::new(file.as_str(), folder.scenario_text());
    let scenario = Scenario::load(source, &Overrides::default())?;
    let other = || cannot("another version of the program made the run, and planned other flows");
    let spec = scenario.points().get(point as usize).ok_or_else(other)?;
    let replay = Replay::of(spec).map_err(|reason| cannot(&reason.to_string()))?;
    if !is_as_planned(folder, spec)? {
        return Err(other());
    }
    let output = args.output.as_ref();
    let output = output.filter(|path| !results::is_stream(path));
    let trace = output.map_or("TRACE.csv".into(), |path| path.display().to_string());
    let axes = spec
        .set
        .iter()
        .filter(|(key, _)| folder.summary().axes.contains(key));
    let settings = axes.chain(&replay.settings);
    let settings = settings.map(|(key, text)| format!("{key}={text}"));
    let traces = replay.traces.iter().map(|key| format!("{key}={trace}"));
    let mut words = vec!["tailwater".to_owned(), "run".to_owned(), file];
    if scenario.schemes().len() > 1 {
        words.extend(["--scheme".to_owned(), spec.scheme.clone()]);
    }
    words.extend(["--seed".to_owned(), spec.seed.to_string()]);
    words.extend(["--seeds".to_owned(), "1".to_owned()]);
    for setting in settings.chain(traces) {
        words.extend(["--set".to_owned(), setting]);
    }
    Ok(Exact {
        csv: replay.csv,
        command: progress::command(&words, &[]),
    })
}

/// Whether the flows in the folder are those that are planned now.
fn is_as_planned(folder: &Folder, spec: &PointSpec) -> Result<bool, Problems> {
    let plan = Plan::of(spec);
    let mut same = true;
    folder.flows(&mut |of, flow| {
        if of as usize == spec.index {
            let planned = plan.flows.get(flow.flow as usize);
            same &= planned.is_some_and(|planned| {
                let start = planned.start.since(Time::ZERO).as_micros();
                planned.size == flow.size_bytes && (start - flow.start_us).abs() < PICOSECOND
            });
        }
    })?;
    Ok(same)
}

fn cannot(reason: &str) -> Problems {
    let problem = Problem::new(format!(
        "a trace cannot give this simulation again: {reason}"
    ));
    problem
        .help("--inexact writes when its flows started; in such a trace they wait for nothing")
        .into()
}

/// Writes the flows of a simulation as they started; the inner result is about that, the outer one about reading them.
pub(super) fn inexact_to(
    folder: &Folder,
    point: u32,
    writer: &mut Writer<'_>,
) -> Result<io::Result<()>, Problems> {
    let mut flows = Vec::new();
    folder.flows(&mut |of, flow| {
        if of == point {
            flows.push(flow.clone());
        }
    })?;
    if flows.iter().any(|flow| flow.size_bytes.is_none()) {
        let problem = Problem::new("flows without end have no size that a trace could name");
        let help = "run it with a finite workload.size and export that run";
        return Err(problem.help(help).into());
    }
    Ok(rows(&flows, writer))
}

/// A row for each flow that started, with the columns that tell something.
fn rows(flows: &[FlowRecord], writer: &mut Writer<'_>) -> io::Result<()> {
    let shares = flows
        .windows(2)
        .any(|pair| pair[0].connection >= pair[1].connection);
    let grouped = flows.iter().any(|flow| !flow.group.is_empty());
    let mut names = vec!["start_us", "size_bytes", "sender", "receiver"];
    names.extend(shares.then_some("connection"));
    names.extend(grouped.then_some("group"));
    writer.write_record(&names)?;
    for flow in flows.iter().filter(|flow| flow.start_us.is_finite()) {
        let mut row = vec![
            format!("{:.6}", flow.start_us),
            flow.size_bytes.unwrap_or_default().to_string(),
            flow.sender.to_string(),
            flow.receiver.to_string(),
        ];
        row.extend(shares.then(|| flow.connection.to_string()));
        row.extend(grouped.then(|| cell(&flow.group).into_owned()));
        writer.write_record(&row)?;
    }
    Ok(())
}

/// In microseconds.
const PICOSECOND: f64 = 1e-6;
