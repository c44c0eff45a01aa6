//! The metrics of a run of the network: those of the simulator that can be measured.

use std::io;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use machine::clock::micros;
use machine::priority::Priority;
use protocol::{FlowRow, LinuxMetrics, LossKind};
use sim::metrics::{FlowRecord, Metrics};

use crate::capture::{Captured, Tap};
use crate::counters::{self, Cores, Sample, TcpCounters};
use crate::lan::{Lan, Running};
use crate::losses::{self, LossEvent};
use crate::ports::{PortReport, Sites, loaded};
use crate::series::Series;
use crate::testbed::Testbed;
use crate::traffic::{self, Counts, Traffic, Work};
use crate::validity::Facts;
use base::cast::{count, real};

/// Rows of flows with their times alone, if these are known.
pub(crate) fn with_alone(
    rows: impl Iterator<Item = FlowRow>,
    alone: &[Option<f64>],
) -> Vec<FlowRow> {
    let alone = alone.iter().copied().chain(iter::repeat(None));
    rows.zip(alone)
        .map(|(row, alone_us)| FlowRow { alone_us, ..row })
        .collect()
}

/// The row of a simulated flow that starts `lead` us earlier than in the simulation.
pub(crate) fn simulated_row(flow: &FlowRecord, lead: f64) -> FlowRow {
    FlowRow {
        start_us: Some(flow.start_us - lead),
        completion_us: flow.completion_us.get(),
        received: flow.received_bytes,
        packets: Some(flow.packets),
        retransmissions: Some(flow.retransmissions),
        timeouts: Some(flow.timeouts),
        syn_timeouts: Some(flow.syn_timeouts),
        alone_us: None,
    }
}

/// Counts of all senders.
struct Totals {
    /// Segments with data, including retransmissions.
    packets: u64,
    retransmissions: u64,
    /// Timers that expired, without those of SYNs.
    timeouts: u64,
    syn_timeouts: u64,
}

impl Totals {
    /// The sums of what sockets count. A counter that this kernel's sockets lack is that of the namespaces, which also
    /// counts FINs, and the timers of receivers whose FIN was answered by an ACK that a full queue dropped. No simulated
    /// connection closes.
    fn of(flows: &[traffic::Sent], all: &TcpCounters) -> Self {
        let counts = flows.iter().map(|flow| flow.counts);
        let sockets = counts.fold(Counts::NONE, Counts::and);
        let or = |own: Option<u32>, all: u64| own.map_or(all, u64::from);
        let timers = all.timeouts.saturating_sub(all.syn_retransmissions);
        let segments = all.data_segments + all.retransmissions;
        Self {
            packets: or(sockets.packets, segments),
            retransmissions: or(sockets.retransmissions, all.retransmissions),
            timeouts: or(sockets.timeouts, timers),
            syn_timeouts: or(sockets.syn_timeouts, all.syn_retransmissions),
        }
    }
}

/// One run with all its measurements.
pub(crate) struct Run {
    pub(crate) traffic: Traffic,
    tcp: TcpCounters,
    drops: u64,
    samples: Vec<Sample>,
    /// When senders noticed losses, if this was wanted and observed.
    losses: Option<Vec<LossEvent>>,
    /// Counts of the programs; empty without programs.
    pub(crate) told: PortReport,
    pub(crate) captured: Option<Captured>,
    pub(crate) busy_share: f64,
    /// The rate of the watched port.
    rate_bps: u64,
    /// Whether that is the port whose queue the metrics describe.
    is_bottleneck: bool,
    packet: u32,
}

/// Sends `work` through the network and samples its busiest port meanwhile. Ports only have bands if packets of `work`
/// have priorities, because other schemes share the network.
pub(crate) fn run(network: Running<'_>, work: &Work<'_>) -> io::Result<Run> {
    let Running { bed, lan, speed } = network;
    let sites = Sites::of(bed, speed, work.connections);
    let send = || through(network, &sites, work);
    if work.tos.is_empty() {
        send()
    } else {
        lan.in_bands(bed, speed, send)
    }
}

