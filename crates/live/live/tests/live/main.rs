//! The bed on this machine: everything that it creates is used, and nothing of it is left.

#![cfg(target_os = "linux")]

mod bands;
mod ends;
mod programs;
mod stops;
mod wrapper;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// One network at a time: tests check for leftovers of others. `None` without privileges.
fn machine() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    if let Some(lacks) = machine::privilege::lacks() {
        testing::skipped(&format!("this process has not {lacks}"));
        return None;
    }
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn program(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailwater-live"));
    command.args(words).stdout(Stdio::piped());
    command
}

fn run(words: &[&str]) -> (Output, Vec<Value>) {
    let output = program(words).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text.lines().map(line).collect())
}

/// A line that the program wrote, which is one of the protocol.
fn line(text: &str) -> Value {
    let line = protocol::Line::read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(line.to_string(), text);
    serde_json::to_value(line).expect("JSON")
}

/// Namespaces and records that are left of runs whose process is `pid`.
fn left(pid: u32) -> Vec<String> {
    let prefixes = [format!("tw-{pid}n"), format!("{pid}n")];
    let folders = ["/run/netns", "/run/tailwater/live"];
    let names = |folder: &str| -> Vec<String> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let names = entries.map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        });
        names
            .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
            .collect()
    };
    folders.into_iter().flat_map(names).collect()
}

/// A long comparison whose network is up; `None` where the machine is too busy for it, which is said aloud.
fn under_way() -> Option<Child> {
    under_way_with("newreno")
}

fn under_way_with(scheme: &str) -> Option<Child> {
    let words = [
        "emulate",
        "incast",
        "--scheme",
        scheme,
        "--set",
        "workload.senders=4",
    ];
    let mut command = program(&words);
    command.args(["--rate", "10Mbps", "--runs", "500", "--no-sim"]);
    let mut child = command.spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let told = lines.by_ref().map(|line| line.expect("text"));
    let told = told.take_while(|line| !line.contains("\"bed\""));
    if let Some(line) = told.last().filter(|line| is_too_busy(line)) {
        child.wait().expect("it ends");
        assert_eq!(left(child.id()), [""; 0], "{line}");
        return None;
    }
    // The program must not end because nobody reads its output.
    thread::spawn(move || lines.for_each(drop));
    assert!(!left(child.id()).is_empty(), "the program ended");
    Some(child)
}

/// Whether a program refuses because the machine is busy, which is then said aloud.
fn is_too_busy(told: &str) -> bool {
    let is_busy = told.contains("this machine sustains");
    if is_busy {
        testing::skipped("this machine is too busy to hold the rate");
    }
    is_busy
}

/// The lines of a run, and the process that it was. A busy machine may not hold the rate, so that the program refuses.
/// Then it is tried again, and in the end skipped aloud.
fn emulated(words: &[&str]) -> Option<(u32, Vec<Value>)> {
    let mut text = String::new();
    for _ in 0..5 {
        let child = program(words).spawn().expect("the program starts");
        let pid = child.id();
        let output = child.wait_with_output().expect("the program ends");
        text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Some((pid, text.lines().map(line).collect()));
        }
        if !text.contains("this machine sustains") {
            break;
        }
        thread::sleep(Duration::from_secs(1));
    }
    assert!(is_too_busy(&text), "{text}");
    None
}

/// Reasons why runs say more about this machine than about TCP: those that the program reports, and packets that its
/// captures lost. On a busy machine, too, data arrives as it was sent.
fn disturbances(lines: &[Value]) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines {
        if line["live"].is_object() {
            assert_eq!(line["live"]["corrupted"], 0, "{line}");
        }
        let reasons = line["live"]["reasons"].as_array().into_iter().flatten();
        all.extend(reasons.filter_map(Value::as_str).map(str::to_owned));
        if line["type"] == "capture" {
            let lost = line["lost"].as_u64().expect("a count of packets");
            all.extend((lost > 0).then(|| format!("{lost} packets not captured")));
        }
    }
    all
}

