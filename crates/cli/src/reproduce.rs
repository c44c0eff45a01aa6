//! `tailwater reproduce`: the figures of papers are run and their claims judged.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use claims::catalogue::{self, Selection};
use claims::judge::{Bench, Effect, Figure, Judged, Standing, Tried, Verdict, judge};
use claims::{Cause, Experiment, Measured, Paper};
use results::{self, Access, Host, RunInfo, Store};
use scenario::{Overrides, PointSpec, Problem, Problems, Scenario};

use crate::args::{Causes, Format, ReproduceArgs};
use crate::clock;
use crate::output::{self, Stop};
use crate::progress::{self, Progress};
use crate::render;
use crate::simulate::{self, Room, Simulations};
use crate::text;
use crate::watch::{listen, watched};

/// Runs what is missing, judges every claim, tries causes, prints the verdicts.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<(), Stop> {
    let selections = catalogue::find(&args.what)?;
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("results").join("reproduce"));
    let mut jobs = Vec::new();
    for selection in &selections {
        jobs.extend(Job::of_paper(selection, args, &out)?);
    }
    listen();
    let mut failed = run_all(&jobs, args)?;
    let mut books = Vec::new();
    for selection in &selections {
        let paper_jobs = jobs.iter().filter(|job| job.paper == selection.paper.name);
        books.push(Book::open(selection, paper_jobs)?);
    }
    let mut trials = Vec::new();
    for book in &books {
        trials.push(book.trials(args, &out)?);
    }
    let cause_jobs = trials.iter().flatten();
    let cause_jobs: Vec<Job> = cause_jobs.filter_map(|trial| trial.job.clone()).collect();
    failed |= run_all(&cause_jobs, args)?;
    for trial in trials.iter_mut().flatten() {
        trial.open()?;
    }

    let mut judged = Vec::new();
    for (book, trials) in books.iter().zip(&mut trials) {
        book.weigh(trials)?;
        judged.push((&book.selection.paper, book.judge(args, trials)?));
    }
    if !args.no_report {
        for (paper, figures) in &judged {
            let reproduction = ::report::Reproduction {
                paper,
                figures,
                full: args.full,
            };
            let page = out.join(&paper.name).join(crate::report::NAME);
            ::report::write_paper(&reproduction, &page).map_err(Problems::from)?;
        }
    }
    answer(args, &judged)?;
    if !args.quiet {
        output::complain(&format!("Results: {}", out.display()));
    }
    let missed = |judged: &Judged| {
        judged.finding.verdict == Verdict::NotReproduced
            && !matches!(judged.standing, Standing::Own(_))
    };
    let mut all = judged.iter().flat_map(|(_, figures)| figures);
    let strict = args.strict && all.any(|figure| figure.claims.iter().any(missed));
    if failed || strict {
        return Err(Stop::Failed);
    }
    Ok(())
}

fn answer(args: &ReproduceArgs, judged: &[(&Paper, Vec<Figure<'_>>)]) -> Result<(), Stop> {
    let text = match args.format {
        Format::Table => render::claims::table(judged, output::styled(&std::io::stdout())),
        Format::Json => render::claims::json(judged),
        Format::Csv => render::claims::csv(judged),
    };
    output::answer(&text)
}

/// A scenario of a figure and the folder that it is run into.
#[derive(Clone)]
struct Job {
    paper: String,
    figure: String,
    folder: PathBuf,
    overrides: Overrides,
    source: scenario::Source,
    /// Whether the folder gets a report of its own.
    report: bool,
}

/// A cause that is tried.
struct Trial<'a> {
    /// The figure whose runs it changes.
    figure: &'a Experiment,
    cause: &'a Cause,
    /// What it runs; none if it only measures otherwise.
    job: Option<Job>,
    runs: Option<Measured>,
    effect: Effect,
}

impl Trial<'_> {
    /// Opens what was run for it.
    fn open(&mut self) -> Result<(), Problems> {
        let runs = self.job.as_ref().map(|job| Measured::open(&job.folder));
        self.runs = runs.transpose()?;
        Ok(())
    }
}