/// Sends `work` through the network as it is.
fn through(network: Running<'_>, sites: &Sites, work: &Work<'_>) -> io::Result<Run> {
    let Running { bed, lan, speed } = network;
    let (tcp, drops) = (TcpCounters::read(lan)?, counters::drops(lan)?);
    let send = || losses::during(work.over_time, || observed(bed, lan, work));
    let ((seen, losses), told) = loaded::during(lan, work.laws, sites, send)?;
    Ok(Run {
        traffic: seen.traffic,
        tcp: TcpCounters::read(lan)?.since(&tcp),
        drops: counters::drops(lan)? - drops,
        samples: seen.samples,
        losses,
        told,
        captured: seen.captured,
        busy_share: seen.busy_share,
        rate_bps: speed.of(bed.watched_rate().as_bps()),
        is_bottleneck: bed.watched == bed.bottleneck,
        packet: bed.packet_bytes(),
    })
}

/// Samples taken during the run.
struct ObservedRun {
    traffic: Traffic,
    samples: Vec<Sample>,
    captured: Option<Captured>,
    busy_share: f64,
}

/// Sends everything while all observers run.
fn observed(bed: &Testbed, lan: &Lan, work: &Work<'_>) -> io::Result<ObservedRun> {
    let index = lan.interfaces[bed.watched.0 as usize];
    let tap = work
        .capture
        .map(|file| Tap::open(bed, lan, file))
        .transpose()?;
    let stop = AtomicBool::new(false);
    let _first = Priority::raised();
    thread::scope(|scope| {
        let watch = || {
            lan.owner(bed.watched)
                .within(|| counters::watch(index, &stop))
        };
        let watching = scope.spawn(watch);
        let capturing = tap.map(|tap| scope.spawn(|| tap.run(&stop)));
        let cores = Cores::read();
        let traffic = traffic::send(bed, lan, work);
        let busy = Cores::read().and_then(|now| Ok(now.busy_since(&cores?)));
        stop.store(true, Ordering::Relaxed);
        let samples = watching.join().expect("looking at a queue does not panic");
        let captured = capturing.map(|tap| tap.join().expect("a capture does not panic"));
        Ok(ObservedRun {
            traffic: traffic?,
            samples: samples?,
            captured: captured.transpose()?,
            busy_share: busy?,
        })
    })
}

impl Run {
    /// The [`sim::metrics::Metrics`] that a kernel can report.
    pub(crate) fn metrics(&self) -> LinuxMetrics {
        let flows = &self.traffic.flows;
        let fct = self.completions_us();
        let (first, last) = self.span();
        let bytes: u64 = flows.iter().map(|flow| flow.received).sum();
        let took = last.saturating_sub(first).as_secs_f64();
        let queue = self.queue();
        let sent = Totals::of(flows, &self.tcp);
        let completed = fct.len();
        let failed = flows.iter().filter(|flow| flow.failed).count();
        // A flow without end is not expected to complete.
        let endless = flows
            .iter()
            .filter(|flow| flow.is_endless() && !flow.failed);
        let ends = flows.len() - endless.count();
        let [mean, p50, p95, p99, max] = statistics(&fct);
        LinuxMetrics {
            goodput_bps: number(real(bytes) * 8.0 / took),
            timeouts: Some(sent.timeouts),
            tail_timeouts: None,
            syn_timeouts: Some(sent.syn_timeouts),
            timeout_rate: number(real(sent.timeouts) / real(sent.packets)),
            retransmissions: Some(sent.retransmissions),
            after_timeout: None,
            packets: Some(sent.packets),
            fairness: self.fairness(),
            drops: Some(self.drops),
            marks: self.told.counts.get("marked").copied(),
            threshold_crossings: None,
            queue_mean_bytes: queue.mean(),
            queue_p5_bytes: queue.share(0.05),
            queue_p50_bytes: queue.share(0.5),
            queue_p95_bytes: queue.share(0.95),
            queue_max_bytes: queue.share(1.0),
            flows_completed: completed as u64,
            flows_failed: failed as u64,
            flows_unfinished: (ends - completed - failed) as u64,
            fct_mean_us: mean,
            fct_p50_us: p50,
            fct_p95_us: p95,
            fct_p99_us: p99,
            fct_max_us: max,
        }
    }

