//! Reports of real runs: complete, correct, closed to the outside and the same every time.

#[path = "support/run.rs"]
mod run;

use std::fs;
use std::path::Path;

use results::{Folder, RunInfo, sealed};
use serde_json::Value;

use run::{Temporary, Wanted, incast};

/// The report of `folders` as it is written.
fn report(folders: &[&Folder], path: &Path) -> String {
    report::write(folders, path).expect("a report of a test is whole");
    fs::read_to_string(path).expect("a report of a test is whole")
}

/// The report without the script of Plotly, which mentions many addresses.
fn own(html: &str) -> String {
    let start = html
        .find("<script>/**")
        .expect("a report of a test is whole");
    let end = start
        + html[start..]
            .find("</script>")
            .expect("a report of a test is whole");
    format!("{}{}", &html[..start], &html[end..])
}

/// The figures inside a report.
fn embedded(html: &str) -> Vec<Value> {
    let start = "<script type=\"application/json\" id=\"figures\">";
    let text = &html[html.find(start).expect("a report of a test is whole") + start.len()..];
    serde_json::from_str(&text[..text.find("</script>").expect("a report of a test is whole")])
        .expect("a report of a test is whole")
}

const SWEEP: Wanted<'_> = Wanted {
    schemes: None,
    sets: &["workload.senders=10,20", "workload.jitter=100us"],
    seeds: 3,
    trace: Some("queue,cwnd,rwnd,events"),
    failed: None,
};

#[test]
fn a_report_holds_every_chart_with_its_units() {
    let temporary = Temporary::new("report-charts");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let figures = embedded(&html);
    let axes = |name: &str| {
        let figure = figures.iter().find(|figure| figure["name"] == name);
        let layout = &figure.unwrap_or_else(|| panic!("no figure {name}"))["layout"];
        let title = |axis: &str| layout[axis]["title"]["text"].as_str().unwrap().to_owned();
        (title("xaxis"), title("yaxis"))
    };
    for (name, x, y) in [
        (
            "fct-99th-percentile",
            "Senders",
            "FCT, 99th percentile (ms)",
        ),
        ("fct-median", "Senders", "FCT, median (ms)"),
        (
            "fct-cdf-20-senders",
            "Flow completion time (ms)",
            "Fraction of flows",
        ),
        (
            "queue-time-20-senders",
            "Time since the first start (ms)",
            "Queue (KB)",
        ),
        ("goodput", "Senders", "Goodput (Mbit/s)"),
        ("queue-mean", "Senders", "Bottleneck queue, mean (KB)"),
        ("drops", "Senders", "Dropped packets"),
        ("marks", "Senders", "Marked packets"),
        ("timeouts", "Senders", "Timeouts"),
        (
            "flows-rcc-20-senders",
            "Time since the first start (ms)",
            "Flow",
        ),
        (
            "cwnd-dctcp-10-senders",
            "Time since the first start (ms)",
            "Congestion window (KB)",
        ),
        (
            "rwnd-rcc-20-senders",
            "Time since the first start (ms)",
            "Advertised window (KB)",
        ),
    ] {
        assert_eq!(axes(name), (x.to_owned(), y.to_owned()), "{name}");
    }
}

#[test]
fn what_is_drawn_is_what_the_summary_says() {
    let temporary = Temporary::new("report-values");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let figures = embedded(&html);
    let figure = figures
        .iter()
        .find(|figure| figure["name"] == "fct-99th-percentile");
    let traces = figure.unwrap()["data"].as_array().unwrap();
    let mut compared = 0;
    for trace in traces {
        let numbers = |value: &Value| -> Vec<f64> {
            let values = value.as_array().unwrap().iter();
            values.map(|value| value.as_f64().unwrap()).collect()
        };
        let (x, y) = (numbers(&trace["x"]), numbers(&trace["y"]));
        let above = numbers(&trace["error_y"]["array"]);
        for ((x, y), above) in x.into_iter().zip(y).zip(above) {
            let senders = format!("{x}");
            let mut rows = folder.summary().rows.iter();
            let row = rows.find(|row| {
                trace["name"] == row.scheme.as_str()
                    && row.setting("workload.senders") == Some(&senders)
            });
            let estimate = row.unwrap().metrics["fct_p99_us"];
            let (mean, high) = (estimate.mean.unwrap(), estimate.high.unwrap());
            assert!((y * 1e3 / mean - 1.0).abs() < 1e-5, "{y} ms, {mean} us");
            assert!((above * 1e3 - (high - mean)).abs() < 1e-4 * (high - mean) + 1e-6);
            compared += 1;
        }
    }
    assert_eq!(compared, folder.summary().rows.len());
}