impl Job {
    /// One for each scenario that the chosen figures of a paper show or refer to.
    fn of_paper(
        selection: &Selection,
        args: &ReproduceArgs,
        out: &Path,
    ) -> Result<Vec<Self>, Problems> {
        let paper = &selection.paper;
        let mut needed = BTreeSet::new();
        for name in &selection.figures {
            let figure = find(paper, name)?;
            needed.insert(figure.runs());
            for other in figure.references() {
                needed.insert(find(paper, other)?.runs());
            }
        }
        let needed = paper
            .experiments
            .iter()
            .filter(|figure| needed.contains(figure.name.as_str()));
        Ok(needed.map(|figure| Self::of(figure, args, out)).collect())
    }

    fn of(figure: &Experiment, args: &ReproduceArgs, out: &Path) -> Self {
        let mut overrides = Overrides {
            seeds: args.seeds,
            ..Overrides::default()
        };
        if args.full {
            overrides.seeds = args.seeds.or(figure.full.seeds);
            let sets = figure.full.set.iter();
            overrides.sets = sets.map(|(key, value)| format!("{key}={value}")).collect();
        }
        Self {
            paper: figure.paper.clone(),
            figure: figure.name.clone(),
            folder: out.join(&figure.paper).join(&figure.name),
            overrides,
            source: figure.source.clone(),
            report: !args.no_report,
        }
    }

    /// The same as a cause has it, with these schemes alone; none if the cause needs no other runs.
    fn with(&self, cause: &Cause, schemes: &BTreeSet<&str>, out: &Path) -> Option<Self> {
        if cause.set.is_empty() {
            return None;
        }
        let mut overrides = self.overrides.clone();
        for (key, value) in &cause.set {
            let same = format!("{key}=");
            overrides.sets.retain(|set| !set.starts_with(&same));
            overrides.sets.push(format!("{key}={value}"));
        }
        if !schemes.is_empty() {
            let schemes: Vec<&str> = schemes.iter().copied().collect();
            overrides.schemes = Some(schemes.join(","));
        }
        let folder = out.join(&self.paper).join("causes");
        Some(Self {
            folder: folder.join(&self.figure).join(&cause.id),
            overrides,
            report: false,
            ..self.clone()
        })
    }

    /// The scenario; seeds of one in which nothing is random would all give the same.
    fn scenario(&self) -> Result<Scenario, Problems> {
        let scenario = Scenario::load(self.source.clone(), &self.overrides)?;
        if scenario.is_random() || scenario.seeds() == 1 {
            return Ok(scenario);
        }
        let overrides = Overrides {
            seeds: Some(NonZeroU32::MIN),
            ..self.overrides.clone()
        };
        Scenario::load(self.source.clone(), &overrides)
    }

    /// The folder as it is to be continued; none if there is nothing to do.
    fn open(&self, scenario: &Scenario, quiet: bool) -> Result<Option<Store>, Problems> {
        let replaced = match Store::open(&self.folder, scenario, None, Access::Resume) {
            Ok(store) if !store.is_assembled() => return Ok(Some(store)),
            Ok(store) => {
                let folder = store.read()?;
                let summary = folder.summary();
                if summary.seeds == scenario.seeds() && summary.failures.is_empty() {
                    // An interruption may have left the points that everything was made from.
                    store.complete()?;
                    return Ok(None);
                }
                if summary.seeds == scenario.seeds() {
                    return Ok(Some(store));
                }
                format!("{} seeds", summary.seeds)
            }
            // What is no run folder is not ours to clear.
            Err(problems) if !self.folder.join("scenario.toml").is_file() => return Err(problems),
            Err(_) => "another scenario or version".to_owned(),
        };
        results::clear(&self.folder)?;
        if !quiet {
            let folder = self.folder.display();
            output::complain(&format!("{folder} held {replaced}: it is run anew"));
        }
        Store::open(&self.folder, scenario, None, Access::Resume).map(Some)
    }
}

