//! Every kind of line as its writer writes it, in `snapshots/lines__every_kind.snap`, and as its reader reads it.

use std::collections::BTreeSet;

use observed::trial::{TrialEnd, TrialFlow, TrialPeriod};
use observed::{Flow, Observation};
use protocol::{
    AttachAction, AttachLine, BedLine, CaptureLine, CheckState, Checked, ClaimLine, ClaimResult,
    ClaimValue, DetachAction, DetachLine, DeviceLine, DoctorLine, DownLine, EmulationLine,
    FailedLine, FetchedLine, FlowRow, Instead, LacksLine, Line, LinuxMetrics, LinuxRun,
    LoadedProgram, LoggedLine, LossKind, LowAcks, NoteLine, Passed, PointLine, ProblemLine,
    Reading, Results, SchemeSupport, ServedAt, ServedLine, ServingLine, Settings, SkippedLine,
    SlotLengths, StatusLine, TrialBeginLine, TwinLine, UpLine,
};

fn word(text: &str) -> String {
    text.to_owned()
}

fn set() -> Settings {
    [("workload.senders", "20"), ("link.rate", "1Gbps")]
        .map(|(key, value)| (word(key), word(value)))
        .into()
}

/// Lines about an emulation and its networks.
fn of_emulations() -> Vec<Line> {
    vec![
        Line::Emulation(EmulationLine {
            scenario: word("incast"),
            runs: 5,
            version: word("0.1.0+0123abcd"),
        }),
        Line::Bed(BedLine {
            set: set(),
            kernel: word("6.18.44"),
            hosts: 21,
            switches: 1,
            rate_bps: 200_000_000,
            scenario_rate_bps: 1_000_000_000,
            burst_bytes: Some(1_512),
            rtt_us: 61.5,
            different: vec![Instead {
                key: word("tcp.syn_rto"),
                instead: word("1 s"),
            }],
        }),
        Line::Skipped(SkippedLine {
            scheme: word("dctcp"),
            set: set(),
            reason: word("this kernel has no dctcp (CONFIG_TCP_CONG_DCTCP)"),
        }),
        Line::Capture(CaptureLine {
            scheme: word("cubic"),
            set: set(),
            file: word("capture-1-cubic.pcapng"),
            packets: 1_200,
            lost: 3,
            left_out: 0,
        }),
        Line::Twin(TwinLine {
            scheme: word("cubic"),
            set: set(),
            file: word("twin-1-cubic.toml"),
            toml: word("name = \"twin\"\n"),
            starts: vec![word("starts-1-cubic-1.csv")],
        }),
        Line::Up(UpLine {
            run: word("4711n0"),
            nodes: vec![word("tw-4711n0-h0"), word("tw-4711n0-s0")],
            rate_bps: 200_000_000,
        }),
        Line::Down(DownLine {
            removed: vec![word("tw-4711n0-h0"), word("tw-4711n0-s0")],
        }),
        Line::Claim(Box::new(ClaimLine {
            id: word("hscc/fig8/half"),
            paper_name: word("hscc"),
            figure: word("fig8"),
            title: word("Queues"),
            claim: word("half"),
            kind: word("number"),
            says: word("HSCC halves the queue"),
            r#where: word("Fig. 8"),
            paper: word("50 %"),
            unit: word("%"),
            linux: ClaimResult {
                ours: ClaimValue::Number(48.0),
                interval: Some((46.5, 49.5)),
                verdict: word("reproduced"),
                reason: word("within the tolerance"),
                text: word("48 \u{b1} 1.5 %"),
            },
            simulated: ClaimResult {
                ours: ClaimValue::Words(word("cubic lowest")),
                interval: None,
                verdict: word("not reproduced"),
                reason: word("the order is another one"),
                text: word("cubic lowest"),
            },
            verdict: word("reproduced"),
            reason: word("within the tolerance"),
            valid_runs: 5,
            own: None,
            scale: word("half of the flows; 200 Mbit/s instead of 1 Gbit/s, 5 runs of each scheme"),
        })),
    ]
}

