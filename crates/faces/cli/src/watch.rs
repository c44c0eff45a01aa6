//! Signals and the clock while a sweep runs: prints progress, and a last line before Ctrl-C or the system ends the
//! process.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::output;

/// The number of a signal.
type Signal = i32;

/// Does `work` and calls `tick` at each interval `every` meanwhile. If a signal asks the process to end, calls `tell`
/// and then ends the process with exit status 128 + signal. Finished points are not lost, and a long simulation is not
/// waited for. If several works are watched at once, the newest one's `tell` is called.
pub(crate) fn watched<T>(
    every: Option<Duration>,
    tick: impl FnMut() + Send,
    tell: impl FnOnce() + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (sender, receiver) = mpsc::channel();
    let heard = Heard::by(sender);
    thread::scope(|scope| {
        let _heard = heard;
        scope.spawn(move || wait(&receiver, every, tick, tell));
        work()
    })
}

fn wait(
    signals: &Receiver<Signal>,
    every: Option<Duration>,
    mut tick: impl FnMut(),
    tell: impl FnOnce(),
) {
    loop {
        match signals.recv_timeout(every.unwrap_or(Duration::MAX)) {
            Ok(signal) => {
                tell();
                end(signal);
            }
            Err(RecvTimeoutError::Timeout) => tick(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Handles Ctrl-C, SIGTERM and SIGHUP from now on. Signals that were ignored when the process was started, as with
/// `nohup` and shells without job control, stay ignored. A second signal ends the process at once.
#[cfg(unix)]
pub(crate) fn listen() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, iterator::Signals};

    let heard = [SIGINT, SIGTERM, SIGHUP];
    let heard: Vec<_> = heard
        .into_iter()
        .filter(|signal| !is_ignored(*signal))
        .collect();
    // The listener is installed first. Otherwise a signal in between would arm the exit for the second signal, without
    // anyone handling the first.
    let Ok(mut signals) = Signals::new(&heard) else {
        return;
    };
    let second = Arc::new(AtomicBool::new(false));
    for signal in heard {
        // In this order: the first signal arms the exit for the second.
        drop(flag::register_conditional_shutdown(
            signal,
            128 + signal,
            Arc::clone(&second),
        ));
        drop(flag::register(signal, Arc::clone(&second)));
    }
    thread::spawn(move || signals.forever().for_each(forward));
}

/// The system ends the process; finished points are not lost.
#[cfg(not(unix))]
pub(crate) fn listen() {}

/// Whether a signal was ignored when the process was started. Only Linux shows this without unsafe code. On other
/// systems SIGHUP keeps its usual effect, even under `nohup`.
#[cfg(unix)]
fn is_ignored(signal: Signal) -> bool {
    match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
        }
        Err(_) => signal == signal_hook::consts::SIGHUP,
    }
}

#[cfg(unix)]
fn forward(signal: Signal) {
    let told = listeners()
        .last()
        .is_some_and(|(_, listener)| listener.send(signal).is_ok());
    if !told {
        output::complain("interrupted");
        end(signal);
    }
}

fn end(signal: Signal) -> ! {
    process::exit(128 + signal)
}

/// The registration of one work for signals. Dropping it ends its listening thread, even after a panic.
struct Heard(u64);

impl Heard {
    fn by(listener: Sender<Signal>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        listeners().push((number, listener));
        Self(number)
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        listeners().retain(|(number, _)| *number != self.0);
    }
}

/// The registered listeners by number, the newest last.
fn listeners() -> MutexGuard<'static, Vec<(u64, Sender<Signal>)>> {
    static LISTENERS: Mutex<Vec<(u64, Sender<Signal>)>> = Mutex::new(Vec::new());
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Runs `meanwhile`, waits for three more ticks, and returns its result.
    fn ticking<T>(meanwhile: impl FnOnce() -> T) -> T {
        let ticks = AtomicU32::new(0);
        let tick = || {
            ticks.fetch_add(1, Ordering::Relaxed);
        };
        let work = || {
            let done = meanwhile();
            let before = ticks.load(Ordering::Relaxed);
            while ticks.load(Ordering::Relaxed) < before + 3 {
                thread::yield_now();
            }
            done
        };
        watched(Some(Duration::from_millis(1)), tick, || (), work)
    }

    #[test]
    fn progress_is_told_again_and_again_while_work_goes_on() {
        assert_eq!(ticking(|| 7), 7);
    }

    #[test]
    fn watching_goes_on_behind_what_is_watched_meanwhile() {
        assert_eq!(ticking(|| ticking(|| 7)), 7);
    }
}
