//! The reports of `observe` about known traffic.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use protocol::Line;
use rustix::process::{Pid, Signal, kill_process};
use scenario::{Overrides, Scenario, Source};
use serde_json::Value;

use crate::bed::{Bed, PORT, RECEIVER, SENDER, SWITCH, TBF, command, ip, line, program};

/// An observer whose lines are read while it watches, as it tells flows meanwhile. It ends with its test, whether that
/// passes or fails.
pub(crate) struct Watching {
    pub(crate) child: Child,
    lines: Option<JoinHandle<String>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        // One that has ended is waited for already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts an observer, and returns once it watches.
pub(crate) fn watching(dev: &str, netns: &str, more: &[&str]) -> Watching {
    watching_for("60", dev, netns, more)
}

/// The same, for this number of seconds.
pub(crate) fn watching_for(seconds: &str, dev: &str, netns: &str, more: &[&str]) -> Watching {
    let mut command = Command::new(program());
    command.args(["observe", "--dev", dev, "--netns", netns]);
    command.args(["--time-s", seconds]);
    let child = command.args(more).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts");
    // It drops its capabilities a second after the start.
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(100));
        let has_none = capabilities(&child).is_some_and(|set| set == 0);
        if has_none || child.try_wait().expect("a child").is_some() {
            break;
        }
    }
    let mut out = child.stdout.take().expect("its output");
    let lines = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).expect("lines");
        text
    });
    Watching {
        child,
        lines: Some(lines),
    }
}

/// Ends an observer once the last packets have passed. Its report is then as complete as at the end of its time.
pub(crate) fn ended(watching: Watching) -> (Vec<Value>, Value) {
    thread::sleep(Duration::from_millis(500));
    let id = Pid::from_child(&watching.child);
    kill_process(id, Signal::TERM).expect("a child that runs");
    seen(watching)
}

