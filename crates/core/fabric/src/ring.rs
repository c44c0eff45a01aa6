//! The packets of one port, in order: on the wire first, then waiting.

mod carried;

use base::{Beside, Ecn, Extension, FlowId, HostId, Options, Packet, Seq, TcpFlags, Time};
use prefetch_index::prefetch_index;

use carried::{Carried, EXTENSION, OPTIONS, RESERVED, STAMPS};

/// A ring of packets with the times at which a FIFO port knows, when it accepts them, that they arrive.
///
/// A long wire holds more packets than a cache, so most of what a packet-hop costs there is to wait for
/// what the ring has of it. That is little, half a cache line, and it is asked for some packets ahead;
/// options and extensions are kept apart, for few packets carry any. When the ring runs empty it starts
/// again at its first place, so that a lightly used port stays in one or two cache lines however large
/// its ring once grew. All operations O(1), growing and shrinking amortised, unless they say otherwise.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ring {
    /// A power of two of them.
    places: Box<[RingEntry]>,
    /// Running index of the oldest packet; the place is the index modulo the number of places, which divides
    /// the 2^32 after which indices begin again.
    head: u32,
    /// Running index of the oldest packet whose transmission has not begun.
    waiting: u32,
    /// Running index of the next free place.
    tail: u32,
    /// Options and extensions of packets; absent until a packet has some.
    carried: Option<Box<Carried>>,
}

/// A packet, but for its options and extension, and when it arrives at the next node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RingEntry {
    arrival: Time,
    // In the order of a packet's fields, so that they are copied together.
    flow: FlowId,
    to: HostId,
    seq: Seq,
    ack: Seq,
    window: u16,
    payload: u16,
    flags: TcpFlags,
    ecn: Ecn,
    dscp: u8,
    /// TCP's four reserved bits. The bits above them tell of options and an extension ([`carried`]).
    reserved: u8,
}

impl Ring {
    pub(crate) fn new() -> Self {
        Self {
            places: Box::default(),
            head: 0,
            waiting: 0,
            tail: 0,
            carried: None,
        }
    }

    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Whether there is no packet but the oldest.
    #[inline(always)]
    pub(crate) const fn is_last(&self) -> bool {
        self.tail.wrapping_sub(self.head) <= 1
    }

    /// Packets on the wire or waiting.
    pub(crate) const fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// Packets whose transmission has not begun.
    #[inline(always)]
    pub(crate) const fn waiting_packets(&self) -> u32 {
        self.tail.wrapping_sub(self.waiting)
    }

    /// Whether the transmission of the oldest packet has not been noticed.
    #[inline(always)]
    pub(crate) const fn oldest_waits(&self) -> bool {
        self.waiting == self.head
    }

