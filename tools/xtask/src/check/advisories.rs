//! Published vulnerabilities of crates, which only cargo-deny and its database know.

use std::process::Stdio;

use super::step::Lack;
use crate::repository::{Failure, Repository, run};

/// cargo-deny, and the database, which is a repository of its own. CI has no time to build the one, and may
/// not reach the other.
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
