//! The event list.

use base::Time;

use crate::heap::Heap;

/// What a world schedules: a number below 2^24 whose meaning only the world knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token(pub u32);

/// Tokens by time; equal times leave in the order in which they were scheduled.
///
/// `at` and `next_before` cost O(log n) in the number of pending events, which a world keeps small:
/// one per busy port and one per deadline. Nothing is ever cancelled: a world ignores a token whose
/// reason is gone.
#[derive(Debug)]
pub struct Scheduler {
    heap: Heap,
    now: Time,
    /// Events scheduled so far: the second half of the sort key.
    sequence: u64,
    /// Events handed out so far.
    handled: u64,
}

impl Scheduler {
    /// An empty list at time zero.
    pub fn new() -> Self {
        Self {
            heap: Heap::new(),
            now: Time::ZERO,
            sequence: 0,
            handled: 0,
        }
    }

    /// Schedules `token` for `time`.
    ///
    /// # Panics
    /// If `time` has passed: an effect before its cause is a mistake of the world.
    #[inline]
    pub fn at(&mut self, time: Time, token: Token) {
        assert!(time >= self.now, "an event cannot be scheduled in the past");
        debug_assert!(token.0 < 1 << TOKEN_BITS, "tokens have 24 bits");
        self.sequence += 1;
        self.heap.push(
            u128::from(time.as_ps()) << 64
                | u128::from(self.sequence << TOKEN_BITS)
                | u128::from(token.0),
        );
    }

    /// Removes the next token and moves the clock to its time, unless that is later than `limit`.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the key is taken apart into its fields"
    )]
    pub fn next_before(&mut self, limit: Time) -> Option<Token> {
        let key = self.heap.peek()?;
        let time = Time::from_ps((key >> 64) as u64);
        if time > limit {
            return None;
        }
        self.heap.take();
        self.now = time;
        self.handled += 1;
        Some(Token(key as u32 & ((1 << TOKEN_BITS) - 1)))
    }

    /// The time of the token handed out last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handed out so far.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Events waiting.
    pub fn pending(&self) -> usize {
        self.heap.len()
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
