//! `cargo xtask bench --commands`: the cost of whole commands, not only of the event loop.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::Value;

use super::counts::{compare, total};
use crate::repository::{Failure, Repository, run, stdout};

/// Counts the instructions of small versions of the same commands, with valgrind, and compares them with the committed
/// counts, or replaces these with `bless`. It uses the binary that tests start, so that a check does not build another.
pub(crate) fn instructions(repository: &Repository, bless: bool) -> Result<(), Failure> {
    if !builds_as_counted() {
        return Err(Failure(INCREMENTAL.to_owned()));
    }
    let tailwater = repository.program("tailwater")?;
    let folder = empty_folder(repository, "target/count-commands")?;
    let trace = folder.join("trace.csv");
    fs::write(&trace, flows(100)).map_err(|error| Failure::file("write", &trace, &error))?;
    let trace = format!("workload.trace={}", trace.display());
    let count = |(name, arguments): (&'static str, &str)| {
        let profile = folder.join(format!("{name}.cachegrind"));
        let mut command = Command::new("valgrind");
        // Callgrind gives the same counts but takes 1.5 times as long.
        command.args(["--tool=cachegrind", "--cache-sim=no", "--quiet"]);
        command.arg("--error-exitcode=99");
        command.arg(format!("--cachegrind-out-file={}", profile.display()));
        command.arg(&tailwater).args(arguments.split_whitespace());
        if name == "trace" {
            command.args(["--set", &trace]);
        }
        command.args(["--quiet", "--jobs", "1", "--format", "json", "--out"]);
        stdout(command.arg(folder.join(name)))?;
        Ok((name, total(&profile)? / 1e6))
    };
    let counts = thread::scope(|scope| {
        let counting = SMALL.map(|command| scope.spawn(move || count(command)));
        let counted = counting.map(|count| count.join().expect("a count that does not panic"));
        counted.into_iter().collect::<Result<Vec<_>, Failure>>()
    })?;
    fs::remove_dir_all(&folder).map_err(|error| Failure::file("remove", &folder, &error))?;
    compare(repository, &counts, (COUNTS, HEADER), bless)
}

/// Whether Cargo builds code as for the committed counts: incremental compilation divides crates into more parts, and
/// inlines less between them.
pub(crate) fn builds_as_counted() -> bool {
    env::var_os("CARGO_INCREMENTAL").is_some_and(|value| value == "0")
}

