//! Ports that serve some packets first.

use std::fs;

use serde_json::Value;

use crate::{disturbances, emulated, left, machine};

/// Bytes that each group of two flows received in all runs, the first group first.
fn received(lines: &[Value], scheme: &str) -> [u64; 2] {
    let points = lines.iter().filter(|line| line["type"] == "point");
    let mut groups = [0, 0];
    for point in points.filter(|line| line["scheme"] == scheme) {
        let flows = point["flows"].as_array().expect("every flow");
        for (place, flow) in flows.iter().enumerate() {
            groups[place / 2] += flow[2].as_u64().expect("a count of bytes");
        }
    }
    groups
}

/// The two hosts of a group together send more than their receiver's link carries, and each group alone does.
#[test]
fn the_first_priority_gets_the_link_and_other_schemes_have_none() {
    let Some(_machine) = machine() else { return };
    let file = std::env::temp_dir().join(format!("tailwater-bands-{}.toml", std::process::id()));
    let text = "schemes = [\"qos+newreno\", \"newreno\"]\nrun.duration = \"1s\"\n[tcp]\nmin_rto = \"10ms\"\n\
        [workload]\nkind = \"incast\"\nsenders = 2\nsize = \"unlimited\"\nstart = \"0s\"\n\
        [group.high]\nqos.priority = 0\n[group.low]\nqos.priority = 1\n";
    fs::write(&file, text).expect("a file");
    let name = file.to_str().expect("a path in Unicode");
    let told = emulated(&[
        "emulate", name, "--rate", "50Mbps", "--runs", "2", "--no-sim", "--detail", "flows",
    ]);
    fs::remove_file(&file).expect("a file");
    let Some((pid, lines)) = told else { return };
    assert_eq!(left(pid), [""; 0]);
    let [high, low] = received(&lines, "qos+newreno");
    // Schemes take turns on one network. Each must remove its queues, or the next one would not get its own.
    let [one, other] = received(&lines, "newreno");
    // However busy a machine is, one core carries both.
    assert!(high > 2 * low, "{high} bytes first, {low} last");
    // 50 Mbit/s carry 12.5 MB in twice a second.
    let holds = [
        high > 9 * low,
        high > 9_000_000,
        one.max(other) < 4 * one.min(other),
    ];
    let disturbances = disturbances(&lines);
    if holds != [true; 3] && !disturbances.is_empty() {
        testing::skipped(&format!("this machine is too busy: {disturbances:?}"));
        return;
    }
    assert_eq!(
        holds, [true; 3],
        "{high} and {low}, {one} and {other} bytes"
    );
    let drops = lines.iter().find(|line| line["scheme"] == "qos+newreno");
    let drops = drops.and_then(|point| point["metrics"]["drops"].as_u64());
    assert!(
        drops.is_some_and(|drops| drops > 0),
        "bands that are full drop: {drops:?}"
    );
}