/// Runs what is missing of all jobs, and says whether a simulation failed.
fn run_all(jobs: &[Job], args: &ReproduceArgs) -> Result<bool, Stop> {
    let mut open = Vec::new();
    let (mut total, mut steps) = (0, 0.0);
    // Every scenario is checked before the first is run.
    for job in jobs {
        let scenario = job.scenario()?;
        if let Some(store) = job.open(&scenario, args.quiet)? {
            let missing = store.missing(&scenario, None)?;
            total += missing.len();
            steps += simulate::steps(missing.into_iter(), true);
            open.push((scenario, store, job.report));
        }
    }
    if !args.quiet {
        simulate::say_duration(steps, args.jobs);
    }
    let progress = Progress::new(total, args.quiet);
    let run = || {
        let mut failed = false;
        for (scenario, store, report) in &open {
            failed |= run_one((scenario, store), *report, args, &progress)?;
        }
        Ok(failed)
    };
    let tell = || {
        progress.clear();
        tell_ended("interrupted", &args.given, &open);
    };
    let done = watched(progress.every, || progress.tick(), tell, run);
    progress.clear();
    match done {
        Err(Stop::NoRoom(problems)) => {
            output::problems(&problems.0);
            tell_ended("a disk has no room", &args.given, &open);
            Err(Stop::Failed)
        }
        done => done,
    }
}

/// Says why the runs end before their end, how to go on, and prints how far each has come.
fn tell_ended(why: &str, given: &[String], open: &[(Scenario, Store, bool)]) {
    let mut lines = Vec::new();
    let (mut done, mut all) = (0, 0);
    for (scenario, store, _) in open {
        let points = scenario.points().len();
        let left = store
            .missing(scenario, None)
            .map_or(points, |missing| missing.len());
        // A run that is complete has given its points away.
        let left = if store.is_assembled() { 0 } else { left };
        let finished = text::grouped((points - left) as u64);
        let folder = store.folder().display().to_string();
        lines.push((
            folder,
            format!("{finished} of {}", text::grouped(points as u64)),
        ));
        (done, all) = (done + points - left, all + points);
    }
    let (done, all) = (text::grouped(done as u64), text::grouped(all as u64));
    let command = progress::command(given, &[]);
    output::complain(&format!(
        "{why}: done {done} of {all}; go on with: {command}"
    ));
    let lines = lines.iter();
    let table = text::pairs(lines.map(|(folder, done)| (folder.as_str(), done.as_str())));
    // Whoever reads may have gone.
    drop(output::answer(&table));
}

fn run_one(
    (scenario, store): (&Scenario, &Store),
    report: bool,
    args: &ReproduceArgs,
    progress: &Progress,
) -> Result<bool, Stop> {
    let start = clock::now();
    let started_unix_s = clock::unix_seconds();
    let missing: Vec<&PointSpec> = store.missing(scenario, None)?;
    let room = Room::for_points(&missing, Some(store.folder()), &args.limits, args.jobs)?;
    if !args.quiet {
        progress.say(|| simulate::say_memory(room.jobs, args.jobs));
    }
    store.begin(scenario)?;
    let run = Simulations {
        kept: store,
        scenario,
        points: &missing,
        say_failures: true,
        room,
    };
    run.run(progress)
        .map_err(|error| Problems::from(Problem::new(error).for_lack_of_room()))?;
    let (summary, results) = store.assemble(scenario, |_| ())?;
    let mut info = RunInfo {
        command: args.given.clone(),
        started_unix_s,
        jobs: room.jobs.get(),
        runs_before: scenario.points().len() - missing.len(),
        host: Host::this(),
        wall_us: start.elapsed().as_secs_f64() * 1e6,
        ..RunInfo::default()
    };
    info.add_costs(&results);
    store.write_info(&info)?;
    if report {
        simulate::finish(store)?;
    } else if summary.failures.is_empty() {
        store.complete()?;
    }
    Ok(!summary.failures.is_empty())
}

/// A paper whose figures have been run.
struct Book<'a> {
    selection: &'a Selection,
    /// Its runs by figure.
    runs: BTreeMap<&'a str, (&'a Job, Measured)>,
}

impl<'a> Book<'a> {
    fn open(
        selection: &'a Selection,
        jobs: impl Iterator<Item = &'a Job>,
    ) -> Result<Self, Problems> {
        let mut runs = BTreeMap::new();
        for job in jobs {
            runs.insert(job.figure.as_str(), (job, Measured::open(&job.folder)?));
        }
        Ok(Self { selection, runs })
    }

