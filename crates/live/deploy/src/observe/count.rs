//! Events of the kernel, put together.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use base::cast::{count, real};
use machine::netlink::QdiscLimit;
use observed::{Cost, Crowds, Flow, FlowSums, Observation, ObservedLoss, Queue, judge};
use programs::Direction;
use programs::observer::{DeviceObserver, FlowDirection, ObservedTransfer, ObserverEvent, Totals};

use super::Port;
use super::connections::{Connections, most_common};
use crate::error::DeployError;

/// Everything counted so far. Flows that ended are only sums here: memory grows with the flows, connections, and losses
/// of the last minute, but not with time.
pub(crate) struct Count {
    begin: Duration,
    /// Rate of the queue of the device, if it has a limit of its own.
    queue_bps: Option<u64>,
    /// The time when ended connections were last dropped.
    swept: Duration,
    sums: FlowSums,
    /// Flows that ended since they were taken, if somebody takes them.
    ended: Option<Vec<Flow>>,
    crowds: Crowds<IpAddr>,
    /// For each number of bytes in a first window, the flows that were larger.
    first: BTreeMap<u32, u64>,
    connections: Connections,
    /// Payload of flows, and the part that senders of this machine sent.
    bytes: u64,
    own_bytes: u64,
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
            sums: FlowSums::default(),
            ended: None,
            crowds: Crowds::default(),
            first: BTreeMap::new(),
            connections: Connections::default(),
            bytes: 0,
            own_bytes: 0,
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

    /// Keeps each flow that ended until it is [taken](Self::taken).
    pub(crate) fn listing(self) -> Self {
        Self {
            ended: Some(Vec::new()),
            ..self
        }
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
        self.fold();
        Ok(())
    }

    /// Frees the memory of everything that ended long ago.
    fn fold(&mut self) {
        self.connections.fold(self.now);
        self.crowds.fold(self.now.saturating_sub(self.begin));
    }

    /// Unfinished transfers count as well.
    pub(crate) fn end(&mut self, observer: &DeviceObserver) -> Result<(), DeployError> {
        for told in observer.told()? {
            self.note(told);
        }
        for (way, transfer) in observer.transfers()? {
            self.keep(way, &transfer);
        }
        Ok(())
    }

    /// The cost of the programs in the measured time.
    pub(super) fn measured(&mut self, spent_ns: u64, packets: u64, time: Duration) {
        let spent = real(spent_ns);
        self.cost.ns_per_packet = (packets > 0).then(|| spent / real(packets));
        self.cost.core_share = spent / 1e9 / time.as_secs_f64().max(1e-9);
    }

