//! The simulator on a scenario of the kernel.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use engine::random::Stream as Draws;
use scenario::PointSpec;
use sim::metrics::{FlowRecord, Outcome};

use crate::answer::{Answer, Carried, Round};
use crate::list::{Kind, PACKET, Scenario, Stream, number};

/// Simulates a scenario with `seed`, which stands for a boot, and `sets` on top, as `KEY=VALUE`.
pub fn simulate(scenario: &Scenario, seed: u64, sets: &[String]) -> Result<Answer> {
    // Boots meet the kernel's ticks at any phase.
    let phase = Draws::new(seed, "phase", 0).below(TEN_MS);
    let start = LEAD + phase;
    match &scenario.kind {
        Kind::Incast { senders, .. } => {
            let outcome = run(scenario, seed, &settings(scenario, start, None), sets)?;
            Ok(incast(*senders as usize, &outcome))
        }
        Kind::Stream(stream) => {
            let until = |end| run(scenario, seed, &settings(scenario, start, Some(end)), sets);
            let (early, whole) = (until(stream.late_from)?, until(stream.duration)?);
            Ok(carried(stream, &early, &whole))
        }
    }
}

/// Every setting of a scenario, with which `tailwater run` repeats it; `end` of flows without end, in ns.
pub fn settings(scenario: &Scenario, start: u64, end: Option<u64>) -> Vec<(&'static str, String)> {
    let rig = &scenario.rig;
    let ns = |count: u64| format!("{count}ns");
    let threshold = match scenario.threshold {
        0 => "off".to_owned(),
        bytes => format!("{bytes}B"),
    };
    let mut all = vec![
        ("link.rate", format!("{}bps", rig.access)),
        ("link.down_rate", format!("{}bps", rig.rate)),
        ("link.delay", ns(link_delay(scenario))),
        ("link.jitter", ns(rig.jitter)),
        ("switch.buffer", format!("{}B", scenario.buffer)),
        ("switch.ecn_threshold", threshold),
        ("net.header_bytes", (PACKET - MSS).to_string()),
        ("tcp.profile", "linux".to_owned()),
        ("tcp.clock_granularity", "1ms".to_owned()),
        ("tcp.min_rto", format!("{}us", scenario.min_rto_us)),
        ("tcp.idle_restart", "false".to_owned()),
        // A netem with a rate takes what it holds from the account of the socket (`sch_generic.h, skb_orphan_partial`).
        ("tcp.small_queues", "false".to_owned()),
        ("workload.start", ns(start)),
    ];
    let stream = match &scenario.kind {
        Kind::Incast {
            senders,
            size,
            rounds,
            jitter,
        } => {
            all.extend([
                ("workload.kind", "requests".to_owned()),
                ("workload.connection", "persistent".to_owned()),
                ("workload.senders", senders.to_string()),
                ("workload.connections", senders.to_string()),
                ("workload.rounds", rounds.to_string()),
                ("workload.jitter", ns(*jitter)),
                ("workload.request_size", "1B".to_owned()),
                ("workload.size", format!("{size}B")),
            ]);
            return all;
        }
        Kind::Stream(stream) => stream,
    };
    let interval = stream.starts.get(1).copied().unwrap_or(0);
    all.extend([
        ("workload.kind", "incast".to_owned()),
        ("workload.senders", stream.starts.len().to_string()),
        ("workload.interval", ns(interval)),
        ("workload.size", "unlimited".to_owned()),
        ("bottleneck.loss", stream.loss.to_string()),
        ("bottleneck.reordering", stream.reordering.to_string()),
    ]);
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

/// Delay of a link. Two make a way, and the kernel has its delay in one. The kernel's port hands a packet on when ours
/// begins to send it, so that its round trip, four links of ours, is shorter by the time of a packet. What waits there
/// is what waits here: the packet that is being sent is on neither side part of the queue.
fn link_delay(scenario: &Scenario) -> u64 {
    scenario.rig.delay / 2 - PACKET * 8 * 1_000_000_000 / scenario.rig.rate / 4
}

/// The scheme with the name that this project has for the kernel's congestion control.
pub fn scheme(scenario: &Scenario) -> &'static str {
    match scenario.cc {
        "reno" => "newreno",
        other => other,
    }
}

fn run(
    scenario: &Scenario,
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
    let point = PointSpec::of(scheme(scenario), seed, &all);
    let point = point.map_err(|problems| anyhow::anyhow!("{}: {problems}", scenario.name))?;
    sim::run::run(&point).map_err(|error| anyhow::anyhow!("{}: {error}", scenario.name))
}

fn incast(senders: usize, outcome: &Outcome) -> Answer {
    let round = |flows: &[FlowRecord]| {
        let begins = flows.iter().map(|flow| flow.start_us);
        let ends = flows.iter().filter_map(|flow| flow.completion_us.get());
        Round {
            us: ends.fold(0.0, f64::max) - begins.fold(f64::INFINITY, f64::min),
            timeouts: flows.iter().map(|flow| u64::from(flow.timeouts)).sum(),
        }
    };
    let rounds: Vec<Round> = outcome.flows.chunks(senders).map(round).collect();
    Answer {
        rounds,
        ..answer(outcome)
    }
}

fn carried(stream: &Stream, early: &Outcome, whole: &Outcome) -> Answer {
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
    Answer {
        carried: Some(Carried {
            seconds: seconds(stream.duration),
            late_seconds: seconds(stream.duration - stream.late_from),
            late_bytes: late.collect(),
            bytes: all,
        }),
        ..answer(whole)
    }
}

fn answer(outcome: &Outcome) -> Answer {
    let metrics = &outcome.metrics;
    let counters = [
        ("TCPTimeouts", metrics.timeouts),
        ("TcpRetransSegs", metrics.retransmissions),
        ("TCPSlowStartRetrans", metrics.after_timeout),
    ];
    let counters = counters.map(|(name, count)| (name.to_owned(), count));
    Answer {
        queue_mean: metrics.queue_mean_bytes,
        drops: metrics.drops,
        marks: metrics.marks,
        counters: BTreeMap::from(counters),
        ..Answer::default()
    }
}

/// Payload of a full packet with timestamps.
const MSS: u64 = 1448;
/// Time for connections to open before the first round, in ns.
pub(crate) const LEAD: u64 = 300_000_000;
/// In ns: a round number of ticks.
const TEN_MS: u64 = 10_000_000;
