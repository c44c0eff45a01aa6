//! The estimate of memory is above what simulations take, and not far above.

#[path = "simulations/support.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sim::memory;

use support::{outcome, points};

#[test]
fn an_incast_takes_at_most_the_estimate() {
    for sack in ["tcp.sack=false", "tcp.sack=true"] {
        for senders in ["10", "100", "1000", "10000"] {
            let senders = format!("workload.senders={senders}");
            check("incast", &[&senders, sack]);
        }
        check(
            "incast",
            &[
                "workload.senders=1000",
                "workload.size=1MB",
                "switch.buffer=1GB",
                sack,
            ],
        );
        check(
            "incast",
            &[
                "workload.senders=100",
                "workload.size=10MB",
                "switch.buffer=1GB",
                sack,
            ],
        );
    }
}

/// Windows of 4 MiB in queues that hold them all, or some of them, or none.
#[test]
fn large_windows_take_at_most_the_estimate() {
    for buffer in ["1GB", "10MB", "100KB"] {
        let buffer = format!("switch.buffer={buffer}");
        let sets = [
            "workload.senders=100",
            "workload.size=4MB",
            "tcp.receive_buffer=4MiB",
            "tcp.window_scale=auto",
            "tcp.initial_ssthresh=1GB",
            "tcp.min_rto=10s",
            "tcp.initial_rto=10s",
            "tcp.sack=true",
            &buffer,
        ];
        check("incast", &sets);
    }
}

#[test]
fn benchmarks_take_at_most_the_estimate() {
    let w1b = include_str!("../benches/scenarios/w1b.toml");
    check(w1b, &[]);
    check(w1b, &["workload.senders=3000", "workload.size=100KB"]);
    check(include_str!("../benches/scenarios/w3.toml"), &[]);
}

/// The whole of every flow waits in the ports of the hosts.
#[test]
fn flows_at_low_priority_take_at_most_the_estimate() {
    for senders in ["100", "1000"] {
        let senders = format!("workload.senders={senders}");
        let sets = [
            "workload.size=1MB",
            "switch.buffer=10MB",
            "tcp.receive_buffer=4MiB",
            "tcp.window_scale=auto",
            "run.duration=1s",
            &senders,
        ];
        check_scheme("incast", "rc3", &sets);
    }
}

/// Between half of the hosts on either side.
#[test]
fn pairs_over_a_dumbbell_take_at_most_the_estimate() {
    for senders in ["10", "300", "3000"] {
        let senders = format!("workload.senders={senders}");
        let sets = [
            "topology.kind=dumbbell",
            "workload.kind=pairs",
            "workload.size=200KB",
            &senders,
        ];
        check("incast", &sets);
    }
}

/// Endpoints are created when a flow starts and dropped when it is over. The events of its deadlines are removed, and
/// its state is dropped when its record is written. So a million flows take less than 300 MB.
#[test]
fn flows_that_are_over_leave_only_their_records() {
    let million = include_str!("../benches/scenarios/million.toml");
    let run = |flows: &str| {
        check(million, &[flows]);
        peak(|| drop(outcome(million, "newreno", &[flows])))
    };
    let (few, many) = (run("workload.flows=20000"), run("workload.flows=60000"));
    let each = (many - few) / 40_000;
    assert!(each < 300, "{each} bytes for each flow");
}

/// The peak of a run is at most the estimate, and at least an eighth of it for large runs: an estimate allows for
/// windows that are all full at the moment at which the longest ring grows.
fn check(scenario: &str, sets: &[&str]) {
    check_scheme(scenario, "newreno", sets);
}

fn check_scheme(scenario: &str, scheme: &str, sets: &[&str]) {
    let point = &points(scenario, scheme, sets)[0];
    let estimate = memory::estimate(point);
    let peak = peak(|| drop(outcome(scenario, scheme, sets)));
    assert!(peak <= estimate, "{sets:?}: {peak} bytes, not {estimate}");
    // In small runs the program's own size dominates.
    assert!(
        estimate < 30_000_000 || peak >= estimate / 8,
        "{sets:?}: {peak} bytes, far from {estimate}"
    );
}

/// Most bytes that this thread holds at a time while `run` runs.
fn peak(run: impl FnOnce()) -> u64 {
    let before = HELD.get();
    PEAK.set(before);
    run();
    u64::try_from(PEAK.get() - before).expect("a peak is above its base")
}

/// The system's allocator, which counts the bytes each thread holds.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn add(bytes: usize) {
    let held = HELD.get() + bytes.cast_signed() as i64;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

#[expect(unsafe_code, reason = "only an allocator can count what is held")]
// SAFETY: every call is passed on unchanged to the system's allocator; the counters are constant
// thread-locals without destructors, which themselves neither allocate nor unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed() as i64);
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // While it moves, both are held for a moment.
        add(new_size);
        HELD.set(HELD.get() - layout.size().cast_signed() as i64);
        // SAFETY: `ptr` came from `System` with this layout; the caller vouches for `new_size`.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
