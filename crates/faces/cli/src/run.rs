//! `tailwater run`: runs a scenario into a run folder and prints the answer.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use api::clock::now;
use api::{
    Error, Flows, Monitor, Point, PointFailure, Precision, Request, RunOptions, Stage, StageWork,
    Sweep, finish,
};
use claims::catalogue;
use results::{Access, Finished, Folder, Store, Transient};
use scenario::{Problem, Problems, Scenario};
use serde_json::json;

use crate::args::{Format, RunArgs, ViewArgs};
use crate::output::{self, Stop};
use crate::progress::{self, Bar, Current, say_duration, say_memory};
use crate::run_folder::choose_folder;
use crate::search;
use crate::watch::{listen, watched};

/// Simulates every point of a scenario and prints the answer.
pub(crate) fn run(args: &RunArgs) -> Result<(), Stop> {
    let start = now();
    args.check()?;
    listen();
    let request = request(args)?;
    let mut scenario = request.scenario()?;
    search::check(args, &scenario)?;
    for selector in args.view.selectors() {
        selector
            .check(scenario.points())
            .map_err(|unknown| Problems::from(Problem::new(unknown.cause).help(unknown.remedy)))?;
    }
    if !args.quiet {
        output::problems(scenario.warnings());
    }
    let terminal = Terminal {
        args,
        bar: Current::default(),
    };
    let options = RunOptions::default()
        .monitor(&terminal)
        .allowance(args.limits.allowance(args.jobs, args.threads));
    // Signals end the process, so this stays false unless a result cannot be kept.
    let stop = AtomicBool::new(false);
    if args.keep.no_save {
        let kept = Transient::new(args.flows);
        let sweep = Sweep::new(&request, &kept, &options, &stop).since(start);
        let finished = sweep.complete(&mut scenario)?;
        print(args, &finished, || sweep.flows(&scenario))?;
        return succeed(args, &finished);
    }
    let folder = choose_folder(args, &scenario, request.captures.as_ref());
    let access = if args.keep.resume {
        Access::Resume
    } else {
        Access::New
    };
    let store = api::open(&folder, &request, &scenario, access)?;
    let sweep = Sweep::new(&request, &store, &options, &stop).since(start);
    if let Some(finished) = api::finished_before(&request, &store, &scenario)? {
        return answer_again(args, &finished, &finish(&store)?);
    }
    if args.keep.shard.is_some() {
        sweep.simulate(&scenario)?;
        return report_shard(args, &sweep, &store, &scenario);
    }
    let finished = sweep.complete(&mut scenario)?;
    // The answer is printed first, in case there is no room for the files.
    let printed = print(args, &finished, || sweep.flows(&scenario));
    write(args, &store, &scenario, &finished)?;
    printed?;
    succeed(args, &finished)
}

/// The request that the arguments make.
fn request(args: &RunArgs) -> Result<Request, Problems> {
    let captures = args.pcap.places()?;
    let mut overrides = args.scenario.overrides();
    overrides.goals = args.goal.typed();
    Ok(Request {
        overrides,
        search: args.goal.search.clone(),
        until: args.until.map(|width| Precision {
            width,
            max_seeds: args.max_seeds,
        }),
        ties: args.ties,
        captures,
        shard: args.keep.shard,
        command: args.given.clone(),
        ..Request::new(catalogue::scenario(&args.scenario.scenario)?)
    })
}

/// A user who reads the output and presses Ctrl-C.
struct Terminal<'a> {
    args: &'a RunArgs,
    bar: Current,
}

impl Terminal<'_> {
    /// Reports why the sweep ends early, its progress and how to continue, and prints the finished part.
    fn tell_ended(&self, why: &str, stage: &Stage<'_>) {
        for progress in stage.progress() {
            let done = answer::words::grouped(progress.done as u64);
            let all_done = format!(
                "{why}: done {done} of {}",
                answer::words::grouped(progress.points as u64)
            );
            output::complain(&match &progress.folder {
                Some(folder) => format!("{all_done}; go on with: {}", go_on(self.args, folder)),
                None if self.args.keep.no_save => {
                    format!("{all_done}, and nothing is kept (--no-save)")
                }
                None => format!(
                    "{all_done} of --ties; the sweep itself is kept, and the same command with --out and --resume \
                     goes on"
                ),
            });
            let is_shard = self.args.keep.shard.is_some();
            if let Some(finished) = progress.results.filter(|_| !is_shard) {
                // The reader may have closed the output.
                drop(print(self.args, &finished, || stage.flows()));
            }
        }
    }
}

impl Monitor for Terminal<'_> {
    fn during(&self, stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
        let args = self.args;
        if !args.quiet {
            say_memory(stage.jobs(), args.jobs);
            say_duration(stage.expected_s(), 0.0, stage.jobs());
        }
        let mut bar = Bar::new(stage.simulations(), stage.expected_s(), args.quiet);
        // Otherwise the whole run reports them at its end.
        bar.says_failures = args.keep.shard.is_some();
        let interrupted = || {
            self.tell_ended("interrupted", stage);
            stage.abandon();
        };
        let done = self.bar.during(bar, interrupted, work);
        done.map_err(|error| {
            self.tell_ended(&error.to_string(), stage);
            Error::Stopped
        })
    }

    fn on_simulation(&self, expected_s: f64) {
        self.bar.with(|bar| bar.advance(expected_s));
    }

    fn on_failure(&self, point: &Point, failure: &PointFailure) {
        self.bar.with(|bar| bar.failed(point, failure));
    }

    fn on_hint(&self, line: &str) {
        if !self.args.quiet {
            output::complain(line);
        }
    }
}

