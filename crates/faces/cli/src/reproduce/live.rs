//! `tailwater reproduce --live`: runs figures on the real stacks of this machine, scaled to its capacity. Only orders
//! and ratios are judged, because a paper's numbers depend on its machines.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use answer::emulation::Emulation;
use answer::emulation::judged::{self, BedFigure};
use claims::catalogue::{self, Selection};
use claims::{Experiment, Live, Of};
use protocol::{ClaimLine, Line};
use scenario::{Overrides, Problem, Problems, Scenario};

use crate::args::{Format, ReproduceArgs};
use crate::emulate::tell_run;
use crate::output::{self, Stop};
use crate::privileged;

/// Runs every chosen figure that has a test bed, judges its claims and prints the verdicts.
pub(super) fn reproduce(args: &ReproduceArgs) -> Result<(), Stop> {
    let selections = catalogue::find(&args.what)?;
    let figures: Vec<BedFigure<'_>> = selections.iter().flat_map(beds).collect();
    if figures.is_empty() {
        return Err(no_bed(args).into());
    }
    // Figures with the same runs are run once.
    let mut together: Vec<Vec<BedFigure<'_>>> = Vec::new();
    for bed in figures {
        let mut all = together.iter_mut();
        match all.find(|beds| beds[0].run.source.name() == bed.run.source.name()) {
            Some(beds) => beds.push(bed),
            None => together.push(vec![bed]),
        }
    }
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("results").join("reproduce-live"));
    // All figures are checked before anything runs.
    let scaled = together.iter().map(|beds| Scaled::of(beds, args, &out));
    let scaled = scaled.collect::<Result<Vec<_>, _>>()?;
    let mut ran = Vec::new();
    for (number, scaled) in scaled.iter().enumerate() {
        if !args.quiet {
            let ids = scaled.beds.iter().map(|bed| bed.figure.id());
            let ids: Vec<String> = ids.collect();
            let (number, of, ids) = (number + 1, together.len(), ids.join(", "));
            output::complain(&format!("figure {number} of {of}: {ids}"));
        }
        ran.extend(scaled.run(args)?);
    }
    output::answer(&match args.format {
        Format::Table => answer::emulation::claims::table(&ran),
        Format::Json => answer::emulation::claims::json(&ran),
        Format::Csv => answer::emulation::claims::csv(&ran),
    })?;
    if !args.quiet {
        output::complain(&format!("Results: {}", out.display()));
    }
    if args.strict && ran.iter().any(answer::emulation::claims::misses_any) {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// The chosen figures that have a test bed.
fn beds(selection: &Selection) -> impl Iterator<Item = BedFigure<'_>> {
    let all = &selection.paper.experiments;
    let chosen = |figure: &&Experiment| selection.figures.contains(&figure.name);
    all.iter().filter(chosen).filter_map(|figure| {
        let run = all.iter().find(|other| other.name == figure.runs())?;
        let live = figure.live.as_ref()?;
        Some(BedFigure { figure, live, run })
    })
}

fn no_bed(args: &ReproduceArgs) -> Problems {
    let all = catalogue::find(&[]).unwrap_or_default();
    let all: Vec<String> = all
        .iter()
        .flat_map(beds)
        .map(|bed| bed.figure.id())
        .collect();
    let what = args.what.join(", ");
    let problem = Problem::new(format!("{what} has no figure that runs on real stacks"));
    let help = format!(
        "a figure that does has a table [live]; there are: {}",
        all.join(", ")
    );
    problem.help(help).into()
}

/// Figures with the same runs, scaled for this machine.
struct Scaled<'a> {
    beds: &'a [BedFigure<'a>],
    runs: NonZeroU32,
    folder: PathBuf,
    /// The scenario: its points are emulated and simulated.
    scenario: Scenario,
}

