//! A run folder that is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::info::RunInfo;
use super::summary::Summary;
use super::{cannot, flow_fields, port_fields, table, tables};
use crate::metrics::{FlowRecord, PortRecord};
use crate::scenario::{Problem, Problems};
use crate::trace::{self, SeriesRow};

/// Everything in a run folder. Tables are read as they are asked for.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    summary: Summary,
    info: RunInfo,
    scenario: String,
}

impl Folder {
    /// Reads what describes the run.
    pub fn open(path: &Path) -> Result<Self, Problems> {
        if !super::is_assembled(path) {
            let (message, help) = if path.join("points").exists() {
                (
                    "holds a sweep that is not complete",
                    "finish it with --resume, or put shards together with `tailwater merge`",
                )
            } else if path.exists() {
                (
                    "is no run folder",
                    "name a folder that `tailwater run` wrote",
                )
            } else {
                ("does not exist", "name a folder that `tailwater run` wrote")
            };
            let problem = Problem::new(format!("{} {message}", path.display()));
            return Err(problem.help(help).into());
        }
        let scenario = path.join("scenario.toml");
        Ok(Self {
            summary: json(&path.join("summary.json"))?,
            info: json(&path.join("run.json"))?,
            scenario: fs::read_to_string(&scenario)
                .map_err(|error| cannot("read", &scenario, &error))?,
            path: path.to_owned(),
        })
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

    /// `summary.json` and `run.json`, for keeps.
    pub fn into_parts(self) -> (Summary, RunInfo) {
        (self.summary, self.info)
    }

    /// The names of its tables.
    pub fn tables(&self) -> Vec<&'static str> {
        let exists = |name: &&str| self.path.join(format!("{name}.parquet")).exists();
        ["flows", "ports", "series"]
            .into_iter()
            .filter(exists)
            .collect()
    }

    /// Calls `each` with the names of a table's columns, then with every row as text; what is missing
    /// is empty.
    pub fn table(
        &self,
        name: &str,
        each: &mut dyn FnMut(&[String]) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = self.path.join(format!("{name}.parquet"));
        let names = table::names(&path)?;
        each(&names)?;
        let mut result = Ok(());
        table::read(&path, &mut |row| {
            let cells = (0..names.len()).map(|column| row.cell(column).to_string());
            if result.is_ok() {
                result = each(&cells.collect::<Vec<_>>());
            }
        })?;
        result
    }

    /// Calls `each` with the point and every flow of it, in order.
    pub fn flows(&self, each: &mut dyn FnMut(u32, &FlowRecord)) -> Result<(), Problems> {
        self.rows("flows.parquet", flow_fields().len(), &mut |row, first| {
            let (point, flow) = tables::read_flow(row, first);
            each(point, &flow);
        })
    }

    /// Calls `each` with the point and every port of it, in order.
    pub fn ports(&self, each: &mut dyn FnMut(u32, &PortRecord)) -> Result<(), Problems> {
        self.rows("ports.parquet", port_fields().len(), &mut |row, first| {
            let (point, port) = tables::read_port(row, first);
            each(point, &port);
        })
    }

    /// Calls `each` with the cells of these columns for every row of a table; a column that the table
    /// does not have is null.
    pub(crate) fn cells(
        &self,
        name: &str,
        columns: &[&str],
        each: &mut dyn FnMut(&[table::Cell<'_>]),
    ) -> Result<(), Problems> {
        let path = self.path.join(format!("{name}.parquet"));
        let read = table::names(&path).and_then(|names| {
            let place = |column: &&str| names.iter().position(|name| name == column);
            let places: Vec<_> = columns.iter().map(place).collect();
            table::read(&path, &mut |row| {
                let cell = |place: &Option<usize>| place.map_or(table::Cell::Null, |i| row.cell(i));
                each(&places.iter().map(cell).collect::<Vec<_>>());
            })
        });
        read.map_err(|error| cannot("read", &path, &error))
    }

    /// Calls `each` with every sample and event that was recorded; there may be none.
    pub fn series(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) -> Result<(), Problems> {
        let path = self.path.join("series.parquet");
        match trace::read(&path, each) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(cannot("read", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Calls `each` with every row of a table and the number of its leading columns.
    fn rows(
        &self,
        name: &str,
        fields: usize,
        each: &mut dyn FnMut(&table::Row<'_>, usize),
    ) -> Result<(), Problems> {
        let path = self.path.join(name);
        let read = table::names(&path).and_then(|names| {
            let first = names.len().saturating_sub(fields);
            table::read(&path, &mut |row| each(row, first))
        });
        read.map_err(|error| cannot("read", &path, &error))
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Problems> {
    let text = fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        let problem = Problem::new(format!("cannot read {}: {error}", path.display()));
        let help = "it was written by another version or changed since; run the scenario again";
        problem.help(help).into()
    })
}
