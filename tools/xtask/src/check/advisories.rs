//! Published vulnerabilities of crates, which only cargo-deny and its database know.

use std::process::Stdio;

use super::step::Lack;
use crate::repository::{Failure, Repository, run};

/// Needs cargo-deny and its database, which is a separate repository. CI has no time to build the program, and may not
/// reach the database.
pub(super) fn lacks(repository: &Repository) -> Option<Lack> {
    let works = |arguments: &[&str]| {
        let mut command = repository.cargo(arguments);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !works(&["deny", "--version"]) {
        return Some(Lack::Optional(
            "cargo-deny is not installed; `cargo install --locked cargo-deny` builds it",
        ));
    }
    if !works(&["deny", "fetch", "db"]) {
        return Some(Lack::Optional(
            "`cargo deny fetch db` does not reach the database",
        ));
    }
    None
}

/// Runs all of cargo-deny.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    run(&mut repository.cargo(&["deny", "check", "--disable-fetch"]))
}
