//! One simulation divided into parts that are simulated separately.
//!
//! A network is divided into parts: each has switches with their hosts, or switches without hosts. An event at one node
//! concerns another node only after a packet has passed a wire. So each part can go on for a *window*, the least delay
//! between two parts, without the others. A packet that arrives in another part in the next window has been sent
//! completely by then: each part hands over such packets, and all parts wait for each other. The order of events at
//! each node follows from the node's own past (see [`engine::Scheduler`]). So the outcome is the same, bit by bit, for
//! all numbers of parts, windows and threads. The only difference is the number of events in
//! [`RunCost`](crate::metrics::RunCost), because obsolete events are removed at other times.
//!
//! Some simulations cannot be divided; [`Divided::obstacle`] says why.

mod barrier;
mod board;
mod border;
mod gain;
mod pace;
mod part;
mod partition;

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use plan::PointSpec;
use plan::keys::SharedPool;
use plan::workload::Plan;

use crate::breakdown::Follower;
use crate::error::RunError;
use crate::memory;
use crate::metrics::Outcome;
use crate::probe::Branch;
use crate::run::{self, Bounds, Limits, Watching};
use crate::threads::Taken;
use crate::watched::Watched;
use crate::world::{RoleSet, World};
use barrier::{Alarm, Barrier, Turn};
use board::Board;
use border::Border;
use part::NetworkPart;
use partition::Partition;

/// How a simulation is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// The greatest number of parts; at most the number of switches.
    pub parts: NonZeroUsize,
    /// The factor by which windows are shorter than they could be.
    pub shortened: NonZeroUsize,
    /// The greatest number of threads; at most the number of parts.
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

/// The counters of a simulation that was divided among threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divided {
    /// Parts.
    pub parts: usize,
    /// Threads.
    pub threads: usize,
    /// Windows in which something happened.
    pub windows: u64,
    /// How long threads waited for each other in total, by [`Limits::wall`].
    pub waited: Duration,
    /// How long the simulation took by that clock.
    pub took: Duration,
    /// Why there is one part, if more were asked for.
    pub obstacle: Option<&'static str>,
}

impl Divided {
    /// One thread, for this reason.
    const fn not(obstacle: &'static str) -> Self {
        Self {
            parts: 1,
            threads: 1,
            windows: 0,
            waited: Duration::ZERO,
            took: Duration::ZERO,
            obstacle: Some(obstacle),
        }
    }

    fn taken(&self) -> Taken {
        let threads = u32::try_from(self.threads).unwrap_or(u32::MAX);
        match self.obstacle {
            Some(_) => Taken {
                obstacle: self.obstacle,
                ..Taken::default()
            },
            None => Taken {
                runs: 1,
                threads: self.threads,
                windows: self.windows,
                waited: self.waited,
                ran: self.took.saturating_mul(threads),
                obstacle: None,
            },
        }
    }
}

/// Simulates a point in parts, watched, and says how it was divided. A point that cannot be divided is simulated as a
/// whole. Its cost is the time of all threads.
///
/// # Panics
/// See [`run::run`].
pub fn within(
    limits: Limits<'_>,
    point: &PointSpec,
    division: Division,
    watching: Watching<'_>,
) -> Result<(Outcome, Divided), RunError> {
    let divisible = recordable(&watching).and_then(|()| divide(point, division, |_, _| true));
    match divisible {
        Ok(parted) => simulate((limits, point), (parted, division), watching),
        Err(obstacle) => {
            let outcome = run::watch(limits, point, watching)?;
            Ok((outcome, Divided::not(obstacle)))
        }
    }
}

/// [`run::watch`], on as many threads as the limits allow if the point can be divided.
///
/// # Panics
/// See [`run::run`].
pub fn watch(
    limits: Limits<'_>,
    point: &PointSpec,
    watching: Watching<'_>,
) -> Result<Outcome, RunError> {
    let Some(threads) = limits.threads.filter(|threads| threads.most.get() > 1) else {
        return run::watch(limits, point, watching);
    };
    let (division, auto) = (
        Division::of_threads(threads.most),
        threads.only_where_it_gains,
    );
    let divisible = if let Err(obstacle) = recordable(&watching) {
        Err(obstacle)
    } else if !fits(limits, point, threads.most) {
        Err(NO_ROOM)
    } else if auto && !gain::has_enough_to_do(point) {
        Err(TOO_SMALL)
    } else {
        divide(point, division, |plan, partition| {
            !auto || gain::is_likely(point, plan, partition, threads.most)
        })
    };
    match divisible {
        Ok(parted) => {
            let (outcome, divided) = simulate((limits, point), (parted, division), watching)?;
            threads.taken.note(divided.taken());
            Ok(outcome)
        }
        Err(obstacle) => {
            if !auto {
                threads.taken.note(Divided::not(obstacle).taken());
            }
            run::watch(limits, point, watching)
        }
    }
}

