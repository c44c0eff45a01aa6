//! tshark reads captures as it reads those of real networks, and sees what the results say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::pcap::{Capture, CapturePoints};
use sim::metrics::Outcome;
use sim::run;

use crate::support::points;

/// A simulation and its capture at one place.
fn captured(name: &str, place: &str, scheme: &str, sets: &[&str]) -> (Outcome, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("captures-{name}"));
    let point = points("incast", scheme, sets).remove(0);
    let places = CapturePoints::parse(place).expect("a place");
    let mut capture = Capture::new(&places, &point, &folder).expect("files begin");
    let outcome = run::observe(&point, &mut capture).expect("a conserving run");
    capture.finish().expect("files end");
    let file = format!("point-000000-{}.pcapng", place.replace(':', "-"));
    (outcome, folder.join(file))
}

/// The given fields that tshark prints for packets that a filter selects, one line for each.
fn fields(path: &Path, filter: &str, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command
        .args(["-n", "-r"])
        .arg(path)
        .args(["-Y", filter, "-T", "fields"]);
    command.args([
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
    ]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

fn count(path: &Path, filter: &str) -> u64 {
    fields(path, filter, &["frame.number"]).len() as u64
}

/// Everything that tshark reports as a warning or worse.
const WARNINGS: &str = "_ws.expert.severity >= 0x00600000";
/// A sender has filled the window it was given. This is expected where the receiver controls the rate with that window,
/// as RCC's does.
const WINDOW_FULL: &str = "tcp.analysis.window_full";

#[test]
fn a_flow_without_loss_has_no_warning_and_correct_checksums() {
    if testing::tool("tshark").is_none() {
        return;
    }
    for (scheme, place, sets) in [
        (
            "newreno",
            "bottleneck",
            &["tcp.receive_buffer=4MiB", "tcp.window_scale=auto"][..],
        ),
        (
            "newreno",
            "host:1",
            &[
                "tcp.sack=false",
                "tcp.delayed_ack=2",
                "tcp.delayed_ack_timeout=1ms",
            ],
        ),
        ("newreno", "host:0", &["tcp.mss=537"]),
        ("rcc", "bottleneck", &[]),
        ("dctcp", "port:1", &["workload.senders=8"]),
    ] {
        let sets = [sets, &["workload.size=1MB", "switch.buffer=unlimited"]].concat();
        let one = ["workload.senders=1"];
        let sets = if scheme == "dctcp" {
            sets
        } else {
            [&sets[..], &one].concat()
        };
        let (outcome, path) = captured(&format!("clean-{scheme}"), place, scheme, &sets);
        assert_eq!(
            (outcome.metrics.drops, outcome.metrics.retransmissions),
            (0, 0)
        );
        let label = format!("{scheme} at {place}");
        let filter = if scheme == "rcc" {
            format!("{WARNINGS} && !{WINDOW_FULL}")
        } else {
            WARNINGS.to_owned()
        };
        let warnings = fields(&path, &filter, &["frame.number", "_ws.expert.message"]);
        assert!(
            warnings.is_empty(),
            "{label}: {:?}",
            &warnings[..warnings.len().min(5)]
        );
        let all = count(&path, "frame");
        assert_eq!(
            count(&path, "tcp.checksum.status == 1 && ip.checksum.status == 1"),
            all,
            "{label}"
        );
        // A megabyte in segments of 1446 bytes, and half as many ACKs at the least.
        assert!(all > 692 * 3 / 2, "{label}: {all} packets");
        let connections = u64::from(scheme == "dctcp") * 7 + 1;
        assert_eq!(
            count(&path, "tcp.flags.syn == 1 && tcp.flags.ack == 0"),
            connections,
            "{label}"
        );
    }
}

#[test]
fn a_lossy_flow_shows_as_many_retransmissions_as_its_record() {
    if testing::tool("tshark").is_none() {
        return;
    }
    for sack in ["true", "false"] {
        for pattern in ["random", "periodic"] {
            let sets = [
                "workload.senders=1",
                "workload.size=3MB",
                "bottleneck.loss=0.01",
                "switch.buffer=unlimited",
                "tcp.initial_window=10",
                "tcp.receive_buffer=4MiB",
                "tcp.window_scale=auto",
                &format!("bottleneck.loss_pattern={pattern}"),
                &format!("tcp.sack={sack}"),
            ];
            let (outcome, path) = captured(
                &format!("lossy-{sack}-{pattern}"),
                "bottleneck",
                "newreno",
                &sets,
            );
            let again = count(
                &path,
                "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order",
            );
            let label = format!("sack {sack}, {pattern}");
            assert!(outcome.metrics.drops > 10, "{label}");
            assert_eq!(
                again,
                u64::from(outcome.flows[0].retransmissions),
                "{label}"
            );
            assert_eq!(
                count(&path, "frame.comment contains \"lost: bottleneck.loss\""),
                outcome.metrics.drops,
                "{label}"
            );
            assert_eq!(
                count(&path, "tcp.checksum.status == 0 || ip.checksum.status == 0"),
                0,
                "{label}"
            );
        }
    }
}

#[test]
fn drops_and_marks_of_the_queue_carry_comments() {
    if testing::tool("tshark").is_none() {
        return;
    }
    let sets = [
        "workload.senders=40",
        "switch.buffer=20pkt",
        "switch.ecn_threshold=5pkt",
        "tcp.min_rto=10ms",
    ];
    let (outcome, path) = captured("comments", "bottleneck", "dctcp", &sets);
    let port = outcome
        .ports
        .iter()
        .find(|port| port.bottleneck)
        .expect("a bottleneck");
    assert!(port.drops > 0 && port.marks > 0);
    assert_eq!(
        count(&path, "frame.comment == \"dropped: queue full\""),
        port.drops
    );
    let marked = "frame.comment == \"marked: queue at or above switch.ecn_threshold\"";
    assert_eq!(count(&path, marked), port.marks);
    assert_eq!(
        count(&path, &format!("{marked} && ip.dsfield.ecn == 3")),
        port.marks
    );
    let offered = count(&path, "ip.dst == 10.0.0.1");
    assert_eq!(offered, port.packets + port.drops);
}

#[test]
fn stamps_have_nanoseconds_and_a_file_is_a_pure_function_of_its_point() {
    // With two senders the SYNs would meet, and one would wait for the other.
    let sets = ["workload.senders=1"];
    let (_, first) = captured("pure", "host:1", "newreno", &sets);
    let bytes = fs::read(&first).expect("a capture");
    let (_, second) = captured("pure-again", "host:1", "newreno", &sets);
    assert!(bytes == fs::read(second).expect("a capture"));
    if testing::tool("tshark").is_some() {
        // Both directions: the SYN leaves the host when the flow starts; its answer comes after two
        // hops of 40 us and 54 bytes at 1 Gbit/s each way.
        let times = fields(
            &first,
            "tcp.flags.syn == 1",
            &["frame.time_epoch", "frame.interface_name"],
        );
        assert_eq!(times, ["0.010000000\tport2", "0.010161728\tport2"]);
    }
}

#[test]
fn a_snap_length_keeps_headers_and_the_length_on_the_wire() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captures-snap");
    let point = points("incast", "newreno", &["workload.senders=1"]).remove(0);
    let places = CapturePoints::parse("bottleneck")
        .expect("a place")
        .with_snap(54);
    let mut capture = Capture::new(&places, &point, &folder).expect("files begin");
    run::observe(&point, &mut capture).expect("a conserving run");
    capture.finish().expect("files end");
    let path = folder.join("point-000000-bottleneck.pcapng");
    if testing::tool("tshark").is_some() {
        let kept = fields(&path, "tcp.len > 1000", &["frame.cap_len", "frame.len"]);
        assert_eq!(kept[0], "54\t1500");
    }
}
