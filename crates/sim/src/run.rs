//! One point: build the world, run it, check it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Span, Time};
use engine::{Scheduler, World as _};
use fabric::Topology;
use scenario::work::Work;
use scenario::workload::Plan;
use scenario::{Group, PointSpec};
use schemes::{HostInfo, Receiver, Roles};
use tcp::{Plain, Plays, ReceiverCc};

use crate::breakdown::Follower;
use crate::error::RunError;
use crate::measure;
use crate::metrics::Outcome;
use crate::probe::{Probe, Sees};
use crate::watched::Watched;
use crate::world::{MakeReceiver, World};

/// What ends a simulation before its end, and what tells its cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Steps of [`Work`] that it may take.
    pub steps: u64,
    /// Bytes that packets on the way may take.
    pub memory: u64,
    /// Whether series are recorded.
    pub recorded: bool,
    /// Becomes true when the result is not wanted any more.
    pub stop: Option<&'a AtomicBool>,
    /// The processor time of this thread, from some beginning on.
    pub clock: fn() -> Duration,
}

impl Limits<'_> {
    /// None at all, and no clock: the simulation costs nothing.
    pub const NONE: Self = Self {
        steps: u64::MAX,
        memory: u64::MAX,
        recorded: true,
        stop: None,
        clock: || Duration::ZERO,
    };
}

/// Simulates a point: a pure function of it, but for the cost.
///
/// # Panics
/// If the settings of the point were not checked by [`scenario`].
pub fn run(point: &PointSpec) -> Result<Outcome, RunError> {
    within(Limits::NONE, point)
}

/// [`run`], ended without a result where it exceeds its limits.
///
/// # Panics
/// As [`run`] does.
pub fn within(limits: Limits<'_>, point: &PointSpec) -> Result<Outcome, RunError> {
    let roles = roles(point);
    if roles.iter().any(|roles| roles.receiver.is_some()) {
        run_world(limits, point, (&roles, &receiver), &mut ())
    } else {
        // Without a receiver role its calls are compiled away.
        run_world(limits, point, (&roles, &|_, _| Plain), &mut ())
    }
}

/// [`run`] with a probe that sees every packet-hop.
///
/// # Panics
/// As [`run`] does.
pub fn observe(point: &PointSpec, probe: &mut dyn Probe) -> Result<Outcome, RunError> {
    let watching = Watching {
        probe: Some(probe),
        breakdown: false,
    };
    watch(Limits::NONE, point, watching)
}

/// What is watched of a simulation beside what it comes to.
#[derive(Default)]
pub struct Watching<'a> {
    /// Sees everything.
    pub probe: Option<&'a mut dyn Probe>,
    /// Whether completion times are broken down; see [`breakdown`](crate::breakdown).
    pub breakdown: bool,
}

/// [`within`], watched.
///
/// A probe is called through a pointer: one world that is watched is compiled, whatever watches it, and
/// it has receiver roles, whose calls the other hosts leave out.
///
/// # Panics
/// As [`run`] does.
pub fn watch(
    limits: Limits<'_>,
    point: &PointSpec,
    watching: Watching<'_>,
) -> Result<Outcome, RunError> {
    if watching.probe.is_none() && !watching.breakdown {
        return within(limits, point);
    }
    let mut watched = Watched {
        probe: watching.probe,
        follower: watching.breakdown.then(Follower::default),
    };
    run_world(limits, point, (&roles(point), &receiver), &mut watched)
}

fn roles(point: &PointSpec) -> Vec<Roles> {
    point.groups.iter().map(Group::roles).collect()
}

/// The control of a host in a simulation in which some have a receiver role.
fn receiver(roles: Option<&Roles>, host: &HostInfo) -> Receiver {
    match roles {
        Some(roles) => roles.make_receiver(host),
        None => Plain.into(),
    }
}

