//! The simulator on a scenario of the kernel.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use engine::random::Stream;
use sim::metrics::{FlowRecord, Outcome};

use crate::answer::{Carried, Round, ScenarioRun};
use crate::list::{MSS, OracleScenario, OracleTraffic, PACKET, StreamTraffic, number};

/// Simulates a scenario with `seed`, which stands for a boot, and `sets` on top, as `KEY=VALUE`.
pub fn simulate(scenario: &OracleScenario, seed: u64, sets: &[String]) -> Result<ScenarioRun> {
    // Boots have any phase of the kernel's ticks.
    let phase = Stream::new(seed, "phase", 0).below(TEN_MS);
    // A handshake takes one and a half round trips.
    let start = lead(scenario) + phase;
    match &scenario.kind {
        OracleTraffic::Incast { senders, .. } => {
            let outcome = run(scenario, seed, &settings(scenario, start, None), sets)?;
            Ok(incast(scenario, *senders as usize, &outcome))
        }
        OracleTraffic::Opening { .. } => {
            let outcome = run(scenario, seed, &settings(scenario, start, None), sets)?;
            Ok(incast(scenario, 1, &outcome))
        }
        OracleTraffic::Stream(stream) => {
            let until = |end| run(scenario, seed, &settings(scenario, start, Some(end)), sets);
            let (early, whole) = (until(stream.late_from)?, until(stream.duration)?);
            Ok(carried(stream, &early, &whole))
        }
    }
}

/// Every setting of a scenario, with which `tailwater run` repeats it; `end` of flows without end, in ns.
pub fn settings(
    scenario: &OracleScenario,
    start: u64,
    end: Option<u64>,
) -> Vec<(&'static str, String)> {
    let rig = &scenario.rig;
    let ns = |count: u64| format!("{count}ns");
    let threshold = match scenario.threshold {
        0 => "off".to_owned(),
        bytes => format!("{bytes}B"),
    };
    let mut all = vec![
        ("link.rate", format!("{}bps", rig.access)),
        ("link.down_rate", format!("{}bps", rig.rate)),
        // A path consists of two links; the kernel adds its delay at one place.
        ("link.delay", ns(rig.delay / 2)),
        ("link.jitter", ns(rig.jitter)),
        ("switch.buffer", format!("{}B", scenario.buffer)),
        // The depth of the lab's token bucket, but for 6 bytes.
        ("switch.burst", "1pkt".to_owned()),
        ("switch.ecn_threshold", threshold),
        ("net.header_bytes", (PACKET - MSS).to_string()),
        ("tcp.profile", "linux".to_owned()),
        ("tcp.clock_granularity", "1ms".to_owned()),
        ("tcp.min_rto", format!("{}us", scenario.min_rto_us)),
        // The lab's default, unlike the kernel's.
        ("tcp.idle_restart", "false".to_owned()),
        // A netem with a rate takes its packets off the account of the socket (`sch_generic.h, skb_orphan_partial`).
        ("tcp.small_queues", "false".to_owned()),
        // The kernel is built without IPv6 and tunnels (`MAX_TCP_HEADER`).
        ("tcp.header_room", "256".to_owned()),
        ("workload.start", ns(start)),
        ("workload.request_size", "1B".to_owned()),
    ];
    for (key, text) in extras(scenario) {
        all.retain(|(own, _)| *own != key);
        all.push((key, text));
    }
    all.extend(match &scenario.kind {
        OracleTraffic::Stream(stream) => stream_settings(stream, start, end),
        kind => round_settings(kind),
    });
    all
}

/// Rounds of requests.
fn round_settings(kind: &OracleTraffic) -> Vec<(&'static str, String)> {
    let (connection, senders, size, rounds) = match kind {
        OracleTraffic::Incast {
            senders,
            size,
            rounds,
            ..
        } => ("persistent", *senders, *size, *rounds),
        OracleTraffic::Opening { size, rounds } => ("new", 1, *size, *rounds),
        OracleTraffic::Stream(_) => return Vec::new(),
    };
    let mut all = vec![
        ("workload.kind", "requests".to_owned()),
        ("workload.connection", connection.to_owned()),
        ("workload.senders", senders.to_string()),
        ("workload.rounds", rounds.to_string()),
        ("workload.size", format!("{size}B")),
    ];
    match kind {
        OracleTraffic::Incast { jitter, .. } => all.extend([
            ("workload.connections", senders.to_string()),
            ("workload.jitter", format!("{jitter}ns")),
        ]),
        // The lab waits for 0.3 to 0.4 s before it opens the next connection.
        _ => all.extend([
            ("workload.think", "300ms".to_owned()),
            ("workload.jitter", "100ms".to_owned()),
        ]),
    }
    all
}