#[test]
fn events_mark_the_losses_of_the_flows_that_had_them() {
    let temporary = Temporary::new("report-events");
    let wanted = Wanted {
        schemes: Some("newreno"),
        sets: &["workload.senders=40"],
        seeds: 1,
        trace: Some("events"),
        ..Wanted::default()
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let figures = report::figures(&folder).unwrap();
    let figure = figures
        .iter()
        .find(|figure| figure.name == "flows-newreno")
        .unwrap();
    let points = |label: &str| {
        let line = figure.lines.iter().find(|line| line.label == label);
        line.map_or(0, |line| line.points.len())
    };
    let metrics = &folder.summary().points[0].metrics;
    assert!(metrics.drops > 0 && metrics.timeouts > 0);
    assert_eq!(points("packet dropped") as u64, metrics.drops);
    assert_eq!(points("timeout") as u64, metrics.timeouts);
    assert_eq!(points("start to completion"), 2 * 40);
}

#[test]
fn a_report_refers_to_nothing_outside() {
    let temporary = Temporary::new("report-closed");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let own = own(&html);
    for outside in ["http://", "https://", "@import", "url(", "src="] {
        assert!(!own.contains(outside), "{outside}");
    }
    for link in own.split("href=\"").skip(1) {
        let target = &link[..link.find('"').unwrap()];
        let inside = target == "data:," || folder.path().join(target).exists();
        assert!(inside, "{target}");
    }
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let temporary = Temporary::new("report-again");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html");
    let first = report(&[&folder], &path);
    assert_eq!(report(&[&folder], &path), first);
}

#[test]
fn a_report_does_not_depend_on_the_command_or_the_machine() {
    let temporary = Temporary::new("report-command");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html");
    let first = report(&[&folder], &path);
    let info = RunInfo {
        command: ["tailwater", "run", "incast", "--resume"]
            .map(String::from)
            .into(),
        started_unix_s: 7,
        jobs: 3,
        runs: 6,
        runs_before: 5,
        wall_us: 1.0,
        cpu_us: 1.0,
        simulated_us: 1.0,
        packet_hops: 1,
        events: 1,
        ..RunInfo::default()
    };
    fs::write(folder.path().join("run.json"), sealed(&info)).unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    assert_eq!(report(&[&folder], &path), first);
}

#[test]
fn names_from_outside_stay_text() {
    let temporary = Temporary::new("report-hostile");
    let hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'&";
    let wanted = Wanted {
        schemes: Some("newreno"),
        sets: &["workload.senders=2"],
        seeds: 1,
        ..Wanted::default()
    };
    let path = temporary.0.join("run");
    incast(&path, &wanted);
    // Whoever can name a scenario, a scheme or a setting can write this into the summary.
    let file = path.join("summary.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut summary: Value = serde_json::from_str(&text).unwrap();
    summary["scenario"] = hostile.into();
    summary["title"] = hostile.into();
    summary["schemes"][0] = hostile.into();
    summary["rows"][0]["scheme"] = hostile.into();
    fs::write(&file, sealed(&summary)).unwrap();
    let folder = Folder::open(&path).unwrap();
    let html = own(&report(&[&folder], &path.join("report.html")));
    assert!(!html.contains("<img"));
    assert!(!html.contains("alert(2)</script>"));
    let lines = embedded(&html)
        .into_iter()
        .flat_map(|figure| figure["data"].as_array().cloned().unwrap_or_default());
    let names: Vec<String> = lines.map(|line| line["name"].to_string()).collect();
    assert!(
        names.iter().any(|name| name.contains("&lt;img")),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("<img")), "{names:?}");
}

#[test]
fn a_failed_simulation_is_listed_with_its_command() {
    let temporary = Temporary::new("report-failed");
    let wanted = Wanted {
        failed: Some(1),
        ..SWEEP
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    let html = report(&[&folder], &folder.path().join("report.html"));
    let failure = &folder.summary().failures[0];
    assert!(html.contains("the books do not balance"));
    assert!(html.contains(&failure.reproduce), "{}", failure.reproduce);
}

#[test]
fn runs_side_by_side_are_told_apart_and_compared_seed_by_seed() {
    let temporary = Temporary::new("report-two");
    let other = Wanted {
        sets: &[
            "workload.senders=10,20",
            "workload.jitter=100us",
            "switch.buffer=64KB",
        ],
        ..SWEEP
    };
    let before = incast(&temporary.0.join("before"), &SWEEP);
    let after = incast(&temporary.0.join("after"), &other);
    let html = report(&[&before, &after], &temporary.0.join("both.html"));
    assert!(html.contains("newreno: after against before"));
    let figures = embedded(&html);
    let names: Vec<_> = figures[0]["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trace| trace["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"rcc (before)") && names.contains(&"rcc (after)"),
        "{names:?}"
    );
    let colour = |name: &str| {
        let traces = figures[0]["data"].as_array().unwrap();
        let trace = traces.iter().find(|trace| trace["name"] == name);
        trace.unwrap()["line"]["color"].clone()
    };
    assert_eq!(colour("rcc (before)"), colour("rcc (after)"));
}

#[test]
fn a_browser_without_network_draws_every_chart_without_complaint() {
    let Some(mut chromium) = testing::chromium() else {
        return;
    };
    let temporary = Temporary::new("report-browser");
    let folder = incast(&temporary.0.join("run"), &SWEEP);
    let path = folder.path().join("report.html").canonicalize();
    let path = path.unwrap_or_else(|_| folder.path().join("report.html"));
    let html = report(&[&folder], &path);
    let output = chromium
        .arg(format!(
            "--user-data-dir={}",
            temporary.0.join("profile").display()
        ))
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", path.canonicalize().unwrap().display()))
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    let complaint = complaints.lines().find(|line| line.contains("CONSOLE"));
    assert_eq!(complaint, None);
    let document = String::from_utf8_lossy(&output.stdout);
    let charts = html.matches("<figure class=\"chart").count();
    assert!(charts > 10, "{charts}");
    // Plotly makes three layers of every chart: the chart, its legend and what hovers.
    let drawn = document.matches("class=\"main-svg\"").count();
    assert!(drawn >= charts, "{drawn} of {charts}");
    let plots = document.matches("class=\"plot js-plotly-plot\"").count();
    assert_eq!(plots, charts);
}