    /// Appends a packet, which will arrive at `arrival`.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: &Packet, arrival: Time) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let index = self.place(self.tail);
        let place = &mut self.places[index];
        *place = RingEntry::of(packet, arrival);
        self.tail = self.tail.wrapping_add(1);
        if !matches!(packet.options, Options::None) || packet.extension != Extension::NONE {
            self.carry(packet, index);
        }
    }

    /// Appends a packet that finds the transmitter idle: it does not wait, nor does any before it.
    #[inline(always)]
    pub(crate) fn push_started(&mut self, packet: &Packet, arrival: Time) {
        self.push(packet, arrival);
        self.waiting = self.tail;
    }

    /// The oldest packet leaves the ring: it has arrived.
    ///
    /// Nothing here takes the address of the packet, so that it is made where the caller has it.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Packet {
        debug_assert!(!self.is_empty(), "an arrival has a packet");
        let index = self.place(self.head);
        let mut packet = self.places[index].packet();
        if packet.reserved > RESERVED {
            if packet.reserved & (OPTIONS | EXTENSION) != 0 {
                return self.pop_carried();
            }
            packet.options = self.carried.as_ref().expect(KEPT_BESIDES).stamps(index);
            packet.reserved &= RESERVED;
        }
        self.advance();
        packet
    }

    /// When the next packet arrives, after [`Ring::pop`].
    #[inline(always)]
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        if self.is_empty() {
            return None;
        }
        // The packets of other ports come in between, so that it is there in time.
        prefetch_index(&self.places, self.place(self.head.wrapping_add(AHEAD)));
        Some(self.places[self.place(self.head)].arrival)
    }

    /// [`Ring::pop`] will probably be called next.
    #[inline(always)]
    pub(crate) fn expect_pop(&self) {
        prefetch_index(&self.places, self.place(self.head));
    }

    /// The newest packet leaves the ring again, if there is one.
    pub(crate) fn pop_newest(&mut self) -> Option<Packet> {
        if self.is_empty() {
            return None;
        }
        let newest = self.tail.wrapping_sub(1);
        if self.waiting == self.tail {
            self.waiting = newest;
        }
        self.tail = newest;
        let index = self.place(self.tail);
        let mut packet = self.places[index].packet();
        self.give_carried(&mut packet, index);
        Some(packet)
    }

    /// The oldest waiting packet waits no longer. Returns its payload, and the bytes of its SACK blocks.
    #[inline(always)]
    pub(crate) fn start_oldest(&mut self) -> (u16, u64) {
        debug_assert!(self.waiting_packets() > 0, "a packet waits");
        let index = self.place(self.waiting);
        let place = self.places[index];
        self.waiting = self.waiting.wrapping_add(1);
        prefetch_index(&self.places, self.place(self.waiting.wrapping_add(1)));
        let carried = self.carried.as_ref();
        let carried = carried.filter(|_| place.reserved & OPTIONS != 0);
        let sack_bytes = carried.map_or(0, |carried| carried.sack_bytes(index));
        (place.payload, sack_bytes)
    }

    /// When the newest packet arrives.
    pub(crate) fn newest_arrival(&self) -> Option<Time> {
        let newest = self.tail.wrapping_sub(1);
        (!self.is_empty()).then(|| self.places[self.place(newest)].arrival)
    }

    /// When the oldest packet that waits arrives.
    pub(crate) fn oldest_waiting(&self) -> Time {
        debug_assert!(self.waiting_packets() > 0, "a packet waits");
        self.places[self.place(self.waiting)].arrival
    }

    /// Changes the packet that [`Ring::start_oldest`] has just started, but for its options.
    pub(crate) fn change_newest_started(&mut self, change: impl FnOnce(&mut Packet)) {
        let index = self.place(self.waiting.wrapping_sub(1));
        let place = self.places[index];
        let mut packet = place.packet();
        self.give_carried(&mut packet, index);
        let (options, extension) = (packet.options, packet.extension);
        change(&mut packet);
        debug_assert_eq!(packet.options, options, "only hosts have options");
        let mut carries = place.reserved & !RESERVED;
        if packet.extension != extension {
            let carried = self.carried.get_or_insert_default();
            carried.keep_extension(packet.extension, index, self.places.len());
            carries |= EXTENSION;
        }
        self.places[index] = RingEntry::of(&packet, place.arrival);
        self.places[index].reserved |= carries;
    }

    #[inline(always)]
    const fn place(&self, index: u32) -> usize {
        index as usize & (self.places.len() - 1)
    }

    /// Keeps what the packet at `index`, the newest, carries besides. Of a long wire the place is far from the processor:
    /// the store that tells of it does not wait, as a load would. It is marked as cold, so that packets that carry nothing
    /// save no registers for the call.
    #[cold]
    #[inline(never)]
    fn carry(&mut self, packet: &Packet, index: usize) {
        if let Options::Stamped(stamps, Beside::None) = packet.options
            && packet.extension == Extension::NONE
            && let Some(carried) = &mut self.carried
            && carried.keep_stamps(stamps, index)
        {
            self.places[index].reserved = packet.reserved | STAMPS;
        } else {
            self.carry_any(packet, index);
        }
    }

    /// [`Ring::carry`] of anything but timestamps, or of the first ones.
    #[inline(never)]
    fn carry_any(&mut self, packet: &Packet, index: usize) {
        let places = self.places.len();
        let carried = self.carried.get_or_insert_default();
        let carries = carried.keep(packet, index, places);
        self.places[index].reserved = packet.reserved | carries;
    }

    /// Gives a packet that has the reserved bits of its place what it carries.
    #[inline(always)]
    fn give_carried(&self, packet: &mut Packet, index: usize) {
        if let Some(carried) = &self.carried {
            carried.put_into(packet, index);
        }
    }

    /// [`Ring::pop`] of a packet that carries options or an extension.
    #[inline(never)]
    fn pop_carried(&mut self) -> Packet {
        let index = self.place(self.head);
        let mut packet = self.places[index].packet();
        self.give_carried(&mut packet, index);
        if let Some(carried) = &self.carried {
            carried.expect(self.place(self.head.wrapping_add(CARRIED_AHEAD)));
        }
        self.advance();
        packet
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.head = self.head.wrapping_add(1);
        if self.is_empty() {
            self.start_anew();
        }
    }

    /// The ring has run empty.
    #[inline(always)]
    fn start_anew(&mut self) {
        // Since the ring was last empty, at most `tail` places were in use at a time.
        if self.places.len() > KEPT && self.tail as usize <= self.places.len() / 4 {
            self.shrink();
        }
        (self.head, self.waiting, self.tail) = (0, 0, 0);
    }

    #[cold]
    fn grow(&mut self) {
        let mut places = empty_places((self.places.len() * 2).max(4));
        let (count, head) = (self.tail.wrapping_sub(self.head), self.head);
        for (index, place) in (0..count).zip(&mut places) {
            *place = self.places[self.place(head.wrapping_add(index))];
        }
        if let Some(carried) = &mut self.carried {
            carried.grow((head, count), places.len());
        }
        // Priority classes do not use `waiting`.
        (self.head, self.waiting, self.tail) = (0, self.waiting.wrapping_sub(head), count);
        self.places = places;
    }

    /// Gives back half of the memory of an empty ring that once needed it.
    #[cold]
    fn shrink(&mut self) {
        let half = self.places.len() / 2;
        // The old memory is freed first, so that both never exist at once.
        self.places = Box::default();
        self.places = empty_places(half);
        self.carried = None;
    }
}

