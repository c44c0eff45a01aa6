//! Window scales for switches that rewrite receive windows.
//!
//! A window field means nothing to a switch that does not know by how many bits the connection shifts it
//! (RFC 7323 §2.2). Hosts know: both SYNs offer a shift. So a helper at every host keeps a table of
//! them, and each packet carries its shift, in an [`Encoding`], or is converted to a shift that switches know.

mod encoding;

use base::{Packet, Seq, TcpFlags, Time};
use tcp::{HostHelper, Slot};

pub use encoding::Encoding;

/// By how much the windows of a connection are shifted: ours, and those the other side advertises.
/// Both zero unless both SYNs had the option (RFC 7323 §2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shifts {
    /// Whether windows are shifted at all.
    pub(crate) agreed: bool,
    pub(crate) ours: u8,
    pub(crate) theirs: u8,
}

/// A table of connections, and the work on packets on their way out and in.
///
/// A connection is in the table from its first SYN until it has ended in both directions or is reset.
///
/// A helper that needs only its own host's shift does not look up incoming segments without SYN, FIN or RST: the lookup
/// is most of its cost.
pub(crate) struct ScaleHelper<O, I> {
    /// By slot, as far as slots have been seen.
    connections: Vec<Option<TableEntry>>,
    outgoing: O,
    incoming: I,
    /// Whether `incoming` is told the shifts.
    reads_theirs: bool,
}

/// A host's state of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct TableEntry {
    /// Number of the SYN that opened it.
    opened: Seq,
    /// The option in our SYN, and in theirs.
    offered: Option<u8>,
    asked: Option<u8>,
    /// The numbers that acknowledge our FIN and theirs, if they have been sent.
    our_end: Option<Seq>,
    their_end: Option<Seq>,
    /// Whether they are acknowledged.
    ended: (bool, bool),
}

impl<O, I> ScaleHelper<O, I>
where
    O: FnMut(&mut Packet, Shifts),
    I: FnMut(&mut Packet, Shifts),
{
    /// `outgoing` sees every packet that leaves with the shifts of its connection, and `incoming` every
    /// one that comes, with the shifts if `reads_theirs`.
    pub(crate) fn new(outgoing: O, incoming: I, reads_theirs: bool) -> Self {
        Self {
            connections: Vec::new(),
            outgoing,
            incoming,
            reads_theirs,
        }
    }

    /// The connection of a packet, which is forgotten if the packet ends it; an unknown one, such as
    /// one that has ended, shifts nothing.
    fn note(&mut self, slot: Slot, packet: &Packet, note: impl FnOnce(&mut TableEntry)) -> Shifts {
        let place = slot.0 as usize;
        if place >= self.connections.len() {
            self.connections.resize(place + 1, None);
        }
        let entry = &mut self.connections[place];
        if packet.flags.has(TcpFlags::SYN) {
            let opens = !packet.flags.has(TcpFlags::ACK);
            // The slot may be left from a connection that did not end well; the same SYN again changes
            // nothing.
            if opens && entry.is_none_or(|connection| connection.opened != packet.seq) {
                *entry = None;
            }
            let connection = entry.get_or_insert_default();
            if opens {
                connection.opened = packet.seq;
            }
        }
        let Some(connection) = entry else {
            return Shifts::default();
        };
        note(connection);
        let shifts = connection.shifts();
        if packet.flags.has(TcpFlags::RST) || connection.ended == (true, true) {
            *entry = None;
        }
        shifts
    }
}

impl TableEntry {
    fn shifts(&self) -> Shifts {
        match (self.offered, self.asked) {
            (Some(ours), Some(theirs)) => Shifts {
                agreed: true,
                ours: ours.min(MAX_SHIFT),
                theirs: theirs.min(MAX_SHIFT),
            },
            _ => Shifts::default(),
        }
    }
}

impl<O, I> HostHelper for ScaleHelper<O, I>
where
    O: FnMut(&mut Packet, Shifts) + Send,
    I: FnMut(&mut Packet, Shifts) + Send,
{
    fn on_outgoing(&mut self, slot: Slot, packet: &mut Packet, _now: Time) {
        let reads_theirs = self.reads_theirs;
        let shifts = self.note(slot, packet, |connection| {
            if packet.flags.has(TcpFlags::SYN) {
                connection.offered = shift_option(packet);
            }
            connection.our_end = end_of(packet).or(connection.our_end);
            connection.ended.1 |= acknowledges(packet, connection.their_end);
            // Once their FIN is acknowledged our windows mean nothing, even if our own FIN is still
            // open.
            connection.ended.0 |= !reads_theirs && connection.our_end.is_some();
        });
        (self.outgoing)(packet, shifts);
    }

    fn on_incoming(&mut self, slot: Slot, packet: &mut Packet, _now: Time) {
        let changes = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
        if !self.reads_theirs && !changes.into_iter().any(|flag| packet.flags.has(flag)) {
            return (self.incoming)(packet, Shifts::default());
        }
        let shifts = self.note(slot, packet, |connection| {
            if packet.flags.has(TcpFlags::SYN) {
                connection.asked = shift_option(packet);
            }
            connection.their_end = end_of(packet).or(connection.their_end);
            connection.ended.0 |= acknowledges(packet, connection.our_end);
        });
        (self.incoming)(packet, shifts);
    }
}

/// The shift that a SYN offers, if any.
fn shift_option(packet: &Packet) -> Option<u8> {
    packet.options.syn()?.window_scale
}

/// Of a FIN, the number that acknowledges it.
fn end_of(packet: &Packet) -> Option<Seq> {
    let end = packet.seq.at(packet.sequence_length());
    packet.flags.has(TcpFlags::FIN).then_some(end)
}

