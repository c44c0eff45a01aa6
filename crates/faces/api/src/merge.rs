//! Shards become one run folder.

use std::path::{Path, PathBuf};

use results::{Finished, Machine, RunInfo, Store};
use scenario::{Argument, Help, Overrides, Problem, Problems, Scenario, Source};

use crate::clock;

/// Puts the finished points of several folders together in `out`, and makes every file of the run but its report. Its
/// `run.json` names `command`.
///
/// # Errors
/// If there is no folder, points are in none of the folders, or these are of different scenarios or versions.
pub fn merge_points(
    folders: &[PathBuf],
    out: &Path,
    command: Vec<String>,
) -> Result<(Store, Finished), Problems> {
    let start = clock::now();
    let Some(first) = folders.first() else {
        return Err(Problem::new("there is no folder to merge").into());
    };
    let file = first.join("scenario.toml");
    if !file.exists() {
        let problem = Problem::new(format!("{} is no run folder", first.display()));
        let help = "name the folders of shards";
        return Err(problem.help(help).into());
    }
    let source = Source::new(file.display().to_string(), results::scenario(first)?);
    let scenario = Scenario::load(source, &Overrides::default())?;
    let store = Store::open_like(first, out, &scenario)?;
    for folder in folders {
        store.fits(folder, &scenario)?;
    }
    if store.is_assembled() {
        // Only the final cleanup may be missing, if a merge was interrupted there.
        let folder = store.read()?;
        if folder.summary().failures.is_empty() {
            folder.check_all()?;
            return Ok((store, Finished::of(folder)));
        }
    }
    store.begin(&scenario)?;
    for folder in folders.iter().filter(|folder| *folder != out) {
        store.take_from(folder, &scenario)?;
    }
    let unknown = store.unknown(&scenario)?;
    if unknown > 0 {
        let all = scenario.points().len();
        let problem = Problem::new(format!(
            "{unknown} of {all} points are in none of the folders, or damaged there"
        ));
        let help = Help::from("name the folders of all shards; the points so far are kept in ")
            .text(out.display().to_string())
            .text(", and a run with ")
            .argument(Argument::Resume)
            .text(" and ")
            .argument(Argument::Folder)
            .text(" continues it");
        return Err(problem.help(help).into());
    }
    let (summary, results) = store.assemble(&scenario, |_| ())?;
    let mut info = RunInfo {
        command,
        started_unix_s: clock::unix_seconds(),
        host: Machine::this(),
        jobs: folders.len(),
        runs_before: results.len(),
        wall_us: start.elapsed().as_secs_f64() * 1e6,
        ..RunInfo::default()
    };
    info.add_costs(&results);
    let finished = Finished {
        summary,
        results,
        info,
        of: None,
    };
    store.write_info(&finished.info)?;
    Ok((store, finished))
}
