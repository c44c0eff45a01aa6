//! Loss of chosen segments: this SYN, that ACK, the fifth segment of each answer, everything for two milliseconds.

use base::{FlowId, Packet, Seq, TcpFlags, Time};

use crate::queue::Discipline;

/// A segment that is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChosenLoss {
    /// Which.
    pub segment: ChosenSegment,
    /// The only connection that loses it; `None`: every one does.
    pub only: Option<FlowId>,
    /// How many of its copies are lost, counted from the first.
    pub copies: u32,
}

/// A segment of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChosenSegment {
    /// The SYN.
    Syn,
    /// The SYN-ACK.
    SynAck,
    /// The packets that follow the SYN: the ACK that ends the handshake, then data. Each counts as a copy.
    Ack,
    /// A segment of data, by its number in the order of the stream.
    Data {
        /// From 1 to `of`.
        number: u64,
        /// After this many segments the numbers begin again; 0: never.
        of: u64,
    },
    /// Every packet that arrives in this time, the last moment excluded.
    Between(Time, Time),
}

/// The connections whose segments are lost.
///
/// It follows every connection that crosses the port. Data are numbered in the order in which they first come, which is
/// that of the stream: the port must be the first place at which they can be lost. A segment that begins before the end
/// of the stream so far is a copy.
#[derive(Debug)]
struct Followed {
    chosen: Vec<ChosenLoss>,
    /// By number of the connection.
    connections: Vec<Connection>,
}

#[derive(Clone, Debug, Default)]
struct Connection {
    syns: u32,
    syn_acks: u32,
    /// Segments behind a SYN.
    behind: u32,
    /// Segments of data that have come for the first time.
    segments: u64,
    /// Where the stream ends so far, once data have come.
    end: Option<Seq>,
    /// Lost segments that come again and are lost again: their first byte, and how often.
    pending: Vec<(Seq, u32)>,
}

impl ChosenLoss {
    /// The discipline `inner` behind the loss of these segments. A lost packet counts as dropped by the port.
    pub fn before(chosen: &[Self], inner: Discipline) -> Discipline {
        let mut followed = Followed {
            chosen: chosen.to_vec(),
            connections: Vec::new(),
        };
        inner.losing_by_time(move |packet, now| {
            // Packets are counted whether or not this copy is lost with all others.
            let counted = followed.loses(packet);
            counted || followed.loses_at(packet, now)
        })
    }

    fn concerns(&self, packet: &Packet) -> bool {
        self.only.is_none_or(|flow| flow == packet.flow)
    }
}

impl Followed {
    fn loses(&mut self, packet: &Packet) -> bool {
        let index = packet.flow.0 as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        let (connection, chosen) = (&mut self.connections[index], &self.chosen);
        let copies = |which| {
            let own = chosen.iter();
            let own = own.filter(|one| one.segment == which && one.concerns(packet));
            own.map(|one| one.copies).sum::<u32>()
        };
        let count = |count: &mut u32, which| {
            *count = count.saturating_add(1);
            *count <= copies(which)
        };
        if packet.flags.has(TcpFlags::SYN) {
            return if packet.flags.has(TcpFlags::ACK) {
                count(&mut connection.syn_acks, ChosenSegment::SynAck)
            } else {
                count(&mut connection.syns, ChosenSegment::Syn)
            };
        }
        let of_client = connection.syns > 0 && count(&mut connection.behind, ChosenSegment::Ack);
        // Data are followed whether or not this copy is lost as one behind the SYN.
        let of_stream = packet.payload > 0 && connection.loses_data(packet, chosen);
        of_client || of_stream
    }

    fn loses_at(&self, packet: &Packet, now: Time) -> bool {
        let all = self.chosen.iter().filter(|one| one.concerns(packet));
        let mut times = all.filter_map(|one| match one.segment {
            ChosenSegment::Between(from, until) => Some(from..until),
            _ => None,
        });
        times.any(|time| time.contains(&now))
    }
}

impl Connection {
    fn loses_data(&mut self, packet: &Packet, chosen: &[ChosenLoss]) -> bool {
        let end = packet.seq.at(u64::from(packet.payload));
        let is_new = self
            .end
            .is_none_or(|last| packet.seq.beyond(last) < HALF_OF_ALL);
        if !is_new {
            let holds = |(seq, _): &(Seq, u32)| seq.beyond(packet.seq) < u32::from(packet.payload);
            let Some(place) = self.pending.iter().position(holds) else {
                return false;
            };
            self.pending[place].1 -= 1;
            if self.pending[place].1 == 0 {
                self.pending.swap_remove(place);
            }
            return true;
        }
        self.end = Some(end);
        self.segments += 1;
        let is_this = |one: &&ChosenLoss| match one.segment {
            ChosenSegment::Data { number, of: 0 } => number == self.segments,
            ChosenSegment::Data { number, of } => number == (self.segments - 1) % of + 1,
            _ => false,
        };
        let mut own = chosen.iter().filter(|one| one.concerns(packet));
        let Some(one) = own.find(is_this) else {
            return false;
        };
        if one.copies > 1 {
            self.pending.push((packet.seq, one.copies - 1));
        }
        one.copies > 0
    }
}

