//! Points that fail, even by a panic, leave the others whole, and run again later.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use plan::PointSpec;
use results::{Access, Store, Summary};
use scenario::{Overrides, Scenario, Source};
use sim::error::RunError;
use sim::run::Limits;
use sim::sweep;

#[test]
fn a_sweep_with_failures_keeps_the_rest_and_runs_them_again() {
    let scenario = scenario();
    let whole = store("whole", &scenario);
    simulate(&whole, &scenario, &|_| Ok(()));
    let (expected, _) = whole.assemble(&scenario, |_| ()).unwrap();

    let broken = store("broken", &scenario);
    let failures = simulate(&broken, &scenario, &|point| match point.index {
        2 => Err(RunError::Conservation("a byte too many".into())),
        5 => panic!("the queue is never negative"),
        _ => Ok(()),
    });
    assert_eq!(failures, 2);
    let missing = broken.missing(&scenario, None).unwrap();
    let missing: Vec<_> = missing.iter().map(|point| point.index).collect();
    assert_eq!(missing, [2, 5]);
    assert_eq!(broken.unknown(&scenario).unwrap(), 0);
    let (summary, results) = broken.assemble(&scenario, |_| ()).unwrap();
    let failed: Vec<_> = summary.failures.iter().map(|failed| failed.point).collect();
    assert_eq!(failed, [2, 5]);
    assert!(summary.failures[0].error.contains("a byte too many"));
    assert!(summary.failures[1].error.contains("never negative"));
    assert_eq!(results.iter().filter(|result| result.is_err()).count(), 2);
    for point in &summary.points {
        let same = &expected.points[point.point as usize];
        assert_eq!(point.digest, same.digest);
    }
    assert_eq!(summary.rows[0].metrics["fct_p99_us"].runs, 3);
    assert_eq!(summary.rows[1].metrics["fct_p99_us"].runs, 3);
    reproduce(&summary, &expected, &scenario);

    // Now nothing fails.
    assert_eq!(simulate(&broken, &scenario, &|_| Ok(())), 0);
    broken.assemble(&scenario, |_| ()).unwrap();
    for name in ["summary.json", "flows.parquet", "ports.parquet"] {
        let bytes = |store: &Store| fs::read(store.folder().join(name)).unwrap();
        assert!(bytes(&whole) == bytes(&broken), "{name}");
    }
}

/// The commands of failures name the very points.
fn reproduce(summary: &Summary, expected: &Summary, scenario: &Scenario) {
    for failed in &summary.failures {
        let words: Vec<_> = failed.reproduce.split(' ').collect();
        assert_eq!(words[..3], ["tailwater", "run", "scenario.toml"]);
        let values = |option| {
            let pairs = words.windows(2).filter(move |pair| pair[0] == option);
            pairs.map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
        };
        let overrides = Overrides {
            schemes: values("--scheme").pop(),
            sets: values("--set"),
            seed: values("--seed")
                .pop()
                .map(|seed| seed.parse().expect("a seed")),
            seeds: values("--seeds")
                .pop()
                .map(|seeds| seeds.parse().expect("a number")),
            ..Overrides::default()
        };
        let source = Source::new("scenario.toml", scenario.resolved());
        let again = Scenario::load(source, &overrides).expect("a scenario");
        assert_eq!(again.points().len(), 1);
        let outcome = sim::run::run(&again.points()[0]).expect("a conserving run");
        let same = &expected.points[failed.point as usize];
        assert_eq!(format!("{:016x}", outcome.digest), same.digest);
    }
}

/// Runs the missing points, as the command does, unless `fail` prevents it. Returns how many failed.
fn simulate(
    store: &Store,
    scenario: &Scenario,
    fail: &(dyn Fn(&PointSpec) -> Result<(), RunError> + Sync),
) -> usize {
    let missing = store.missing(scenario, None).expect("readable parts");
    store.begin(scenario).expect("a folder for the test");
    let run = |point: &PointSpec| {
        fail(point).and_then(|()| results::simulate(store, point, scenario, Limits::NONE))
    };
    let stop = AtomicBool::new(false);
    let results = sweep::run_all(&missing, NonZeroUsize::MIN, &stop, run, |_, _| ());
    let mut failures = 0;
    for (point, result) in missing.iter().zip(results) {
        if let Err(failure) = result {
            let kept = store.keep(point, scenario, &Err(failure.to_string()));
            kept.expect("room on disk");
            failures += 1;
        }
    }
    failures
}

fn scenario() -> Scenario {
    let overrides = Overrides {
        schemes: Some("newreno,dctcp".into()),
        sets: vec![
            "workload.senders=4,8".into(),
            "workload.jitter=100us".into(),
        ],
        seeds: NonZeroUsize::new(4).and_then(|seeds| seeds.try_into().ok()),
        ..Overrides::default()
    };
    Scenario::load(
        Source::builtin("incast").expect("it is built in"),
        &overrides,
    )
    .expect("a scenario")
}

fn store(name: &str, scenario: &Scenario) -> Store {
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("failures")
        .join(name);
    drop(fs::remove_dir_all(&path));
    Store::open(&path, scenario, None, Access::New).expect("an empty folder")
}

#[test]
fn what_another_process_packed_is_kept_as_if_it_were_made_here() {
    let scenario = scenario();
    let (here, there) = (
        store("kept-here", &scenario),
        store("packed-there", &scenario),
    );
    simulate(&here, &scenario, &|_| Ok(()));
    simulate(&there, &scenario, &|point| match point.index {
        2 => Err(RunError::Conservation("a byte too many".into())),
        _ => Ok(()),
    });
    let away = store("unpacked", &scenario);
    away.begin(&scenario).unwrap();
    for point in scenario.points() {
        let bytes = there.pack(point, &scenario).unwrap();
        // Neither damaged points nor those of another scenario are kept.
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        assert!(away.unpack(point, &scenario, &damaged).is_err());
        let other = &scenario.points()[usize::from(point.index == 0)];
        assert!(away.unpack(other, &scenario, &bytes).is_err());
        let done = away.unpack(point, &scenario, &bytes).unwrap();
        assert_eq!(done, point.index != 2);
        there.forget(point, &scenario).unwrap();
    }
    assert_eq!(there.kept(&scenario), 0);
    let missing = away.missing(&scenario, None).unwrap();
    assert_eq!(missing.len(), 1);
    simulate(&away, &scenario, &|_| Ok(()));
    for store in [&here, &away] {
        store.assemble(&scenario, |_| ()).unwrap();
    }
    for name in ["summary.json", "flows.parquet", "ports.parquet"] {
        let bytes = |store: &Store| fs::read(store.folder().join(name)).unwrap();
        assert!(bytes(&here) == bytes(&away), "{name}");
    }
}
