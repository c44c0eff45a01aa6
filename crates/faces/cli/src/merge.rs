//! `tailwater merge`: shards become one run folder.

use std::path::{Path, PathBuf};

use results::{self, Host, RunInfo, Store};
use scenario::{Overrides, Problem, Problems, Scenario, Source};

use crate::args::MergeArgs;
use crate::output::Stop;
use crate::{clock, run, simulate};
use answer::run::Finished;

/// Puts the finished points of several folders together and ends the run.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Stop> {
    let out = args.out.as_ref().unwrap_or(&args.folders[0]);
    let (store, finished) = put_together(&args.folders, out, args.given.clone())?;
    conclude(args, &store, &finished)
}

/// Puts the finished points of several folders, of which there is one at least, together in `out`; all but the
/// report is there then.
pub(crate) fn put_together(
    folders: &[PathBuf],
    out: &Path,
    command: Vec<String>,
) -> Result<(Store, Finished), Problems> {
    let start = clock::now();
    let first = &folders[0];
    let file = first.join("scenario.toml");
    if !file.exists() {
        let problem = Problem::new(format!("{} is no run folder", first.display()));
        let help = "name the folders that `tailwater run --shard` wrote";
        return Err(problem.help(help).into());
    }
    let source = Source::new(file.display().to_string(), results::scenario(first)?);
    let scenario = Scenario::load(source, &Overrides::default())?;
    let store = Store::open_like(first, out, &scenario)?;
    for folder in folders {
        store.fits(folder, &scenario)?;
    }
    if store.is_assembled() {
        // Only its end may be missing, if a merge was interrupted there.
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
        let help = format!(
            "name every shard; what is there is kept in {}, and `tailwater run` with --resume and \
             --out continues it",
            out.display()
        );
        return Err(problem.help(help).into());
    }
    let (summary, results) = store.assemble(&scenario, |_| ())?;
    let mut info = RunInfo {
        command,
        started_unix_s: clock::unix_seconds(),
        host: Host::this(),
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

/// Writes what is left to write and prints the answer.
fn conclude(args: &MergeArgs, store: &Store, finished: &Finished) -> Result<(), Stop> {
    let folder = simulate::finish(store)?;
    run::print_in(finished, args.format, &args.view, None)?;
    if !args.quiet {
        run::say_where(&folder);
    }
    run::verdict(finished)
}