impl RingEntry {
    #[inline(always)]
    const fn of(packet: &Packet, arrival: Time) -> Self {
        debug_assert!(packet.reserved <= RESERVED, "TCP has four reserved bits");
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
    const fn packet(&self) -> Packet {
        Packet {
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
        }
    }
}

fn empty_places(count: usize) -> Box<[RingEntry]> {
    let packet = Packet::new(FlowId(0), HostId(0));
    vec![RingEntry::of(&packet, Time::ZERO); count].into_boxed_slice()
}

/// The entries that the bits of a place announce are there.
const KEPT_BESIDES: &str = "what a packet carries besides is kept";

/// How many places ahead the ring is fetched: the next cache line or the one after.
const AHEAD: u32 = 3;
/// How many places ahead options are fetched: two take more than a cache line.
const CARRIED_AHEAD: u32 = 2;

/// Places that a ring keeps for good, 4 KiB of them; of more it gives half back whenever it runs empty
/// without having needed a quarter. The queue of a host is long while a flow starts and then short
/// again: a network of many hosts would otherwise keep memory for all of them to be long at once.
const KEPT: usize = 128;

/// Memory that a packet takes in the ring of a port, in bytes, and as much again for options and for an
/// extension.
pub const PLACE_BYTES: u64 = size_of::<RingEntry>() as u64;

const _: () = assert!(
    PLACE_BYTES == 32,
    "two places have the size of a cache line"
);

#[cfg(test)]
mod tests;