    /// Completion times of all completed flows, the shortest first.
    pub(crate) fn completions_us(&self) -> Vec<f64> {
        let flows = self.traffic.flows.iter();
        let mut times: Vec<f64> = flows.filter_map(traffic::Sent::completed_us).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// The rows of all flows, in the order of the plan.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowRow> {
        let flows = self.traffic.flows.iter();
        flows.map(|flow| FlowRow {
            start_us: flow.start.map(micros),
            completion_us: flow.completion.map(micros),
            received: flow.received,
            packets: flow.counts.packets,
            retransmissions: flow.counts.retransmissions,
            timeouts: flow.counts.timeouts,
            syn_timeouts: flow.counts.syn_timeouts,
            alone_us: None,
        })
    }

    /// The queue over time, the bytes read, and when senders noticed losses.
    pub(crate) fn series(&self) -> Series {
        let mut queue: Vec<(f64, u64)> = Vec::new();
        for sample in self.samples.iter().filter(|_| self.is_bottleneck) {
            let at = sample.at.saturating_duration_since(self.traffic.zero);
            let level = u64::from(sample.queue.backlog);
            if queue.last().map(|(_, level)| *level) != Some(level) {
                queue.push((micros(at), level));
            }
        }
        Series {
            queue,
            arrivals: self.traffic.arrivals.clone().into_rows(),
            losses: self.losses.as_ref().map(|heard| {
                let known = heard.iter().filter_map(|heard| self.loss(heard));
                known.collect()
            }),
        }
    }

    /// A loss with its time and connection; `None` for another process's connection.
    fn loss(&self, heard: &LossEvent) -> Option<(f64, u32, LossKind)> {
        let by_ends = |ends| self.traffic.by_ends.get(&ends).copied();
        let (near, far) = heard.ends;
        // Timers at a receiver are for its FIN.
        let connection = by_ends((near, far)).or_else(|| by_ends((far, near)))?;
        let at = heard.at.checked_duration_since(self.traffic.zero)?;
        let loss = if heard.by_timer {
            LossKind::Timeout
        } else {
            LossKind::FastRetransmit
        };
        Some((micros(at), u32::try_from(connection).ok()?, loss))
    }

    /// The facts that decide whether the run is valid.
    pub(crate) fn facts(&self) -> Facts {
        let flows = self.traffic.flows.iter();
        let started = flows.filter(|flow| flow.start.is_some());
        let (mut late, mut sum) = (Vec::new(), 0.0);
        for flow in started {
            sum += micros(flow.late);
            late.push(micros(flow.late + flow.waited));
        }
        late.sort_by(f64::total_cmp);
        let fct = self.completions_us();
        Facts {
            start_lateness_p99_us: rank(&late, 99),
            start_lateness_mean_us: number(sum / count(late.len())),
            fct_p50_us: rank(&fct, 50),
            busy_share: self.busy_share,
            rate_share: self.rate_share(),
            reordered_share: real(self.tcp.reordered) / real(self.tcp.segments.max(1)),
            corrupted: self.traffic.corrupted,
            slots: self.told.slots,
            strange: self.traffic.strange.iter().cloned().collect(),
        }
    }

    /// Tail-loss probes that were sent; the simulator has none.
    pub(crate) fn loss_probes(&self) -> u64 {
        self.tcp.loss_probes
    }

    /// From the first start to the last completion, or to the end of the run if flows are unfinished.
    fn span(&self) -> (Duration, Duration) {
        let flows = self.traffic.flows.iter();
        let first = flows.clone().filter_map(|flow| flow.start).min();
        let goes_on = |flow: &traffic::Sent| {
            flow.start.is_some() && flow.completion.is_none() && !flow.failed
        };
        let last = if flows.clone().any(goes_on) {
            Some(self.traffic.ended)
        } else {
            flows.filter_map(|flow| flow.completion).max()
        };
        let first = first.unwrap_or(Duration::ZERO);
        (first, last.unwrap_or(first))
    }