#[test]
fn four_senders_deliver_every_byte_and_leave_nothing() {
    let Some(_machine) = machine() else { return };
    let settings = [
        "workload.senders=4",
        "workload.size=64KiB",
        "tcp.initial_window=10",
    ];
    let mut words = vec![
        "emulate",
        "incast",
        "--scheme",
        "newreno,cubic",
        "--runs",
        "2",
    ];
    words.extend(settings.iter().flat_map(|set| ["--set", set]));
    words.extend(["--rate", "50Mbps", "--no-sim"]);
    let Some((pid, lines)) = emulated(&words) else {
        return;
    };
    let points = lines.iter().filter(|line| line["type"] == "point");
    let points: Vec<_> = points.collect();
    assert_eq!(points.len(), 4);
    for point in points {
        assert_eq!(point["metrics"]["flows_completed"], 4, "{point}");
        assert_eq!(point["live"]["corrupted"], 0, "{point}");
        // 4 x 64 KiB at 50 Mbit/s take 42 ms; nothing can be faster.
        assert!(
            point["metrics"]["fct_max_us"].as_f64().unwrap() > 40_000.0,
            "{point}"
        );
        let reasons = point["live"]["reasons"].to_string();
        assert!(!reasons.contains("instead of"), "{reasons}");
    }
    assert_eq!(left(pid), [""; 0]);
}

/// Servers answer requests one after the other on open connections, while flows without end last as long as the run.
#[test]
fn requests_are_answered_beside_flows_without_end() {
    let Some(_machine) = machine() else { return };
    let file = std::env::temp_dir().join(format!("tailwater-groups-{}.toml", std::process::id()));
    let text = "schemes = [\"cubic\"]\ntcp.receive_buffer = \"64KiB\"\nswitch.buffer = \"400KB\"\nrun.duration = \"700ms\"\n\
        [group.elephants.workload]\nkind = \"incast\"\nsenders = 2\nsize = \"unlimited\"\nstart = \"0s\"\n\
        [group.mice.workload]\nkind = \"requests\"\nconnection = \"persistent\"\nsenders = 2\nreceivers = 1\n\
        connections = 4\nrequests = 3\nsize = \"5KB\"\nstart = \"100ms\"\n";
    fs::write(&file, text).unwrap();
    let name = file.to_str().unwrap();
    // A machine that is late for a moment, which no reason reports, is judged again once.
    let mut others = Vec::new();
    let lines = loop {
        let told = emulated(&[
            "emulate", name, "--rate", "20Mbps", "--runs", "1", "--detail", "flows",
        ]);
        let Some((pid, lines)) = told else { break None };
        assert_eq!(left(pid), [""; 0]);
        let points = lines.iter().filter(|line| line["type"] == "point");
        let points: Vec<_> = points.collect();
        let worlds: Vec<_> = points.iter().map(|point| &point["world"]).collect();
        assert_eq!(worlds, ["linux", "simulated"]);
        for point in &points {
            let (ended, flows) = (point["ended_us"].as_f64(), point["flows"].as_array());
            assert!(ended.unwrap() >= 690_000.0, "{point}");
            // The second request follows the first answer.
            for connection in flows.unwrap()[2..].chunks(3) {
                let at = |flow: usize, place: usize| connection[flow][place].as_f64();
                let both = at(1, 0).zip(at(0, 1));
                assert!(
                    both.is_none_or(|(second, first)| second >= first),
                    "{point}"
                );
            }
        }
        assert!(all_is_answered(points[1]), "{}", points[1]);
        let disturbances = disturbances(&lines);
        if all_is_answered(points[0]) {
            break Some(lines);
        }
        if !disturbances.is_empty() {
            testing::skipped(&format!("this machine is too busy: {disturbances:?}"));
            break None;
        }
        others.push(points[0].to_string());
        assert!(others.len() < 2, "{others:?}");
    };
    fs::remove_file(&file).unwrap();
    if let Some(lines) = lines {
        let lives = lines.iter().filter(|line| line["live"]["corrupted"] == 0);
        assert_eq!(lives.count(), 1);
    }
}

