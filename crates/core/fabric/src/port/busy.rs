//! A packet that finds the transmitter busy, or a port that looks at every packet.

use base::{Ecn, Packet, Time};

use super::{Offer, Port};
use crate::hook::Calls;
use crate::port_id::PortId;
use crate::queue::{QueueDisc, Verdict};
use crate::watch::{DropReason, Watch};

impl Port {
    /// [`Port::offer_watched`] where the port is not simply idle. It is a function of its own, so that what every
    /// idle port does stays short.
    #[inline(never)]
    pub(super) fn offer_busy<W: Watch>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> Offer {
        self.catch_up(now, port, watch, &mut |_| false);
        let size = self.size_of(packet);
        // Nothing waits at an idle transmitter, so nothing is dropped or marked.
        if self.free_at > now || self.watches_idle {
            if !self.admit(packet, size, now, port, watch) {
                return Offer::Dropped;
            }
            if self.free_at > now || self.waiting_bytes > 0 || self.blocks(packet) {
                return self.enqueue(packet, size, now, port, watch);
            }
        }
        debug_assert_eq!(self.waiting_bytes, 0, "what waits has been settled");
        self.depart(packet, now, port, watch);
        self.start_idle(packet, size, now, port, watch)
    }

    /// Whether a packet for which the port is not simply idle may stay; it may be marked.
    #[inline(always)]
    fn admit<W: Watch>(
        &mut self,
        packet: &mut Packet,
        size: u64,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> bool {
        self.call_hook(Calls::ARRIVAL, now, port, watch, |hook, queue| {
            hook.on_arrival(queue, packet, now);
        });
        let backlog = self.backlog();
        if self.discipline.is_congested(backlog) {
            self.threshold_crossings += 1;
        }
        let was_marked = packet.ecn == Ecn::Marked;
        let verdict = self.discipline.on_arrival(backlog, packet, now);
        if verdict == Verdict::Drop
            || !(self.fits(backlog, size, now) || self.make_room(packet, now, port, watch))
        {
            self.drops += 1;
            let reason = match verdict {
                Verdict::Drop => DropReason::Discipline,
                Verdict::Accept => self.refusal.take().unwrap_or(DropReason::Full),
            };
            watch.on_drop(port, packet, reason, now);
            return false;
        }
        if packet.ecn == Ecn::Marked && !was_marked {
            self.marks += 1;
            watch.on_mark(port, packet, now);
        }
        true
    }

    /// `packet` waits for others.
    #[inline(always)]
    fn enqueue<W: Watch>(
        &mut self,
        packet: &Packet,
        size: u64,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> Offer {
        // The packet in transmission stays in the ring until it arrives, so the ring is not empty.
        if let Some(waiting) = &mut self.priorities {
            waiting.push(packet);
            // Others may wait because they are paused.
            self.free_at = self.free_at.max(now);
            self.review_next_start();
            self.count_waiting(packet, size, now, port, watch);
            if self.gone > 0 {
                return Offer::Displacing;
            }
            return Offer::Queued;
        }
        if self.ps_per_byte == 0 {
            return self.enqueue_apart(packet, size, now, port, watch);
        }
        if self.ring.waiting_packets() == 0 {
            self.next_start = self.free_at;
        }
        let arrival = self.transmit(size, self.free_at);
        self.ring.push(packet, arrival);
        self.count_waiting(packet, size, now, port, watch);
        Offer::Queued
    }

    /// [`Port::enqueue`] of a FIFO with jitter, a bucket, or a rate at which a byte does not take whole picoseconds.
    #[inline(never)]
    fn enqueue_apart<W: Watch>(
        &mut self,
        packet: &Packet,
        size: u64,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> Offer {
        // What left a bucket as a whole may have arrived before the next has its tokens.
        let is_first = self.ring.is_empty();
        let (begins, arrival) = self.send_apart(size, now);
        if self.ring.waiting_packets() == 0 {
            self.next_start = begins;
        }
        self.ring.push(packet, arrival);
        self.count_waiting(packet, size, now, port, watch);
        if is_first {
            Offer::First(arrival)
        } else {
            Offer::Queued
        }
    }

    /// `packet` has begun to wait.
    #[inline(always)]
    fn count_waiting<W: Watch>(
        &mut self,
        packet: &Packet,
        size: u64,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) {
        self.packets += 1;
        self.bytes += size;
        self.change_level(now);
        self.waiting_bytes += size;
        self.max_waiting_bytes = self.max_waiting_bytes.max(self.waiting_bytes);
        watch.on_level(port, self.waiting_bytes, now);
        watch.on_accept(port, packet, now);
        self.tell_level(now, port, watch);
    }
}
