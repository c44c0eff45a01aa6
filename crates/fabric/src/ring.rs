//! The packets of one port, in order: on the wire first, then waiting.

use base::{Ecn, Extension, FlowId, HostId, Options, Packet, Seq, TcpFlags, Time};
use prefetch_index::prefetch_index;

/// A ring of packets with the times at which a FIFO port knows, when it accepts them, that they arrive.
///
/// A long wire holds more packets than a cache, so most of what a packet-hop costs there is to wait for
/// what the ring has of it. That is little, half a cache line, and as much again for options, and for
/// an extension, of packets that carry them; and it is asked for some packets ahead. When the ring runs
/// empty it starts again at its first place, so that a lightly used port stays in one or two cache
/// lines however large its ring once grew. All operations O(1), growing and shrinking amortised, unless
/// they say otherwise.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ring {
    /// A power of two of them.
    places: Box<[Place]>,
    /// Running index of the oldest packet; the place is the index modulo the number of places.
    head: u32,
    /// Running index of the oldest packet whose transmission has not begun.
    waiting: u32,
    /// Running index of the next free place.
    tail: u32,
    /// Packets whose transmission has not begun.
    waiting_packets: u32,
}

/// What a place of the ring holds.
#[derive(Clone, Copy, Debug)]
enum Place {
    Packet(Fields),
    /// Of the packet before it.
    Options(Options),
    /// Of the packet before it.
    Extension(Extension),
}

