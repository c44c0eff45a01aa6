//! `tailwater run`: a scenario becomes a run folder and an answer.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use results::{
    Access, Folder, Host, Keep, PointResults, RunInfo, Store, Summary, Transient, Until,
};
use scenario::{PointSpec, Problem, Problems, Scenario};
use serde_json::json;
use sim::metrics::FlowRecord;

use crate::args::{Format, RunArgs, ViewArgs};
use crate::chosen::{choose_folder, load};
use crate::clock::{now, unix_seconds};
use crate::finished::Finished;
use crate::output::{self, Stop};
use crate::progress::{self, Progress};
use crate::simulate::{Room, Simulations, finish, say_duration, say_memory, steps};
use crate::watch::{listen, watched};
use crate::{render, search, text};

/// Simulates every point of a scenario and prints the answer.
pub(crate) fn run(args: &RunArgs) -> Result<(), Stop> {
    let start = now();
    args.check()?;
    listen();
    let mut scenario = load(args, args.first_seeds(), args.goal.begin())?;
    if args.until.is_some() && !scenario.is_random() {
        // More seeds would be the same simulation again.
        scenario = load(args, Some(1), args.goal.begin())?;
    }
    search::check(args, &scenario)?;
    for selector in args.view.selectors() {
        selector
            .check(scenario.points())
            .map_err(|unknown| Problems::from(Problem::new(unknown.cause).help(unknown.remedy)))?;
    }
    if !args.quiet {
        output::problems(scenario.warnings());
    }
    let places = args.pcap.places(&scenario)?;
    if args.keep.no_save {
        let kept = Transient::new(args.flows);
        let sweep = Sweep::new(args, &kept, None, start);
        let (finished, _) = sweep.complete(&mut scenario)?;
        sweep.print(&finished, &scenario)?;
        return sweep.verdict(&finished);
    }
    let folder = choose_folder(args, &scenario, places.as_ref());
    let access = match (args.keep.shard, args.keep.resume) {
        (Some(_), _) => Access::Shard,
        (None, true) => Access::Resume,
        (None, false) => Access::New,
    };
    let store = Store::open(&folder, &scenario, places.as_ref(), access)?;
    let sweep = Sweep::new(args, &store, Some(&store), start);
    if let Some(mut finished) = finished_before(args, &store, &scenario)? {
        if store.judge_again(&scenario)? {
            finished.summary.judge(scenario.goals());
        }
        return sweep.answer_again(&finished, &finish(&store)?);
    }
    if args.keep.shard.is_some() {
        sweep.simulate(&scenario)?;
        return sweep.report_shard(&scenario);
    }
    let (finished, until) = sweep.complete(&mut scenario)?;
    // The answer first: should there be no room for the files, it has been given all the same.
    let printed = sweep.print(&finished, &scenario);
    sweep.write(&store, &scenario, &finished, until)?;
    printed?;
    sweep.verdict(&finished)
}

/// What the phases of a run share.
struct Sweep<'a> {
    args: &'a RunArgs,
    kept: &'a dyn Keep,
    /// The same, if there is a folder.
    store: Option<&'a Store>,
    start: Instant,
    started_unix_s: u64,
}

impl<'a> Sweep<'a> {
    fn new(
        args: &'a RunArgs,
        kept: &'a dyn Keep,
        store: Option<&'a Store>,
        start: Instant,
    ) -> Self {
        Self {
            args,
            kept,
            store,
            start,
            started_unix_s: unix_seconds(),
        }
    }

    /// Simulates what is missing, and with `--until` more seeds.
    fn complete(&self, scenario: &mut Scenario) -> Result<(Finished, Option<Until>), Stop> {
        let before = scenario.points().len() - self.missing(scenario)?.len();
        let jobs = self.simulate(scenario)?;
        self.search(scenario)?;
        let until = self.more_seeds(scenario)?;
        let results = self.kept.results(scenario)?;
        let mut summary = Summary::new(scenario, &results);
        summary.until.clone_from(&until);
        let finished = self.finished(summary, results, (before, jobs));
        Ok((finished, until))
    }

    fn finished(
        &self,
        summary: Summary,
        results: PointResults,
        (runs_before, jobs): (usize, usize),
    ) -> Finished {
        let mut info = RunInfo {
            command: self.args.given.clone(),
            started_unix_s: self.started_unix_s,
            host: Host::this(),
            jobs,
            runs_before,
            wall_us: self.start.elapsed().as_secs_f64() * 1e6,
            ..RunInfo::default()
        };
        info.add_costs(&results);
        Finished {
            summary,
            results,
            info,
            of: None,
        }
    }

