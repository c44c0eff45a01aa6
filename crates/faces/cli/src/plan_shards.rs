//! `tailwater plan`: the cost of each shard of a sweep, and a job for a batch system.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use api::Request;
use claims::catalogue;
use plan::keys::all_keys;
use results::shard::{self, ShardEstimate};
use scenario::{Problem, Problems, Scenario};

use crate::args::plan::{BatchSystem, PlanArgs};
use crate::args::text_or_json::TextOrJson;
use crate::batch_job::{BatchJob, SWEEP};
use crate::output::{self, Stop};

/// Prints the cost of shards, and writes the job that runs them.
pub(crate) fn plan(args: &PlanArgs) -> Result<(), Stop> {
    let request = Request {
        overrides: args.scenario.overrides(),
        ..Request::new(catalogue::scenario(&args.scenario.scenario)?)
    };
    let scenario = request.scenario()?;
    output::problems(scenario.warnings());
    let shards = shard::estimates(scenario.points(), false, args.shards.get());
    if let (Some(system), Some(out)) = (args.system, &args.out) {
        let written = write_job(system, out, &scenario, &shards)?;
        output::complain(&format!("wrote {}", written.display()));
    }
    output::answer(&match args.format {
        TextOrJson::Table => answer::shards::table(&shards),
        TextOrJson::Json => answer::shards::json(&shards),
    })
}

/// Writes the job into a new folder, and returns its path.
fn write_job(
    system: BatchSystem,
    out: &Path,
    scenario: &Scenario,
    shards: &[ShardEstimate],
) -> Result<PathBuf, Problems> {
    let files = named_files(scenario)?;
    let text = moved(scenario.resolved(), &files);
    let mut contents = vec![(SWEEP.to_owned(), text.into_bytes())];
    for (path, name) in files {
        let content = fs::read(&path).map_err(|error| cannot("read", Path::new(&path), &error))?;
        contents.push((name, content));
    }
    if out
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some())
    {
        let problem = Problem::new(format!("{} is not empty", out.display()));
        return Err(problem.help("name a new folder with --out").into());
    }
    let job = BatchJob::new(scenario.name(), shards).text(system, &contents)?;
    fs::create_dir_all(out).map_err(|error| cannot("make the folder", out, &error))?;
    let path = out.join(BatchJob::file(system));
    contents.push((BatchJob::file(system).to_owned(), job.into_bytes()));
    for (name, content) in contents {
        let path = out.join(name);
        fs::write(&path, content).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(path)
}

/// Files named in a scenario, by path, with their new names beside it.
fn named_files(scenario: &Scenario) -> Result<BTreeMap<String, String>, Problems> {
    let mut files = BTreeMap::new();
    let mut taken = vec![SWEEP.to_owned()];
    for point in scenario.points() {
        let of_groups = point.groups.iter().map(|group| &group.texts);
        let paths = of_groups.chain([&point.texts]).flat_map(|texts| {
            let keys = all_keys().iter();
            let paths = keys.filter(|key| key.names_file(&texts[key.name]));
            paths.map(|key| texts[key.name].trim())
        });
        for path in paths {
            if files.contains_key(path) || !Path::new(path).is_file() {
                continue;
            }
            let name = Path::new(path).file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if taken.contains(&name) {
                let problem = Problem::new(format!(
                    "two files of the scenario are called {name}, but a job has only one folder"
                ));
                return Err(problem.help("give one of them another name").into());
            }
            taken.push(name.clone());
            files.insert(path.to_owned(), name);
        }
    }
    Ok(files)
}

/// The scenario with the new names of its files.
fn moved(text: String, files: &BTreeMap<String, String>) -> String {
    files.iter().fold(text, |text, (path, name)| {
        text.replace(&format!("{path:?}"), &format!("{name:?}"))
            .replace(&format!("\n# {path}: "), &format!("\n# {name}: "))
    })
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Problems {
    Problem::new(format!("cannot {what} {}: {error}", path.display())).into()
}
