//! `cargo xtask bench`.

mod commands;
mod counts;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::repository::{Failure, Repository, run, stdout};

use counts::{compare, number_after, total};

pub(crate) use commands::{
    INCREMENTAL, builds_as_counted, commands, instructions as instructions_of_commands,
};

/// Measures the event list alone, then packet-hops and their reference.
pub(crate) fn bench(repository: &Repository) -> Result<(), Failure> {
    // Its start-up time is measured too.
    run(&mut repository.cargo(&["build", "--release", "-p", "tailwater"]))?;
    run(&mut repository.cargo(&["bench", "-p", "engine", "--bench", "event_list"]))?;
    run(&mut repository.cargo(&["bench", "-p", "sim", "--bench", "hops"]))?;
    run(&mut repository.cargo(&["bench", "-p", "results", "--bench", "keeping"]))
}

/// Measures how much faster one simulation is on several threads.
pub(crate) fn threads(repository: &Repository) -> Result<(), Failure> {
    run(&mut repository.cargo(&["bench", "-p", "sim", "--bench", "hops", "--", "--threads"]))
}

/// Counts the instructions of a packet-hop, which do not depend on the load of the machine, and compares them with the
/// committed counts, or replaces these with `bless`.
pub(crate) fn instructions(repository: &Repository, bless: bool) -> Result<(), Failure> {
    if !has_valgrind() {
        return Err(Failure(
            "valgrind, which counts them, is not installed".to_owned(),
        ));
    }
    let arguments = ["bench", "-p", "sim", "--bench", "hops", "--no-run"];
    let built = repository.built(&arguments)?;
    let hops = built
        .first()
        .ok_or_else(|| Failure("cargo built no benchmark".to_owned()))?;
    let counts: Result<Vec<_>, Failure> = COUNTED
        .iter()
        .map(|workload| Ok((*workload, count(hops, workload)?)))
        .collect();
    compare(repository, &counts?, (COUNTS, HEADER), bless)
}

/// Measures the cost of an ACK at a port of this machine's kernel. Returns the status of the measurement: 1 if an ACK
/// costs too much, 3 if the machine lacks a requirement.
pub(crate) fn live(repository: &Repository) -> Result<ExitCode, Failure> {
    if !builds_programs() {
        eprintln!(
            "xtask: the programs for the kernel need clang, libelf and zlib to build: apt install clang libelf-dev \
             zlib1g-dev pkg-config, or dnf install clang elfutils-libelf-devel zlib-devel pkgconf"
        );
        return Ok(ExitCode::from(3));
    }
    // The measured code runs in the kernel, so this program need not be fast.
    let arguments = [
        "bench",
        "--profile",
        "dev",
        "-p",
        "programs",
        "--features",
        "kernel",
        "--bench",
        "cost",
        "--no-run",
    ];
    let built = repository.built(&arguments)?;
    let cost = built
        .first()
        .ok_or_else(|| Failure("cargo built no benchmark".to_owned()))?;
    let status = Command::new(cost)
        .status()
        .map_err(|error| Failure::file("start", cost, &error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Whether this machine has the tools for building the programs for the kernel.
pub(crate) fn builds_programs() -> bool {
    let has = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let status = command.args(arguments).stdout(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    has("clang", &["--version"]) && has("pkg-config", &["--exists", "libelf", "zlib"])
}

/// Whether instructions can be counted on this machine.
pub(crate) fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// Instructions per packet-hop of a workload, in the event loop only.
fn count(hops: &Path, workload: &str) -> Result<f64, Failure> {
    let profile = hops.with_extension(format!("{workload}.callgrind"));
    let mut command = Command::new("valgrind");
    command.args([
        "--tool=callgrind",
        "--quiet",
        "--toggle-collect=*engine*run_some*",
    ]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    let text = stdout(command.arg(hops).args(["--once", workload]))?;
    let packet_hops = number_after(&text, "packet-hops:")
        .ok_or_else(|| Failure(format!("{workload} printed no packet-hops")))?;
    Ok(total(&profile)? / packet_hops)
}

/// Workloads of `hops` that valgrind runs in some seconds each.
const COUNTED: [&str; 6] = [
    "w1b",
    "w3-50ms",
    "w2-50",
    "w1b-linux",
    "w3-50ms-linux",
    "w2-50-linux",
];
/// The committed counts.
const COUNTS: &str = "crates/simulate/sim/benches/instructions.toml";
const HEADER: &str = "\
# Instructions per packet-hop in the event loop, as `cargo xtask bench --instructions --bless` counted them.
# `cargo xtask check` fails when one moves by more than 2 % either way.
";
