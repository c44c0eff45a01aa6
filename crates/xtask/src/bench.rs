//! `cargo xtask bench`.

use std::path::Path;
use std::process::Command;

use crate::repository::{Failure, Repository, run, stdout};

/// Measures the event list alone, then packet-hops beside their yardstick.
pub(crate) fn bench(repository: &Repository) -> Result<(), Failure> {
    // Its start-up time is measured too.
    run(&mut repository.cargo(&["build", "--release", "-p", "tailwater"]))?;
    run(&mut repository.cargo(&["bench", "-p", "tailwater-engine", "--bench", "event_list"]))?;
    run(&mut repository.cargo(&["bench", "-p", "tailwater-sim", "--bench", "hops"]))?;
    run(&mut repository.cargo(&["bench", "-p", "tailwater-results", "--bench", "keeping"]))
}

/// Counts instructions, which a noisy machine does not change.
pub(crate) fn instructions(repository: &Repository) -> Result<(), Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions were not counted: valgrind is not installed");
        return Ok(());
    }
    let arguments = [
        "bench",
        "-p",
        "tailwater-sim",
        "--bench",
        "hops",
        "--no-run",
    ];
    let built = repository.built(&arguments)?;
    let hops = built
        .first()
        .ok_or_else(|| Failure("cargo built no benchmark".to_owned()))?;
    println!(
        "{:<10}{:>16}{:>14}{:>22}",
        "", "instructions", "packet-hops", "per packet-hop"
    );
    for workload in ["w1b", "w3"] {
        let (instructions, packet_hops) = count(hops, workload)?;
        println!(
            "{workload:<10}{instructions:>16}{packet_hops:>14}{:>22.1}",
            ratio(instructions, packet_hops)
        );
    }
    println!("start-up and building the network included");
    Ok(())
}

/// Instructions and packet-hops of a workload run once.
fn count(hops: &Path, workload: &str) -> Result<(u64, u64), Failure> {
    let profile = hops.with_extension(format!("{workload}.callgrind"));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    let text = stdout(command.arg(hops).args(["--once", workload]))?;
    let packet_hops = number_after(&text, "packet-hops:");
    let totals = std::fs::read_to_string(&profile)
        .map_err(|error| Failure::file("read", &profile, &error))?;
    let instructions = number_after(&totals, "totals:").or(number_after(&totals, "summary:"));
    instructions
        .zip(packet_hops)
        .ok_or_else(|| Failure(format!("no count in {}", profile.display())))
}

fn number_after(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.trim().parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn ratio(instructions: u64, packet_hops: u64) -> f64 {
    instructions as f64 / packet_hops as f64
}
