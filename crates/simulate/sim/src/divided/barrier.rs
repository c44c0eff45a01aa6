//! Threads wait for each other, mostly without the help of the system.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::yield_now;

/// A barrier for threads that mostly come within some microseconds of each other.
///
/// Who waits spins first, then leaves the processor to others again and again, and sleeps at last. On two idle cores a
/// wait costs some 100 ns; the barrier of the standard library, which sleeps at once, takes 25 us.
pub(super) struct Barrier {
    threads: usize,
    /// Threads that have come.
    come: AtomicUsize,
    /// How often all have come.
    turn: AtomicU64,
    /// Whether a thread will never come again.
    broken: AtomicBool,
    sleeping: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            come: AtomicUsize::new(0),
            turn: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    pub(super) const fn threads(&self) -> usize {
        self.threads
    }

    /// Waits for all threads. What each has written before, all read afterwards. Returns false if one of them has
    /// called [`Barrier::shatter`].
    pub(super) fn wait(&self) -> bool {
        let turn = self.turn.load(Ordering::SeqCst);
        if self.come.fetch_add(1, Ordering::SeqCst) + 1 == self.threads {
            self.come.store(0, Ordering::SeqCst);
            self.turn.store(turn + 1, Ordering::SeqCst);
            self.wake_all();
        } else {
            self.wait_for_others(turn);
        }
        !self.broken.load(Ordering::SeqCst)
    }

    /// Nobody waits from now on: a thread will not come again.
    pub(super) fn shatter(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    fn wait_for_others(&self, turn: u64) {
        let goes_on =
            || self.turn.load(Ordering::SeqCst) != turn || self.broken.load(Ordering::SeqCst);
        for _ in 0..SPINS {
            if goes_on() {
                return;
            }
            spin_loop();
        }
        for _ in 0..YIELDS {
            if goes_on() {
                return;
            }
            yield_now();
        }
        // Who comes last sees that somebody sleeps, or is seen before anybody does.
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let mut asleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !goes_on() {
            asleep = self
                .wake
                .wait(asleep)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(asleep);
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake_all(&self) {
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            let asleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.wake.notify_all();
            drop(asleep);
        }
    }
}

/// Shatters a barrier if its thread ends in a panic, so that the others end, too.
pub(super) struct Alarm<'a>(pub(super) &'a Barrier);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shatter();
        }
    }
}

/// Some 50 us of waiting, and about a millisecond of leaving the processor to others.
const SPINS: u32 = 2_000;
const YIELDS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let (barrier, count) = (Barrier::new(3), AtomicUsize::new(0));
        let work = || {
            for round in 1..=500 {
                count.fetch_add(1, Ordering::SeqCst);
                assert!(barrier.wait());
                assert_eq!(count.load(Ordering::SeqCst), 3 * round);
                assert!(barrier.wait());
            }
        };
        std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _alarm = Alarm(&barrier);
                panic!("a mistake");
            });
            assert!(!barrier.wait());
            assert!(other.join().is_err());
        });
    }
}
