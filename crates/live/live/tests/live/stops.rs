//! Flows without end that stop.

use std::fs;

use serde_json::Value;

use crate::{disturbances, emulated, left, machine};

/// Each flow ends with what it has written by then, and the other one has the link for itself.
#[test]
fn flows_that_stop_leave_the_link_to_the_others() {
    let Some(_machine) = machine() else { return };
    let file = std::env::temp_dir().join(format!("tailwater-stops-{}.toml", std::process::id()));
    let text = "schemes = [\"cubic\"]\nrun.duration = \"900ms\"\ntcp.receive_buffer = \"64KiB\"\nswitch.buffer = \"400KB\"\n\
        [workload]\nkind = \"incast\"\nsenders = 2\nsize = \"unlimited\"\nstop = \"300ms\"\nstop_interval = \"300ms\"\n";
    fs::write(&file, text).unwrap();
    let name = file.to_str().unwrap();
    // A machine that is late for a moment, which no reason reports, is judged again once.
    let mut others = Vec::new();
    loop {
        let told = emulated(&[
            "emulate", name, "--rate", "20Mbps", "--runs", "1", "--detail", "series",
        ]);
        let Some((pid, lines)) = told else { break };
        assert_eq!(left(pid), [""; 0]);
        let points: Vec<_> = (lines.iter())
            .filter(|line| line["type"] == "point")
            .collect();
        assert_eq!(points.len(), 2, "both worlds");
        for point in &points {
            let flows = point["flows"].as_array().expect("every flow");
            for (flow, told) in flows.iter().enumerate() {
                assert_eq!(
                    told[2].as_u64(),
                    Some(read(point, flow, 0.0..f64::MAX)),
                    "{point}"
                );
            }
        }
        assert!(is_as_planned(points[1]), "{}", points[1]);
        if is_as_planned(points[0]) {
            break;
        }
        let disturbances = disturbances(&lines);
        if !disturbances.is_empty() {
            testing::skipped(&format!("this machine is too busy: {disturbances:?}"));
            break;
        }
        others.push(points[0].to_string());
        assert!(others.len() < 2, "{others:?}");
    }
    fs::remove_file(&file).unwrap();
}

/// Bytes of a flow that were read within a range of times in microseconds.
fn read(point: &Value, flow: usize, during: std::ops::Range<f64>) -> u64 {
    let rows = point["arrivals"].as_array().expect("what was read");
    let own = rows
        .iter()
        .filter(|row| row[1] == flow && row[0].as_f64().is_some_and(|at| during.contains(&at)));
    own.filter_map(|row| row[2].as_u64()).sum()
}

/// Whether both flows end soon after their stops, and the second one then has the link. Without a size they do not complete.
fn is_as_planned(point: &Value) -> bool {
    let ends = [0, 1].map(|flow| point["flows"][flow][1].as_f64().unwrap_or(f64::MAX));
    // 20 Mbit/s are 2.4 Mbit of payload in 125 ms.
    let alone = read(point, 1, 450_000.0..575_000.0);
    (300_000.0..400_000.0).contains(&ends[0])
        && (600_000.0..700_000.0).contains(&ends[1])
        && point["metrics"]["flows_completed"] == 0
        && point["metrics"]["flows_unfinished"] == 0
        && (270_000..=310_000).contains(&alone)
}
