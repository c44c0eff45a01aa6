//! One simulation in parts, which are simulated by themselves.
//!
//! A network is divided into switches with their hosts, and switches without. What happens at one node concerns others
//! only when a packet has passed a wire, so that each part can go on for a *window*, the least delay between two parts,
//! without hearing of the others. Packets that arrive elsewhere in the next window have been sent completely by then:
//! each part hands them over, and all wait for each other. The order of events at each node follows from the node's
//! own past (see [`engine::Scheduler`]). So the outcome is the same, bit by bit, whatever the parts, the windows and the
//! threads are, but for the number of events in [`Cost`](crate::metrics::Cost): what nobody waits for any more is
//! forgotten at other times.
//!
//! Some simulations cannot be divided; [`Divided::obstacle`] says why.

mod barrier;
mod board;
mod border;
mod part;
mod partition;

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plan::PointSpec;
use plan::workload::Plan;

use crate::error::RunError;
use crate::metrics::Outcome;
use crate::run::{self, Bounds, Limits, Watching};
use crate::world::{Cast, World};
use barrier::{Alarm, Barrier};
use board::Board;
use border::Border;
use part::Part;
use partition::Partition;

/// How a simulation is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// At most this many parts; there are no more than switches.
    pub parts: NonZeroUsize,
    /// Windows are this many times as short as they could be.
    pub shortened: NonZeroUsize,
    /// At most this many threads; there are no more than parts.
    pub threads: NonZeroUsize,
}

impl Division {
    /// This many threads, each with one part.
    pub const fn of_threads(threads: NonZeroUsize) -> Self {
        Self {
            parts: threads,
            shortened: NonZeroUsize::MIN,
            threads,
        }
    }
}

/// What it was to simulate in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divided {
    /// Parts.
    pub parts: usize,
    /// Threads.
    pub threads: usize,
    /// Windows in which something happened.
    pub windows: u64,
    /// Why there is one part, if more were asked for.
    pub obstacle: Option<&'static str>,
}

/// Simulates a point in parts and says how; as a whole where something is in the way. Its cost is the time of all
/// threads.
///
/// # Panics
/// As [`run::run`] does.
pub fn within(
    limits: Limits<'_>,
    point: &PointSpec,
    division: Division,
) -> Result<(Outcome, Divided), RunError> {
    let (plan, cast) = (Plan::of(point), Cast::of(point));
    let partition = Partition::of(&plan, division.parts.get(), disturbed(point, &plan));
    let parts = partition.parts();
    let single = parts < division.parts.get().min(2);
    let obstacle = undividable(point, &plan, &cast).or(single.then_some(ONE_SWITCH));
    let flows = plan.flows.len();
    drop(plan);
    if obstacle.is_some() {
        let divided = Divided {
            parts: 1,
            threads: 1,
            windows: 0,
            obstacle,
        };
        return Ok((run::within(limits, point)?, divided));
    }
    let simulation = Simulation {
        limits,
        point,
        cast: &cast,
        partition: Arc::new(partition),
        board: Board::new(parts, flows),
        barrier: Barrier::new(division.threads.get().min(parts)),
        division,
    };
    simulation.simulate()
}

/// [`run::watch`], on as many threads as the limits allow where nothing is in the way.
///
/// # Panics
/// As [`run::run`] does.
pub fn watch(
    limits: Limits<'_>,
    point: &PointSpec,
    watching: Watching<'_>,
) -> Result<Outcome, RunError> {
    let Some(threads) = limits.threads.filter(|threads| threads.most().get() > 1) else {
        return run::watch(limits, point, watching);
    };
    if watching.probe.is_some() || watching.breakdown {
        threads.note_obstacle("it is recorded while it runs");
        return run::watch(limits, point, watching);
    }
    let (outcome, divided) = within(limits, point, Division::of_threads(threads.most()))?;
    match divided.obstacle {
        Some(obstacle) => threads.note_obstacle(obstacle),
        None => threads.note(divided.threads, divided.windows),
    }
    Ok(outcome)
}

/// What a simulation does that parts cannot do by themselves.
fn undividable(point: &PointSpec, plan: &Plan, cast: &Cast) -> Option<&'static str> {
    let connections = &plan.connections;
    if !plan.barriers.is_empty() {
        Some("flows wait for flows at other switches to end")
    } else if connections.iter().any(|connection| connection.messages > 1) {
        Some("connections carry several flows")
    } else if connections
        .iter()
        .any(|connection| connection.heir_of.is_some())
    {
        Some("connections take the places of earlier ones")
    } else if plan.flows.iter().any(|flow| flow.first_write.is_some()) {
        Some("applications write flows piece by piece")
    } else if !cast.is_plain() || cast.roles.iter().any(|roles| roles.hold.is_some()) {
        Some("roles of its own have to be on one thread")
    } else if point.keys.bottleneck.duplication.0 > 0.0 {
        Some("a link delivers packets twice")
    } else {
        None
    }
}