/// Runs with everything that a line can hold, and with as little as it can hold.
fn of_points() -> Vec<Line> {
    let full = PointLine {
        scheme: word("ictcp+cubic"),
        seed: 7,
        run: 0,
        set: set(),
        results: Results::Linux {
            metrics: Box::new(LinuxMetrics {
                goodput_bps: Some(180e6),
                timeouts: Some(2),
                packets: Some(310),
                queue_p50_bytes: Some(4_500),
                flows_completed: 1,
                fct_p50_us: Some(26_000.5),
                ..LinuxMetrics::default()
            }),
            live: Box::new(LinuxRun {
                kernel: word("6.18.44"),
                rate_bps: 200_000_000,
                rtt_us: Some(61.5),
                control: Some(word("cubic")),
                valid: false,
                reasons: vec![word("cores 95 % busy")],
                loss_probes: Some(1),
                ports: Some([(word("rewritten"), 310)].into()),
                start_lateness_p99_us: Some(200.5),
                busy_share: 0.95,
                slots: Some(SlotLengths {
                    planned_us: 1_000.0,
                    count: 100,
                    mean_us: 1_060.0,
                    p99_us: 1_900.0,
                    untold: 0,
                }),
                ..LinuxRun::default()
            }),
        },
        fct_us: vec![26_000.5],
        flows: Some(vec![FlowRow {
            start_us: Some(10_000.0),
            completion_us: Some(36_000.5),
            received: 10_000,
            packets: Some(10),
            ..FlowRow::default()
        }]),
        ended_us: Some(40_000.0),
        queue: Some(vec![(0.0, 0), (10_000.5, 1_514)]),
        arrivals: Some(vec![(11_000.0, 0, 1_448)]),
        losses: Some(vec![
            (12_000.0, 0, LossKind::FastRetransmit),
            (17_000.0, 0, LossKind::Timeout),
        ]),
    };
    let least = PointLine {
        set: Settings::new(),
        results: Results::Simulated {
            metrics: Box::new(serde_json::from_str(SIMULATED).expect("metrics")),
        },
        fct_us: Vec::new(),
        flows: None,
        ended_us: None,
        queue: None,
        arrivals: None,
        losses: None,
        ..full.clone()
    };
    let over_tun = PointLine {
        results: Results::Linux {
            metrics: Box::new(LinuxMetrics::default()),
            live: Box::new(LinuxRun {
                valid: true,
                fast_recoveries: Some(1),
                low_acks: Some(LOW_ACKS),
                ..LinuxRun::default()
            }),
        },
        ..least.clone()
    };
    let points = [full, least, over_tun].map(Box::new);
    points.map(Line::Point).into()
}

/// Lines of `serve` and `fetch`, and the name of a device.
fn of_transfers() -> Vec<Line> {
    vec![
        Line::Device(DeviceLine {
            device: word("eth0"),
        }),
        Line::Serving(ServingLine {
            node: word("tw-4711n0-h0"),
            places: vec![ServedAt {
                scheme: word("rc3"),
                address: word("10.88.0.1:81"),
            }],
        }),
        Line::Served(ServedLine {
            scheme: word("rc3"),
            status: Some(word("200 OK")),
            bytes: 96_423,
            took_ms: None,
            orderly: true,
            retransmissions: 10,
            timeouts: 1,
            fast_recoveries: 0,
            low_priority: 57,
            low_acks: Some(LOW_ACKS),
        }),
        Line::Fetched(FetchedLine {
            from: word("10.88.0.1:81"),
            scheme: word("rc3"),
            bytes: 96_423,
            first_ms: 10.5,
            took_ms: 21.25,
        }),
    ]
}

/// Lines about laws at ports.
fn of_laws() -> Vec<Line> {
    vec![
        Line::Attach(AttachLine {
            action: AttachAction::WouldAttach,
            device: word("p1"),
            netns: word("s0"),
            queue_of: None,
            scheme: word("hscc"),
            settings: [(word("hscc.alpha1"), word("0.5"))].into(),
            queue: Some(word("tbf")),
            buffer_bytes: Some(64_000),
            mtu_bytes: 1_500,
            no_retract: false,
            shadow: false,
            lease_s: Some(600.0),
            programs: vec![LoadedProgram {
                way: word("egress"),
                tag: word("0123456789abcdef"),
            }],
            pins: "/run/tailwater/bpf/4026531840/3".into(),
            warnings: vec![word("the window is below one segment")],
            hints: Vec::new(),
        }),
        Line::Attached(Box::new(StatusLine {
            device: word("p1"),
            scheme: word("hscc"),
            buffer_bytes: Some(64_000),
            queue_bytes: Some(1_514),
            drift: vec![word("the link of egress is missing")],
            acts: Some(true),
            readings: [
                (word("is_on"), Reading::Flag(false)),
                (word("window_bytes"), Reading::Number(2_920)),
            ]
            .into(),
            known_connections: Some(20),
            rewritten: Some(1_234),
            marked: Some(0),
            told: Some(0),
            passed: Some(vec![Passed {
                why: word("not TCP"),
                packets: 3,
            }]),
            ..StatusLine::default()
        })),
        Line::Detach(DetachLine {
            action: DetachAction::Detached,
            device: word("p1"),
            netns: String::new(),
            scheme: word("hscc"),
        }),
    ]
}

