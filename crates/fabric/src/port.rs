//! An output port: a FIFO queue, a transmitter and the wire behind it.

use base::{Ecn, Packet, Rate, Span, Time};

use crate::histogram::LevelHistogram;
use crate::queue::{Backlog, Discipline, Limit, QueueDisc, Verdict};
use crate::ring::Ring;

/// A port; dense from 0. Link `l` has ports `2l` (from its first node) and `2l + 1` (from its second).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub u32);

/// What a port is made of.
#[derive(Debug)]
pub struct PortConfig {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// One-way delay of the wire.
    pub delay: Span,
    /// How much may wait.
    pub limit: Limit,
    /// What happens to arriving packets.
    pub discipline: Discipline,
    /// Bytes a packet has on the wire beside its payload.
    pub header_bytes: u32,
}

/// A FIFO output port with a constant rate and a constant delay.
///
/// At [`Port::offer`] the whole future of an accepted packet is known: it starts to leave when the
/// packets before it have left, and arrives after its serialisation and the delay of the wire. The
/// queue at any instant follows by retiring packets whose transmission has begun. The packet in
/// transmission does not count as queued, and a packet that starts at the instant of an arrival has
/// left the queue before it.
///
/// Fields are in the order of use: an idle port touches the first two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// When the transmitter will have sent everything accepted so far.
    free_at: Time,
    /// Picoseconds per byte if whole, else 0: then `rate` divides.
    ps_per_byte: u64,
    delay: Span,
    ring: Ring,
    header_bytes: u32,
    /// Whether the discipline wants to see packets that find the transmitter idle.
    watches_idle: bool,
    /// Packets and bytes accepted.
    packets: u64,
    bytes: u64,
    /// Bytes waiting since `level_since`; levels before are in the histogram.
    waiting_bytes: u64,
    level_since: Time,
    levels: LevelHistogram,
    limit: Limit,
    discipline: Discipline,
    max_waiting_bytes: u64,
    drops: u64,
    dropped_payload: u64,
    marks: u64,
    threshold_crossings: u64,
    rate: Rate,
}

/// What became of a packet offered to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// It is lost.
    Dropped,
    /// It follows others; their arrivals bring about its own.
    Queued,
    /// It is the only one and arrives then, which is to be scheduled: one event per busy port.
    First(Time),
}

/// What a port has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Packets accepted: each is one packet-hop.
    pub packets: u64,
    /// Bytes accepted, headers included.
    pub bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Payload bytes dropped.
    pub dropped_payload: u64,
    /// Packets marked here.
    pub marks: u64,
    /// Packets that found the queue at or above the marking threshold, ECN-capable or not.
    pub threshold_crossings: u64,
    /// Largest number of bytes waiting.
    pub max_waiting_bytes: u64,
}

impl Port {
    /// An idle port whose queue statistics begin at `measure_from`.
    pub fn new(config: PortConfig, measure_from: Time) -> Self {
        Self {
            free_at: Time::ZERO,
            ps_per_byte: config.rate.ps_per_byte().unwrap_or(0),
            delay: config.delay,
            ring: Ring::new(),
            header_bytes: config.header_bytes,
            watches_idle: config.discipline.is_congested(Backlog::default())
                || matches!(config.discipline, Discipline::Custom(_)),
            packets: 0,
            bytes: 0,
            waiting_bytes: 0,
            level_since: measure_from,
            levels: LevelHistogram::new(),
            limit: config.limit,
            discipline: config.discipline,
            max_waiting_bytes: 0,
            drops: 0,
            dropped_payload: 0,
            marks: 0,
            threshold_crossings: 0,
            rate: config.rate,
        }
    }

    /// A packet arrives at the queue; it may be marked.
    #[inline(always)]
    pub fn offer(&mut self, packet: &mut Packet, now: Time) -> Offer {
        self.settle(now);
        if self.free_at <= now && !self.watches_idle {
            // The transmitter is idle and nothing waits, so nothing can drop or mark.
            return self.accept(packet, now);
        }
        let backlog = Backlog {
            bytes: self.waiting_bytes,
            packets: u64::from(self.ring.waiting()),
        };
        let congested = self.discipline.is_congested(backlog);
        self.threshold_crossings += u64::from(congested);
        let was_marked = packet.ecn == Ecn::Marked;
        let verdict = self.discipline.on_arrival(backlog, packet, now);
        if verdict == Verdict::Drop || !self.fits(backlog, packet, now) {
            self.drops += 1;
            self.dropped_payload += u64::from(packet.payload);
            return Offer::Dropped;
        }
        self.marks += u64::from(packet.ecn == Ecn::Marked && !was_marked);
        self.accept(packet, now)
    }

    /// The oldest packet has arrived at the other end and is put into `packet`. Returns the arrival
    /// time of the next one, to be scheduled.
    #[inline(always)]
    pub fn arrive_into(&mut self, packet: &mut Packet, now: Time) -> Option<Time> {
        debug_assert_eq!(
            self.ring.next_arrival(),
            Some(now),
            "one event per busy port"
        );
        if self.ring.oldest_waits() {
            self.settle(now);
        }
        self.ring.pop_into(packet)
    }

    /// Closes the queue statistics at `now`: levels later on are not counted.
    pub fn close_statistics(&mut self, now: Time) -> &LevelHistogram {
        self.settle(now);
        self.change_level(now);
        &self.levels
    }

