//! Runs into folders.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use results::{Access, Folder};

use crate::error::Error;
use crate::merge::merge_points;
use crate::options::RunOptions;
use crate::request::Request;
use crate::scenario::Scenario;
use crate::simulate::{finish, tidy};
use crate::sweep::{self, Sweep};

/// Where results go.
///
/// ```
/// use std::path::Path;
///
/// use api::{Access, Destination};
///
/// let to = Destination::new(Path::new("results/mine")).access(Access::Resume).report(false);
/// # drop(to);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    folder: &'a Path,
    access: Access,
    report: bool,
}

impl<'a> Destination<'a> {
    /// A new run in `folder`, with a report.
    pub const fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            access: Access::New,
            report: true,
        }
    }

    /// Sets whether the folder may have points of the same request, and whether it must survive the process. A shard is
    /// always [`Access::Shard`].
    #[must_use]
    pub const fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Writes the report only if `report` is true.
    #[must_use]
    pub const fn report(self, report: bool) -> Self {
        Self { report, ..self }
    }
}

/// Runs the missing points of a scenario in a folder, and makes its files: the tables, the summary, and the report if
/// it is wanted.
///
/// ```
/// use api::{Access, Destination, RunOptions, Scenario, run_folder};
///
/// let path = std::env::temp_dir().join(format!("tailwater-folder-{}", std::process::id()));
/// let scenario = Scenario::builder("incast").schemes(["newreno"]).build()?;
/// let to = Destination::new(&path).access(Access::Scratch).report(false);
/// let folder = run_folder(&scenario, to, &RunOptions::default())?;
/// assert!(folder.path().join("flows.parquet").is_file());
/// # drop(folder);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Nothing has run if the folder holds another run. Finished points are kept, however the run ended. Failed points are
/// no error: they are listed in the summary of the folder.
pub fn run_folder(
    scenario: &Scenario,
    to: Destination<'_>,
    options: &RunOptions<'_>,
) -> Result<Folder, Error> {
    run_request(scenario.request(), to, options)
}

/// [`run_folder`] for a request, which may also search values, run more seeds and capture packets.
///
/// # Errors
/// See [`run_folder`]; nothing has run if the input is wrong.
pub fn run_request(
    request: &Request,
    to: Destination<'_>,
    options: &RunOptions<'_>,
) -> Result<Folder, Error> {
    let mut scenario = request.scenario()?;
    let store = sweep::open(to.folder, request, &scenario, to.access)?;
    if sweep::finished_before(request, &store, &scenario)?.is_none() {
        let stop = AtomicBool::new(false);
        let sweep = Sweep::new(request, &store, options, options.stop.unwrap_or(&stop));
        let finished = sweep.complete(&mut scenario)?;
        sweep::write(&store, &scenario, &finished)?;
    }
    if to.report {
        return Ok(finish(&store)?);
    }
    let folder = store.read()?;
    tidy(&store, &folder)?;
    Ok(folder)
}

/// How far a shard has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShardProgress {
    /// Points in its folder.
    pub finished: usize,
    /// Points of the whole sweep.
    pub points: usize,
}

/// Runs the missing points of a request's shard in a folder. [`merge`] makes a run of all shards.
///
/// # Errors
/// See [`run_request`].
pub fn run_shard(
    request: &Request,
    folder: &Path,
    options: &RunOptions<'_>,
) -> Result<ShardProgress, Error> {
    let scenario = request.scenario()?;
    let store = sweep::open(folder, request, &scenario, Access::Resume)?;
    let stop = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&stop);
    Sweep::new(request, &store, options, stop).simulate(&scenario)?;
    Ok(ShardProgress {
        finished: store.kept(&scenario),
        points: scenario.points().len(),
    })
}

/// Makes a run of shards in the folder `out`, which may be the first shard's folder. Its `run.json` names `command`.
///
/// # Errors
/// If points are in none of the folders, or these are of different scenarios or versions.
pub fn merge(folders: &[PathBuf], out: &Path, command: Vec<String>) -> Result<Folder, Error> {
    let (store, _) = merge_points(folders, out, command)?;
    Ok(finish(&store)?)
}