/// The command that continues the run of `args`.
fn go_on(args: &RunArgs, folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    let mut more = Vec::new();
    if args.keep.out.is_none() {
        more.extend(["--out", &folder]);
    }
    if !args.keep.resume && args.keep.shard.is_none() {
        more.push("--resume");
    }
    progress::command(&args.given, &more)
}

fn report_shard(
    args: &RunArgs,
    sweep: &Sweep<'_>,
    store: &Store,
    scenario: &Scenario,
) -> Result<(), Stop> {
    let (all, finished) = (scenario.points().len(), store.kept(scenario));
    let folder = store.folder().display();
    let text = match (args.format, all - finished) {
        (Format::Json, _) => {
            let folder = folder.to_string();
            let object = json!({ "points": all, "finished": finished, "folder": folder });
            format!("{object:#}\n")
        }
        (Format::Csv, _) => format!("points,finished\n{all},{finished}\n"),
        (Format::Table, 0) => {
            format!("{all} of {all} points are finished: `tailwater merge {folder}` ends the run\n")
        }
        (Format::Table, _) => format!(
            "{finished} of {all} points are in {folder}; `tailwater merge` puts the shards together\n"
        ),
    };
    output::answer(&text)?;
    for point in sweep.missing(scenario)? {
        if !store.is_elsewhere(point, scenario)? {
            return Err(Stop::Failed);
        }
    }
    Ok(())
}

/// Makes the files of a complete run.
fn write(
    args: &RunArgs,
    store: &Store,
    scenario: &Scenario,
    finished: &Finished,
) -> Result<(), Stop> {
    let go_on = || {
        format!(
            "every simulation is kept; go on with: {}",
            go_on(args, store.folder())
        )
    };
    let tell = || output::complain(&format!("interrupted: {}", go_on()));
    let write = || {
        api::write(store, scenario, finished)?;
        Ok(finish(store)?)
    };
    match watched(None, || (), tell, write) {
        Ok(folder) => {
            if !args.quiet {
                say_where(&folder);
            }
            Ok(())
        }
        Err(Stop::NoRoom(problems)) => {
            output::problems(&problems.0);
            output::complain(&go_on());
            Err(Stop::Failed)
        }
        Err(stop) => Err(stop),
    }
}

/// Prints the answer of a run that was complete before.
fn answer_again(args: &RunArgs, finished: &Finished, folder: &Folder) -> Result<(), Stop> {
    let mut flows = Flows::new();
    if args.flows {
        folder.flows(&mut |point, flow| flows.entry(point).or_default().push(flow.clone()))?;
    }
    let flows = args.flows.then_some(flows);
    print_in(finished, args.format, &args.view, flows)?;
    if !args.quiet {
        say_where(folder);
    }
    succeed(args, finished)
}

fn print(
    args: &RunArgs,
    finished: &Finished,
    flows: impl FnOnce() -> Result<Flows, Problems>,
) -> Result<(), Stop> {
    let flows = args.flows.then(flows).transpose()?;
    print_in(finished, args.format, &args.view, flows)
}

/// Whether the command succeeds. It fails if a point failed or, with `--strict`, if a goal is missed.
fn succeed(args: &RunArgs, finished: &Finished) -> Result<(), Stop> {
    verdict(finished)?;
    if args.goal.strict && !search::succeeds(&finished.summary) {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// Prints a sweep in the requested format. JSON includes these flows, by the number of their point.
pub(crate) fn print_in(
    finished: &Finished,
    format: Format,
    view: &ViewArgs,
    flows: Option<Flows>,
) -> Result<(), Stop> {
    let text = match format {
        Format::Table => {
            let view = view.view(output::width(), output::styled(&io::stdout()));
            answer::run::table(finished, &view)
        }
        Format::Json => answer::run::json(finished, flows),
        Format::Csv => answer::run::csv(finished),
    };
    output::answer(&text)
}

/// Prints the path of the results on standard error.
pub(crate) fn say_where(folder: &Folder) {
    let path = folder.path().display();
    output::complain(&format!("Results: {path}, to look at: {path}/report.html"));
}

/// Whether the command succeeds. If a point failed, prints the command to repeat it.
pub(crate) fn verdict(finished: &Finished) -> Result<(), Stop> {
    let summary = &finished.summary;
    for failed in &summary.failures {
        let row = &summary.rows[failed.row as usize];
        let set = row
            .set
            .iter()
            .map(|(key, value)| format!("{key} = {value}, "));
        output::complain(&format!(
            "failed: {}, {}seed {}: {}\n  again, from within the run folder: {}",
            row.scheme,
            set.collect::<String>(),
            failed.seed,
            output::failure(&failed.error),
            failed.reproduce
        ));
    }
    if summary.failures.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed)
    }
}
