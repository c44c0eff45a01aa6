//! The parts of completion times; [`breakdown`](crate::breakdown) says how they are found.

use base::Sort as _;
use serde::{Deserialize, Serialize};

use base::cast::{real, wide};

base::names! {
    /// A part of a flow's completion time.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Part {
        /// The connection opens.
        Handshake = "handshake",
        /// The flow's own bytes leave, one after the other, through the slowest link of its path.
        Serialisation = "serialisation",
        /// The critical packet is in wires.
        Propagation = "propagation",
        /// The sender may not send before an ACK comes, or at the rate that a scheme allows.
        Window = "window",
        /// The sender has nothing to send: the application has not written it, or its request is on its way.
        Application = "application",
        /// Packets of other flows are before this flow's.
        Queueing = "queueing",
        /// The sender repairs a loss that ACKs told of.
        Recovery = "recovery",
        /// The sender waits for a timer: of retransmission, of the handshake or of a probe; or the receiver for its timer
        /// of delayed ACKs.
        Timers = "timers",
    }
}

/// The parts of a completion time, in picoseconds and in the order of [`Part::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Breakdown([u64; 8]);

impl Breakdown {
    /// One part, in picoseconds.
    pub const fn get(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    /// All parts together, in picoseconds: the completion time.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The parts as results list them.
    pub const fn parts(&self) -> &[u64; 8] {
        &self.0
    }

    /// A breakdown from the parts in results.
    pub const fn of(parts: [u64; 8]) -> Self {
        Self(parts)
    }

    pub(crate) const fn add(&mut self, part: Part, ps: u64) {
        self.0[part as usize] += ps;
    }

    /// What has been added since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let parts = self.0.iter().zip(earlier.0);
        let mut since = Self::default();
        for (since, (part, earlier)) in since.0.iter_mut().zip(parts) {
            *since = part - earlier;
        }
        since
    }
}

/// The parts of completion times on average, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of `Part`")]
pub struct Parts {
    pub handshake_us: f64,
    pub serialisation_us: f64,
    pub propagation_us: f64,
    pub window_us: f64,
    pub application_us: f64,
    pub queueing_us: f64,
    pub recovery_us: f64,
    pub timers_us: f64,
}

/// The parts of the completion times of some flows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Split {
    /// The mean over all complete flows. It sums to their mean completion time.
    pub mean: Parts,
    /// The mean over the slowest flows by rank: the flow at the rank of the 99th percentile and all slower ones.
    pub tail: Parts,
}

impl Parts {
    /// In the order of [`Part::ALL`].
    pub const fn all(&self) -> [f64; 8] {
        [
            self.handshake_us,
            self.serialisation_us,
            self.propagation_us,
            self.window_us,
            self.application_us,
            self.queueing_us,
            self.recovery_us,
            self.timers_us,
        ]
    }

    /// The mean over `breakdowns`; none without any.
    fn mean<'a>(breakdowns: impl Iterator<Item = &'a Breakdown>) -> Option<Self> {
        let (mut count, mut sums) = (0_u64, [0_u128; 8]);
        for breakdown in breakdowns {
            count += 1;
            for (sum, part) in sums.iter_mut().zip(breakdown.0) {
                *sum += u128::from(part);
            }
        }
        let [
            handshake_us,
            serialisation_us,
            propagation_us,
            window_us,
            application_us,
            queueing_us,
            recovery_us,
            timers_us,
        ] = sums.map(|sum| wide(sum) / real(count) / 1e6);
        (count > 0).then_some(Self {
            handshake_us,
            serialisation_us,
            propagation_us,
            window_us,
            application_us,
            queueing_us,
            recovery_us,
            timers_us,
        })
    }
}

impl Split {
    /// The breakdown of `flows`, each with its number and its completion time in microseconds.
    ///
    /// The slowest are chosen by rank: the flow at the rank of the 99th percentile and all slower ones. So they are one
    /// in a hundred even if many flows take the same time. Among equally slow flows, a higher number counts as slower.
    pub(crate) fn of<'a>(flows: impl Iterator<Item = (f64, u32, &'a Breakdown)>) -> Option<Self> {
        let mut ranked: Vec<(f64, u32, &Breakdown)> = flows.collect();
        let parts = |flows: &[(f64, u32, &'a Breakdown)]| {
            Parts::mean(flows.iter().map(|(_, _, breakdown)| *breakdown))
        };
        let mean = parts(&ranked)?;
        let before = (ranked.len() * 99).div_ceil(100) - 1;
        ranked.select_by(before, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Some(Self {
            mean,
            tail: parts(&ranked[before..])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that waited for a timer for `wait` of its microseconds, and sent for the rest.
    fn flow(fct: u64, wait: u64) -> Breakdown {
        let mut breakdown = Breakdown::default();
        breakdown.add(Part::Timers, wait * 1_000_000);
        breakdown.add(Part::Serialisation, (fct - wait) * 1_000_000);
        breakdown
    }

    #[test]
    fn the_slowest_are_one_in_a_hundred_even_where_most_take_the_same_time() {
        // Of 2,000 flows 1,994 take 100 us, so that this is the 99th percentile, too; six wait for 10 ms.
        let (alike, late) = (flow(100, 0), flow(10_100, 10_000));
        let flows = (0..2000).map(|number| match number {
            0..6 => (10_100.0, number, &late),
            _ => (100.0, number, &alike),
        });
        let tail = Split::of(flows).unwrap().tail;
        // 21 flows from rank 1,980 on, six of them late.
        let expected = 6.0 * 10_000.0 / 21.0;
        assert!((tail.timers_us - expected).abs() < 1e-6, "{tail:?}");
        assert!((tail.serialisation_us - 100.0).abs() < 1e-6, "{tail:?}");
    }

    #[test]
    fn of_equally_slow_flows_the_later_are_the_slowest() {
        let flows: Vec<Breakdown> = (0..200).map(|number| flow(200, number)).collect();
        let numbered = (0..200)
            .zip(&flows)
            .map(|(number, flow)| (200.0, number, flow));
        // Ranks 198 to 200: the numbers 197 to 199, whatever the order in which they come.
        let tail = Split::of(numbered.rev()).unwrap().tail;
        assert!((tail.timers_us - 198.0).abs() < 1e-9, "{tail:?}");
    }

    #[test]
    fn a_flow_alone_is_the_slowest_and_without_flows_there_is_none() {
        let one = flow(7, 3);
        let tail = Split::of(std::iter::once((7.0, 0, &one))).unwrap().tail;
        assert!((tail.timers_us - 3.0).abs() < 1e-9);
        assert_eq!(Split::of(std::iter::empty()), None);
    }
}
