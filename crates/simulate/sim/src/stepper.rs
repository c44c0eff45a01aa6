//! A simulation that its caller advances from one decision to the next.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::Time;
use engine::{Scheduler, World as _};
use fabric::Topology;
use plan::PointSpec;
use schemes::Receiver;

use crate::error::RunError;
use crate::metrics::Outcome;
use crate::observation::Snapshot;
use crate::run::{self, Handled};
use crate::standstill::Standstill;
use crate::world::{RoleSet, World};

pub use crate::world::ReplaceSender;

/// One simulation that owns all its data and advances on request.
///
/// The stops change nothing: the outcome is that of [`run::run`] for all times given to [`Stepper::advance`].
///
/// ```
/// use base::{Span, Time};
/// use scenario::Scenario;
/// use sim::{run, stepper::Stepper};
///
/// let scenario = Scenario::builtin("incast");
/// let point = &scenario.points()[0];
/// let mut stepper = Stepper::new(point.clone()).expect("a network that carries its traffic");
/// while !stepper.finished() {
///     let until = stepper.seen().now + Span::from_micros(100);
///     stepper.advance(until);
/// }
/// let stepped = stepper.finish().expect("a simulation that balances its books");
/// let whole = run::run(point).expect("a simulation that balances its books");
/// assert_eq!(stepped.digest, whole.digest);
/// ```
pub struct Stepper {
    point: PointSpec,
    role_set: RoleSet,
    world: World<Receiver, ()>,
    sched: Scheduler,
    /// The latest end.
    end: Time,
    seen: Snapshot,
    /// Why it cannot go on, if time stands still or a role has given up.
    stuck: Option<RunError>,
}

impl Stepper {
    /// A simulation of `point` at time zero.
    ///
    /// # Panics
    /// If the settings of the point were not checked by `scenario`.
    pub fn new(point: PointSpec) -> Result<Self, RunError> {
        let role_set = RoleSet::of(&point);
        Self::of(point, role_set)
    }

    /// Like [`Stepper::new`], but `senders` makes the sender of every connection at the host that sends its flows.
    /// Everything else of the schemes stays, and their additions to a sender apply to these senders, too.
    ///
    /// # Panics
    /// As [`Stepper::new`] does.
    pub fn with_senders(point: PointSpec, senders: Arc<ReplaceSender>) -> Result<Self, RunError> {
        let role_set = RoleSet::of(&point).with_senders(senders);
        Self::of(point, role_set)
    }

    fn of(point: PointSpec, role_set: RoleSet) -> Result<Self, RunError> {
        let (world, sched) = run::begin(&point, (&role_set, &run::receiver), ())?;
        Ok(Self {
            end: run::end_of(&point),
            seen: world.overview(),
            point,
            role_set,
            world,
            sched,
            stuck: None,
        })
    }

    /// Starts again at time zero with this seed; everything is drawn again.
    pub fn reset(&mut self, seed: u64) -> Result<(), RunError> {
        self.point.seed = seed;
        let (world, sched) = run::begin(&self.point, (&self.role_set, &run::receiver), ())?;
        self.seen = world.overview();
        (self.world, self.sched, self.stuck) = (world, sched, None);
        Ok(())
    }

    /// Simulates everything up to and including `until`, or to the end. A time in the past changes nothing.
    pub fn advance(&mut self, until: Time) -> &Snapshot {
        let until = until.min(self.end);
        if until > self.seen.now && !self.finished() {
            self.handle(until);
            let is_over =
                self.world.finished() || self.stuck.is_some() || self.sched.pending() == 0;
            let now = if is_over { self.sched.now() } else { until };
            self.world.observe(now, &mut self.seen);
        }
        &self.seen
    }

    /// Handles all events up to `until`, or those before time stands still or a role gives up.
    fn handle(&mut self, until: Time) {
        let mut standstill = Standstill::new();
        let Self { world, sched, .. } = self;
        let handled = run::attempt(sched, |sched| {
            while engine::run_some(world, sched, until, run::BATCH) {
                standstill.check(world, sched)?;
                if world.finished() {
                    break;
                }
            }
            Ok(())
        });
        self.stuck = handled.err();
    }

    /// The outcome, after running to the end.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        self.advance(Time::NEVER);
        if let Some(error) = self.stuck {
            return Err(error);
        }
        let handled = Handled::by(&self.sched);
        let (outcome, ()) = run::finish(self.world, handled, &self.point, Duration::ZERO)?;
        Ok(outcome)
    }

    /// The observation that [`Stepper::advance`] returned last.
    pub fn seen(&self) -> &Snapshot {
        &self.seen
    }

    /// Whether nothing more happens: every connection has ended and the network is empty, the duration in the settings
    /// is over, or simulated time stands still, which [`Stepper::finish`] reports.
    pub fn finished(&self) -> bool {
        self.world.finished()
            || self.stuck.is_some()
            || self.sched.pending() == 0
            || self.seen.now >= self.end
    }

    /// When the first flow starts.
    pub fn first_start(&self) -> Time {
        self.world.first_start()
    }

    /// The network.
    pub fn topology(&self) -> &Topology {
        self.world.topology()
    }

    /// The point, with the seed of the last reset.
    pub fn point(&self) -> &PointSpec {
        &self.point
    }

    /// A number that changes with any difference in any packet-hop so far.
    pub fn digest(&self) -> u64 {
        self.world.network().digest()
    }
}

impl fmt::Debug for Stepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper")
            .field("seed", &self.point.seed)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
