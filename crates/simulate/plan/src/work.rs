//! Estimates how long simulations take, before they run.
//!
//! A step is any work of some tens to hundreds of nanoseconds: a packet that crosses a link, a sample of a series, a
//! timer of a switch. The number of steps follows from the settings. So a value that would make a simulation endless is
//! found before it starts, and the error names its key.

use base::cast::real;
use base::{Rate, Time};
use schemes::TickerOf;

use crate::keys::{
    FaultKind, Keys, TopologyKind, TraceInterval, TracedFlows, TracedPorts, TracedSeries,
};
use crate::keys::{Workload, WorkloadKind};
use crate::series;
use crate::workload::Layout;
use crate::{Group, PointSpec};

/// The steps of a simulation by their causes.
#[derive(Clone, Debug)]
pub struct Work {
    /// Steps that follow from the flows.
    once: Vec<Term>,
    /// Steps for every second of simulated time.
    per_second: Vec<Term>,
    /// Simulated seconds; an estimate for a simulation without a duration.
    seconds: f64,
    /// Bytes of series for every second of simulated time.
    series: Term,
}

/// A number of steps, and the setting to change for fewer.
#[derive(Clone, Debug)]
struct Term {
    steps: f64,
    what: &'static str,
    key: String,
}

impl Work {
    /// The steps of `point`, including its series if they are `recorded`. O(groups).
    pub fn of(point: &PointSpec, recorded: bool) -> Self {
        let layout = Layout::of(&point.keys, &point.groups);
        let groups = || {
            point.groups.iter().map(|group| {
                let flows = layout.expected_flows(group);
                (group, flows)
            })
        };
        let seconds = groups().map(|(group, flows)| seconds(point, group, flows));
        let seconds = seconds.fold(0.0, f64::max);
        let mut once = Vec::new();
        let mut per_second = Vec::new();
        for (group, flows) in groups() {
            once.extend(of_flows(&point.keys, group, flows, seconds));
            per_second.extend(timers(group, layout.ports(), flows));
        }
        let flows = groups().map(|(_, flows)| flows).sum();
        let series = samples(&point.keys, (layout.ports(), flows));
        if recorded {
            per_second.push(series.clone());
        }
        Self {
            once,
            per_second,
            seconds,
            series,
        }
    }

    /// All steps. NaN means endless.
    pub fn steps(&self) -> f64 {
        let once: f64 = self.once.iter().map(|term| term.steps).sum();
        once + self.per_second() * self.seconds
    }

    /// The setting to change for fewer samples of series.
    pub fn series_key(&self) -> &str {
        &self.series.key
    }

    /// Bytes of series that are recorded at every multiple of an interval. The bytes of other series are limited by the
    /// events.
    pub fn series_bytes(&self) -> f64 {
        self.series.steps * self.seconds * SAMPLE_BYTES
    }

    /// The time after which the periodic work has taken `steps`.
    pub fn horizon(&self, steps: u64) -> Time {
        let seconds = real(steps) / self.per_second();
        // Work that rounds to nothing has no horizon.
        if seconds.is_finite() && seconds < LONGEST {
            Time::ZERO + base::Span::from_secs_f64(seconds)
        } else {
            Time::NEVER
        }
    }

    fn per_second(&self) -> f64 {
        self.per_second.iter().map(|term| term.steps).sum()
    }

    /// The largest share of the steps, in words, and its setting.
    pub fn largest(&self) -> (&'static str, &str) {
        let timed = self.per_second.iter();
        let timed = timed.map(|term| (term.steps * self.seconds, term));
        let all = self.once.iter().map(|term| (term.steps, term)).chain(timed);
        let largest = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
        largest.map_or(("nothing", ""), |(_, term)| (term.what, &term.key))
    }
}

