//! The theatre of a report beside the series of its run.

#[path = "support/run.rs"]
mod run;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use report::Sentences;
use results::Folder;
use scenario::Source;

use run::{Temporary, Wanted, incast, simulate};

#[test]
fn the_theatre_shows_at_any_instant_what_the_trace_says() {
    let temporary = Temporary::new("theatre-incast");
    let wanted = Wanted {
        sets: &["workload.senders=60", "trace.interval=change"],
        ..WANTED
    };
    check(&incast(&temporary.0.join("run"), &wanted));
}

#[test]
fn of_20_000_flows_the_theatre_shows_what_the_trace_says() {
    let temporary = Temporary::new("theatre-flows");
    // 500 rounds of 40 servers that answer one client after the other within 20 us.
    let mut flows = "start_us,size_bytes,sender,receiver\n".to_owned();
    for flow in 0..20_000 {
        let (round, server) = (flow / 40, flow % 40);
        let start = round * 400 + server / 2;
        writeln!(flows, "{start},2920,server {server},client {}", round % 8).expect("text");
    }
    let path = temporary.0.join("flows.csv");
    fs::write(&path, flows).expect("a test writes");
    let text = format!("workload.kind = \"trace\"\nworkload.trace = {path:?}\n");
    let wanted = Wanted {
        sets: &[
            "switch.buffer=30pkt",
            "switch.ecn_threshold=off",
            "trace.interval=change",
            "trace.ports=switches",
            "trace.flows=all",
        ],
        ..WANTED
    };
    let source = Source::new("flows", text);
    let folder = simulate(source, &temporary.0.join("run"), &wanted);
    assert_eq!(folder.summary().points.len(), 1);
    check(&folder);
}

#[test]
fn of_a_fabric_of_1024_hosts_the_theatre_shows_what_the_trace_says() {
    let temporary = Temporary::new("theatre-fabric");
    let wanted = Wanted {
        sets: &[
            "topology.kind=leaf-spine",
            "topology.racks=32",
            "topology.hosts=32",
            "topology.spines=8",
            "workload.senders=200",
            "trace.interval=change",
            "trace.ports=switches",
        ],
        ..WANTED
    };
    check(&incast(&temporary.0.join("run"), &wanted));
}

const WANTED: Wanted<'_> = Wanted {
    schemes: Some("newreno"),
    sets: &[],
    seeds: 1,
    trace: Some("queue,cwnd,events"),
    failed: None,
};

/// Fails unless the page of `folder` shows, at random instants of its first scene, the queue and the windows of the series.
fn check(folder: &Folder) {
    let Some(mut node) = testing::tool("node") else {
        return;
    };
    let path = folder.path().join("report.html");
    let sentences = Sentences {
        of_run: |_| Vec::new(),
        drops: |_| None,
        of_change: |_, _| Vec::new(),
    };
    report::write(&[folder], &sentences, &path).expect("a report of a test is whole");
    let support = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = node
        .arg(support.join("tests/support/instants.js"))
        .arg(support.join("templates/theatre.js"))
        .arg(&path)
        .output()
        .expect("a program that is installed starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut series: BTreeMap<(&str, u32), Vec<(f64, f64)>> = BTreeMap::new();
    folder
        .series(&mut |row| {
            for (name, value) in row.values {
                let name = ["queue_bytes", "cwnd_bytes"]
                    .into_iter()
                    .find(|own| own == name);
                if let Some((name, id)) = name.zip(row.port.or(row.flow)) {
                    series
                        .entry((name, id))
                        .or_default()
                        .push((row.time_us, *value));
                }
            }
        })
        .expect("series of a whole run");
    let at = |name, id, time| {
        let samples = series.get(&(name, id)).map_or(&[][..], Vec::as_slice);
        let before = samples.partition_point(|(at, _)| *at <= time);
        before.checked_sub(1).map(|last| samples[last].1)
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let (mut instants, mut windows) = (0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let (time, port) = (number(words[0]), words[1].parse().expect("a port"));
        let queue = at("queue_bytes", port, time).unwrap_or(0.0);
        assert!((number(words[2]) - queue).abs() < 0.5, "{line}: {queue}");
        for word in &words[3..] {
            let (flow, cwnd) = word.split_once('=').expect("a flow and its window");
            if let Some(known) = at("cwnd_bytes", flow.parse().expect("a flow"), time) {
                assert!(
                    (number(cwnd) - known).abs() < 0.5,
                    "{time}: {word}, not {known}"
                );
                windows += 1;
            }
        }
        instants += 1;
    }
    assert!(
        instants >= 10 && windows >= 100,
        "{instants} instants, {windows} windows"
    );
}
