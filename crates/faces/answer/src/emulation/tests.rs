use std::fs;

use protocol::{
    BedLine, CaptureLine, EmulationLine, FILE, Instead, Line, LinuxMetrics, LinuxRun, PointLine,
    Results, Settings, SkippedLine,
};
use scenario::Problems;
use serde_json::Value;

use super::*;

fn set() -> Settings {
    Settings::from([("workload.senders".to_owned(), "20".to_owned())])
}

fn point(run: u32, results: Results, fct_us: Vec<f64>) -> Line {
    Line::Point(Box::new(PointLine {
        scheme: "cubic".to_owned(),
        seed: 1,
        run,
        set: set(),
        results,
        fct_us,
        flows: None,
        ended_us: None,
        queue: None,
        arrivals: None,
        losses: None,
    }))
}

fn metrics(p50: f64, p99: f64, timeouts: u64, drops: u64, queue: f64) -> LinuxMetrics {
    LinuxMetrics {
        fct_p50_us: Some(p50),
        fct_p99_us: Some(p99),
        timeouts: Some(timeouts),
        drops: Some(drops),
        queue_mean_bytes: Some(queue),
        ..LinuxMetrics::default()
    }
}

fn linux(run: u32, p50: f64, reason: Option<&str>) -> Line {
    let metrics = LinuxMetrics {
        flows_completed: 1 + u64::from(run),
        flows_failed: 1 - u64::from(run),
        ..metrics(p50, 30_000.0, 1, 50, 61_200.0)
    };
    let live = LinuxRun {
        valid: reason.is_none(),
        reasons: reason.into_iter().map(str::to_owned).collect(),
        start_lateness_p99_us: Some(200.0),
        busy_share: 0.71,
        rate_share: Some(0.991),
        reordered_share: Some(0.0),
        ..LinuxRun::default()
    };
    let fct_us = [vec![24_000.0], vec![20_000.0, 26_000.0]];
    let results = Results::Linux {
        metrics: Box::new(metrics),
        live: Box::new(live),
    };
    point(run, results, fct_us[run as usize].clone())
}

/// Two runs of CUBIC with its twin, and a scheme that does not run.
fn lines(reason: Option<&str>) -> Vec<Line> {
    let words = |text: &str| text.to_owned();
    vec![
        Line::Emulation(EmulationLine {
            scenario: words("incast"),
            runs: 2,
            version: words("0.1.0"),
        }),
        Line::Capture(CaptureLine {
            scheme: words("cubic"),
            set: set(),
            file: words("capture-1-cubic.pcapng"),
            packets: 1_200,
            lost: 3,
            left_out: 0,
        }),
        Line::Skipped(SkippedLine {
            scheme: words("dctcp"),
            set: set(),
            reason: words("this kernel has no dctcp"),
        }),
        Line::Bed(BedLine {
            set: set(),
            kernel: words("6.18.44"),
            hosts: 21,
            switches: 1,
            rate_bps: 200_000_000,
            scenario_rate_bps: 1_000_000_000,
            burst_bytes: Some(1_512),
            rtt_us: 61.0,
            different: vec![Instead {
                key: words("tcp.syn_rto"),
                instead: words("1 s"),
            }],
        }),
        linux(0, 25_000.0, reason),
        linux(1, 27_000.0, reason),
        point(
            0,
            Results::Simulated {
                metrics: Box::new(measured::of_linux(&metrics(
                    26_100.0, 27_000.0, 0, 99, 70_000.0,
                ))),
            },
            Vec::new(),
        ),
    ]
}

fn emulated(valid: bool) -> Emulation {
    let reason = (!valid).then_some("cores 95 % busy");
    Emulation::of(lines(reason)).expect("an emulation")
}

#[test]
fn linux_stands_beside_the_simulation() {
    insta::assert_snapshot!(table(&emulated(true)));
}

#[test]
fn a_disturbed_run_is_disowned() {
    let text = table(&emulated(false));
    assert!(
        text.contains("NOT VALID, 2 of 2 runs: cores 95 % busy"),
        "{text}"
    );
}

