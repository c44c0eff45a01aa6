//! Every flow of a simulation, before it runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use base::{HostId, Span, Time};
use engine::random::Stream;
use fabric::{PortId, Topology};

use super::layout::{Layout, Places};
use super::{TimeLaw, load};
use crate::keys::{Keys, Workload, WorkloadKind};
use crate::scenario::PointSpec;

/// The network and what happens in it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) topology: Topology,
    /// The port whose queue the metrics describe.
    pub(crate) bottleneck: PortId,
    /// In the order of groups.
    pub(crate) flows: Vec<PlannedFlow>,
    pub(crate) barriers: Vec<Barrier>,
}

/// A flow that will start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedFlow {
    /// Place of its group in the point.
    pub(crate) group: u32,
    /// Payload; `None` without end.
    pub(crate) size: Option<u64>,
    pub(crate) sender: HostId,
    pub(crate) receiver: HostId,
    /// When it starts; of a flow behind a barrier, how long after that on the clock's zero.
    pub(crate) start: Time,
    /// When its application stops it, if it has no end; [`Time::NEVER`] if that does not happen.
    pub(crate) stop: Time,
    /// The barrier that waits for it.
    pub(crate) awaited_by: Option<u32>,
}

/// The end of a round: when all flows that it waits for are over, the next ones start.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    /// Flows that are not over.
    pub(crate) waits_for: u32,
    /// Flows of the next round; none of the last one.
    pub(crate) next: Range<u32>,
    /// Time from the end of the round to the start of the next.
    pub(crate) think: Span,
}

impl Plan {
    /// The flows of `point`. O(flows log flows).
    pub(crate) fn of(point: &PointSpec) -> Self {
        let layout = Layout::of(&point.keys, &point.groups);
        let places = layout.places(&point.groups);
        let first = places.iter().find_map(|place| place.receivers.first());
        let (topology, bottleneck) =
            layout.topology(&point.keys, first.copied().unwrap_or(HostId(0)));
        let mut plan = Self {
            topology,
            bottleneck,
            flows: Vec::new(),
            barriers: Vec::new(),
        };
        for ((number, group), place) in (0..).zip(point.groups.iter()).zip(&places) {
            let maker = Maker {
                seed: point.seed,
                number,
                keys: &group.keys,
                place,
                delay: load::delay(&group.keys, &layout),
            };
            maker.make(&mut plan, &layout);
        }
        plan
    }

    fn next(&self) -> u32 {
        u32::try_from(self.flows.len()).expect("flows have 32-bit numbers")
    }
}

/// What makes the flows of one group.
struct Maker<'a> {
    seed: u64,
    number: u32,
    keys: &'a Keys,
    place: &'a Places,
    delay: TimeLaw,
}

