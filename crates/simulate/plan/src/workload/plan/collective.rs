//! Flows of ranks that send in the steps of a collective.

use std::sync::Arc;

use base::{HostId, Span, Time};

use super::{Draft, Maker, PlannedCollective, PlannedFlow, Route};

impl Maker<'_> {
    /// Makes one collective after the other. The next begins `workload.think` after the end of the last flow of the
    /// previous one.
    pub(super) fn collective(&self, plan: &mut Draft, epoch: u32, start: Time) {
        let workload = self.workload();
        let shape = workload.shape(self.keys.tcp.mss.0.into());
        let hosts = self.hosts_of_ranks();
        let messages = shape.messages();
        let (count, rounds) = (super::number(messages.len()), workload.rounds.0);
        let begin = messages
            .iter()
            .take_while(|message| message.after.is_empty());
        let begin = super::number(begin.count());
        let steps: Arc<[u32]> = messages.iter().map(|message| message.step).collect();
        let slow = self.stragglers(epoch);
        for round in 0..rounds {
            let first = plan.next();
            plan.collectives.push(PlannedCollective {
                group: self.number,
                first,
                shape,
                steps: Arc::clone(&steps),
            });
            let next = first + count;
            let last = round + 1 == rounds;
            let next = next..next + if last { 0 } else { begin };
            let barrier = (rounds > 1).then(|| plan.barrier(count, next, workload.think));
            let number = plan.begin_round();
            for message in &messages {
                let (id, draw) = (plan.next(), plan.draw());
                let ends = (hosts[message.from as usize], hosts[message.to as usize]);
                let waits = round > 0 || !message.after.is_empty();
                let base = if waits { Time::ZERO } else { start };
                let mut works = workload
                    .compute
                    .draw(&mut self.stream("compute", draw.into()));
                if slow.contains(&message.from) {
                    works += workload.straggler_delay;
                }
                let flow = self.flow(draw, (base, 0));
                let flow = PlannedFlow {
                    size: Some(message.bytes),
                    start: flow.start + works,
                    awaited_by: barrier,
                    round: Some(number),
                    ..flow
                };
                let pair = u64::from(ends.0.0) << 32 | u64::from(ends.1.0);
                self.add(plan, Route::new(ends, pair), flow);
                if !message.after.is_empty() {
                    let on = message
                        .after
                        .iter()
                        .map(|place| (first + place, Span::ZERO));
                    plan.dependencies
                        .add(id, super::number(message.after.len()), on);
                }
            }
        }
    }

    /// The host of each rank.
    fn hosts_of_ranks(&self) -> Vec<HostId> {
        let hosts = &self.place.senders;
        let mut stream = self.stream("ranks", 0);
        let workload = self.workload();
        let draw = |below| stream.below(below);
        let places = workload
            .rank_order
            .places(workload.ranks.0 as usize, hosts.len(), draw);
        places.into_iter().map(|place| hosts[place]).collect()
    }

    /// The slow ranks, drawn anew for each epoch.
    fn stragglers(&self, epoch: u32) -> Vec<u32> {
        let workload = self.workload();
        let mut stream = self.stream("stragglers", epoch.into());
        let mut ranks: Vec<u32> = (0..workload.ranks.0).collect();
        let mut slow = Vec::new();
        for _ in 0..workload.stragglers.min(workload.ranks.0) {
            let place = stream.below(ranks.len() as u64);
            slow.push(ranks.swap_remove(usize::try_from(place).expect("a place")));
        }
        slow
    }
}
