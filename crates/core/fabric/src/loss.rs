//! Loss by a given law, not by congestion, for lossy links.

use base::Packet;
use engine::random::Stream;

use crate::queue::Discipline;

/// A law that picks the lost packets among those that can be lost: see [`LossLaw::before`] and
/// [`LossLaw::before_all`].
#[derive(Clone, Debug)]
pub enum LossLaw {
    /// Each with this probability, independently of all others.
    Random {
        /// From 0 to 1.
        probability: f64,
        /// Where the numbers come from.
        stream: Stream,
    },
    /// In bursts (Gilbert 1960, with a bad state that loses everything): a chain with one step per packet is good,
    /// when none is lost, or bad, when all are. Its first state is drawn as well.
    Bursts {
        /// The share that is lost in the long run: from 0 to 1.
        share: f64,
        /// The mean number of packets lost in a row, at least 1; the good state lasts a packet at least, so that
        /// bursts are longer where `share` would leave less: `share / (1 - share)`.
        mean: f64,
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
    /// Whether the last packet fell into a burst of losses; `None` before the first one.
    in_burst: Option<bool>,
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
            in_burst: None,
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
            LossLaw::Bursts {
                share,
                mean,
                stream,
            } => {
                // Steps from bad to good end a burst; as many lead from good to bad.
                let mean = mean.max(*share / (1.0 - *share));
                let probability = match self.in_burst {
                    None => *share,
                    Some(true) => 1.0 - 1.0 / mean,
                    Some(false) => *share / (mean * (1.0 - *share)),
                };
                let lost = stream.unit() < probability;
                self.in_burst = Some(lost);
                lost
            }
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
    use base::cast::count;
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
    fn bursts_have_the_given_share_and_the_given_mean_length() {
        // A burst of mean 4 and the good time behind it are a cycle of 4 / share packets. Lengths of bursts are
        // geometric with standard deviation sqrt(4 * 3) = 3.46, those of good times 4 * (1 - share) / share, of
        // about the same deviation: 400,000 packets at 2 % have 2000 cycles and 8000 losses, +- 8000 *
        // sqrt(2 / 2000) = 250; the mean length is 4 +- 3.46 / sqrt(2000) = 0.077. Five of each, either way.
        let law = LossLaw::Bursts {
            share: 0.02,
            mean: 4.0,
            stream: Stream::new(1, "loss", 0),
        };
        let lost = lost(&mut law.before(Discipline::DropTail), 1446, 400_000);
        assert!((6750..9250).contains(&lost.len()), "{}", lost.len());
        let bursts = 1 + lost.windows(2).filter(|two| two[1] > two[0] + 1).count();
        let mean = count(lost.len()) / count(bursts);
        assert!((mean - 4.0).abs() < 0.4, "{mean}");
    }

    // A good time lasts a packet at least: at 90 % bursts of nine, whatever shorter mean is asked for.
    #[test]
    fn a_large_share_makes_bursts_longer() {
        let law = LossLaw::Bursts {
            share: 0.9,
            mean: 1.0,
            stream: Stream::new(2, "loss", 0),
        };
        let lost = lost(&mut law.before(Discipline::DropTail), 1446, 100_000);
        // 10,000 cycles, each a burst of 9 +- 8.5 and one packet.
        assert!((89_000..91_000).contains(&lost.len()), "{}", lost.len());
    }

    #[test]
    fn bursts_of_mean_one_never_lose_two_in_a_row() {
        let law = LossLaw::Bursts {
            share: 0.1,
            mean: 1.0,
            stream: Stream::new(3, "loss", 0),
        };
        let lost = lost(&mut law.before(Discipline::DropTail), 1446, 10_000);
        assert!(lost.windows(2).all(|two| two[1] > two[0] + 1));
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
