//! Timers that live on a wheel, as those of Linux do.
//!
//! A timer of Linux is as exact as the wheel's level that it lies on: the first level has 64 places of one
//! tick each, every further level as many of eight times the length. A timer never fires early, so it goes
//! to the next place behind its deadline. Long timers of many senders therefore fire together, which is
//! what makes it matter in an incast: 200 ms at 1,000 ticks a second end at multiples of 8 ms.

use base::{Span, Time};

/// When a timer of length `timeout` that starts `now` fires, on a clock of this `tick`.
#[inline(never)]
pub(crate) fn expiry(now: Time, timeout: Span, tick: Span) -> Time {
    let ticks = timeout.as_ps().div_ceil(tick.as_ps());
    let deadline = now.as_ps() / tick.as_ps() + ticks;
    // A level begins 63 places of the one before it away.
    let (mut shift, mut reach) = (0, PLACES - 1);
    while ticks >= reach && shift < LEVEL_BITS * (LEVELS - 1) {
        shift += LEVEL_BITS;
        reach <<= LEVEL_BITS;
    }
    Time::from_ps((((deadline >> shift) + 1) << shift) * tick.as_ps())
}

/// Places of a level, how many levels there are, and by how many bits their places get longer: those of
/// Linux 6.12.
const PLACES: u64 = 64;
const LEVELS: u32 = 9;
const LEVEL_BITS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(now_us: u64, timeout_us: u64) -> u64 {
        let now = Time::ZERO + Span::from_micros(now_us);
        let at = expiry(now, Span::from_micros(timeout_us), Span::from_millis(1));
        at.since(Time::ZERO).as_ps() / Span::from_micros(1).as_ps()
    }

    #[test]
    fn short_timers_fire_at_the_tick_behind_their_deadline() {
        // The deadline of 2.1 ms is rounded up to three ticks from tick 10; then the next one.
        assert_eq!(fires(10_400, 2_100), 14_000);
        assert_eq!(fires(10_000, 62_000), 73_000);
    }

    #[test]
    fn timers_of_200_ms_fire_together_at_multiples_of_8_ms() {
        // As measured on Linux 6.12 at 1,000 ticks a second: 201 ms fire 202 to 209 ms after arming.
        assert_eq!(fires(0, 201_000), 208_000);
        assert_eq!(fires(6_900, 201_000), 208_000);
        assert_eq!(fires(7_000, 201_000), 216_000);
    }

    #[test]
    fn the_longer_a_timer_the_longer_its_places() {
        assert_eq!(fires(0, 63_000), 64_000);
        assert_eq!(fires(0, 503_000), 504_000);
        assert_eq!(fires(0, 504_000), 512_000);
        assert_eq!(fires(1_000, 511_000), 576_000);
    }

    #[test]
    fn no_place_is_longer_than_those_of_the_last_level() {
        // Twenty days are beyond the ninth level, whose places have 2^24 ticks.
        let ms = 20 * 24 * 3_600_000;
        assert_eq!(fires(0, ms * 1_000), (((ms >> 24) + 1) << 24) * 1_000);
    }
}