/// Whether two threads finish a simulation sooner than one: it must be long, with enough work in each link delay.
/// Depends on the point alone. O(flows) for a long simulation.
pub fn is_worth_while(point: &PointSpec) -> bool {
    let two = NonZeroUsize::MIN.saturating_add(1);
    let gains = |plan: &Plan, partition: &Partition| gain::is_likely(point, plan, partition, two);
    gain::has_enough_to_do(point) && divide(point, Division::of_threads(two), gains).is_ok()
}

/// An error if the probe cannot be assembled from branches for parts.
fn recordable(watching: &Watching<'_>) -> Result<(), &'static str> {
    let probe = watching.probe.as_ref();
    if probe.is_none_or(|probe| probe.branch().is_some()) {
        Ok(())
    } else {
        Err(RECORDED)
    }
}

/// Whether there is memory for a world for each thread.
fn fits(limits: Limits<'_>, point: &PointSpec, threads: NonZeroUsize) -> bool {
    memory::estimate(point).saturating_mul(threads.get() as u64) <= limits.memory
}

/// The parts of a point, or the reason why it has none; one reason is that it is not `worth_while`.
fn divide(
    point: &PointSpec,
    division: Division,
    worth_while: impl FnOnce(&Plan, &Partition) -> bool,
) -> Result<Parted, &'static str> {
    let (plan, role_set) = (Plan::of(point), RoleSet::of(point));
    let partition = Partition::of(&plan, division.parts.get(), disturbed(point, &plan));
    let single = partition.parts() < division.parts.get().min(2);
    if let Some(obstacle) = undividable(point, &plan, &role_set) {
        Err(obstacle)
    } else if single {
        Err(ONE_SWITCH)
    } else if !worth_while(&plan, &partition) {
        Err(TOO_SMALL)
    } else {
        Ok(Parted {
            role_set,
            partition,
            flows: plan.flows.len(),
        })
    }
}

/// The parts of a point.
struct Parted {
    role_set: RoleSet,
    partition: Partition,
    flows: usize,
}

fn simulate(
    (limits, point): (Limits<'_>, &PointSpec),
    (parted, division): (Parted, Division),
    watching: Watching<'_>,
) -> Result<(Outcome, Divided), RunError> {
    let parts = parted.partition.parts();
    let branch = || watching.probe.as_ref().and_then(|probe| probe.branch());
    let simulation = Simulation {
        limits,
        point,
        role_set: parted.role_set,
        partition: Arc::new(parted.partition),
        parts: (0..parts).map(|_| Mutex::new(None)).collect(),
        branches: (0..parts).map(|_| Mutex::new(branch())).collect(),
        breakdown: watching.breakdown,
        board: Board::new(parts, parted.flows),
        barrier: Barrier::new(division.threads.get().min(parts), limits.wall),
        division,
    };
    let (outcome, divided, branch) = simulation.simulate()?;
    if let (Some(probe), Some(branch)) = (watching.probe, branch) {
        probe.join(branch);
    }
    Ok((outcome, divided))
}

/// The reason why a simulation cannot be divided.
fn undividable(point: &PointSpec, plan: &Plan, role_set: &RoleSet) -> Option<&'static str> {
    let connections = &plan.connections;
    if !plan.barriers.is_empty() || !plan.dependencies.is_empty() {
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
    } else if !role_set.is_plain() || role_set.roles.iter().any(|roles| roles.hold.is_some()) {
        Some("roles of its own have to be on one thread")
    } else if point.keys.switch.pool != SharedPool::Off {
        Some("queues of a switch share a buffer")
    } else if point.keys.bottleneck.duplication.0 > 0.0 {
        Some("a link delivers packets twice")
    } else if !point.keys.topology.faults.0.is_empty() {
        Some("links, switches or hosts have faults")
    } else {
        None
    }
}

const NO_ROOM: &str = "memory has no room for a world for each thread";
const RECORDED: &str = "packets are captured, a scene of the first loss is recorded, or series have a trace.interval of \
                        their own: these need the order of the whole network";
const TOO_SMALL: &str = "there is too little to do in each link delay";
/// The reason why a network has only one part.
const ONE_SWITCH: &str = "a network is one switch, or has no delay between switches";