/// Whether a run answered all requests, ended soon after its time, and let its elephants send.
fn all_is_answered(point: &Value) -> bool {
    let metrics = &point["metrics"];
    let (ended, flows) = (point["ended_us"].as_f64(), point["flows"].as_array());
    // The elephants are the first group: each has some of what 20 Mbit/s carry in 0.7 s.
    let has_some = |elephant: &Value| {
        let bytes = elephant[2].as_u64();
        elephant[1].is_null() && bytes.is_some_and(|bytes| (100_000..1_750_000).contains(&bytes))
    };
    metrics["flows_completed"] == 12
        && metrics["flows_unfinished"] == 0
        && ended.is_some_and(|ended| ended < 900_000.0)
        && flows.is_some_and(|flows| flows[..2].iter().all(has_some))
}

/// Counts of sockets make the metrics, and packets that the switch dropped were sent again.
#[test]
fn timeouts_of_flows_make_those_of_the_network() {
    let Some(_machine) = machine() else { return };
    let folder = std::env::temp_dir().join(format!("tailwater-counts-{}", std::process::id()));
    let mut words = vec!["emulate", "incast", "--scheme", "newreno", "--runs", "1"];
    let sets = [
        "workload.senders=12",
        "workload.size=100KB",
        "workload.deadline=200ms",
        "switch.buffer=20pkt",
        "switch.ecn_threshold=off",
    ];
    words.extend(sets.iter().flat_map(|set| ["--set", set]));
    let out = folder.to_str().expect("a path in Unicode");
    words.extend(["--rate", "20Mbps", "--detail", "flows", "--out", out]);
    let told = emulated(&words);
    drop(fs::remove_dir_all(&folder));
    let Some((_, lines)) = told else { return };
    let points: Vec<_> = (lines.iter())
        .filter(|line| line["type"] == "point")
        .collect();
    assert_eq!(points.len(), 2);
    for point in points {
        let flows = point["flows"].as_array().expect("every flow");
        assert_eq!(flows.len(), 12);
        let sum = |place: usize| {
            flows
                .iter()
                .map(|flow| flow[place].as_u64())
                .sum::<Option<u64>>()
        };
        let metric = |name: &str| point["metrics"][name].as_u64();
        assert_eq!(sum(5), metric("timeouts"), "{point}");
        assert_eq!(sum(6), metric("syn_timeouts"), "{point}");
        assert_eq!(sum(4), metric("retransmissions"), "{point}");
        // The switch also drops ACKs for FINs, and a probe or a timer may send again what was not lost.
        let dropped = metric("drops").zip(metric("retransmissions"));
        let about = dropped.is_some_and(|(drops, again)| drops.abs_diff(again) <= drops / 10 + 12);
        assert!(about, "{point}");
        // Twelve windows of ten segments meet a queue of 20.
        assert!(metric("timeouts").is_some_and(|count| count > 0), "{point}");
        // 69 segments of 1,514 bytes take 41.8 ms alone, less 1.2 ms for two that a bucket lets go at once.
        let alone = |flow: &Value| {
            flow[7]
                .as_f64()
                .is_some_and(|us| (40_500.0..60_000.0).contains(&us))
        };
        assert!(flows.iter().all(alone), "{point}");
    }
}

/// While the queue of the first burst drains, no data comes, and ACKs have to take the samples. Windows then end before what
/// is outstanding, so a sender whose last segments are lost cannot probe and waits for a timer, as in the twin.
#[test]
fn windows_of_rwndq_follow_a_queue_that_shrinks_while_no_data_comes() {
    let Some(_machine) = machine() else { return };
    let words = ["emulate", "incast", "--scheme", "rwndq", "--runs", "4"];
    let more = ["--rate", "50Mbps", "--set", "workload.senders=20"];
    let Some((_, lines)) = emulated(&[&words[..], &more].concat()) else {
        return;
    };
    let timeouts = |world: &str| -> u64 {
        let points = lines.iter().filter(|line| line["type"] == "point");
        let own = points.filter(|line| line["world"] == world);
        own.filter_map(|line| line["metrics"]["timeouts"].as_u64())
            .sum()
    };
    // With samples by data alone there are 0 to 3 in a run, where the twin has 7 to 11.
    let (linux, twin) = (timeouts("linux"), timeouts("simulated"));
    let as_many = 2 * linux + 6 >= twin;
    assert!(as_many, "{linux} timeouts in four runs, {twin} in the twin");
}

