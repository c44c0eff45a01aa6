//! Several devices that are watched at once, by one process and by several, for a long time.

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::Child;
use std::time::{Duration, Instant};

use base::cast::real;
use serde_json::Value;

use crate::bed::{Bed, PORT, RECEIVER, SENDER, SWITCH};
use crate::observe::{Watching, asked, ended, flows, watching, watching_for};

#[test]
fn one_process_watches_two_devices_and_tells_each_with_its_flows() {
    let Some(bed) = Bed::new() else { return };
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = free.expect("a port is free").to_string();
    let more = ["--dev", "eth0", "--metrics", &address];
    let child = watching(PORT, &bed.namespace(SWITCH), &more);
    bed.transfer(3, 5_000);
    let text = asked(&address);
    for device in [PORT, "eth0"] {
        let packets = format!("tailwater_observed_packets_total{{device=\"{device}\"");
        assert!(text.contains(&packets), "{text}");
    }
    assert_eq!(
        text.matches("# TYPE tailwater_observed_packets_total")
            .count(),
        1
    );
    let (lines, _) = ended(child);
    for (device, leaves) in [(PORT, true), ("eth0", false)] {
        let is_summary = |line: &&Value| line["type"] == "observed" && line["device"] == device;
        let seen = lines.iter().find(is_summary).expect("a summary");
        let lines = &of_device(&lines, device);
        assert_eq!(
            (&seen["device"], &seen["cost"]["lost"]),
            (&device.into(), &0.into())
        );
        let flows = flows(lines, "10.9.2.1:");
        assert_eq!(flows.len(), 3, "{device}");
        assert!(flows.iter().all(|flow| flow["leaves"] == leaves));
    }
    bed.holds_nothing();
}

/// The flows behind the lines that name this device.
fn of_device(lines: &[Value], device: &str) -> Vec<Value> {
    let parts = lines.chunk_by(|_, next| next["type"] != "device");
    let own = parts.filter(|part| part[0]["type"] == "device" && part[0]["device"] == device);
    own.flatten().cloned().collect()
}

/// An observer, the number of flows that passed since it began to watch, and its memory at that time.
struct Watcher {
    watching: Watching,
    begin: Instant,
    flows: u64,
    memory: u64,
    /// When groups of flows passed, and how many, as long as their connections are kept.
    recent: VecDeque<(Instant, u64)>,
    /// The most connections that were kept at a time.
    most: u64,
    /// How it was when it had watched for a while.
    settled: Option<Settled>,
}

/// An observer that has watched for a while.
#[derive(Clone, Copy)]
struct Settled {
    since: Instant,
    flows: u64,
    memory: u64,
    most: u64,
}

impl Watcher {
    /// That many flows more have passed.
    fn passed(&mut self, flows: u64) {
        let now = machine::clock::now();
        self.flows += flows;
        self.recent.push_back((now, flows));
        while (self.recent.front()).is_some_and(|(at, _)| now.duration_since(*at) > KEPT) {
            self.recent.pop_front();
        }
        let kept = self.recent.iter().map(|(_, flows)| flows).sum();
        self.most = self.most.max(kept);
        if self.settled.is_none() && self.begin.elapsed() >= SETTLED {
            self.settled = Some(Settled {
                since: now,
                flows: self.flows,
                memory: memory(&self.watching.child),
                most: self.most,
            });
        }
    }

    /// Its growth since it had watched for a while, in words.
    fn growth(&self) -> String {
        let Some(settled) = self.settled else {
            return "it did not watch for long enough to tell its growth".to_owned();
        };
        let [seen, grown] = [
            self.flows - settled.flows,
            memory(&self.watching.child).saturating_sub(settled.memory) >> 10,
        ];
        let seconds = settled.since.elapsed().as_secs_f64();
        let per_hour = real(grown) * 3_600.0 / seconds / 1_024.0;
        format!(
            "{grown} KiB in {seconds:.0} s and {seen} flows, {:.0} bytes a flow, {per_hour:.1} MiB an hour",
            real(grown) * 1_024.0 / real(seen.max(1))
        )
    }
}