/// Flows without end, which end at `end` or after their time.
fn stream_settings(
    stream: &StreamTraffic,
    start: u64,
    end: Option<u64>,
) -> Vec<(&'static str, String)> {
    let ns = |count: u64| format!("{count}ns");
    let interval = stream.starts.get(1).copied().unwrap_or(0);
    let mut all = vec![
        ("workload.kind", "incast".to_owned()),
        ("workload.senders", stream.starts.len().to_string()),
        ("workload.interval", ns(interval)),
        ("workload.size", "unlimited".to_owned()),
        ("bottleneck.loss", stream.loss.to_string()),
        ("bottleneck.reordering", stream.reordering.to_string()),
        // The kernel's link loses SYNs and ACKs of the handshake, too.
        (
            "bottleneck.loss_of_control",
            (stream.loss > 0.0).to_string(),
        ),
    ];
    if stream.late > 0 {
        all.push(("bottleneck.reordering_delay", ns(stream.late)));
    }
    if let (Some(write), Some(interval)) = (stream.write, stream.write_interval) {
        all.retain(|(key, _)| *key != "workload.size");
        all.extend([
            // More than fits into the time.
            ("workload.size", "10GB".to_owned()),
            ("workload.first_write", format!("{write}B")),
            ("workload.write", format!("{write}B")),
            ("workload.write_interval", ns(interval)),
        ]);
    }
    let end = start + end.unwrap_or(stream.duration);
    all.push(("run.duration", ns(end)));
    all
}

/// Time for connections to open before the first round, in ns: a little more than they need. The lab sends requests
/// when the last one is open, and an end that has received nothing for a timeout acknowledges the first segments one by
/// one.
pub(crate) const fn lead(scenario: &OracleScenario) -> u64 {
    LEAD + 12 * scenario.rig.delay
}

/// Settings for features of only some scenarios.
fn extras(scenario: &OracleScenario) -> Vec<(&'static str, String)> {
    let extras = &scenario.extras;
    let ns = |count: u64| format!("{count}ns");
    let us = |count: u64| format!("{count}us");
    let mut all: Vec<(&'static str, String)> = Vec::new();
    for (key, value) in &extras.sysctl {
        all.extend(setting_of(key, value).into_iter().flatten());
    }
    let some = [
        ("workload.think", extras.think.map(ns)),
        (
            "workload.request_size",
            extras.request.map(|bytes| format!("{bytes}B")),
        ),
        (
            "workload.request_writes",
            extras.pieces.map(|pieces| pieces.to_string()),
        ),
        (
            "tcp.nodelay",
            extras.nodelay.map(|nodelay| nodelay.to_string()),
        ),
        ("tcp.min_rto", extras.route_min_rto_us.map(us)),
        // A route of the senders does not affect the receiver.
        (
            "tcp.receiver_min_rto",
            extras
                .receiver_min_rto_us
                .or(extras.route_min_rto_us.map(|_| scenario.min_rto_us))
                .map(us),
        ),
        (
            "tcp.small_queues",
            extras.own_queue.then(|| true.to_string()),
        ),
        (
            "bottleneck.lose",
            extras.lose.map(|lose| lose.setting(&scenario.kind)),
        ),
    ];
    all.extend(
        some.into_iter()
            .filter_map(|(key, text)| Some((key, text?))),
    );
    all
}

/// The simulator's settings for this sysctl below `net.ipv4`; `None` if there are none.
pub fn setting_of(key: &str, value: &str) -> Option<Vec<(&'static str, String)>> {
    let is_on = (value != "0").to_string();
    let number = value.to_owned();
    Some(match key {
        "tcp_sack" => vec![("tcp.sack", is_on)],
        "tcp_dsack" => vec![("tcp.dsack", is_on)],
        "tcp_frto" => vec![("tcp.frto", is_on)],
        "tcp_slow_start_after_idle" => vec![("tcp.idle_restart", is_on)],
        "tcp_timestamps" if value == "0" => vec![
            ("tcp.timestamps", is_on),
            ("tcp.mss", (MSS + STAMPS).to_string()),
            ("net.header_bytes", (PACKET - MSS - STAMPS).to_string()),
        ],
        "tcp_window_scaling" if value == "0" => vec![("tcp.window_scale", "off".to_owned())],
        "tcp_early_retrans" if value == "0" => vec![("tcp.tail_loss_probe", "off".to_owned())],
        "tcp_wmem" => {
            let mut sizes = value.split_whitespace().skip(1);
            let (least, most) = (sizes.next()?, sizes.next()?);
            vec![("tcp.send_buffer", format!("{least}B-{most}B"))]
        }
        "tcp_rto_min_us" => vec![("tcp.min_rto", format!("{number}us"))],
        "tcp_comp_sack_delay_ns" => vec![("tcp.sack_delay", format!("{number}ns"))],
        "tcp_comp_sack_slack_ns" => vec![("tcp.sack_delay_slack", format!("{number}ns"))],
        "tcp_syn_retries" | "tcp_synack_retries" => vec![("tcp.syn_retries", number)],
        _ => return None,
    })
}

/// The scheme that corresponds to the kernel's congestion control.
pub fn scheme(scenario: &OracleScenario) -> &'static str {
    match scenario.cc {
        "reno" => "newreno",
        other => other,
    }
}