/// A number that lies further beyond another lies before it (RFC 9293 §3.4).
const HALF_OF_ALL: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Time};

    use super::*;
    use crate::queue::{Backlog, QueueDisc, Verdict};

    const fn of(segment: ChosenSegment, copies: u32) -> ChosenLoss {
        ChosenLoss {
            segment,
            only: None,
            copies,
        }
    }

    const fn data(number: u64, of: u64) -> ChosenSegment {
        ChosenSegment::Data { number, of }
    }

    fn is_lost(
        discipline: &mut Discipline,
        flow: u32,
        flags: TcpFlags,
        seq: u32,
        payload: u16,
    ) -> bool {
        let mut packet = Packet::new(FlowId(flow), HostId(0));
        (packet.flags, packet.seq, packet.payload) = (flags, Seq(seq), payload);
        discipline.on_arrival(Backlog::default(), &mut packet, Time::ZERO) == Verdict::Drop
    }

    #[test]
    fn the_first_copies_of_a_syn_are_lost_on_every_connection() {
        let mut port = ChosenLoss::before(&[of(ChosenSegment::Syn, 2)], Discipline::DropTail);
        for flow in [3, 0] {
            let lost = [(); 3].map(|()| is_lost(&mut port, flow, TcpFlags::SYN, 7, 0));
            assert_eq!(lost, [true, true, false]);
            assert!(!is_lost(
                &mut port,
                flow,
                TcpFlags::SYN.with(TcpFlags::ACK),
                7,
                0
            ));
        }
    }

    #[test]
    fn what_follows_a_syn_is_lost_and_acks_of_the_other_side_are_not() {
        let mut port = ChosenLoss::before(&[of(ChosenSegment::Ack, 2)], Discipline::DropTail);
        // No SYN has come this way: these are ACKs of the side that was called.
        assert!(!is_lost(&mut port, 0, TcpFlags::ACK, 8, 0));
        assert!(!is_lost(&mut port, 1, TcpFlags::SYN, 7, 0));
        assert!(is_lost(&mut port, 1, TcpFlags::ACK, 8, 0));
        assert!(is_lost(&mut port, 1, TcpFlags::ACK, 8, 100));
        assert!(!is_lost(&mut port, 1, TcpFlags::ACK, 8, 100));
    }

    #[test]
    fn the_second_segment_of_every_three_is_lost_and_its_copy_is_not() {
        let mut port = ChosenLoss::before(&[of(data(2, 3), 1)], Discipline::DropTail);
        // Numbers wrap within the stream.
        let start = u32::MAX - 2500;
        let mut lost = |number: u32| {
            let seq = start.wrapping_add(number * 1000);
            is_lost(&mut port, 0, TcpFlags::ACK, seq, 1000)
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(&mut lost),
            [false, true, false, false, true, false]
        );
        assert_eq!([1, 4].map(&mut lost), [false, false]);
    }

    #[test]
    fn segments_of_one_connection_are_lost_on_no_other() {
        let only = |number| ChosenLoss {
            only: Some(FlowId(7)),
            ..of(data(number, 0), 1)
        };
        let mut port = ChosenLoss::before(&[only(2), only(3)], Discipline::DropTail);
        let mut lost =
            |flow, number: u32| is_lost(&mut port, flow, TcpFlags::ACK, number * 1000, 1000);
        assert_eq!(
            [1, 2, 3, 4].map(|number| lost(7, number)),
            [false, true, true, false]
        );
        assert_eq!([1, 2, 3, 4].map(|number| lost(6, number)), [false; 4]);
    }

    #[test]
    fn everything_that_arrives_in_an_interval_is_lost() {
        let [from, until] = [10, 12].map(|ms| Time::ZERO + base::Span::from_millis(ms));
        let cut = of(ChosenSegment::Between(from, until), 1);
        let mut port = ChosenLoss::before(&[cut], Discipline::DropTail);
        let mut lost = |at: Time| {
            let mut packet = Packet::new(FlowId(3), HostId(0));
            port.on_arrival(Backlog::default(), &mut packet, at) == Verdict::Drop
        };
        assert!(!lost(Time::ZERO) && lost(from) && !lost(until));
    }

    #[test]
    fn two_copies_of_a_segment_are_lost_even_if_the_second_is_part_of_a_longer_one() {
        let mut port = ChosenLoss::before(&[of(data(2, 0), 2)], Discipline::DropTail);
        let mut lost = |seq, payload| is_lost(&mut port, 0, TcpFlags::ACK, seq, payload);
        assert!(!lost(1000, 1000) && lost(2000, 1000) && !lost(3000, 1000));
        assert!(!lost(1000, 1000) && lost(1500, 1000) && !lost(2000, 1000));
    }
}
