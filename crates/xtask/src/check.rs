//! `cargo xtask check`: what CI runs, in the order of what fails soonest.

mod circles;
mod edges;
mod sources;
mod unused;

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
            Ok(()) => times.push((step.name, took)),
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
    run: fn(&Repository) -> Result<(), Failure>,
}

const STEPS: [Step; 10] = [
    Step {
        name: "format",
        run: |repository| run(&mut repository.cargo(&["fmt", "--all", "--check"])),
    },
    Step {
        name: "dependency edges",
        run: edges::check,
    },
    Step {
        name: "unused dependencies",
        run: unused::check,
    },
    Step {
        name: "circles of modules",
        run: circles::check,
    },
    Step {
        name: "words and sizes of sources",
        run: sources::check,
    },
    Step {
        name: "citations",
        run: cites::check,
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
        run: docs::check,
    },
    Step {
        name: "golden digests in release",
        run: golden,
    },
];

const TESTS: Step = Step {
    name: "tests",
    run: |repository| run(&mut repository.cargo(&["test", "--workspace"])),
};

fn clippy(repository: &Repository) -> Result<(), Failure> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run(&mut repository.cargo(&arguments))
}

fn documentation(repository: &Repository) -> Result<(), Failure> {
    let mut command = repository.cargo(&["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The digests that the tests check in the debug profile are the same in release.
fn golden(repository: &Repository) -> Result<(), Failure> {
    let arguments = [
        "test",
        "--release",
        "-p",
        "tailwater-sim",
        "--test",
        "simulations",
        "golden",
    ];
    run(&mut repository.cargo(&arguments))
}

fn summary(times: &[(&str, Duration)]) {
    eprintln!();
    for (name, took) in times {
        eprintln!("{:>7.1} s  {name}", took.as_secs_f64());
    }
}

/// Fails with every line that a step found, each naming a place, what is wrong there and the remedy.
fn failed(found: &[Vec<String>]) -> Result<(), Failure> {
    let wrong = found.concat();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("\n  {}", wrong.join("\n  "))))
}

#[expect(clippy::disallowed_methods, reason = "steps are timed for people")]
fn now() -> Instant {
    Instant::now()
}
