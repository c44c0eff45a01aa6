//! Waiting packets by priority.

use base::{Packet, Time};

use crate::ring::Ring;

/// How a port serves packets by priority: strictly, by code point, 0 first, each class in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strict {
    /// Classes, at most 64; packets of higher code points share the last one. With 1 the port is a FIFO.
    pub classes: u8,
    /// Whether a packet that does not fit pushes out packets of lower priority rather than being
    /// dropped: the last of the lowest class first (RC3 §2.3, "priority dropping").
    pub push_out: bool,
}

/// A FIFO queue for each class.
#[derive(Debug)]
pub(crate) struct Priorities {
    queues: Vec<Ring>,
    /// What waits in each of them.
    amounts: Vec<Amount>,
    /// A bit for each class that has packets, the first one lowest.
    waiting: u64,
    /// A bit for each class that may not be sent.
    paused: u64,
    packets: u64,
    push_out: bool,
}

/// Packets, and their payload in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Amount {
    pub(crate) packets: u64,
    pub(crate) payload: u64,
}

impl Strict {
    /// One class.
    pub const FIFO: Self = Self {
        classes: 1,
        push_out: false,
    };

    /// Classes that drop the arriving packet, whatever its priority, if there is no room.
    pub const fn of(classes: u8) -> Self {
        Self {
            classes,
            push_out: false,
        }
    }
}

impl Priorities {
    /// Empty queues.
    pub(crate) fn new(strict: Strict) -> Self {
        let classes = strict.classes.clamp(1, MOST_CLASSES);
        Self {
            queues: (0..classes).map(|_| Ring::new()).collect(),
            amounts: vec![Amount::default(); classes.into()],
            waiting: 0,
            paused: 0,
            packets: 0,
            push_out: strict.push_out,
        }
    }

    /// Appends a packet to the queue of its class. O(1), amortised.
    pub(crate) fn push(&mut self, packet: &Packet) {
        let class = self.class(packet);
        self.queues[class].push(packet, Time::NEVER);
        self.amounts[class].add(packet);
        self.waiting |= 1 << class;
        self.packets += 1;
    }

    /// The oldest packet of the first class that has one and is not paused leaves. O(1).
    ///
    /// # Panics
    /// If no such packet waits.
    pub(crate) fn pop(&mut self) -> Packet {
        let class = (self.waiting & !self.paused).trailing_zeros();
        let queue = &mut self.queues[class as usize];
        let packet = queue.pop();
        self.waiting &= !(u64::from(queue.is_empty()) << class);
        self.amounts[class as usize].take(&packet);
        self.packets -= 1;
        packet
    }

    /// Takes out the newest packet of the lowest class, if that is lower than the class of `arriving`
    /// and packets are pushed out here. O(1).
    pub(crate) fn push_out(&mut self, arriving: &Packet) -> Option<Packet> {
        let class = self.waiting.checked_ilog2()? as usize;
        if !self.push_out || class <= self.class(arriving) {
            return None;
        }
        self.pop_newest()
    }

    /// Takes out the newest packet of the lowest class, if any waits. O(1).
    pub(crate) fn pop_newest(&mut self) -> Option<Packet> {
        let class = self.waiting.checked_ilog2()? as usize;
        let queue = &mut self.queues[class];
        let packet = queue.pop_newest()?;
        self.amounts[class].take(&packet);
        self.waiting &= !(u64::from(queue.is_empty()) << class);
        self.packets -= 1;
        Some(packet)
    }

    /// What [`Priorities::push_out`] would take out for `arriving` if it were called again and again.
    /// O(classes).
    pub(crate) fn lower(&self, arriving: &Packet) -> Amount {
        let mut sum = Amount::default();
        if self.push_out {
            for amount in &self.amounts[self.class(arriving) + 1..] {
                sum.packets += amount.packets;
                sum.payload += amount.payload;
            }
        }
        sum
    }

    /// Packets of all classes.
    pub(crate) const fn packets(&self) -> u64 {
        self.packets
    }

    /// A class may no longer be sent, or again.
    pub(crate) const fn pause(&mut self, class: usize, paused: bool) {
        self.paused = self.paused & !(1 << class) | (paused as u64) << class;
    }

    /// Whether a class may not be sent.
    pub(crate) const fn is_paused(&self, class: usize) -> bool {
        self.paused >> class & 1 == 1
    }

    /// Whether a packet waits that may be sent.
    pub(crate) const fn can_send(&self) -> bool {
        self.waiting & !self.paused != 0
    }

    /// Classes.
    pub(crate) const fn classes(&self) -> usize {
        self.queues.len()
    }

    /// The packets that wait in a class.
    pub(crate) fn amount(&self, class: usize) -> Amount {
        self.amounts[class]
    }

    /// The class of `packet`.
    pub(crate) fn class(&self, packet: &Packet) -> usize {
        usize::from(packet.dscp).min(self.queues.len() - 1)
    }
}

impl Amount {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.payload += u64::from(packet.payload);
    }

    fn take(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.payload -= u64::from(packet.payload);
    }
}

/// Code points have six bits (RFC 2474 §3).
const MOST_CLASSES: u8 = 64;
