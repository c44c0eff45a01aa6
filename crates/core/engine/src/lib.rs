//! A deterministic discrete-event engine: an event list, the loop that drains it, random streams.
//!
//! It knows no network. A [`World`] receives [`Token`]s at the times it scheduled them for and
//! decides itself what a token means.
//!
//! ```
//! use base::{Span, Time};
//! use engine::{Scheduler, Token, World};
//!
//! struct Counter(u32);
//! impl World for Counter {
//!     fn handle(&mut self, token: Token, sched: &mut Scheduler) {
//!         self.0 += token.0;
//!         if self.0 < 10 {
//!             sched.at(sched.now() + Span::from_micros(1), token);
//!         }
//!     }
//! }
//!
//! let mut sched = Scheduler::new(1);
//! let mut world = Counter(0);
//! sched.at(Time::ZERO, Token(5));
//! engine::run(&mut world, &mut sched, Time::NEVER);
//! assert_eq!((world.0, sched.now()), (10, Time::from_ps(1_000_000)));
//! ```

mod calendar;
mod heap;
mod key;
pub mod random;
mod scheduler;

pub use scheduler::{Scheduler, Token};

use base::Time;

/// Whatever is simulated.
pub trait World {
    /// `token` is due: `sched.now()` is the time it was scheduled for.
    fn handle(&mut self, token: Token, sched: &mut Scheduler);

    /// `token` is probably due next: what it needs may be fetched meanwhile. Tokens of nobody may come, too.
    #[inline(always)]
    fn expect(&self, token: Token) {
        let _ = token;
    }

    /// Whether to stop before the next event; asked after every event.
    fn finished(&self) -> bool {
        false
    }
}

/// Handles events in order until none is left, the world has finished, or the next event is later
/// than `limit`.
pub fn run<W: World>(world: &mut W, sched: &mut Scheduler, limit: Time) {
    while run_some(world, sched, limit, u64::MAX) {}
}

/// As [`run`], but at most this many events, and says whether that is why it stopped. Between two calls the
/// caller may look at the world, and end the run. A function of its own in every build, so that its instructions
/// can be counted.
#[inline(never)]
pub fn run_some<W: World>(world: &mut W, sched: &mut Scheduler, limit: Time, most: u64) -> bool {
    for _ in 0..most {
        let Some(token) = sched.next_before(limit) else {
            return false;
        };
        world.expect(sched.soon());
        world.handle(token, sched);
        if world.finished() {
            return false;
        }
    }
    true
}
