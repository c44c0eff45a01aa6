//! A complete run folder.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use record::trace::{self, SeriesRow};
use scenario::{Argument, Help, Problem, Problems};
use serde::de::DeserializeOwned;
use sim::metrics::{FlowRecord, PortRecord};

use super::checksum::{Checksum, unsealed};
use super::info::RunInfo;
use super::lock::Lock;
use super::summary::Summary;
use super::{AGAIN, cannot, columns, damaged, flow_fields, identity, port_fields};

/// Everything in a run folder. A table is checked and read when it is needed.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    summary: Summary,
    info: RunInfo,
    scenario: String,
    /// Files that were checked.
    whole: RefCell<BTreeSet<String>>,
    /// Cells that were decoded.
    decoded: Cell<u64>,
    /// Keeps others from writing while this is read.
    _lock: Option<Lock>,
}

impl Folder {
    /// Reads the description of the run. While this value exists, nothing changes in the folder.
    pub fn open(path: &Path) -> Result<Self, Problems> {
        complete(path)?;
        let lock = Lock::to_read(path)?;
        Ok(Self {
            _lock: lock,
            ..Self::held(path)?
        })
    }

    /// The same for a folder on which this process already holds the lock.
    pub(super) fn held(path: &Path) -> Result<Self, Problems> {
        complete(path)?;
        let folder = Self {
            summary: json(&path.join("summary.json"))?,
            info: json(&path.join("run.json"))?,
            scenario: identity::read(path)?,
            path: path.to_owned(),
            whole: RefCell::default(),
            decoded: Cell::default(),
            _lock: None,
        };
        folder.check(identity::NAME)?;
        Ok(folder)
    }