    /// What the port has counted.
    pub fn counters(&self) -> PortCounters {
        PortCounters {
            packets: self.packets,
            bytes: self.bytes,
            drops: self.drops,
            dropped_payload: self.dropped_payload,
            marks: self.marks,
            threshold_crossings: self.threshold_crossings,
            max_waiting_bytes: self.max_waiting_bytes,
        }
    }

    /// Packets on the wire or waiting.
    pub fn held(&self) -> usize {
        self.ring.len()
    }

    /// Accounts for everything that left the queue until `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        if self.ring.waiting() > 0 {
            self.retire(now);
        }
    }

    fn retire(&mut self, now: Time) {
        while let Some((start, payload)) = self.ring.retire(now) {
            self.change_level(start);
            self.waiting_bytes -= u64::from(self.header_bytes) + u64::from(payload);
        }
    }

    #[inline(always)]
    fn accept(&mut self, packet: &Packet, now: Time) -> Offer {
        let size = u64::from(self.header_bytes) + u64::from(packet.payload);
        let was_idle = self.ring.is_empty();
        let start = self.free_at.max(now);
        self.free_at = start + self.serialisation(size);
        let arrival = self.free_at + self.delay;
        self.packets += 1;
        self.bytes += size;
        self.ring.push(packet, start, arrival);
        if start == now {
            self.ring.start_newest();
        } else {
            self.change_level(now);
            self.waiting_bytes += size;
            self.max_waiting_bytes = self.max_waiting_bytes.max(self.waiting_bytes);
        }
        if was_idle {
            Offer::First(arrival)
        } else {
            Offer::Queued
        }
    }

    #[inline(always)]
    fn change_level(&mut self, at: Time) {
        // A queue that changes before the measured period has nothing to record: `since` is zero.
        self.levels
            .add(self.waiting_bytes, at.since(self.level_since));
        self.level_since = self.level_since.max(at);
    }

    #[inline(always)]
    fn fits(&self, backlog: Backlog, packet: &Packet, now: Time) -> bool {
        let size = u64::from(self.header_bytes) + u64::from(packet.payload);
        match self.limit {
            // An idle transmitter takes the packet at once: it never waits.
            _ if self.free_at <= now => true,
            Limit::Unlimited => true,
            Limit::Bytes(bytes) => backlog.bytes + size <= bytes,
            Limit::Packets(packets) => backlog.packets < packets,
        }
    }

    #[inline(always)]
    fn serialisation(&self, size: u64) -> Span {
        match self.ps_per_byte {
            0 => self.rate.serialisation(size),
            exact => Span::from_ps(exact * size),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};

    use super::*;

    fn port(limit: Limit, discipline: Discipline) -> Port {
        let rate = Rate::from_bps(1_000_000_000);
        let delay = Span::from_micros(40);
        Port::new(
            PortConfig {
                rate,
                delay,
                limit,
                discipline,
                header_bytes: 54,
            },
            Time::ZERO,
        )
    }

    fn full_packet() -> Packet {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = 1446;
        packet.ecn = Ecn::Capable;
        packet
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn a_packet_arrives_after_serialisation_and_delay() {
        let mut port = port(Limit::Unlimited, Discipline::DropTail);
        assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::First(us(52)));
        // The second waits 12 us for the first; the port already has its event.
        assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::Queued);
        let mut packet = full_packet();
        assert_eq!(port.arrive_into(&mut packet, us(52)), Some(us(64)));
        assert_eq!(port.arrive_into(&mut packet, us(64)), None);
    }

    #[test]
    fn the_packet_in_transmission_does_not_count_as_queued() {
        // ICTCP sheet check: with 80 places, 82 packets at once lose one: one is in transmission.
        for limit in [Limit::Bytes(80 * 1500), Limit::Packets(80)] {
            let mut port = port(limit, Discipline::DropTail);
            for _ in 0..82 {
                port.offer(&mut full_packet(), us(0));
            }
            assert_eq!(port.counters().drops, 1);
            assert_eq!(port.counters().max_waiting_bytes, 80 * 1500);
        }
    }

    #[test]
    fn packets_that_find_the_threshold_reached_are_marked() {
        // 50 packets at once, K = 40: packet 1 is in transmission, packet 42 is the first to find 40.
        let mut port = port(
            Limit::Unlimited,
            Discipline::EcnThreshold(Limit::Bytes(40 * 1500)),
        );
        for _ in 0..50 {
            port.offer(&mut full_packet(), us(0));
        }
        assert_eq!(
            (port.counters().marks, port.counters().threshold_crossings),
            (9, 9)
        );
    }

    #[test]
    fn queue_statistics_follow_a_burst_down_to_zero() {
        let mut port = port(Limit::Unlimited, Discipline::DropTail);
        for _ in 0..3 {
            port.offer(&mut full_packet(), us(0));
        }
        // Waiting: 3000 bytes for 12 us, 1500 for 12 us, then 0 until 48 us.
        let levels = port.close_statistics(us(48));
        assert!((levels.mean() - 1125.0).abs() < 1e-9);
        assert_eq!(
            [500, 750, 1000].map(|p| levels.percentile(p)),
            [0, 1500, 3000]
        );
    }
}
