//! Timestamps (RFC 7323 §3 to §5): what a connection that has agreed on them remembers.

use base::cast::low_32;
use base::{Span, Time, Timestamps};

/// State of one side of a connection whose SYNs both carried the option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    /// The value to be echoed (`TS.Recent`).
    recent: u32,
    /// What the last segment acknowledged (`Last.ACK.sent`), as an offset of the peer's stream.
    acknowledged: u64,
}

impl Stamps {
    /// The peer's SYN carried this.
    pub(crate) const fn new(theirs: Timestamps) -> Self {
        Self {
            recent: theirs.value,
            acknowledged: 1,
        }
    }

    /// A segment at `offset` has arrived with these timestamps. Returns whether it is none of an earlier
    /// round of sequence numbers (PAWS, RFC 7323 §5.3).
    #[must_use]
    pub(crate) const fn accepts(&mut self, theirs: Timestamps, offset: u64) -> bool {
        // Rule R1: a value that lies before the recent one, in 32 bits that wrap.
        // DEVIATION(RFC 7323 §5.3): one that is a tick older has only been overtaken, as in Linux (`TCP_PAWS_WINDOW`).
        if is_before(theirs.value, self.recent) {
            return theirs.value == self.recent.wrapping_sub(1);
        }
        // RFC 7323 §4.3 (2): the earliest segment not acknowledged decides, so that a delay of the ACK
        // and a hole are part of the sample.
        if offset <= self.acknowledged {
            self.recent = theirs.value;
        }
        true
    }

    /// What a segment that leaves `now` and acknowledges up to `acknowledged` carries.
    pub(crate) fn stamp(&mut self, acknowledged: u64, now: Time) -> Timestamps {
        self.acknowledged = acknowledged;
        Timestamps {
            value: clock(now),
            echo: self.recent,
        }
    }
}

/// The clock of timestamps: milliseconds, as in Linux (RFC 7323 §5.4 allows 1 ms to 1 s). Never zero, which
/// in an echo means that there is none.
pub(crate) const fn clock(now: Time) -> u32 {
    low_32(now.as_ps() / TICK.as_ps()) + 1
}

/// Whether a value is from before another, of a clock that wraps.
pub(crate) const fn is_before(value: u32, other: u32) -> bool {
    value.wrapping_sub(other) > u32::MAX / 2
}

/// The round trip that an echo shows: at least a tick.
pub(crate) fn round_trip(echo: u32, now: Time) -> Span {
    age(echo, now).max(TICK)
}

/// How many ticks ago an echo left here.
pub(crate) fn age(echo: u32, now: Time) -> Span {
    TICK * u64::from(clock(now).wrapping_sub(echo))
}

const TICK: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    const fn theirs(value: u32) -> Timestamps {
        Timestamps { value, echo: 1 }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    // RFC 7323 §4.3: delayed ACKs echo the earliest segment, filled gaps the one that filled them.
    #[test]
    fn the_earliest_segment_that_is_not_acknowledged_is_echoed() {
        let mut stamps = Stamps::new(theirs(10));
        assert!(stamps.accepts(theirs(11), 1));
        assert!(stamps.accepts(theirs(12), 1001));
        assert_eq!(stamps.stamp(2001, at(5)).echo, 11);
        // Beyond a hole at 2001.
        assert!(stamps.accepts(theirs(14), 3001));
        assert_eq!(stamps.stamp(2001, at(6)).echo, 11);
        assert!(stamps.accepts(theirs(15), 2001));
        assert_eq!(stamps.stamp(4001, at(7)).echo, 15);
    }

    // RFC 7323 §5.3 R1, with values that have wrapped.
    #[test]
    fn an_older_value_is_refused_also_across_the_wrap() {
        let mut stamps = Stamps::new(theirs(u32::MAX - 1));
        assert!(stamps.accepts(theirs(3), 1));
        assert!(!stamps.accepts(theirs(u32::MAX), 1));
        assert!(stamps.accepts(theirs(3), 1001));
    }

    #[test]
    fn a_value_of_the_tick_before_has_only_been_overtaken() {
        let mut stamps = Stamps::new(theirs(0));
        assert!(stamps.accepts(theirs(u32::MAX), 1));
        assert!(!stamps.accepts(theirs(u32::MAX - 1), 1));
        // It is not echoed.
        assert_eq!(stamps.stamp(1, at(5)).echo, 0);
    }

    #[test]
    fn an_echo_shows_a_round_trip_of_a_tick_at_least() {
        assert_eq!(round_trip(clock(at(5)), at(5)), Span::from_millis(1));
        assert_eq!(round_trip(clock(at(5)), at(45)), Span::from_millis(40));
    }
}