    /// The chosen figures.
    fn figures(&self) -> impl Iterator<Item = &'a Experiment> {
        let Selection { paper, figures } = self.selection;
        let all = paper.experiments.iter();
        all.filter(|figure| figures.contains(&figure.name))
    }

    /// The runs by which the claims of a figure are judged.
    fn bench(&self, figure: &'a Experiment) -> Bench<'_> {
        let paper = &self.selection.paper;
        let others = figure.references().into_iter().filter_map(|name| {
            let runs = find(paper, name).ok()?.runs();
            Some((name, &self.runs.get(runs)?.1))
        });
        Bench {
            own: &self.runs[figure.runs()].1,
            others: others.collect(),
            changed: None,
            weight: None,
        }
    }

    /// The figures of the paper, chosen or not, that show the runs of this one.
    fn sharing(&self, figure: &'a Experiment) -> impl Iterator<Item = &'a Experiment> {
        let all = self.selection.paper.experiments.iter();
        all.filter(|other| other.shares_runs(figure))
    }

    /// The causes to try, each with what it runs.
    fn trials(&self, args: &ReproduceArgs, out: &Path) -> Result<Vec<Trial<'a>>, Problems> {
        let mut wanted = BTreeSet::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            for claim in &figure.claims {
                if tries(args, judge(claim, &bench)?.verdict.is_missed()) {
                    wanted.insert(figure.runs());
                }
            }
        }
        let all = self.selection.paper.experiments.iter();
        let mut trials = Vec::new();
        for figure in all.filter(|figure| wanted.contains(figure.name.as_str())) {
            for cause in &figure.causes {
                let claims = self.sharing(figure).flat_map(|figure| &figure.claims);
                let schemes = cause.runs(claims);
                let job = self.runs[figure.runs()].0.with(cause, &schemes, out);
                trials.push(Trial {
                    figure,
                    cause,
                    job,
                    runs: None,
                    effect: Effect::default(),
                });
            }
        }
        Ok(trials)
    }

    /// Counts what each cause explains and breaks among all claims about the runs that it changes.
    fn weigh(&self, trials: &mut [Trial<'a>]) -> Result<(), Problems> {
        for trial in trials {
            for figure in self.sharing(trial.figure) {
                let bench = self.bench(figure);
                let with = bench.with(trial.cause, trial.runs.as_ref());
                for claim in figure.claims.iter().filter(|claim| claim.own.is_none()) {
                    let (without, with) = (judge(claim, &bench)?, judge(claim, &with)?);
                    trial.effect.add(without.verdict, with.verdict);
                }
            }
        }
        Ok(())
    }

    /// Every chosen figure with its claims judged.
    fn judge<'b>(
        &'b self,
        args: &ReproduceArgs,
        trials: &'b [Trial<'a>],
    ) -> Result<Vec<Figure<'b>>, Problems> {
        let mut figures = Vec::new();
        for figure in self.figures() {
            let bench = self.bench(figure);
            let run = find(&self.selection.paper, figure.runs())?;
            let full = run.full.scale.as_ref().filter(|_| args.full);
            let scale = scale(full.unwrap_or(&figure.scale), args);
            let mut claims = Vec::new();
            for claim in &figure.claims {
                let mut judged = Judged::new(figure, claim, &bench, &scale)?;
                let tries = tries(args, judged.finding.verdict.is_missed());
                let tried = trials.iter().filter(|trial| {
                    tries && trial.figure.shares_runs(figure) && trial.cause.concerns(claim)
                });
                for trial in tried {
                    let bench = bench.with(trial.cause, trial.runs.as_ref());
                    let tried = Tried::new(claim, trial.cause, &bench, trial.effect)?;
                    judged.causes.push(tried);
                }
                claims.push(judged);
            }
            figures.push(Figure {
                experiment: figure,
                bench,
                claims,
            });
        }
        Ok(figures)
    }
}

/// Whether causes are tried for a claim that is `missed` or not.
fn tries(args: &ReproduceArgs, missed: bool) -> bool {
    match args.causes {
        Causes::Missed => missed,
        Causes::All => true,
        Causes::None => false,
    }
}

/// The scale of a run, with what the command line changed.
fn scale(stated: &str, args: &ReproduceArgs) -> String {
    match args.seeds {
        Some(seeds) => format!("{stated}; here --seeds {seeds}"),
        None => stated.to_owned(),
    }
}

fn find<'a>(paper: &'a Paper, name: &str) -> Result<&'a Experiment, Problems> {
    let found = paper.experiments.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| Problem::new(format!("{} has no figure {name}", paper.name)).into())
}
