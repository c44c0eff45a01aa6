//! Events of the kernel, put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base::cast::{count, real};
use machine::netlink::QdiscLimit;
use observed::{
    Cost, Flow, IncastBurst, Observation, ObservedLoss, Queue, SentAgain, judge, needless,
    percentile,
};
use programs::Direction;
use programs::observer::{
    DeviceObserver, FlowDirection, ObservedTransfer, ObserverEvent, Socket, Totals,
};

use super::Port;
use crate::error::DeployError;

/// Everything counted so far.
pub(crate) struct Count {
    begin: Duration,
    /// Rate of the queue of the device, if it has a limit of its own.
    queue_bps: Option<u64>,
    /// The time when ended connections were last dropped.
    swept: Duration,
    flows: Vec<Flow>,
    crowds: Vec<IncastBurst>,
    losses: Vec<ObservedLoss>,
    /// Bytes of first windows, for larger flows.
    first: Vec<u32>,
    /// The last state of each connection.
    sockets: BTreeMap<FlowDirection, Socket>,
    /// Segments retransmitted on connections that are over: all, and those that had arrived already.
    sent_again: BTreeMap<FlowDirection, (u64, u64)>,
    /// Flows and events that did not fit.
    lost: u64,
    /// The number of devices that this process watches. They share its time and its memory.
    among: usize,
    cost: Cost,
    /// Processor time of this process at the start.
    own: Duration,
    now: Duration,
}

impl Count {
    pub(crate) fn new(begin: Duration, queue_bps: Option<u64>) -> Self {
        Self {
            begin,
            queue_bps,
            swept: begin,
            flows: Vec::new(),
            crowds: Vec::new(),
            losses: Vec::new(),
            first: Vec::new(),
            sockets: BTreeMap::new(),
            sent_again: BTreeMap::new(),
            lost: 0,
            among: 1,
            cost: Cost::default(),
            own: own_time(),
            now: begin,
        }
    }

    /// Shares the room for flows among this many devices, which one process watches.
    pub(super) fn among(self, among: usize) -> Self {
        Self { among, ..self }
    }

    /// Reads new events, and frees memory from time to time.
    pub(crate) fn look(
        &mut self,
        observer: &DeviceObserver,
        now: Duration,
    ) -> Result<(), DeployError> {
        self.now = now;
        for told in observer.told()? {
            self.note(told);
        }
        if now.saturating_sub(self.swept) < SWEEP {
            return Ok(());
        }
        self.swept = now;
        for (way, transfer) in observer.transfers()? {
            let silence = now.saturating_sub(transfer.last);
            if silence > FORGOTTEN || transfer.closed && silence > SWEEP {
                observer.forget(&way)?;
                self.keep(way, &transfer);
            }
        }
        Ok(())
    }

    /// Unfinished transfers count as well.
    pub(crate) fn end(&mut self, observer: &DeviceObserver) -> Result<(), DeployError> {
        for told in observer.told()? {
            self.note(told);
        }
        for (way, transfer) in observer.transfers()? {
            self.keep(way, &transfer);
        }
        self.flows
            .sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
        Ok(())
    }

    /// The cost of the programs in the measured time.
    pub(super) fn measured(&mut self, spent_ns: u64, packets: u64, time: Duration) {
        let spent = real(spent_ns);
        self.cost.ns_per_packet = (packets > 0).then(|| spent / real(packets));
        self.cost.core_share = spent / 1e9 / time.as_secs_f64().max(1e-9);
    }

    pub(super) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The flows since the last call. They are then removed here.
    pub(crate) fn taken(&mut self) -> Vec<Flow> {
        self.crowds.clear();
        self.losses.clear();
        self.first.clear();
        self.sockets.clear();
        self.sent_again.clear();
        std::mem::take(&mut self.flows)
    }