    /// Simulates every point that is missing, and says on how many threads.
    fn simulate(&self, scenario: &Scenario) -> Result<usize, Stop> {
        let missing = self.missing(scenario)?;
        let folder = self.store.map(Store::folder);
        let room = Room::for_points(&missing, folder, &self.args.limits, self.args.jobs)?;
        if let Some(store) = self.store {
            store.begin(scenario)?;
        }
        if !self.args.quiet {
            say_memory(room.jobs, self.args.jobs);
            let steps = steps(missing.iter().copied(), self.store.is_some());
            say_duration(steps, Some(room.jobs));
        }
        let progress = Progress::new(missing.len(), self.args.quiet);
        let run = Simulations {
            kept: self.kept,
            scenario,
            points: &missing,
            // Otherwise the whole run says so at its end.
            say_failures: self.args.keep.shard.is_some(),
            room,
        };
        let jobs = room.jobs.get();
        let tell = || {
            progress.clear();
            self.tell_ended("interrupted", scenario, jobs);
        };
        let kept = watched(
            progress.every,
            || progress.tick(),
            tell,
            || run.run(&progress),
        );
        progress.clear();
        kept.map_err(|error| {
            self.tell_ended(&error, scenario, jobs);
            Stop::Failed
        })?;
        Ok(jobs)
    }

    /// Says why the sweep ends before its end, how far it came and how to go on, and prints what is done.
    fn tell_ended(&self, why: &str, scenario: &Scenario, jobs: usize) {
        let points = scenario.points().iter();
        let known = |point| self.kept.outcome(point, scenario).ok().flatten();
        let known: Vec<_> = points.map(known).collect();
        let done = known.iter().flatten().count();
        let (done, all) = (text::grouped(done as u64), known.len());
        let all_done = format!("{why}: done {done} of {}", text::grouped(all as u64));
        output::complain(&match self.store {
            Some(store) => format!("{all_done}; go on with: {}", self.go_on(store)),
            None => format!("{all_done}, and nothing is kept (--no-save)"),
        });
        if self.args.keep.shard.is_some() {
            return;
        }
        if let Some((summary, results)) = Summary::so_far(scenario, known) {
            let finished = Finished {
                of: Some(all),
                ..self.finished(summary, results, (0, jobs))
            };
            // Whoever reads may have gone.
            drop(self.print(&finished, scenario));
        }
    }

    /// The command that continues this one.
    fn go_on(&self, store: &Store) -> String {
        let folder = store.folder().to_string_lossy();
        let mut more = Vec::new();
        if self.args.keep.out.is_none() {
            more.extend(["--out", &folder]);
        }
        if !self.args.keep.resume && self.args.keep.shard.is_none() {
            more.push("--resume");
        }
        progress::command(&self.args.given, &more)
    }

