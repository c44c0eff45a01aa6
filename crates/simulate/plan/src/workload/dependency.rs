//! Flows that start when other flows are done.

use std::collections::BTreeMap;

use base::Ordered as _;
use base::Sort as _;
use base::{Span, Time};

/// The waiting flows, and the flows that they wait for. A flow is done when its last byte is in order at the receiver
/// or its connection has failed. Otherwise one failure would keep the simulation from ending.
///
/// The vectors are sorted, so a finished flow finds its followers by a binary search, and flows without dependencies
/// cost nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Sorted, once all flows are planned.
    edges: Vec<Edge>,
    /// In the order of flows.
    waiting: Vec<Waiting>,
}

/// One flow waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    before: u32,
    after: u32,
    /// Time from the end of the first flow to the start of the waiting one.
    delay: Span,
}

/// A flow that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    flow: u32,
    /// Number of flows that it still waits for.
    needs: u32,
    /// The earliest start that the finished flows allow.
    ready: Time,
    /// The flow that set `ready`.
    held_by: Option<u32>,
}

impl Dependencies {
    /// `flow` waits until `needs` of the flows in `on` are done and their delays have passed. Flows are added in
    /// ascending order.
    pub fn add(&mut self, flow: u32, needs: u32, on: impl IntoIterator<Item = (u32, Span)>) {
        self.edges
            .extend(on.into_iter().map(|(before, delay)| Edge {
                before,
                after: flow,
                delay,
            }));
        self.waiting.push(Waiting {
            flow,
            needs,
            ready: Time::ZERO,
            held_by: None,
        });
    }

    /// All flows are planned.
    pub(super) fn finish(&mut self) {
        self.waiting.order_unstable_by_key(|waiting| waiting.flow);
        self.edges.order_unstable();
    }

    /// Whether no flow waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The flows that wait, in ascending order.
    pub fn flows(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().map(|waiting| waiting.flow)
    }

    /// Each waiting flow with the number of flows that it needs, and these flows with their delays. O(edges log edges).
    ///
    /// # Panics
    /// Never: every edge leads to a flow that waits.
    pub fn by_flow(&self) -> BTreeMap<u32, (u32, Vec<(u32, Span)>)> {
        let waiting = self.waiting.iter();
        let mut all: BTreeMap<u32, (u32, Vec<(u32, Span)>)> = waiting
            .map(|waiting| (waiting.flow, (waiting.needs, Vec::new())))
            .into_map();
        for edge in &self.edges {
            let own = all.get_mut(&edge.after);
            let (_, on) = own.expect("every edge leads to a flow that waits");
            on.push((edge.before, edge.delay));
        }
        all
    }

    /// `flow` is done now. Calls `start` for each flow that waits for nothing more, with its earliest start.
    ///
    /// # Panics
    /// Never: every edge leads to a flow that waits.
    pub fn done(&mut self, flow: u32, now: Time, mut start: impl FnMut(u32, Time)) {
        let first = self.edges.partition_point(|edge| edge.before < flow);
        let own = self.edges[first..]
            .iter()
            .take_while(|edge| edge.before == flow);
        for edge in own {
            let place = self.waiting.binary_search_by_key(&edge.after, |it| it.flow);
            let waiting = &mut self.waiting[place.expect("every edge leads to a flow that waits")];
            // A flow that needs only some of its flows has started; the others finish too late to matter.
            if waiting.needs == 0 {
                continue;
            }
            waiting.needs -= 1;
            if now + edge.delay >= waiting.ready {
                waiting.ready = now + edge.delay;
                waiting.held_by = Some(flow);
            }
            if waiting.needs == 0 {
                start(waiting.flow, waiting.ready);
            }
        }
    }

    /// The flow whose end let `flow` start: among the flows that it waited for, the last one, delay included.
    pub fn held_by(&self, flow: u32) -> Option<u32> {
        self.waiting[self.place(flow)?].held_by
    }

    fn place(&self, flow: u32) -> Option<usize> {
        let place = self.waiting.binary_search_by_key(&flow, |it| it.flow);
        place.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn the_last_flow_with_its_delay_lets_the_next_one_start() {
        let mut all = Dependencies::default();
        all.add(3, 2, [(0, Span::from_micros(9)), (1, Span::ZERO)]);
        all.add(4, 1, [(1, Span::ZERO), (2, Span::ZERO)]);
        all.finish();
        let mut done = |flow, at| {
            let mut started = Vec::new();
            all.done(flow, us(at), |flow, time| started.push((flow, time)));
            started
        };
        assert_eq!(done(0, 1), []);
        // Flow 0 finished first, but its delay ends last.
        assert_eq!(done(1, 5), [(3, us(10)), (4, us(5))]);
        assert_eq!(done(2, 7), []);
        assert_eq!((all.held_by(3), all.held_by(4)), (Some(0), Some(1)));
    }
}
