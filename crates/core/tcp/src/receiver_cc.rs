//! The role of a receiving host: it decides the windows of all its connections and when their ACKs
//! leave.

use base::{Packet, Time};

use crate::receiver::Arrival;

/// A connection of one host; dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// Receiver-side control of one host, over all connections that come in to it.
///
/// After every event of any connection of the host, [`ReceiverCc::next_release`] is asked until it
/// returns `None`, so that an ACK held back leaves in the event that frees it.
pub trait ReceiverCc {
    /// A SYN has been accepted on `slot`; its SYN-ACK is about to be offered. Not called for
    /// connections that the role does not control ([`Config::receiver_control`]); of these it hears
    /// everything else, and has to leave them alone.
    ///
    /// [`Config::receiver_control`]: crate::Config::receiver_control
    fn on_open(&mut self, slot: Slot, syn: &Packet, mss: u16, now: Time) {
        let _ = (slot, syn, mss, now);
    }

    /// The connection's data is complete (FIN in order), or it was reset before. Called once.
    fn on_close(&mut self, slot: Slot, now: Time) {
        let _ = (slot, now);
    }

    /// A data segment has been stored; its ACK has not been offered yet.
    fn on_data(&mut self, slot: Slot, arrival: &Arrival, now: Time) {
        let _ = (slot, arrival, now);
    }

    /// The window to advertise, in bytes, where the receive buffer would allow `buffer`.
    fn window(&self, slot: Slot, buffer: u64) -> u64 {
        let _ = slot;
        buffer
    }

    /// An ACK or SYN-ACK is ready. After [`AckVerdict::Hold`] it leaves when
    /// [`ReceiverCc::next_release`] names its slot; a later one of the same slot replaces it.
    fn on_ack_ready(&mut self, slot: Slot, kind: AckKind, now: Time) -> AckVerdict {
        let _ = (slot, kind, now);
        AckVerdict::Send
    }

    /// A segment with an acknowledgement is leaving: it allows the sender `ack + window`.
    fn on_ack_sent(&mut self, slot: Slot, sent: &AckSent, now: Time) {
        let _ = (slot, sent, now);
    }

    /// `packet`, a segment with an acknowledgement or a notice, is leaving; header fields of the scheme may be set.
    fn stamp(&mut self, slot: Slot, packet: &mut Packet) {
        let _ = (slot, packet);
    }

    /// The next held ACK that may leave now, or a notice. It is asked until it answers `None`: one that always answers ends the
    /// simulation with an error.
    fn next_release(&mut self, now: Time) -> Option<Release> {
        let _ = now;
        None
    }

    /// When [`ReceiverCc::on_deadline`] is to be called; [`Time::NEVER`] if not at all.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come.
    fn on_deadline(&mut self, now: Time) {
        let _ = now;
    }

    /// Reports its state by the names of [`Gauge`](crate::Gauge)s, for traces: of one connection, or
    /// of the host as a whole.
    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        let _ = sink;
    }
}

/// What is about to be acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckKind {
    /// The SYN.
    Syn,
    /// Data.
    Data,
    /// The FIN; nothing more will come.
    Fin,
}

/// Whether an ACK leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckVerdict {
    /// At once.
    Send,
    /// When it is released.
    Hold,
}

/// A segment that the role lets go. Its numbers are those of the moment it leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Whose segment.
    pub slot: Slot,
    /// What it is.
    pub what: Released,
}

/// What a role lets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Released {
    /// An ACK that was held, or one more.
    Ack,
    /// An ACK with PSH, which senders may obey ([`Orders`](crate::Orders)).
    Order,
    /// A small segment without any flag, which acknowledges nothing: what [`ReceiverCc::stamp`] writes into it reaches the
    /// sender's congestion control ([`SenderCc::on_notice`](crate::SenderCc::on_notice)), as the CNPs of `RoCE` do.
    Notice,
}

/// What a segment towards a sender says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckSent {
    /// Next offset expected in order.
    pub ack: u64,
    /// Window as the sender will read it, bytes.
    pub window: u64,
    /// Whether it is a SYN-ACK.
    pub syn: bool,
}

/// No control: every ACK leaves at once with the window of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Plain;

impl ReceiverCc for Plain {}