    /// Flows and events that did not fit.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    fn note(&mut self, told: ObserverEvent) {
        if self.crowds.len().max(self.losses.len()) >= MOST_EVENTS / self.among {
            self.lost += 1;
            return;
        }
        let seconds = |time: Duration| time.saturating_sub(self.begin).as_secs_f64();
        let receiver = |way: &FlowDirection| way.to.ip().to_string();
        let mut lose = |way: &FlowDirection, at, since, is_timeout| {
            self.losses.push(ObservedLoss {
                receiver: receiver(way),
                at_s: seconds(at),
                flow_since_s: seconds(since),
                is_timeout,
            });
        };
        match told {
            ObserverEvent::Transfer(way, transfer) => self.keep(way, &transfer),
            ObserverEvent::Incast(way, at, degree) => self.crowds.push(IncastBurst {
                receiver: receiver(&way),
                at_s: seconds(at),
                degree,
            }),
            ObserverEvent::Drop(way, at, since) => lose(&way, at, since, false),
            ObserverEvent::Timeout(way, at, since) | ObserverEvent::Late(way, at, since) => {
                lose(&way, at, since, true);
            }
            ObserverEvent::Socket(way, mut socket) => {
                if self.sockets.len() >= MOST_FLOWS / self.among {
                    return;
                }
                if socket.is_over && socket.retransmitted > 0 {
                    let (sent, needless) = self.sent_again.entry(way).or_default();
                    *sent += u64::from(socket.retransmitted);
                    *needless += u64::from(socket.needless);
                    // Another connection may have the same ports.
                    (socket.retransmitted, socket.needless) = (0, 0);
                }
                self.sockets.insert(way, socket);
            }
        }
    }

    fn keep(&mut self, way: FlowDirection, transfer: &ObservedTransfer) {
        // A direction without data carries ACKs alone.
        if transfer.bytes == 0 {
            return;
        }
        if self.flows.len() >= MOST_FLOWS / self.among {
            self.lost += 1;
            return;
        }
        if transfer.from_syn && transfer.bytes > transfer.first_bytes.into() {
            self.first.push(transfer.first_bytes);
        }
        let since_begin = |time: Duration| time.saturating_sub(self.begin).as_secs_f64();
        let queued = match self.queue_bps {
            Some(bps) => u64::from(transfer.queued) * 8_000_000_000 / bps.max(1),
            None => 0,
        };
        let fct = transfer.last.saturating_sub(transfer.first) + Duration::from_nanos(queued);
        let timeouts = if transfer.is_own {
            transfer.timeouts
        } else {
            transfer.late_repeats
        };
        self.flows.push(Flow {
            start_s: since_begin(transfer.first),
            opened_s: transfer.opened.map(since_begin),
            fct_s: fct.as_secs_f64(),
            bytes: transfer.bytes,
            sender: way.from.to_string(),
            receiver: way.to.to_string(),
            timeouts,
            fast_retransmits: transfer.fast,
            probes: transfer.probes,
            repeats: transfer.repeats,
            drops: transfer.drops,
            waited_s: transfer.waited.min(fct).as_secs_f64(),
            leaves: transfer.direction == Direction::Egress,
            is_told: transfer.is_own,
            closed: transfer.closed,
        });
    }

    /// The results so far. A queue has bins of this power of two bytes, and has dropped this much since it was created.
    pub(super) fn summary(
        &self,
        port: &Port,
        totals: &Totals,
        degrees: &[u64],
        (bin_shift, drops): (u32, Option<u32>),
    ) -> Observation {
        let time = self.now.saturating_sub(self.begin);
        let rate_bps = port
            .rate_bps
            .unwrap_or_else(|| totals.peak_bps[0].max(totals.peak_bps[1]));
        let before = port.queue.as_ref().map(|(queue, _)| queue.drops);
        let drops = drops
            .zip(before)
            .map_or(0, |(now, before)| now.wrapping_sub(before));
        let sum = |of: fn(&Flow) -> u32| self.flows.iter().map(|flow| u64::from(of(flow))).sum();
        let mut times: Vec<_> = self.flows.iter().map(|flow| flow.fct_s).collect();
        let all_s: f64 = times.iter().sum();
        let waited_s: f64 = self.flows.iter().map(|flow| flow.waited_s).sum();
        let flows = self.flows.len() as u64;
        let inferred = self.flows.iter().filter(|flow| !flow.is_told).count() as u64;
        let needless = needless(&self.flows, &self.sent_again());
        let last = degrees
            .iter()
            .rposition(|count| *count > 0)
            .map_or(0, |last| last + 1);
        let cost = Cost {
            core_share: self.cost.core_share + self.own_share(time),
            skipped: totals.skipped,
            lost: self.lost + totals.lost[0] + totals.lost[1],
            ..self.cost.clone()
        };
        let mut seen = Observation {
            device: port.place.name.clone(),
            netns: port.place.netns.clone(),
            seconds: time.as_secs_f64(),
            queue: port.queue.as_ref().map(|(queue, room)| {
                let seen = Queue {
                    kind: queue.kind.clone(),
                    room_bytes: *room,
                    room_packets: match queue.limit {
                        Some(QdiscLimit::Packets(packets)) => Some(packets),
                        _ => None,
                    },
                    burst_bytes: queue.burst_bytes,
                    max_bytes: totals.queue_most,
                    ..Queue::default()
                };
                let bins = (1 << bin_shift, totals.queue_area);
                seen.with_histogram(&totals.queue_ns, bins, rate_bps)
            }),
            rate_bps,
            rate_from: match port.rate_bps {
                Some(_) => port.rate_from,
                None => "The highest rate of 8 ms, as nothing says it",
            }
            .to_owned(),
            bursts_known: port.rate_bps.is_some(),
            has_rto_min_us: Path::new(RTO_MIN_US).exists(),
            bursts: totals.bursts,
            packets: totals.packets,
            packet_bytes: totals.bytes,
            drops: drops.into(),
            flows,
            inferred_flows: inferred,
            fct_p50_s: percentile(&mut times, 0.5),
            fct_p99_s: percentile(&mut times, 0.99),
            timeouts: sum(|flow| flow.timeouts),
            fast_retransmits: sum(|flow| flow.fast_retransmits),
            probes: sum(|flow| flow.probes),
            needless_timeouts: needless.timeouts,
            needless_fast_retransmits: needless.fast_retransmits,
            repeats: sum(|flow| flow.repeats),
            syn_repeats: totals.syn_repeats,
            syn_ack_repeats: totals.syn_ack_repeats,
            resets: totals.resets,
            degrees: degrees.get(..last).unwrap_or_default().to_vec(),
            waited_share: if all_s > 0.0 { waited_s / all_s } else { 0.0 },
            cost,
            ..Observation::default()
        };
        self.add_sockets(&mut seen, totals);
        seen.judged = judge(&seen, &self.flows, &self.crowds, &self.losses);
        seen
    }

    /// The segments that each connection has sent again.
    fn sent_again(&self) -> Vec<SentAgain> {
        let of = |way: &FlowDirection, segments, needless| SentAgain {
            sender: way.from.to_string(),
            receiver: way.to.to_string(),
            segments,
            needless,
        };
        let over = self.sent_again.iter();
        let over = over.map(|(way, (sent, needless))| of(way, *sent, *needless));
        let open = self.sockets.iter();
        let open = open.filter(|(_, socket)| socket.retransmitted > 0);
        let open = open.map(|(way, one)| of(way, one.retransmitted.into(), one.needless.into()));
        over.chain(open).collect()
    }

    /// Adds the values of sockets: the most common one where they differ.
    fn add_sockets(&self, seen: &mut Observation, totals: &Totals) {
        let sockets = || self.sockets.values();
        let mut least: Vec<_> = sockets()
            .map(|socket| f64::from(socket.min_rtt_us))
            .filter(|rtt| *rtt > 0.0)
            .collect();
        least.extend(totals.handshake.map(|time| time.as_secs_f64() * 1e6));
        seen.min_rtt_us = least.iter().copied().reduce(f64::min);
        let mut smoothed: Vec<_> = sockets().map(|socket| f64::from(socket.srtt_us)).collect();
        if !smoothed.is_empty() {
            seen.srtt_us = Some(percentile(&mut smoothed, 0.5));
            let above = percentile(&mut smoothed, 0.99) - seen.min_rtt_us.unwrap_or(0.0);
            if seen.queue.is_none() {
                seen.inferred_queue_bytes = Some(above.max(0.0) * real(seen.rate_bps) / 8e6);
            }
        }
        seen.mss = most_common(sockets().map(|socket| socket.mss));
        let mss = seen.mss.unwrap_or(MSS).max(1);
        let first = self.first.iter().filter(|bytes| **bytes >= mss);
        seen.initial_window = most_common(first.map(|bytes| bytes / mss));
        let rto = most_common(sockets().map(|socket| socket.min_rto));
        seen.min_rto_ms = rto.map(|rto| rto.as_secs_f64() * 1e3);
        seen.control = most_common(sockets().map(|socket| socket.control.clone()));
    }

    fn own_share(&self, time: Duration) -> f64 {
        let own = own_time().saturating_sub(self.own);
        own.as_secs_f64() / time.as_secs_f64().max(1e-9) / count(self.among)
    }
}

/// The value that comes most often.
fn most_common<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_insert(0_u64) += 1);
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(value, _)| value)
}

/// Processor time that this process has taken.
fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The minimum timeout of a namespace, which kernels from 6.11 on have (`sysctl_net_ipv4.c`).
const RTO_MIN_US: &str = "/proc/sys/net/ipv4/tcp_rto_min_us";
/// Of Ethernet, with timestamps.
const MSS: u32 = 1_448;
/// The interval at which ended connections are dropped.
const SWEEP: Duration = Duration::from_secs(1);
/// Connections that are silent for this long are dropped, too.
const FORGOTTEN: Duration = Duration::from_secs(30);
/// Of all devices together. A flow takes about 500 bytes, with its connection.
const MOST_FLOWS: usize = 1_000_000;
const MOST_EVENTS: usize = 1_000_000;
