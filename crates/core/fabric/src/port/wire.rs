//! Packets that leave a wire before its end, and enter it behind its beginning.

use base::{Packet, Time};

use super::Port;

impl Port {
    /// The oldest packet, which has been sent, leaves the wire before it arrives.
    pub(crate) fn take_sent(&mut self) -> Packet {
        debug_assert!(!self.ring.oldest_waits(), "it has been sent");
        self.ring.pop()
    }

    /// A packet is on the wire that this port has not sent. Returns whether it is the only one.
    pub(crate) fn put_sent(&mut self, packet: &Packet, arrival: Time) -> bool {
        let is_first = self.ring.is_empty();
        self.ring.push_started(packet, arrival);
        is_first
    }
}