#[test]
fn programs_get_every_run() {
    let text = csv(&emulated(true));
    assert_eq!(text.lines().count(), 4);
    let value: Value = serde_json::from_str(&json(&emulated(true))).unwrap();
    assert_eq!(value["points"][0]["world"], "linux");
    assert_eq!(value["points"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_is_read_again_and_a_damaged_line_is_named() {
    let folder = std::env::temp_dir().join(format!("tailwater-lines-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    assert!(Emulation::read(&folder).is_none());
    let lines: Vec<String> = lines(None).iter().map(Line::to_string).collect();
    let mut text = lines.join("\n") + "\n";
    fs::write(folder.join(FILE), &text).unwrap();
    let again = Emulation::read(&folder)
        .unwrap()
        .unwrap_or_else(|_| panic!("it was whole"));
    assert_eq!(table(&again), table(&emulated(true)));
    let refused = |text: &str| {
        fs::write(folder.join(FILE), text).unwrap();
        let Err(Problems(problems)) = Emulation::read(&folder).unwrap() else {
            panic!("it is damaged")
        };
        problems[0].to_string()
    };
    let named =
        "live.jsonl, line 5: point: unknown field `vaild`, expected one of `kernel`, `rate_bps`";
    let misspelt = refused(&text.replacen("\"valid\"", "\"vaild\"", 1));
    assert!(misspelt.contains(named), "{misspelt}");
    let by_another = format!(
        "tailwater 0.1.0 wrote the file, and this is {}",
        sim::VERSION
    );
    assert!(misspelt.ends_with(&by_another), "{misspelt}");
    text += "{\"type\": ";
    let cut = refused(&text);
    let named = format!("live.jsonl, line {}: EOF", lines.len() + 1);
    assert!(cut.contains(&named), "{cut}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_page_has_every_scheme_with_its_flows() {
    let page = page(&emulated(true));
    let network = &page.networks[0];
    assert!(network.is_valid);
    assert_eq!(network.place, "workload.senders = 20");
    assert_eq!(network.left_out[0].0, "dctcp");
    assert_eq!(
        network.schemes[0].fct_us,
        [vec![20_000.0, 24_000.0, 26_000.0], vec![]]
    );
    assert_eq!(network.schemes[0].flows, [4, 0]);
    assert_eq!(network.schemes[0].estimates[0][0].mean, Some(26.0));
    assert!(
        page.files
            .iter()
            .any(|(name, _)| name == "capture-1-cubic.pcapng")
    );
    assert!(!super::page(&emulated(false)).networks[0].is_valid);
}

#[test]
fn reasons_of_one_kind_are_told_once() {
    let mut all = emulated(false);
    for (point, busy) in all.points.iter_mut().zip([94, 96]) {
        let Results::Linux { live, .. } = &mut point.results else {
            panic!("the first two ran on Linux")
        };
        live.reasons = vec![
            format!("cores {busy} % busy"),
            "link at 91.5 % while queued".to_owned(),
        ];
    }
    let text = table(&all);
    let line = text.lines().find(|line| line.starts_with("NOT VALID"));
    let expected = "NOT VALID, 2 of 2 runs: cores 94 % busy; link at 91.5 % while queued (starts";
    assert!(
        line.is_some_and(|line| line.starts_with(expected)),
        "{text}"
    );
}

#[test]
fn a_run_whose_validity_is_unknown_is_not_valid() {
    let text = linux(0, 25_000.0, None).to_string();
    let without = |what: &str| {
        assert!(text.contains(what), "{text}");
        Line::read(&text.replacen(what, "", 1))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(without("\"valid\":true,"), "point: missing field `valid`");
    let start = text.find("\"live\":{").expect("what was measured besides");
    let end = start + text[start..].find('}').expect("its end") + 2;
    assert_eq!(without(&text[start..end]), "point: missing field `live`");
    assert!(!LinuxRun::default().valid);
    let mut interrupted = emulated(true);
    interrupted.points.clear();
    assert!(!page(&interrupted).networks[0].is_valid);
    assert!(table(&interrupted).contains("NOT VALID: no run has ended"));
}
