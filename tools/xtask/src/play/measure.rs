//! Measures how fast the pages are in this machine's Chromium, which draws in software here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::repository::{Failure, Repository, run, stdout};
use crate::screenshots::browser::{CHROMIUM, chromium};

/// Opens and plays the theatres of reports, moves a slider of a page, simulates in it, and prints the times. Fails if a time
/// exceeds its limit.
pub(super) fn measure(repository: &Repository) -> Result<(), Failure> {
    let built = repository.built(&["build", "--package", "tailwater", "--bin", "tailwater"])?;
    let tailwater = built.first();
    let tailwater = tailwater.ok_or_else(|| Failure("cargo built no tailwater".to_owned()))?;
    let folder = repository.path("target/play-measured");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .map_err(|error| Failure::file("empty", &folder, &error))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file("create", &folder, &error))?;
    let mut slow = Vec::new();
    println!("Chromium draws by the processor.");
    for (name, commands) in THEATRES {
        for arguments in commands {
            let mut command = Command::new(tailwater);
            command.args(arguments.split(' ')).current_dir(&folder);
            run(command.stdout(Stdio::null()))?;
        }
        let page = folder.join(name).join("report.html");
        let seen = seen(repository, "theatre.mjs", &folder, &page)?;
        let first = number(&seen, "/first_ms")?;
        let (packets, flows) = (number(&seen, "/packets")?, number(&seen, "/flows")?);
        println!("{name}: opens in {first:.0} ms; {packets} packets of {flows} flows");
        for speed in ["5", "50", "500", "10000"] {
            let of = |what: &str| number(&seen, &format!("/plays/{speed}/{what}"));
            let (median, most) = (of("median_ms")?, of("p95_ms")?);
            let (drawn, shown) = (of("drawn_ms")?, of("shown_ms")?);
            println!(
                "  {speed} us/s: a frame each {median:.1} ms (median), {most:.1} ms (95 %); drawing takes {drawn:.1} ms, \
                 with the tables {shown:.1} ms"
            );
            if first > OPENS_MS || median > FRAME_MS {
                slow.push(format!("{name} at {speed} us/s"));
            }
        }
    }
    slow.extend(slider(repository, tailwater, &folder)?);
    slow.extend(hops(repository, &folder)?);
    if slow.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("too slow: {}", slow.join(", "))))
}

/// Measures a page whose slider moves, and returns each time that is too long.
fn slider(
    repository: &Repository,
    tailwater: &Path,
    folder: &Path,
) -> Result<Vec<String>, Failure> {
    let page = explored(tailwater, folder, "workload.senders=100")?;
    let seen = seen(repository, "page.mjs", folder, &page)?;
    let times = seen["slider_ms"].as_array().map_or(&[][..], Vec::as_slice);
    let time = |place: usize| times.get(place).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let (first, last) = (number(&seen, "/first_ms")?, number(&seen, "/burst/ms")?);
    println!(
        "page: first chart in {first:.0} ms; slider to charts {:.0} ms (median of 20), {:.0} ms (95 %); the last of 200 \
         events in {last:.0} ms",
        time(10),
        time(18),
    );
    let promised = [
        ("first chart", first, CHART_MS),
        ("slider to charts", time(18), SLIDER_MS),
        ("the last of 200 events", last, LAST_MS),
    ];
    let late = promised.into_iter().filter(|(_, ms, most)| ms > most);
    Ok(late.map(|(what, ..)| what.to_owned()).collect())
}

