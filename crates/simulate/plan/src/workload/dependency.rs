//! Flows that start when others are done.

use std::collections::BTreeMap;

use base::Ordered as _;
use base::Sort as _;
use base::{Span, Time};

/// Which flows wait for which. A flow is done when its last byte is in order at the receiver, or when its connection has failed:
/// otherwise one failure would keep the simulation from ending.
///
/// Sorted vectors: a flow that is done finds its followers by a binary search, and flows without dependencies cost nothing.
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
    /// Time from the end of the one to the start of the other.
    delay: Span,
}

/// A flow that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    flow: u32,
    /// Flows that it still waits for.
    needs: u32,
    /// The earliest start by the flows that are done.
    ready: Time,
    /// The flow that set `ready`.
    held_by: Option<u32>,
}

impl Dependencies {
    /// `flow` waits until `needs` of the flows in `on` are done and the time behind each has passed. Flows come in
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

    /// Each flow that waits with the number of flows it needs, and these flows with the time behind each. O(edges log edges).
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

    /// `flow` is done now: `start` is called for each flow that waits for nothing more, with the earliest time at which
    /// it may start.
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
            // Of some flows that are enough, the others come too late.
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

    /// The flow whose end let `flow` start: of those that it waited for the one that was last, its delay included.
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
        // Flow 0 was first, and its delay is over last.
        assert_eq!(done(1, 5), [(3, us(10)), (4, us(5))]);
        assert_eq!(done(2, 7), []);
        assert_eq!((all.held_by(3), all.held_by(4)), (Some(0), Some(1)));
    }
}