    /// The queue over time. A packet in service is not part of it: it has left, and the next packet waits for its
    /// tokens.
    fn queue(&self) -> Weighted {
        let (first, last) = self.span();
        let at = |sample: &Sample| sample.at.saturating_duration_since(self.traffic.zero);
        let within =
            |sample: &&Sample| self.is_bottleneck && at(sample) >= first && at(sample) <= last;
        let samples: Vec<_> = self.samples.iter().filter(within).collect();
        let weighted = samples.windows(2).map(|pair| {
            let time = pair[1].at.saturating_duration_since(pair[0].at);
            (pair[0].queue.backlog, time.as_secs_f64())
        });
        let mut weighted: Vec<_> = weighted.collect();
        weighted.sort_by_key(|(length, _)| *length);
        Weighted(weighted)
    }

    /// The bytes that left the queue while packets waited, as a share of the bytes that the rate allows.
    pub(crate) fn rate_share(&self) -> Option<f64> {
        let (mut bytes, mut time) = (0, Duration::ZERO);
        // At least two packets, because a single one may need fewer tokens than a full packet.
        let waits = |sample: &Sample| sample.queue.backlog >= 2 * self.packet;
        // Only runs of consecutive samples count; the queue may have been empty for a moment at their ends. Longer runs
        // lose less.
        for run in self.samples.chunk_by(|a, b| waits(a) && waits(b)) {
            let (first, last) = (run[0], run[run.len() - 1]);
            if run.len() > 1 {
                bytes += last.queue.bytes - first.queue.bytes;
                time += last.at.saturating_duration_since(first.at);
            }
        }
        let could = time.as_secs_f64() * real(self.rate_bps) / 8.0;
        (time >= LEAST).then(|| real(bytes) / could)
    }

    /// Jain's index of the flows' throughput.
    fn fairness(&self) -> Option<f64> {
        let (_, last) = self.span();
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for flow in &self.traffic.flows {
            let Some(start) = flow.start else { continue };
            let end = flow.completion.unwrap_or(last);
            let took = end.saturating_sub(start).as_secs_f64();
            if took > 0.0 {
                let throughput = real(flow.received) / took;
                count += 1.0;
                sum += throughput;
                squares += throughput * throughput;
            }
        }
        number(sum * sum / (count * squares))
    }
}

impl traffic::Sent {
    /// The time from its start to its last byte.
    fn completed_us(&self) -> Option<f64> {
        let completion = self.completion.filter(|_| !self.is_endless())?;
        Some(micros(completion.saturating_sub(self.start?)))
    }
}

/// Lengths of a queue and how long each lasted, the shortest first.
struct Weighted(Vec<(u32, f64)>);

impl Weighted {
    fn mean(&self) -> Option<f64> {
        let time: f64 = self.0.iter().map(|(_, time)| time).sum();
        let sum: f64 = self
            .0
            .iter()
            .map(|(length, time)| f64::from(*length) * time)
            .sum();
        number(sum / time)
    }

    /// The length that the queue did not exceed for this share of the time.
    fn share(&self, share: f64) -> Option<u64> {
        let all: f64 = self.0.iter().map(|(_, time)| time).sum();
        let mut rest = all * share;
        let reached = self.0.iter().find(|(_, time)| {
            rest -= time;
            rest <= 0.0
        });
        reached
            .or(self.0.last())
            .map(|(length, _)| u64::from(*length))
    }
}

/// The mean, the 50th, 95th and 99th percentile, and the maximum of sorted values.
pub(crate) fn statistics(sorted: &[f64]) -> [Option<f64>; 5] {
    let mean = sorted.iter().sum::<f64>() / count(sorted.len());
    let [p50, p95, p99, max] = [50, 95, 99, 100].map(|percent| rank(sorted, percent));
    [number(mean), p50, p95, p99, max]
}

/// Sets the completion-time metrics of the simulator from these sorted times.
pub(crate) fn set_completions(metrics: &mut Metrics, sorted_us: &[f64]) {
    let statistics = statistics(sorted_us).map(|value| value.unwrap_or(f64::NAN));
    [
        metrics.fct_mean_us,
        metrics.fct_p50_us,
        metrics.fct_p95_us,
        metrics.fct_p99_us,
        metrics.fct_max_us,
    ] = statistics;
}

/// The least value that at least `percent` of the sorted values do not exceed.
fn rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

