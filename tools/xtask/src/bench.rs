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

/// Measures the event list alone, then packet-hops beside their yardstick.
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

/// Divides 1,000 random networks, all built-in scenarios, and a network 100 times beside threads that take all cores.
pub(crate) fn divided(repository: &Repository) -> Result<(), Failure> {
    let mut command = repository.cargo(&["test", "--release", "-p", "sim", "--lib"]);
    // One after the other: one of them takes all cores away from the others.
    let each = ["--ignored", "divided::", "--nocapture", "--test-threads=1"];
    run(command.arg("--").args(each))
}

/// Counts the instructions of a packet-hop, which a noisy machine does not change, and compares them with
/// the committed counts, or replaces these with `bless`.
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

/// Runs the relations of all schemes with the seeds that tell distributions apart.
pub(crate) fn relations(repository: &Repository) -> Result<(), Failure> {
    let test = ["test", "-p", "battery", "--test", "schemes"];
    let mut command = repository.cargo(&test);
    let seeds = "over_200_seeds_no_scheme_depends_on_the_origin_or_the_unit_of_time";
    run(command.args(["--", "--ignored", "--exact", seeds]))
}

/// Rounds of an incast with grants at the receiver, beside rounds without, by a test that takes some minutes.
pub(crate) fn grants(repository: &Repository) -> Result<(), Failure> {
    let test = [
        "test",
        "-p",
        "programs",
        "--features",
        "kernel",
        "--test",
        "programs",
    ];
    let mut command = repository.cargo(&test);
    let rounds = "grants::two_hundred_rounds_are_near_the_ideal";
    run(command.args(["--", "--ignored", "--nocapture", "--exact", rounds]))
}

/// A thousand points by jobs of several batch systems.
pub(crate) fn shards(repository: &Repository) -> Result<(), Failure> {
    let test = ["test", "--release", "-p", "tailwater", "--test", "folders"];
    let mut command = repository.cargo(&test);
    let points =
        "arrays::a_thousand_points_by_every_system_have_equal_bytes_and_shards_take_equal_time";
    run(command.args(["--", "--ignored", "--nocapture", "--exact", points]))
}

/// Four observers that are killed ten times.
pub(crate) fn observe(repository: &Repository) -> Result<(), Failure> {
    let test = [
        "test",
        "-p",
        "tailwater-live",
        "--features",
        "kernel",
        "--test",
        "deploy",
    ];
    let mut command = repository.cargo(&test);
    let killed =
        "devices::observers_of_four_devices_killed_ten_times_stay_small_and_see_every_flow";
    run(command.args(["--", "--ignored", "--nocapture", "--exact", killed]))
}

/// Trials of a law without effect, and trials that are killed, on this machine's kernel.
pub(crate) fn trials(repository: &Repository) -> Result<(), Failure> {
    let test = [
        "test",
        "-p",
        "tailwater-live",
        "--features",
        "kernel",
        "--test",
        "deploy",
    ];
    let mut command = repository.cargo(&test);
    run(command.args(["trials::", "--", "--ignored", "--nocapture"]))
}

/// Transfers between our TCP and the kernel's, by tests that take some minutes, and a hundred times as many packets
/// for the decoder.
pub(crate) fn tun(repository: &Repository) -> Result<(), Failure> {
    let mut decoder = repository.cargo(&["test", "-p", "wire", "--test", "bytes"]);
    run(decoder.env("WIRE_CASES", "35000000"))?;
    let mut command = repository.cargo(&["test", "-p", "tun", "--test", "tun"]);
    run(command.args(["--", "--ignored", "--nocapture"]))
}

/// Measures what an ACK costs at a port of this machine's kernel. Returns the status of the measurement: 1 if an ACK
/// costs too much, 3 where the machine lacks what the measurement needs.
pub(crate) fn live(repository: &Repository) -> Result<ExitCode, Failure> {
    if !builds_programs() {
        eprintln!(
            "xtask: the programs for the kernel need clang, libelf and zlib to build: apt install clang libelf-dev \
             zlib1g-dev pkg-config, or dnf install clang elfutils-libelf-devel zlib-devel pkgconf"
        );
        return Ok(ExitCode::from(3));
    }
    // What is measured runs in the kernel, so that this program need not be fast.
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

/// Whether this machine has what the programs for the kernel are built with.
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