    /// The flows that ended since the last call, in this order; none if they are not [listed](Self::listing).
    pub(crate) fn taken(&mut self) -> Vec<Flow> {
        self.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Flows and events that did not fit.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    fn note(&mut self, told: ObserverEvent) {
        match told {
            ObserverEvent::Transfer(way, transfer) => self.keep(way, &transfer),
            ObserverEvent::Socket(way, socket) => {
                if self.connections.held() >= MOST_CONNECTIONS / self.among {
                    self.lost += 1;
                    return;
                }
                self.connections.tell(way, socket, self.now);
            }
            _ if self.crowds.held() >= MOST_EVENTS / self.among => self.lost += 1,
            ObserverEvent::Incast(way, at, degree) => {
                let at = at.saturating_sub(self.begin);
                self.crowds.add(way.to.ip(), at, degree);
            }
            ObserverEvent::Drop(way, at, since) => self.lose(way, (at, since), false),
            ObserverEvent::Timeout(way, at, since) | ObserverEvent::Late(way, at, since) => {
                self.lose(way, (at, since), true);
            }
        }
    }

    fn lose(&mut self, way: FlowDirection, (at, since): (Duration, Duration), is_timeout: bool) {
        let loss = ObservedLoss {
            at: at.saturating_sub(self.begin),
            flow_since: since.saturating_sub(self.begin),
            is_timeout,
        };
        self.crowds.lose(way.to.ip(), loss);
    }

    fn keep(&mut self, way: FlowDirection, transfer: &ObservedTransfer) {
        // A direction without data carries ACKs alone.
        if transfer.bytes == 0 {
            return;
        }
        if transfer.from_syn && transfer.bytes > transfer.first_bytes.into() {
            *self.first.entry(transfer.first_bytes).or_default() += 1;
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
        let flow = Flow {
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
            request: None,
        };
        self.sums.add(&flow);
        self.bytes += flow.bytes;
        if flow.is_told {
            self.own_bytes += flow.bytes;
        }
        if flow.is_told && self.connections.held() < MOST_CONNECTIONS / self.among {
            let repairs = (flow.timeouts, flow.fast_retransmits);
            self.connections.ended(way, flow.bytes, repairs, self.now);
        }
        self.ended.iter_mut().for_each(|all| all.push(flow.clone()));
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
        let sums = &self.sums;
        let needless = self.connections.needless();
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
            flows: sums.flows,
            inferred_flows: sums.inferred,
            fct_p50_s: sums.fct_s(0.5),
            fct_p99_s: sums.fct_s(0.99),
            timeouts: sums.timeouts,
            fast_retransmits: sums.fast_retransmits,
            probes: sums.probes,
            needless_timeouts: needless.timeouts,
            needless_fast_retransmits: needless.fast_retransmits,
            repeats: sums.repeats,
            syn_repeats: totals.syn_repeats,
            syn_ack_repeats: totals.syn_ack_repeats,
            resets: totals.resets,
            degrees: degrees.get(..last).unwrap_or_default().to_vec(),
            waited_share: sums.waited_share(),
            cost,
            ..Observation::default()
        };
        self.add_sockets(&mut seen, totals);
        seen.judged = judge(&seen, sums, &self.crowds);
        seen
    }

    /// Adds the values of sockets: that of most bytes where they differ.
    fn add_sockets(&self, seen: &mut Observation, totals: &Totals) {
        let states = self.connections.states();
        let handshake = totals.handshake.map(|time| time.as_secs_f64() * 1e6);
        let least = states
            .min_rtt_us
            .map(f64::from)
            .into_iter()
            .chain(handshake);
        seen.min_rtt_us = least.reduce(f64::min);
        if states.sockets() > 0 {
            let srtt_us = |share| real(states.srtt_us.percentile(share));
            seen.srtt_us = Some(srtt_us(0.5));
            let above = srtt_us(0.99) - seen.min_rtt_us.unwrap_or(0.0);
            if seen.queue.is_none() {
                seen.inferred_queue_bytes = Some(above.max(0.0) * real(seen.rate_bps) / 8e6);
            }
        }
        seen.mss = most_common(&states.mss).copied();
        let mss = seen.mss.unwrap_or(MSS).max(1);
        let mut windows = BTreeMap::new();
        for (bytes, flows) in self.first.range(mss..) {
            *windows.entry(bytes / mss).or_default() += flows;
        }
        // Where ACKs come back while a burst is still being sent, as on one machine, the bytes before the first ACK are
        // less than the first window.
        let told = most_common(&states.first_window).filter(|_| 2 * self.own_bytes >= self.bytes);
        seen.initial_window = told.or_else(|| most_common(&windows)).copied();
        seen.min_rto_ms = most_common(&states.min_rto).map(|rto| rto.as_secs_f64() * 1e3);
        seen.control = most_common(&states.control).cloned();
        // The sockets of a connection agree.
        seen.is_ecn_capable = most_common(&states.ecn).copied();
    }

    fn own_share(&self, time: Duration) -> f64 {
        let own = own_time().saturating_sub(self.own);
        own.as_secs_f64() / time.as_secs_f64().max(1e-9) / count(self.among)
    }
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
/// Of all devices together: open connections and those that ended in the last 40 s.
const MOST_CONNECTIONS: usize = 1_000_000;
/// Likewise: crowds and losses of the last 20 s.
const MOST_EVENTS: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use programs::observer::Socket;

    use super::*;

    impl Count {
        /// The flows, connections, crowds, losses, and numbers of earlier ones that are held in memory.
        fn held(&self) -> usize {
            let flows = self.sums.held() + self.first.len();
            let connections = self.connections.held() + self.connections.held_numbers();
            flows + connections + self.crowds.held() + self.crowds.held_numbers()
        }
    }

    /// The events of flow `number` of a hundred a second: every second one has a crowd and a timeout.
    fn pass(count: &mut Count, number: u32) {
        let first = Duration::from_millis(10) * number;
        let fct = Duration::from_micros((u64::from(number) * 7_919 % 50_000) + 300);
        let end = |host: u32, port: u32| {
            let address = std::net::Ipv4Addr::new(10, 0, u8::try_from(host).expect("few"), 1);
            (address, u16::try_from(port).expect("a port")).into()
        };
        let way = FlowDirection {
            from: end(number % 200, 10_000 + number % 50_000),
            to: end(201, 80),
        };
        let timeouts = u32::from(number.is_multiple_of(2));
        let transfer = ObservedTransfer {
            first,
            opened: Some(first),
            last: first + fct,
            bytes: 20_000,
            waited: Duration::from_micros(200) * timeouts,
            segments: 14,
            repeats: timeouts,
            late_repeats: 0,
            timeouts,
            fast: 0,
            probes: 0,
            drops: timeouts,
            from_syn: true,
            closed: true,
            is_own: true,
            direction: Direction::Egress,
            queued: 0,
            first_bytes: 14_480,
        };
        let socket = Socket {
            mss: 1_448,
            srtt_us: 300 + number % 500,
            min_rtt_us: 100,
            cwnd: 10,
            min_rto: Duration::from_millis(200),
            first_window: 10,
            is_ecn_capable: false,
            delivered_ce: 0,
            control: "cubic".to_owned(),
            retransmitted: timeouts,
            needless: u32::from(number.is_multiple_of(4)),
            is_over: timeouts > 0,
            closes: true,
        };
        count.now = transfer.last;
        if timeouts > 0 {
            count.note(ObserverEvent::Incast(way, first, 12));
            count.note(ObserverEvent::Timeout(way, transfer.last, first));
        }
        count.note(ObserverEvent::Socket(way, socket));
        count.note(ObserverEvent::Transfer(way, transfer));
        if number.is_multiple_of(100) {
            count.fold();
        }
    }

    #[test]
    fn memory_does_not_grow_with_flows_that_ended() {
        let mut count = Count::new(Duration::ZERO, None);
        let at = |count: &mut Count, flows: std::ops::Range<u32>| {
            flows.for_each(|number| pass(count, number));
            count.held()
        };
        // Each number of them exceeds those that are kept singly.
        let half = at(&mut count, 0..150_000);
        let all = at(&mut count, 150_000..300_000);
        // 40 s have 4,000 connections, and 20 s have 2,000 crowds and losses.
        assert!(all < 40_000 && all <= half + half / 100, "{half} and {all}");
        assert_eq!((count.sums.flows, count.sums.timeouts), (300_000, 150_000));
        assert_eq!((count.lost, count.taken()), (0, Vec::new()));
        // Half of the timeouts were needless: all that these connections had sent again had arrived.
        assert_eq!(count.connections.needless().timeouts, 75_000);
        assert_eq!(count.connections.states().sockets(), 300_000);
    }

    #[test]
    fn flows_are_listed_in_the_order_of_their_ends_and_leave_with_their_taker() {
        let mut count = Count::new(Duration::ZERO, None).listing();
        (0..300).for_each(|number| pass(&mut count, number));
        let taken = count.taken();
        assert_eq!(taken.len(), 300);
        assert_eq!(taken.iter().map(|flow| flow.timeouts).sum::<u32>(), 150);
        assert!(count.taken().is_empty());
        assert_eq!(count.sums, taken.iter().collect());
    }
}