impl Maker<'_> {
    fn workload(&self) -> &Workload {
        &self.keys.workload
    }

    /// All flows: of an epoch, then of the next.
    fn make(&self, plan: &mut Plan, layout: &Layout) {
        let workload = self.workload();
        if workload.kind == WorkloadKind::Poisson {
            return self.poisson(plan, load::arrivals(self.keys, layout, self.place));
        }
        for epoch in 0..workload.epochs.0 {
            let base = Time::ZERO + workload.start + workload.epoch_interval * u64::from(epoch);
            match workload.kind {
                WorkloadKind::Incast => self.incast(plan, epoch, base),
                WorkloadKind::Pairs => self.pairs(plan, base),
                WorkloadKind::Burst => self.burst(plan, base),
                WorkloadKind::Poisson => unreachable!("random arrivals have no epochs"),
            }
        }
    }

    /// Receivers one after the other, at each of them rounds one after the other.
    fn incast(&self, plan: &mut Plan, epoch: u32, start: Time) {
        let (senders, rounds) = (self.workload().senders.0, self.workload().rounds.0);
        let mut sender = 0;
        let first = u64::from(epoch) * self.place.receivers.len() as u64;
        for (index, receiver) in (first..).zip(&self.place.receivers) {
            for round in 0..rounds {
                let together = self.draw_delay(
                    "delay together",
                    index * u64::from(rounds) + u64::from(round),
                );
                let from = plan.next();
                let barrier = (rounds > 1).then(|| {
                    let last = round + 1 == rounds;
                    plan.barriers.push(Barrier {
                        waits_for: senders,
                        next: from + senders..if last {
                            from + senders
                        } else {
                            from + 2 * senders
                        },
                        think: self.workload().think,
                    });
                    u32::try_from(plan.barriers.len() - 1).expect("fewer barriers than flows")
                });
                let base = if round == 0 { start } else { Time::ZERO };
                for place in 0..senders {
                    let from = self.sender(&mut sender, *receiver);
                    let ends = (from, *receiver);
                    let mut flow = self.flow(plan.next(), ends, (base, place));
                    if self.workload().together {
                        flow.start += together;
                    }
                    flow.awaited_by = barrier;
                    plan.flows.push(flow);
                }
                // The senders of a receiver are the same in every round.
                if round + 1 < rounds {
                    sender -= senders as usize;
                }
            }
        }
    }

    fn pairs(&self, plan: &mut Plan, base: Time) {
        let mut sender = 0;
        for place in 0..self.workload().senders.0 {
            let receivers = &self.place.receivers;
            let receiver = receivers[place as usize % receivers.len()];
            let from = self.sender(&mut sender, receiver);
            let flow = self.flow(plan.next(), (from, receiver), (base, place));
            plan.flows.push(flow);
        }
    }

    /// One flow from every sender to every receiver but itself.
    fn burst(&self, plan: &mut Plan, base: Time) {
        let mut place = 0;
        for sender in &self.place.senders {
            for receiver in self.place.receivers.iter().filter(|host| *host != sender) {
                let flow = self.flow(plan.next(), (*sender, *receiver), (base, place));
                plan.flows.push(flow);
                place += 1;
            }
        }
    }

    /// At each receiver exponential gaps between flows, from random senders: as many flows as were
    /// asked for, or those of a time.
    fn poisson(&self, plan: &mut Plan, per_second: f64) {
        let workload = self.workload();
        let begin = Time::ZERO + workload.start;
        let gap = TimeLaw::exponential(load::mean_gap(per_second));
        let (count, end) = match workload.flows.0 {
            Some(count) => (count.0 as usize, Time::NEVER),
            None => (usize::MAX, begin + workload.duration),
        };
        let mut streams = Vec::new();
        let mut next = BinaryHeap::new();
        for index in 0..self.place.receivers.len() {
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
            let (stream, receiver) = (&mut streams[index], self.place.receivers[index]);
            arrivals.push((at, self.random_sender(stream, receiver), receiver));
            next.push(Reverse((at + gap.draw(stream), index)));
        }
        arrivals.sort_unstable();
        for (at, from, receiver) in arrivals {
            let size = self.size(plan.next());
            plan.flows.push(PlannedFlow {
                group: self.number,
                size,
                sender: from,
                receiver,
                start: at,
                stop: Time::NEVER,
                awaited_by: None,
            });
        }
    }

    fn random_sender(&self, stream: &mut Stream, receiver: HostId) -> HostId {
        let among = self.place.senders.len() as u64;
        loop {
            let chosen = usize::try_from(stream.below(among)).expect("an index of a list");
            let from = self.place.senders[chosen];
            if from != receiver {
                return from;
            }
        }
    }

    /// The next sender in turn that is not the receiver itself.
    fn sender(&self, turn: &mut usize, receiver: HostId) -> HostId {
        loop {
            let sender = self.place.senders[*turn % self.place.senders.len()];
            *turn += 1;
            if sender != receiver {
                return sender;
            }
        }
    }

    /// Flow `id`, which is number `place` of those that start at `base`.
    fn flow(&self, id: u32, ends: (HostId, HostId), (base, place): (Time, u32)) -> PlannedFlow {
        let workload = self.workload();
        let jitter = Stream::new(self.seed, "start", id.into()).below(workload.jitter.as_ps());
        let delay = if workload.together {
            Span::ZERO
        } else {
            let mut stream = Stream::new(self.seed, "delay", id.into());
            self.delay.draw(&mut stream)
        };
        let stop = |stop| Time::ZERO + stop + workload.stop_interval * u64::from(place);
        PlannedFlow {
            group: self.number,
            size: self.size(id),
            sender: ends.0,
            receiver: ends.1,
            start: base + workload.interval * u64::from(place) + delay + Span::from_ps(jitter),
            stop: workload.stop.0.map_or(Time::NEVER, stop),
            awaited_by: None,
        }
    }

    fn size(&self, id: u32) -> Option<u64> {
        let mss = u64::from(self.keys.tcp.mss.0);
        let law = &self.workload().size;
        let size = law.draw(&mut Stream::new(self.seed, "size", id.into()), mss)?;
        if !law.is_random() {
            return Some(size);
        }
        let step = self.workload().size_step.in_bytes(mss);
        Some((size / step * step).max(step))
    }

    fn draw_delay(&self, purpose: &str, entity: u64) -> Span {
        let mut stream = self.stream(purpose, entity);
        self.delay.draw(&mut stream)
    }

    fn stream(&self, purpose: &str, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, (u64::from(self.number) << 32) | entity)
    }
}
