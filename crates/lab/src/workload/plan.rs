//! Every flow of a simulation, before it runs.

use std::ops::Range;

use base::{HostId, Span, Time};
use engine::random::Stream;
use fabric::{PortId, Topology};

use super::layout::{Layout, Places};
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
            };
            match group.keys.workload.kind {
                WorkloadKind::Incast => maker.incast(&mut plan),
                WorkloadKind::Pairs => maker.pairs(&mut plan),
                WorkloadKind::Poisson => maker.poisson(&mut plan),
            }
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
}

impl Maker<'_> {
    fn workload(&self) -> &Workload {
        &self.keys.workload
    }

    /// Receivers one after the other, at each of them rounds one after the other.
    fn incast(&self, plan: &mut Plan) {
        let (senders, rounds) = (self.workload().senders.0, self.workload().rounds.0);
        let mut sender = 0;
        for (index, receiver) in (0..).zip(&self.place.receivers) {
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
                let base = if round == 0 {
                    Time::ZERO + self.workload().start
                } else {
                    Time::ZERO
                };
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

    fn pairs(&self, plan: &mut Plan) {
        let base = Time::ZERO + self.workload().start;
        let mut sender = 0;
        for place in 0..self.workload().senders.0 {
            let receivers = &self.place.receivers;
            let receiver = receivers[place as usize % receivers.len()];
            let from = self.sender(&mut sender, receiver);
            let flow = self.flow(plan.next(), (from, receiver), (base, place));
            plan.flows.push(flow);
        }
    }

    /// At each receiver exponential gaps between flows, from random senders.
    fn poisson(&self, plan: &mut Plan) {
        let workload = self.workload();
        let begin = Time::ZERO + workload.start;
        let mean = Span::from_ps(picoseconds(1.0 / poisson_rate(self.keys)));
        let mut arrivals = Vec::new();
        for (index, receiver) in (0..).zip(&self.place.receivers) {
            let mut stream = self.stream("arrivals", index);
            let gap = super::law::TimeLaw::Exponential { mean, most: None };
            let mut at = begin + gap.draw(&mut stream);
            while at < begin + workload.duration {
                let from = loop {
                    let among = self.place.senders.len() as u64;
                    let chosen = usize::try_from(stream.below(among)).expect("an index of a list");
                    let from = self.place.senders[chosen];
                    if from != *receiver {
                        break from;
                    }
                };
                arrivals.push((at, from, *receiver));
                at += gap.draw(&mut stream);
            }
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
                awaited_by: None,
            });
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
            workload.delay.draw(&mut stream)
        };
        PlannedFlow {
            group: self.number,
            size: self.size(id),
            sender: ends.0,
            receiver: ends.1,
            start: base + workload.interval * u64::from(place) + delay + Span::from_ps(jitter),
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
        self.workload().delay.draw(&mut stream)
    }

    fn stream(&self, purpose: &str, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, (u64::from(self.number) << 32) | entity)
    }
}

/// Flows per second at each receiver so that they fill the wanted share of its link: full packets
/// with their headers.
pub(super) fn poisson_rate(keys: &Keys) -> f64 {
    let mss = u64::from(keys.tcp.mss.0);
    let mean = keys.workload.size.mean(mss).unwrap_or(f64::INFINITY);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate and a packet have few digits"
    )]
    let (packet, rate) = (keys.packet_bytes() as f64, keys.link.rate.as_bps() as f64);
    keys.workload.load.0 * rate / (8.0 * mean * packet / f64::from(keys.tcp.mss.0))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and what exceeds 64 bits saturates"
)]
fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12) as u64
}
