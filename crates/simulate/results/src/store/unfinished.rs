//! The files of a point, from the simulation that writes them until they are stored.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plan::PointSpec;
use plan::keys::TracedSeries;
use record::pcap::CapturePoints;
use scenario::Scenario;
use sim::error::RunError;
use sim::metrics::Outcome;

use super::super::checksum::Checksum;
use super::super::files::{self, Stay, unfinished};
use super::super::part;
use super::{CAPTURED, OWN, PARTS, SERIES, Store};

/// The files of a point that is being simulated. They are removed when this is dropped, unless they are kept.
#[derive(Debug)]
pub struct Unfinished<'a> {
    series: Remains,
    captures: Remains,
    perfetto: Remains,
    theatre: Remains,
    /// Whether there will be a series.
    traced: bool,
    places: Option<&'a CapturePoints>,
}

impl Unfinished<'_> {
    /// The file of its series.
    pub fn series(&self) -> &Path {
        &self.series.0
    }

    /// The folder of its captures.
    pub fn captures(&self) -> &Path {
        &self.captures.0
    }

    /// The file of its trace for Perfetto.
    pub fn perfetto(&self) -> &Path {
        &self.perfetto.0
    }

    /// The file of the scene for a page to play.
    pub fn theatre(&self) -> &Path {
        &self.theatre.0
    }

    /// The files that are kept if they exist, with the folder and the ending of each.
    fn optional(&self) -> [(&Path, &'static str, &'static str); 2] {
        let [perfetto, theatre] = OWN;
        [
            (self.perfetto(), perfetto, "pftrace"),
            (self.theatre(), theatre, "json"),
        ]
    }

    /// Copies everything but captures to the files of a point with the same outcome.
    pub fn copy_to(&self, other: &Self) -> io::Result<()> {
        let own = [self.series(), self.perfetto(), self.theatre()];
        let others = [other.series(), other.perfetto(), other.theatre()];
        for (from, to) in own.into_iter().zip(others) {
            if from.exists() {
                // The number of the point is added later, when series are joined.
                fs::copy(from, to)?;
            }
        }
        Ok(())
    }

    /// Where packets are captured, if anywhere.
    pub fn places(&self) -> Option<&CapturePoints> {
        self.places
    }
}

/// A file or folder under its temporary name. It is removed unless it gets its final name.
#[derive(Debug)]
struct Remains(PathBuf);

impl Drop for Remains {
    fn drop(&mut self) {
        let removed = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
        // Mostly the file has been renamed, so this fails.
        drop(removed);
    }
}

impl Store {
    /// The files of `point` beside its outcome, under their temporary names.
    pub fn files(&self, point: &PointSpec, scenario: &Scenario) -> Unfinished<'_> {
        let name = part::name(point, scenario.seeds());
        let parts = self.parts();
        Unfinished {
            series: Remains(unfinished(&parts.join(format!("{name}.{SERIES}")))),
            captures: Remains(unfinished(&parts.join(format!("{name}.pcap")))),
            perfetto: Remains(unfinished(&parts.join(format!("{name}.pftrace")))),
            theatre: Remains(unfinished(&parts.join(format!("{name}.theatre")))),
            traced: matches!(point.keys.trace.series, TracedSeries::Named(_)),
            places: self.places.as_ref(),
        }
    }

    /// Keeps the outcome of a point and its complete `files`; the outcome is written last.
    pub fn keep_with(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        outcome: Outcome,
        files: &Unfinished<'_>,
    ) -> Result<(), RunError> {
        let mut kept = Vec::new();
        self.keep_files(point, scenario, files, &mut kept)
            .map_err(|error| self.unwritten(&error))?;
        self.keep_all(point, scenario, &Ok(outcome), kept)
    }

    /// Keeps the result of a point, completely or not at all.
    pub fn keep(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: &Result<Outcome, String>,
    ) -> Result<(), RunError> {
        self.keep_all(point, scenario, result, Vec::new())
    }

    fn keep_all(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        result: &Result<Outcome, String>,
        files: Vec<(String, Checksum)>,
    ) -> Result<(), RunError> {
        let path = self.part(point, scenario);
        part::write(self.stay(), &path, self.fingerprint, result, files)
            .map_err(|error| RunError::Storage(format!("cannot write {}: {error}", path.display())))
    }

    fn keep_files(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        files: &Unfinished<'_>,
        kept: &mut Vec<(String, Checksum)>,
    ) -> io::Result<()> {
        if files.places.is_some() {
            self.keep_captures(files.captures(), kept)?;
        }
        if files.traced {
            let name = format!("{PARTS}/{}.{SERIES}", part::name(point, scenario.seeds()));
            self.keep_file(files.series(), name, kept)?;
        }
        for (path, folder, ending) in files.optional() {
            if path.exists() {
                fs::create_dir_all(self.folder.join(folder))?;
                let name = part::name(point, scenario.seeds());
                self.keep_file(path, format!("{folder}/{name}.{ending}"), kept)?;
                if self.stay() == Stay::Kept {
                    files::sync_folder(&self.folder.join(folder))?;
                }
            }
        }
        Ok(())
    }

    /// Gives a finished file its name within the folder, and adds it to `files`. A series survives a loss of power once
    /// the part that follows is stored in the same folder.
    fn keep_file(
        &self,
        file: &Path,
        name: String,
        files: &mut Vec<(String, Checksum)>,
    ) -> io::Result<()> {
        let checksum = Checksum::of_file(file)?;
        files::settle(self.stay(), file, &self.folder.join(&name))?;
        files.push((name, checksum));
        Ok(())
    }

    /// The same for every file of a folder, which is then removed.
    fn keep_captures(&self, folder: &Path, files: &mut Vec<(String, Checksum)>) -> io::Result<()> {
        fs::create_dir_all(self.folder.join(CAPTURED))?;
        let mut captures = Vec::new();
        for entry in fs::read_dir(folder)? {
            captures.push(entry?.path());
        }
        captures.sort();
        for path in captures {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.keep_file(&path, format!("{CAPTURED}/{name}"), files)?;
        }
        if self.stay() == Stay::Kept {
            files::sync_folder(&self.folder.join(CAPTURED))?;
        }
        fs::remove_dir(folder)
    }
}
