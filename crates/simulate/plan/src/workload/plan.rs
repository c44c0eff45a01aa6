//! Every flow of a simulation, before it runs.
//!
//! # Rounds
//!
//! A round is a set of flows whose last completion somebody waits for. It begins with its first start and ends with its
//! last completion. The kind of the workload decides which flows form a round:
//!
//! | kind | one round |
//! |---|---|
//! | `incast` | the flows of all senders to one receiver |
//! | `burst` | all flows of one epoch, if `delay` is the same for all: a shuffle |
//! | `requests` | with `rounds` above 1, all answers that one client awaits before it asks again |
//! | `poisson` | with a `fan_in` above 1, the flows that arrive together at a receiver |
//! | `collective` | all flows of one collective |
//! | `trace` | the flows of the group that have the same number in the column `round` |
//! | `pairs` | none: nobody waits for several flows |
//!
//! If nobody waits for more than one flow, there are no rounds, because each round would be a copy of a flow. An
//! example is clients that ask once on one connection. Flows that start one after the other, at an `interval`, are a
//! round only if the next round waits for them.

mod arrivals;
mod collective;
mod requests;
mod route;
mod traced;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use base::Sort as _;
use base::{HostId, Span, Time};
use distributions::TimeLaw;
use engine::random::{self, Stream};
use fabric::{PortId, Topology};

use super::dependency::Dependencies;
use super::has_rounds;
use super::layout::{Layout, Places};
use super::load;
use crate::PointSpec;
use crate::collective::CollectiveRun;
use crate::keys::{ConnectionKind, Keys, Workload, WorkloadKind};
use route::Route;

/// The network and its flows.
#[derive(Debug)]
pub struct Plan {
    /// The network.
    pub topology: Topology,
    /// The port whose queue the metrics describe.
    pub bottleneck: PortId,
    /// In the order of groups.
    pub connections: Vec<PlannedConnection>,
    /// In the order of groups.
    pub flows: Vec<PlannedFlow>,
    /// The ends of rounds.
    pub barriers: Vec<Barrier>,
    /// Flows that wait for others.
    pub dependencies: Dependencies,
    /// In the order of their flows.
    pub collectives: Vec<PlannedCollective>,
}

/// A flow that will start.
#[derive(Clone, Copy, Debug)]
pub struct PlannedFlow {
    /// Place of its group in the point.
    pub group: u32,
    /// The connection that carries it.
    pub connection: u32,
    /// Payload; `None` without end.
    pub size: Option<u64>,
    /// Bytes that its application writes first, if it does not write all at once.
    pub first_write: Option<u64>,
    /// The time of its start. For a flow that waits for a barrier or other flows: the delay after them, counted from
    /// time zero.
    pub start: Time,
    /// The time at which its application stops it, if it has no end; [`Time::NEVER`] if it is not stopped.
    pub stop: Time,
    /// The barrier that waits for it.
    pub awaited_by: Option<u32>,
    /// The number of its round, counted from 0 over all groups. `None`: nobody waits for this flow together with
    /// others.
    pub round: Option<u32>,
}

/// A connection that will be opened.
#[derive(Clone, Copy, Debug)]
pub struct PlannedConnection {
    /// Place of its group in the point.
    pub group: u32,
    /// The host that sends the flows' data.
    pub sender: HostId,
    /// The host that gets them.
    pub receiver: HostId,
    /// The time at which it opens; [`Time::NEVER`]: with its first flow.
    pub open: Time,
    /// How many flows it carries.
    pub messages: u32,
    /// Bytes of the receiver's request for each flow; 0: the sender sends without a request.
    pub request: u64,
    /// An earlier connection between the same hosts, whose slots it takes over.
    pub heir_of: Option<u32>,
}

/// One collective: flows with consecutive numbers.
#[derive(Clone, Debug)]
pub struct PlannedCollective {
    /// Place of its group in the point.
    pub group: u32,
    /// The number of its first flow.
    pub first: u32,
    /// The plan so far.
    pub shape: CollectiveRun,
    /// The step of each flow, from 0.
    pub steps: Arc<[u32]>,
}

/// The end of a round: when all flows that it waits for are over, the next ones start.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Flows that are not over.
    pub waits_for: u32,
    /// Flows of the next round; empty after the last round.
    pub next: Range<u32>,
    /// Time from the end of the round to the start of the next.
    pub think: Span,
}

impl Plan {
    /// The flows of `point`. O(flows log flows).
    pub fn of(point: &PointSpec) -> Self {
        let layout = Layout::of(&point.keys, &point.groups);
        let places = layout.places(&point.groups);
        let first = places.iter().find_map(|place| place.receivers.first());
        let (topology, bottleneck) =
            layout.topology(&point.keys, first.copied().unwrap_or(HostId(0)));
        let mut draft = Draft::default();
        for ((number, group), place) in (0..).zip(point.groups.iter()).zip(&places) {
            draft.begin_group();
            let maker = Maker {
                seed: point.seed,
                number,
                name: &group.name,
                keys: &group.keys,
                place,
                delay: load::delay(&group.keys, &layout),
            };
            maker.make(&mut draft, &layout);
        }
        draft.resolve(&point.groups);
        let Draft {
            connections,
            flows,
            barriers,
            mut dependencies,
            collectives,
            ..
        } = draft;
        dependencies.finish();
        Self {
            topology,
            bottleneck,
            connections,
            flows,
            barriers,
            dependencies,
            collectives,
        }
    }
}