/// Lines about devices, about machines and about problems.
fn of_machines() -> Vec<Line> {
    vec![
        Line::Doctor(DoctorLine {
            kernel: word("6.18.44"),
            checks: vec![Checked {
                name: word("BTF"),
                state: CheckState::Missing,
                detail: word("no such file"),
                cure: word("CONFIG_DEBUG_INFO_BTF=y"),
            }],
            schemes: vec![SchemeSupport {
                name: word("hscc"),
                emulate: word("no: BTF"),
                attach: word("no: BTF"),
            }],
        }),
        Line::Note(NoteLine {
            text: word("the device went away before the time was over"),
        }),
        Line::Flow(Box::new(Flow {
            start_s: 0.25,
            fct_s: 0.5,
            timeouts: 1,
            repeats: 2,
            waited_s: 0.2,
            ..Flow::lossless("10.0.0.1:4711", "10.0.0.2:80", 10_000)
        })),
        Line::Observed(Box::new(Observation {
            device: word("eth0"),
            seconds: 10.0,
            ..Observation::default()
        })),
        Line::Logged(LoggedLine {
            device: word("eth1"),
            netns: word(""),
            scheme: word("hscc"),
            seconds: 600.5,
            calls: 4_000_000,
            decisions: 1_000_000,
        }),
        Line::TrialBegin(TrialBeginLine {
            plan: word("9f86d081"),
        }),
        Line::TrialPeriod(TrialPeriod {
            number: 3,
            on: true,
            begin_s: 90.0,
            end_s: 120.0,
        }),
        Line::TrialFlow(TrialFlow {
            start_s: 91.5,
            fct_s: 0.25,
            bytes: 49_152,
            opened_s: None,
        }),
        Line::TrialEnd(TrialEnd {
            rewritten: 1_234,
            detached: true,
            ..TrialEnd::default()
        }),
        Line::Problem(ProblemLine {
            message: word("there is no device eth9"),
            help: Some(word("`ip link` lists them")),
        }),
        Line::Lacks(LacksLine {
            privileges: true,
            what: word("the capability NET_ADMIN"),
        }),
        Line::Failed(FailedLine {
            what: word("cannot write starts-1-cubic-1.csv: no space left"),
        }),
    ]
}

fn every_line() -> Vec<Line> {
    [
        of_emulations(),
        of_points(),
        of_transfers(),
        of_laws(),
        of_machines(),
    ]
    .concat()
}

#[test]
fn every_kind_is_written_as_before() {
    let lines: Vec<String> = every_line().iter().map(Line::to_string).collect();
    insta::assert_snapshot!("every_kind", lines.join("\n"));
}

#[test]
fn every_kind_is_read_as_it_was_written() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/snapshots/lines__every_kind.snap"
    );
    let text = std::fs::read_to_string(file).expect("the snapshot");
    let (_, lines) = text.split_once("\n---\n").expect("lines behind a head");
    let read = protocol::read_all(lines).expect("lines");
    let again: Vec<String> = read.iter().map(Line::to_string).collect();
    assert_eq!(again.join("\n"), lines.trim_end());
}

