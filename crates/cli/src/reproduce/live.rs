//! `tailwater reproduce --live`: figures on the real stacks of this machine, scaled to what it holds. Orders and
//! ratios are judged; numbers of a paper are of its own machines.

mod judged;
mod measured;

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use claims::catalogue::{self, Selection};
use claims::{Experiment, Live};
use emulated::Emulated;
use scenario::{Overrides, Problem, Problems, Scenario};
use serde_json::Value;

use crate::args::{Format, ReproduceArgs};
use crate::output::{self, Stop};
use crate::{privileged, report};

/// Runs every chosen figure that has a test bed, judges its claims and prints the verdicts.
pub(super) fn reproduce(args: &ReproduceArgs) -> Result<(), Stop> {
    let selections = catalogue::find(&args.what)?;
    let figures: Vec<(&Experiment, &Live)> = selections.iter().flat_map(beds).collect();
    if figures.is_empty() {
        return Err(no_bed(args).into());
    }
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("results").join("reproduce-live"));
    // Everything is checked before anything runs.
    let scaled = figures
        .iter()
        .map(|(figure, live)| Scaled::of(figure, live, args, &out));
    let scaled = scaled.collect::<Result<Vec<_>, _>>()?;
    let mut ran = Vec::new();
    for (number, scaled) in scaled.iter().enumerate() {
        if !args.quiet {
            let (number, of, id) = (number + 1, figures.len(), scaled.figure.id());
            output::complain(&format!("figure {number} of {of}: {id}"));
        }
        ran.push(scaled.run(args)?);
    }
    output::answer(&match args.format {
        Format::Table => emulated::claims::table(&ran),
        Format::Json => emulated::claims::json(&ran),
        Format::Csv => emulated::claims::csv(&ran),
    })?;
    if !args.quiet {
        output::complain(&format!("Results: {}", out.display()));
    }
    if args.strict && ran.iter().any(emulated::claims::misses_any) {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// The chosen figures that have a test bed.
fn beds(selection: &Selection) -> impl Iterator<Item = (&Experiment, &Live)> {
    let chosen = |figure: &&Experiment| selection.figures.contains(&figure.name);
    let figures = selection.paper.experiments.iter().filter(chosen);
    figures.filter_map(|figure| Some((figure, figure.live.as_ref()?)))
}

fn no_bed(args: &ReproduceArgs) -> Problems {
    let all = catalogue::find(&[]).unwrap_or_default();
    let all: Vec<String> = all
        .iter()
        .flat_map(beds)
        .map(|(figure, _)| figure.id())
        .collect();
    let what = args.what.join(", ");
    let problem = Problem::new(format!("{what}: no figure of it runs on real stacks"));
    let help = format!(
        "a figure that does has a table [live]; there are: {}",
        all.join(", ")
    );
    problem.help(help).into()
}

/// A figure as this machine runs it.
struct Scaled<'a> {
    figure: &'a Experiment,
    live: &'a Live,
    runs: NonZeroU32,
    folder: PathBuf,
    /// What is run: its points are those of both worlds.
    scenario: Scenario,
}

impl<'a> Scaled<'a> {
    fn of(
        figure: &'a Experiment,
        live: &'a Live,
        args: &ReproduceArgs,
        out: &Path,
    ) -> Result<Self, Problems> {
        let runs = args.runs.unwrap_or(live.runs);
        let overrides = Overrides {
            sets: sets(live),
            seeds: Some(runs),
            ..Overrides::default()
        };
        Ok(Self {
            figure,
            live,
            runs,
            folder: out.join(&figure.paper).join(&figure.name),
            scenario: Scenario::load(figure.source.clone(), &overrides)?,
        })
    }

    /// Runs it in both worlds, and judges what came out.
    fn run(&self, args: &ReproduceArgs) -> Result<Emulated, Stop> {
        let file = self.folder.join(SCENARIO);
        let text = catalogue::scenario_text(&self.figure.source)?;
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| Problems::from(unwritten(&file, &error)))?;
        let mut seen = 0;
        let called = privileged::call(&args.given, self.words(args, &file), &mut |line| {
            if line["type"] == "point" && !args.quiet {
                seen += 1;
                let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
                output::complain(&format!("run {seen}: {} {}", word("world"), word("scheme")));
            }
        });
        let mut lines = called.inspect_err(|_| self.forget(&file))?;
        let judged = judged::judge(
            self.figure,
            self.live,
            (&self.scenario, &self.folder),
            &lines,
        )?;
        self.keep(&judged)?;
        lines.extend(judged);
        let emulated = Emulated::new(lines);
        if !args.no_report {
            let page = self.folder.join(report::NAME);
            ::report::write_live(&emulated::page(&emulated), &page).map_err(Problems::from)?;
        }
        Ok(emulated)
    }

    fn words(&self, args: &ReproduceArgs, file: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["emulate".into(), file.into()];
        for set in sets(self.live) {
            words.extend(["--set".into(), set.into()]);
        }
        let rate = args.rate.as_deref().or(self.live.rate.as_deref());
        words.extend(["--rate".into(), rate.unwrap_or("auto").into()]);
        words.extend(["--runs".into(), self.runs.to_string().into()]);
        words.extend(["--flows".into(), "--out".into(), self.folder.clone().into()]);
        words
    }

    /// The verdicts belong to what was told.
    fn keep(&self, judged: &[Value]) -> Result<(), Problems> {
        let path = self.folder.join(emulated::LINES);
        let file = fs::OpenOptions::new().append(true).open(&path);
        let written =
            file.and_then(|mut file| judged.iter().try_for_each(|line| writeln!(file, "{line}")));
        written.map_err(|error| unwritten(&path, &error).into())
    }

    /// What was not run leaves no empty folders.
    fn forget(&self, file: &Path) {
        drop(fs::remove_file(file));
        for folder in self.folder.ancestors().take(3) {
            // One that holds something stays.
            drop(fs::remove_dir(folder));
        }
    }
}

/// Settings of the test bed: those of the file, and headers as Linux has them.
fn sets(live: &Live) -> Vec<String> {
    let own = live.set.iter().map(|(key, value)| format!("{key}={value}"));
    own.chain(["net.header_bytes=66".to_owned()]).collect()
}

fn unwritten(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot write {}: {error}", path.display())).help("check the path")
}

/// The scenario of the figure, in its folder.
const SCENARIO: &str = "figure.toml";
