//! The room of a port: what fits, and what makes way.

use base::{Packet, Time};

use super::{Offer, Port};
use crate::port_id::PortId;
use crate::queue::{Backlog, Limit};
use crate::watch::{DropReason, Watch};

impl Port {
    /// Pushes out packets of lower priority until `packet` fits, if it then does. Returns whether.
    pub(super) fn make_room<W: Watch>(
        &mut self,
        packet: &Packet,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> bool {
        let Some(waiting) = &self.priorities else {
            return false;
        };
        let (all, lower) = (self.backlog(), waiting.lower(packet));
        let least = Backlog {
            bytes: all.bytes - lower.payload - lower.packets * u64::from(self.header_bytes),
            packets: all.packets - lower.packets,
        };
        let size = self.size_of(packet);
        if !self.fits(least, size, now) {
            return false;
        }
        while let Some(victim) = self
            .priorities
            .as_mut()
            .and_then(|waiting| waiting.push_out(packet))
        {
            self.leave(self.size_of(&victim), now, port, watch);
            self.uncount(&victim);
            self.review_next_start();
            self.drops += 1;
            watch.on_drop(port, &victim, DropReason::Full, now);
            if self.fits(self.backlog(), size, now) {
                return true;
            }
        }
        false
    }

    /// A packet arrives that has no room for this reason, and is dropped unless the discipline drops it. Returns whether it
    /// is lost for want of room.
    pub(crate) fn offer_refused<W: Watch>(
        &mut self,
        packet: &mut Packet,
        reason: DropReason,
        (now, port): (Time, PortId),
        watch: &mut W,
    ) -> (Offer, bool) {
        let limit = std::mem::replace(&mut self.limit, Limit::Bytes(0));
        self.refusal = Some(reason);
        let offer = self.offer_watched(packet, now, port, watch);
        self.limit = limit;
        (offer, self.refusal.take().is_none())
    }

    /// Whether a packet that is offered now waits; the port is settled.
    pub(crate) fn is_busy(&self, now: Time) -> bool {
        self.free_at > now || self.waiting_bytes > 0
    }

    /// Classes of priority.
    pub(crate) fn classes(&self) -> usize {
        self.priorities
            .as_ref()
            .map_or(1, |waiting| waiting.classes())
    }

    /// The class that `packet` waits in.
    pub(crate) fn class(&self, packet: &Packet) -> usize {
        self.priorities
            .as_ref()
            .map_or(0, |waiting| waiting.class(packet))
    }

    /// Bytes that wait in a class. Where classes differ, SACK blocks do not count.
    pub(crate) fn waiting_of(&self, class: usize) -> u64 {
        match &self.priorities {
            Some(waiting) if waiting.classes() > 1 => {
                let amount = waiting.amount(class);
                amount.payload + amount.packets * u64::from(self.header_bytes)
            }
            _ => self.waiting_bytes,
        }
    }

    /// Removes a packet that was accepted and will not be sent.
    pub(super) fn uncount(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= self.size_of(packet);
        self.gone += 1;
    }

    /// What waits by priority has changed, or when the transmitter is free.
    pub(super) fn review_next_start(&mut self) {
        if let Some(waiting) = &self.priorities {
            self.next_start = if waiting.can_send() {
                self.free_at
            } else {
                Time::NEVER
            };
        }
    }

    #[inline(always)]
    pub(super) fn backlog(&self) -> Backlog {
        let by_priority = self
            .priorities
            .as_ref()
            .map_or(0, |waiting| waiting.packets());
        Backlog {
            bytes: self.waiting_bytes,
            packets: u64::from(self.ring.waiting_packets()) + by_priority,
        }
    }

    #[inline(always)]
    pub(super) fn fits(&self, backlog: Backlog, size: u64, now: Time) -> bool {
        let has_room = match self.limit {
            Limit::Unlimited => true,
            Limit::Bytes(bytes) => backlog.bytes + size <= bytes,
            Limit::Packets(packets) => backlog.packets < packets,
        };
        // An idle transmitter takes the packet at once: it never waits.
        has_room || self.free_at <= now && backlog.packets == 0
    }

    /// Bytes of a packet on the wire.
    #[inline(always)]
    pub(crate) fn size_of(&self, packet: &Packet) -> u64 {
        if self.counts_sack {
            return self.size(packet.payload, packet.options.sack_bytes());
        }
        u64::from(self.header_bytes) + u64::from(packet.payload)
    }

    #[inline(always)]
    pub(super) fn size(&self, payload: u16, sack_bytes: u64) -> u64 {
        let counted = if self.counts_sack { sack_bytes } else { 0 };
        u64::from(self.header_bytes) + u64::from(payload) + counted
    }
}
