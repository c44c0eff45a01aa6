//! One direction of a connection, and what the packets on it would do if they were alone.

use std::collections::VecDeque;

use base::{Packet, Rate, Span, Time};
use fabric::{Bucket, Port};

use super::Breakdown;

/// A port as a connection sees it that has the network to itself.
#[derive(Clone, Copy)]
pub(super) struct Hop {
    rate: Rate,
    delay: Span,
    bucket: Option<Bucket>,
    /// Whether a host sends here, and whether one receives.
    host_ends: (bool, bool),
    /// When the connection's own packets have left.
    free_at: Time,
}

/// Packets of one direction, and their path.
///
/// The path is what the first packet took, which is one of the handshake. Where every packet takes a way of its own, that
/// is one of several that are alike.
#[derive(Default)]
pub(super) struct Way {
    hops: Vec<Hop>,
    /// Whether the path is known to its end.
    known: bool,
    propagation: Span,
    slowest: Option<Rate>,
    /// Packets on their way, mostly in the order in which they arrive.
    sent: VecDeque<Sent>,
}

/// A packet on its way.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// What it is found by again.
    key: (u32, u32, u16, u8),
    /// When its host sent it.
    pub(super) at: Time,
    /// When it would arrive if its connection were alone; [`Time::NEVER`] where the path is not known.
    pub(super) alone: Time,
    /// Of an ACK: how late the segment was that it answers.
    pub(super) queueing: u64,
    /// Of an ACK: how long it waited for the timer of delayed ACKs.
    pub(super) delayed: u64,
    /// What had been booked when it was sent.
    pub(super) booked: Breakdown,
}

impl Hop {
    pub(super) fn of(port: &Port) -> Self {
        let link = port.link();
        Self {
            rate: link.rate,
            delay: link.delay,
            bucket: port.full_bucket(),
            host_ends: port.host_ends(),
            free_at: Time::ZERO,
        }
    }
}

impl Way {
    /// A packet has passed `hop`.
    #[inline(always)]
    pub(super) fn learn(&mut self, hop: &Hop) {
        if !self.known {
            self.extend(*hop);
        }
    }

    #[inline(never)]
    fn extend(&mut self, hop: Hop) {
        let (first, last) = hop.host_ends;
        if first {
            // A packet before this one was lost on its way.
            self.hops.clear();
        }
        self.hops.push(hop);
        self.known = last;
        if last {
            let delays = self.hops.iter().map(|hop| hop.delay);
            self.propagation = delays.fold(Span::ZERO, |sum, delay| sum + delay);
            self.slowest = self.hops.iter().map(|hop| hop.rate).min();
        }
    }

    /// The path's delay.
    pub(super) const fn propagation(&self) -> u64 {
        self.propagation.as_ps()
    }

    /// How long `bytes` take on the slowest link.
    pub(super) fn slowest(&self, bytes: u64) -> Span {
        self.slowest
            .map_or(Span::ZERO, |rate| rate.serialisation(bytes))
    }

    /// A packet of this size leaves; `queueing` as in [`Sent`].
    pub(super) fn send(&mut self, packet: &Packet, (bytes, now): (u64, Time), queueing: u64) {
        let alone = self.alone(bytes, now);
        self.sent.push_back(Sent {
            key: key(packet),
            at: now,
            alone,
            queueing,
            delayed: 0,
            booked: Breakdown::default(),
        });
    }

    /// Sends a packet over the path on which nobody else is, and returns when it arrives.
    fn alone(&mut self, bytes: u64, now: Time) -> Time {
        if !self.known {
            return Time::NEVER;
        }
        let mut at = now;
        for hop in &mut self.hops {
            at = match &mut hop.bucket {
                Some(bucket) => bucket.leave(bytes, at),
                None => at.max(hop.free_at) + hop.rate.serialisation(bytes),
            };
            hop.free_at = at;
            at += hop.delay;
        }
        at
    }

    /// The packet has arrived or is lost. O(packets that it overtakes).
    pub(super) fn take(&mut self, packet: &Packet) -> Option<Sent> {
        let key = key(packet);
        let place = self.sent.iter().position(|sent| sent.key == key)?;
        self.sent.remove(place)
    }

    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Packets that were sent at `now`, the last first.
    pub(super) fn sent_at(&mut self, now: Time) -> impl Iterator<Item = &mut Sent> {
        let sent = self.sent.iter_mut().rev();
        sent.take_while(move |sent| sent.at == now)
    }
}

impl Sent {
    /// How much later than alone it has arrived at `now`.
    pub(super) fn late(&self, now: Time) -> u64 {
        now.since(self.alone).as_ps()
    }
}

/// What stays the same on a packet's way and tells it from others. A copy of low priority is another packet.
fn key(packet: &Packet) -> (u32, u32, u16, u8) {
    (packet.seq.0, packet.ack.0, packet.payload, packet.dscp)
}
