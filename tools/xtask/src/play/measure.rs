//! Measures how fast the pages are in this machine's Chromium, which draws in software here.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::repository::{Failure, Repository, run, stdout};
use crate::screenshots::browser::{CHROMIUM, chromium};

/// Opens and plays the theatres of reports, moves a slider of a page, and prints the times. Fails if a theatre takes
/// more than two seconds to open or plays fewer than fifty frames a second.
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
    let page = folder.join("explore.html");
    let mut command = Command::new(tailwater);
    command.args(["explore", "incast", "--scheme", "dctcp", "--seed", "7"]);
    command.args(["--set", "workload.senders=100", "-o"]);
    run(command.arg(&page).stdout(Stdio::null()))?;
    let seen = seen(repository, "page.mjs", &folder, &page)?;
    let times = seen["slider_ms"].as_array().map_or(&[][..], Vec::as_slice);
    let time = |place: usize| times.get(place).and_then(Value::as_f64).unwrap_or(f64::NAN);
    println!(
        "page: first chart in {:.0} ms; slider to charts {:.0} ms (median of 20), {:.0} ms (95 %); the last of 200 events \
         in {:.0} ms",
        number(&seen, "/first_ms")?,
        time(10),
        time(18),
        number(&seen, "/burst")?
    );
    if slow.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("too slow: {}", slow.join(", "))))
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
