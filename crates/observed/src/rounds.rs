//! Flows that somebody awaits together.

use std::collections::BTreeMap;

use crate::numbers::percentile;
use crate::scenario::address;
use crate::seen::Flow;
use crate::verdict::DEGREE;

/// Rounds: each has all flows that one receiver asked for at one time, and ends with the last of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rounds(Vec<Vec<usize>>);

impl Rounds {
    /// Those of flows in the order of their starts, as places in the slice.
    ///
    /// A round begins with the first flow to a receiver behind the end of everything before, and takes in whatever
    /// begins until it is over. These are rounds only if they look as if they were asked for at one time: nearly all of
    /// their flows began before half of them were over. There are none where fewer than three have as many flows as an
    /// incast has, or where other flows are more than a tenth: then nobody can tell who waits for which of them.
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
        let inside: usize = all.iter().map(Vec::len).sum();
        if all.len() < LEAST || 10 * inside < 9 * flows.len() {
            all.clear();
        }
        Self(all)
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The median and the 99th percentile of how long they take, in seconds, if each of these flows begins and ends then;
    /// none if there are no rounds. A flow without an end makes its round endless.
    #[must_use]
    pub fn took_s(&self, ends: impl Fn(usize) -> Option<(f64, f64)>) -> Option<(f64, f64)> {
        let took = |round: &Vec<usize>| {
            let ends = round.iter().map(|place| ends(*place));
            let all = ends.collect::<Option<Vec<_>>>();
            all.map_or(f64::INFINITY, |all| {
                let first = all.iter().map(|(start, _)| *start).reduce(f64::min);
                let last = all.iter().map(|(_, end)| *end).reduce(f64::max);
                last.unwrap_or(0.0) - first.unwrap_or(0.0)
            })
        };
        let mut took: Vec<_> = self.0.iter().map(took).collect();
        let median = percentile(&mut took, 0.5);
        (!took.is_empty()).then(|| (median, percentile(&mut took, 0.99)))
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

/// Fewer rounds are no habit.
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
        let seen = |place: usize| {
            let flow: &Flow = &flows[place];
            Some((flow.start_s, flow.start_s + flow.fct_s))
        };
        let (median, slowest) = rounds.took_s(seen).expect("three");
        assert!((median - 0.031_1).abs() < 1e-9, "{median}");
        assert!((slowest - 0.201_1).abs() < 1e-9, "{slowest}");
        let endless = |place| (place != 30).then(|| seen(place)).flatten();
        assert_eq!(
            rounds.took_s(endless).map(|(_, most)| most),
            Some(f64::INFINITY)
        );
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
        // Two are too few to be told from chance, and among much else nobody knows what belongs to them.
        assert_eq!(
            Rounds::of(&[asked(0.0, 0.1), asked(0.5, 0.1)].concat()).count(),
            0
        );
        let rounds = [asked(10.0, 0.1), asked(10.5, 0.1), asked(11.0, 0.1)].concat();
        assert_eq!(Rounds::of(&rounds).count(), 3);
        assert_eq!(Rounds::of(&[flows, rounds].concat()).count(), 0);
        assert_eq!(Rounds::default().took_s(|_| None), None);
    }
}