/// Nothing lies beyond a FIN, so an ACK of it has exactly this number.
fn acknowledges(packet: &Packet, end: Option<Seq>) -> bool {
    packet.flags.has(TcpFlags::ACK) && end == Some(packet.ack)
}

/// RFC 7323 §2.3.
pub(crate) const MAX_SHIFT: u8 = 14;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Options, SynOptions};

    use super::*;

    fn segment(flags: TcpFlags, seq: u32, ack: u32) -> Packet {
        let mut packet = Packet::new(FlowId(3), HostId(0));
        packet.flags = flags;
        (packet.seq, packet.ack) = (Seq(seq), Seq(ack));
        packet
    }

    fn syn(flags: TcpFlags, window_scale: Option<u8>) -> Packet {
        let mut packet = segment(flags.with(TcpFlags::SYN), 100, 0);
        packet.options = Options::Syn(SynOptions {
            mss: 1460,
            window_scale,
            sack_permitted: true,
        });
        packet
    }

    /// A helper that notes the shifts in the packets themselves: ours out, theirs in.
    fn helper() -> impl HostHelper {
        helper_that(true)
    }

    fn helper_that(reads_theirs: bool) -> impl HostHelper {
        ScaleHelper::new(
            |packet: &mut Packet, shifts: Shifts| packet.dscp = shifts.ours,
            |packet: &mut Packet, shifts: Shifts| packet.dscp = shifts.theirs,
            reads_theirs,
        )
    }

    fn out(helper: &mut impl HostHelper, mut packet: Packet) -> u8 {
        helper.on_outgoing(Slot(0), &mut packet, Time::ZERO);
        packet.dscp
    }

    fn back(helper: &mut impl HostHelper, mut packet: Packet) -> u8 {
        helper.on_incoming(Slot(0), &mut packet, Time::ZERO);
        packet.dscp
    }

    const ACK: TcpFlags = TcpFlags::ACK;

    // Clauses: HSCC-4-helper
    #[test]
    fn a_connection_shifts_if_both_sides_agree_whoever_opens_it() {
        for (ours, theirs, expected) in [
            (Some(7), Some(3), (7, 3)),
            (Some(15), Some(0), (14, 0)),
            (None, Some(3), (0, 0)),
            (Some(7), None, (0, 0)),
        ] {
            let mut active = helper();
            out(&mut active, syn(TcpFlags::NONE, ours));
            back(&mut active, syn(ACK, theirs));
            let mut passive = helper();
            back(&mut passive, syn(TcpFlags::NONE, theirs));
            out(&mut passive, syn(ACK, ours));
            for helper in [&mut active, &mut passive] {
                let seen = (
                    out(helper, segment(ACK, 101, 101)),
                    back(helper, segment(ACK, 101, 101)),
                );
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn a_connection_is_remembered_until_both_ends_are_acknowledged() {
        let mut helper = helper();
        out(&mut helper, syn(TcpFlags::NONE, Some(7)));
        back(&mut helper, syn(ACK, Some(7)));
        // Their FIN comes first; its ACK, our data and our FIN still carry the shift.
        back(&mut helper, segment(ACK.with(TcpFlags::FIN), 500, 101));
        assert_eq!(out(&mut helper, segment(ACK, 101, 501)), 7);
        assert_eq!(
            out(&mut helper, segment(ACK.with(TcpFlags::FIN), 101, 501)),
            7
        );
        // An old ACK ends nothing; that of the FIN does.
        assert_eq!(back(&mut helper, segment(ACK, 501, 101)), 7);
        assert_eq!(back(&mut helper, segment(ACK, 501, 102)), 7);
        assert_eq!(out(&mut helper, segment(ACK, 102, 501)), 0);
    }

    #[test]
    fn our_own_shift_is_remembered_while_they_may_send() {
        let mut helper = helper_that(false);
        out(&mut helper, syn(TcpFlags::NONE, Some(7)));
        back(&mut helper, syn(ACK, Some(7)));
        // Our FIN comes first, and is acknowledged; their data goes on, and so do our windows.
        out(&mut helper, segment(ACK.with(TcpFlags::FIN), 101, 101));
        assert_eq!(
            back(&mut helper, segment(ACK, 101, 102)),
            0,
            "not looked up"
        );
        assert_eq!(out(&mut helper, segment(ACK, 102, 400)), 7);
        back(&mut helper, segment(ACK.with(TcpFlags::FIN), 500, 102));
        assert_eq!(out(&mut helper, segment(ACK, 102, 501)), 7);
        assert_eq!(out(&mut helper, segment(ACK, 102, 501)), 0);
    }

    #[test]
    fn another_connection_in_the_slot_begins_anew_and_a_syn_sent_twice_does_not() {
        let mut helper = helper();
        back(&mut helper, syn(TcpFlags::NONE, Some(3)));
        out(&mut helper, syn(ACK, Some(7)));
        back(&mut helper, syn(TcpFlags::NONE, Some(3)));
        assert_eq!(out(&mut helper, segment(ACK, 101, 101)), 7);
        // The other side was cut off and comes again, without the option.
        let mut another = syn(TcpFlags::NONE, None);
        another.seq = Seq(9000);
        back(&mut helper, another);
        assert_eq!(out(&mut helper, segment(ACK, 101, 9001)), 0);
    }

    #[test]
    fn a_reset_is_forgotten_at_once() {
        let mut helper = helper();
        out(&mut helper, syn(TcpFlags::NONE, Some(7)));
        back(&mut helper, syn(ACK, Some(7)));
        back(&mut helper, segment(TcpFlags::RST, 500, 0));
        assert_eq!(out(&mut helper, segment(ACK, 101, 500)), 0);
    }
}
