//! A barrier at which threads wait for each other, mostly without system calls.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::yield_now;
use std::time::Duration;

use super::pace::Pace;

/// A barrier for threads that mostly come within some microseconds of each other.
///
/// A waiting thread first spins, then yields the processor again and again, and sleeps at last. On two idle cores a
/// wait costs some 100 ns; the barrier of the standard library, which sleeps at once, takes 25 us.
///
/// If the cores have other work, threads wait for threads that wait for a core. Then the barrier sends some threads to
/// [rest](Pace), and the others do the work of all.
pub(super) struct Barrier {
    /// The number of threads, and the number of them that do not rest: those with the lowest numbers.
    threads: usize,
    active: AtomicUsize,
    /// Threads that have come.
    come: AtomicUsize,
    /// How often all have come.
    turn: AtomicU64,
    /// Whether a thread will never come again, and whether all work is done.
    broken: AtomicBool,
    over: AtomicBool,
    /// Threads that sleep until all have come; those that rest are not counted.
    sleeping: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    rested: Condvar,
    /// Nanoseconds that threads have waited, since the beginning.
    waited: AtomicU64,
    pace: Mutex<Pace>,
    /// Time on the wall.
    clock: fn() -> Duration,
}

impl Barrier {
    pub(super) fn new(threads: usize, clock: fn() -> Duration) -> Self {
        Self {
            threads,
            active: AtomicUsize::new(threads),
            come: AtomicUsize::new(0),
            turn: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            over: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            rested: Condvar::new(),
            waited: AtomicU64::new(0),
            pace: Mutex::new(Pace::new(threads, clock())),
            clock,
        }
    }

    pub(super) const fn threads(&self) -> usize {
        self.threads
    }

    /// How many threads share the work until all have come again.
    pub(super) fn active(&self) -> usize {
        self.active.load(Ordering::SeqCst)
    }

    /// How long threads have waited, without those that rested.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    /// Waits for all threads that do not rest; then the thread with this number rests if it has to. Afterwards every
    /// thread sees all earlier writes of the others.
    pub(super) fn wait(&self, number: usize) -> Turn {
        let turn = self.turn.load(Ordering::SeqCst);
        if self.come.fetch_add(1, Ordering::SeqCst) + 1 == self.active() {
            self.come.store(0, Ordering::SeqCst);
            let grown = self.review();
            self.turn.store(turn + 1, Ordering::SeqCst);
            if self.sleeping.load(Ordering::SeqCst) > 0 {
                self.notify(&self.wake);
            }
            if grown {
                self.notify(&self.rested);
            }
        } else {
            self.wait_for_others(turn);
        }
        if self.broken.load(Ordering::SeqCst) {
            Turn::Broken
        } else if number < self.active() {
            Turn::Work
        } else {
            self.rest(number)
        }
    }

    /// No thread waits from now on, because one will not come again.
    pub(super) fn shatter(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.notify(&self.wake);
        self.notify(&self.rested);
    }

    /// There is no work any more: no thread rests from now on.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.notify(&self.rested);
    }

    /// Called while all others wait for this thread: decides how many threads go on. Returns true if there are more
    /// than before.
    fn review(&self) -> bool {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let active = pace.review((self.clock)(), self.waited());
        self.active.swap(active, Ordering::SeqCst) < active
    }

    #[cold]
    fn rest(&self, number: usize) -> Turn {
        let (broken, over) = (&self.broken, &self.over);
        let ends = || broken.load(Ordering::SeqCst) || over.load(Ordering::SeqCst);
        self.sleep_until(&self.rested, || number < self.active() || ends());
        if broken.load(Ordering::SeqCst) {
            Turn::Broken
        } else if number < self.active() {
            Turn::Work
        } else {
            Turn::Over
        }
    }

    fn wait_for_others(&self, turn: u64) {
        let goes_on =
            || self.turn.load(Ordering::SeqCst) != turn || self.broken.load(Ordering::SeqCst);
        if spins(FEW_SPINS, goes_on) {
            return;
        }
        let start = (self.clock)();
        let mut yields = (0..YIELDS).map(|_| yield_now());
        if !spins(SPINS, goes_on) && !yields.any(|()| goes_on()) {
            // The last thread to come sees this sleeper, or this thread sees that the last one has come.
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            self.sleep_until(&self.wake, goes_on);
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
        let waited = (self.clock)().saturating_sub(start);
        let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.waited.fetch_add(waited, Ordering::Relaxed);
    }

    fn sleep_until(&self, wake: &Condvar, goes_on: impl Fn() -> bool) {
        let mut asleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !goes_on() {
            asleep = wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn notify(&self, wake: &Condvar) {
        let asleep = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        wake.notify_all();
        drop(asleep);
    }
}

/// The next step of a thread that has waited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Its share of the work.
    Work,
    /// Stop: all work is done.
    Over,
    /// Stop: another thread ended too early.
    Broken,
}

/// Checks the condition this many times at most. Returns whether it became true.
fn spins(most: u32, goes_on: impl Fn() -> bool) -> bool {
    (0..most).any(|_| {
        spin_loop();
        goes_on()
    })
}

/// Breaks the barrier if its thread panics, so that the other threads end, too.
pub(super) struct Alarm<'a>(pub(super) &'a Barrier);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shatter();
        }
    }
}

/// Less than half a microsecond of waiting. It is not measured, because reading a clock takes longer.
const FEW_SPINS: u32 = 16;
/// Some 50 us of spinning, and about a millisecond of yielding the processor.
const SPINS: u32 = 2_000;
const YIELDS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let barrier = Barrier::new(3, || Duration::ZERO);
        let count = AtomicUsize::new(0);
        let work = |number| {
            for round in 1..=500 {
                count.fetch_add(1, Ordering::SeqCst);
                assert_eq!(barrier.wait(number), Turn::Work);
                assert_eq!(count.load(Ordering::SeqCst), 3 * round);
                assert_eq!(barrier.wait(number), Turn::Work);
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            (0..3).for_each(|number| drop(scope.spawn(move || work(number))));
        });
    }

    #[test]
    fn who_rests_goes_on_when_all_are_tried_again_or_nothing_is_left() {
        // A clock on which every wait takes so long that threads rest and are tried again many times.
        static TICKS: AtomicU64 = AtomicU64::new(0);
        let clock = || Duration::from_millis(100 * TICKS.fetch_add(1, Ordering::SeqCst));
        let barrier = Barrier::new(4, clock);
        let work = |number| {
            for turns in 1.. {
                assert!(number < barrier.active());
                match barrier.wait(number) {
                    Turn::Work if barrier.turn.load(Ordering::SeqCst) < 3_000 => {}
                    _ => {
                        barrier.end();
                        return turns;
                    }
                }
            }
            0
        };
        let work = &work;
        let turns: Vec<u32> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|number| scope.spawn(move || work(number)))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(turns[0], 3_000);
        assert!(turns[3] > 1 && turns[3] < 3_000, "{turns:?}");
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let barrier = Barrier::new(2, || Duration::ZERO);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _alarm = Alarm(&barrier);
                panic!("a mistake");
            });
            assert_eq!(barrier.wait(0), Turn::Broken);
            assert!(other.join().is_err());
        });
    }
}