/// An unknown kind is answered with the list of all kinds.
#[test]
fn no_kind_is_without_an_example() {
    let error = Line::read(r#"{"type": "?"}"#).unwrap_err().to_string();
    let (_, kinds) = error.split_once("expected one of ").expect("a list");
    let kinds: BTreeSet<&str> = kinds
        .split(", ")
        .map(|kind| kind.trim_matches('`'))
        .collect();
    let lines = every_line().into_iter();
    let written: BTreeSet<String> = lines
        .map(|line| {
            let fields = serde_json::to_value(line).expect("JSON");
            fields["type"].as_str().expect("a kind").to_owned()
        })
        .collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    assert_eq!(written, kinds);
}

/// Every key of every line is removed and misspelt in turn. Each time the error names the key, except for optional
/// keys.
#[test]
fn a_missing_or_misspelt_key_is_named() {
    for line in every_line() {
        // An observation may lack each of its optional numbers.
        let is_patient = matches!(
            line,
            Line::Flow(_) | Line::Observed(_) | Line::TrialFlow(_) | Line::TrialEnd(_)
        );
        let whole = serde_json::to_value(&line).expect("JSON");
        let keys = whole.as_object().expect("an object").keys();
        for key in keys.filter(|key| !["type", "world"].contains(&key.as_str())) {
            let mut changed = whole.clone();
            let fields = changed.as_object_mut().expect("an object");
            let value = fields.remove(key).expect("a key of its own");
            let missing = Line::read(&serde_json::to_string(fields).expect("JSON"));
            match missing {
                Err(error) => {
                    let named = format!("missing field `{key}`");
                    assert!(error.to_string().ends_with(&named), "{error}");
                }
                Ok(_) => assert!(
                    is_patient && value.is_null() || MAY_LACK.contains(&key.as_str()),
                    "{key} of {line}"
                ),
            }
            fields.insert(format!("{key}x"), value);
            let misspelt = Line::read(&serde_json::to_string(fields).expect("JSON"));
            let error = misspelt.expect_err(key).to_string();
            assert!(error.contains(&format!("`{key}")), "{key}: {error}");
            let kind = whole["type"].as_str().expect("a kind");
            assert!(error.starts_with(&format!("{kind}: ")), "{error}");
        }
    }
}

#[test]
fn a_run_is_judged_where_it_ran() {
    let [linux, simulated, _] = of_points().try_into().expect("three points");
    let mut fields = serde_json::to_value(linux).expect("JSON");
    fields["live"]["valid"] = "yes".into();
    let error = Line::read(&fields.to_string()).unwrap_err().to_string();
    assert_eq!(
        error,
        "point: invalid type: string \"yes\", expected a boolean"
    );
    let live = fields["live"].take();
    let mut fields = serde_json::to_value(simulated).expect("JSON");
    fields["live"] = live;
    fields["live"]["valid"] = true.into();
    assert!(Line::read(&fields.to_string()).is_err());
}

/// The second file was written before metrics had `tail_probes`.
#[test]
fn lines_of_earlier_versions_are_read_or_their_version_is_named() {
    let read = protocol::read_all(include_str!("earlier/fcd740d8.jsonl")).expect("lines");
    assert_eq!(read.len(), 5);
    let Line::Point(point) = &read[2] else {
        panic!("{:?}", read[2])
    };
    assert!(point.live().is_some_and(|run| run.valid));
    let refused = protocol::read_all(include_str!("earlier/021f2227.jsonl")).unwrap_err();
    let expected = format!(
        "line 2: point: metrics: missing field `tail_probes`; tailwater 0.1.0+021f2227 wrote the file, and this is {}",
        sim::VERSION
    );
    assert_eq!(refused.to_string(), expected);
}

/// Reports, tables and claims look metrics up by their names.
#[test]
fn linux_tells_metrics_by_the_names_of_the_simulator() {
    let metrics = serde_json::to_value(LinuxMetrics::default()).expect("JSON");
    for name in metrics.as_object().expect("an object").keys() {
        let mut columns = sim::columns::METRICS.iter();
        assert!(columns.any(|column| column.name == name), "{name}");
    }
}

/// Keys that are left out when they have nothing to say.
const MAY_LACK: [&str; 19] = [
    "privileges",
    "flows",
    "ended_us",
    "queue",
    "arrivals",
    "losses",
    "acts",
    "is_on",
    "window_bytes",
    "threshold_bytes",
    "budget_bytes",
    "flight_bytes",
    "active",
    "waiting",
    "watched",
    "rewritten",
    "marked",
    "told",
    "passed",
];

const LOW_ACKS: LowAcks = LowAcks {
    acks: 67,
    advancing: 12,
    ahead: 36,
    duplicates: 0,
};

/// Metrics of a simulation.
const SIMULATED: &str = include_str!("simulated.json");