/// The flows and connections that have been planned so far.
#[derive(Default)]
struct Draft {
    connections: Vec<PlannedConnection>,
    flows: Vec<PlannedFlow>,
    barriers: Vec<Barrier>,
    /// The first flow of the group that is being planned.
    first: u32,
    /// The group's connections that several flows share, by key.
    persistent: BTreeMap<u64, u32>,
    /// Flows that were drawn for the group but left out of the plan.
    left_out: u32,
    /// Rounds of all groups.
    rounds: u32,
    dependencies: Dependencies,
    collectives: Vec<PlannedCollective>,
    /// Flows by the rows of their traces, for groups whose traces contain waiting flows.
    rows: BTreeMap<u32, BTreeMap<u32, u32>>,
}

impl Draft {
    /// Starts another group.
    fn begin_group(&mut self) {
        self.first = self.next();
        self.left_out = 0;
        self.persistent.clear();
    }

    /// The number of the next flow.
    fn next(&self) -> u32 {
        number(self.flows.len())
    }

    /// The flow's number among all flows drawn for its group. Random numbers depend on it and on the group's name, and
    /// so not on other groups.
    fn draw(&self) -> u32 {
        self.next() - self.first + self.left_out
    }

    /// The number of a round that begins here.
    fn begin_round(&mut self) -> u32 {
        self.rounds += 1;
        self.rounds - 1
    }

    /// A barrier that waits for this many flows.
    fn barrier(&mut self, waits_for: u32, next: Range<u32>, think: Span) -> u32 {
        self.barriers.push(Barrier {
            waits_for,
            next,
            think,
        });
        number(self.barriers.len() - 1)
    }
}

/// Makes the flows of one group.
struct Maker<'a> {
    seed: u64,
    number: u32,
    name: &'a str,
    keys: &'a Keys,
    place: &'a Places,
    delay: TimeLaw,
}

