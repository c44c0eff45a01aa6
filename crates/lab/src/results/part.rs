//! A finished point on disk, until the sweep is complete.
//!
//! A part is written under another name and renamed when it is whole, so a part that exists is
//! finished, whatever ended the process. Its header names the scenario and the version it belongs to
//! and its length, so that one of another sweep or one cut by a failing disk counts as missing.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::metrics::Outcome;
use crate::scenario::PointSpec;

/// What became of a point.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Part {
    Done(Box<Outcome>),
    Failed(String),
}

/// The name of a point's files, the same however many seeds the sweep has.
pub(super) fn name(point: &PointSpec, seeds: u32) -> String {
    format!("{:06}-{}", point.index / seeds as usize, point.seed)
}

/// The path of the part called `name`.
pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

impl Part {
    pub(super) fn write(&self, path: &Path, fingerprint: u64) -> io::Result<()> {
        let body = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend(MAGIC);
        bytes.extend(fingerprint.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.push(u8::from(matches!(self, Self::Done(_))));
        bytes.extend(body);
        super::replace(path, |file| file.write_all(&bytes))
    }

    /// The part at `path`, if it is there, whole and of this sweep.
    pub(super) fn read(path: &Path, fingerprint: u64) -> io::Result<Option<Self>> {
        if is_done(path, fingerprint)?.is_none() {
            return Ok(None);
        }
        let bytes = fs::read(path)?;
        Ok(postcard::from_bytes(&bytes[HEADER..]).ok())
    }
}

/// Whether the point of the part at `path` succeeded; none if it is missing, cut or of another sweep.
pub(super) fn is_done(path: &Path, fingerprint: u64) -> io::Result<Option<bool>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let mut header = [0; HEADER];
    if length < HEADER as u64 {
        return Ok(None);
    }
    file.read_exact(&mut header)?;
    let number = |at: usize| {
        let bytes: [u8; 8] = header[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    let whole =
        header[..8] == MAGIC && number(8) == fingerprint && number(16) == length - HEADER as u64;
    Ok(whole.then_some(header[24] == 1))
}

/// Magic, fingerprint, length of the body, whether the point succeeded.
const HEADER: usize = 8 + 8 + 8 + 1;
const MAGIC: [u8; 8] = *b"tailwatr";
