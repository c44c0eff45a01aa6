//! Waiting packets by priority.

use std::collections::VecDeque;

use base::Packet;

/// A FIFO queue for each priority; the class of a packet is its code point, 0 first.
#[derive(Debug)]
pub(crate) struct Priorities {
    queues: Vec<VecDeque<Packet>>,
    packets: u64,
}

impl Priorities {
    /// `classes` empty queues; packets of higher classes share the last one.
    pub(crate) fn new(classes: u8) -> Self {
        Self {
            queues: (0..classes.max(1)).map(|_| VecDeque::new()).collect(),
            packets: 0,
        }
    }

    /// Appends a packet to the queue of its class. O(1), amortised.
    pub(crate) fn push(&mut self, packet: &Packet) {
        let class = usize::from(packet.dscp).min(self.queues.len() - 1);
        self.queues[class].push_back(*packet);
        self.packets += 1;
    }

    /// The oldest packet of the first class that has one. O(classes).
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.queues.iter_mut().find_map(VecDeque::pop_front)?;
        self.packets -= 1;
        Some(packet)
    }

    /// Packets of all classes.
    pub(crate) const fn packets(&self) -> u64 {
        self.packets
    }
}
