//! Links that deliver some packets late or twice, as routes that change and retries of lower layers do.

use std::collections::BTreeMap;

use base::{Packet, Span, Time};
use engine::Token;
use engine::random::Stream;

use crate::port_id::PortId;

/// The disorder of packets at the far end of a link, in both directions.
#[derive(Debug)]
pub struct Disorder {
    /// A port of the link; the other is its reverse.
    pub link: PortId,
    /// Share of packets that go on later, from 0 to 1, and by how much.
    pub late: (f64, Span),
    /// Share of packets that come a second time, right behind the first.
    pub twice: f64,
    /// Where the numbers come from.
    pub stream: Stream,
}

/// The packets that have come out of links and not gone on. O(log n) for each of n.
#[derive(Debug)]
pub(crate) struct Detained {
    disorder: Disorder,
    /// The token of their events, which no other event may have.
    token: Token,
    /// By the time at which they go on, those of the same time in the order in which they came.
    packets: BTreeMap<(Time, u64), (PortId, Packet)>,
    /// How many have been detained.
    count: u64,
}

/// The fate of a packet that has come out of a link: an event is due at each time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fate {
    /// When the packet goes on, if not at once.
    pub(crate) later: Option<Time>,
    /// When its copy goes on, if there is one.
    pub(crate) copy: Option<Time>,
}

impl Detained {
    pub(crate) const fn new(disorder: Disorder, token: Token) -> Self {
        Self {
            disorder,
            token,
            packets: BTreeMap::new(),
            count: 0,
        }
    }

    /// A packet has come out of `port`.
    pub(crate) fn on_arrival(&mut self, port: PortId, packet: &Packet, now: Time) -> Fate {
        let mut fate = Fate::default();
        let disorder = &mut self.disorder;
        if port == disorder.link || port == disorder.link.reverse() {
            let (late, by) = disorder.late;
            if late > 0.0 && disorder.stream.unit() < late {
                fate.later = Some(now + by);
            } else if disorder.twice > 0.0 && disorder.stream.unit() < disorder.twice {
                fate.copy = Some(now);
            }
        }
        for at in fate.later.into_iter().chain(fate.copy) {
            self.count += 1;
            self.packets.insert((at, self.count), (port, *packet));
        }
        fate
    }

    /// The next packet goes on, into `packet`. Returns the port it came out of.
    pub(crate) fn release(&mut self, packet: &mut Packet) -> Option<PortId> {
        let (_, (port, next)) = self.packets.pop_first()?;
        *packet = next;
        Some(port)
    }

    /// What its events have.
    pub(crate) const fn token(&self) -> Token {
        self.token
    }

    /// Packets that have not gone on.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Seq};

    use super::*;

    fn detained(late: f64, twice: f64) -> Detained {
        let disorder = Disorder {
            link: PortId(4),
            late: (late, Span::from_micros(50)),
            twice,
            stream: Stream::new(1, "disorder", 0),
        };
        Detained::new(disorder, Token(9))
    }

    fn packet(seq: u32) -> Packet {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.seq = Seq(seq);
        packet
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn late_packets_go_on_after_the_time_in_the_order_in_which_they_came() {
        let mut link = detained(1.0, 0.0);
        let late = Fate {
            later: Some(at(60)),
            copy: None,
        };
        let mut come = |port, seq| link.on_arrival(PortId(port), &packet(seq), at(10));
        assert_eq!([come(4, 1), come(5, 2)], [late; 2]);
        assert_eq!(come(6, 3), Fate::default());
        let mut out = packet(0);
        assert_eq!((link.release(&mut out), out.seq), (Some(PortId(4)), Seq(1)));
        assert_eq!((link.release(&mut out), out.seq), (Some(PortId(5)), Seq(2)));
        assert_eq!(link.release(&mut out), None);
    }

    #[test]
    fn the_shares_are_those_given() {
        // Binomial(100000, 0.01): mean 1000, standard deviation 31.5; five of them either way.
        let count = |mut link: Detained, wanted: fn(Fate) -> bool| {
            let come = |seq| link.on_arrival(PortId(4), &packet(seq), at(0));
            (0..100_000).map(come).filter(|fate| wanted(*fate)).count()
        };
        let late = count(detained(0.01, 0.0), |fate| fate.later.is_some());
        let twice = count(detained(0.0, 0.01), |fate| fate.copy.is_some());
        assert!(
            (843..1157).contains(&late) && (843..1157).contains(&twice),
            "{late} {twice}"
        );
    }

    #[test]
    fn a_copy_follows_its_packet() {
        let mut link = detained(0.0, 1.0);
        let fate = link.on_arrival(PortId(4), &packet(1), at(5));
        assert_eq!((fate.later, fate.copy), (None, Some(at(5))));
        let mut out = packet(0);
        assert_eq!((link.release(&mut out), out.seq), (Some(PortId(4)), Seq(1)));
    }
}
