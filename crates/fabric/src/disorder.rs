//! Links that deliver some packets late or twice, as routes that change and retries of lower layers do.

use std::collections::BTreeMap;

use base::{Packet, Span, Time};
use engine::Token;
use engine::random::Stream;

use crate::port_id::PortId;

/// What happens to packets at the far end of a link, in both directions.
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
    /// What its events have; no other event may.
    pub token: Token,
}

/// A link in disorder, with the packets that have come out of it and not gone on. O(log n) for each of n.
#[derive(Debug)]
pub(crate) struct Detained {
    disorder: Disorder,
    /// By the time at which they go on, those of the same time in the order in which they came.
    packets: BTreeMap<(Time, u64), (PortId, Packet)>,
    /// How many have been detained.
    count: u64,
}

/// What becomes of a packet that has come out of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It goes on.
    Passes,
    /// It goes on when an event says so, which is due then.
    Late(Time),
    /// It goes on, and a copy when an event says so, which is due then.
    Twice(Time),
}

impl Detained {
    pub(crate) const fn new(disorder: Disorder) -> Self {
        Self {
            disorder,
            packets: BTreeMap::new(),
            count: 0,
        }
    }

    /// A packet has come out of `port`.
    pub(crate) fn on_arrival(&mut self, port: PortId, packet: &Packet, now: Time) -> Fate {
        let Disorder {
            link,
            late: (late, by),
            twice,
            ..
        } = self.disorder;
        if port != link && port != link.reverse() {
            return Fate::Passes;
        }
        if late > 0.0 && self.disorder.stream.unit() < late {
            return Fate::Late(self.keep(port, packet, now + by));
        }
        if twice > 0.0 && self.disorder.stream.unit() < twice {
            return Fate::Twice(self.keep(port, packet, now));
        }
        Fate::Passes
    }

    /// The next packet goes on, into `packet`. Returns the port it came out of.
    pub(crate) fn release(&mut self, packet: &mut Packet) -> Option<PortId> {
        let (_, (port, next)) = self.packets.pop_first()?;
        *packet = next;
        Some(port)
    }

    /// What its events have.
    pub(crate) const fn token(&self) -> Token {
        self.disorder.token
    }

    /// Packets that have not gone on.
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    fn keep(&mut self, port: PortId, packet: &Packet, at: Time) -> Time {
        self.count += 1;
        self.packets.insert((at, self.count), (port, *packet));
        at
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Seq};

    use super::*;

    fn detained(late: f64, twice: f64) -> Detained {
        Detained::new(Disorder {
            link: PortId(4),
            late: (late, Span::from_micros(50)),
            twice,
            stream: Stream::new(1, "disorder", 0),
            token: Token(9),
        })
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
        assert_eq!(
            link.on_arrival(PortId(4), &packet(1), at(10)),
            Fate::Late(at(60))
        );
        assert_eq!(
            link.on_arrival(PortId(5), &packet(2), at(10)),
            Fate::Late(at(60))
        );
        assert_eq!(link.on_arrival(PortId(6), &packet(3), at(10)), Fate::Passes);
        let mut out = packet(0);
        assert_eq!((link.release(&mut out), out.seq), (Some(PortId(4)), Seq(1)));
        assert_eq!((link.release(&mut out), out.seq), (Some(PortId(5)), Seq(2)));
        assert_eq!(link.release(&mut out), None);
    }

    #[test]
    fn the_shares_are_those_given() {
        // Binomial(100000, 0.01): mean 1000, standard deviation 31.5; five of them either way.
        let count = |mut link: Detained, wanted: fn(Fate) -> bool| {
            let fates = (0..100_000).map(|seq| link.on_arrival(PortId(4), &packet(seq), at(0)));
            fates.filter(|fate| wanted(*fate)).count()
        };
        let late = count(detained(0.01, 0.0), |fate| matches!(fate, Fate::Late(_)));
        let twice = count(detained(0.0, 0.01), |fate| matches!(fate, Fate::Twice(_)));
        assert!(
            (843..1157).contains(&late) && (843..1157).contains(&twice),
            "{late} {twice}"
        );
    }
}
