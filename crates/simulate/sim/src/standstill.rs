//! Notices that simulated time no longer moves on.
//!
//! A mistake, most likely a role whose deadline lies in the past, can make each event schedule another one for the same
//! instant, for ever. No limit on simulated time ends such a run. So the number of events at one instant is bounded.
//! The code that handles events in batches checks it between two batches, so the event loop itself does no extra work.

use base::Time;
use engine::Scheduler;
use tcp::{Plays, ReceiverCc};

use crate::error::RunError;
use crate::probe::Sees;
use crate::world::World;

/// The instant seen last, and how many events it may have.
#[derive(Debug)]
pub(crate) struct Standstill {
    instant: Time,
    /// Events that had been handled when this instant was first seen.
    before: u64,
    most: u64,
}

impl Standstill {
    /// Nothing has been seen yet.
    pub(crate) const fn new() -> Self {
        Self {
            instant: Time::NEVER,
            before: 0,
            most: 0,
        }
    }

    /// Checks the time after a batch of events; an error if it stands still. In this case some more events are handled,
    /// so that the error can name the port, timer or host that repeats.
    pub(crate) fn check<R: Plays<dyn ReceiverCc>, P: Sees<R>>(
        &mut self,
        world: &mut World<R, P>,
        sched: &mut Scheduler,
    ) -> Result<(), RunError> {
        let now = sched.now();
        if now != self.instant {
            // A part of a network may receive more than it sends.
            let inside = world.network().inside().cast_signed().max(0);
            let busy = sched.pending() as u64 + inside.cast_unsigned();
            *self = Self {
                instant: now,
                before: sched.handled(),
                most: MOST + EACH * busy,
            };
            return Ok(());
        }
        let events = sched.handled() - self.before;
        if events <= self.most {
            return Ok(());
        }
        // No error if time moves on after all.
        world.most_frequent(sched).map_or(Ok(()), |what| {
            Err(RunError::Standstill {
                simulated: now.since(Time::ZERO),
                events,
                what,
            })
        })
    }
}

/// Events that one instant may have in a network of any size. A thousand hosts in step have some thousands.
const MOST: u64 = 1 << 22;
/// Events that one instant may have for each pending event and each packet on the way: some tens of hops without delay.
const EACH: u64 = 64;
