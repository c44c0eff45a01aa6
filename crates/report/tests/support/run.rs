//! Real run folders, made as the command makes them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lab::metrics::Outcome;
use lab::results::{Folder, RunInfo, Store};
use lab::run;
use lab::scenario::{Overrides, PointSpec, Scenario, Source};
use lab::trace::{self, Plan, Recorder};

/// A folder for a test, empty at the start and removed at the end.
pub(crate) struct Temporary(pub(crate) PathBuf);

impl Temporary {
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a test makes its run");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// What is simulated.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) schemes: Option<&'a str>,
    pub(crate) sets: &'a [&'a str],
    pub(crate) seeds: u32,
    /// What is recorded over time.
    pub(crate) trace: Option<&'a str>,
    /// The number of a simulation that is said to have failed.
    pub(crate) failed: Option<usize>,
}

/// Simulates the scenario `incast` and leaves the results in `path`.
pub(crate) fn incast(path: &Path, wanted: &Wanted<'_>) -> Folder {
    simulate(
        Source::builtin("incast").expect("a test makes its run"),
        path,
        wanted,
    )
}

pub(crate) fn simulate(source: Source, path: &Path, wanted: &Wanted<'_>) -> Folder {
    let overrides = Overrides {
        schemes: wanted.schemes.map(str::to_owned),
        sets: wanted.sets.iter().map(|set| (*set).to_owned()).collect(),
        seeds: std::num::NonZeroU32::new(wanted.seeds),
        trace: wanted.trace.map(str::to_owned),
        ..Overrides::default()
    };
    let scenario = Scenario::load(source, &overrides).expect("a test makes its run");
    let store = Store::open(path, &scenario, false).expect("a test makes its run");
    let mut series = Vec::new();
    for point in scenario.points() {
        let result = if wanted.failed == Some(point.index) {
            Err("the books do not balance".to_owned())
        } else {
            trace(point, path, &mut series)
        };
        store
            .keep(point, &scenario, result)
            .expect("a test makes its run");
    }
    let (_, results) = store
        .assemble(&scenario, |_| ())
        .expect("a test makes its run");
    let mut info = RunInfo {
        command: ["tailwater", "run", "incast"].map(String::from).into(),
        ..RunInfo::default()
    };
    info.add_costs(&results);
    let info = serde_json::to_string(&info).expect("a test makes its run");
    store
        .write("run.json", &info)
        .expect("a test makes its run");
    store.complete().expect("a test makes its run");
    if !series.is_empty() {
        let out = File::create(path.join("series.parquet")).expect("a test makes its run");
        trace::concatenate(&mut series.iter().cloned(), out).expect("a test makes its run");
        for part in series {
            fs::remove_file(part).expect("a test makes its run");
        }
    }
    Folder::open(path).expect("a test makes its run")
}

/// Simulates a point and records what it is to record.
fn trace(point: &PointSpec, path: &Path, series: &mut Vec<PathBuf>) -> Result<Outcome, String> {
    let outcome = match Plan::of(point) {
        None => run::run(point),
        Some(plan) => {
            let part = path.join(format!("series {}", point.index));
            let mut recorder = Recorder::new(
                &plan,
                point,
                File::create(&part).expect("a test makes its run"),
            )
            .expect("a test makes its run");
            let outcome = run::observe(point, &mut recorder);
            recorder.finish().expect("a test makes its run");
            series.push(part);
            outcome
        }
    };
    outcome.map_err(|error| error.to_string())
}
