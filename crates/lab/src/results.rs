//! Results on disk: the run folder.
//!
//! ```text
//! scenario.toml    every setting of the run, with the version that ran it
//! run.json         the command, what it cost, the machine: all that differs between equal runs
//! flows.parquet    one row per flow
//! ports.parquet    one row per port
//! series.parquet   time series, where they were asked for
//! summary.json     every metric of every point, over the seeds, and compared
//! report.html      all of it to look at
//! points/          finished points of a sweep that is not complete; see [`Store`]
//! ```
//!
//! Every file is written under another name and renamed when it is whole. Files but `run.json` are a
//! pure function of the scenario and the version: neither threads, nor interruptions, nor shards
//! change a byte.

mod answer;
mod folder;
mod info;
mod part;
mod store;
mod summary;
mod table;
mod tables;

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::scenario::{Problem, Problems};

pub use answer::{answer, cost};
pub use folder::Folder;
pub use info::{Host, RunInfo};
pub use store::{Shard, Store};
pub use summary::{
    Comparison, FailedPoint, PointResult, PointResults, PointSummary, Row, Summary, Until, Waits,
};
pub(crate) use table::Cell;
pub use table::{Field, Kind};

/// The columns with which the rows of `flows.parquet` and `ports.parquet` begin; one for each setting
/// that results show follows, named like it with an underscore for the dot.
pub fn leading_fields() -> Vec<Field> {
    tables::leading_fields()
}

/// The columns of `flows.parquet` behind those.
pub fn flow_fields() -> Vec<Field> {
    tables::flow_fields()
}

/// The columns of `ports.parquet` behind those.
pub fn port_fields() -> Vec<Field> {
    tables::port_fields()
}

/// Writes a file that is either there whole or not at all.
///
/// Meanwhile it has a name that no other process uses, so that several may work in one folder.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = unfinished(path);
    let mut file = BufWriter::new(File::create(&temporary)?);
    let written = write(&mut file).and_then(|()| file.flush());
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        drop(fs::remove_file(&temporary));
        return Err(error);
    }
    Ok(())
}

/// Removes what a run left in a folder, and nothing else.
pub fn clear(folder: &Path) -> Result<(), Problems> {
    let files = [
        "summary.json",
        "run.json",
        "flows.parquet",
        "ports.parquet",
        "series.parquet",
        "report.html",
        "scenario.toml",
    ];
    let files = files.iter().map(|file| (folder.join(file), false));
    let folders = ["points", "pcap"].map(|name| (folder.join(name), true));
    // The scenario last: until then the folder says whose the rest is.
    for (path, is_folder) in folders.into_iter().chain(files) {
        let removed = if is_folder {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(cannot("remove", &path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A hidden name in the same folder for what is to become `path`.
///
/// The number of the process is not enough to make it unique: the machines of a cluster share folders
/// but not numbers.
fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = RandomState::new().build_hasher().finish();
    path.with_file_name(format!(".{name}.{random:016x}{UNFINISHED}"))
}

/// Whether [`unfinished`] made this name.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

/// Whether `folder` has everything that is made from the points of a sweep but the report.
fn is_assembled(folder: &Path) -> bool {
    folder.join("summary.json").exists() && folder.join("run.json").exists()
}

/// The end of a hidden name.
const UNFINISHED: &str = ".unfinished";

/// Wrong input: a file or folder that cannot be used.
fn cannot(action: &str, path: &Path, error: &io::Error) -> Problems {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull => "free some space; --resume continues where it ended",
        io::ErrorKind::PermissionDenied => {
            "choose a folder that you may write to with --out, or keep no files with --no-save"
        }
        _ => "check the path",
    };
    let path = path.display();
    Problem::new(format!("cannot {action} {path}: {error}"))
        .help(remedy)
        .into()
}
