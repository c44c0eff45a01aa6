//! Programs for the kernel and what loads them, which other builds leave out: they are linted, and tested in the
//! kernel of this machine as far as it lets them.
//!
//! All commands here take the whole workspace. Features of crates from outside depend on which crates are built
//! together: for two of them alone, Cargo would build most of what other steps have built once more.

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

/// Tests them, beside the command that starts them.
pub(super) fn test(repository: &Repository) -> Result<(), Failure> {
    // Built as for the generated files, where it is compared with what the tests build.
    run(&mut repository.cargo(&[&PROGRAMS, &FEATURES[..]].concat()))?;
    let tests = ["deploy", "live", "parser", "programs", "tun"].map(|test| ["--test", test]);
    let tests = [
        &["test", "--workspace", "--lib"],
        tests.as_flattened(),
        &FEATURES,
    ]
    .concat();
    run(&mut repository.cargo(&tests))
}

const FEATURES: [&str; 2] = ["--features", "programs/kernel,tailwater-live/kernel"];
