//! Waiting packets by priority.

use base::{Packet, Time};

use crate::ring::Ring;

/// How a port serves packets by priority: strictly, by code point, 0 first, each class in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strict {
    /// Classes; packets of higher code points share the last one. With 1 the port is a FIFO.
    pub classes: u8,
    /// Whether a packet that does not fit pushes out packets of lower priority rather than being
    /// dropped: the last of the lowest class first (RC3 §2.3, "priority dropping").
    pub push_out: bool,
}

/// A FIFO queue for each class.
#[derive(Debug)]
pub(crate) struct Priorities {
    queues: Vec<Ring>,
    packets: u64,
    push_out: bool,
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
        Self {
            queues: (0..strict.classes.max(1)).map(|_| Ring::new()).collect(),
            packets: 0,
            push_out: strict.push_out,
        }
    }

    /// Appends a packet to the queue of its class. O(1), amortised.
    pub(crate) fn push(&mut self, packet: &Packet) {
        let class = self.class(packet);
        self.queues[class].push(packet, Time::NEVER);
        self.packets += 1;
    }

    /// Puts the oldest packet of the first class that has one into `packet`. O(classes).
    ///
    /// # Panics
    /// If no packet waits.
    pub(crate) fn pop_into(&mut self, packet: &mut Packet) {
        let mut queues = self.queues.iter_mut();
        let queue = queues.find(|queue| !queue.is_empty());
        queue.expect("a packet waits").pop_into(packet);
        self.packets -= 1;
    }

    /// Takes out the newest packet of the lowest class, if that is lower than the class of `arriving`
    /// and packets are pushed out here. O(classes).
    pub(crate) fn push_out(&mut self, arriving: &Packet) -> Option<Packet> {
        if !self.push_out {
            return None;
        }
        let lower = self.class(arriving) + 1;
        let mut queues = self.queues[lower..].iter_mut().rev();
        let packet = queues.find_map(Ring::pop_newest)?;
        self.packets -= 1;
        Some(packet)
    }

    /// Packets of all classes.
    pub(crate) const fn packets(&self) -> u64 {
        self.packets
    }

    fn class(&self, packet: &Packet) -> usize {
        usize::from(packet.dscp).min(self.queues.len() - 1)
    }
}
