//! `cargo xtask check`: what CI runs, in the order of what fails soonest.

mod edges;
mod sources;

use std::time::{Duration, Instant};

use crate::repository::{Failure, Repository, run};
use crate::{cites, docs};

/// Runs every step, and stops at the first that fails.
pub(crate) fn check(repository: &Repository, skip_tests: bool) -> Result<(), Failure> {
    let mut steps = STEPS.to_vec();
    if !skip_tests {
        steps.push(TESTS);
    }
    let mut times = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        eprintln!("\n[{}/{}] {}", place + 1, steps.len(), step.name);
        let start = now();
        let done = (step.run)(repository);
        let took = start.elapsed();
        match done {
            Ok(Outcome::Passed) => times.push((step.name, took, String::new())),
            Ok(Outcome::Skipped(why)) => {
                eprintln!("SKIPPED: {why}");
                times.push((step.name, took, format!("  skipped: {why}")));
            }
            Err(Failure(why)) => {
                summary(&times);
                return Err(Failure(format!("{}: {why}", step.name)));
            }
        }
    }
    summary(&times);
    Ok(())
}

/// One thing that is checked.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    run: fn(&Repository) -> Result<Outcome, Failure>,
}

enum Outcome {
    Passed,
    Skipped(String),
}

const STEPS: [Step; 8] = [
    Step {
        name: "format",
        run: |repository| passed(run(&mut repository.cargo(&["fmt", "--all", "--check"]))),
    },
    Step {
        name: "dependency edges",
        run: |repository| passed(edges::check(repository)),
    },
    Step {
        name: "words and sizes of sources",
        run: |repository| passed(sources::check(repository)),
    },
    Step {
        name: "citations",
        run: |repository| passed(cites::check(repository)),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "documentation",
        run: documentation,
    },
    Step {
        name: "generated files",
        run: |repository| passed(docs::check(repository)),
    },
    Step {
        name: "golden digests in release",
        run: golden,
    },
];

const TESTS: Step = Step {
    name: "tests",
    run: |repository| passed(run(&mut repository.cargo(&["test", "--workspace"]))),
};

fn clippy(repository: &Repository) -> Result<Outcome, Failure> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    passed(run(&mut repository.cargo(&arguments)))
}

fn documentation(repository: &Repository) -> Result<Outcome, Failure> {
    let mut command = repository.cargo(&["doc", "--workspace", "--no-deps"]);
    passed(run(command.env("RUSTDOCFLAGS", "-D warnings")))
}

/// The digests that the tests check in the debug profile are the same in release.
fn golden(repository: &Repository) -> Result<Outcome, Failure> {
    if !repository.path("crates/lab/tests/golden.rs").is_file() {
        return Ok(Outcome::Skipped(
            "there is no crates/lab/tests/golden.rs".to_owned(),
        ));
    }
    let arguments = [
        "test",
        "--release",
        "-p",
        "tailwater-lab",
        "--test",
        "golden",
    ];
    passed(run(&mut repository.cargo(&arguments)))
}

fn passed(done: Result<(), Failure>) -> Result<Outcome, Failure> {
    done.map(|()| Outcome::Passed)
}

fn summary(times: &[(&str, Duration, String)]) {
    eprintln!();
    for (name, took, remark) in times {
        eprintln!("{:>7.1} s  {name}{remark}", took.as_secs_f64());
    }
}

#[expect(clippy::disallowed_methods, reason = "steps are timed for people")]
fn now() -> Instant {
    Instant::now()
}
