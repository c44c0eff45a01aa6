//! Programs for the kernel, which other builds leave out: they are linted, and tested in the kernel of this
//! machine as far as it lets them.

use std::process::{Command, Stdio};

use super::Lack;
use crate::repository::{Failure, Repository, run};

pub(super) fn lacks(_: &Repository) -> Option<Lack> {
    let has = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let status = command.args(arguments).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let lacks =
        !has("clang", &["--version"]) || !has("pkg-config", &["--exists", "libelf", "zlib"]);
    lacks.then_some(Lack::Installable(
        "there is no clang, libelf or zlib to build them with",
    ))
}

pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let programs = ["-p", "tailwater-programs", "--features", "kernel"];
    let clippy = [
        &["clippy", "--all-targets"],
        &programs[..],
        &["--", "-D", "warnings"],
    ]
    .concat();
    run(&mut repository.cargo(&clippy))?;
    run(&mut repository.cargo(&[&["test"], &programs[..]].concat()))
}