/// A folder without anything from an earlier measurement.
fn empty_folder(repository: &Repository, name: &str) -> Result<PathBuf, Failure> {
    let folder = repository.path(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| Failure::file("remove", &folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
    Ok(folder)
}

/// Prints the processor time of whole commands for each packet-hop: reading the scenario, simulating, tables, the folder
/// and the page included.
pub(crate) fn commands(repository: &Repository) -> Result<(), Failure> {
    run(&mut repository.cargo(&["build", "--release", "-p", "tailwater"]))?;
    let tailwater = repository.path("target/release/tailwater");
    let folder = empty_folder(repository, "target/bench-commands")?;
    let trace = folder.join("trace.csv");
    fs::write(&trace, flows(20_000)).map_err(|error| Failure::file("write", &trace, &error))?;
    let trace = format!("workload.trace={}", trace.display());
    println!(
        "{:<22}{:>14}{:>10}{:>12}",
        "", "packet-hops", "CPU s", "ns per hop"
    );
    for (name, arguments) in COMMANDS {
        let out = folder.join(name);
        let mut words: Vec<&str> = arguments.split_whitespace().collect();
        if words[1] == "trace" {
            words.extend(["--set", &trace]);
        }
        let (hops, seconds) = measure(&tailwater, &words, &out)?;
        println!(
            "{name:<22}{hops:>14.0}{seconds:>10.2}{:>12.1}",
            seconds / hops * 1e9
        );
    }
    fs::remove_dir_all(&folder).map_err(|error| Failure::file("remove", &folder, &error))
}

/// The packet-hops of a command and the seconds of processor time of its process, by the shell's `times`.
fn measure(tailwater: &Path, words: &[&str], out: &Path) -> Result<(f64, f64), Failure> {
    let mut command = Command::new("sh");
    command.args(["-c", "\"$@\" && times", "sh"]).arg(tailwater);
    command
        .args(words)
        .args(["--quiet", "--format", "json", "--out"]);
    let text = stdout(command.arg(out))?;
    let (json, times) = text
        .rsplit_once('}')
        .ok_or_else(|| Failure("the command printed no JSON".to_owned()))?;
    let result: Value = serde_json::from_str(&format!("{json}}}"))
        .map_err(|error| Failure(format!("the command printed no JSON: {error}")))?;
    let hops = result["cost"]["packet_hops"].as_f64();
    // The second line is for child processes.
    let seconds = times.trim().lines().last().and_then(seconds);
    hops.zip(seconds)
        .ok_or_else(|| Failure(format!("no cost in what the command printed: {times}")))
}

/// The sum of a line such as `0m1.500s 0m0.250s`.
fn seconds(line: &str) -> Option<f64> {
    line.split_whitespace()
        .map(|time| {
            let (minutes, rest) = time.strip_suffix('s')?.split_once('m')?;
            // Some shells write a decimal comma.
            let rest: f64 = rest.replace(',', ".").parse().ok()?;
            Some(minutes.parse::<f64>().ok()? * 60.0 + rest)
        })
        .sum()
}

/// A trace of flows of 20 KB between 40 hosts, one every 20 us.
fn flows(count: u32) -> String {
    let mut text = "start_us,size_bytes,sender,receiver\n".to_owned();
    for flow in 0..count {
        let (sender, receiver) = (flow % 20, 20 + flow * 7 % 20);
        writeln!(text, "{},20000,{sender},{receiver}", flow * 20).expect("a string takes all");
    }
    text
}

/// An incast of rounds, a sweep of 300 points, the search for the smallest buffer that meets a goal, and a trace.
const COMMANDS: [(&str, &str); 4] = [
    (
        "incast",
        "run incast --set workload.senders=100 --set workload.rounds=200 --seeds 3",
    ),
    (
        "sweep",
        "run incast --scheme newreno,dctcp,rcc --set workload.senders=10..100:10 --seeds 10",
    ),
    (
        "question",
        "run incast --goal p99<15ms --scheme dctcp --set workload.senders=40 --search switch.buffer=60KB..400KB",
    ),
    ("trace", "run trace --scheme newreno,dctcp --seeds 1"),
];

/// The same commands, so small that valgrind runs each in some seconds.
const SMALL: [(&str, &str); 4] = [
    (
        "incast",
        "run incast --scheme dctcp --set workload.senders=100 --set workload.rounds=1 --seeds 1",
    ),
    (
        "sweep",
        "run incast --scheme newreno,rcc --set workload.senders=2,4 --seeds 1",
    ),
    (
        "question",
        "run incast --goal p99<15ms --scheme dctcp --set workload.senders=4 --search switch.buffer=60KB..90KB",
    ),
    ("trace", "run trace --scheme newreno,dctcp --seeds 1"),
];
/// The committed counts.
const COUNTS: &str = "crates/faces/cli/instructions.toml";
const HEADER: &str = "\
# Millions of instructions of whole commands in the profile `dev`, as `cargo xtask bench --commands --instructions
# --bless` counted them with CARGO_INCREMENTAL=0. `cargo xtask check` fails when one moves by more than 2 % either way.
";
/// Why instructions are not counted.
pub(crate) const INCREMENTAL: &str =
    "the counts are of a build with CARGO_INCREMENTAL=0: set it, as .ci/run does";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_tells_user_and_system_time_in_minutes_and_seconds() {
        assert_eq!(seconds("0m1.500s 0m0.250s"), Some(1.75));
        assert_eq!(seconds("2m0,500s 0m0,000s"), Some(120.5));
        assert_eq!(seconds("real"), None);
    }
}
