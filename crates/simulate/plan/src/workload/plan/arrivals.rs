//! Flows that arrive at random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::Sort as _;
use base::{HostId, Time};
use distributions::TimeLaw;

use super::{Draft, Layout, Maker, PlannedFlow, Route, has_rounds, load};
use crate::keys::LoadOf;
use crate::workload::peers::Peers;

impl Maker<'_> {
    /// Exponential gaps between flows, for the wanted number of flows or the wanted time. Either each receiver has its
    /// own process with random senders, or one process draws both hosts.
    pub(super) fn poisson(&self, plan: &mut Draft, layout: &Layout) {
        let (mut place, mut round) = (0, None);
        let mut before = None;
        for (at, from, receiver) in self.arrivals(layout) {
            place = if before == Some((at, receiver)) {
                place + 1
            } else {
                0
            };
            before = Some((at, receiver));
            let flow = if self.workload().fan_in.most > 1 {
                if place == 0 {
                    round = has_rounds(self.keys).then(|| plan.begin_round());
                }
                PlannedFlow {
                    stop: Time::NEVER,
                    round,
                    ..self.flow(plan.draw(), (at, place))
                }
            } else {
                PlannedFlow {
                    group: self.number,
                    connection: 0,
                    size: self.size(plan.draw()),
                    first_write: self.first_write(),
                    start: at,
                    stop: Time::NEVER,
                    awaited_by: None,
                    round: None,
                }
            };
            let pair = u64::from(from.0) << 32 | u64::from(receiver.0);
            self.add(plan, Route::new((from, receiver), pair), flow);
        }
    }

    /// The time, the sender and the receiver of each arrival, in order.
    fn arrivals(&self, layout: &Layout) -> Vec<(Time, HostId, HostId)> {
        let workload = self.workload();
        let begin = Time::ZERO + workload.start;
        let (count, end) = match workload.flows.0 {
            Some(count) => (count.0 as usize, Time::NEVER),
            None => (usize::MAX, begin + workload.duration),
        };
        let peers = Peers::new(workload.peers, self.place, layout);
        // Each process with its receiver, unless it draws a receiver for each flow.
        let receivers = || self.place.receivers.iter().copied();
        let each = || receivers().map(Some).collect();
        let (processes, gap): (Vec<Option<HostId>>, _) =
            match (workload.arrivals.0, workload.load_of) {
                (Some(law), _) => (vec![None], law),
                (None, LoadOf::Hosts) => {
                    (vec![None], self.gap(load::of_hosts(self.keys, self.place)))
                }
                (None, LoadOf::Receivers | LoadOf::Uplinks) => (
                    each(),
                    self.gap(load::arrivals(self.keys, layout, self.place)),
                ),
            };
        let mut streams = Vec::new();
        let mut next = BinaryHeap::new();
        for index in 0..processes.len() {
            let mut stream = self.stream("arrivals", index as u64);
            next.push(Reverse((begin + gap.draw(&mut stream), index)));
            streams.push(stream);
        }
        let mut arrivals = Vec::new();
        while arrivals.len() < count
            && let Some(Reverse((at, index))) = next.pop()
        {
            if at >= end {
                continue;
            }
            let stream = &mut streams[index];
            let (from, to) = match processes[index] {
                Some(receiver) => (peers.sender_to(receiver, stream), receiver),
                None => peers.pair(stream),
            };
            arrivals.push((at, from, to));
            let others = peers.others(workload.fan_in, (from, to), stream);
            arrivals.extend(others.into_iter().map(|from| (at, from, to)));
            next.push(Reverse((at + gap.draw(stream), index)));
        }
        arrivals.truncate(count);
        arrivals.order();
        arrivals
    }

    /// The exponential law of gaps that makes this many flows a second.
    fn gap(&self, per_second: f64) -> TimeLaw {
        TimeLaw::exponential(load::mean_gap(per_second / self.workload().fan_in.mean()))
    }
}