impl Maker<'_> {
    fn workload(&self) -> &Workload {
        &self.keys.workload
    }

    /// Makes all flows, epoch by epoch.
    fn make(&self, draft: &mut Draft, layout: &Layout) {
        let first = draft.connections.len();
        match self.workload().kind {
            WorkloadKind::Poisson => self.poisson(draft, layout),
            WorkloadKind::Trace => self.trace(draft),
            _ => self.make_epochs(draft),
        }
        if self.workload().connection == ConnectionKind::Persistent {
            self.open_in_advance(&mut draft.connections[first..]);
        }
    }

    /// Sets when connections open: one after the other in the first half of the time before the first flow. Connections
    /// whose trace gives a time keep it.
    fn open_in_advance(&self, connections: &mut [PlannedConnection]) {
        let half = u128::from(self.workload().start.as_ps() / 2);
        let count = connections.len() as u128;
        for (index, connection) in (0_u128..).zip(connections) {
            if connection.open != Time::NEVER {
                continue;
            }
            let after = u64::try_from(half * index / count).expect("less than half of a time");
            connection.open = Time::ZERO + Span::from_ps(after);
        }
    }

    fn make_epochs(&self, plan: &mut Draft) {
        let workload = self.workload();
        for epoch in 0..workload.epochs.0 {
            let base = Time::ZERO + workload.start + workload.epoch_interval * u64::from(epoch);
            match workload.kind {
                WorkloadKind::Incast => self.incast(plan, epoch, base),
                WorkloadKind::Pairs => self.pairs(plan, base),
                WorkloadKind::Burst => self.burst(plan, base),
                WorkloadKind::Requests => self.requests(plan, base),
                WorkloadKind::Collective => self.collective(plan, epoch, base),
                WorkloadKind::Poisson | WorkloadKind::Trace => unreachable!("these have no epochs"),
            }
        }
    }

    /// Makes incasts: rounds one after the other at each receiver.
    fn incast(&self, plan: &mut Draft, epoch: u32, start: Time) {
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
                let end = from + senders * if round + 1 == rounds { 1 } else { 2 };
                let barrier = (rounds > 1)
                    .then(|| plan.barrier(senders, from + senders..end, self.workload().think));
                let base = if round == 0 { start } else { Time::ZERO };
                let number_of_round = has_rounds(self.keys).then(|| plan.begin_round());
                for place in 0..senders {
                    let from = self.sender(&mut sender, *receiver);
                    let number = (index - first) * u64::from(senders) + u64::from(place);
                    let mut flow = self.flow(plan.draw(), (base, place));
                    if self.workload().together {
                        flow.start += together;
                    }
                    flow.awaited_by = barrier;
                    flow.round = number_of_round;
                    self.add(plan, Route::new((from, *receiver), number), flow);
                }
                // The senders of a receiver are the same in every round.
                if round + 1 < rounds {
                    sender -= senders as usize;
                }
            }
        }
    }

    fn pairs(&self, plan: &mut Draft, base: Time) {
        let mut sender = 0;
        for place in 0..self.workload().senders.0 {
            let receivers = &self.place.receivers;
            let receiver = receivers[place as usize % receivers.len()];
            let from = self.sender(&mut sender, receiver);
            let flow = self.flow(plan.draw(), (base, place));
            self.add(plan, Route::new((from, receiver), place.into()), flow);
        }
    }

    /// Makes one flow from every sender to every other receiver, or only the wanted number of them: the first to start.
    fn burst(&self, plan: &mut Draft, base: Time) {
        let mut drawn = Vec::new();
        for sender in &self.place.senders {
            for receiver in self.place.receivers.iter().filter(|host| *host != sender) {
                let place = number(drawn.len());
                let flow = self.flow(plan.draw() + place, (base, place));
                drawn.push((Route::new((*sender, *receiver), place.into()), flow));
            }
        }
        let all = drawn.len();
        if let Some(count) = self.workload().flows.0
            && (count.0 as usize) < all
        {
            let first = |(route, flow): &(Route, PlannedFlow)| (flow.start, route.key);
            drawn.select_by(count.0 as usize, |a, b| first(a).cmp(&first(b)));
            drawn.truncate(count.0 as usize);
            drawn.order_unstable_by_key(|(route, _)| route.key);
        }
        plan.left_out += number(all - drawn.len());
        let round = has_rounds(self.keys).then(|| plan.begin_round());
        for (route, flow) in drawn {
            self.add(plan, route, PlannedFlow { round, ..flow });
        }
    }

    /// Adds a flow and returns the number of its connection, which is new unless the flow shares one.
    fn add(&self, plan: &mut Draft, route: Route, flow: PlannedFlow) -> u32 {
        let next = number(plan.connections.len());
        let persistent = self.workload().connection == ConnectionKind::Persistent;
        let connection = if persistent || route.shared {
            *plan.persistent.entry(route.key).or_insert(next)
        } else {
            next
        };
        if connection == next {
            plan.connections.push(PlannedConnection {
                group: self.number,
                sender: route.sender,
                receiver: route.receiver,
                open: Time::NEVER,
                messages: 0,
                request: self.request(),
                heir_of: None,
            });
        }
        plan.connections[connection as usize].messages += 1;
        plan.flows.push(PlannedFlow { connection, ..flow });
        connection
    }

    /// Bytes of a receiver's request.
    fn request(&self) -> u64 {
        match self.workload().kind {
            WorkloadKind::Requests => {
                let mss = u64::from(self.keys.tcp.mss.0);
                self.workload().request_size.in_bytes(mss)
            }
            _ => 0,
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

    /// Flow number `draw` of the group. It is number `place` among the flows that start at `base`.
    fn flow(&self, draw: u32, (base, place): (Time, u32)) -> PlannedFlow {
        let workload = self.workload();
        let mut jitter = self.stream("start", draw.into());
        let jitter = jitter.below(workload.jitter.as_ps());
        let delay = if workload.together {
            Span::ZERO
        } else {
            self.draw_delay("delay", draw.into())
        };
        let stop = |stop| Time::ZERO + stop + workload.stop_interval * u64::from(place);
        PlannedFlow {
            group: self.number,
            connection: 0,
            size: self.size(draw),
            first_write: self.first_write(),
            start: base + workload.interval * u64::from(place) + delay + Span::from_ps(jitter),
            stop: workload.stop.0.map_or(Time::NEVER, stop),
            awaited_by: None,
            round: None,
        }
    }

    fn size(&self, draw: u32) -> Option<u64> {
        let mss = u64::from(self.keys.tcp.mss.0);
        let law = &self.workload().size;
        let size = law.draw(&mut self.stream("size", draw.into()), mss)?;
        if !law.is_random() {
            return Some(size);
        }
        let step = self.workload().size_step.in_bytes(mss);
        Some((size / step * step).max(step))
    }

    fn first_write(&self) -> Option<u64> {
        let first = self.workload().first_write.0;
        first.map(|first| first.in_bytes(self.keys.tcp.mss.0.into()))
    }

    fn draw_delay(&self, purpose: &str, entity: u64) -> Span {
        let mut stream = self.stream(purpose, entity);
        self.delay.draw(&mut stream)
    }

    fn stream(&self, purpose: &str, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, random::member(self.name, entity))
    }
}

/// Flows and their parts have 32-bit numbers, because packets carry them so.
fn number(count: usize) -> u32 {
    u32::try_from(count).expect("flows have 32-bit numbers")
}

/// Connections that one client has to one server at a time: the next one opens while the previous one is still closing.
pub(super) const PLACES: u32 = 2;