/// A link whose two ends must be in one part.
fn disturbed(point: &PointSpec, plan: &Plan) -> Option<fabric::PortId> {
    (point.keys.bottleneck.reordering.0 > 0.0).then_some(plan.bottleneck)
}

/// The outcome of a simulation in parts, how it was divided, and the probe that watched it.
type DividedOutcome = (Outcome, Divided, Option<Box<dyn Branch>>);

/// A point and how it is divided.
struct Simulation<'a> {
    limits: Limits<'a>,
    point: &'a PointSpec,
    role_set: RoleSet,
    partition: Arc<Partition>,
    /// The parts. Each belongs to one thread for one window.
    parts: Vec<Mutex<Option<NetworkPart>>>,
    /// The probe of each part until the part begins, if there are probes.
    branches: Vec<Mutex<Option<Box<dyn Branch>>>>,
    /// Whether completion times are broken down.
    breakdown: bool,
    board: Board,
    barrier: Barrier,
    division: Division,
}

impl Simulation<'_> {
    fn simulate(mut self) -> Result<DividedOutcome, RunError> {
        let bounds = Bounds::of(self.limits, self.point);
        let start = (self.limits.wall)();
        let all: Result<Vec<Duration>, RunError> = thread::scope(|scope| {
            let (simulation, bounds) = (&self, &bounds);
            let work = move |number| simulation.work(number, bounds);
            let others: Vec<_> = (1..self.barrier.threads())
                .map(|number| scope.spawn(move || work(number)))
                .collect();
            let first = work(0);
            let others = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            [first].into_iter().chain(others).collect()
        });
        let cpu = all?.into_iter().sum();
        let took = (self.limits.wall)().saturating_sub(start);
        let parts = self.parts.drain(..).filter_map(|place| {
            let part = place.into_inner();
            part.unwrap_or_else(PoisonError::into_inner)
        });
        let parts = parts.collect();
        self.finish(parts, &bounds, (cpu, took))
    }

    /// Does the work of the thread with this number, and returns how long it took.
    fn work(&self, number: usize, bounds: &Bounds<'_>) -> Result<Duration, RunError> {
        let _alarm = Alarm(&self.barrier);
        let mut share = self.share(number);
        let built: Result<(), RunError> = share.try_for_each(|number| {
            *self.place(number) = Some(self.part(number)?);
            Ok(())
        });
        built.inspect_err(|_| self.barrier.shatter())?;
        let start = (self.limits.clock)();
        loop {
            self.each(number, |part| part.tell(&self.board, bounds));
            match self.barrier.wait(number) {
                Turn::Work => {}
                Turn::Over => break,
                Turn::Broken => return Err(RunError::Stopped),
            }
            let mut goes_on = true;
            self.each(number, |part| goes_on &= part.go_on(&self.board, bounds));
            if !goes_on {
                self.barrier.end();
                break;
            }
        }
        Ok((self.limits.clock)().saturating_sub(start))
    }

    /// The parts that the thread with this number simulates in this window.
    fn share(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        (number..self.partition.parts()).step_by(self.barrier.active())
    }

    fn each(&self, number: usize, mut work: impl FnMut(&mut NetworkPart)) {
        for number in self.share(number) {
            self.place(number).iter_mut().for_each(&mut work);
        }
    }

    fn place(&self, number: usize) -> MutexGuard<'_, Option<NetworkPart>> {
        let place = self.parts[number].lock();
        place.unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, number: usize) -> Result<NetworkPart, RunError> {
        let branch = self.branches[number].lock();
        let probe = branch.unwrap_or_else(PoisonError::into_inner).take();
        let watched = (probe.is_some() || self.breakdown).then(|| Watched {
            probe,
            follower: self.breakdown.then(Follower::default),
        });
        let border = Border::new(&self.partition, number, watched);
        let begun = run::begin(self.point, (&self.role_set, &run::receiver), border)?;
        let window = self.partition.window_of(self.division.shortened);
        Ok(NetworkPart::new(
            begun,
            (number, self.partition.parts()),
            window,
        ))
    }

    /// The outcome of all parts together.
    fn finish(
        &self,
        mut parts: Vec<NetworkPart>,
        bounds: &Bounds<'_>,
        (cpu, took): (Duration, Duration),
    ) -> Result<DividedOutcome, RunError> {
        let errors = parts.iter_mut().filter_map(|part| part.error.take());
        let first = errors.min_by_key(RunError::simulated);
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
            waited: self.barrier.waited(),
            took,
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
        let (outcome, border) = run::finish(world, handled, self.point, cpu)?;
        Ok((outcome, divided, border.into_branch()))
    }
}

#[cfg(test)]
mod tests;
