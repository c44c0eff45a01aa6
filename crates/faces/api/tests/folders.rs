//! Runs into folders, as programs start and stop them.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use api::{
    Access, Allowance, Destination, Error, Folder, Monitor, Point, Request, RunOptions, Scenario,
};
use base::Time;
use miette::GraphicalTheme;
use scenario::{Argument, Overrides, Source};
use schemes::{Origin, Role, Roles, Scheme};
use tcp::{Ack, Loss, SenderCc};

/// A sweep in which every point is short except the last two, which take seconds.
const TEXT: &str = "schemes = [\"newreno\", \"dctcp\"]\nworkload.senders = 8\nworkload.jitter = \"1ms\"\n\
                    workload.size = [\"64KB\", \"100MB\"]\n";

#[test]
fn a_run_that_is_stopped_within_a_point_goes_on_to_the_same_bytes() {
    let scratch = Scratch::new("stopped");
    let request = request(TEXT, &["run.duration=200ms"]);
    let options = RunOptions::default();
    let whole = run(&request, &scratch.0.join("whole"), options).expect("a whole run");
    let folder = scratch.0.join("stopped");
    let stop = AtomicBool::new(false);
    // Two threads: when the second of the short points is done, a long one has begun.
    let second = After {
        points: AtomicUsize::new(0),
        stop: &stop,
    };
    let ended = run(&request, &folder, options.monitor(&second).stop(&stop));
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
    assert!(!folder.join("summary.json").exists());
    let kept = fs::read_dir(folder.join("points")).expect("points that are kept");
    assert!(kept.count() >= 2);
    drop(ended);
    let again = run(&request, &folder, options).expect("the rest of the run");
    assert_eq!(files(whole.path()), files(again.path()));
}

#[test]
fn a_run_that_is_stopped_before_it_begins_simulates_nothing() {
    let scratch = Scratch::new("never");
    let stop = AtomicBool::new(true);
    let ended = run(
        &request(TEXT, &[]),
        &scratch.0.join("run"),
        RunOptions::default().stop(&stop),
    );
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
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
    let theme = GraphicalTheme::none();
    let text = api::problems::rendered(&problems.0, theme, &name).join("\n");
    assert!(text.contains("[set[\"workload.sender\"]:1:1]"), "{text}");
    let problem = problems.0[0].worded(&name);
    let spot = problem.spot().expect("a place");
    assert_eq!((spot.line, spot.column), (1, 1));
    assert_eq!(spot.name, "set[\"workload.sender\"]");
    assert_eq!(spot.text, "workload.sender=4");
    let remedy = problem.remedy().expect("a remedy");
    assert!(remedy.contains("workload.senders"), "{remedy}");
}

#[test]
fn a_role_that_panics_fails_its_simulation_and_not_the_program() {
    struct Broken;
    impl SenderCc for Broken {
        fn window(&self) -> u64 {
            panic!("a window below zero");
        }
        fn on_ack(&mut self, _: &Ack) {}
        fn on_loss(&mut self, _: Loss, _: u64, _: Time) {}
    }
    let scheme = Scheme {
        name: "broken",
        roles: &[Role::Sender],
        origin: Some(Origin {
            package: "test",
            version: "1",
            hash: 1,
        }),
        build: &|_| Ok(Roles::of_sender((), |(), _| Box::new(Broken))),
        ..Scheme::PLAIN
    };
    schemes::register(scheme).expect("a correct entry");
    let point = Point::builder("broken").build().expect("a scheme");
    let failure = api::run(&point).expect_err("no outcome");
    assert!(
        failure.to_string().contains("a window below zero"),
        "{failure}"
    );
    let scenario = Scenario::builder("incast")
        .schemes(["broken", "newreno"])
        .set("workload.senders", 2)
        .seeds(1)
        .build()
        .expect("both schemes");
    let results = api::sweep(&scenario, &RunOptions::default()).expect("a whole sweep");
    let worked: Vec<bool> = results.iter().map(|(_, result)| result.is_ok()).collect();
    assert_eq!(worked, [false, true]);
}

#[test]
fn points_that_cannot_differ_are_simulated_once_and_answered_each() {
    struct Count(AtomicUsize);
    impl Monitor for Count {
        fn on_simulation(&self, _expected_s: f64) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let scenario = Scenario::builder("incast")
        .schemes(["newreno"])
        .set("workload.senders", "2,3")
        .set("dctcp.g", "0.0625,0.125")
        .seeds(1)
        .build()
        .expect("settings that exist");
    let count = Count(AtomicUsize::new(0));
    let results = api::sweep(&scenario, &RunOptions::default().monitor(&count));
    let results = results.expect("a whole sweep");
    let digests: Vec<_> = results
        .iter()
        .map(|(point, result)| (point.index(), result.as_ref().expect("an outcome").digest))
        .collect();
    assert_eq!(count.0.into_inner(), 4);
    assert_eq!(
        digests.iter().map(|one| one.0).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!(digests[0].1, digests[1].1);
    assert_ne!(digests[0].1, digests[2].1);
}

#[test]
fn simulations_that_threads_share_make_the_same_files() {
    let scratch = Scratch::new("shared");
    let racks = "schemes = [\"newreno\", \"dctcp\"]\nseeds = 2\n[topology]\nkind = \"leaf-spine\"\n\
                 [workload]\nkind = \"poisson\"\nflows = 40\n[trace]\nbreakdown = false\nseries = \"off\"\n";
    let shared = |name: &str, threads, sets: &[&str]| {
        let allowance = Allowance {
            threads: NonZeroUsize::new(threads),
            ..Allowance::default()
        };
        let options = RunOptions::default().allowance(allowance);
        run(&request(racks, sets), &scratch.0.join(name), options).expect("a whole run")
    };
    let (alone, both) = (shared("alone", 1, &[]), shared("both", 2, &[]));
    assert_eq!(files(alone.path()), files(both.path()));
    assert_eq!((alone.info().shared.runs, both.info().shared.runs), (0, 4));
    let star = shared("star", 2, &["topology.kind=star"]);
    let obstacle = star.info().shared.obstacle.as_deref();
    assert!(
        obstacle.is_some_and(|why| why.contains("one switch")),
        "{obstacle:?}"
    );
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

fn run(request: &Request, folder: &Path, options: RunOptions<'_>) -> Result<Folder, Error> {
    let to = Destination::new(folder)
        .access(Access::Resume)
        .report(false);
    let two = NonZeroUsize::MIN.saturating_add(1);
    api::run_request(request, to, &options.jobs(two))
}

/// Stops a run a moment after its second point.
struct After<'a> {
    points: AtomicUsize,
    stop: &'a AtomicBool,
}

impl Monitor for After<'_> {
    fn on_simulation(&self, _expected_s: f64) {
        if self.points.fetch_add(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Every file of a run except `run.json`, including those of its folders.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a run folder") {
        let path = entry.expect("a file of it").path();
        let name = PathBuf::from(path.file_name().expect("a file has a name"));
        if path.is_dir() {
            let inner = self::files(&path).into_iter();
            files.extend(inner.map(|(inner, bytes)| (name.join(inner), bytes)));
        } else if !["run.json", ".lock"]
            .iter()
            .any(|other| name == Path::new(other))
        {
            files.insert(name, fs::read(&path).expect("a file that is whole"));
        }
    }
    files
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