    /// Fails unless every file exists and is unchanged.
    pub fn check_all(&self) -> Result<(), Problems> {
        let mut names = self.summary.checksums.keys();
        names.try_for_each(|name| self.check(name))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `summary.json`.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// `run.json`.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// `scenario.toml`.
    pub fn scenario_text(&self) -> &str {
        &self.scenario
    }

    /// `summary.json` and `run.json`, as owned values.
    pub fn into_parts(self) -> (Summary, RunInfo) {
        (self.summary, self.info)
    }

    /// The names of its tables.
    pub fn tables(&self) -> Vec<&str> {
        let names = self.summary.checksums.keys();
        names
            .filter_map(|name| name.strip_suffix(".parquet"))
            .collect()
    }

    /// The file of a table, after a check; `None` if the run has no such table.
    pub fn table_file(&self, name: &str) -> Result<Option<PathBuf>, Problems> {
        let name = format!("{name}.parquet");
        if !self.summary.checksums.contains_key(&name) {
            return Ok(None);
        }
        self.check(&name)?;
        Ok(Some(self.path.join(name)))
    }

    /// Calls `each` with the names of a table's columns, then with every row as text; missing values are empty. The
    /// inner result is the first failure of `each`.
    pub fn table(
        &self,
        name: &str,
        each: &mut dyn FnMut(&[String]) -> io::Result<()>,
    ) -> Result<io::Result<()>, Problems> {
        let mut result = Ok(());
        self.rows(&format!("{name}.parquet"), &mut |names, row| {
            if result.is_ok() {
                result = match row {
                    None => each(names),
                    Some(row) => {
                        let cells = (0..names.len()).map(|column| row.cell(column).to_string());
                        each(&cells.collect::<Vec<_>>())
                    }
                };
            }
        })?;
        Ok(result)
    }

    /// Calls `each` with every flow and its point, in order.
    pub fn flows(&self, each: &mut dyn FnMut(u32, &FlowRecord)) -> Result<(), Problems> {
        let fields = flow_fields().len();
        self.rows("flows.parquet", &mut |names, row| {
            let Some(row) = row else { return };
            let (point, flow) = columns::read(row, names.len().saturating_sub(fields));
            each(point, &flow);
        })
    }

    /// Calls `each` with every port and its point, in order.
    pub fn ports(&self, each: &mut dyn FnMut(u32, &PortRecord)) -> Result<(), Problems> {
        let fields = port_fields().len();
        self.rows("ports.parquet", &mut |names, row| {
            let Some(row) = row else { return };
            let (point, port) = columns::read(row, names.len().saturating_sub(fields));
            each(point, &port);
        })
    }

    /// Calls `each` with the cells of these columns for every row of a table. A column that the table lacks is null.
    /// Other columns are not decoded.
    pub fn cells(
        &self,
        name: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&[tables::Cell<'_>]),
    ) -> Result<(), Problems> {
        let name = format!("{name}.parquet");
        self.check(&name)?;
        let path = self.path.join(&name);
        let read = tables::names(&path).and_then(|names| {
            let place = |column: &&str| names.iter().position(|name| name == column);
            let places: Vec<Option<usize>> = columns.iter().map(place).collect();
            tables::read_columns(&path, &places, each)
        });
        let decoded = read.map_err(|error| cannot("read", &path, &error))?;
        self.decoded.set(self.decoded.get() + decoded);
        Ok(())
    }

    /// How many cells [`Folder::cells`] has decoded so far, as a measure of its work.
    pub fn decoded(&self) -> u64 {
        self.decoded.get()
    }

    /// Calls `each` with every recorded sample and event, if there are any.
    pub fn series(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) -> Result<(), Problems> {
        let name = "series.parquet";
        if !self.summary.checksums.contains_key(name) {
            return Ok(());
        }
        self.check(name)?;
        let path = self.path.join(name);
        trace::read(&path, each).map_err(|error| cannot("read", &path, &error))
    }

    /// The scene of a simulation for a page to play, as JSON; `None` if nothing was dropped or no events were recorded.
    pub fn theatre(&self, point: u32, seed: u64) -> Result<Option<String>, Problems> {
        let row = point / self.summary.seeds.max(1);
        let name = format!("theatre/{row:06}-{seed}.json");
        if !self.summary.checksums.contains_key(&name) {
            return Ok(None);
        }
        self.check(&name)?;
        let path = self.path.join(name);
        let text = fs::read_to_string(&path);
        text.map(Some)
            .map_err(|error| cannot("read", &path, &error))
    }

    /// Calls `each` with the names of a table's columns, and then with the names and each row.
    fn rows(
        &self,
        name: &str,
        each: &mut dyn FnMut(&[String], Option<&tables::ReadRow<'_>>),
    ) -> Result<(), Problems> {
        self.check(name)?;
        let path = self.path.join(name);
        let read = tables::names(&path).and_then(|names| {
            each(&names, None);
            tables::read(&path, &mut |row| each(&names, Some(row)))
        });
        read.map_err(|error| cannot("read", &path, &error))
    }

    /// Fails unless a file exists and is unchanged.
    fn check(&self, name: &str) -> Result<(), Problems> {
        if self.whole.borrow().contains(name) {
            return Ok(());
        }
        let path = self.path.join(name);
        let found = Checksum::of_file(&path).map_err(|error| cannot("read", &path, &error))?;
        let found = found.to_string();
        match self.summary.checksums.get(name) {
            Some(written) if *written == found => {
                self.whole.borrow_mut().insert(name.to_owned());
                Ok(())
            }
            written => {
                let written = written.map_or("none", String::as_str);
                let what = format!("its checksum is {found}, but summary.json says {written}");
                Err(damaged(&path, &what, AGAIN))
            }
        }
    }
}

/// Fails unless every file but the report exists.
fn complete(path: &Path) -> Result<(), Problems> {
    if super::is_assembled(path) {
        return Ok(());
    }
    let (message, help) = if path.join("points").exists() {
        (
            "holds a sweep that is not complete",
            Help::from("finish it with ")
                .argument(Argument::Resume)
                .text(", or put shards together with `tailwater merge`"),
        )
    } else if path.exists() {
        (
            "is no run folder",
            Help::from("name a folder that `tailwater run` wrote"),
        )
    } else {
        (
            "does not exist",
            Help::from("name a folder that `tailwater run` wrote"),
        )
    };
    let problem = Problem::new(format!("{} {message}", path.display()));
    Err(problem.help(help).into())
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Problems> {
    let bytes = fs::read(path).map_err(|error| cannot("read", path, &error))?;
    let Some(text) = unsealed(&bytes) else {
        let what = "its checksum at the end is wrong, or missing, as in earlier versions";
        return Err(damaged(path, what, AGAIN));
    };
    serde_json::from_str(&text).map_err(|error| {
        let problem = Problem::new(format!("cannot read {}: {error}", path.display()));
        let help = "it was written by another version; run the scenario again";
        problem.help(help).into()
    })
}
