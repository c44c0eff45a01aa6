//! The end of a sweep: makes tables and a summary from its points.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use plan::PointSpec;
use record::trace;
use scenario::{Argument, Help, Problem, Problems, Scenario};

use super::super::checksum::{Checksum, Seal, sealed};
use super::super::columns::{Leading, Records};
use super::super::files::{self, replace};
use super::super::goals::Goals;
use super::super::point_result::{PointResult, PointResults};
use super::super::summary::Summary;
use super::super::{FILES, cannot, flow_fields, identity, port_fields};
use super::{FOLDERS, FinishedPoint, Store};

impl Store {
    /// Makes the tables and the summary from the finished points. `change` may add to the summary.
    pub fn assemble(
        &self,
        scenario: &Scenario,
        change: impl FnOnce(&mut Summary),
    ) -> Result<(Summary, PointResults), Problems> {
        // A sweep that got more seeds than it began with writes the new number.
        let text = self.scenario_text(scenario);
        self.write(identity::NAME, &Seal::TOML.put(&text))?;
        let (results, captures) = self.write_tables(scenario)?;
        self.write_series(scenario)?;
        let mut summary = Summary::new(scenario, &results);
        for name in [identity::NAME].into_iter().chain(TABLES) {
            let path = self.folder.join(name);
            if path.exists() {
                let checksum = Checksum::of_file(&path);
                let checksum = checksum.map_err(|error| cannot("read", &path, &error))?;
                summary
                    .checksums
                    .insert(name.to_owned(), checksum.to_string());
            }
        }
        let captures = captures.into_iter();
        summary
            .checksums
            .extend(captures.map(|(name, checksum)| (name, checksum.to_string())));
        change(&mut summary);
        self.write("summary.json", &sealed(&summary))?;
        Ok((summary, results))
    }

    /// Judges a complete run by the goals of `scenario`, if they differ from its previous goals. Returns whether they
    /// do.
    pub fn judge_again(&self, scenario: &Scenario) -> Result<bool, Problems> {
        let mut summary = self.read()?.into_parts().0;
        let before = summary.goals.take();
        summary.judge(scenario.goals());
        let goals = |goals: &Option<Goals>| goals.as_ref().map(|goals| goals.goals.clone());
        if goals(&before) == goals(&summary.goals) {
            return Ok(false);
        }
        let text = self.scenario_text(scenario);
        self.write(identity::NAME, &Seal::TOML.put(&text))?;
        let path = self.folder.join(identity::NAME);
        let checksum = Checksum::of_file(&path).map_err(|error| cannot("read", &path, &error))?;
        let checksums = &mut summary.checksums;
        checksums.insert(identity::NAME.to_owned(), checksum.to_string());
        self.write("summary.json", &sealed(&summary))?;
        Ok(true)
    }

    /// Removes the finished points from a folder that is complete without them, and temporary files of an interrupted
    /// process.
    pub fn complete(&self) -> Result<(), Problems> {
        let ours = |path: &Path| {
            let name = files::becomes(path);
            name.is_some_and(|name| FILES.contains(&name.as_str()))
        };
        files::remove(&self.folder, ours).map_err(|error| cannot("clear", &self.folder, &error))?;
        for folder in FOLDERS.map(|name| self.folder.join(name)) {
            files::remove(&folder, |path| files::becomes(path).is_some())
                .map_err(|error| cannot("clear", &folder, &error))?;
        }
        match fs::remove_dir_all(self.parts()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(cannot("remove the folder", &self.parts(), &error))
            }
            _ => Ok(()),
        }
    }

    fn write_tables(
        &self,
        scenario: &Scenario,
    ) -> Result<(PointResults, Vec<(String, Checksum)>), Problems> {
        let [flows, ports, _] = TABLES.map(|name| self.folder.join(name));
        let mut results = Vec::with_capacity(scenario.points().len());
        let mut captures = Vec::new();
        // Both tables are written in one pass over the points, so both are open at once.
        let mut problem = None;
        let written = replace(&flows, |flows| {
            let mut flows = Records::new(flows, scenario, flow_fields())?;
            replace(&ports, |ports| {
                let mut ports = Records::new(ports, scenario, port_fields())?;
                let points = scenario.points();
                self.each_result(points, scenario, &mut |point, found| {
                    let (part, result) = match found {
                        Ok(found) => found,
                        Err(found) => {
                            problem = Some(found);
                            return Err(io::Error::other("a point cannot be read"));
                        }
                    };
                    let files = part.files().iter();
                    let stays = |name: &str| {
                        let folder = name.split('/').next();
                        folder.is_some_and(|folder| FOLDERS.contains(&folder))
                    };
                    captures.extend(files.filter(|(name, _)| stays(name)).cloned());
                    if let Ok(outcome) = &result {
                        let mut rows = outcome.flows.iter();
                        rows.try_for_each(|flow| flows.row(point, flow))?;
                        let mut rows = outcome.ports.iter();
                        rows.try_for_each(|port| ports.row(point, port))?;
                    }
                    results.push(result.map(|outcome| PointResult::from(&*outcome)));
                    Ok(())
                })?;
                ports.finish().map(drop)
            })?;
            flows.finish().map(drop)
        });
        match (problem, written) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => Err(cannot("write tables in", &self.folder, &error)),
            (None, Ok(())) => Ok((results, captures)),
        }
    }

    /// Calls `each` with the result of every point, in order, until it fails. A thread reads the next point meanwhile,
    /// because reading takes about as long as writing tables. At most two points are in memory at a time.
    fn each_result(
        &self,
        points: &[PointSpec],
        scenario: &Scenario,
        each: &mut EachPoint<'_>,
    ) -> io::Result<()> {
        if points.len() < 2 || thread::available_parallelism().map_or(1, NonZeroUsize::get) < 2 {
            let mut points = points.iter();
            return points.try_for_each(|point| each(point, self.result(point, scenario)));
        }
        thread::scope(|scope| {
            let (out, ready) = mpsc::sync_channel(0);
            scope.spawn(move || {
                let mut points = points.iter();
                // A closed receiver wants no more points.
                points.try_for_each(|point| out.send(self.result(point, scenario)))
            });
            let mut points = points.iter();
            points.try_for_each(|point| {
                let found = ready.recv().map_err(io::Error::other)?;
                each(point, found)
            })
        })
    }

    /// Writes the series of all points that have some into one file.
    fn write_series(&self, scenario: &Scenario) -> Result<(), Problems> {
        let leading = Leading::of(scenario);
        let series = |point| {
            let cells: Vec<_> = leading.cells(point).collect();
            (cells, self.series(point, scenario))
        };
        let parts = || {
            scenario
                .points()
                .iter()
                .map(series)
                .filter(|(_, path)| path.exists())
        };
        if parts().next().is_none() {
            return Ok(());
        }
        let path = self.folder.join(TABLES[2]);
        let written = replace(&path, |file| {
            let file = file.get_ref().try_clone()?;
            trace::concatenate(leading.fields(), &mut parts(), file)
        });
        written.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                let problem = Problem::new(format!("cannot make {}: {error}", path.display()));
                let help = Help::from("run the sweep again with ")
                    .argument(Argument::Resume)
                    .text(", which simulates this point again");
                problem.help(help).into()
            }
            _ => cannot("write", &path, &error),
        })
    }
}

/// Receives a point and its result.
type EachPoint<'a> = dyn FnMut(&PointSpec, Result<FinishedPoint, Problems>) -> io::Result<()> + 'a;

/// The tables; the last one is missing if nothing is recorded.
const TABLES: [&str; 3] = ["flows.parquet", "ports.parquet", "series.parquet"];
