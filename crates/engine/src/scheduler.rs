//! The event list.

use base::{Span, Time};

use crate::calendar::Calendar;

/// What a world schedules: a number below 2^24 whose meaning only the world knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(pub u32);

/// Tokens by time; equal times leave in the order in which they were scheduled.
///
/// `at` and `next_before` cost O(1) within the horizon and O(log n) beyond. A world keeps the number n
/// of pending events small: one per busy port and one per deadline. Nothing is ever cancelled: a world
/// ignores a token whose reason is gone.
#[derive(Debug)]
pub struct Scheduler {
    calendar: Calendar,
    now: Time,
    /// Events scheduled so far: the second half of the sort key.
    sequence: u64,
    /// Events handed out so far.
    handled: u64,
}

impl Scheduler {
    /// An empty list at time zero, for events mostly less than a millisecond ahead and 10 us apart.
    pub fn new() -> Self {
        Self::sized(Span::from_millis(1), Span::from_micros(10))
    }

    /// An empty list at time zero, fastest for events that are mostly less than `horizon` ahead and
    /// `gap` apart. Neither changes the order of events.
    pub fn sized(horizon: Span, gap: Span) -> Self {
        Self {
            calendar: Calendar::new(horizon.as_ps(), gap.as_ps()),
            now: Time::ZERO,
            sequence: 0,
            handled: 0,
        }
    }

    /// Schedules `token` for `time`.
    ///
    /// # Panics
    /// If `time` has passed: an effect before its cause is a mistake of the world.
    #[inline(always)]
    pub fn at(&mut self, time: Time, token: Token) {
        assert!(time >= self.now, "an event cannot be scheduled in the past");
        debug_assert!(token.0 < 1 << TOKEN_BITS, "tokens have 24 bits");
        self.sequence += 1;
        let order = self.sequence << TOKEN_BITS | u64::from(token.0);
        self.calendar
            .push(u128::from(time.as_ps()) << 64 | u128::from(order));
    }

    /// Removes the next token and moves the clock to its time, unless that is later than `limit`.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the key is taken apart into its fields"
    )]
    pub fn next_before(&mut self, limit: Time) -> Option<Token> {
        let key = self.calendar.pop(limit.as_ps())?;
        self.now = Time::from_ps((key >> 64) as u64);
        self.handled += 1;
        Some(Token(key as u32 & ((1 << TOKEN_BITS) - 1)))
    }

    /// The time of the token handed out last.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handed out so far.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Events waiting.
    pub fn pending(&self) -> usize {
        self.calendar.len()
    }
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::new()
    }
}

/// 24 bits of token leave 40 for the sequence: 10^12 events, a day of the fastest machine.
pub(crate) const TOKEN_BITS: u32 = 24;

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    #[test]
    fn equal_times_leave_in_the_order_of_scheduling() {
        let mut sched = Scheduler::new();
        let noon = Time::ZERO + Span::from_millis(1);
        for token in [7, 3, 9, 1] {
            sched.at(noon, Token(token));
        }
        let order: Vec<u32> = std::iter::from_fn(|| sched.next_before(Time::NEVER))
            .map(|token| token.0)
            .collect();
        assert_eq!(order, [7, 3, 9, 1]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut sched = Scheduler::new();
        sched.at(Time::from_ps(10), Token(1));
        assert_eq!(sched.next_before(Time::from_ps(9)), None);
        assert_eq!((sched.pending(), sched.now()), (1, Time::ZERO));
        assert_eq!(sched.next_before(Time::from_ps(10)), Some(Token(1)));
    }
}
