//! One point: build the world, run it, check it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Span, Time};
use engine::{Scheduler, World as _};
use fabric::Topology;
use plan::PointSpec;
use plan::work::Work;
use plan::workload::Plan;
use schemes::{Hold, HostInfo, Receiver, Roles};
use tcp::{Plain, Plays, ReceiverCc};

use crate::breakdown::Follower;
use crate::error::RunError;
use crate::measure;
use crate::metrics::Outcome;
use crate::probe::{Probe, Sees};
use crate::standstill::Standstill;
use crate::threads::Threads;
use crate::watched::Watched;
use crate::world::{MakeReceiver, RoleSet, World};

/// The limits that end a simulation early, and the clocks that measure its cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Steps of [`Work`] that it may take.
    pub steps: u64,
    /// Bytes that packets on the way may take.
    pub memory: u64,
    /// Whether series are recorded.
    pub recorded: bool,
    /// Becomes true when the result is no longer wanted.
    pub stop: Option<&'a AtomicBool>,
    /// Threads that the simulation may take; `None`: this one. Used by [`divided::watch`](crate::divided::watch).
    pub threads: Option<Threads<'a>>,
    /// The processor time of this thread, from any starting point.
    pub clock: fn() -> Duration,
    /// Wall-clock time. Threads judge by it whether they wait too long for each other. Results do not depend on it.
    pub wall: fn() -> Duration,
}

impl Limits<'_> {
    /// No limits and no clocks: the measured cost is zero.
    pub const NONE: Self = Self {
        steps: u64::MAX,
        memory: u64::MAX,
        recorded: true,
        stop: None,
        threads: None,
        clock: || Duration::ZERO,
        wall: || Duration::ZERO,
    };

    /// Whether the result is no longer wanted.
    fn are_over(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Simulates a point. The outcome is a pure function of the point, except for the cost.
///
/// # Panics
/// If the settings of the point were not checked by `scenario`.
pub fn run(point: &PointSpec) -> Result<Outcome, RunError> {
    within(Limits::NONE, point)
}

/// [`run`] that ends without a result if it exceeds the limits.
///
/// # Panics
/// Where [`run`] does.
pub fn within(limits: Limits<'_>, point: &PointSpec) -> Result<Outcome, RunError> {
    let role_set = RoleSet::of(point);
    if role_set.roles.iter().any(|roles| roles.receiver.is_some()) {
        run_world(limits, point, (&role_set, &receiver), ())
    } else {
        // Without a receiver role its calls are compiled away.
        run_world(limits, point, (&role_set, &|_, _| Plain), ())
    }
}

/// [`run`] with a probe that sees every packet-hop.
///
/// # Panics
/// Where [`run`] does.
pub fn observe(point: &PointSpec, probe: &mut dyn Probe) -> Result<Outcome, RunError> {
    let watching = Watching {
        probe: Some(probe),
        breakdown: false,
    };
    watch(Limits::NONE, point, watching)
}

/// Observations of a simulation in addition to its results.
#[derive(Default)]
pub struct Watching<'a> {
    /// Sees everything.
    pub probe: Option<&'a mut dyn Probe>,
    /// Whether completion times are broken down; see [`breakdown`](crate::breakdown).
    pub breakdown: bool,
}

/// [`within`], watched.
///
/// A probe is called through a pointer, so only one watched world is compiled for all probes. This world has receiver
/// roles; hosts without a role skip their calls.
///
/// # Panics
/// Where [`run`] does.
pub fn watch(
    limits: Limits<'_>,
    point: &PointSpec,
    watching: Watching<'_>,
) -> Result<Outcome, RunError> {
    if watching.probe.is_none() && !watching.breakdown {
        return within(limits, point);
    }
    watched(limits, point, watching)
}

/// [`watch`], but always in the watched world, even without a probe: for programs that compile no other world.
///
/// # Panics
/// Where [`run`] does.
pub fn watched(
    limits: Limits<'_>,
    point: &PointSpec,
    watching: Watching<'_>,
) -> Result<Outcome, RunError> {
    let watched = Watched::<&mut dyn Probe> {
        probe: watching.probe,
        follower: watching.breakdown.then(Follower::default),
    };
    run_world(limits, point, (&RoleSet::of(point), &receiver), watched)
}

