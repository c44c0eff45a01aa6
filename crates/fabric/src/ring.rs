//! The packets of one port, in order: on the wire first, then waiting.

use base::{Packet, Time};

/// A ring of packets with the times a FIFO port knows when it accepts them.
///
/// Times lie apart from packets, so that retiring a waiting packet touches no packet. When the ring
/// runs empty it starts again at its first place, so that a lightly used port stays in one or two
/// cache lines however large its ring once grew. All operations O(1), growth amortised.
#[derive(Debug)]
pub(crate) struct Ring {
    packets: Vec<Packet>,
    stamps: Vec<Stamp>,
    /// Running index of the oldest packet; places are indices modulo the capacity.
    head: usize,
    /// Running index of the oldest packet whose transmission has not begun.
    waiting: usize,
    /// Running index of the next free place.
    tail: usize,
}

/// When a packet starts to leave and when it arrives at the next node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) start: Time,
    pub(crate) arrival: Time,
    /// Bytes on the wire.
    pub(crate) size: u32,
}

impl Ring {
    pub(crate) const fn new() -> Self {
        Self {
            packets: Vec::new(),
            stamps: Vec::new(),
            head: 0,
            waiting: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Packets on the wire or waiting.
    pub(crate) const fn len(&self) -> usize {
        self.tail - self.head
    }

    /// Packets whose transmission has not begun.
    #[inline]
    pub(crate) const fn waiting(&self) -> usize {
        self.tail - self.waiting
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, stamp: Stamp) {
        if self.len() == self.packets.len() {
            self.grow();
        }
        let place = self.tail & (self.packets.len() - 1);
        self.packets[place] = *packet;
        self.stamps[place] = stamp;
        self.tail += 1;
    }

    /// The packet just pushed found the transmitter idle: it does not wait, nor does any before it.
    #[inline]
    pub(crate) const fn start_newest(&mut self) {
        self.waiting = self.tail;
    }

    /// The oldest packet leaves the ring: it has arrived.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        if self.is_empty() {
            return None;
        }
        let packet = self.packets[self.head & (self.packets.len() - 1)];
        self.head += 1;
        if self.head == self.tail {
            (self.head, self.waiting, self.tail) = (0, 0, 0);
        }
        Some(packet)
    }

    /// When the oldest packet arrives.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        (!self.is_empty()).then(|| self.stamps[self.head & (self.stamps.len() - 1)].arrival)
    }

    /// The oldest waiting packet, if its transmission has begun at `now`; it waits no longer.
    #[inline]
    pub(crate) fn retire(&mut self, now: Time) -> Option<Stamp> {
        if self.waiting == self.tail {
            return None;
        }
        let stamp = self.stamps[self.waiting & (self.stamps.len() - 1)];
        if stamp.start > now {
            return None;
        }
        self.waiting += 1;
        Some(stamp)
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.packets.len() * 2).max(4);
        let oldest_first = |index: usize| (self.head + index) & (self.packets.len().max(1) - 1);
        let filler = Packet::new(base::FlowId(0), base::HostId(0));
        let mut packets = Vec::with_capacity(capacity);
        let mut stamps = Vec::with_capacity(capacity);
        for index in 0..self.len() {
            packets.push(self.packets[oldest_first(index)]);
            stamps.push(self.stamps[oldest_first(index)]);
        }
        packets.resize(capacity, filler);
        stamps.resize(
            capacity,
            Stamp {
                start: Time::ZERO,
                arrival: Time::ZERO,
                size: 0,
            },
        );
        (self.head, self.waiting, self.tail) = (0, self.waiting - self.head, self.len());
        (self.packets, self.stamps) = (packets, stamps);
    }
}
