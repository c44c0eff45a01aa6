//! Jitter: a random delay of packets at the end of a wire.

use base::{Span, Time};
use engine::random::Stream;

use super::Port;

/// A random wait of each packet at the end of a wire, in order: a packet waits for the one before it.
///
/// Without it senders keep step, and the same ones find room in a full queue again and again (Floyd and Jacobson, "On
/// Traffic Phase Effects", 1992).
#[derive(Clone, Debug)]
pub struct Jitter {
    most: Span,
    stream: Stream,
    /// When the newest packet arrives.
    last: Time,
}

impl Jitter {
    /// Waits of less than `most`, uniform, drawn from `stream`.
    pub fn new(most: Span, stream: Stream) -> Self {
        Self {
            most,
            stream,
            last: Time::ZERO,
        }
    }

    /// No wait but for the packet before: for a wire that has become shorter behind one that arrives at `newest`.
    pub(super) fn in_order(newest: Time) -> Self {
        Self {
            last: newest,
            ..Self::new(Span::ZERO, Stream::new(0, "no jitter", 0))
        }
    }

    /// The newest packet now is one that arrives at `newest`.
    pub(super) const fn go_on_behind(&mut self, newest: Time) {
        self.last = newest;
    }

    /// When a packet arrives that would arrive at `at`.
    #[inline(always)]
    pub(super) fn late(&mut self, at: Time) -> Time {
        let wait = Span::from_ps(self.stream.below(self.most.as_ps()));
        self.last = self.last.max(at + wait);
        self.last
    }
}

impl Port {
    /// [`Port::transmit`] with jitter, a bucket, or a rate at which a byte does not take whole picoseconds: others are
    /// asked about none of these.
    #[inline(never)]
    pub(super) fn transmit_apart(&mut self, size: u64, from: Time) -> Time {
        self.send_apart(size, from).1
    }

    /// How long such a port takes for a packet of this size.
    #[inline(always)]
    pub(super) fn serialisation_apart(&self, size: u64) -> Span {
        match self.exact {
            Some(exact) => Span::from_ps(exact * size),
            None => self.rate.serialisation(size),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Packet, Rate};

    use super::*;
    use crate::port::PortConfig;
    use crate::{Discipline, Limit, Strict};

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// A port of 1 Gbit/s at which a packet without payload takes 10 us, with this jitter in us.
    fn port(entity: u64, jitter: u64) -> Port {
        let config = PortConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Span::from_micros(40),
            jitter: Some(Jitter::new(
                Span::from_micros(jitter),
                Stream::new(1, "test", entity),
            )),
            bucket: None,
            limit: Limit::Unlimited,
            discipline: Discipline::DropTail,
            hook: None,
            priorities: Strict::FIFO,
            header_bytes: 1250,
        };
        Port::new(config, Time::ZERO)
    }

    /// When packets arrive that are offered at these times.
    fn arrivals(port: &mut Port, offers: impl Iterator<Item = Time>) -> Vec<Time> {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        let mut found = Vec::new();
        for at in offers {
            port.offer(&mut packet, at);
        }
        while let Some(at) = port.next_arrival() {
            port.arrive(at, crate::PortId(0), &mut (), &mut |_| false);
            found.push(at);
        }
        found
    }

    #[test]
    fn packets_are_late_by_up_to_the_jitter_and_do_not_overtake() {
        // Packets come every 30 us, every third with another right behind it.
        let offers = |number: u64| us(30 * number - number % 3 / 2 * 30);
        let found = arrivals(&mut port(0, 10), (0..9999).map(offers));
        let mut leaves = Time::ZERO;
        let mut sum = 0;
        for (number, arrival) in (0..).zip(&found) {
            leaves = leaves.max(offers(number)) + Span::from_micros(10);
            let wait = arrival.since(leaves + Span::from_micros(40));
            assert!(*arrival >= leaves + Span::from_micros(40), "{number}");
            assert!(wait < Span::from_micros(10), "{number}: {wait:?}");
            sum += wait.as_ps();
        }
        assert_eq!(found.len(), 9999);
        assert!(found.is_sorted());
        // Uniform below 10 us; five standard errors of 29 ns.
        let mean_ns = sum / 9999 / 1000;
        assert!((4855..5145).contains(&mean_ns), "{mean_ns}");
    }

    #[test]
    fn a_packet_waits_for_the_one_before_it() {
        // A packet takes a tenth of the jitter, so that most would overtake.
        let found = arrivals(&mut port(0, 100), (0..1000).map(|_| us(0)));
        assert!(found.is_sorted());
        let together = found.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(together > 500, "{together}");
    }

    #[test]
    fn ports_draw_waits_of_their_own() {
        let found = |entity| arrivals(&mut port(entity, 10), (0..10).map(|at| us(20 * at)));
        assert_eq!(found(1), found(1));
        assert!(found(1).iter().zip(found(2)).all(|(one, two)| *one != two));
    }
}