/// A packet, but for its options and extension, and when it arrives at the next node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Fields {
    arrival: Time,
    flow: FlowId,
    to: HostId,
    seq: Seq,
    ack: Seq,
    window: u16,
    payload: u16,
    flags: TcpFlags,
    /// Behind the 28 bytes of options, so that values it cannot have tell what a place holds.
    ecn: Ecn,
    dscp: u8,
    reserved: u8,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self {
            places: Box::default(),
            head: 0,
            waiting: 0,
            tail: 0,
            waiting_packets: 0,
        }
    }

    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Whether there may be no packet but the oldest.
    #[inline(always)]
    pub(crate) const fn may_be_last(&self) -> bool {
        self.tail - self.head <= MOST_PLACES
    }

    /// Packets on the wire or waiting. O(packets).
    pub(crate) fn len(&self) -> usize {
        (self.head..self.tail)
            .filter(|index| self.fields(*index).is_some())
            .count()
    }

    /// Packets whose transmission has not begun.
    #[inline(always)]
    pub(crate) const fn waiting_packets(&self) -> u32 {
        self.waiting_packets
    }

    /// Whether the transmission of the oldest packet has not been noticed.
    #[inline(always)]
    pub(crate) const fn oldest_waits(&self) -> bool {
        self.waiting == self.head
    }

    /// Appends a packet, which will arrive at `arrival`.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet, arrival: Time) {
        self.append(Place::Packet(Fields::of(packet, arrival)));
        if packet.options != Options::None {
            self.append(Place::Options(packet.options));
        }
        if packet.extension != Extension::NONE {
            self.append(Place::Extension(packet.extension));
        }
        self.waiting_packets += 1;
    }

    /// The packet just pushed found the transmitter idle: it does not wait, nor does any before it.
    #[inline(always)]
    pub(crate) const fn start_newest(&mut self) {
        self.waiting = self.tail;
        self.waiting_packets = 0;
    }

    /// The oldest packet leaves the ring, into `packet`: it has arrived. Returns when the next one
    /// arrives.
    #[inline(always)]
    pub(crate) fn pop_into(&mut self, packet: &mut Packet) -> Option<Time> {
        debug_assert!(!self.is_empty(), "an arrival has a packet");
        // What the caller put there is never read, so that it need not be written either.
        let Place::Packet(fields) = &self.places[self.place(self.head)] else {
            unreachable!("the oldest place holds a packet");
        };
        fields.get_into(packet);
        self.head += 1;
        while !self.is_empty() {
            match &self.places[self.place(self.head)] {
                Place::Packet(next) => {
                    let arrival = next.arrival;
                    self.prefetch(self.head);
                    return Some(arrival);
                }
                Place::Options(options) => packet.options = *options,
                Place::Extension(extension) => packet.extension = *extension,
            }
            self.head += 1;
        }
        // Since it was empty last, at most `tail` places have been in use at a time.
        if self.places.len() > KEPT && self.tail as usize <= self.places.len() / 4 {
            self.shrink();
        }
        (self.head, self.waiting, self.tail) = (0, 0, 0);
        self.waiting_packets = 0;
        None
    }

    /// The newest packet leaves the ring again, if there is one.
    pub(crate) fn pop_newest(&mut self) -> Option<Packet> {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        if self.is_empty() {
            return None;
        }
        let newest = self.packet_before(self.tail);
        self.get_into(newest, &mut packet);
        self.tail = newest;
        if self.waiting > newest {
            self.waiting = newest;
        } else {
            self.waiting_packets -= 1;
        }
        Some(packet)
    }

    /// When the oldest packet arrives.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        let oldest = (!self.is_empty()).then(|| self.fields(self.head));
        oldest.flatten().map(|fields| fields.arrival)
    }

    /// The oldest waiting packet waits no longer. Returns its payload.
    #[inline(always)]
    pub(crate) fn start_oldest(&mut self) -> u16 {
        debug_assert!(self.waiting_packets > 0, "a packet waits");
        let payload = self.fields(self.waiting).map_or(0, |fields| fields.payload);
        self.waiting = self.packet_after(self.waiting);
        self.waiting_packets -= 1;
        payload
    }

    /// Changes the packet that [`Ring::start_oldest`] has just started, but for its options. To give an
    /// extension to a packet without one is O(places behind it).
    pub(crate) fn change_newest_started(&mut self, change: impl FnOnce(&mut Packet)) {
        let index = self.packet_before(self.waiting);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        let arrival = self.get_into(index, &mut packet);
        let (options, extension) = (packet.options, packet.extension);
        change(&mut packet);
        debug_assert_eq!(packet.options, options, "only hosts have options");
        let place = self.place(index);
        self.places[place] = Place::Packet(Fields::of(&packet, arrival));
        if packet.extension == extension {
            return;
        }
        let new = Place::Extension(packet.extension);
        let last = self.waiting - 1;
        let place = self.place(last);
        if matches!(self.places[place], Place::Extension(_)) {
            self.places[place] = new;
            return;
        }
        // What is behind moves on by one place.
        let mut moved = new;
        let end = self.tail;
        for index in self.waiting..end {
            let place = self.place(index);
            std::mem::swap(&mut self.places[place], &mut moved);
        }
        self.append(moved);
        self.waiting += 1;
    }

    #[inline(always)]
    const fn place(&self, index: u32) -> usize {
        index as usize & (self.places.len() - 1)
    }

    /// Asks for what comes after `index`. The packets of other ports come in between, so that it is
    /// there in time.
    #[inline(always)]
    fn prefetch(&self, index: u32) {
        prefetch_index(&self.places, self.place(index + AHEAD));
    }

    #[inline(always)]
    fn append(&mut self, what: Place) {
        if (self.tail - self.head) as usize == self.places.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        self.places[place] = what;
        self.tail += 1;
        if self.tail == LAST_INDEX {
            self.renumber();
        }
        self.prefetch(self.tail);
    }

    /// The packet at this index, if it is not where options or an extension are.
    #[inline(always)]
    fn fields(&self, index: u32) -> Option<&Fields> {
        match &self.places[self.place(index)] {
            Place::Packet(fields) => Some(fields),
            Place::Options(_) | Place::Extension(_) => None,
        }
    }

    /// Where the packet after the one at `index` is, or the first free place.
    #[inline(always)]
    fn packet_after(&self, mut index: u32) -> u32 {
        index += 1;
        while index != self.tail && self.fields(index).is_none() {
            index += 1;
        }
        index
    }

    /// Where the packet before the one at `index` is.
    fn packet_before(&self, mut index: u32) -> u32 {
        index -= 1;
        while self.fields(index).is_none() {
            index -= 1;
        }
        index
    }

    /// Copies the packet at `index`. Returns when it arrives.
    fn get_into(&self, index: u32, packet: &mut Packet) -> Time {
        let fields = self.fields(index).expect("a packet is there");
        fields.get_into(packet);
        for index in index + 1..self.packet_after(index) {
            match &self.places[self.place(index)] {
                Place::Packet(_) => {}
                Place::Options(options) => packet.options = *options,
                Place::Extension(extension) => packet.extension = *extension,
            }
        }
        fields.arrival
    }

    /// A ring that never runs empty counts from its first round again.
    #[cold]
    fn renumber(&mut self) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a multiple below the index"
        )]
        let rounds = (self.head as usize / self.places.len() * self.places.len()) as u32;
        self.head -= rounds;
        self.waiting = self.waiting.saturating_sub(rounds);
        self.tail -= rounds;
    }

    #[cold]
    fn grow(&mut self) {
        let mut places = empty_places((self.places.len() * 2).max(4));
        for index in self.head..self.tail {
            places[(index - self.head) as usize] = self.places[self.place(index)];
        }
        // In a class of priority nobody asks what is on the wire.
        let waiting = self.waiting.saturating_sub(self.head);
        (self.head, self.waiting, self.tail) = (0, waiting, self.tail - self.head);
        self.places = places;
    }

    /// Gives back half of the memory of an empty ring that once needed it.
    #[cold]
    fn shrink(&mut self) {
        let half = self.places.len() / 2;
        // What was there goes first, so that both are never there at once.
        self.places = Box::default();
        self.places = empty_places(half);
    }
}

impl Fields {
    #[inline(always)]
    const fn of(packet: &Packet, arrival: Time) -> Self {
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
            reserved: packet.reserved,
        }
    }

    /// The packet without options and extension.
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
            reserved: self.reserved,
            options: Options::None,
            extension: Extension::NONE,
        };
    }
}

fn empty_places(count: usize) -> Box<[Place]> {
    vec![Place::Extension(Extension::NONE); count].into_boxed_slice()
}

/// Running indices stay below this; there is never need for as many places.
const LAST_INDEX: u32 = if cfg!(test) { 1 << 10 } else { 1 << 31 };

/// How many places ahead the ring is fetched: the next cache line or the one after.
const AHEAD: u32 = 3;

/// Places that a packet takes at most.
const MOST_PLACES: u32 = 3;

/// Places that a ring keeps for good, 4 KiB of them; of more it gives half back whenever it runs empty
/// without having needed a quarter. The queue of a host is long while a flow starts and then short
/// again: a network of many hosts would otherwise keep memory for all of them to be long at once.
const KEPT: usize = 128;

/// Memory that a packet takes in the ring of a port, in bytes, and as much again for options and for an
/// extension.
pub const PLACE_BYTES: u64 = size_of::<Place>() as u64;

const _: () = assert!(
    PLACE_BYTES == 32,
    "two places have the size of a cache line"
);

#[cfg(test)]
mod tests;
