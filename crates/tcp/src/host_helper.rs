//! The role beside TCP at an end host: it sees every segment of every connection.

use base::{FlowId, Packet, Time};

/// What a scheme adds to a host below TCP: HSCC's helper that carries window scales, PIAS' tagging.
///
/// A segment passes on its way out before it reaches the host's port, and on its way in before TCP
/// sees it.
pub trait HostHelper: Send {
    /// The application begins a message on this connection. The next payload byte that has not been
    /// sent yet belongs to it once everything written before has been sent.
    fn on_message(&mut self, flow: FlowId) {
        let _ = flow;
    }

    /// A segment leaves the host; header fields of the scheme may be set.
    fn on_outgoing(&mut self, packet: &mut Packet, now: Time) {
        let _ = (packet, now);
    }

    /// A segment has come to the host; TCP sees it as it is afterwards.
    fn on_incoming(&mut self, packet: &mut Packet, now: Time) {
        let _ = (packet, now);
    }
}
