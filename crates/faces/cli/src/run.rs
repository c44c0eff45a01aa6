//! `tailwater run`: a scenario becomes a run folder and an answer.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;

use claims::catalogue;
use results::{Access, Folder, Store, Summary, Transient};
use scenario::{Problem, Problems, Scenario};
use serde_json::json;
use sim::metrics::FlowRecord;

use crate::args::{Format, RunArgs, ViewArgs};
use crate::chosen::choose_folder;
use crate::clock::now;
use crate::output::{self, Stop};
use crate::progress::{self, Bar, say_duration, say_memory};
use crate::request::{Allowance, Precision, Request};
use crate::search;
use crate::simulate::{expected, finish};
use crate::sweep::{self, Batch, Front, Sweep, Work};
use crate::watch::{listen, watched};
use answer::run::Finished;

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
    let terminal = Terminal::new(args);
    if args.keep.no_save {
        let kept = Transient::new(args.flows);
        let sweep = Sweep::new(&request, &kept, &terminal, start);
        let finished = sweep.complete(&mut scenario)?;
        print(args, &finished, &scenario, &sweep)?;
        return succeed(args, &finished);
    }
    let folder = choose_folder(args, &scenario, request.captures.as_ref());
    let access = if args.keep.resume {
        Access::Resume
    } else {
        Access::New
    };
    let store = sweep::open(&folder, &request, &scenario, access)?;
    let sweep = Sweep::new(&request, &store, &terminal, start);
    if let Some(finished) = sweep::finished_before(&request, &store, &scenario)? {
        return answer_again(args, &finished, &finish(&store)?);
    }
    if args.keep.shard.is_some() {
        sweep.simulate(&scenario)?;
        return report_shard(args, &sweep, &store, &scenario);
    }
    let finished = sweep.complete(&mut scenario)?;
    // The answer first: should there be no room for the files, it has been given all the same.
    let printed = print(args, &finished, &scenario, &sweep);
    write(args, &store, &scenario, &finished)?;
    printed?;
    succeed(args, &finished)
}

/// What the arguments ask for.
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
        allowance: Allowance {
            jobs: args.jobs,
            ..args.limits.allowance()
        },
        command: args.given.clone(),
        ..Request::new(catalogue::scenario(&args.scenario.scenario)?)
    })
}

/// Somebody who reads what is printed, and presses Ctrl-C.
struct Terminal<'a> {
    args: &'a RunArgs,
    /// Signals end the process, so this stays false unless nothing can be kept.
    stop: AtomicBool,
}

impl<'a> Terminal<'a> {
    const fn new(args: &'a RunArgs) -> Self {
        Self {
            args,
            stop: AtomicBool::new(false),
        }
    }

    /// Says why the sweep ends before its end, how far it came and how to go on, and prints what is done.
    fn tell_ended(&self, why: &str, batch: &Batch<'_>) {
        let (scenario, kept) = (batch.scenario, batch.sweep.kept);
        let points = scenario.points().iter();
        let known = |point| kept.outcome(point, scenario).ok().flatten();
        let known: Vec<_> = points.map(known).collect();
        let done = known.iter().flatten().count();
        let (done, all) = (answer::words::grouped(done as u64), known.len());
        let all_done = format!(
            "{why}: done {done} of {}",
            answer::words::grouped(all as u64)
        );
        output::complain(&match kept.store() {
            Some(store) => format!("{all_done}; go on with: {}", go_on(self.args, store)),
            None if self.args.keep.no_save => {
                format!("{all_done}, and nothing is kept (--no-save)")
            }
            None => format!(
                "{all_done} of --ties; the sweep itself is kept, and the same command with --out and --resume \
                 goes on"
            ),
        });
        if self.args.keep.shard.is_some() {
            return;
        }
        if let Some((summary, results)) = Summary::so_far(scenario, known) {
            let jobs = batch.room.jobs.get();
            let finished = Finished {
                of: Some(all),
                ..batch.sweep.finished(summary, results, (0, jobs))
            };
            // Whoever reads may have gone.
            drop(print(self.args, &finished, scenario, batch.sweep));
        }
    }
}

impl Front for Terminal<'_> {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn during(&self, batch: &Batch<'_>, work: Work<'_>) -> Result<(), Stop> {
        let args = self.args;
        let captures = batch.sweep.kept.store().is_some_and(Store::captures);
        let expected = expected(batch.points, captures, batch.room.jobs);
        if !args.quiet {
            say_memory(batch.room.jobs, args.jobs);
            say_duration(expected, 0.0, batch.room.jobs);
        }
        let mut bar = Bar::new(batch.points.len(), expected, args.quiet);
        // Otherwise the whole run says so at its end.
        bar.says_failures = args.keep.shard.is_some();
        let tell = || {
            bar.clear();
            self.tell_ended("interrupted", batch);
        };
        let kept = watched(bar.every, || bar.tick(), tell, || work(&bar));
        bar.clear();
        kept.map_err(|error| {
            self.tell_ended(&error, batch);
            Stop::Failed
        })
    }

    fn hint(&self, line: &str) {
        if !self.args.quiet {
            output::complain(line);
        }
    }
}

/// The command that continues the one of `args`.
fn go_on(args: &RunArgs, store: &Store) -> String {
    let folder = store.folder().to_string_lossy();
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
    if sweep.missing(scenario)?.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed)
    }
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
            go_on(args, store)
        )
    };
    let tell = || output::complain(&format!("interrupted: {}", go_on()));
    let write = || {
        sweep::write(store, scenario, finished)?;
        finish(store)
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

/// The answer of a run that was complete before.
fn answer_again(args: &RunArgs, finished: &Finished, folder: &Folder) -> Result<(), Stop> {
    let mut flows = BTreeMap::<u32, Vec<FlowRecord>>::new();
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
    scenario: &Scenario,
    sweep: &Sweep<'_>,
) -> Result<(), Stop> {
    let mut flows = BTreeMap::new();
    if args.flows {
        for (number, point) in (0..).zip(scenario.points()) {
            flows.insert(number, sweep.kept.flows(point, scenario)?);
        }
    }
    print_in(
        finished,
        args.format,
        &args.view,
        args.flows.then_some(flows),
    )
}

/// Whether the command succeeds: not if a point failed, nor with `--strict` if a goal is missed.
fn succeed(args: &RunArgs, finished: &Finished) -> Result<(), Stop> {
    verdict(finished)?;
    if args.goal.strict && !search::succeeds(&finished.summary) {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// Prints a sweep in the format asked for, JSON with these flows by the number of their point.
pub(crate) fn print_in(
    finished: &Finished,
    format: Format,
    view: &ViewArgs,
    flows: Option<BTreeMap<u32, Vec<FlowRecord>>>,
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

/// Where the results are, on standard error.
pub(crate) fn say_where(folder: &Folder) {
    let path = folder.path().display();
    output::complain(&format!("Results: {path}, to look at: {path}/report.html"));
}

/// Whether the command succeeds: not if a point failed, which it says with the command to see it again.
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
