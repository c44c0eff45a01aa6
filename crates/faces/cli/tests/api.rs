//! The commands as other programs call them.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tailwater::api::{self, Access, Destination, Ended, Monitor, Request, Silent};
use tailwater::results::Folder;
use tailwater::scenario::{Argument, Overrides, Source};

/// A sweep in which every point is short but the last two, which take seconds.
const TEXT: &str = "schemes = [\"newreno\", \"dctcp\"]\nworkload.senders = 8\nworkload.jitter = \"1ms\"\n\
                    workload.size = [\"64KB\", \"100MB\"]\n";

#[test]
fn a_run_that_is_stopped_within_a_point_goes_on_to_the_same_bytes() {
    let scratch = Scratch::new("stopped");
    let request = request(TEXT, &["run.duration=200ms"]);
    let whole = run(&request, &scratch.0.join("whole"), (&Silent, &never())).expect("a whole run");
    let folder = scratch.0.join("stopped");
    let stop = AtomicBool::new(false);
    // Two threads: when the second of the short points is done, a long one has begun.
    let second = After {
        points: AtomicUsize::new(0),
        stop: &stop,
    };
    let ended = run(&request, &folder, (&second, &stop));
    assert!(matches!(ended, Err(Ended::Stopped)), "{ended:?}");
    assert!(!folder.join("summary.json").exists());
    let kept = fs::read_dir(folder.join("points")).expect("points that are kept");
    assert!(kept.count() >= 2);
    drop(ended);
    let again = run(&request, &folder, (&Silent, &never())).expect("the rest of the run");
    assert_eq!(files(whole.path()), files(again.path()));
}

#[test]
fn a_run_that_is_stopped_before_it_begins_simulates_nothing() {
    let scratch = Scratch::new("never");
    let stop = AtomicBool::new(true);
    let ended = run(
        &request(TEXT, &[]),
        &scratch.0.join("run"),
        (&Silent, &stop),
    );
    assert!(matches!(ended, Err(Ended::Stopped)), "{ended:?}");
}

#[test]
fn a_mistake_is_at_the_argument_of_the_caller() {
    let wrong = request(TEXT, &["workload.sender=4"]).scenario();
    let Err(problems) = wrong else {
        panic!("there is no such setting");
    };
    let name = |argument, text: Option<&str>| match (argument, text) {
        (Argument::Set, Some(text)) => {
            format!("set[{:?}]", text.split('=').next().expect("a setting"))
        }
        (argument, _) => argument.name().to_owned(),
    };
    let told = api::told(&problems.0, &name);
    assert!(told.contains("[set[\"workload.sender\"]:1:1]"), "{told}");
    let problem = problems.0[0].worded(&name);
    let spot = problem.spot().expect("a place");
    assert_eq!((spot.line, spot.column), (1, 1));
    assert_eq!(spot.name, "set[\"workload.sender\"]");
    assert_eq!(spot.text, "workload.sender=4");
    let remedy = problem.remedy().expect("a remedy");
    assert!(remedy.contains("workload.senders"), "{remedy}");
}

fn request(text: &str, sets: &[&str]) -> Request {
    Request {
        overrides: Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        },
        ..Request::new(Source::new("test.toml", text))
    }
}

fn run(
    request: &Request,
    folder: &Path,
    told: (&dyn Monitor, &AtomicBool),
) -> Result<Folder, Ended> {
    let to = Destination {
        folder,
        access: Access::Resume,
        report: false,
    };
    let mut request = request.clone();
    request.allowance.jobs = NonZeroUsize::new(2);
    api::run(&request, to, told)
}

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

/// Stops a run a moment after its second point.
struct After<'a> {
    points: AtomicUsize,
    stop: &'a AtomicBool,
}

impl Monitor for After<'_> {
    fn advances(&self) {
        if self.points.fetch_add(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Every file of a run but `run.json`.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a run folder");
    let files = entries.map(|entry| entry.expect("a file of it").path());
    let name = |path: &PathBuf| {
        let name = path.file_name().expect("a file has a name");
        name.to_string_lossy().into_owned()
    };
    let files = files.filter(|path| !["run.json", ".lock"].contains(&name(path).as_str()));
    files
        .map(|path| (name(&path), fs::read(&path).expect("a file that is whole")))
        .collect()
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("tailwater-api-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
