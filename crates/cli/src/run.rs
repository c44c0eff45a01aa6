//! `tailwater run`.

use std::io;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::scenario::{PointSpec, Problem, Problems, Scenario, Source};
use lab::sweep;

use crate::args::{Format, RunArgs};
use crate::finished::Finished;
use crate::output::{self, Stop};
use crate::render;

/// Simulates every point of a scenario and prints the answer.
pub(crate) fn run(args: &RunArgs) -> Result<(), Stop> {
    if args.flows && args.format != Format::Json {
        let problem = Problem::new("--flows has no place in this format");
        return Err(Problems::from(problem.help("add --format json")).into());
    }
    let source = Source::find(&args.scenario.scenario)?;
    let scenario = Scenario::load(source, &args.scenario.overrides())?;
    if !args.quiet {
        output::problems(scenario.warnings());
    }
    let finished = simulate(&scenario, args);
    for (point, failure) in finished.failures() {
        output::complain(&format!("failed: {}: {failure}", describe(point)));
    }
    let text = match args.format {
        Format::Table => render::table(&finished, output::styled(&io::stdout())),
        Format::Json => render::json(&finished, args.flows),
        Format::Csv => render::csv(&finished),
    };
    output::answer(&text)?;
    if finished.failures().next().is_some() {
        return Err(Stop::Failed);
    }
    Ok(())
}

fn simulate<'a>(scenario: &'a Scenario, args: &RunArgs) -> Finished<'a> {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = args.jobs.unwrap_or(cores);
    let points = scenario.points();
    let bar = progress(points.len(), args.quiet);
    let start = now();
    let results = sweep::run_all(points, jobs, |_, result| {
        // Records of flows are most of an outcome, and few ask for them.
        if let Ok(outcome) = result.as_mut()
            && !args.flows
        {
            outcome.flows = Vec::new();
        }
        bar.inc(1);
    });
    let wall = start.elapsed();
    bar.finish_and_clear();
    Finished {
        scenario,
        results,
        wall,
        jobs,
    }
}

/// A bar on standard error; the library hides it where that is not a terminal.
fn progress(points: usize, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(points as u64), target);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command accounts for the cost of a sweep"
)]
fn now() -> Instant {
    Instant::now()
}

fn describe(point: &PointSpec) -> String {
    let set = point
        .set
        .iter()
        .map(|(key, value)| format!("{key} = {value}, "));
    let set = set.collect::<Vec<_>>().concat();
    format!("{}, {set}seed {}", point.scheme, point.seed)
}
