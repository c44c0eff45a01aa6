//! Nothing is allocated per packet once a simulation is warm.
//!
//! Runs that differ only in length allocate equally often, except for rings, buckets of the calendar and scoreboards
//! that grow to a new maximum. That happens ever more rarely.

#[path = "simulations/support.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use support::outcome;

/// Allocations and packet-hops of a run.
fn cost(scenario: &str, sets: &[&str]) -> (u64, u64) {
    let before = ALLOCATIONS.get();
    let run = outcome(scenario, "newreno", sets);
    (ALLOCATIONS.get() - before, run.cost.packet_hops)
}

#[test]
fn a_longer_incast_allocates_nothing_per_packet() {
    let w1b = include_str!("../benches/scenarios/w1b.toml");
    for sack in ["tcp.sack=false", "tcp.sack=true"] {
        let short = cost(w1b, &["workload.size=500KB", sack]);
        let long = cost(w1b, &["workload.size=1MB", sack]);
        compare(short, long);
    }
}

#[test]
fn longer_flows_allocate_nothing_per_packet() {
    let w3 = include_str!("../benches/scenarios/w3.toml");
    let short = cost(w3, &["run.duration=50ms"]);
    let long = cost(w3, &["run.duration=100ms"]);
    compare(short, long);
}

/// A longer run has over 100,000 additional packet-hops. At most one in a thousand of them allocates.
fn compare(short: (u64, u64), long: (u64, u64)) {
    let hops = long.1 - short.1;
    let allocations = long.0.saturating_sub(short.0);
    assert!(hops > 100_000, "{short:?} {long:?}");
    assert!(allocations < hops / 1000, "{short:?} {long:?}");
}

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "only an allocator can count allocations")]
// SAFETY: every call is passed on unchanged to the system's allocator; the counter is a constant
// thread-local without a destructor, which itself neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: `ptr` came from `System` with this layout; the caller vouches for `new_size`.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}
