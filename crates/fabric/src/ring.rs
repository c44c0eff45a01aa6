//! The packets of one port, in order: on the wire first, then waiting.

use base::{FlowId, HostId, Packet, Time};

/// A ring of packets with the times a FIFO port knows when it accepts them.
///
/// When the ring runs empty it starts again at its first place, so that a lightly used port stays in
/// one or two cache lines however large its ring once grew. All operations O(1), growing and
/// shrinking amortised.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ring {
    /// A power of two of them.
    slots: Box<[Slot]>,
    /// Running index of the oldest packet; places are indices modulo the number of slots.
    head: u32,
    /// Running index of the oldest packet whose transmission has not begun.
    waiting: u32,
    /// Running index of the next free place.
    tail: u32,
}

/// A packet, when it starts to leave, and when it arrives at the next node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Slot {
    start: Time,
    arrival: Time,
    packet: Packet,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::default(),
            head: 0,
            waiting: 0,
            tail: 0,
        }
    }

    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Packets on the wire or waiting.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }

    /// Packets whose transmission has not begun.
    #[inline(always)]
    pub(crate) const fn waiting(&self) -> u32 {
        self.tail - self.waiting
    }

    /// Whether the transmission of the oldest packet has not been noticed.
    #[inline(always)]
    pub(crate) const fn oldest_waits(&self) -> bool {
        self.waiting == self.head
    }

    /// Appends a packet; it starts to leave and arrives as given.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet, start: Time, arrival: Time) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        let slot = &mut self.slots[place];
        slot.packet = *packet;
        (slot.start, slot.arrival) = (start, arrival);
        self.tail += 1;
    }

    /// The packet just pushed found the transmitter idle: it does not wait, nor does any before it.
    #[inline(always)]
    pub(crate) const fn start_newest(&mut self) {
        self.waiting = self.tail;
    }

    /// The oldest packet leaves the ring, into `packet`: it has arrived. Returns when the next one
    /// arrives.
    #[inline(always)]
    pub(crate) fn pop_into(&mut self, packet: &mut Packet) -> Option<Time> {
        debug_assert!(!self.is_empty(), "an arrival has a packet");
        *packet = self.slots[self.place(self.head)].packet;
        self.head += 1;
        if self.is_empty() {
            // Since it was empty last, at most `tail` packets have been here at a time.
            if self.slots.len() > KEPT && self.tail as usize <= self.slots.len() / 4 {
                self.shrink();
            }
            (self.head, self.waiting, self.tail) = (0, 0, 0);
            return None;
        }
        Some(self.slots[self.place(self.head)].arrival)
    }

    /// When the oldest packet arrives.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        (!self.is_empty()).then(|| self.slots[self.place(self.head)].arrival)
    }

    /// When the transmission of the oldest waiting packet begins; [`Time::NEVER`] if none waits.
    #[inline(always)]
    pub(crate) fn next_start(&self) -> Time {
        if self.waiting == self.tail {
            return Time::NEVER;
        }
        self.slots[self.place(self.waiting)].start
    }

    /// The oldest waiting packet waits no longer. Returns when its transmission began, and its payload.
    #[inline(always)]
    pub(crate) fn start_oldest(&mut self) -> (Time, u16) {
        debug_assert!(self.waiting != self.tail, "a packet waits");
        let slot = &self.slots[self.place(self.waiting)];
        let started = (slot.start, slot.packet.payload);
        self.waiting += 1;
        started
    }

    /// The packet that [`Ring::start_oldest`] has just started.
    pub(crate) fn newest_started(&mut self) -> &mut Packet {
        let place = self.place(self.waiting - 1);
        &mut self.slots[place].packet
    }

    #[inline(always)]
    const fn place(&self, index: u32) -> usize {
        index as usize & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = empty_slots((self.slots.len() * 2).max(4));
        for index in self.head..self.tail {
            slots[(index - self.head) as usize] = self.slots[self.place(index)];
        }
        (self.head, self.waiting, self.tail) = (0, self.waiting - self.head, self.tail - self.head);
        self.slots = slots;
    }

    /// Gives back half of the memory of an empty ring that once needed it.
    #[cold]
    fn shrink(&mut self) {
        let half = self.slots.len() / 2;
        // What was there goes first, so that both are never there at once.
        self.slots = Box::default();
        self.slots = empty_slots(half);
    }
}

fn empty_slots(count: usize) -> Box<[Slot]> {
    let empty = Slot {
        start: Time::ZERO,
        arrival: Time::ZERO,
        packet: Packet::new(FlowId(0), HostId(0)),
    };
    vec![empty; count].into_boxed_slice()
}

/// Slots that a ring keeps for good, 10 KiB of them; of more it gives half back whenever it runs empty
/// without having needed a quarter. The queue of a host is long while a flow starts and then short
/// again: a network of many hosts would otherwise keep memory for all of them to be long at once.
const KEPT: usize = 128;
