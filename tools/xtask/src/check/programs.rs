//! Lints the programs for the kernel and their loader, which other builds leave out, and tests them as far as the
//! kernel of this machine allows.
//!
//! All commands here build the whole workspace. The features of third-party crates depend on which crates are built
//! together: for two crates alone, Cargo would build again most of what other steps have built.

use std::process::Command;

use super::step::Lack;
use crate::bench;
use crate::repository::{Failure, PROGRAMS, Repository, run};

pub(super) fn lacks(_: &Repository) -> Option<Lack> {
    let lacks = !bench::builds_programs();
    lacks.then_some(Lack::Installable(
        "there is no clang, libelf or zlib to build them with",
    ))
}

/// Lints them.
pub(super) fn lint(repository: &Repository) -> Result<(), Failure> {
    let clippy = [
        &["clippy", "--workspace", "--all-targets"],
        &FEATURES[..],
        &["--", "-D", "warnings"],
    ];
    run(&mut repository.cargo(&clippy.concat()))
}

/// Tests them, and the command that starts them.
pub(super) fn test(repository: &Repository) -> Result<(), Failure> {
    // Built as for the generated files, where it is compared with the binary that the tests build.
    run(&mut repository.cargo(&[&PROGRAMS, &FEATURES[..]].concat()))?;
    // For all libraries and programs, so that later steps do not compile their tests again. The tests of most do not
    // depend on the features, and run later.
    let tests = [
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--test=deploy",
        "--test=live",
        "--test=programs",
        "--no-run",
    ];
    for (folder, test) in repository.built_tests(&[&tests[..], &FEATURES].concat())? {
        if SEE_FEATURES
            .map(|name| repository.path(name))
            .contains(&folder)
        {
            eprintln!("\n{}", test.display());
            run(Command::new(test).current_dir(folder))?;
        }
    }
    Ok(())
}

/// Crates that compile or load other code with the features.
const SEE_FEATURES: [&str; 4] = [
    "crates/live/bed",
    "crates/live/deploy",
    "crates/live/live",
    "crates/live/programs",
];
const FEATURES: [&str; 2] = ["--features", "programs/kernel,tailwater-live/kernel"];