/// Endpoints of the simulator send to a receiver of the kernel.
#[test]
fn our_tcp_sends_to_the_kernel_over_a_device() {
    let Some(_machine) = machine() else { return };
    let file = std::env::temp_dir().join(format!("tailwater-tun-{}.toml", std::process::id()));
    let text = "schemes = [\"newreno\", \"rc3\", \"rcc\"]\n[link]\nrate = \"200Mbps\"\ndelay = \"5ms\"\n\
        [tcp]\ninitial_window = 10\nreceive_buffer = \"4MB\"\n[switch]\nbuffer = \"4MB\"\n\
        [workload]\nkind = \"incast\"\nsenders = 1\nsize = \"146000B\"\nstart = \"0s\"\n";
    fs::write(&file, text).expect("a file");
    let name = file.to_str().expect("a path in Unicode");
    let (output, lines) = run(&["emulate", name, "--bed", "tun", "--runs", "2"]);
    fs::remove_file(&file).expect("a file");
    assert!(output.status.success(), "{lines:?}");
    let skipped = lines.iter().filter(|line| line["type"] == "skipped");
    let skipped: Vec<_> = skipped.map(|line| &line["scheme"]).collect();
    assert_eq!(skipped, ["rcc"]);
    let points = |scheme: &str, world: &str| {
        let points = lines.iter().filter(|line| line["type"] == "point");
        let own = points.filter(|line| line["scheme"] == scheme && line["world"] == world);
        let times = own.map(|line| line["metrics"]["fct_mean_us"].as_f64());
        times
            .map(|time| time.expect("it is complete"))
            .collect::<Vec<_>>()
    };
    for scheme in ["newreno", "rc3"] {
        let linux = points(scheme, "linux");
        assert_eq!(linux.len(), 2);
        // A handshake, half a round trip, and the bytes at the rate: 30 ms and 5.8 ms.
        assert!(linux.iter().all(|us| *us > 35_000.0), "{linux:?}");
        assert_eq!(points(scheme, "simulated").len(), 1);
    }
    // Slow start takes two round trips more, which RC3 does not wait for.
    let least = |scheme| {
        points(scheme, "linux")
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    };
    assert!(least("newreno") > 70_000.0, "{}", least("newreno"));
    assert!(points("rc3", "simulated")[0] < 45_000.0);
}

/// Linux delays no ACK while the window that it offers grows.
#[test]
fn receivers_delay_acks_as_hosts_do_whose_windows_have_grown() {
    let Some(_machine) = machine() else { return };
    let folder = std::env::temp_dir().join(format!("tailwater-acks-{}", std::process::id()));
    let name = folder.to_str().unwrap();
    let mut words = vec!["emulate", "incast", "--scheme", "newreno", "--runs", "1"];
    let sets = [
        "workload.senders=2",
        "workload.size=300KB",
        "switch.buffer=1MB",
    ];
    words.extend(sets.iter().flat_map(|set| ["--set", set]));
    words.extend(["--rate", "20Mbps", "--no-sim", "--pcap", "--out", name]);
    // A machine that is late for a moment, which no reason reports, may drop packets once.
    let mut dropped = 0;
    let acks = loop {
        let told = emulated(&words);
        let file = folder.join("capture-1-newreno.pcapng");
        let acks = told.as_ref().map(|_| programs::acks(&file).1.len());
        drop(fs::remove_dir_all(&folder));
        let (Some((_, lines)), Some(acks)) = (told, acks) else {
            return;
        };
        let points = lines.iter().filter(|line| line["type"] == "point");
        let drops: Vec<Option<u64>> = points
            .map(|point| point["metrics"]["drops"].as_u64())
            .collect();
        assert_eq!(drops.len(), 1, "a run of one scheme");
        let disturbances = disturbances(&lines);
        if drops[0].expect("a count of drops") == 0 && disturbances.is_empty() {
            break acks;
        }
        if !disturbances.is_empty() {
            testing::skipped(&format!("this machine is too busy: {disturbances:?}"));
            return;
        }
        dropped += 1;
        assert!(dropped < 3, "a buffer of 1 MB drops packets each time");
    };
    // Of twice 208 segments, none of which is lost, 32 are acknowledged one by one and the others in pairs.
    assert!((40..300).contains(&acks), "{acks} ACKs");
}

