//! The file of a finished point, until the sweep is complete.
//!
//! A part is written under another name and renamed when it is complete and on disk. So a part that exists is finished,
//! however the process ended. It begins with a checksum of all that follows: the fingerprint of the sweep, the
//! checksums of the point's other files, and its outcome. If the part or one of its files has a wrong checksum, the
//! part counts as missing.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use plan::PointSpec;
use serde::{Deserialize, Serialize};
use sim::metrics::Outcome;

use super::checksum::Checksum;
use super::files::{self, Stay};

/// A part as it was written.
pub(super) struct Part {
    head: Head,
    bytes: Vec<u8>,
    /// Where the outcome begins.
    body: usize,
}

/// The data before the outcome.
#[derive(Serialize, Deserialize)]
struct Head {
    fingerprint: u64,
    /// The name of the file.
    name: String,
    /// Whether the point succeeded.
    done: bool,
    /// Files of the point, as paths within the run folder.
    files: Vec<(String, Checksum)>,
}

/// The name of a point's files. It does not depend on the number of seeds of the sweep.
pub(super) fn name(point: &PointSpec, seeds: u32) -> String {
    format!("{:06}-{}", point.index / seeds as usize, point.seed)
}

/// The path of the part called `name`.
pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// Writes the result of a point, with the names of its files. `fingerprint` identifies the sweep.
pub(super) fn write(
    stay: Stay,
    path: &Path,
    fingerprint: u64,
    result: &Result<Outcome, String>,
    files: Vec<(String, Checksum)>,
) -> io::Result<()> {
    let head = Head {
        fingerprint,
        name: stem(path),
        done: result.is_ok(),
        files,
    };
    let content = postcard::to_stdvec(&head).map_err(io::Error::other)?;
    let content = postcard::to_extend(result, content).map_err(io::Error::other)?;
    files::replace_to(stay, path, |file| {
        file.write_all(&MAGIC)?;
        file.write_all(&Checksum::of(&content).0.to_le_bytes())?;
        file.write_all(&content)
    })
}

/// The part at `path`, if it exists, is complete, and belongs to the sweep `fingerprint` and to this point.
pub(super) fn read(path: &Path, fingerprint: u64) -> io::Result<Option<Part>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    Ok(of(bytes, fingerprint, &stem(path)))
}

/// The part in these bytes, if it is complete, belongs to the sweep `fingerprint` and is called `name`.
pub(super) fn of(bytes: Vec<u8>, fingerprint: u64, name: &str) -> Option<Part> {
    let ours = |part: &Part| part.head.fingerprint == fingerprint && part.head.name == name;
    Part::parse(bytes).filter(ours)
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

impl Part {
    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (checksum, content) = rest.split_first_chunk()?;
        if Checksum::of(content).0 != u64::from_le_bytes(*checksum) {
            return None;
        }
        let (head, outcome) = postcard::take_from_bytes(content).ok()?;
        let body = bytes.len() - outcome.len();
        Some(Self { head, bytes, body })
    }

    /// Whether the point succeeded.
    pub(super) fn is_done(&self) -> bool {
        self.head.done
    }

    /// The other files of the point, as paths within the run folder, and their checksums.
    pub(super) fn files(&self) -> &[(String, Checksum)] {
        &self.head.files
    }

    /// Whether these files are in `folder` and unchanged.
    pub(super) fn has_files(&self, folder: &Path) -> io::Result<bool> {
        for (name, checksum) in &self.head.files {
            let found = match Checksum::of_file(&folder.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                found => found?,
            };
            if found != *checksum {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The outcome of the point; `None` if another program wrote it.
    pub(super) fn outcome(&self) -> Option<Result<Box<Outcome>, String>> {
        postcard::from_bytes(&self.bytes[self.body..]).ok()
    }
}

/// Changes with every change of the format. The version of the program covers only the outcome.
const MAGIC: [u8; 8] = *b"tailwatr";
