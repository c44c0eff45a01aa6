//! `cargo xtask check`: the steps of CI, ordered so that likely failures come early.

mod advisories;
mod beside;
mod circles;
mod edges;
mod english;
mod names;
mod outside;
mod programs;
mod sources;
mod step;
mod types;
mod unused;
mod wasm;

use std::env;
use std::time::Instant;

use self::beside::Beside;
use self::step::{Lack, Step, StepResult};
use crate::repository::{Failure, Repository, run};
use crate::{bench, cites, docs, python};

/// Runs every step, and stops at the first that fails.
pub(crate) fn check(repository: &Repository, skip_tests: bool) -> Result<(), Failure> {
    let mut beside = Beside::start()?;
    follow(repository, &STEPS, &mut || beside.has_failed())?;
    beside.finish()?;
    // The tests then have the whole machine.
    if skip_tests {
        return Ok(());
    }
    follow(repository, &[TESTS, PYTHON], &mut || false)
}

/// Runs the step that needs the artefacts of the tests.
pub(crate) fn check_python(repository: &Repository) -> Result<(), Failure> {
    follow(repository, &[PYTHON], &mut || false)
}

/// Runs the steps that [`check`] runs in parallel with the others.
pub(crate) fn check_beside(repository: &Repository) -> Result<(), Failure> {
    follow(repository, &BESIDE, &mut || false)
}

/// Runs steps in order until one fails, or `stops` reports a failure of another one.
fn follow(
    repository: &Repository,
    steps: &[Step],
    stops: &mut dyn FnMut() -> bool,
) -> Result<(), Failure> {
    let no_skip = env::var_os("TAILWATER_NO_SKIP").is_some();
    let mut lines = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        if stops() {
            break;
        }
        eprintln!("\n[{}/{}] {}", place + 1, steps.len(), step.name);
        let start = now();
        let done = match (step.lacks)(repository) {
            Some(lack) => lack.skip(no_skip),
            None => (step.run)(repository).map(|()| StepResult::Done),
        };
        let took = start.elapsed().as_secs_f64();
        match done {
            Ok(StepResult::Done) => lines.push(format!("{took:>7.1} s  {}", step.name)),
            Ok(StepResult::Skipped(why)) => {
                eprintln!("skipped: {why}");
                lines.push(format!("  skipped  {}: {why}", step.name));
            }
            Err(Failure(why)) => {
                eprintln!("\n{}", lines.join("\n"));
                return Err(Failure(format!("{}: {why}", step.name)));
            }
        }
    }
    eprintln!("\n{}", lines.join("\n"));
    Ok(())
}

/// First steps that take no time, then those that build and run the tests for the kernel. These wait for the network
/// more than they compute, so [`BESIDE`] runs meanwhile. The command is built before the tests that start it.
const STEPS: [Step; 14] = [
    Step::new("format", |repository| {
        run(&mut repository.cargo(&["fmt", "--all", "--check"]))
    }),
    Step::new("dependency edges", edges::check),
    Step::new("unused dependencies", unused::check),
    Step::new("crates from outside", outside::check),
    Step {
        name: "published vulnerabilities",
        lacks: advisories::lacks,
        run: advisories::check,
    },
    Step::new("circles of modules", circles::check),
    Step::new("words and sizes of sources", sources::check),
    Step::new("names of types", types::check),
    Step::new("names of schemes", names::check),
    Step::new("English", english::check),
    Step::new("citations", cites::check),
    Step::new("generated files", docs::check),
    // It counts instructions of the binary built by the previous step.
    Step {
        name: "instructions of whole commands",
        lacks: |_| {
            let valgrind = bench::has_valgrind();
            let counted = bench::builds_as_counted();
            (!valgrind)
                .then_some(NO_VALGRIND)
                .or((!counted).then_some(Lack::Optional(bench::INCREMENTAL)))
        },
        run: |repository| bench::instructions_of_commands(repository, false),
    },
    Step {
        name: "programs for the kernel",
        lacks: programs::lacks,
        run: programs::test,
    },
];

/// Steps that compile in other profiles or use only one core. The first ones share no folder with [`STEPS`], so that
/// neither waits for the other.
const BESIDE: [Step; 6] = [
    Step::new("golden digests in release", golden),
    Step {
        name: "instructions of a packet-hop",
        lacks: |_| (!bench::has_valgrind()).then_some(NO_VALGRIND),
        run: |repository| bench::instructions(repository, false),
    },
    Step {
        name: "golden digests on WebAssembly",
        lacks: wasm::lacks,
        run: wasm::check,
    },
    Step::new("clippy", clippy),
    Step {
        name: "clippy of programs for the kernel",
        lacks: programs::lacks,
        run: programs::lint,
    },
    Step::new("documentation", documentation),
];

const TESTS: Step = Step::new("tests", |repository| {
    run(&mut repository.cargo(&["test", "--workspace"]))
});

const PYTHON: Step = Step {
    name: "Python package",
    lacks: |_| python::lacks().map(Lack::Installable),
    run: python::check,
};

const NO_VALGRIND: Lack = Lack::Installable("there is no valgrind");

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

/// Checks that the digests which tests check in the debug profile are the same in release.
fn golden(repository: &Repository) -> Result<(), Failure> {
    let arguments = [
        "test",
        "--release",
        "-p",
        "sim",
        "--test",
        "simulations",
        "golden",
    ];
    run(&mut repository.cargo(&arguments))
}

#[expect(clippy::disallowed_methods, reason = "steps are timed for people")]
fn now() -> Instant {
    Instant::now()
}
