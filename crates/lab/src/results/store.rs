//! A run folder that is being filled.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::part::{self, Part};
use super::summary::{PointResult, PointResults, Summary};
use super::tables::{Records, flow_fields, port_fields};
use super::{cannot, replace};
use crate::error::RunError;
use crate::metrics::Outcome;
use crate::pcap::{Capture, Places};
use crate::run;
use crate::scenario::{PointSpec, Problem, Problems, Scenario};
use crate::trace::{self, Plan, Recorder};

/// A run folder and the finished points in it.
///
/// A point that is finished is on disk, whole, before the next one begins on its thread, in a file
/// named after its row and seed. So whatever ends the process, nothing finished is lost; a sweep may
/// get more seeds; and several processes may fill one folder. When every point is there,
/// [`Store::assemble`] makes the tables from them, in the order of the points, and
/// [`Store::complete`] removes them. Memory is O(points), not O(flows).
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Identifies the scenario but for the number of seeds, and the version.
    fingerprint: u64,
}

/// Which points of a sweep a process of several runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which one, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// Whether it runs `point`. Rows differ in cost, so neighbours go to different shards.
    pub fn runs(self, point: &PointSpec) -> bool {
        point.index % self.of as usize == self.number as usize - 1
    }
}

impl Store {
    /// Begins a new folder, or continues one of the same scenario if `resume` says so.
    pub fn open(folder: &Path, scenario: &Scenario, resume: bool) -> Result<Self, Problems> {
        let text = scenario_text(scenario);
        let store = Self {
            folder: folder.to_owned(),
            fingerprint: fingerprint(&text),
        };
        match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("read the folder", folder, &error)),
            Ok(false) if !resume => {
                let problem = Problem::new(format!("{} is not empty", folder.display()));
                let help = "choose another --out, or continue what is there with --resume";
                return Err(problem.help(help).into());
            }
            Ok(false) => same_scenario(folder, &text)?,
        }
        if !store.is_assembled() {
            let parts = store.parts();
            fs::create_dir_all(&parts)
                .map_err(|error| cannot("make the folder", &parts, &error))?;
            store.write("scenario.toml", &text)?;
        }
        Ok(store)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the tables, the summary and `run.json`, which is written last, are there already.
    pub fn is_assembled(&self) -> bool {
        self.folder.join("run.json").exists()
    }

    /// Points without a result: those never finished and those that failed.
    pub fn missing<'a>(&self, scenario: &'a Scenario) -> Result<Vec<&'a PointSpec>, Problems> {
        let mut missing = Vec::new();
        for point in scenario.points() {
            let path = self.part(point, scenario);
            let done = part::is_done(&path, self.fingerprint);
            if done.map_err(|error| cannot("read", &path, &error))? != Some(true) {
                missing.push(point);
            }
        }
        Ok(missing)
    }

    /// Simulates a point and keeps its outcome, its series and its captures, each whole or not at
    /// all, the outcome last.
    ///
    /// # Panics
    /// As [`run::run`] does.
    pub fn simulate(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        places: Option<&Places>,
    ) -> Result<(), RunError> {
        let stored = |error: io::Error| {
            RunError::Storage(format!(
                "cannot write to {}: {error}",
                self.folder.display()
            ))
        };
        let name = part::name(point, scenario.seeds());
        let unfinished = |ending| {
            self.parts()
                .join(format!(".{name}.{ending}.{}", process::id()))
        };
        let plan = Plan::of(point);
        let series = unfinished("series");
        let recorder = plan
            .as_ref()
            .map(|plan| File::create(&series).and_then(|file| Recorder::new(plan, point, file)));
        let mut recorder = recorder.transpose().map_err(stored)?;
        let outcome = if let Some(places) = places {
            let captures = unfinished("pcap");
            let capture = Capture::new(places, point, &captures).map_err(stored)?;
            let mut probes = (recorder, capture);
            let outcome = run::observe(point, &mut probes)?;
            let capture = probes.1.finish();
            recorder = probes.0;
            capture
                .and_then(|()| move_files(&captures, &self.folder.join("pcap")))
                .map_err(stored)?;
            outcome
        } else if let Some(recorder) = &mut recorder {
            run::observe(point, recorder)?
        } else {
            run::run(point)?
        };
        if let Some(recorder) = recorder {
            let kept = recorder.finish();
            kept.and_then(|()| fs::rename(&series, self.series(point, scenario)))
                .map_err(stored)?;
        }
        self.keep(point, scenario, Ok(outcome))
    }

    /// Keeps what became of a point, whole or not at all.
    pub fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: Result<Outcome, String>,
    ) -> Result<(), RunError> {
        let part = match result {
            Ok(outcome) => Part::Done(Box::new(outcome)),
            Err(error) => Part::Failed(error),
        };
        let path = self.part(point, scenario);
        part.write(&path, self.fingerprint)
            .map_err(|error| RunError::Storage(format!("cannot write {}: {error}", path.display())))
    }

    /// The numbers of every point, from disk.
    pub fn collect(&self, scenario: &Scenario) -> Result<PointResults, Problems> {
        let mut results = Vec::with_capacity(scenario.points().len());
        for point in scenario.points() {
            results.push(match self.read(point, scenario)? {
                Part::Done(outcome) => Ok(PointResult::from(&*outcome)),
                Part::Failed(error) => Err(error),
            });
        }
        Ok(results)
    }

    /// Makes the tables and the summary from the finished points. `change` may add to the summary.
    ///
    /// # Panics
    /// If the summary cannot be written as JSON, which plain data always can.
    pub fn assemble(
        &self,
        scenario: &Scenario,
        change: impl FnOnce(&mut Summary),
    ) -> Result<(Summary, PointResults), Problems> {
        // A sweep that got more seeds than it began with says so.
        self.write("scenario.toml", &scenario_text(scenario))?;
        let results = self.write_tables(scenario)?;
        self.write_series(scenario)?;
        let mut summary = Summary::new(scenario, &results);
        change(&mut summary);
        let mut json = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
        json.push('\n');
        self.write("summary.json", &json)?;
        Ok((summary, results))
    }

    /// Removes the finished points from a folder that is complete without them.
    pub fn complete(&self) -> Result<(), Problems> {
        match fs::remove_dir_all(self.parts()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(cannot("remove the folder", &self.parts(), &error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a text file of the folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Problems> {
        let path = self.folder.join(name);
        replace(&path, |file| file.write_all(text.as_bytes()))
            .map_err(|error| cannot("write", &path, &error))
    }

    /// Takes over every point that `other`, a folder of the same scenario, has finished.
    pub fn take_from(&self, other: &Path, scenario: &Scenario) -> Result<(), Problems> {
        same_scenario(other, &scenario_text(scenario))?;
        let parts = other.join(PARTS);
        let captures = other.join("pcap");
        if captures.is_dir() && captures != self.folder.join("pcap") {
            copy_files(&captures, &self.folder.join("pcap"))
                .map_err(|error| cannot("copy", &captures, &error))?;
        }
        for point in scenario.points() {
            let name = part::name(point, scenario.seeds());
            let from = part::path(&parts, &name);
            let done = part::is_done(&from, self.fingerprint);
            let to = self.part(point, scenario);
            // A success somewhere is not replaced by a failure elsewhere.
            let wanted = done.map_err(|error| cannot("read", &from, &error))?;
            let held = part::is_done(&to, self.fingerprint);
            let held = held.map_err(|error| cannot("read", &to, &error))?;
            if from != to && wanted.is_some() && held != Some(true) {
                for ending in FILES_OF_A_POINT {
                    let file = format!("{name}.{ending}");
                    copy(&parts.join(&file), &self.parts().join(&file))?;
                }
            }
        }
        Ok(())
    }

    /// Points of which nothing is known yet.
    pub fn unknown(&self, scenario: &Scenario) -> Result<usize, Problems> {
        let mut unknown = 0;
        for point in scenario.points() {
            let path = self.part(point, scenario);
            let done = part::is_done(&path, self.fingerprint);
            unknown += usize::from(
                done.map_err(|error| cannot("read", &path, &error))?
                    .is_none(),
            );
        }
        Ok(unknown)
    }

    fn write_tables(&self, scenario: &Scenario) -> Result<PointResults, Problems> {
        let (flows, ports) = ("flows.parquet", "ports.parquet");
        let mut results = Vec::with_capacity(scenario.points().len());
        // Both tables come from one pass over the points, so both are open at once.
        let flows_path = self.folder.join(flows);
        let ports_path = self.folder.join(ports);
        let mut problem = None;
        let written = replace(&flows_path, |flows| {
            let mut flows = Records::new(flows, scenario, flow_fields())?;
            replace(&ports_path, |ports| {
                let mut ports = Records::new(ports, scenario, port_fields())?;
                for point in scenario.points() {
                    match self.read(point, scenario) {
                        Err(found) => {
                            problem = Some(found);
                            return Err(io::Error::other("a point cannot be read"));
                        }
                        Ok(Part::Failed(error)) => results.push(Err(error)),
                        Ok(Part::Done(outcome)) => {
                            outcome
                                .flows
                                .iter()
                                .try_for_each(|flow| flows.flow(point, flow))?;
                            outcome
                                .ports
                                .iter()
                                .try_for_each(|port| ports.port(point, port))?;
                            results.push(Ok(PointResult::from(&*outcome)));
                        }
                    }
                }
                ports.finish().map(drop)
            })?;
            flows.finish().map(drop)
        });
        match (problem, written) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => Err(cannot("write tables in", &self.folder, &error)),
            (None, Ok(())) => Ok(results),
        }
    }

    /// Puts the series of all points that have some into one file.
    fn write_series(&self, scenario: &Scenario) -> Result<(), Problems> {
        let series = |point| self.series(point, scenario);
        let parts = || {
            scenario
                .points()
                .iter()
                .map(series)
                .filter(|path| path.exists())
        };
        if parts().next().is_none() {
            return Ok(());
        }
        let path = self.folder.join("series.parquet");
        let written = replace(&path, |file| {
            trace::concatenate(&mut parts(), file.get_ref().try_clone()?)
        });
        written.map_err(|error| cannot("write", &path, &error))
    }

    fn read(&self, point: &PointSpec, scenario: &Scenario) -> Result<Part, Problems> {
        let path = self.part(point, scenario);
        let part = Part::read(&path, self.fingerprint);
        part.map_err(|error| cannot("read", &path, &error))?
            .ok_or_else(|| {
                Problem::new(format!("{} is missing or damaged", path.display()))
                    .help("run the sweep again with --resume")
                    .into()
            })
    }

    fn part(&self, point: &PointSpec, scenario: &Scenario) -> PathBuf {
        part::path(&self.parts(), &part::name(point, scenario.seeds()))
    }

    fn series(&self, point: &PointSpec, scenario: &Scenario) -> PathBuf {
        let name = part::name(point, scenario.seeds());
        self.parts().join(format!("{name}.{SERIES}"))
    }

    fn parts(&self) -> PathBuf {
        self.folder.join(PARTS)
    }
}

/// The resolved scenario under a line that names the version.
fn scenario_text(scenario: &Scenario) -> String {
    format!(
        "# tailwater {}: every setting of this run; `tailwater run scenario.toml` repeats it.\n{}",
        crate::VERSION,
        scenario.resolved()
    )
}

/// The lines that make a scenario what it is: more seeds are more of the same, but for the step from
/// one to several, at which less is traced.
fn identifying(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.starts_with("seeds = ") || *line == "seeds = 1")
}

/// FNV-1a over the identifying lines.
fn fingerprint(text: &str) -> u64 {
    let bytes = identifying(text).flat_map(str::bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Refuses a folder of another scenario or version, with the first line that differs.
fn same_scenario(folder: &Path, text: &str) -> Result<(), Problems> {
    let path = folder.join("scenario.toml");
    let there = fs::read_to_string(&path).map_err(|error| {
        let problem = Problem::new(format!(
            "{} is no run folder: cannot read its scenario.toml: {error}",
            folder.display()
        ));
        Problems::from(problem.help("choose another folder"))
    })?;
    if fingerprint(&there) == fingerprint(text) {
        return Ok(());
    }
    let lines = |text: &str| -> Vec<String> { identifying(text).map(str::to_owned).collect() };
    let (old, new) = (lines(&there), lines(text));
    let difference = old.iter().zip(&new).find(|(old, new)| old != new);
    let difference = difference.map_or_else(
        || "one has more lines than the other".to_owned(),
        |(old, new)| format!("there: {old}\nhere:  {new}"),
    );
    let problem = Problem::new(format!(
        "{} holds results of another scenario or version",
        folder.display()
    ));
    let help = format!("{difference}\nresults are never mixed: choose another --out");
    Err(problem.help(help).into())
}

/// Moves every file of a folder, which is removed, into another.
fn move_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    fs::remove_dir(from)
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let mut file = File::open(entry.path())?;
        replace(&to.join(entry.file_name()), |out| {
            io::copy(&mut file, out).map(drop)
        })?;
    }
    Ok(())
}

/// Copies a file whole or not at all; one that does not exist is left out.
fn copy(from: &Path, to: &Path) -> Result<(), Problems> {
    let copied = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(mut file) => replace(to, |out| io::copy(&mut file, out).map(drop)),
    };
    copied.map_err(|error| cannot("copy", from, &error))
}

/// Folder of the finished points.
const PARTS: &str = "points";
/// Endings of a point's files; the last one says that all are there.
const FILES_OF_A_POINT: [&str; 2] = [SERIES, "part"];
const SERIES: &str = "series";
