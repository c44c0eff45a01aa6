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
//! pcap/            captures, where they were asked for
//! perfetto/        traces for that viewer, where they were asked for
//! theatre/         of each point that records events and dropped a packet, the scene that the report plays
//! points/          finished points of a sweep that is not complete; see [`Store`]
//! .lock            empty; held by whoever works in the folder
//! ```
//!
//! Every file is written under another name and renamed when it is complete and on disk. All files but `run.json` are a
//! pure function of the scenario and the version: neither threads, nor interruptions, nor shards change a byte. Every
//! file has a checksum and is not read without it. `scenario.toml`, `run.json` and `summary.json` have it at their end,
//! tables and captures have it in `summary.json`, and points in their first bytes.
//!
//! ```
//! use results::{Access, Folder, RunInfo, Store};
//! use scenario::Scenario;
//! use sim::run::Limits;
//!
//! let name = format!("tailwater-run-{}", std::process::id());
//! let folder = std::env::temp_dir().join(name);
//! let scenario = Scenario::builtin("incast");
//! let store = Store::open(&folder, &scenario, None, Access::New)?;
//! store.begin(&scenario)?;
//! for point in scenario.points() {
//!     results::simulate(&store, point, &scenario, Limits::NONE)?;
//! }
//! store.assemble(&scenario, |_| ())?;
//! store.write_info(&RunInfo::default())?;
//! store.complete()?;
//! drop(store);
//!
//! let run = Folder::open(&folder)?;
//! assert_eq!(run.summary().points.len(), scenario.points().len());
//! drop(run);
//! std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against;
mod attempt;
mod checksum;
mod collectives;
mod columns;
mod comparison;
mod deliver;
mod files;
mod finished;
mod folder;
mod frame;
mod goals;
mod identity;
mod info;
mod keep;
mod lock;
mod part;
mod point_result;
mod ranking;
mod recorded;
mod row;
pub mod samples;
mod search;
pub mod shard;
mod simulate;
pub mod statistics;
mod store;
mod summary;
mod tiers;
pub mod ties;
pub mod trace;

use std::error::Error;
use std::path::Path;
use std::{fs, io};

use scenario::{Argument, Help, Problem, Problems};
use sim::metrics::{FlowRecord, PortRecord};

use columns::Record;
use lock::Lock;

pub use against::{Against, Amount, Bound, MetricChange, RowPair};
pub use attempt::Attempt;
pub use checksum::sealed;
pub use comparison::Comparison;
pub use deliver::{Delivered, Undelivered, deliver, is_stream};
pub use files::replace;
pub use finished::Finished;
pub use folder::Folder;
pub use frame::{Frame, collectives, points, rows};
pub use goals::{Demand, GoalState, GoalVerdict, Goals, JudgedRow, Region, Smallest, magnitude};
pub use info::{Machine, RunInfo, Shared, available_memory};
pub use keep::{Keep, Transient};
pub use point_result::{PointResult, PointResults};
pub use ranking::{
    Ranking, RankingMeasure, best_first, is_load, ranks_by_load, within_a_percent, worst_tiers,
};
pub use recorded::{Recorded, RunInMemory};
pub use row::{Row, Waits, counts_idle_time};
pub use search::{TriedValues, nearest};
pub use shard::Shard;
pub use simulate::{simulate, simulate_with};
pub use store::{Access, Store, Unfinished};
pub use summary::{FailedPoint, PointSummary, Summary, Until};
pub use tables::{Cell, ColumnType, Field};
pub use tiers::Tier;
pub use ties::Ties;

/// The leading columns of every table. A column with the same name follows for each setting shown in results.
pub fn leading_fields() -> Vec<Field> {
    columns::leading_fields()
}

/// The columns of `flows.parquet` after the leading ones.
pub fn flow_fields() -> Vec<Field> {
    FlowRecord::fields()
}

/// The columns of `ports.parquet` after the leading ones.
pub fn port_fields() -> Vec<Field> {
    PortRecord::fields()
}

/// Removes the files that a run left in a folder, and nothing else.
pub fn clear(folder: &Path) -> Result<(), Problems> {
    let _alone = Lock::alone(folder)?;
    let files = FILES.iter().map(|file| (folder.join(file), false));
    let folders = ["points"].into_iter().chain(store::FOLDERS);
    let folders = folders.map(|name| (folder.join(name), true));
    for (path, is_folder) in folders.chain(files) {
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

/// The `scenario.toml` of a run folder, without its checksum.
pub fn scenario(folder: &Path) -> Result<String, Problems> {
    identity::read(folder)
}

/// Whether `folder` has all files made from the points of a sweep, apart from the report.
fn is_assembled(folder: &Path) -> bool {
    folder.join("summary.json").exists() && folder.join("run.json").exists()
}

/// Wrong input: a file or folder that cannot be used.
fn cannot(action: &str, path: &Path, error: &io::Error) -> Problems {
    if lacks_room(error) {
        let message = format!("cannot {action} {}: {error}", path.display());
        let problem = Problem::new(message).for_lack_of_room();
        return problem
            .help("free some space; nothing that is finished is lost")
            .into();
    }
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Help::from("choose a folder that you may write to with ")
                .argument(Argument::Folder)
                .text(", or keep no files with ")
                .argument(Argument::NoFolder)
        }
        io::ErrorKind::InvalidData => return damaged(path, &error.to_string(), AGAIN),
        _ => "check the path".into(),
    };
    let path = path.display();
    Problem::new(format!("cannot {action} {path}: {error}"))
        .help(remedy)
        .into()
}

/// Wrong input: a file that has changed since it was written.
fn damaged(path: &Path, what: &str, remedy: impl Into<Help>) -> Problems {
    let message = format!("{} is damaged: {what}", path.display());
    Problem::new(message).help(remedy).into()
}

/// The files that a run leaves in its folder, without folders. The scenario is the last to be removed: until then the
/// folder shows which run the other files belong to.
const FILES: [&str; 7] = [
    "summary.json",
    "run.json",
    "flows.parquet",
    "ports.parquet",
    "series.parquet",
    "report.html",
    identity::NAME,
];

/// The remedy for a damaged file of a complete run.
const AGAIN: &str = "run its scenario again into another folder; the results will be the same";

/// Whether an error says that a disk is full or a file may not grow, from the system or from a library that wrote for
/// us.
pub fn lacks_room(error: &io::Error) -> bool {
    let is_full = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge | io::ErrorKind::QuotaExceeded
        )
    };
    let mut cause = error.get_ref().map(|cause| cause as &dyn Error);
    while let Some(inner) = cause {
        if inner.downcast_ref().is_some_and(is_full) {
            return true;
        }
        cause = inner.source();
    }
    is_full(error)
}
