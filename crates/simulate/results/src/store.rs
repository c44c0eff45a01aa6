//! A run folder while it is being filled.

mod assemble;
mod parcel;
mod suspects;
mod unfinished;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use plan::PointSpec;
use record::pcap::CapturePoints;
use scenario::{Argument, Help, Problem, Problems, Scenario};
use sim::error::RunError;
use sim::metrics::Outcome;

use super::attempt::Attempts;
use super::checksum::{Seal, sealed};
use super::files::{self, Stay, replace};
use super::folder::Folder;
use super::identity;
use super::info::RunInfo;
use super::lock::{self, Lock};
use super::part::{self, Part};
use super::point_result::{PointResult, PointResults};
use super::shard::Shard;
use super::{cannot, damaged};
pub use unfinished::Unfinished;

/// A run folder and the finished points in it.
///
/// A finished point is complete on disk before the next one begins on its thread, in a file named after its row and
/// seed. So nothing finished is lost if the process ends for any reason, a sweep may get more seeds, and several
/// processes may fill one folder. When all points exist, [`Store::assemble`] makes the tables from them, in the order
/// of the points, and [`Store::complete`] removes them. Memory is O(points), not O(flows).
///
/// A non-empty folder is locked from [`Store::open`] on, an empty one from [`Store::begin`] on, until the store is
/// dropped. [`Access`] decides which processes are locked out.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    access: Access,
    lock: OnceLock<Lock>,
    /// The places where packets are captured.
    places: Option<CapturePoints>,
    /// The line that says so.
    captures: Option<String>,
    /// Identifies the scenario without the number of seeds, the captures and the version.
    fingerprint: u64,
    /// Points that this process simulates at the moment, among several processes.
    attempts: Attempts,
    /// For each point of a shard, the first one with the same outcome.
    firsts: OnceLock<Vec<usize>>,
}

/// A finished point: its stored part, and its outcome or the reason of its failure.
type FinishedPoint = (Part, Result<Box<Outcome>, String>);

/// The work that a process is going to do in a run folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Fill an empty or new folder, alone.
    New,
    /// Fill an empty or new folder, or continue one, alone.
    Resume,
    /// Fill an empty or new folder, alone, and read it before the process ends. Its points need not survive a loss of
    /// power.
    Scratch,
    /// Run some points, while other processes may run others.
    Shard,
}

impl Store {
    /// Opens a folder that does not exist, is empty, or has the same scenario if `access` allows that. Nothing but the
    /// lock is written before [`Store::begin`].
    pub fn open(
        folder: &Path,
        scenario: &Scenario,
        places: Option<&CapturePoints>,
        access: Access,
    ) -> Result<Self, Problems> {
        let captures = captures(scenario, places);
        Self::with(folder, scenario, captures, access).map(|store| Self {
            places: places.cloned(),
            ..store
        })
    }

    /// Whether a folder has points that [`Access::Resume`] would continue.
    pub fn continues(folder: &Path, scenario: &Scenario, places: Option<&CapturePoints>) -> bool {
        let text = identity::text(scenario, captures(scenario, places).as_deref());
        folder.join(PARTS).exists() && identity::check(folder, &text).is_ok()
    }

    /// Opens `folder` for merging folders like `shard`, with the captures of `shard`.
    pub fn open_like(shard: &Path, folder: &Path, scenario: &Scenario) -> Result<Self, Problems> {
        let text = identity::read(shard)?;
        let captures = text.lines().find(|line| line.starts_with(CAPTURES));
        Self::with(
            folder,
            scenario,
            captures.map(str::to_owned),
            Access::Resume,
        )
    }

    fn with(
        folder: &Path,
        scenario: &Scenario,
        captures: Option<String>,
        access: Access,
    ) -> Result<Self, Problems> {
        let text = identity::text(scenario, captures.as_deref());
        let store = Self {
            folder: folder.to_owned(),
            access,
            lock: OnceLock::new(),
            places: None,
            captures,
            fingerprint: identity::fingerprint(&text),
            attempts: Attempts::default(),
            firsts: OnceLock::new(),
        };
        if store.is_empty()? {
            return Ok(store);
        }
        if matches!(access, Access::New | Access::Scratch) {
            return Err(not_empty(folder));
        }
        // The identity is checked first, because only a run folder gets a lock, and again afterwards, because an
        // earlier owner of the lock may have changed it.
        identity::check(folder, &text)?;
        store.hold()?;
        identity::check(folder, &text)?;
        Ok(store)
    }

