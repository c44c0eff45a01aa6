//! `tailwater reproduce`: runs the figures of papers and judges their claims.

mod live;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use api::{Error, Figures, Judgement, Monitor, RunOptions, Stage, StageWork, Verdicts, misses_any};
use api::{Point, PointFailure};
use scenario::Problem;

use crate::args::{Format, ReproduceArgs};
use crate::output::{self, Stop};
use crate::progress::{self, Bar, Current};
use crate::watch::listen;

/// Runs missing points, judges every claim, tries causes, prints the verdicts.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<(), Stop> {
    if args.live {
        return live::reproduce(args);
    }
    listen();
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("results").join("reproduce"));
    let asked = figures(args, out);
    let terminal = Terminal {
        args,
        bar: Current::default(),
    };
    let options = RunOptions::default()
        .monitor(&terminal)
        .allowance(args.limits.allowance(args.jobs, None));
    let reproduced = api::reproduce(&asked, &options, |judged| {
        answer(args, judged)?;
        Ok::<_, Stop>(misses_any(judged))
    })?;
    let missed = reproduced.made?;
    if !args.quiet {
        output::complain(&format!("Results: {}", asked.out.display()));
    }
    if reproduced.failed || args.strict && missed {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// The figures that the arguments select.
fn figures(args: &ReproduceArgs, out: PathBuf) -> Figures {
    Figures {
        what: args.what.clone(),
        full: args.full,
        seed: args.seed,
        seeds: args.seeds,
        causes: args.causes,
        phase: args.phase,
        out,
        report: !args.no_report,
        command: args.given.clone(),
    }
}

fn answer(args: &ReproduceArgs, judged: &Judgement<'_>) -> Result<(), Stop> {
    let text = match args.format {
        Format::Table => answer::claims::table(judged, output::styled(&io::stdout())),
        Format::Json => answer::claims::json(judged),
        Format::Csv => answer::claims::csv(judged),
    };
    output::answer(&text)
}

/// A user who reads the output and presses Ctrl-C.
struct Terminal<'a> {
    args: &'a ReproduceArgs,
    bar: Current,
}

impl Monitor for Terminal<'_> {
    fn during(&self, stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
        if !self.args.quiet {
            progress::say_duration(stage.expected_s(), stage.causes_s(), stage.jobs());
        }
        let bar = Bar::new(stage.simulations(), stage.expected_s(), self.args.quiet);
        let done = self
            .bar
            .during(bar, || self.tell_ended("interrupted", stage), work);
        match done {
            Err(Error::Problems(problems)) if problems.0.iter().any(Problem::is_no_room) => {
                output::problems(&problems.0);
                self.tell_ended("a disk has no room", stage);
                Err(Error::Stopped)
            }
            done => done,
        }
    }

    fn on_start(&self, jobs: NonZeroUsize, wanted: Option<NonZeroUsize>) {
        self.bar.with(|bar| bar.begins(jobs, wanted));
    }

    fn on_simulation(&self, expected_s: f64) {
        self.bar.with(|bar| bar.advance(expected_s));
    }

    fn on_work(&self, expected_s: f64) {
        self.bar.with(|bar| bar.worked(expected_s));
    }

    fn on_failure(&self, point: &Point, failure: &PointFailure) {
        self.bar.with(|bar| bar.failed(point, failure));
    }

    fn on_verdicts(&self, verdicts: &Verdicts<'_>) {
        if !self.args.quiet && !verdicts.claims.is_empty() {
            let figure = verdicts.figure.id();
            let text = answer::claims::verdicts(&figure, verdicts.claims, verdicts.causes_follow);
            output::complain(&text);
        }
    }

    fn on_hint(&self, line: &str) {
        if !self.args.quiet {
            output::complain(line);
        }
    }
}

impl Terminal<'_> {
    /// Reports why the runs end early and how to continue, and prints the progress of each.
    fn tell_ended(&self, why: &str, stage: &Stage<'_>) {
        let runs = stage.progress();
        let lines = runs.iter().map(|run| {
            let folder = run.folder.as_deref().unwrap_or_else(|| Path::new(""));
            let (done, all) = (run.done as u64, run.points as u64);
            let done = format!(
                "{} of {}",
                answer::words::grouped(done),
                answer::words::grouped(all)
            );
            (folder.display().to_string(), done)
        });
        let lines: Vec<_> = lines.collect();
        let done: usize = runs.iter().map(|run| run.done).sum();
        let all: usize = runs.iter().map(|run| run.points).sum();
        let (done, all) = (
            answer::words::grouped(done as u64),
            answer::words::grouped(all as u64),
        );
        let command = progress::command(&self.args.given, &[]);
        let done = if runs.is_empty() {
            "all simulations are done".to_owned()
        } else {
            format!("done {done} of {all}")
        };
        output::complain(&format!("{why}: {done}; go on with: {command}"));
        let lines = lines.iter();
        let table = answer::pairs(lines.map(|(folder, done)| (folder.as_str(), done.as_str())));
        // The reader may have closed the output.
        drop(output::answer(&table));
    }
}
