//! Programs for the kernel and what loads them, which other builds leave out: they are linted, and tested in the
//! kernel of this machine as far as it lets them.

use super::Lack;
use crate::bench;
use crate::repository::{Failure, Repository, run};

pub(super) fn lacks(_: &Repository) -> Option<Lack> {
    let lacks = !bench::builds_programs();
    lacks.then_some(Lack::Installable(
        "there is no clang, libelf or zlib to build them with",
    ))
}

pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let programs = [
        "-p",
        "tailwater-programs",
        "-p",
        "tailwater-live",
        "--features",
        "tailwater-programs/kernel,tailwater-live/kernel",
    ];
    let clippy = [
        &["clippy", "--all-targets"],
        &programs[..],
        &["--", "-D", "warnings"],
    ]
    .concat();
    run(&mut repository.cargo(&clippy))?;
    run(&mut repository.cargo(&[&["test"], &programs[..]].concat()))
}
