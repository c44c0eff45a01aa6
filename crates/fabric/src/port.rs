//! An output port: a FIFO queue, a transmitter and the wire behind it.

use base::{Ecn, Packet, Rate, Span, Time};

use crate::histogram::LevelHistogram;
use crate::queue::{Backlog, Discipline, Limit, QueueDisc, Verdict};
use crate::ring::{Ring, Stamp};

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
#[derive(Debug)]
pub struct Port {
    /// When the transmitter will have sent everything accepted so far.
    free_at: Time,
    /// Picoseconds per byte if whole, else 0: then `rate` divides.
    ps_per_byte: u64,
    delay: Span,
    ring: Ring,
    /// Bytes waiting at `level_since` and until the next retirement.
    waiting_bytes: u64,
    header_bytes: u32,
    limit: Limit,
    discipline: Discipline,
    counters: PortCounters,
    levels: LevelHistogram,
    /// When the queue last changed; levels before are in the histogram.
    level_since: Time,
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
            waiting_bytes: 0,
            header_bytes: config.header_bytes,
            limit: config.limit,
            discipline: config.discipline,
            counters: PortCounters::default(),
            levels: LevelHistogram::new(),
            level_since: measure_from,
            rate: config.rate,
        }
    }

    /// A packet arrives at the queue.
    #[inline]
    pub fn offer(&mut self, mut packet: Packet, now: Time) -> Offer {
        self.settle(now);
        let size = self.header_bytes + u32::from(packet.payload);
        let backlog = Backlog {
            bytes: self.waiting_bytes,
            packets: self.ring.waiting() as u64,
        };
        let was_marked = packet.ecn == Ecn::Marked;
        if self.discipline.is_congested(backlog) {
            self.counters.threshold_crossings += 1;
        }
        let verdict = self.discipline.on_arrival(backlog, &mut packet, now);
        if verdict == Verdict::Drop || !self.fits(backlog, size, now) {
            self.counters.drops += 1;
            self.counters.dropped_payload += u64::from(packet.payload);
            return Offer::Dropped;
        }
        self.counters.marks += u64::from(packet.ecn == Ecn::Marked && !was_marked);
        self.accept(&packet, size, now)
    }

    /// The oldest packet has arrived at the other end. Returns it and the arrival time of the next
    /// one, to be scheduled.
    ///
    /// # Panics
    /// If no packet is under way: an event without its packet.
    #[inline]
    pub fn arrive(&mut self, now: Time) -> (Packet, Option<Time>) {
        debug_assert_eq!(
            self.ring.next_arrival(),
            Some(now),
            "one event per busy port"
        );
        self.settle(now);
        let packet = self.ring.pop().expect("an arrival has a packet");
        (packet, self.ring.next_arrival())
    }

    /// Accounts for everything that left the queue until `now`.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        while let Some(stamp) = self.ring.retire(now) {
            self.change_level(stamp.start);
            self.waiting_bytes -= u64::from(stamp.size);
        }
    }

    /// Closes the queue statistics at `now`: levels later on are not counted.
    pub fn close_statistics(&mut self, now: Time) -> LevelHistogram {
        self.settle(now);
        self.change_level(now);
        self.levels.clone()
    }

    /// What the port has counted.
    pub fn counters(&self) -> PortCounters {
        self.counters
    }

    /// Packets on the wire or waiting.
    pub fn held(&self) -> usize {
        self.ring.len()
    }

    /// Bytes waiting at the last event of this port.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    #[inline]
    fn accept(&mut self, packet: &Packet, size: u32, now: Time) -> Offer {
        let was_idle = self.ring.is_empty();
        let start = self.free_at.max(now);
        self.free_at = start + self.serialisation(size);
        let arrival = self.free_at + self.delay;
        self.ring.push(
            packet,
            Stamp {
                start,
                arrival,
                size,
            },
        );
        if start > now {
            self.change_level(now);
            self.waiting_bytes += u64::from(size);
            self.counters.max_waiting_bytes =
                self.counters.max_waiting_bytes.max(self.waiting_bytes);
        } else {
            self.ring.start_newest();
        }
        self.counters.packets += 1;
        self.counters.bytes += u64::from(size);
        if was_idle {
            Offer::First(arrival)
        } else {
            Offer::Queued
        }
    }

    #[inline]
    fn change_level(&mut self, at: Time) {
        // A queue that changes before the measured period has nothing to record: `since` is zero.
        self.levels
            .add(self.waiting_bytes, at.since(self.level_since));
        self.level_since = self.level_since.max(at);
    }

    #[inline]
    fn fits(&self, backlog: Backlog, size: u32, now: Time) -> bool {
        // An idle transmitter takes the packet at once: it never waits.
        if self.free_at <= now {
            return true;
        }
        match self.limit {
            Limit::Unlimited => true,
            Limit::Bytes(bytes) => backlog.bytes + u64::from(size) <= bytes,
            Limit::Packets(packets) => backlog.packets < packets,
        }
    }

    #[inline]
    fn serialisation(&self, size: u32) -> Span {
        match self.ps_per_byte {
            0 => self.rate.serialisation(u64::from(size)),
            exact => Span::from_ps(exact * u64::from(size)),
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
        assert_eq!(port.offer(full_packet(), us(0)), Offer::First(us(52)));
        // The second waits 12 us for the first; the port already has its event.
        assert_eq!(port.offer(full_packet(), us(0)), Offer::Queued);
        assert_eq!(port.arrive(us(52)).1, Some(us(64)));
        assert_eq!(port.arrive(us(64)).1, None);
    }

    #[test]
    fn the_packet_in_transmission_does_not_count_as_queued() {
        // ICTCP sheet check: with 80 places, 82 packets at once lose one: one is in transmission.
        for limit in [Limit::Bytes(80 * 1500), Limit::Packets(80)] {
            let mut port = port(limit, Discipline::DropTail);
            for _ in 0..82 {
                port.offer(full_packet(), us(0));
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
            port.offer(full_packet(), us(0));
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
            port.offer(full_packet(), us(0));
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
