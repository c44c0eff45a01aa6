//! The packets of one port, in order: on the wire first, then waiting.

use base::{Ecn, Extension, FlowId, HostId, Options, Packet, Seq, TcpFlags, Time};

mod extras;

use extras::{Extras, Which};

/// A ring of packets with the times at which a FIFO port knows, when it accepts them, that they arrive.
///
/// A long wire holds more packets than a cache, so most of what a packet-hop costs there is to fetch
/// its slot: half a cache line, with options and extensions elsewhere, where only packets that have
/// some look. When the ring runs empty it starts again at its first place, so that a lightly used port
/// stays in one or two cache lines however large its ring once grew. All operations O(1), growing and
/// shrinking amortised.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ring {
    /// A power of two of them.
    slots: Box<[Slot]>,
    /// What packets carry beyond their slots; none before the first that does.
    extras: Option<Box<Extras>>,
    /// Running index of the oldest packet; places are indices modulo the number of slots.
    head: u32,
    /// Running index of the oldest packet whose transmission has not begun.
    waiting: u32,
    /// Running index of the next free place.
    tail: u32,
}

/// When a packet arrives at the next node, and most of it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Slot {
    arrival: Time,
    flow: FlowId,
    to: HostId,
    seq: Seq,
    ack: Seq,
    window: u16,
    payload: u16,
    flags: TcpFlags,
    ecn: Ecn,
    dscp: u8,
    /// The four reserved bits, and [`Which`] extras there are.
    reserved: u8,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::default(),
            extras: None,
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

    /// Appends a packet, which will arrive at `arrival`.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet, arrival: Time) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        let which = Which::of(packet);
        self.slots[place] = Slot::of(packet, arrival, which);
        if !which.is_none() {
            self.extras.get_or_insert_default().push(self.tail, packet);
        }
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
        let slot = &self.slots[self.place(self.head)];
        slot.get_into(packet);
        if let Some(extras) = &mut self.extras
            && !slot.which().is_none()
        {
            extras.pop_into(slot.which(), packet);
        }
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

    /// The newest packet leaves the ring again, if there is one.
    pub(crate) fn pop_newest(&mut self) -> Option<Packet> {
        let newest = self.tail.checked_sub(1).filter(|_| !self.is_empty())?;
        let slot = &self.slots[self.place(newest)];
        let mut packet = Packet::new(FlowId(0), HostId(0));
        slot.get_into(&mut packet);
        if let Some(extras) = &mut self.extras {
            extras.pop_newest_into(slot.which(), &mut packet);
        }
        self.tail = newest;
        self.waiting = self.waiting.min(newest);
        Some(packet)
    }

    /// When the oldest packet arrives.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        (!self.is_empty()).then(|| self.slots[self.place(self.head)].arrival)
    }

    /// The oldest waiting packet waits no longer. Returns its payload.
    #[inline(always)]
    pub(crate) fn start_oldest(&mut self) -> u16 {
        debug_assert!(self.waiting != self.tail, "a packet waits");
        let payload = self.slots[self.place(self.waiting)].payload;
        self.waiting += 1;
        payload
    }

    /// Changes the packet that [`Ring::start_oldest`] has just started, but for its options.
    pub(crate) fn change_newest_started(&mut self, change: impl FnOnce(&mut Packet)) {
        let index = self.waiting - 1;
        let place = self.place(index);
        let slot = &mut self.slots[place];
        let mut packet = Packet::new(FlowId(0), HostId(0));
        slot.get_into(&mut packet);
        if let Some(extras) = &self.extras {
            packet.extension = extras.extension(index);
        }
        let before = packet.extension;
        change(&mut packet);
        debug_assert_eq!(packet.options, Options::None, "options are added by hosts");
        if packet.extension != before {
            let extras = self.extras.get_or_insert_default();
            extras.set_extension(index, packet.extension);
        }
        let options = slot.which().without_extension();
        *slot = Slot::of(&packet, slot.arrival, Which::of(&packet).and(options));
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
        if let Some(extras) = &mut self.extras {
            extras.count_from(self.head);
        }
        // In a class of priority nobody asks what is on the wire.
        let waiting = self.waiting.saturating_sub(self.head);
        (self.head, self.waiting, self.tail) = (0, waiting, self.tail - self.head);
        self.slots = slots;
    }

    /// Gives back half of the memory of an empty ring that once needed it.
    #[cold]
    fn shrink(&mut self) {
        let half = self.slots.len() / 2;
        // What was there goes first, so that both are never there at once.
        (self.slots, self.extras) = (Box::default(), None);
        self.slots = empty_slots(half);
    }
}

impl Slot {
    #[inline(always)]
    fn of(packet: &Packet, arrival: Time, extras: Which) -> Self {
        debug_assert!(packet.reserved < 16, "there are four reserved bits");
        Self {
            arrival,
            flow: packet.flow,
            to: packet.to,
            seq: packet.seq,
            ack: packet.ack,
            window: packet.window,
            payload: packet.payload,
            flags: packet.flags,
            ecn: packet.ecn,
            dscp: packet.dscp,
            reserved: packet.reserved | extras.bits(),
        }
    }

    /// The packet but for options and extension.
    #[inline(always)]
    const fn get_into(&self, packet: &mut Packet) {
        *packet = Packet {
            flow: self.flow,
            to: self.to,
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            payload: self.payload,
            flags: self.flags,
            ecn: self.ecn,
            dscp: self.dscp,
            reserved: self.reserved & !Which::BITS,
            options: Options::None,
            extension: Extension::NONE,
        };
    }

    #[inline(always)]
    const fn which(&self) -> Which {
        Which::from_bits(self.reserved)
    }
}

fn empty_slots(count: usize) -> Box<[Slot]> {
    let packet = Packet::new(FlowId(0), HostId(0));
    let empty = Slot::of(&packet, Time::ZERO, Which::of(&packet));
    vec![empty; count].into_boxed_slice()
}

/// Slots that a ring keeps for good, 4 KiB of them; of more it gives half back whenever it runs empty
/// without having needed a quarter. The queue of a host is long while a flow starts and then short
/// again: a network of many hosts would otherwise keep memory for all of them to be long at once.
const KEPT: usize = 128;

/// Memory that a packet takes in the ring of a port, in bytes, options and extension aside.
pub const SLOT_BYTES: u64 = size_of::<Slot>() as u64;

const _: () = assert!(SLOT_BYTES == 32, "two slots have the size of a cache line");

#[cfg(test)]
mod tests;
