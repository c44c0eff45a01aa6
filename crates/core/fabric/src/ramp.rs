//! Marks whose probability grows with the queue, as switches of RoCE networks set them.

use base::cast::real;
use base::{Ecn, Packet, Time};
use engine::random::Stream;

use crate::queue::{Backlog, Discipline, Limit, QueueDisc, Verdict};

/// Marks ECN-capable packets by the queue that they find: none below `min`, all from `max` on, and between the two with a
/// probability that grows from 0 to `most` (DCQCN, SIGCOMM 2015, §3.1). Nothing is averaged.
#[derive(Clone, Debug)]
pub struct EcnRamp {
    /// Where marks begin (Kmin), and from where on every packet is marked (Kmax); both in bytes, or both in packets.
    pub min: Limit,
    /// See `min`; at least as much.
    pub max: Limit,
    /// The probability just below `max` (Pmax).
    pub most: f64,
    /// Where the numbers come from.
    pub stream: Stream,
}

impl EcnRamp {
    /// The discipline that marks so.
    pub fn into_discipline(self) -> Discipline {
        Discipline::Custom(Box::new(self))
    }

    /// The probability with which a packet is marked that finds `backlog`.
    fn probability(&self, backlog: Backlog) -> f64 {
        let place = |limit: Limit| match limit {
            Limit::Unlimited => (f64::INFINITY, 0.0),
            Limit::Bytes(bytes) => (real(bytes), real(backlog.bytes)),
            Limit::Packets(packets) => (real(packets), real(backlog.packets)),
        };
        let ((min, queue), (max, _)) = (place(self.min), place(self.max));
        if queue >= max {
            1.0
        } else if queue < min {
            0.0
        } else {
            self.most * (queue - min) / (max - min)
        }
    }
}

impl QueueDisc for EcnRamp {
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, _now: Time) -> Verdict {
        if packet.ecn != Ecn::Capable {
            return Verdict::Accept;
        }
        let probability = self.probability(backlog);
        if probability >= 1.0 || probability > 0.0 && self.stream.unit() < probability {
            packet.ecn = Ecn::Marked;
        }
        Verdict::Accept
    }

    fn is_congested(&self, backlog: Backlog) -> bool {
        match self.min {
            Limit::Unlimited => false,
            Limit::Bytes(bytes) => backlog.bytes >= bytes,
            Limit::Packets(packets) => backlog.packets >= packets,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};

    use super::*;

    /// How many of 10,000 packets are marked that find this queue.
    fn marks(queue: u64, ecn: Ecn) -> u32 {
        let mut ramp = EcnRamp {
            min: Limit::Bytes(5000),
            max: Limit::Bytes(200_000),
            most: 0.01,
            stream: Stream::new(1, "ecn", 0),
        };
        let backlog = Backlog {
            bytes: queue,
            packets: queue / 1000,
        };
        let marked = |_| {
            let mut packet = Packet::new(FlowId(0), HostId(0));
            packet.ecn = ecn;
            ramp.on_arrival(backlog, &mut packet, Time::ZERO);
            u32::from(packet.ecn == Ecn::Marked)
        };
        (0..10_000).map(marked).sum()
    }

    // The parameters of DCQCN at 40 Gbit/s.
    #[test]
    fn marks_grow_with_the_queue_from_none_to_all() {
        assert_eq!(marks(4999, Ecn::Capable), 0);
        assert_eq!(marks(5000, Ecn::Capable), 0);
        assert_eq!(marks(200_000, Ecn::Capable), 10_000);
        // Half way 0.5 %: 50 of 10,000, +- 7; five of them either way.
        let half = marks(102_500, Ecn::Capable);
        assert!((15..85).contains(&half), "{half}");
        // Just below the end 1 %.
        let end = marks(199_999, Ecn::Capable);
        assert!((50..150).contains(&end), "{end}");
    }

    #[test]
    fn packets_that_are_not_capable_pass() {
        assert_eq!(marks(200_000, Ecn::NotCapable), 0);
    }
}