#[test]
fn every_shape_carries_its_flows() {
    let Some(_machine) = machine() else { return };
    for shape in ["dumbbell", "tree", "leaf-spine"] {
        let kind = format!("topology.kind={shape}");
        let sets = [
            kind.as_str(),
            "topology.racks=2",
            "topology.spines=2",
            "workload.senders=3",
        ];
        let mut words = vec!["emulate", "incast", "--scheme", "cubic", "--runs", "1"];
        words.extend(sets.iter().flat_map(|set| ["--set", set]));
        words.extend(["--rate", "20Mbps"]);
        let Some((_, lines)) = emulated(&words) else {
            return;
        };
        let points = lines.iter().filter(|line| line["type"] == "point");
        let points: Vec<_> = points.collect();
        assert_eq!(points.len(), 2, "{shape}");
        for point in points {
            assert_eq!(point["metrics"]["flows_completed"], 3, "{shape}: {point}");
        }
    }
}

#[test]
fn a_signal_removes_the_network() {
    let Some(_machine) = machine() else { return };
    let Some(mut child) = under_way() else { return };
    let pid = child.id();
    let killed = Command::new("kill").arg(pid.to_string()).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(left(pid), [""; 0]);
}

#[test]
fn what_a_kill_leaves_is_removed_afterwards() {
    let Some(_machine) = machine() else { return };
    let Some(mut child) = under_way() else { return };
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!left(pid).is_empty());
    for removed in [true, false] {
        let (output, lines) = run(&["down"]);
        assert!(output.status.success(), "{lines:?}");
        let names = lines[0]["removed"].to_string();
        assert_eq!(names.contains(&format!("tw-{pid}n")), removed, "{names}");
        assert_eq!(left(pid), [""; 0]);
    }
}

#[test]
fn a_network_that_was_left_runs_programs() {
    let Some(_machine) = machine() else { return };
    let (output, lines) = run(&[
        "up",
        "incast",
        "--set",
        "workload.senders=2",
        "--rate",
        "20Mbps",
    ]);
    if is_too_busy(&lines[0].to_string()) {
        return;
    }
    assert!(output.status.success(), "{lines:?}");
    let nodes = lines[0]["nodes"].as_array().unwrap().len();
    let inside = program(&["exec", "h0", "--", "cat", "/proc/net/fib_trie"]).output();
    let inside = inside.unwrap();
    let down = run(&["down"]);
    assert!(String::from_utf8_lossy(&inside.stdout).contains("10.88.0.1"));
    let removed = down.1[0]["removed"].as_array().unwrap();
    assert!(removed.len() >= nodes, "{removed:?}");
    let node = removed[0].as_str().unwrap();
    assert!(!Path::new("/run/netns").join(node).exists());
}

#[test]
fn wrong_input_is_told_before_anything_is_made() {
    let Some(_machine) = machine() else { return };
    let (output, lines) = run(&[
        "emulate",
        "incast",
        "--scheme",
        "cubic",
        "--set",
        "topology.kind=chain",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let message = lines[0]["message"].as_str().unwrap();
    assert!(message.starts_with("topology.kind"), "{message}");
}

#[test]
fn a_process_that_lives_keeps_its_network() {
    let Some(_machine) = machine() else { return };
    let Some(mut child) = under_way() else { return };
    let pid = child.id();
    let (output, _) = run(&["down"]);
    assert!(output.status.success());
    assert!(!left(pid).is_empty());
    let killed = Command::new("kill").arg(pid.to_string()).status();
    assert!(killed.unwrap().success());
    child.wait().unwrap();
    // The kernel removes links and queues with the namespaces.
    let mut looks = (0..50).map(|_| {
        thread::sleep(Duration::from_millis(100));
        left(pid).is_empty()
    });
    assert!(looks.any(|gone| gone), "{:?}", left(pid));
}