fn capabilities(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Its lines, with the summary.
fn seen(mut watching: Watching) -> (Vec<Value>, Value) {
    let status = watching.child.wait().expect("it ends");
    let lines = watching.lines.take().expect("they are read once");
    let text = lines.join().expect("its lines");
    assert!(status.success(), "{status} {text}");
    let lines: Vec<Value> = text.lines().map(line).collect();
    let seen = lines.iter().find(|line| line["type"] == "observed");
    let seen = seen.expect("a summary").clone();
    (lines, seen)
}

/// The flows with data towards the receiver.
pub(crate) fn flows(lines: &[Value], to: &str) -> Vec<Value> {
    let flows = lines.iter().filter(|line| {
        let receiver = line["receiver"].as_str().unwrap_or_default();
        line["type"] == "flow" && receiver.starts_with(to)
    });
    flows.cloned().collect()
}

#[test]
fn a_few_flows_one_behind_the_other_are_quiet() {
    let Some(bed) = Bed::new() else { return };
    let child = watching(PORT, &bed.namespace(SWITCH), &[]);
    for _ in 0..5 {
        bed.transfer(2, 5_000);
    }
    let (lines, seen) = ended(child);
    assert_eq!(seen["judged"]["verdict"], "quiet", "{seen}");
    let flows = flows(&lines, "10.9.2.1:");
    assert_eq!(flows.len(), 10, "{flows:?}");
    assert!(
        flows
            .iter()
            .all(|flow| flow["bytes"] == 5_000 && flow["is_told"] == true)
    );
    assert_eq!(seen["queue"]["room_bytes"], 64_000);
    assert_eq!(
        (&seen["rate_bps"], &seen["drops"]),
        (&100_000_000.into(), &0.into())
    );
    assert_eq!(seen["cost"]["lost"], 0);
}

#[test]
fn timeouts_of_data_that_wait_and_arrive_are_needless_and_no_loss() {
    let Some(bed) = Bed::new() else { return };
    // A full packet takes 300 ms, longer than the sender's timer of 200 ms, and the queue holds ten of them.
    let slow = "root tbf rate 40kbit burst 2000 limit 64000";
    let switch = bed.namespace(SWITCH);
    command(&format!("tc -n {switch} qdisc replace dev {PORT} {slow}"));
    let child = watching(PORT, &switch, &[]);
    let listener = bed.inside(RECEIVER, || TcpListener::bind("10.9.2.1:5000"));
    let listener = listener.expect("a port is free");
    let sender = bed.inside(SENDER, || TcpStream::connect("10.9.2.1:5000"));
    let mut sender = sender.expect("a connection");
    let (mut receiver, _) = listener.accept().expect("a connection");
    sender.write_all(&[7; 6_000]).expect("it is sent");
    receiver.read_exact(&mut [0; 6_000]).expect("all arrives");
    // The retransmissions wait behind the data. With the old rate they arrive at once, and the receiver reports them.
    command(&format!("tc -n {switch} qdisc change dev {PORT} {TBF}"));
    thread::sleep(Duration::from_millis(500));
    drop((sender, receiver));
    let (_, seen) = ended(child);
    let of = |key: &str| seen[key].as_u64().expect("a count");
    assert!(of("timeouts") > 0, "{seen}");
    assert_eq!(of("needless_timeouts"), of("timeouts"), "{seen}");
    assert_eq!(
        of("needless_fast_retransmits"),
        of("fast_retransmits"),
        "{seen}"
    );
    assert_eq!(
        (&seen["drops"], &seen["judged"]["verdict"]),
        (&0.into(), &"quiet".into()),
        "{seen}"
    );
}

#[test]
fn long_flows_that_fill_a_queue_are_loss_without_incast() {
    let Some(bed) = Bed::new() else { return };
    // Flows count segments and the queue counts packets: a packet that is a train of segments is one drop there, which
    // is the likely reason for a few more. A few less come from a busy machine, see `counts_as_made`, and the test is
    // tried again.
    let mut others = Vec::new();
    loop {
        let child = watching(PORT, &bed.namespace(SWITCH), &[]);
        bed.transfer(2, 10_000_000);
        let (lines, seen) = ended(child);
        assert_eq!(seen["judged"]["verdict"], "loss-without-incast", "{seen}");
        assert!(seen["fast_retransmits"].as_u64() > Some(0), "{seen}");
        let most = seen["queue"]["max_bytes"].as_u64().expect("a length");
        assert!((60_000..=64_000).contains(&most), "{seen}");
        let dropped = flows(&lines, "10.9.2.1:");
        let dropped: u64 = dropped
            .iter()
            .filter_map(|flow| flow["drops"].as_u64())
            .sum();
        let drops = seen["drops"].as_u64().expect("a count");
        assert!(drops > 0 && dropped > 0, "{dropped} of {drops}");
        if 10 * dropped.abs_diff(drops) < drops {
            return;
        }
        others.push(format!("{dropped} of {drops}"));
        assert!(others.len() < 3, "{others:?}");
    }
}

#[test]
fn settings_of_the_route_of_senders_are_observed() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.namespace(SENDER);
    let settings = "initcwnd 4 rto_min 30ms congctl reno features ecn";
    ip(&format!(
        "-n {sender} route change default via 10.9.1.2 {settings}"
    ));
    let watching = watching(PORT, &bed.namespace(SWITCH), &[]);
    bed.transfer(10, 64 << 10);
    let (_, seen) = ended(watching);
    assert_eq!(
        (&seen["control"], &seen["is_ecn_capable"]),
        (&"reno".into(), &true.into()),
        "{seen}"
    );
    assert_eq!(
        (&seen["min_rto_ms"], &seen["initial_window"]),
        (&30.0.into(), &4.into()),
        "{seen}"
    );
}

const SENDERS: u64 = 20;
const RUNS: u64 = 5;

