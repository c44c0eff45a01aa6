//! `tailwater run`: a scenario becomes a run folder and an answer.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use lab::memory;
use lab::pcap::Places;
use lab::results::{Access, Folder, Host, RunInfo, Store, Summary, Until};
use lab::scenario::{PointSpec, Problem, Problems, Scenario, Source};

use crate::args::{Format, RunArgs};
use crate::finished::Finished;
use crate::output::{self, Stop};
use crate::render;
use crate::simulate::{self, Simulations, finish, now, unix_seconds};

/// Simulates every point of a scenario and prints the answer.
pub(crate) fn run(args: &RunArgs) -> Result<(), Stop> {
    let start = now();
    args.check()?;
    let mut scenario = load(args, args.first_seeds())?;
    if !args.quiet {
        output::problems(scenario.warnings());
    }
    let places = args.pcap.places(&scenario)?;
    let scratch = Scratch::for_run(args)?;
    let folder = match &scratch {
        Some(scratch) => scratch.0.clone(),
        None => choose_folder(args, &scenario, places.as_ref()),
    };
    let access = match (args.keep.shard, args.keep.resume) {
        (Some(_), _) => Access::Shard,
        (None, true) => Access::Resume,
        (None, false) => Access::New,
    };
    let store = Store::open(&folder, &scenario, places.as_ref(), access)?;
    let sweep = Sweep {
        args,
        store: &store,
    };
    let mut info = RunInfo {
        command: env::args().collect(),
        started_unix_s: unix_seconds(),
        host: Host::this(),
        ..RunInfo::default()
    };
    if let Some(finished) = sweep.finished(&scenario)? {
        return sweep.answer(&finished, &finish(&store)?, scratch.is_some());
    }
    info.runs_before = scenario.points().len() - sweep.missing(&scenario)?.len();
    info.jobs = sweep.simulate(&scenario)?.get();
    if args.keep.shard.is_some() {
        return sweep.report_shard(&scenario);
    }
    let until = sweep.more_seeds(&mut scenario)?;
    let (summary, results) = store.assemble(&scenario, |summary| summary.until = until)?;
    info.add_costs(&results);
    info.wall_us = start.elapsed().as_secs_f64() * 1e6;
    let finished = Finished {
        summary,
        results,
        info,
    };
    store.write_info(&finished.info)?;
    sweep.answer(&finished, &finish(&store)?, scratch.is_some())
}

/// What the phases of a run share.
struct Sweep<'a> {
    args: &'a RunArgs,
    store: &'a Store,
}