    /// Creates the folder and writes its scenario, so that points can be kept.
    pub fn begin(&self, scenario: &Scenario) -> Result<(), Problems> {
        let (folder, parts) = (&self.folder, self.parts());
        fs::create_dir_all(folder).map_err(|error| cannot("make the folder", folder, &error))?;
        if self.lock.get().is_none() {
            self.hold()?;
            // It was empty when it was opened.
            if self.access != Access::Shard && !self.is_empty()? {
                return Err(not_empty(folder));
            }
        }
        // The scenario is written first, so that a folder with points always says which run they belong to.
        let (text, path) = (self.scenario_text(scenario), folder.join(identity::NAME));
        let created = files::create(&path, &Seal::TOML.put(&text));
        if !created.map_err(|error| cannot("write", &path, &error))? {
            identity::check(folder, &text)?;
            if identity::read(folder)? != text {
                self.write(identity::NAME, &Seal::TOML.put(&text))?;
            }
        }
        fs::create_dir_all(&parts)
            .and_then(|()| files::sync_folder(folder))
            .map_err(|error| cannot("make the folder", &parts, &error))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether all files made from the points exist already.
    pub fn is_assembled(&self) -> bool {
        super::is_assembled(&self.folder)
    }

    /// The folder for reading, after it is assembled.
    pub fn read(&self) -> Result<Folder, Problems> {
        Folder::held(&self.folder)
    }

    /// Points of this process without a result: unfinished ones, failed ones, and those whose files have changed.
    pub fn missing<'a>(
        &self,
        scenario: &'a Scenario,
        shard: Option<Shard>,
    ) -> Result<Vec<&'a PointSpec>, Problems> {
        let mut missing = Vec::new();
        let shard = shard.map(|shard| shard.runs(scenario.points(), self.captures()));
        for point in scenario.points() {
            let ours = shard.as_ref().is_none_or(|ours| ours[point.index]);
            if ours && self.state(point, scenario)? != State::Done {
                missing.push(point);
            }
        }
        Ok(missing)
    }

    /// The error of a simulation that cannot write here.
    pub fn unwritten(&self, error: &io::Error) -> RunError {
        RunError::Storage(format!(
            "cannot write to {}: {error}",
            self.folder.display()
        ))
    }

    /// The results of every point, from disk.
    pub fn collect(&self, scenario: &Scenario) -> Result<PointResults, Problems> {
        let points = scenario.points().iter();
        let numbers = |outcome: Box<Outcome>| PointResult::from(&*outcome);
        points
            .map(|point| Ok(self.result(point, scenario)?.1.map(numbers)))
            .collect()
    }

    /// Writes `run.json`. Afterwards the folder is complete except for its report.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), Problems> {
        self.write("run.json", &sealed(info))
    }

    /// Fails unless `other` is a folder of the same scenario and version.
    pub fn fits(&self, other: &Path, scenario: &Scenario) -> Result<(), Problems> {
        identity::check(other, &self.scenario_text(scenario))
    }

    /// Takes over every finished point of `other`, a folder of the same scenario. Damaged points are not taken over.
    pub fn take_from(&self, other: &Path, scenario: &Scenario) -> Result<(), Problems> {
        self.fits(other, scenario)?;
        let _reading = Lock::to_read(other)?;
        for point in scenario.points() {
            let name = part::name(point, scenario.seeds());
            let from = part::path(&other.join(PARTS), &name);
            let Some(part) = self.read_part(&from)? else {
                continue;
            };
            // A success is not replaced by another folder's failure.
            let held = self.state(point, scenario)?;
            let wanted = held != State::Done && (part.is_done() || held != State::Failed);
            let has_files = part.has_files(other);
            if wanted && has_files.map_err(|error| cannot("read", other, &error))? {
                let files = part.files().iter().map(|(file, _)| file.as_str());
                for file in files.chain([format!("{PARTS}/{name}.part").as_str()]) {
                    self.take(other, file)?;
                }
            }
        }
        Ok(())
    }

    /// The number of kept points, including those damaged since.
    pub fn kept(&self, scenario: &Scenario) -> usize {
        let points = scenario.points().iter();
        let kept = points.filter(|point| self.part(point, scenario).exists());
        kept.count()
    }

    /// Whether packets are captured.
    pub const fn captures(&self) -> bool {
        self.places.is_some()
    }

    /// The number of points without a usable result.
    pub fn unknown(&self, scenario: &Scenario) -> Result<usize, Problems> {
        let mut unknown = 0;
        for point in scenario.points() {
            unknown += usize::from(self.state(point, scenario)? == State::Unknown);
        }
        Ok(unknown)
    }

    fn hold(&self) -> Result<(), Problems> {
        let lock = match self.access {
            Access::Shard => Lock::together(&self.folder)?,
            Access::New | Access::Resume | Access::Scratch => Lock::alone(&self.folder)?,
        };
        self.lock.get_or_init(|| lock);
        Ok(())
    }

    fn stay(&self) -> Stay {
        match self.access {
            Access::Scratch => Stay::Scratch,
            Access::New | Access::Resume | Access::Shard => Stay::Kept,
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Problems> {
        let path = self.folder.join(name);
        replace(&path, |file| file.write_all(text.as_bytes()))
            .map_err(|error| cannot("write", &path, &error))
    }

    /// Copies a file of another run folder to the same place in this one.
    fn take(&self, other: &Path, name: &str) -> Result<(), Problems> {
        let (from, to) = (other.join(name), self.folder.join(name));
        let folder = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)
            .and_then(|()| files::copy(&from, &to))
            .map_err(|error| cannot("copy", &from, &error))
    }

    fn state(&self, point: &PointSpec, scenario: &Scenario) -> Result<State, Problems> {
        let path = self.part(point, scenario);
        let Some(part) = self.read_part(&path)? else {
            return Ok(State::Unknown);
        };
        if !part.is_done() {
            return Ok(State::Failed);
        }
        let whole = part.has_files(&self.folder);
        let whole = whole.map_err(|error| cannot("read", &self.folder, &error))?;
        Ok(if whole { State::Done } else { State::Unknown })
    }

    /// The part of a finished point, and its outcome.
    fn result(&self, point: &PointSpec, scenario: &Scenario) -> Result<FinishedPoint, Problems> {
        let path = self.part(point, scenario);
        let part = self.read_part(&path)?;
        if let Some(part) = part
            && let Some(outcome) = part.outcome()
        {
            return Ok((part, outcome));
        }
        let help = Help::from("run the sweep again with ")
            .argument(Argument::Resume)
            .text(", which simulates this point again");
        Err(damaged(
            &path,
            "it was intact when this command began",
            help,
        ))
    }

    /// The stored result of a point, if there is one.
    pub(super) fn find(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Result<Box<Outcome>, String>>, Problems> {
        let part = self.read_part(&self.part(point, scenario))?;
        Ok(part.and_then(|part| part.outcome()))
    }

    fn read_part(&self, path: &Path) -> Result<Option<Part>, Problems> {
        part::read(path, self.fingerprint).map_err(|error| cannot("read", path, &error))
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

    fn scenario_text(&self, scenario: &Scenario) -> String {
        identity::text(scenario, self.captures.as_deref())
    }

    /// Whether the folder has nothing but a lock and temporary files of an interrupted process.
    fn is_empty(&self) -> Result<bool, Problems> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
        };
        let entries = entries.map_err(|error| cannot("read the folder", &self.folder, &error))?;
        let nothing = |path: &Path| path.ends_with(lock::NAME) || files::becomes(path).is_some();
        Ok(entries.iter().all(|entry| nothing(&entry.path())))
    }
}

/// Whether the result of a point is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Failed,
    Done,
}

/// The line of `scenario.toml` about captures.
fn captures(scenario: &Scenario, places: Option<&CapturePoints>) -> Option<String> {
    // The names of captures contain the numbers of points, which depend on the number of seeds.
    places.map(|places| format!("{CAPTURES}{places}, {} seeds", scenario.seeds()))
}

fn not_empty(folder: &Path) -> Problems {
    let problem = Problem::new(format!("{} is not empty", folder.display()));
    let help = Help::from("choose another ")
        .argument(Argument::Folder)
        .text(", or continue what is there with ")
        .argument(Argument::Resume);
    problem.help(help).into()
}

/// The prefix of the line of `scenario.toml` about captures.
const CAPTURES: &str = "# captures: ";
/// Folder of the finished points.
const PARTS: &str = "points";
/// Folder of captures.
const CAPTURED: &str = "pcap";
/// Folders with files of some points: traces for Perfetto, and scenes for pages to play.
const OWN: [&str; 2] = ["perfetto", "theatre"];
/// Folders of files that stay with the run.
pub(super) const FOLDERS: [&str; 3] = [CAPTURED, OWN[0], OWN[1]];
/// Ending of the series of a point.
const SERIES: &str = "series";
