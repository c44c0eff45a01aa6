//! Decides how many threads are worth using.

use std::time::Duration;

/// Decides how many threads share the work, from how long they wait for each other.
///
/// If on average `w` of `n` threads wait, work goes on `n - w` times as fast as on one thread. If other programs use
/// the cores, one thread may be as fast. Then half of the threads rest. All are tried again later, because the other
/// programs may have ended. Results do not depend on this.
pub(super) struct Pace {
    threads: usize,
    active: usize,
    /// When the current interval began, and how long threads had waited by then.
    began: (Duration, Duration),
    /// When all threads are tried again, and how long the next pause is if they fail again.
    again: Duration,
    pause: Duration,
}

impl Pace {
    /// All threads share the work at first.
    pub(super) const fn new(threads: usize, now: Duration) -> Self {
        Self {
            threads,
            active: threads,
            began: (now, Duration::ZERO),
            again: Duration::ZERO,
            pause: FIRST_PAUSE,
        }
    }

    /// How many threads share the work from `now` on, if they have waited this long altogether.
    pub(super) fn review(&mut self, now: Duration, waited: Duration) -> usize {
        let (since, before) = self.began;
        let elapsed = now.saturating_sub(since);
        if elapsed < INTERVAL {
            return self.active;
        }
        self.began = (now, waited);
        let lost = waited.saturating_sub(before);
        // The last thread of a window never waits.
        let others = u32::try_from(self.active - 1).unwrap_or(u32::MAX);
        if self.active > 1 && lost > elapsed.saturating_mul(others) * 4 / 5 {
            self.active = self.active.div_ceil(2);
            self.again = now + self.pause;
            self.pause = (self.pause * 2).min(LAST_PAUSE);
        } else if self.active < self.threads && now >= self.again {
            self.active = self.threads;
        } else if self.active == self.threads && now >= self.again + self.pause {
            // All threads have worked well for as long as they would have paused.
            self.pause = FIRST_PAUSE;
        }
        self.active
    }
}

/// Long compared with a time slice of an operating system's scheduler, some milliseconds.
const INTERVAL: Duration = Duration::from_millis(10);
/// A trial takes an interval or two. So trials cost some per cent at first and less later.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LAST_PAUSE: Duration = Duration::from_secs(8);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn threads_that_mostly_wait_rest_and_are_tried_again_ever_more_rarely() {
        let mut pace = Pace::new(4, Duration::ZERO);
        // Of 4 threads 3 can wait at a time: 30 ms in 10 ms.
        assert_eq!(pace.review(MS * 9, MS * 27), 4);
        assert_eq!(pace.review(MS * 10, MS * 25), 2);
        assert_eq!(pace.review(MS * 20, MS * 35), 1);
        let mut times = Vec::new();
        let (mut now, mut waited) = (MS * 20, MS * 35);
        let mut before = 1;
        while now < MS * 20_000 {
            now += MS * 10;
            waited += MS * 10 * u32::try_from(before - 1).unwrap();
            let active = pace.review(now, waited);
            if active > before {
                times.push(now);
            }
            before = active;
        }
        let gaps: Vec<_> = times
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        assert!(gaps.is_sorted() && gaps.len() > 2, "{gaps:?}");
        assert!(gaps[gaps.len() - 1] >= LAST_PAUSE, "{gaps:?}");
    }

    #[test]
    fn threads_that_gain_go_on() {
        // Two threads, for which half of the windows have unequal work: 1.5 times as fast as one.
        let mut pace = Pace::new(2, Duration::ZERO);
        for round in 1..1000 {
            assert_eq!(pace.review(MS * 10 * round, MS * 5 * round), 2);
        }
    }
}