fn run(
    scenario: &OracleScenario,
    seed: u64,
    settings: &[(&str, String)],
    sets: &[String],
) -> Result<Outcome> {
    let mut all: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, &**text)).collect();
    for set in sets {
        let Some((key, text)) = set.split_once('=') else {
            bail!("expected KEY=VALUE; found {set:?}");
        };
        all.retain(|(own, _)| *own != key);
        all.push((key, text));
    }
    let point = scenario::point(scheme(scenario), seed, &all);
    let point = point.map_err(|problems| anyhow::anyhow!("{}: {problems}", scenario.name))?;
    sim::run::run(&point).map_err(|error| anyhow::anyhow!("{}: {error}", scenario.name))
}

fn incast(scenario: &OracleScenario, senders: usize, outcome: &Outcome) -> ScenarioRun {
    let round = |flows: &[FlowRecord]| {
        let begins = flows.iter().map(|flow| flow.start_us);
        let ends = flows.iter().filter_map(|flow| flow.completion_us.get());
        Round {
            us: ends.fold(0.0, f64::max) - begins.fold(f64::INFINITY, f64::min),
            timeouts: flows
                .iter()
                .map(|flow| u64::from(flow.timeouts + flow.syn_timeouts))
                .sum(),
        }
    };
    let rounds: Vec<Round> = outcome.flows.chunks(senders).map(round).collect();
    let mut answer = answer(outcome);
    // During pauses the kernel's queue is not sampled.
    if let (Some(think), true) = (scenario.extras.think, rounds.len() > 1) {
        let busy: f64 = rounds.iter().map(|round| round.us).sum();
        let idle = number(think) / 1e3 * number(rounds.len() as u64 - 1);
        answer.queue_mean *= (busy + idle) / busy;
    }
    ScenarioRun { rounds, ..answer }
}

fn carried(stream: &StreamTraffic, early: &Outcome, whole: &Outcome) -> ScenarioRun {
    let bytes = |outcome: &Outcome| -> Vec<u64> {
        outcome
            .flows
            .iter()
            .map(|flow| flow.received_bytes)
            .collect()
    };
    let seconds = |ns: u64| number(ns) / 1e9;
    let all = bytes(whole);
    let late = all.iter().zip(bytes(early)).map(|(all, early)| all - early);
    ScenarioRun {
        carried: Some(Carried {
            seconds: seconds(stream.duration),
            late_seconds: seconds(stream.duration - stream.late_from),
            late_bytes: late.collect(),
            bytes: all,
        }),
        ..answer(whole)
    }
}

fn answer(outcome: &Outcome) -> ScenarioRun {
    let metrics = &outcome.metrics;
    let flows = outcome.flows.iter();
    let of_handshakes: u64 = flows.map(|flow| u64::from(flow.syn_timeouts)).sum();
    let counters = [
        ("TCPTimeouts", metrics.timeouts + of_handshakes),
        ("TcpRetransSegs", metrics.retransmissions),
        ("TCPSlowStartRetrans", metrics.after_timeout),
    ];
    let counters = counters.map(|(name, count)| (name.to_owned(), count));
    ScenarioRun {
        queue_mean: metrics.queue_mean_bytes,
        drops: metrics.drops,
        marks: metrics.marks,
        counters: BTreeMap::from(counters),
        ..ScenarioRun::default()
    }
}

/// Timestamps and their padding (RFC 7323, appendix A).
const STAMPS: u64 = 12;
/// The same time where round trips are short.
const LEAD: u64 = 20_000_000;
/// In ns: a round number of ticks.
const TEN_MS: u64 = 10_000_000;