/// Compares the time that a packet takes over a link in a page, the making of charts included, with that of the command's
/// simulations.
fn hops(repository: &Repository, folder: &Path) -> Result<Vec<String>, Failure> {
    let build = [
        "build",
        "--release",
        "--package",
        "tailwater",
        "--bin",
        "tailwater",
    ];
    let built = repository.built(&build)?;
    let tailwater = built.first();
    let tailwater = tailwater.ok_or_else(|| Failure("cargo built no tailwater".to_owned()))?;
    let size = "workload.size=1MB";
    let page = explored(tailwater, folder, size)?;
    let seen = seen(repository, "hops.mjs", folder, &page)?;
    let in_page = number(&seen, "/ms/4")? * 1e6 / number(&seen, "/hops")?;
    let mut command = Command::new(tailwater);
    command.args([
        "run", "incast", "--scheme", "dctcp", "--seed", "7", "--seeds", "1",
    ]);
    command.args(["--set", size, "--set", "workload.senders=60"]);
    command.args(["--format", "json", "--quiet"]);
    let answer: Value = serde_json::from_str(&stdout(command.current_dir(folder))?)
        .map_err(|error| Failure(format!("the command says no JSON: {error}")))?;
    let native = number(&answer, "/cost/ns_per_hop")?;
    println!(
        "a packet crosses a link in {in_page:.0} ns in a page (median of 9, charts included) and in {native:.0} ns natively"
    );
    let slow = in_page > TIMES_NATIVE * native;
    Ok(slow
        .then(|| "packets in a page".to_owned())
        .into_iter()
        .collect())
}

/// Writes the page of the incast with a setting.
fn explored(tailwater: &Path, folder: &Path, set: &str) -> Result<PathBuf, Failure> {
    let page = folder.join("explore.html");
    let mut command = Command::new(tailwater);
    command.args(["explore", "incast", "--scheme", "dctcp", "--seed", "7"]);
    command.args(["--set", set, "-o"]).arg(&page);
    run(command.stdout(Stdio::null()))?;
    Ok(page)
}

/// The measurements of a script of the crate `play` in a page.
fn seen(
    repository: &Repository,
    script: &str,
    folder: &Path,
    page: &Path,
) -> Result<Value, Failure> {
    let mut node = Command::new("node");
    node.arg(repository.path(&format!("crates/faces/play/tests/{script}")));
    node.args([folder, page]).arg(chromium()?).args(CHROMIUM);
    let text = stdout(&mut node)?;
    let seen: Value = serde_json::from_str(&text)
        .map_err(|error| Failure(format!("{script} says no JSON: {error}")))?;
    match seen["wrong"].as_array() {
        Some(wrong) if wrong.is_empty() => Ok(seen),
        _ => Err(Failure(format!("{script}: {}", seen["wrong"]))),
    }
}

fn number(seen: &Value, place: &str) -> Result<f64, Failure> {
    let value = seen.pointer(place).and_then(Value::as_f64);
    value.ok_or_else(|| Failure(format!("{place} was not measured: {seen}")))
}

/// Runs whose theatres are played, by the name of their folder: an incast, a trace of 20,000 flows, and an incast in a
/// fabric of 1,024 hosts.
const THEATRES: [(&str, &[&str]); 3] = [
    (
        "incast",
        &["run incast --scheme newreno --set workload.senders=100 --seeds 1 --quiet --out incast"],
    ),
    (
        "trace",
        &[
            "run incast --scheme newreno --seeds 1 --quiet --trace off --out flows --set workload.kind=poisson \
             --set workload.senders=10 --set topology.hosts=64 --set workload.flows=20000 --set workload.load=0.8 \
             --set workload.size=20KB",
            "export flows --as-trace -o flows.csv",
            "run trace --scheme newreno --set workload.trace=flows.csv --set switch.buffer=20pkt \
             --set switch.ecn_threshold=off --seeds 1 --quiet --trace queue,events --out trace",
        ],
    ),
    (
        "leaf-spine",
        &[
            "run incast --scheme newreno --set workload.senders=200 --seeds 1 --quiet --out leaf-spine \
           --set topology.kind=leaf-spine --set topology.racks=32 --set topology.hosts=32 --set topology.spines=8",
        ],
    ),
];

/// The most milliseconds until a theatre shows something.
const OPENS_MS: f64 = 2000.0;
/// The most milliseconds between two frames, at fifty frames a second.
const FRAME_MS: f64 = 20.0;
/// Milliseconds until a page shows its first chart.
const CHART_MS: f64 = 1000.0;
/// Milliseconds from a slider that moves to new charts.
const SLIDER_MS: f64 = 50.0;
/// Milliseconds from the last of many events of a slider to its charts.
const LAST_MS: f64 = 300.0;
/// How many times as long as in the command a packet may take over a link in a page.
const TIMES_NATIVE: f64 = 2.0;
