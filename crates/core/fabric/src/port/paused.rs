//! Priorities that the next node has paused.

use base::{Packet, Span, Time};

use super::Port;
use crate::priority::{Priorities, Strict};

impl Port {
    /// Decides late which packet is sent next, also with a single class: then classes can be paused.
    pub(crate) fn decide_late(&mut self) {
        if self.priorities.is_none() {
            self.priorities = Some(Box::new(Priorities::new(Strict::FIFO)));
        }
        (self.watches_idle, self.plain) = (true, false);
    }

    /// Pauses a class or resumes it. The packet in transmission is not affected.
    pub(crate) fn pause(&mut self, class: usize, paused: bool, now: Time) {
        if let Some(waiting) = &mut self.priorities {
            waiting.pause(class, paused);
        }
        self.free_at = self.free_at.max(now);
        self.review_next_start();
    }

    /// Sends a frame of the link layer ahead of all packets that wait. Returns when it has arrived.
    pub(crate) fn send_control(&mut self, bytes: u64, now: Time) -> Time {
        self.free_at = self.free_at.max(now) + self.rate.serialisation(bytes);
        self.review_next_start();
        self.free_at + self.delay
    }

    /// When the transmission of the next packet that waits begins; [`Time::NEVER`] if none may be sent.
    pub(crate) const fn next_start(&self) -> Time {
        self.next_start
    }

    /// Packets that wait in a class.
    pub(crate) fn packets_of(&self, class: usize) -> u64 {
        self.priorities
            .as_ref()
            .map_or(0, |waiting| waiting.amount(class).packets)
    }

    /// Whether the class of `packet` is paused.
    pub(super) fn blocks(&self, packet: &Packet) -> bool {
        self.priorities
            .as_ref()
            .is_some_and(|waiting| waiting.is_paused(waiting.class(packet)))
    }

    /// The time in which the wire is full of bytes: its delay, there and back.
    pub(crate) fn round_trip(&self) -> Span {
        self.delay + self.delay
    }
}
