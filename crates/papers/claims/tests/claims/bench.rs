//! A folder with the files of a paper, and its runs.

use std::fs;
use std::path::{Path, PathBuf};

use claims::catalogue::{self, Selection};
use claims::judge::{Bench, Finding, Verdict, judge};
use claims::{Experiment, MeasuredRun, Paper};
use results::{Access, RunInfo, Store};
use scenario::{Overrides, Problems, Scenario};
use sim::run::Limits;

/// A folder of its own for each test, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A folder with the file of a paper and one figure, `fig1`.
    pub(crate) fn with(name: &str, figure: &str) -> Self {
        let folder = Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
        drop(fs::remove_dir_all(&folder.0));
        fs::create_dir_all(&folder.0).expect("a folder for the test");
        folder.write("paper.toml", "title = \"A paper\"\ncitation = \"2017\"\n");
        folder.write("fig1.toml", figure);
        folder
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("a file for the test");
    }

    /// A file of the folder, as a user names it.
    pub(crate) fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }

    /// The experiments that are found in the folder.
    pub(crate) fn find(&self) -> Result<Selection, Problems> {
        let found = catalogue::find(&[self.0.display().to_string()])?;
        Ok(found.into_iter().next().expect("one paper"))
    }

    pub(crate) fn paper(&self) -> Paper {
        self.find()
            .unwrap_or_else(|problems| panic!("{problems}"))
            .paper
    }

    /// Simulates the scenario of a figure with these settings changed.
    pub(crate) fn run(&self, figure: &Experiment, sets: &[&str], to: &str) -> MeasuredRun {
        let folder = self.0.join(to);
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        let scenario =
            Scenario::load(figure.source.clone(), &overrides).expect("a run of a test is whole");
        simulate(&scenario, &folder);
        MeasuredRun::open(&folder).expect("a run of a test is whole")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn simulate(scenario: &Scenario, folder: &Path) {
    let store = Store::open(folder, scenario, None, Access::New).expect("a run of a test is whole");
    store.begin(scenario).expect("a run of a test is whole");
    for point in scenario.points() {
        results::simulate(&store, point, scenario, Limits::NONE).expect("a run of a test is whole");
    }
    store
        .assemble(scenario, |_| ())
        .expect("a run of a test is whole");
    store
        .write_info(&RunInfo::default())
        .expect("a run of a test is whole");
    store.complete().expect("a run of a test is whole");
}

/// The runs of a figure and nothing else.
pub(crate) fn bench(own: &MeasuredRun) -> Bench<'_> {
    Bench {
        own,
        others: std::collections::BTreeMap::new(),
        changed: None,
    }
}

/// Every claim of a figure with its finding.
pub(crate) fn findings(figure: &Experiment, bench: &Bench<'_>) -> Vec<(String, Finding)> {
    let claims = figure.claims.iter();
    let findings = claims.map(|claim| {
        (
            claim.id.clone(),
            judge(claim, bench).expect("a run of a test is whole"),
        )
    });
    findings.collect()
}

/// Fails unless the id of every claim begins with its verdict.
pub(crate) fn assert_as_named(figure: &Experiment, bench: &Bench<'_>) {
    for (id, finding) in findings(figure, bench) {
        let expected = match id.split('-').next() {
            Some("yes") => Verdict::Reproduced,
            Some("partly") => Verdict::Partly,
            Some("untestable") => Verdict::NotTestable,
            _ => Verdict::NotReproduced,
        };
        assert_eq!(finding.verdict, expected, "{id}: {finding:?}");
    }
}

/// Three schemes, three numbers of senders; with 10 nothing is lost, with 40 and 100 much is.
pub(crate) const INCAST: &str = r#"
title = "An incast"
figure = "Fig. 1"
scale = "as the test says"
schemes = ["newreno", "dctcp", "rcc"]
seeds = 3

[net]
header_bytes = 54

[tcp]
mss = 1446
initial_window = 1
initial_ssthresh = "65535B"
sack = false
min_rto = "10ms"
initial_rto = "10ms"
syn_rto = "10ms"
receive_buffer = "65535B"
window_scale = "off"

[workload]
senders = [10, 40, 100]
jitter = "12us"

[trace]
series = "queue, drops"
interval = "change"
"#;