    /// Points that this process is to run.
    fn missing<'b>(&self, scenario: &'b Scenario) -> Result<Vec<&'b PointSpec>, Problems> {
        self.kept.missing(scenario, self.args.keep.shard)
    }

    /// Simulates the values that `--search` asks for, one per scheme at a time, until it has ended.
    fn search(&self, scenario: &mut Scenario) -> Result<(), Stop> {
        let Some(mut searched) = self.args.goal.begin() else {
            return Ok(());
        };
        loop {
            let results = self.kept.results(scenario)?;
            let next = search::next(&Summary::new(scenario, &results), &searched);
            if next.is_empty() {
                return Ok(());
            }
            let before = searched.chosen.len();
            searched.chosen.extend(next);
            if !self.args.quiet {
                let key = searched.range.key();
                for (number, at) in searched.chosen.iter().enumerate().skip(before) {
                    let (number, value) = (number + 1, searched.range.value(*at));
                    output::complain(&format!("value {number}: {key} = {value}"));
                }
            }
            *scenario = load(self.args, None, Some(searched.clone()))?;
            self.simulate(scenario)?;
        }
    }

    /// Runs more seeds until `--until` is content, if it was given.
    fn more_seeds(&self, scenario: &mut Scenario) -> Result<Option<Until>, Stop> {
        let Some(target) = self.args.until else {
            return Ok(None);
        };
        loop {
            let results = self.kept.results(scenario)?;
            let summary = Summary::new(scenario, &results);
            let until = summary.precision(target, self.args.max_seeds.get());
            let seeds = scenario.seeds();
            if until.reached || seeds >= until.bound || !scenario.is_random() {
                return Ok(Some(until));
            }
            // The width falls with the root of the number of seeds: half as many again is a step of
            // a fifth.
            let more = (seeds + seeds.div_ceil(2)).min(until.bound);
            if !self.args.quiet {
                let widest = until.widest.map_or(f64::NAN, |widest| widest * 100.0);
                output::complain(&format!(
                    "{seeds} seeds: the widest 95 % interval is ±{widest:.1} %; going on to {more}"
                ));
            }
            *scenario = load(self.args, Some(more), None)?;
            self.simulate(scenario)?;
        }
    }

    fn report_shard(&self, scenario: &Scenario) -> Result<(), Stop> {
        let store = self.store.expect("--shard requires --out");
        let (all, finished) = (scenario.points().len(), store.kept(scenario));
        let folder = store.folder().display();
        let text = match (self.args.format, all - finished) {
            (Format::Json, _) => {
                let folder = folder.to_string();
                let object = json!({ "points": all, "finished": finished, "folder": folder });
                format!("{object:#}\n")
            }
            (Format::Csv, _) => format!("points,finished\n{all},{finished}\n"),
            (Format::Table, 0) => format!(
                "{all} of {all} points are finished: `tailwater merge {folder}` ends the run\n"
            ),
            (Format::Table, _) => format!(
                "{finished} of {all} points are in {folder}; `tailwater merge` puts the shards together\n"
            ),
        };
        output::answer(&text)?;
        if self.missing(scenario)?.is_empty() {
            Ok(())
        } else {
            Err(Stop::Failed)
        }
    }

    /// Makes the files of a complete run.
    fn write(
        &self,
        store: &Store,
        scenario: &Scenario,
        finished: &Finished,
        until: Option<Until>,
    ) -> Result<(), Stop> {
        let go_on = || {
            format!(
                "every simulation is kept; go on with: {}",
                self.go_on(store)
            )
        };
        let tell = || output::complain(&format!("interrupted: {}", go_on()));
        let write = || -> Result<Folder, Stop> {
            store.assemble(scenario, |summary| summary.until = until)?;
            store.write_info(&finished.info)?;
            finish(store)
        };
        match watched(None, || (), tell, write) {
            Ok(folder) => {
                self.say_where(&folder);
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
    fn answer_again(&self, finished: &Finished, folder: &Folder) -> Result<(), Stop> {
        let mut flows = BTreeMap::<u32, Vec<FlowRecord>>::new();
        if self.args.flows {
            folder.flows(&mut |point, flow| flows.entry(point).or_default().push(flow.clone()))?;
        }
        self.print_with(finished, flows)?;
        self.say_where(folder);
        self.verdict(finished)
    }

    fn print(&self, finished: &Finished, scenario: &Scenario) -> Result<(), Stop> {
        let mut flows = BTreeMap::new();
        if self.args.flows {
            for (number, point) in (0..).zip(scenario.points()) {
                flows.insert(number, self.kept.flows(point, scenario)?);
            }
        }
        self.print_with(finished, flows)
    }

    fn print_with(
        &self,
        finished: &Finished,
        flows: BTreeMap<u32, Vec<FlowRecord>>,
    ) -> Result<(), Stop> {
        let flows = self.args.flows.then_some(flows);
        print(finished, self.args.format, &self.args.view, flows)
    }

    /// Whether the command succeeds: not if a point failed, nor with `--strict` if a goal is missed.
    fn verdict(&self, finished: &Finished) -> Result<(), Stop> {
        verdict(finished)?;
        if self.args.goal.strict && !search::succeeds(&finished.summary) {
            return Err(Stop::Failed);
        }
        Ok(())
    }

    fn say_where(&self, folder: &Folder) {
        if !self.args.quiet {
            say_where(folder);
        }
    }
}

/// The results of an earlier run if there is nothing to add: only the last of its points and its report
/// may be left to do.
fn finished_before(
    args: &RunArgs,
    store: &Store,
    scenario: &Scenario,
) -> Result<Option<Finished>, Problems> {
    if !store.is_assembled() {
        return Ok(None);
    }
    let folder = store.read()?;
    if !folder.summary().failures.is_empty() {
        return Ok(None);
    }
    folder.check_all()?;
    let finished = Finished::of(folder);
    let summary = &finished.summary;
    let asked = args.until.map(|target| (target, args.max_seeds.get()));
    let done = summary
        .until
        .as_ref()
        .map(|until| (until.target, until.bound));
    let same = match asked {
        None => summary.seeds == scenario.seeds(),
        Some(_) => asked == done,
    };
    if same {
        return Ok(Some(finished));
    }
    let folder = store.folder().display();
    let there = summary.seeds;
    let problem = Problem::new(match asked {
        None => format!(
            "{folder} holds a finished run of {there} seeds, and {} are asked for",
            scenario.seeds()
        ),
        Some(_) => {
            format!("{folder} holds a finished run of {there} seeds, not of this --until")
        }
    });
    Err(problem.help("choose another --out").into())
}

/// Prints a sweep in the format asked for, JSON with these flows by the number of their point.
pub(crate) fn print(
    finished: &Finished,
    format: Format,
    view: &ViewArgs,
    flows: Option<BTreeMap<u32, Vec<FlowRecord>>>,
) -> Result<(), Stop> {
    let text = match format {
        Format::Table => {
            let view = view.view(output::width(), output::styled(&io::stdout()));
            render::table(finished, &view)
        }
        Format::Json => render::json(finished, flows),
        Format::Csv => render::csv(finished),
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
