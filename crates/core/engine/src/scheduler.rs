//! The event list.

use base::{Span, Time};

use crate::calendar::Calendar;
use crate::key::{self, TOKEN_BITS};
use crate::random::Stream;

/// The unit of scheduling: a number below [`Token::LIMIT`] whose meaning only the world knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(pub u32);

impl Token {
    /// How many tokens there are. A world that needs more must refuse before it schedules any.
    pub const LIMIT: u32 = 1 << TOKEN_BITS;
}

/// Tokens by time. Of equal times the one scheduled earliest leaves first; of those scheduled at the
/// same time, too, an order decides that is drawn from the time and the seed.
///
/// # Equal times
///
/// Nothing in the order counts events: it follows from what is scheduled, when and for when, so parts
/// of a world that do not affect each other may be simulated in any order, or at the same time. The
/// time of scheduling is what a queue in front of several links goes by: who began to send first.
/// Without it, or with a fixed order of tokens in the place of a drawn one, some ports would get the
/// last free place of a queue more often than others.
///
/// An order is drawn by flipping the same bits of all tokens, which can be undone. So different tokens
/// never are equal, and equal ones cannot be told apart.
///
/// # Costs
///
/// `at` and `next_before` cost O(1) within the horizon and O(log n) beyond. A world keeps the number n
/// of pending events small: one per busy port and one per deadline. Nothing is ever cancelled: a world
/// ignores a token whose reason is gone.
#[derive(Debug)]
pub struct Scheduler {
    calendar: Calendar,
    now: Time,
}

impl Scheduler {
    /// An empty list at time zero, for events mostly less than a millisecond ahead and 10 us apart.
    pub fn new(seed: u64) -> Self {
        Self::sized(Span::from_millis(1), Span::from_micros(10), seed)
    }

    /// An empty list at time zero, fastest for events that are mostly less than `horizon` ahead and
    /// `gap` apart. Neither changes the order of events; the seed does where times are equal.
    pub fn sized(horizon: Span, gap: Span, seed: u64) -> Self {
        // Makes the orders of equal times of runs with different seeds unrelated.
        let salt = Stream::new(seed, "equal times", 0).bits();
        Self {
            calendar: Calendar::new(horizon.as_ps(), gap.as_ps(), salt),
            now: Time::ZERO,
        }
    }

    /// Schedules `token` for `time`.
    ///
    /// # Panics
    /// If `time` has passed: an effect before its cause is a mistake of the world.
    #[inline(always)]
    pub fn at(&mut self, time: Time, token: Token) {
        assert!(time >= self.now, "an event cannot be scheduled in the past");
        debug_assert!(token.0 < Token::LIMIT, "the world counts its tokens");
        let ahead = time.as_ps() - self.now.as_ps();
        self.calendar.push(key::new(time.as_ps(), ahead, token.0));
    }

    /// Does [`Scheduler::at`], in the order of equal times as if it were scheduled at `since`.
    ///
    /// # Panics
    /// If the event lies in the past.
    pub fn at_since(&mut self, since: Time, time: Time, token: Token) {
        assert!(time >= self.now, "an event cannot be scheduled in the past");
        let ahead = time.since(since).as_ps();
        self.calendar.push(key::new(time.as_ps(), ahead, token.0));
    }

    /// When the next token is due; [`Time::NEVER`] if none is.
    pub fn next_time(&mut self) -> Time {
        Time::from_ps(self.calendar.next_time())
    }

    /// Removes the tokens beyond the horizon that `keep` rejects: O(n log n) for n such tokens. This only
    /// saves memory: a world may as well ignore these tokens when they come.
    pub fn retain_later(&mut self, mut keep: impl FnMut(Time, Token) -> bool) {
        self.calendar.retain_far(|key| {
            let time = Time::from_ps(key::time_of(key));
            keep(time, Token(key::token_of(key)))
        });
    }

    /// Removes the next token and moves the clock to its time, unless that is later than `limit`.
    #[inline(always)]
    pub fn next_before(&mut self, limit: Time) -> Option<Token> {
        let key = self.calendar.pop(limit.as_ps())?;
        self.now = Time::from_ps(key::time_of(key));
        Some(Token(key::token_of(key)))
    }

    /// The token that is probably next; any other if none is known.
    #[inline(always)]
    pub(crate) const fn soon(&self) -> Token {
        Token(key::token_of(self.calendar.soon()))
    }

    /// The time of the token handed out last.
    #[inline(always)]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handed out so far.
    pub fn handled(&self) -> u64 {
        self.calendar.popped()
    }

    /// Events waiting.
    pub fn pending(&self) -> usize {
        self.calendar.len()
    }
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    const NOON: Time = Time::from_ps(1_000_000_000);

    fn order(sched: &mut Scheduler) -> Vec<u32> {
        let next = || sched.next_before(Time::NEVER);
        std::iter::from_fn(next).map(|token| token.0).collect()
    }

