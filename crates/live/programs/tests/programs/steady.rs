//! Measurements on a machine that may have other work.

use std::fmt::Debug;
use std::fs;
use std::thread;
use std::time::Duration;

/// Measures until the result `is_right`, at most five times: other work on this machine can spoil a measurement, but
/// cannot make a wrong one right. `None` if other programs are still busy in the end, which is said aloud. Otherwise
/// the last measurement, for the caller to judge.
pub(crate) fn measured<T: Debug>(
    mut measure: impl FnMut() -> T,
    is_right: impl Fn(&T) -> bool,
) -> Option<T> {
    let mut seen = measure();
    for _ in 1..5 {
        if is_right(&seen) {
            break;
        }
        seen = measure();
    }
    if !is_right(&seen) && are_others_at_work() {
        testing::skipped(&format!("this machine has other work: {seen:?}"));
        return None;
    }
    Some(seen)
}

/// Whether other programs use a tenth of the time of all processors while the caller sleeps.
fn are_others_at_work() -> bool {
    let before = ticks();
    thread::sleep(Duration::from_secs(1));
    let after = ticks();
    let [all, free] = [0, 1].map(|place| after[place].saturating_sub(before[place]));
    10 * free < 9 * all
}

/// Ticks of all processors, and those of them without work.
fn ticks() -> [u64; 2] {
    let text = fs::read_to_string("/proc/stat").expect("counters of the kernel");
    let line = text.lines().next().expect("a line for all processors");
    // In order: user, nice, system, idle, waiting for disks, interrupts of two kinds, stolen.
    let numbers = line.split_whitespace().skip(1).take(8);
    let numbers: Vec<u64> = numbers
        .map(|ticks| ticks.parse().expect("a number"))
        .collect();
    [numbers.iter().sum(), numbers[3] + numbers[4]]
}