/// An estimate of simulated time: until the last flow has started and all data has been carried, with a few timeouts.
fn seconds(point: &PointSpec, group: &Group, flows: f64) -> f64 {
    if let Some(duration) = point.keys.run.duration.0 {
        return duration.as_secs();
    }
    let (keys, workload) = (&group.keys, &group.keys.workload);
    let mean = mean_size(keys);
    let turns = match workload.kind {
        WorkloadKind::Incast | WorkloadKind::Collective => workload.rounds.0,
        WorkloadKind::Requests => workload.requests.0.saturating_mul(workload.rounds.0),
        _ => 1,
    };
    let senders = f64::from(workload.senders.0.max(workload.connections.0));
    let starts = match workload.kind {
        WorkloadKind::Trace => workload.trace.content().span().1.as_secs(),
        WorkloadKind::Poisson => match workload.flows.0 {
            Some(_) => flows / crate::workload::arrivals_per_second(keys),
            None => workload.duration.as_secs(),
        },
        _ => workload.interval.as_secs() * senders,
    };
    let stops = workload.stop.0.map_or(0.0, |stop| {
        stop.as_secs() + workload.stop_interval.as_secs() * senders
    });
    let writes = workload.first_write.0.map_or(0.0, |_| {
        writes(keys, mean) * workload.write_interval.as_secs()
    });
    let delay = workload.delay.0.map_or(0.0, |law| law.most().as_secs());
    let receivers = match workload.kind {
        WorkloadKind::Incast | WorkloadKind::Requests => f64::from(workload.receivers.0),
        WorkloadKind::Trace => real(workload.trace.content().receivers() as u64),
        WorkloadKind::Collective => f64::from(workload.ranks.0),
        _ => 1.0,
    };
    let segments = segments(keys, mean) * flows / receivers;
    workload.start.as_secs()
        + (starts + stops)
        + workload.epoch_interval.as_secs() * f64::from(workload.epochs.0 - 1)
        + workload.think.as_secs() * f64::from(turns - 1)
        + (delay + workload.jitter.as_secs()) * f64::from(turns)
        + writes
        + segments * slowest_packet(&point.keys)
        + keys.tcp.initial_rto.as_secs()
        + keys.tcp.syn_rto.as_secs()
}

/// Packet-hops, and the work of planning and running each flow.
fn of_flows(shared: &Keys, group: &Group, flows: f64, seconds: f64) -> Vec<Term> {
    let (keys, workload) = (&group.keys, &group.keys.workload);
    let hops = 2.0 * hops(shared);
    // Links cannot carry more than their rate allows in this time.
    let carried = |receivers: f64| {
        let packets = receivers * seconds / fastest_packet(shared);
        packets.min(seconds / bottleneck_packet(shared)) * hops
    };
    let receivers = match workload.kind {
        WorkloadKind::Incast | WorkloadKind::Requests => f64::from(workload.receivers.0),
        _ => flows.max(1.0),
    };
    let term = |steps, what, key: &str| Term {
        steps,
        what,
        key: if group.name.is_empty() {
            key.to_owned()
        } else {
            format!("group.{}.{key}", group.name)
        },
    };
    let (number, many) = most_flows(workload);
    let mut terms = vec![term(flows * PER_FLOW, "starting flows", number)];
    if workload.size.is_unlimited() && workload.kind != WorkloadKind::Trace {
        let key = match shared.run.duration.0 {
            Some(_) => {
                return [
                    terms,
                    vec![Term {
                        steps: carried(receivers),
                        what: "packets of flows without end",
                        key: "run.duration".to_owned(),
                    }],
                ]
                .concat();
            }
            None => "workload.stop",
        };
        terms.push(term(
            carried(receivers),
            "packets of flows without end",
            key,
        ));
        return terms;
    }
    let mean = mean_size(keys);
    let segments = segments(keys, mean);
    let mut steps = segments * flows * hops;
    if shared.run.duration.0.is_some() {
        steps = steps.min(carried(receivers));
    }
    let key = if segments > many {
        "workload.size"
    } else {
        number
    };
    terms.push(term(steps, "packets that cross links", key));
    if workload.first_write.0.is_some() {
        let steps = writes(keys, mean) * flows;
        terms.push(term(steps, "writes of applications", "workload.write"));
    }
    terms
}

