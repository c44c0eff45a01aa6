//! A point as bytes, on its way from the process that simulated it to the process that keeps it.

use std::fs;
use std::io::{self, Write};

use plan::PointSpec;
use scenario::{Problems, Scenario};
use serde::{Deserialize, Serialize};
use sim::error::RunError;

use super::super::cannot;
use super::super::checksum::Checksum;
use super::super::files::replace_to;
use super::super::part;
use super::{PARTS, Store};

/// The stored data of a point.
#[derive(Serialize, Deserialize)]
struct Parcel {
    part: Vec<u8>,
    /// Its other files, in the order of the part's list.
    files: Vec<Vec<u8>>,
}

impl Store {
    /// All stored files of a kept point, as bytes.
    pub fn pack(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<u8>, Problems> {
        let (part, _) = self.result(point, scenario)?;
        let path = self.part(point, scenario);
        let pack = || {
            let files = part.files().iter();
            let files = files.map(|(name, _)| fs::read(self.folder.join(name)));
            let parcel = Parcel {
                part: fs::read(&path)?,
                files: files.collect::<io::Result<_>>()?,
            };
            postcard::to_stdvec(&parcel).map_err(io::Error::other)
        };
        pack().map_err(|error| cannot("read", &path, &error))
    }

    /// Keeps a point of the same sweep that another process has packed, completely or not at all. Returns whether its
    /// simulation succeeded.
    pub fn unpack(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
        bytes: &[u8],
    ) -> Result<bool, RunError> {
        let strange = || RunError::Storage("a worker sent results of another run".to_owned());
        let parcel: Parcel = postcard::from_bytes(bytes).map_err(|_| strange())?;
        let name = part::name(point, scenario.seeds());
        let part = part::of(parcel.part.clone(), self.fingerprint, &name).ok_or_else(strange)?;
        let files = part.files().iter().zip(&parcel.files);
        let whole = |((_, checksum), content): (&(String, Checksum), &Vec<u8>)| {
            Checksum::of(content) == *checksum
        };
        if part.files().len() != parcel.files.len() || !files.clone().all(whole) {
            return Err(strange());
        }
        let keep = || {
            for ((file, _), content) in files {
                let path = self.folder.join(file);
                fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                replace_to(self.stay(), &path, |file| file.write_all(content))?;
            }
            let path = part::path(&self.folder.join(PARTS), &name);
            replace_to(self.stay(), &path, |file| file.write_all(&parcel.part))
        };
        keep().map_err(|error: io::Error| self.unwritten(&error))?;
        Ok(part.is_done())
    }

    /// Removes the stored files of a point.
    pub fn forget(&self, point: &PointSpec, scenario: &Scenario) -> Result<(), Problems> {
        let (part, _) = self.result(point, scenario)?;
        let path = self.part(point, scenario);
        let files = part.files().iter().map(|(name, _)| self.folder.join(name));
        for file in files.chain([path]) {
            fs::remove_file(&file).map_err(|error| cannot("remove", &file, &error))?;
        }
        Ok(())
    }
}
