//! How long rounds took. [`plan::workload`] says which flows form a round.

use base::Time;

use crate::collectives::{self, Seen};
use crate::metrics::Distribution;
use crate::world::Flow;

/// A round of which at least one flow has started.
#[derive(Clone, Copy)]
pub(crate) struct Round {
    /// Place of its group in the point.
    group: u32,
    /// The first start of its flows.
    start: Time,
    /// The last completion; [`Time::NEVER`] if a flow failed, did not complete or did not start.
    end: Time,
    /// Whether one of its flows has no end, so that the round never ends.
    endless: bool,
}

/// The totals of several rounds.
pub(crate) struct RoundTotals {
    pub(crate) completed: Option<u64>,
    pub(crate) unfinished: Option<u64>,
    /// Mean time of collectives over their ideal time; `NaN` if there are none.
    pub(crate) over_ideal: f64,
    /// In microseconds. Infinite where a percentile falls on a round that never ended.
    pub(crate) took: Distribution,
}

/// The rounds of `flows` that have begun, in order; flows without an end have none. O(flows) in time, O(rounds) in
/// memory.
pub(crate) fn of(flows: &[Flow]) -> Vec<Round> {
    let count = flows.iter().filter_map(Flow::round).max();
    let count = count.map_or(0, |last| last as usize + 1);
    let mut rounds = vec![None; count];
    for flow in flows {
        let Some(number) = flow.round() else {
            continue;
        };
        let round: &mut Option<Round> = &mut rounds[number as usize];
        let round = round.get_or_insert(Round {
            group: flow.group,
            start: Time::NEVER,
            end: Time::ZERO,
            endless: false,
        });
        if flow.started {
            round.start = round.start.min(flow.start);
        }
        let is_over = flow.started && flow.failure.is_none();
        round.end = round.end.max(if is_over {
            flow.completion
        } else {
            Time::NEVER
        });
        round.endless |= flow.size().is_none();
    }
    let begun = |round: &Round| round.start != Time::NEVER && !round.endless;
    rounds.into_iter().flatten().filter(begun).collect()
}

/// The totals of the rounds of one group, or of all.
pub(crate) fn totals(rounds: &[Round], seen: &[Seen], group: Option<u32>) -> RoundTotals {
    let own = rounds
        .iter()
        .filter(|round| group.is_none_or(|group| round.group == group));
    let took: Vec<f64> = own.map(Round::micros).collect();
    let all = took.len() as u64;
    let completed = took.iter().filter(|took| took.is_finite()).count() as u64;
    RoundTotals {
        completed: (all > 0).then_some(completed),
        unfinished: (all > 0).then_some(all - completed),
        over_ideal: collectives::over_ideal(seen, group),
        took: Distribution::of(took),
    }
}

impl Round {
    fn micros(&self) -> f64 {
        if self.end == Time::NEVER {
            f64::INFINITY
        } else {
            self.end.since(self.start).as_micros()
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::workload::PlannedFlow;

    use super::*;
    use crate::failure::FlowFailure;
    use crate::world::planned;

    /// A flow of a round that started at 1 us and completed at `end_us`, if it did.
    fn flow(round: u32, end_us: Option<u64>) -> Flow {
        let mut flow = planned(&PlannedFlow {
            group: 0,
            connection: 0,
            size: Some(1),
            first_write: None,
            start: Time::from_ps(1_000_000),
            stop: Time::NEVER,
            awaited_by: None,
            round: Some(round),
        });
        flow.started = true;
        flow.completion = end_us.map_or(Time::NEVER, |us| Time::from_ps(us * 1_000_000));
        flow
    }

    #[test]
    fn one_failed_flow_keeps_its_round_from_ending() {
        let mut failed = flow(1, None);
        failed.failure = Some(FlowFailure::Reset);
        let flows = [flow(0, Some(4)), flow(0, Some(9)), flow(1, Some(2)), failed];
        let totals = totals(&of(&flows), &[], Some(0));
        assert_eq!((totals.completed, totals.unfinished), (Some(1), Some(1)));
        assert_eq!(totals.took.p50.to_string(), "8");
        assert!(totals.took.p99.is_infinite());
    }
}