/// The receiver role of a host, in a simulation in which some hosts have one.
pub(crate) fn receiver(roles: Option<&Roles>, host: &HostInfo) -> Receiver {
    match roles {
        Some(roles) => roles.make_receiver(host),
        None => Plain.into(),
    }
}

/// Simulates a point, on a thread that holds what its roles need.
fn run_world<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
    limits: Limits<'_>,
    point: &PointSpec,
    parts: (&RoleSet, &MakeReceiver<'_, R>),
    probe: P,
) -> Result<Outcome, RunError> {
    let Some(hold) = parts.0.roles.iter().find_map(|roles| roles.hold) else {
        return simulate(limits, point, parts, (probe, None));
    };
    let mut probe = Some(probe);
    let mut outcome = Err(RunError::Stopped);
    hold.hold(&mut || {
        if let Some(probe) = probe.take() {
            outcome = simulate(limits, point, parts, (probe, Some(hold)));
        }
    });
    // The caller that ends a run may interrupt a role in its work.
    match outcome {
        Err(RunError::Role { .. }) if limits.are_over() => Err(RunError::Stopped),
        outcome => outcome,
    }
}

fn simulate<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
    limits: Limits<'_>,
    point: &PointSpec,
    (role_set, receiver): (&RoleSet, &MakeReceiver<'_, R>),
    (probe, hold): (P, Option<&dyn Hold>),
) -> Result<Outcome, RunError> {
    let (mut world, mut sched) = begin(point, (role_set, receiver), probe)?;
    let bounds = Bounds {
        hold,
        ..Bounds::of(limits, point)
    };
    let start = (limits.clock)();
    attempt(&mut sched, |sched| bounds.simulate(&mut world, sched))?;
    let cpu = (limits.clock)().saturating_sub(start);
    let handled = Handled::by(&sched);
    drop(sched);
    let (outcome, _) = finish(world, handled, point, cpu)?;
    Ok(outcome)
}

/// How far a world has handled its events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handled {
    /// The time of the last event.
    pub(crate) now: Time,
    /// How many there were.
    pub(crate) events: u64,
}

impl Handled {
    /// The events that the scheduler has handed out.
    pub(crate) fn by(sched: &Scheduler) -> Self {
        Self {
            now: sched.now(),
            events: sched.handled(),
        }
    }
}

/// The world of a point and its events, before the first of them.
pub(crate) fn begin<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
    point: &PointSpec,
    (role_set, receiver): (&RoleSet, &MakeReceiver<'_, R>),
    probe: P,
) -> Result<(World<R, P>, Scheduler), RunError> {
    let keys = &point.keys;
    let plan = Plan::of(point);
    // A hop takes a serialisation and a delay. Most events are at most this far ahead.
    let hop = keys.link.rate.serialisation(keys.packet_bytes()) + keys.link.delay;
    let mut sched = Scheduler::sized(
        hop,
        least_gap(&plan.topology, keys.packet_bytes()),
        point.order_seed(),
    );
    let mut world = attempt(&mut sched, |sched| {
        World::new(point, role_set, plan, (receiver, probe), sched)
    })?;
    world.follow(keys.net.header_bytes);
    Ok((world, sched))
}

/// The latest end of a simulation; [`Time::NEVER`] if its settings do not limit it.
pub(crate) fn end_of(point: &PointSpec) -> Time {
    let duration = point.keys.run.duration.0;
    duration.map_or(Time::NEVER, |duration| Time::ZERO + duration)
}

/// The earliest end of a simulation.
pub(crate) fn last_of(point: &PointSpec) -> Time {
    let duration = point.keys.run.duration.0;
    duration.map_or(Time::ZERO, |duration| Time::ZERO + duration)
}