fn run_world<'p, R: Plays<dyn ReceiverCc>, P: Sees<R>>(
    limits: Limits<'_>,
    point: &'p PointSpec,
    (roles, receiver): (&'p [Roles], &MakeReceiver<'_, R>),
    probe: &'p mut P,
) -> Result<Outcome, RunError> {
    let keys = &point.keys;
    let plan = Plan::of(point);
    // A hop takes a serialisation and a delay; most events are at most that far ahead.
    let hop = keys.link.rate.serialisation(keys.packet_bytes()) + keys.link.delay;
    let mut sched = Scheduler::sized(
        hop,
        least_gap(&plan.topology, keys.packet_bytes()),
        point.order_seed(),
    );
    let mut world = World::new(point, roles, plan, (receiver, probe), &mut sched)?;
    world.follow(keys.net.header_bytes);
    let limit = keys
        .run
        .duration
        .0
        .map_or(Time::NEVER, |duration| Time::ZERO + duration);

    let bounds = Bounds {
        limits,
        work: Work::of(point, limits.recorded),
        end: limit,
    };
    let start = (limits.clock)();
    bounds.simulate(&mut world, &mut sched)?;
    let cpu = (limits.clock)().saturating_sub(start);
    let end = sched.now().max(if limit == Time::NEVER {
        Time::ZERO
    } else {
        limit
    });
    world.check_conservation()?;
    let queues = world.close_statistics(end);
    if !world.has_started() {
        return Err(RunError::NoFlow);
    }
    let ended = world.end(end);
    let events = sched.handled();
    drop(sched);
    Ok(measure::outcome(ended, point, &queues, events, (end, cpu)))
}

/// The mean time between packet-hops if every port of `topology` sends all the time.
fn least_gap(topology: &Topology, packet_bytes: u64) -> Span {
    let links = topology.links().iter();
    let rates =
        links.map(|link| u128::from(link.spec.rate.as_bps()) + u128::from(link.back.rate.as_bps()));
    let bits_per_s: u128 = rates.sum();
    let gap = u128::from(packet_bytes) * 8 * 1_000_000_000_000 / bits_per_s.max(1);
    Span::from_ps(u64::try_from(gap).unwrap_or(u64::MAX))
}

/// How far a simulation goes.
struct Bounds<'a> {
    limits: Limits<'a>,
    work: Work,
    /// Its end, if the settings have one.
    end: Time,
}

impl Bounds<'_> {
    /// Runs the events up to the end, or says which limit is exceeded before.
    fn simulate<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
        &self,
        world: &mut World<'_, R, P>,
        sched: &mut Scheduler,
    ) -> Result<(), RunError> {
        // Timers of switches and samples of series are no events: the time bounds their number.
        let horizon = self.work.horizon(self.limits.steps);
        while engine::run_some(world, sched, self.end.min(horizon), BATCH) {
            self.check(world, sched)?;
        }
        let is_over = self.end <= horizon || world.finished() || sched.pending() == 0;
        if is_over {
            Ok(())
        } else {
            Err(self.too_long(sched))
        }
    }

    fn check<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
        &self,
        world: &World<'_, R, P>,
        sched: &Scheduler,
    ) -> Result<(), RunError> {
        let stop = self.limits.stop;
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || world.has_failed() {
            return Err(RunError::Stopped);
        }
        if sched.handled() > self.limits.steps {
            return Err(self.too_long(sched));
        }
        let ports = world.network().ports().iter();
        let packets = ports.map(|port| port.held() as u64).sum();
        if fabric::PLACE_BYTES.saturating_mul(packets) > self.limits.memory {
            return Err(RunError::Memory {
                simulated: sched.now().since(Time::ZERO),
                packets,
            });
        }
        Ok(())
    }

    fn too_long(&self, sched: &Scheduler) -> RunError {
        let (what, key) = self.work.largest();
        RunError::Work {
            steps: self.limits.steps,
            simulated: sched.now().since(Time::ZERO),
            what,
            key: key.to_owned(),
        }
    }
}

/// Events between two looks at the limits: some milliseconds.
const BATCH: u64 = 1 << 16;