/// The setting that makes the number of flows large, and this number.
fn most_flows(workload: &Workload) -> (&'static str, f64) {
    let numbers: &[(&'static str, u32)] = match workload.kind {
        WorkloadKind::Incast => &[
            ("workload.senders", workload.senders.0),
            ("workload.receivers", workload.receivers.0),
            ("workload.rounds", workload.rounds.0),
            ("workload.epochs", workload.epochs.0),
        ],
        WorkloadKind::Requests => &[
            ("workload.connections", workload.connections.0),
            ("workload.requests", workload.requests.0),
            ("workload.rounds", workload.rounds.0),
            ("workload.epochs", workload.epochs.0),
        ],
        WorkloadKind::Pairs => &[
            ("workload.senders", workload.senders.0),
            ("workload.epochs", workload.epochs.0),
        ],
        WorkloadKind::Burst => &[("workload.epochs", workload.epochs.0)],
        WorkloadKind::Collective => &[
            ("workload.ranks", workload.ranks.0),
            ("workload.rounds", workload.rounds.0),
            ("workload.epochs", workload.epochs.0),
        ],
        WorkloadKind::Trace => &[("workload.trace", 1)],
        WorkloadKind::Poisson => match workload.flows.0 {
            Some(flows) => &[("workload.flows", flows.0)],
            None => &[("workload.duration", 1)],
        },
    };
    let most = numbers.iter().max_by_key(|(_, number)| *number);
    let (key, number) = most.expect("every kind has a number");
    (key, f64::from(*number))
}

/// The steps per second for timers of a group's schemes.
fn timers(group: &Group, ports: u64, flows: f64) -> Vec<Term> {
    let timers = group.roles().timers.into_iter();
    let term = |timer: schemes::Ticker| Term {
        steps: match timer.each {
            TickerOf::Port => real(ports),
            TickerOf::Flow => flows,
        } / timer.every.as_secs(),
        what: "timers",
        key: timer.key.to_owned(),
    };
    timers.map(term).collect()
}

/// Samples per second that are recorded at fixed intervals.
fn samples(keys: &Keys, (ports, flows): (u64, f64)) -> Term {
    let trace = &keys.trace;
    let names = match &trace.series {
        TracedSeries::Named(names) => names.as_slice(),
        TracedSeries::Auto(_) | TracedSeries::Off => &[],
    };
    let ports = match trace.ports {
        TracedPorts::Bottleneck => 1.0,
        TracedPorts::Switches | TracedPorts::All => real(ports),
    };
    let flows = match &trace.flows {
        TracedFlows::Auto => flows.min(200.0),
        TracedFlows::All => flows,
        TracedFlows::Numbers(numbers) => flows.min(real(numbers.len() as u64)),
    };
    let tracks = |name: &&&'static str| match **name {
        series::QUEUE | series::MARKS | series::DROPS | series::PAUSED => ports,
        series::CWND | series::RWND => flows,
        series::EVENTS | series::PERFETTO | series::THROUGHPUT | series::CARRIED => 0.0,
        // A role may report quantities of flows, hosts or ports.
        _ => ports + flows,
    };
    let windows = |name: &&&'static str| match **name {
        series::THROUGHPUT => flows,
        series::CARRIED => ports,
        _ => 0.0,
    };
    let of = |tracks: &dyn Fn(&&&'static str) -> f64| {
        names.iter().map(|name| tracks(&name)).sum::<f64>()
    };
    let windowed = of(&windows) / trace.window.as_secs();
    let (steps, key) = match trace.interval {
        TraceInterval::Every(span) if of(&tracks) > 0.0 => {
            let sampled = of(&tracks) / span.as_secs();
            let key = if sampled < windowed {
                "trace.window"
            } else {
                "trace.interval"
            };
            (sampled + windowed, key)
        }
        TraceInterval::Auto => (0.0, "trace.interval"),
        TraceInterval::Change | TraceInterval::Every(_) => (windowed, "trace.window"),
    };
    Term {
        // No tracks divided by no time are no steps.
        steps: if steps.is_nan() { 0.0 } else { steps },
        what: "samples of series",
        key: key.to_owned(),
    }
}

