//! One direction of the way between our endpoints and the kernel.

use std::collections::BTreeMap;

use base::{Rate, Span, Time};
use engine::random::Stream;

/// Impairments of packets on their way, the same in each direction.
#[derive(Clone, Copy, Debug)]
pub struct Impairment {
    /// The delay of every packet.
    pub delay: Span,
    /// The rate in bits per second, if it is limited. Packets wait in the order of their priorities, in an unlimited
    /// queue.
    pub rate: Option<Rate>,
    /// Share of the packets that are lost, from 0 to 1.
    pub loss: f64,
    /// Share of the packets that are delayed more than others, from 0 to 1.
    pub reorder: f64,
    /// The largest additional delay of these.
    pub late: Span,
}

impl Impairment {
    /// Every packet arrives at once.
    pub const NONE: Self = Self {
        delay: Span::ZERO,
        rate: None,
        loss: 0.0,
        reorder: 0.0,
        late: Span::from_millis(2),
    };
}

/// Packets on their way.
///
/// A packet waits until those of higher priority before it have left, leaves at the rate, and arrives after the delay.
/// The next packet to leave is chosen later, from the packets that had arrived by its time. O(log n) per packet.
#[derive(Debug)]
pub(crate) struct Path {
    impairment: Impairment,
    random: Stream,
    /// Waiting packets by priority, the highest first, then in the order of arrival: time of arrival and bytes.
    waiting: BTreeMap<(u8, u64), (Time, Vec<u8>)>,
    /// When the transmitter becomes idle.
    free: Time,
    /// By arrival.
    flying: BTreeMap<(Time, u64), Vec<u8>>,
    /// Packets offered.
    count: u64,
    /// How many of these were lost.
    pub(crate) lost: u64,
    /// How many of these were delayed more.
    pub(crate) late: u64,
}

impl Path {
    /// An empty path with its own random numbers, drawn by `name`.
    pub(crate) fn new(impairment: Impairment, seed: u64, name: &str) -> Self {
        Self {
            impairment,
            random: Stream::new(seed, name, 0),
            waiting: BTreeMap::new(),
            free: Time::ZERO,
            flying: BTreeMap::new(),
            count: 0,
            lost: 0,
            late: 0,
        }
    }

    /// A packet begins its way; 0 is the highest priority. Returns whether it will arrive.
    pub(crate) fn offer(&mut self, packet: &[u8], priority: u8, now: Time) -> bool {
        self.leave(now);
        self.count += 1;
        if self.impairment.loss > 0.0 && self.random.unit() < self.impairment.loss {
            self.lost += 1;
            return false;
        }
        let place = (priority, self.count);
        self.waiting.insert(place, (now, packet.to_vec()));
        self.leave(now);
        true
    }

    /// The next packet that has arrived.
    pub(crate) fn due(&mut self, now: Time) -> Option<Vec<u8>> {
        self.leave(now);
        let first = self.flying.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// The time of the next event; [`Time::NEVER`] if nothing is on its way.
    pub(crate) fn next(&self) -> Time {
        let arrives = self.flying.keys().next().map(|(time, _)| *time);
        let leaves = (!self.waiting.is_empty()).then_some(self.free);
        let none = Time::NEVER;
        arrives.unwrap_or(none).min(leaves.unwrap_or(none))
    }

    /// Handles the packets that leave until `now`.
    fn leave(&mut self, now: Time) {
        while self.free <= now {
            let Some(((_, number), (came, packet))) = self.waiting.pop_first() else {
                return;
            };
            let bytes = packet.len() as u64;
            let rate = self.impairment.rate;
            let took = rate.map_or(Span::ZERO, |rate| rate.serialisation(bytes));
            self.free = self.free.max(came) + took;
            let mut arrives = self.free + self.impairment.delay;
            if self.impairment.reorder > 0.0 && self.random.unit() < self.impairment.reorder {
                let most = self.impairment.late.as_ps();
                arrives += Span::from_ps(self.random.below(most));
                self.late += 1;
            }
            self.flying.insert((arrives, number), packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_packet_arrives_after_its_transmission_and_the_delay() {
        let impairment = Impairment {
            delay: Span::from_millis(10),
            rate: Some(Rate::from_bps(8_000_000)),
            ..Impairment::NONE
        };
        let mut path = Path::new(impairment, 1, "test");
        // 1,000 bytes at 8 Mbit/s take 1 ms.
        for first in [1, 2] {
            assert!(path.offer(&vec![first; 1000], 0, ms(5)));
        }
        assert_eq!((path.due(ms(15)), path.next()), (None, ms(16)));
        assert_eq!(path.due(ms(16)).map(|packet| packet[0]), Some(1));
        assert_eq!(path.due(ms(16)), None);
        assert_eq!(path.due(ms(17)).map(|packet| packet[0]), Some(2));
        assert_eq!(path.next(), Time::NEVER);
    }

    #[test]
    fn packets_of_high_priority_overtake_those_that_wait() {
        let impairment = Impairment {
            rate: Some(Rate::from_bps(8_000_000)),
            ..Impairment::NONE
        };
        let mut path = Path::new(impairment, 1, "test");
        for (first, priority) in [(1, 2), (2, 2), (3, 1), (4, 0)] {
            path.offer(&vec![first; 1000], priority, ms(0));
        }
        let order: Vec<u8> = (0..4)
            .filter_map(|at| path.due(ms(at + 1)))
            .map(|packet| packet[0])
            .collect();
        // The first one was on its way when the others came.
        assert_eq!(order, [1, 4, 3, 2]);
    }

    #[test]
    fn shares_of_packets_are_lost_and_late() {
        let impairment = Impairment {
            loss: 0.05,
            reorder: 0.1,
            ..Impairment::NONE
        };
        let mut path = Path::new(impairment, 1, "test");
        for _ in 0..10_000 {
            path.offer(&[0], 0, ms(0));
        }
        // Within five standard deviations.
        assert!((390..610).contains(&path.lost), "{}", path.lost);
        assert!((800..1100).contains(&path.late), "{}", path.late);
        let arrived = std::iter::from_fn(|| path.due(ms(2))).count() as u64;
        assert_eq!(arrived + path.lost, 10_000);
    }
}
