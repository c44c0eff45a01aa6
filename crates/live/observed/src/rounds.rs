//! Flows that somebody awaits together.

use std::collections::BTreeMap;

use crate::numbers::percentile;
use crate::scenario::address;
use crate::seen::Flow;
use crate::verdict::DEGREE;

/// The times of one flow, observed or simulated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowTiming {
    /// When it began, in seconds.
    pub start_s: f64,
    /// How long it took; infinite if it did not end.
    pub fct_s: f64,
    /// Timeouts of its data.
    pub timeouts: u32,
}

/// Rounds: a round has all flows that one receiver requests at one time, and ends with the last of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rounds(Vec<Vec<usize>>);

impl Rounds {
    /// The rounds of flows in the order of their starts, as indices into the slice.
    ///
    /// A round begins with the first flow to a receiver behind the end of everything before, and takes in whatever
    /// begins until it is over. These are rounds only if they look as if they were asked for at one time: nearly all of
    /// their flows began before half of them were over. There are none where fewer than three have as many flows as an
    /// incast has, or where other flows carry more than a tenth of all bytes: then nobody can tell who waits for which
    /// of them. Requests for the answers of a round carry little.
    #[must_use]
    pub fn of(flows: &[Flow]) -> Self {
        let mut open: BTreeMap<&str, (f64, Vec<usize>)> = BTreeMap::new();
        let mut all = Vec::new();
        for (place, flow) in flows.iter().enumerate() {
            let end_s = flow.start_s + flow.fct_s;
            let round = open.entry(address(&flow.receiver)).or_default();
            if flow.start_s > round.0 {
                all.push(std::mem::take(&mut round.1));
            }
            round.0 = round.0.max(end_s);
            round.1.push(place);
        }
        all.extend(open.into_values().map(|(_, round)| round));
        all.retain(|round| round.len() as u64 >= u64::from(DEGREE) && is_at_once(flows, round));
        let inside: u64 = all.iter().flatten().map(|place| flows[*place].bytes).sum();
        let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
        if all.len() < LEAST || 10 * inside < 9 * bytes {
            all.clear();
        }
        Self(all)
    }

    /// Their number.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The median and the 99th percentile of their times in seconds, if the flows have these outcomes; `None` if there
    /// are no rounds. A flow without an end makes its round endless.
    pub(crate) fn took_s(&self, outcomes: &[FlowTiming]) -> Option<(f64, f64)> {
        let took = |round: &Vec<usize>| {
            let all = || round.iter().filter_map(|place| outcomes.get(*place));
            let first = all().map(|one| one.start_s).fold(f64::INFINITY, f64::min);
            let last = all().map(|one| one.start_s + one.fct_s).fold(0.0, f64::max);
            if all().count() == round.len() {
                last - first
            } else {
                f64::INFINITY
            }
        };
        let mut took: Vec<_> = self.0.iter().map(took).collect();
        let median = percentile(&mut took, 0.5);
        (!took.is_empty()).then(|| (median, percentile(&mut took, 0.99)))
    }
}

impl From<&Flow> for FlowTiming {
    fn from(flow: &Flow) -> Self {
        Self {
            start_s: flow.start_s,
            fct_s: flow.fct_s,
            timeouts: flow.timeouts,
        }
    }
}

/// Whether nine of ten flows of a round began before half of them were over.
fn is_at_once(flows: &[Flow], round: &[usize]) -> bool {
    let of = |when: fn(&Flow) -> f64, share| {
        let mut times: Vec<_> = round.iter().map(|place| when(&flows[*place])).collect();
        percentile(&mut times, share)
    };
    of(|flow| flow.start_s, 0.9) <= of(|flow| flow.start_s + flow.fct_s, 0.5)
}

/// Fewer rounds are not a pattern.
const LEAST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::tests::flow;

    /// Twelve answers to one receiver a tenth of a millisecond apart, the slowest of which takes `slowest_s`.
    fn asked(at_s: f64, slowest_s: f64) -> Vec<Flow> {
        let answer = |number: u32| Flow {
            start_s: at_s + f64::from(number) * 1e-4,
            fct_s: if number == 11 { slowest_s } else { 0.01 },
            ..flow(0.0, 0)
        };
        (0..12).map(answer).collect()
    }

    #[test]
    fn flows_that_are_asked_for_together_are_rounds_and_last_as_long_as_the_slowest() {
        let flows = [asked(0.0, 0.2), asked(0.5, 0.02), asked(1.0, 0.03)].concat();
        let rounds = Rounds::of(&flows);
        assert_eq!(rounds.count(), 3);
        let mut outcomes: Vec<_> = flows.iter().map(FlowTiming::from).collect();
        let (median, slowest) = rounds.took_s(&outcomes).expect("three");
        assert!((median - 0.031_1).abs() < 1e-9, "{median}");
        assert!((slowest - 0.201_1).abs() < 1e-9, "{slowest}");
        outcomes[30].fct_s = f64::INFINITY;
        let slowest = rounds.took_s(&outcomes).map(|(_, most)| most);
        assert_eq!(slowest, Some(f64::INFINITY));
        // If the outcomes of some flows are unknown, so are the times of rounds.
        let slowest = rounds.took_s(&outcomes[..20]).map(|(_, most)| most);
        assert_eq!(slowest, Some(f64::INFINITY));
    }

    #[test]
    fn flows_that_come_one_by_one_are_no_rounds_however_many_overlap() {
        // One a millisecond, each of which takes twenty.
        let stream = |number: u32| Flow {
            start_s: f64::from(number) * 1e-3,
            fct_s: 0.02,
            ..flow(0.0, 0)
        };
        let flows: Vec<_> = (0..200).map(stream).collect();
        assert_eq!(Rounds::of(&flows).count(), 0);
        // Two are too few to be told from chance, and among much other traffic nobody knows which flows belong to them.
        assert_eq!(
            Rounds::of(&[asked(0.0, 0.1), asked(0.5, 0.1)].concat()).count(),
            0
        );
        let rounds = [asked(10.0, 0.1), asked(10.5, 0.1), asked(11.0, 0.1)].concat();
        assert_eq!(Rounds::of(&rounds).count(), 3);
        // Requests go the other way, and carry little.
        let request = |(number, answer): (usize, &Flow)| Flow {
            bytes: 6,
            receiver: format!("10.0.1.{}:80", number % 12),
            ..answer.clone()
        };
        let asking = rounds
            .iter()
            .enumerate()
            .flat_map(|answer| [request(answer), answer.1.clone()]);
        assert_eq!(Rounds::of(&asking.collect::<Vec<_>>()).count(), 3);
        assert_eq!(Rounds::of(&[flows, rounds].concat()).count(), 0);
        assert_eq!(Rounds::default().took_s(&[]), None);
    }
}
