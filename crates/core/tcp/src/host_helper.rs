//! The role beside TCP at an end host: it sees every segment of every connection.

use base::{Packet, Time};

use crate::receiver_cc::Slot;

/// What a scheme adds to a host below TCP: HSCC's helper that carries window scales, PIAS' tagging.
///
/// A segment passes on its way out before it reaches the host's port, and on its way in before TCP
/// sees it. Slots are those of the host's connections; one that is over may leave its slot to another,
/// which begins with a SYN.
pub trait HostHelper: Send {
    /// The application begins a message on this connection. The next payload byte that has not been
    /// sent yet belongs to it once everything written before has been sent.
    fn on_message(&mut self, slot: Slot) {
        let _ = slot;
    }

    /// A segment leaves the host; header fields of the scheme may be set.
    fn on_outgoing(&mut self, slot: Slot, packet: &mut Packet, now: Time) {
        let _ = (slot, packet, now);
    }

    /// A segment has come to the host; TCP sees it as it is afterwards.
    fn on_incoming(&mut self, slot: Slot, packet: &mut Packet, now: Time) {
        let _ = (slot, packet, now);
    }
}
