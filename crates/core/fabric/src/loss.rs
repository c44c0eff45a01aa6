//! Loss that is given, not caused by congestion: for loss laws and lossy links.

use base::Packet;
use engine::random::Stream;

use crate::queue::Discipline;

/// Which packets are lost, of those that can be: see [`LossLaw::before`] and [`LossLaw::before_all`].
#[derive(Clone, Debug)]
pub enum LossLaw {
    /// Each with this probability, independently of all others.
    Random {
        /// From 0 to 1.
        probability: f64,
        /// Where the numbers come from.
        stream: Stream,
    },
    /// Every n-th, the n-th first.
    Periodic {
        /// n; at least 1.
        period: u64,
    },
}

/// A law at work.
#[derive(Debug)]
struct Lossy {
    law: LossLaw,
    /// Which packets are spared.
    spares: Spared,
    /// Packets that could be lost seen since the last periodic loss.
    since: u64,
}

/// Packets that a law spares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spared {
    None,
    /// Those without payload, such as ACKs.
    Control,
    /// Those with payload.
    Data,
}

impl LossLaw {
    /// The discipline `inner` behind this loss of data: packets without payload, such as ACKs, are never
    /// lost. A lost packet counts as dropped by the port.
    pub fn before(self, inner: Discipline) -> Discipline {
        self.lossy(Spared::Control, inner)
    }

    /// As [`LossLaw::before`], and only packets without payload are lost.
    pub fn before_control(self, inner: Discipline) -> Discipline {
        self.lossy(Spared::Data, inner)
    }

    /// As [`LossLaw::before`], and any packet may be lost.
    pub fn before_all(self, inner: Discipline) -> Discipline {
        self.lossy(Spared::None, inner)
    }

    fn lossy(self, spares: Spared, inner: Discipline) -> Discipline {
        let mut lossy = Lossy {
            law: self,
            spares,
            since: 0,
        };
        inner.losing(move |packet| lossy.loses(packet))
    }
}

impl Lossy {
    fn loses(&mut self, packet: &Packet) -> bool {
        let spared = match self.spares {
            Spared::None => false,
            Spared::Control => packet.payload == 0,
            Spared::Data => packet.payload > 0,
        };
        !spared && self.loses_next()
    }

    fn loses_next(&mut self) -> bool {
        match &mut self.law {
            LossLaw::Random {
                probability,
                stream,
            } => stream.unit() < *probability,
            LossLaw::Periodic { period } => {
                self.since += 1;
                let due = self.since >= *period;
                self.since *= u64::from(!due);
                due
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Ecn, FlowId, HostId, Time};

    use super::*;
    use crate::queue::{Backlog, Limit, QueueDisc, Verdict};

    fn lost(discipline: &mut Discipline, payload: u16, arrivals: usize) -> Vec<usize> {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = payload;
        let mut is_lost = |_: &usize| {
            discipline.on_arrival(Backlog::default(), &mut packet, Time::ZERO) == Verdict::Drop
        };
        (1..=arrivals).filter(|n| is_lost(n)).collect()
    }

    #[test]
    fn periodic_loss_takes_every_nth_data_packet_and_no_ack() {
        let mut discipline = LossLaw::Periodic { period: 4 }.before(Discipline::DropTail);
        assert_eq!(lost(&mut discipline, 0, 10), []);
        assert_eq!(lost(&mut discipline, 1446, 13), [4, 8, 12]);
    }

    #[test]
    fn loss_of_all_packets_takes_acks_too() {
        let mut discipline = LossLaw::Periodic { period: 4 }.before_all(Discipline::DropTail);
        assert_eq!(lost(&mut discipline, 0, 6), [4]);
        assert_eq!(lost(&mut discipline, 1446, 6), [2, 6]);
    }

    #[test]
    fn loss_of_control_takes_acks_alone() {
        let mut discipline = LossLaw::Periodic { period: 4 }.before_control(Discipline::DropTail);
        assert_eq!(lost(&mut discipline, 1446, 6), []);
        assert_eq!(lost(&mut discipline, 0, 6), [4]);
    }

    #[test]
    fn random_loss_takes_the_given_share() {
        let law = LossLaw::Random {
            probability: 0.01,
            stream: Stream::new(1, "loss", 0),
        };
        // Binomial(100000, 0.01): mean 1000, standard deviation 31.5; 5 of them either way.
        let count = lost(&mut law.before(Discipline::DropTail), 1446, 100_000).len();
        assert!((843..1157).contains(&count), "{count}");
    }

    #[test]
    fn the_discipline_behind_hears_that_the_queue_is_empty() {
        struct Hears(std::sync::Arc<std::sync::Mutex<Vec<Time>>>);
        impl QueueDisc for Hears {
            fn on_arrival(&mut self, _: Backlog, _: &mut Packet, _: Time) -> Verdict {
                Verdict::Accept
            }
            fn is_congested(&self, _: Backlog) -> bool {
                false
            }
            fn on_empty(&mut self, at: Time) {
                self.0.lock().unwrap().push(at);
            }
        }
        let heard = std::sync::Arc::<std::sync::Mutex<Vec<Time>>>::default();
        let inner = Discipline::Custom(Box::new(Hears(heard.clone())));
        let mut discipline = LossLaw::Periodic { period: 2 }.before(inner);
        discipline.on_empty(Time::ZERO);
        assert_eq!(*heard.lock().unwrap(), [Time::ZERO]);
    }

    #[test]
    fn what_is_not_lost_meets_the_discipline_behind() {
        let inner = Discipline::EcnThreshold(Limit::Packets(0));
        let mut discipline = LossLaw::Periodic { period: 2 }.before(inner);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        (packet.payload, packet.ecn) = (1446, Ecn::Capable);
        discipline.on_arrival(Backlog::default(), &mut packet, Time::ZERO);
        assert_eq!(packet.ecn, Ecn::Marked);
        assert!(discipline.is_congested(Backlog::default()));
    }
}