/// The outcome of a world whose events have been handled in this processor time. Also returns its probe.
pub(crate) fn finish<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
    mut world: World<R, P>,
    handled: Handled,
    point: &PointSpec,
    cpu: Duration,
) -> Result<(Outcome, P), RunError> {
    let end = handled.now.max(last_of(point));
    world.check_conservation()?;
    // Hooks now handle the time between the last packet of their ports and the end.
    let closed = catch_unwind(AssertUnwindSafe(|| world.close_statistics(end)));
    let queues = closed.map_err(|panic| gave_up(panic, handled.now))?;
    if !world.has_started() {
        return Err(RunError::NoFlow);
    }
    let (ended, probe) = world.end(end);
    let outcome = measure::outcome(ended, point, &queues, handled.events, (end, cpu));
    Ok((outcome, probe))
}

/// Does a part of a simulation in which a role may give up.
pub(crate) fn attempt<T>(
    sched: &mut Scheduler,
    part: impl FnOnce(&mut Scheduler) -> Result<T, RunError>,
) -> Result<T, RunError> {
    let done = catch_unwind(AssertUnwindSafe(|| part(sched)));
    done.unwrap_or_else(|panic| Err(gave_up(panic, sched.now())))
}

/// The error of a role that has given up. Other panics go on.
fn gave_up(panic: Box<dyn Any + Send>, now: Time) -> RunError {
    RunError::Role {
        cause: schemes::given_up(panic),
        simulated: now.since(Time::ZERO),
    }
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

/// The limits that end a simulation.
pub(crate) struct Bounds<'a> {
    limits: Limits<'a>,
    work: Work,
    /// Its end, if the settings have one.
    end: Time,
    /// Holds what the roles of this thread need.
    hold: Option<&'a dyn Hold>,
}

impl<'a> Bounds<'a> {
    pub(crate) fn of(limits: Limits<'a>, point: &PointSpec) -> Self {
        Self {
            limits,
            work: Work::of(point, limits.recorded),
            end: end_of(point),
            hold: None,
        }
    }

    /// The latest end. Timers of switches and samples of series are no events, so the time bounds their number.
    pub(crate) fn latest(&self) -> Time {
        self.end.min(self.work.horizon(self.limits.steps))
    }

    /// Runs the events up to the end, or returns the limit that is exceeded first.
    fn simulate<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
        &self,
        world: &mut World<R, P>,
        sched: &mut Scheduler,
    ) -> Result<(), RunError> {
        let latest = self.latest();
        let batch = self.hold.map_or(BATCH, |_| HELD_BATCH);
        let mut standstill = Standstill::new();
        while engine::run_some(world, sched, latest, batch) {
            if world.has_failed() {
                return Err(RunError::Stopped);
            }
            self.check(Handled::by(sched), world.network().inside())?;
            standstill.check(world, sched)?;
            if world.finished() {
                break;
            }
            self.hold.inspect(|hold| hold.pause());
        }
        self.conclude(sched.now(), world.finished() || sched.pending() == 0)
    }

    /// Whether a simulation that has come to `now` is over: nothing is `left` to do, or its time is over.
    pub(crate) fn conclude(&self, now: Time, nothing_left: bool) -> Result<(), RunError> {
        if nothing_left || self.end <= self.latest() {
            Ok(())
        } else {
            Err(self.too_long(now))
        }
    }

    /// An error if these events, with this many packets on the way, exceed a limit.
    pub(crate) fn check(&self, handled: Handled, packets: u64) -> Result<(), RunError> {
        if self.limits.are_over() {
            return Err(RunError::Stopped);
        }
        if handled.events > self.limits.steps {
            return Err(self.too_long(handled.now));
        }
        if fabric::PLACE_BYTES.saturating_mul(packets) > self.limits.memory {
            return Err(RunError::Memory {
                simulated: handled.now.since(Time::ZERO),
                packets,
            });
        }
        Ok(())
    }

    fn too_long(&self, now: Time) -> RunError {
        let (what, key) = self.work.largest();
        RunError::Work {
            steps: self.limits.steps,
            simulated: now.since(Time::ZERO),
            what,
            key: key.to_owned(),
        }
    }
}

/// Events between two checks of the limits: some milliseconds.
pub(crate) const BATCH: u64 = 1 << 16;
/// The same for a thread that holds something that others wait for, where events take longer.
const HELD_BATCH: u64 = 1 << 12;