/// What is in the way where a network has one part.
const ONE_SWITCH: &str = "its network is one switch, or has no delay between switches";

/// A link whose both ends are to be in one part.
fn disturbed(point: &PointSpec, plan: &Plan) -> Option<fabric::PortId> {
    (point.keys.bottleneck.reordering.0 > 0.0).then_some(plan.bottleneck)
}

/// A point and how it is divided.
struct Simulation<'a> {
    limits: Limits<'a>,
    point: &'a PointSpec,
    cast: &'a Cast,
    partition: Arc<Partition>,
    board: Board,
    barrier: Barrier,
    division: Division,
}

impl Simulation<'_> {
    fn simulate(&self) -> Result<(Outcome, Divided), RunError> {
        let bounds = Bounds::of(self.limits, self.point);
        let threads = self.barrier.threads();
        let all = thread::scope(|scope| {
            let work = |first| self.work(first, &bounds);
            let others: Vec<_> = (1..threads)
                .map(|first| scope.spawn(move || work(first)))
                .collect();
            let mut all = vec![work(0)];
            all.extend(others.into_iter().map(|other| match other.join() {
                Ok(done) => done,
                Err(panic) => resume_unwind(panic),
            }));
            all
        });
        let all: Result<Vec<_>, RunError> = all.into_iter().collect();
        let mut cpu = Duration::ZERO;
        let mut parts = Vec::new();
        for (of_thread, took) in all? {
            cpu += took;
            parts.extend(of_thread);
        }
        parts.sort_by_key(Part::number);
        self.finish(parts, &bounds, cpu)
    }

    /// Simulates the parts from `first` on, one for all threads each, and says how long it took.
    fn work(&self, first: usize, bounds: &Bounds<'_>) -> Result<(Vec<Part>, Duration), RunError> {
        let _alarm = Alarm(&self.barrier);
        let numbers = (first..self.partition.parts()).step_by(self.barrier.threads());
        let parts: Result<Vec<Part>, RunError> = numbers.map(|number| self.part(number)).collect();
        let mut parts = parts.inspect_err(|_| self.barrier.shatter())?;
        let start = (self.limits.clock)();
        loop {
            parts
                .iter_mut()
                .for_each(|part| part.tell(&self.board, bounds));
            if !self.barrier.wait() {
                return Err(RunError::Stopped);
            }
            let go_on = |part: &mut Part| part.go_on(&self.board, bounds);
            if !parts
                .iter_mut()
                .map(go_on)
                .fold(true, |all, one| all && one)
            {
                break;
            }
        }
        Ok((parts, (self.limits.clock)().saturating_sub(start)))
    }

    fn part(&self, number: usize) -> Result<Part, RunError> {
        let border = Border::new(&self.partition, number);
        let begun = run::begin(self.point, (self.cast, &run::receiver), border)?;
        let window = self.partition.window_of(self.division.shortened);
        Ok(Part::new(begun, (number, self.partition.parts()), window))
    }

    /// What all parts together come to.
    fn finish(
        &self,
        mut parts: Vec<Part>,
        bounds: &Bounds<'_>,
        cpu: Duration,
    ) -> Result<(Outcome, Divided), RunError> {
        let errors = parts.iter_mut().filter_map(|part| part.error.take());
        let first = errors.min_by_key(|error| error.simulated());
        if let Some(error) = first {
            return Err(error);
        }
        let totals = parts[0].totals(&self.board);
        let handled = totals.handled();
        bounds.check(handled, totals.inside)?;
        bounds.conclude(handled.now, totals.nothing_left())?;
        let divided = Divided {
            parts: parts.len(),
            threads: self.barrier.threads(),
            windows: parts[0].windows,
            obstacle: None,
        };
        let end = handled.now.max(run::last_of(self.point));
        let mut queues = vec![fabric::QueueStatistics::default(); self.partition.ports()];
        for part in &mut parts {
            part.close(end);
            let own = part.world.part().1.statistics();
            own.for_each(|(port, statistics)| queues[port] = statistics);
        }
        let over: Vec<_> = self.board.over().collect();
        let worlds = parts.into_iter().map(|part| part.world).collect();
        let world = World::join(worlds, &over, queues);
        Ok((run::finish(world, handled, self.point, cpu)?, divided))
    }
}

#[cfg(test)]
mod tests;