    #[test]
    fn of_equal_times_the_one_scheduled_earliest_leaves_first() {
        let mut sched = Scheduler::new(1);
        for (us, token) in [(0, 7), (1, 3), (2, 9), (3, 1)] {
            sched.at(Time::ZERO + Span::from_micros(us), Token(100));
            assert_eq!(sched.next_before(Time::NEVER), Some(Token(100)));
            sched.at(NOON, Token(token));
        }
        assert_eq!(order(&mut sched), [7, 3, 9, 1]);
    }

    #[test]
    fn who_schedules_first_at_the_same_time_does_not_matter() {
        let leave = |tokens: [u32; 4]| {
            let mut sched = Scheduler::new(1);
            for token in tokens {
                sched.at(NOON, Token(token));
            }
            order(&mut sched)
        };
        let first = leave([0, 1, 2, Token::LIMIT - 1]);
        assert_eq!(leave([Token::LIMIT - 1, 1, 2, 0]), first);
        assert_eq!(leave([2, Token::LIMIT - 1, 0, 1]), first);
    }

    #[test]
    fn every_token_is_as_often_before_another_as_behind_it() {
        // Packets of 1500 bytes at 1 and 10 Gbit/s, and times without a pattern.
        for gap in [12_000_000, 1_200_000, 1_048_576, 999_983] {
            for (a, b) in [(0, 1), (2, 3), (1, 2), (5, 133), (7, 1 << 20)] {
                let mut sched = Scheduler::new(gap);
                let (mut first, mut repeated, mut last) = (0_u32, 0_u32, false);
                for step in 1..=10_000 {
                    let time = Time::from_ps(step * gap);
                    sched.at(time, Token(a));
                    sched.at(time, Token(b));
                    let wins = sched.next_before(time) == Some(Token(a));
                    assert!(sched.next_before(time).is_some());
                    first += u32::from(wins);
                    repeated += u32::from(wins == last);
                    last = wins;
                }
                // Binomial(10000, 0.5): standard deviation 50; 5 of them either way. It neither favours
                // one nor takes turns.
                for count in [first, repeated] {
                    assert!(count.abs_diff(5000) < 250, "{a}, {b} at {gap}: {count}");
                }
            }
        }
    }

    #[test]
    fn seeds_have_orders_of_their_own() {
        let leave = |seed| {
            let mut sched = Scheduler::new(seed);
            (0..64).for_each(|token| sched.at(NOON, Token(token)));
            order(&mut sched)
        };
        assert_eq!(leave(1), leave(1));
        assert_ne!(leave(1), leave(2));
    }

    #[test]
    fn what_was_scheduled_more_than_a_second_ahead_is_equally_early() {
        let mut sched = Scheduler::new(1);
        let late = Time::ZERO + Span::from_secs(10);
        sched.at(late, Token(4));
        sched.at(Time::ZERO + Span::from_secs(5), Token(0));
        assert_eq!(sched.next_before(Time::NEVER), Some(Token(0)));
        sched.at(late, Token(5));
        sched.at(Time::ZERO + Span::from_secs(9), Token(1));
        assert_eq!(sched.next_before(Time::NEVER), Some(Token(1)));
        sched.at(late, Token(6));
        let mut first = order(&mut sched);
        assert_eq!(first.pop(), Some(6));
        first.sort_unstable();
        assert_eq!(first, [4, 5]);
    }

    #[test]
    fn what_is_not_wanted_any_more_never_comes() {
        let mut sched = Scheduler::new(1);
        for token in 0..100 {
            sched.at(NOON + Span::from_millis(token.into()), Token(token));
        }
        let mut seen = 0;
        sched.retain_later(|time, token| {
            seen += 1;
            assert_eq!(time, NOON + Span::from_millis(token.0.into()));
            token.0 % 7 == 0
        });
        assert!(seen > 90, "{seen} beyond the horizon of a millisecond");
        let left = order(&mut sched);
        assert_eq!(left.iter().filter(|token| **token >= 10).count(), 13);
        assert!(left.is_sorted(), "{left:?}");
        assert_eq!(sched.pending(), 0);
    }

    #[test]
    fn what_another_scheduled_is_as_early_as_it_was_there() {
        let mut sched = Scheduler::new(1);
        sched.at(NOON, Token(5));
        assert_eq!(sched.next_time(), NOON);
        let later = NOON + Span::from_micros(10);
        assert_eq!(sched.next_before(NOON), Some(Token(5)));
        assert_eq!(sched.next_time(), Time::NEVER);
        sched.at(later, Token(1));
        sched.at_since(NOON + Span::from_micros(1), later, Token(2));
        sched.at_since(Time::ZERO, later, Token(3));
        assert_eq!(sched.next_time(), later);
        assert_eq!(order(&mut sched), [3, 1, 2]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut sched = Scheduler::new(1);
        sched.at(Time::from_ps(10), Token(1));
        assert_eq!(sched.next_before(Time::from_ps(9)), None);
        assert_eq!((sched.pending(), sched.now()), (1, Time::ZERO));
        assert_eq!(sched.next_before(Time::from_ps(10)), Some(Token(1)));
    }
}
