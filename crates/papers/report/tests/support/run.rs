//! Real run folders, made as the command makes them.

use std::fs;
use std::path::{Path, PathBuf};

use results::{Access, Folder, RunInfo, Store};
use scenario::{Overrides, Scenario, Source};
use sim::run::Limits;

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

/// The simulation that a test wants.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) schemes: Option<&'a str>,
    pub(crate) sets: &'a [&'a str],
    pub(crate) seeds: u32,
    /// The series to record.
    pub(crate) trace: Option<&'a str>,
    /// The number of a simulation that is recorded as failed.
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
    let store = Store::open(path, &scenario, None, Access::New).expect("a test makes its run");
    store.begin(&scenario).expect("a test makes its run");
    for point in scenario.points() {
        let kept = if wanted.failed == Some(point.index) {
            let failure = "the books do not balance".to_owned();
            store.keep(point, &scenario, &Err(failure))
        } else {
            results::simulate(&store, point, &scenario, Limits::NONE)
        };
        kept.expect("a test makes its run");
    }
    let (_, results) = store
        .assemble(&scenario, |_| ())
        .expect("a test makes its run");
    let mut info = RunInfo {
        command: ["tailwater", "run", "incast"].map(String::from).into(),
        ..RunInfo::default()
    };
    info.add_costs(&results);
    store.write_info(&info).expect("a test makes its run");
    store.complete().expect("a test makes its run");
    drop(store);
    Folder::open(path).expect("a test makes its run")
}
