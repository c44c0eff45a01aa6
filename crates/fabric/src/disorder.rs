//! Links that deliver some packets late or twice, as routes that change and retries of lower layers do, and links of
//! hosts that deliver each at a time of its own.

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
}

/// What happens to packets at the far end of the links of hosts: each goes on later by a random time, in order.
#[derive(Debug)]
pub struct Jitter {
    /// The longest time.
    pub most: Span,
    /// Where the times come from.
    pub stream: Stream,
}

/// The packets that have come out of links and not gone on. O(log n) for each of n.
#[derive(Debug)]
pub(crate) struct Detained {
    disorder: Option<Disorder>,
    jitter: Option<Jitter>,
    /// What their events have; no other event may.
    token: Token,
    /// By the time at which they go on, those of the same time in the order in which they came.
    packets: BTreeMap<(Time, u64), (PortId, Packet)>,
    /// When the last packet out of each link of a host goes on.
    last: BTreeMap<PortId, Time>,
    /// How many have been detained.
    count: u64,
}

/// What becomes of a packet that has come out of a link: events are due at both times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fate {
    /// When it goes on, if not at once.
    pub(crate) later: Option<Time>,
    /// When a copy does, if there is one.
    pub(crate) copy: Option<Time>,
}

impl Detained {
    pub(crate) const fn new(
        disorder: Option<Disorder>,
        jitter: Option<Jitter>,
        token: Token,
    ) -> Self {
        Self {
            disorder,
            jitter,
            token,
            packets: BTreeMap::new(),
            last: BTreeMap::new(),
            count: 0,
        }
    }

    /// A packet has come out of `port`, which is a host's or not.
    pub(crate) fn on_arrival(
        &mut self,
        port: PortId,
        of_host: bool,
        packet: &Packet,
        now: Time,
    ) -> Fate {
        let goes_on = match &mut self.jitter {
            Some(jitter) if of_host => {
                let waits = Span::from_ps(jitter.stream.below(jitter.most.as_ps()));
                let last = self.last.entry(port).or_insert(now);
                *last = (*last).max(now + waits);
                *last
            }
            _ => now,
        };
        let mut fate = Fate {
            later: Some(goes_on).filter(|at| *at > now),
            copy: None,
        };
        if let Some(disorder) = &mut self.disorder
            && (port == disorder.link || port == disorder.link.reverse())
        {
            let (late, by) = disorder.late;
            if late > 0.0 && disorder.stream.unit() < late {
                fate.later = Some(goes_on + by);
            } else if disorder.twice > 0.0 && disorder.stream.unit() < disorder.twice {
                fate.copy = Some(goes_on);
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

    fn detained(late: f64, twice: f64, jitter: u64) -> Detained {
        let disorder = Disorder {
            link: PortId(4),
            late: (late, Span::from_micros(50)),
            twice,
            stream: Stream::new(1, "disorder", 0),
        };
        let jitter = Jitter {
            most: Span::from_micros(jitter),
            stream: Stream::new(1, "jitter", 0),
        };
        let jitter = Some(jitter).filter(|jitter| jitter.most > Span::ZERO);
        Detained::new(Some(disorder), jitter, Token(9))
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
        let mut link = detained(1.0, 0.0, 0);
        let late = Fate {
            later: Some(at(60)),
            copy: None,
        };
        let mut come = |port, seq| link.on_arrival(PortId(port), false, &packet(seq), at(10));
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
            let come = |seq| link.on_arrival(PortId(4), false, &packet(seq), at(0));
            (0..100_000).map(come).filter(|fate| wanted(*fate)).count()
        };
        let late = count(detained(0.01, 0.0, 0), |fate| fate.later.is_some());
        let twice = count(detained(0.0, 0.01, 0), |fate| fate.copy.is_some());
        assert!(
            (843..1157).contains(&late) && (843..1157).contains(&twice),
            "{late} {twice}"
        );
    }

    #[test]
    fn packets_of_a_host_wait_up_to_the_jitter_and_do_not_overtake() {
        let mut link = detained(0.0, 0.0, 10);
        let mut sum = 0;
        let mut last = [Time::ZERO; 2];
        for number in 0..10_000 {
            // Two hosts, whose packets come every 20 us, and every now and then two together.
            let (host, now) = (number % 2, at(10 * (number - number % 6 / 4)));
            let port = PortId(6 + 2 * u32::try_from(host).unwrap());
            let fate = link.on_arrival(port, true, &packet(0), now);
            let goes_on = fate.later.unwrap_or(now);
            let last = &mut last[usize::try_from(host).unwrap()];
            assert!(goes_on >= *last && goes_on >= now && goes_on < now + Span::from_micros(10));
            *last = goes_on;
            sum += goes_on.since(now).as_ps();
        }
        // Uniform: 5 us, and a little more of those that are held by others; five standard errors.
        let mean_ns = sum / 10_000 / 1000;
        assert!((4850..5600).contains(&mean_ns), "{mean_ns}");
        // Switches send at once.
        let fate = link.on_arrival(PortId(6), false, &packet(0), at(0));
        assert_eq!(fate, Fate::default());
    }

    #[test]
    fn a_copy_follows_its_packet_whatever_the_jitter() {
        let mut link = detained(0.0, 1.0, 10);
        let fate = link.on_arrival(PortId(4), true, &packet(1), at(5));
        assert_eq!(fate.copy, fate.later);
        let mut out = packet(0);
        for _ in 0..2 {
            assert_eq!((link.release(&mut out), out.seq), (Some(PortId(4)), Seq(1)));
        }
    }
}