impl<'a> Scaled<'a> {
    fn of(beds: &'a [BedFigure<'a>], args: &ReproduceArgs, out: &Path) -> Result<Self, Problems> {
        let BedFigure { live, run, .. } = beds[0];
        let runs = args.runs.unwrap_or(live.runs);
        let overrides = Overrides {
            sets: sets(live),
            seeds: Some(runs),
            ..Overrides::default()
        };
        Ok(Self {
            beds,
            runs,
            folder: out.join(&run.paper).join(&run.name),
            scenario: Scenario::load(run.source.clone(), &overrides)?,
        })
    }

    /// Runs them on Linux and in the simulator, and judges the results, figure by figure.
    fn run(&self, args: &ReproduceArgs) -> Result<Vec<Emulation>, Stop> {
        let file = self.folder.join(SCENARIO);
        let text = catalogue::scenario_text(&self.beds[0].run.source)?;
        fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| Problems::from(unwritten(&file, &error)))?;
        let mut seen = 0;
        let called = privileged::call(&args.given, self.words(args, &file), &mut |line| {
            if let (Line::Point(point), false) = (line, args.quiet) {
                seen += 1;
                tell_run(seen, point);
            }
        });
        let lines = called.inspect_err(|_| self.forget(&file))?;
        let mut emulated = Emulation::of(lines)?;
        let judged = judged::judge(self.beds, (&self.scenario, &self.folder), &emulated)?;
        self.keep(&judged.concat())?;
        emulated.forget_details();
        if !args.no_report {
            let page = self.folder.join(api::REPORT);
            let shown = answer::emulation::page(&emulated.clone().with_claims(judged.concat()));
            report::write_live(&shown, &page).map_err(Problems::from)?;
        }
        let figures = judged.into_iter();
        Ok(figures
            .map(|judged| emulated.clone().with_claims(judged))
            .collect())
    }

    fn words(&self, args: &ReproduceArgs, file: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["emulate".into(), file.into()];
        for set in sets(self.live()) {
            words.extend(["--set".into(), set.into()]);
        }
        let rate = args.rate.as_deref().or(self.live().rate.as_deref());
        match self.live().bed {
            claims::Bed::Namespaces => {
                words.extend(["--rate".into(), rate.unwrap_or("auto").into()]);
            }
            claims::Bed::Tun => words.extend(["--bed".into(), "tun".into()]),
        }
        words.extend(["--runs".into(), self.runs.to_string().into()]);
        words.extend(["--detail".into(), self.detail().into()]);
        words.extend(["--out".into(), self.folder.clone().into()]);
        words
    }

    /// The scale that they share.
    fn live(&self) -> &Live {
        self.beds[0].live
    }

    /// The amount of detail about each run: series are long.
    fn detail(&self) -> &'static str {
        let over_time = |of: &Of| matches!(of, Of::Series { .. } | Of::Events { .. });
        let claims = self.beds.iter().flat_map(BedFigure::claims);
        let mut operands = claims.flat_map(|claim| claim.kind.operands());
        if operands.any(|operand| over_time(&operand.measure.of)) {
            "series"
        } else {
            "flows"
        }
    }

    /// Stores the verdicts with the results.
    fn keep(&self, judged: &[ClaimLine]) -> Result<(), Problems> {
        let path = self.folder.join(protocol::FILE);
        let file = fs::OpenOptions::new().append(true).open(&path);
        let mut lines = judged
            .iter()
            .map(|line| Line::Claim(Box::new(line.clone())));
        let written = file.and_then(|mut file| lines.try_for_each(|line| writeln!(file, "{line}")));
        written.map_err(|error| unwritten(&path, &error).into())
    }

    /// Removes empty folders of figures that were not run.
    fn forget(&self, file: &Path) {
        drop(fs::remove_file(file));
        for folder in self.folder.ancestors().take(3) {
            // A non-empty folder stays.
            drop(fs::remove_dir(folder));
        }
    }
}

/// Settings of the test bed: those of the file, and header sizes as in Linux on Ethernet.
fn sets(live: &Live) -> Vec<String> {
    let own = live.set.iter().map(|(key, value)| format!("{key}={value}"));
    let headers = (live.bed == claims::Bed::Namespaces).then(|| "net.header_bytes=66".to_owned());
    own.chain(headers).collect()
}

fn unwritten(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot write {}: {error}", path.display())).help("check the path")
}

/// The scenario of the figure, in its folder.
const SCENARIO: &str = "figure.toml";