fn number(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// For a shorter time, a rate depends on single packets.
const LEAST: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::net::SocketAddr;

    use super::*;
    use crate::ports;
    use crate::series::Arrivals;
    use crate::traffic::Sent;
    use LossKind::{FastRetransmit as Fast, Timeout};
    use machine::clock;
    use machine::netlink::Counters;

    #[test]
    fn numbers_follow_from_flows_and_samples() {
        let zero = clock::now();
        let ms = Duration::from_millis;
        let flow = |start, completion| Sent {
            start: Some(ms(start)),
            completion: Some(ms(completion)),
            size: 1000,
            received: 1000,
            late: ms(1),
            waited: ms(2),
            ..Sent::default()
        };
        let sample = |at, backlog, bytes| Sample {
            at: zero + ms(at),
            queue: Counters {
                bytes,
                backlog,
                drops: 0,
            },
        };
        let address = |port| SocketAddr::from(([10, 88, 0, 1], port));
        let (sender, other, receiver) = (address(7001), address(7002), address(7000));
        // One port of a sender may serve connections to several receivers.
        let second = SocketAddr::from(([10, 88, 0, 2], 7000));
        let heard = |at, ends, by_timer| LossEvent {
            at: zero + ms(at),
            ends,
            by_timer,
        };
        let mut arrivals = Arrivals::default();
        arrivals.add(4, 15_000.0, 1448);
        let run = Run {
            traffic: Traffic {
                flows: vec![flow(10, 20), flow(10, 30)],
                zero,
                ended: ms(30),
                corrupted: 0,
                strange: BTreeSet::new(),
                arrivals,
                by_ends: BTreeMap::from([((sender, receiver), 4), ((sender, second), 5)]),
            },
            losses: Some(vec![
                heard(20, (sender, receiver), true),
                heard(21, (other, receiver), false),
                heard(22, (sender, second), false),
                heard(29, (receiver, sender), true),
            ]),
            tcp: TcpCounters::default(),
            drops: 3,
            // 100 bytes a millisecond while two packets wait; 90 of them leave.
            samples: vec![
                sample(5, 0, 0),
                sample(10, 300, 1000),
                sample(20, 300, 1900),
                sample(30, 100, 2800),
            ],
            told: PortReport {
                counts: ports::FateCounts::from([("marked", 4)]),
                slots: None,
            },
            captured: None,
            busy_share: 0.5,
            rate_bps: 800_000,
            is_bottleneck: true,
            packet: 100,
        };
        let facts = run.facts();
        assert_eq!(facts.start_lateness_p99_us, Some(3_000.0), "with the write");
        assert_eq!(facts.start_lateness_mean_us, Some(1_000.0));
        assert!((facts.late_share().unwrap() - 0.3).abs() < 1e-9);
        let metrics = run.metrics();
        assert_eq!(metrics.fct_p50_us, Some(10_000.0));
        assert_eq!(metrics.fct_max_us, Some(20_000.0));
        assert_eq!(metrics.goodput_bps, Some(800_000.0));
        assert_eq!(metrics.queue_mean_bytes, Some(300.0));
        let series = run.series();
        let queue = [(5_000.0, 0), (10_000.0, 300), (30_000.0, 100)];
        assert_eq!(series.queue, queue, "what has not changed is told once");
        assert_eq!(series.arrivals, [(15_000.0, 4, 1448)]);
        let losses = vec![(2e4, 4, Timeout), (2.2e4, 5, Fast), (2.9e4, 4, Timeout)];
        assert_eq!(series.losses, Some(losses), "one is a stranger's");
        assert_eq!([metrics.drops, metrics.marks], [Some(3), Some(4)]);
        assert!((run.rate_share().unwrap() - 0.9).abs() < 1e-9);
    }

    #[test]
    fn timers_of_receivers_do_not_count_where_sockets_count_their_own() {
        let flow = |timeouts| Sent {
            counts: Counts {
                timeouts,
                ..Counts::NONE
            },
            ..Sent::default()
        };
        let namespaces = TcpCounters {
            timeouts: 9,
            syn_retransmissions: 1,
            ..TcpCounters::default()
        };
        let timeouts = |flows: &[Sent]| Totals::of(flows, &namespaces).timeouts;
        assert_eq!(timeouts(&[flow(Some(5)), flow(Some(2))]), 7);
        assert_eq!(timeouts(&[flow(Some(5)), flow(None)]), 8, "an older kernel");
    }
}
