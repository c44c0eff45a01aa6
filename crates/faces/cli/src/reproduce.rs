//! `tailwater reproduce`: the figures of papers are run and their claims judged.

mod live;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use claims::judge::{Figure, Judged};
use claims::{Experiment, Paper};

use crate::args::{Format, ReproduceArgs};
use crate::output::{self, Stop};
use crate::progress::{self, Bar};
use crate::reproduction::{self, Front, Run, Stage, Work};
use crate::request::{Allowance, Figures, cores};
use crate::watch::{listen, watched};

/// Runs what is missing, judges every claim, tries causes, prints the verdicts.
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
        stop: AtomicBool::new(false),
    };
    let (failed, missed) = reproduction::reproduce(&asked, &terminal, &mut |judged| {
        answer(args, judged)?;
        Ok(reproduction::misses_any(judged))
    })?;
    if !args.quiet {
        output::complain(&format!("Results: {}", asked.out.display()));
    }
    if failed || args.strict && missed {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// What the arguments ask for.
fn figures(args: &ReproduceArgs, out: PathBuf) -> Figures {
    Figures {
        what: args.what.clone(),
        full: args.full,
        seeds: args.seeds,
        causes: args.causes,
        phase: args.phase,
        out,
        report: !args.no_report,
        allowance: Allowance {
            jobs: args.jobs,
            ..args.limits.allowance()
        },
        command: args.given.clone(),
    }
}

fn answer(args: &ReproduceArgs, judged: &[(&Paper, Vec<Figure<'_>>)]) -> Result<(), Stop> {
    let text = match args.format {
        Format::Table => answer::claims::table(judged, output::styled(&io::stdout())),
        Format::Json => answer::claims::json(judged),
        Format::Csv => answer::claims::csv(judged),
    };
    output::answer(&text)
}

/// Somebody who reads what is printed, and presses Ctrl-C.
struct Terminal<'a> {
    args: &'a ReproduceArgs,
    /// Signals end the process, so this stays false unless nothing can be kept.
    stop: AtomicBool,
}

impl Front for Terminal<'_> {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn during(&self, stage: &Stage<'_>, work: Work<'_>) -> Result<bool, Stop> {
        if !self.args.quiet {
            let jobs = self.args.jobs.unwrap_or_else(cores);
            progress::say_duration(stage.expected, stage.causes, jobs);
        }
        let bar = Bar::new(stage.simulations, stage.expected, self.args.quiet);
        let tell = || {
            bar.clear();
            self.tell_ended("interrupted", stage.runs);
        };
        let done = watched(bar.every, || bar.tick(), tell, || work(&bar));
        bar.clear();
        match done {
            Err(Stop::NoRoom(problems)) => {
                output::problems(&problems.0);
                self.tell_ended("a disk has no room", stage.runs);
                Err(Stop::Failed)
            }
            done => done,
        }
    }

    fn judged(&self, figure: &Experiment, claims: &[Judged], more: bool) {
        if !self.args.quiet && !claims.is_empty() {
            let text = answer::claims::verdicts(&figure.id(), claims, more);
            output::complain(&text);
        }
    }

    fn hint(&self, line: &str) {
        if !self.args.quiet {
            output::complain(line);
        }
    }
}

impl Terminal<'_> {
    /// Says why the runs end before their end, how to go on, and prints how far each has come.
    fn tell_ended(&self, why: &str, runs: &[Run]) {
        let mut lines = Vec::new();
        let (mut done, mut all) = (0, 0);
        for run in runs {
            let points = run.scenario.points().len();
            let (folder, left) = run.progress();
            let finished = answer::words::grouped((points - left) as u64);
            let folder = folder.display().to_string();
            lines.push((
                folder,
                format!("{finished} of {}", answer::words::grouped(points as u64)),
            ));
            (done, all) = (done + points - left, all + points);
        }
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
        // Whoever reads may have gone.
        drop(output::answer(&table));
    }
}