/// Emulates an incast and watches the port of its receiver. Returns the generator's lines about its runs, and what was
/// observed. `None` where this machine is too busy for it, which is said aloud.
fn emulated() -> Option<(Vec<Value>, Vec<Value>, Value)> {
    // Other programs must not keep flows from beginning together.
    let mut emulation = match testing::tool("chrt") {
        Some(mut chrt) => {
            chrt.args(["-f", "10", program()]);
            chrt
        }
        None => Command::new(program()),
    };
    let emulation = emulation
        .args([
            "emulate", "incast", "--no-sim", "--scheme", "cubic", "--runs", "5",
        ])
        .args(["--set", "workload.senders=20", "--set", "tcp.min_rto=200ms"])
        // With larger first windows the first flows would fill the queue, and the SYNs of the last ones would wait in
        // it.
        .args(["--set", "tcp.initial_window=1"])
        // A search for the rate would send the same flows, which would be counted.
        .args(["--rate", "200Mbps"])
        .stdout(Stdio::piped())
        .spawn();
    let mut emulation = emulation.expect("the program starts");
    // The receiver is host 0, behind the first port of the switch.
    let switch = format!("tw-{}n0-s0", emulation.id());
    let is_up = |_: &u32| {
        thread::sleep(Duration::from_millis(20));
        let show = ["-n", &switch, "link", "show", "dev", "p1"];
        let shown = Command::new("ip").args(show).output();
        let is_there = shown.expect("ip starts").status.success();
        is_there || emulation.try_wait().expect("a child").is_some()
    };
    (0..200).find(is_up).expect("a switch");
    // It goes on once the observer runs: on a busy machine its flows would come before.
    let id = Pid::from_child(&emulation);
    let signal = |signal| kill_process(id, signal).expect("a child that was not waited for");
    let child = emulation.try_wait().expect("a child").is_none().then(|| {
        signal(Signal::STOP);
        let child = watching("p1", &switch, &[]);
        signal(Signal::CONT);
        child
    });
    let output = emulation.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        // The observer has ended with the device, or never found it.
        drop(child.map(|mut watching| watching.child.wait()));
        assert!(told.contains("this machine sustains"), "{told}");
        testing::skipped("this machine is too busy to hold the rate");
        return None;
    }
    let (lines, seen) = seen(child.expect("nobody watched"));
    let told = told.lines();
    let told = told.map(line);
    let runs = told.filter(|line| line["type"] == "point").collect();
    Some((runs, lines, seen))
}

#[test]
fn an_emulated_incast_is_found_as_its_generator_made_it() {
    let Some(_bed) = Bed::new() else { return };
    let (mut is_counted, mut others, mut fewer) = (false, Vec::new(), Vec::new());
    for _ in 0..4 {
        let Some((runs, lines, seen)) = emulated() else {
            return;
        };
        if let Err(why) = counts_as_made(&runs, &lines, &seen) {
            others.push(why);
            continue;
        }
        is_counted = true;
        // If starts are spread evenly, the latest is at most twice the mean.
        let late = |run: &Value| {
            let mean = run["live"]["start_lateness_mean_us"].as_f64();
            mean.map_or(f64::MAX, |mean| 2.0 * mean)
        };
        // Flows count together that have data within seven epochs of a ms, whose first segments are as far apart as their
        // starts. Evenly spread they are 20 then; a machine that is late for one of them alone is tried again.
        if runs.iter().map(late).fold(f64::MAX, f64::min) <= 800.0 {
            let judged = &seen["judged"];
            if judged["most"] != SENDERS {
                fewer.push(judged["most"].to_string());
                continue;
            }
            // The verdict also covers the traffic that calibrated the bed. Its long flows may have more timeouts.
            let [following, all] =
                ["timeouts_following", "timeouts"].map(|key| judged[key].as_u64());
            if following.map(|number| 2 * number) >= all {
                assert_eq!(judged["verdict"], "incast", "{seen}");
                return;
            }
        }
    }
    assert!(fewer.len() < 3, "{fewer:?} of {SENDERS} at once");
    assert!(is_counted, "no time as it was made: {others:?}");
    testing::skipped(
        "this machine does not begin 20 flows within a millisecond, or drops at other times",
    );
}