fn mean_size(keys: &Keys) -> f64 {
    if keys.workload.kind == WorkloadKind::Trace {
        return keys.workload.trace.content().mean_size();
    }
    if keys.workload.kind == WorkloadKind::Collective {
        let (messages, bytes) = keys.workload.shape(keys.tcp.mss.0.into()).extent();
        return bytes / messages;
    }
    let mean = keys.workload.size.mean(keys.tcp.mss.0.into());
    mean.unwrap_or(0.0)
}

/// Segments of a flow, including those without data.
fn segments(keys: &Keys, mean: f64) -> f64 {
    (mean / f64::from(keys.tcp.mss.0)).ceil() + HANDSHAKE
}

fn writes(keys: &Keys, mean: f64) -> f64 {
    let write = keys.workload.write.in_bytes(keys.tcp.mss.0.into());
    mean / real(write.max(1))
}

/// Links on a path.
fn hops(keys: &Keys) -> f64 {
    match keys.topology.kind {
        TopologyKind::Star => 2.0,
        TopologyKind::Dumbbell => 3.0,
        TopologyKind::Chain => f64::from(keys.topology.switches.0) + 1.0,
        TopologyKind::Tree | TopologyKind::LeafSpine => 4.0,
        TopologyKind::FatTree | TopologyKind::Graph => 6.0,
    }
}

/// Seconds that a full packet takes on the slowest and on the fastest link of hosts.
fn slowest_packet(keys: &Keys) -> f64 {
    let between = keys.bottleneck.rate.0.unwrap_or(keys.link.rate);
    let between = match keys.topology.kind {
        TopologyKind::Star => keys.link.rate,
        _ => between,
    };
    let exceptions = keys.topology.exceptions.0.iter();
    let own = exceptions
        .flat_map(|one| [one.own.rate.0, one.own.down_rate.0])
        .flatten();
    let faults = keys.topology.faults.0.iter();
    let own = own.chain(faults.filter_map(|fault| match fault.kind {
        FaultKind::Rate(rate, _) => Some(rate),
        _ => None,
    }));
    let usual = keys.link.rate.min(keys.link.to_hosts()).min(between);
    let slowest = own.fold(usual, Rate::min);
    slowest.serialisation(keys.packet_bytes()).as_secs()
}

fn fastest_packet(keys: &Keys) -> f64 {
    let fastest = keys.link.rate.max(keys.link.to_hosts());
    fastest.serialisation(keys.packet_bytes()).as_secs()
}

/// Seconds that a full packet takes on the link that all flows share; 0 if there is none.
fn bottleneck_packet(keys: &Keys) -> f64 {
    match keys.topology.kind {
        TopologyKind::Dumbbell => {
            let rate = keys.bottleneck.rate.0.unwrap_or(keys.link.rate);
            rate.serialisation(keys.packet_bytes()).as_secs()
        }
        _ => 0.0,
    }
}

/// SYN, SYN-ACK and the FINs.
const HANDSHAKE: f64 = 4.0;
/// Steps for planning a flow, making its endpoints, and its records.
const PER_FLOW: f64 = 20.0;
/// A sample in a file: its time, its subject, its value, its point.
const SAMPLE_BYTES: f64 = 24.0;
/// Seconds beyond the range of the simulator's time.
const LONGEST: f64 = 4e6;
