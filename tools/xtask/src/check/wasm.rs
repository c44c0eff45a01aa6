//! The golden tables on a very different platform: WebAssembly, with pointers of 32 bits.
//!
//! The simulations of the tests are compiled for WASI and run under Node.js, which lets them read the snapshots. The
//! snapshot files are the same as on every other platform, including the digests of all packet-hops.

use std::path::Path;
use std::process::{Command, Stdio};

use super::step::Lack;
use crate::repository::{Failure, Repository, run, stdout};

/// The programs for compiling and running WebAssembly. `.ci/run` installs the programs; the target comes from the
/// servers of rustup, which not every machine can reach.
pub(super) fn lacks(repository: &Repository) -> Option<Lack> {
    let starts = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(repository.root());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    if !starts("clang", &["--target=wasm32-wasip1", "--version"]) {
        return Some(Lack::Installable("clang is not installed"));
    }
    if !starts("node", &["--eval", "require('node:wasi')"]) {
        return Some(Lack::Installable("node is not installed, or has no WASI"));
    }
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    let folder = stdout(rustc.current_dir(repository.root()));
    let is_there = folder.is_ok_and(|folder| Path::new(folder.trim_end()).is_dir());
    (!is_there).then_some(Lack::Optional(
        "the Rust target is not installed; `rustup target add wasm32-wasip1` does",
    ))
}

/// Runs the golden tests of `sim` under Node.js.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let script = repository.path("tools/xtask/src/check/wasi.mjs");
    let root = repository.root();
    let runner = serde_json::json!(["node", "--no-warnings", script, root]);
    let runner = format!("target.{TARGET}.runner = {runner}");
    let arguments = [
        "--config",
        &runner,
        "test",
        "--target",
        TARGET,
        "--package",
        "sim",
        "--test",
        "simulations",
        "golden",
    ];
    run(&mut repository.cargo(&arguments))
}

const TARGET: &str = "wasm32-wasip1";