/// Observers of four devices on one path; in the first third of the time one after the other is killed and started
/// again. `TAILWATER_OBSERVE_S` says for how long: an hour is 3600.
#[test]
#[ignore = "takes two minutes or longer: cargo xtask trust observe"]
fn observers_of_four_devices_killed_ten_times_stay_small_and_see_every_flow() {
    const KILLS: usize = 10;
    let Some(bed) = Bed::new() else { return };
    let seconds = std::env::var("TAILWATER_OBSERVE_S").ok();
    let seconds: u64 = seconds.map_or(120, |text| text.parse().expect("seconds"));
    let devices = [
        (SENDER, "in0"),
        (SWITCH, "eth0"),
        (SWITCH, PORT),
        (RECEIVER, "out0"),
    ];
    let begun = |(of, device): (&str, &str)| {
        let watching = watching_for("86400", device, &bed.namespace(of), &[]);
        let memory = memory(&watching.child);
        Watcher {
            watching,
            begin: machine::clock::now(),
            flows: 0,
            memory,
            recent: VecDeque::new(),
            most: 0,
            settled: None,
        }
    };
    let mut watchers = devices.map(begun);
    let begin = machine::clock::now();
    let mut sent = 0;
    for round in 1..=KILLS {
        let until = Duration::from_secs(seconds) * u32::try_from(round).expect("few") / 30;
        while begin.elapsed() < until {
            bed.transfer(12, 20_000);
            sent += 12;
            for one in &mut watchers {
                one.passed(12);
            }
        }
        small(&watchers);
        let place = round % devices.len();
        let killed = &mut watchers[place].watching.child;
        killed.kill().expect("it runs");
        killed.wait().expect("it ends");
        watchers[place] = begun(devices[place]);
    }
    while begin.elapsed() < Duration::from_secs(seconds) {
        bed.transfer(12, 20_000);
        sent += 12;
        for one in &mut watchers {
            one.passed(12);
        }
    }
    small(&watchers);
    let counts = watchers.iter().map(|one| one.flows);
    let counts: Vec<_> = counts.collect();
    told(&format!(
        "{sent} flows in all; of the last observers {counts:?}"
    ));
    for (one, (of, device)) in watchers.into_iter().zip(devices) {
        let [now, first] = [memory(&one.watching.child), one.memory].map(|bytes| bytes >> 10);
        told(&format!(
            "{device}: {now} KiB, {first} in the beginning; then {}",
            one.growth()
        ));
        let (lines, seen) = ended(one.watching);
        let cost = &seen["cost"];
        assert_eq!(
            (&cost["lost"], &cost["skipped"]),
            (&0.into(), &0.into()),
            "{device} of {of}: {cost}"
        );
        assert_eq!(
            flows(&lines, "10.9.2.1:").len() as u64,
            one.flows,
            "{device} of {of}"
        );
    }
    bed.holds_nothing();
}

/// Says what was measured.
fn told(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("somebody reads");
}

/// The first 65,536 flows take 2 MB in lists that grow by doubling, and every connection of the last 40 s less than 1 KiB;
/// nothing else grows. On a busy machine fewer connections pass in that time.
fn small(watchers: &[Watcher]) {
    for one in watchers {
        let now = memory(&one.watching.child);
        if let Some(settled) = one.settled {
            let bound = settled.memory + (4 << 20) + ((one.most - settled.most) << 10);
            assert!(
                now <= bound,
                "{now} bytes with up to {} connections, {} with {} before",
                one.most,
                settled.memory,
                settled.most
            );
        }
        let bound = one.memory + (6 << 20) + (one.most << 10);
        assert!(
            now <= bound,
            "{now} bytes behind {} flows with up to {} connections, {} in the beginning",
            one.flows,
            one.most,
            one.memory
        );
    }
}

/// Bytes of memory that a process has.
fn memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    let kilobytes: u64 = number.expect("a size").parse().expect("a number");
    kilobytes << 10
}

/// For this time an observer keeps a connection that has begun to close.
const KEPT: Duration = Duration::from_secs(40);

/// A process that has watched for so long has made its maps and its buffers, and forgets connections as fast as they come.
const SETTLED: Duration = Duration::from_mins(1);