impl Sweep<'_> {
    /// The results of an earlier run if there is nothing to add: only the last of its points and its
    /// report may be left to do.
    fn finished(&self, scenario: &Scenario) -> Result<Option<Finished>, Problems> {
        if !self.store.is_assembled() {
            return Ok(None);
        }
        let folder = self.store.read()?;
        if !folder.summary().failures.is_empty() {
            return Ok(None);
        }
        folder.check_all()?;
        let finished = Finished::of(folder);
        let summary = &finished.summary;
        let asked = self
            .args
            .until
            .map(|target| (target, self.args.max_seeds.get()));
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
        let folder = self.store.folder().display();
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

    /// Simulates every point that is missing, and says on how many threads.
    fn simulate(&self, scenario: &Scenario) -> Result<NonZeroUsize, Stop> {
        let missing = self.missing(scenario)?;
        let limit = self.args.memory.unwrap_or_else(memory::available);
        let wanted = self.args.jobs.unwrap_or_else(simulate::cores);
        let jobs = memory::fit(&missing, wanted, limit)?;
        self.store.begin(scenario)?;
        if jobs < wanted && !self.args.quiet {
            simulate::say_memory(jobs, wanted);
        }
        let bar = simulate::progress(missing.len(), self.args.quiet);
        let run = Simulations {
            store: self.store,
            scenario,
            points: &missing,
            // Otherwise the whole run says so at its end.
            say_failures: self.args.keep.shard.is_some(),
        };
        let kept = run.run(jobs, &bar);
        bar.finish_and_clear();
        kept?;
        Ok(jobs)
    }

    /// Points that this process is to run.
    fn missing<'b>(&self, scenario: &'b Scenario) -> Result<Vec<&'b PointSpec>, Problems> {
        self.store.missing(scenario, self.args.keep.shard)
    }

    /// Runs more seeds until `--until` is content, if it was given.
    fn more_seeds(&self, scenario: &mut Scenario) -> Result<Option<Until>, Stop> {
        let Some(target) = self.args.until else {
            return Ok(None);
        };
        loop {
            let results = self.store.collect(scenario)?;
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
            *scenario = load(self.args, Some(more))?;
            self.simulate(scenario)?;
        }
    }

    fn report_shard(&self, scenario: &Scenario) -> Result<(), Stop> {
        let (all, kept) = (scenario.points().len(), self.store.kept(scenario));
        let folder = self.store.folder().display();
        let text = if kept == all {
            format!("{all} of {all} points are finished: `tailwater merge {folder}` ends the run\n")
        } else {
            format!(
                "{kept} of {all} points are in {folder}; `tailwater merge` puts the shards together\n"
            )
        };
        output::answer(&text)?;
        if self.missing(scenario)?.is_empty() {
            Ok(())
        } else {
            Err(Stop::Failed)
        }
    }

    fn answer(&self, finished: &Finished, folder: &Folder, is_scratch: bool) -> Result<(), Stop> {
        print(finished, folder, self.args.format, self.args.flows)?;
        if !is_scratch && !self.args.quiet {
            say_where(folder);
        }
        verdict(finished)
    }
}

/// Prints a sweep in the format asked for.
pub(crate) fn print(
    finished: &Finished,
    folder: &Folder,
    format: Format,
    flows: bool,
) -> Result<(), Stop> {
    let text = match format {
        Format::Table => render::table(finished, output::styled(&io::stdout())),
        Format::Json => render::json(finished, flows.then_some(folder))?,
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
            failed.error,
            failed.reproduce
        ));
    }
    if summary.failures.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed)
    }
}

fn load(args: &RunArgs, seeds: Option<u32>) -> Result<Scenario, Problems> {
    let source = Source::find(&args.scenario.scenario)?;
    let mut overrides = args.scenario.overrides();
    if let Some(seeds) = seeds {
        overrides.seeds = std::num::NonZeroU32::new(seeds);
    }
    Scenario::load(source, &overrides)
}

/// The folder that `--out` names; else `results/NAME`, or with a number behind it the first that
/// does not exist. `--resume` without `--out` takes the newest that has the same scenario and is not
/// complete.
fn choose_folder(args: &RunArgs, scenario: &Scenario, places: Option<&Places>) -> PathBuf {
    if let Some(out) = &args.keep.out {
        return out.clone();
    }
    let name: String = scenario
        .name()
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let folder = |number: u32| match number {
        1 => Path::new("results").join(&name),
        number => Path::new("results").join(format!("{name}-{number}")),
    };
    let next = (1..u32::MAX)
        .find(|number| !folder(*number).exists())
        .unwrap_or(1);
    if args.keep.resume {
        let continues = |number: &u32| Store::continues(&folder(*number), scenario, places);
        if let Some(number) = (1..next).rev().find(continues) {
            return folder(number);
        }
    }
    folder(next)
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    /// One for a run that keeps no files.
    fn for_run(args: &RunArgs) -> Result<Option<Self>, Problems> {
        if !args.keep.no_save {
            return Ok(None);
        }
        let path = env::temp_dir().join(format!("tailwater-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| {
            Problem::new(format!(
                "cannot make the folder {}: {error}",
                path.display()
            ))
            .help("let TMPDIR name a folder that you may write to")
        })?;
        Ok(Some(Self(path)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