/// Everything that is seen was made by the generator. Returns whether all of it is seen, or what is missing: on a busy
/// machine flows begin far apart, and the kernel's own counters of timeouts and drops are sometimes ahead of its
/// tracepoints.
fn counts_as_made(runs: &[Value], lines: &[Value], seen: &Value) -> Result<(), String> {
    assert_eq!(runs.len() as u64, RUNS);
    let made = |key: &str| {
        runs.iter()
            .filter_map(|run| run["metrics"][key].as_u64())
            .sum::<u64>()
    };
    // Flows of another size calibrated the bed before.
    let mut flows = flows(lines, "10.88.0.1:");
    flows.retain(|flow| flow["bytes"] == 32_768);
    let counted = |key: &str| {
        flows
            .iter()
            .filter_map(|flow| flow[key].as_u64())
            .sum::<u64>()
    };
    let counts = [
        ("flows", flows.len() as u64, RUNS * SENDERS),
        ("timeouts", counted("timeouts"), made("timeouts")),
        ("drops", counted("drops"), made("drops")),
    ];
    for (of, found, made) in counts {
        assert!(100 * found <= 101 * made, "{found} of {made} {of}");
    }
    simulates(seen, &flows);
    // Each flow arrives when the generator says: the completion times that it measured, minus the time until the last
    // byte is read.
    let times = runs
        .iter()
        .filter_map(|run| run["fct_us"].as_array())
        .flatten();
    let mean = |all: Vec<f64>| {
        all.iter().sum::<f64>() / f64::from(u32::try_from(all.len().max(1)).expect("few"))
    };
    let made_ms = mean(times.filter_map(Value::as_f64).map(|us| us / 1e3).collect());
    let seen_ms = mean(
        flows
            .iter()
            .filter_map(|flow| flow["fct_s"].as_f64())
            .map(|s| s * 1e3)
            .collect(),
    );
    if seen_ms >= made_ms || seen_ms <= 0.5 * made_ms {
        return Err(format!("{seen_ms} of {made_ms} ms"));
    }
    let most = seen["judged"]["most"].as_u64().expect("a degree");
    assert!(most <= SENDERS, "{most} at once");
    if most < 8 {
        return Err(format!("{most} at once"));
    }
    for (of, found, made) in counts {
        if 100 * found.abs_diff(made) > made {
            return Err(format!("{found} of {made} {of}"));
        }
    }
    Ok(())
}

/// Simulations accept the scenario of the observed traffic, with its flows.
fn simulates(seen: &Value, flows: &[Value]) {
    let read = |value: &Value| match Line::read(&value.to_string()) {
        Ok(Line::Flow(flow)) => *flow,
        other => panic!("{other:?}"),
    };
    let flows: Vec<_> = flows.iter().map(read).collect();
    let Ok(Line::Observed(seen)) = Line::read(&seen.to_string()) else {
        panic!("{seen}")
    };
    let flows = seen.with_requests(&flows);
    let folder = std::env::temp_dir().join(format!("tw-observed-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("seen.toml");
    fs::write(folder.join("seen.csv"), seen.trace(&flows)).expect("a trace");
    fs::write(&file, seen.scenario("seen", "seen.csv", &flows)).expect("a scenario");
    let source = Source::find(file.to_str().expect("a path")).expect("the file");
    let scenario = Scenario::load(source, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems:?}"));
    let point = &scenario.points()[0];
    assert_eq!(point.text("tcp.min_rto"), "200ms");
    assert_eq!(point.text("workload.kind"), "trace");
    let written = fs::read_to_string(folder.join("seen.csv")).expect("a trace");
    assert_eq!(written.lines().count(), flows.len() + 1);
    fs::remove_dir_all(folder).expect("the folder goes");
}

/// The answer to Prometheus at an address.
pub(crate) fn asked(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
        .expect("a request");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

#[test]
fn whoever_watches_has_no_privileges_leaves_nothing_and_answers_prometheus() {
    let Some(bed) = Bed::new() else { return };
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = free.expect("a port is free").to_string();
    let mut child = watching(PORT, &bed.namespace(SWITCH), &["--metrics", &address]);
    assert_eq!(capabilities(&child.child), Some(0));
    bed.transfer(2, 5_000);
    let text = asked(&address);
    for line in ["tailwater_observed_packets_total{", "verdict=\"quiet\"} 1"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // Killed in the middle: its programs are removed with it, and later data arrives.
    child.child.kill().expect("it is killed");
    child.child.wait().expect("it ends");
    bed.transfer(2, 5_000);
    bed.holds_nothing();
    let told = Command::new("tc")
        .args([
            "-n",
            &bed.namespace(SWITCH),
            "filter",
            "show",
            "dev",
            PORT,
            "egress",
        ])
        .output();
    assert!(told.expect("tc starts").stdout.is_empty());
}
