//! A simulation that is ended from outside.

use std::sync::atomic::{AtomicBool, Ordering};

use base::{Packet, Time};
use fabric::PortId;
use sim::error::RunError;
use sim::run::{self, Limits, Watching};

use crate::support::points;

#[test]
fn a_simulation_ends_soon_after_it_is_told_to() {
    let point = &points("incast", "newreno", &["workload.size=100MB"])[0];
    let stop = AtomicBool::new(false);
    let mut hops = 0_u64;
    // The run is stopped when the ten thousandth packet crosses a link; millions would follow.
    let mut probe = |_: PortId, _: &Packet, _: Time| {
        hops += 1;
        stop.fetch_or(hops == 10_000, Ordering::Relaxed);
    };
    let limits = Limits {
        stop: Some(&stop),
        ..Limits::NONE
    };
    let watching = Watching {
        probe: Some(&mut probe),
        breakdown: false,
    };
    let ended = run::watch(limits, point, watching);
    assert!(matches!(ended, Err(RunError::Stopped)), "{ended:?}");
    assert!((10_000..200_000).contains(&hops), "{hops} hops");
}

#[test]
fn who_may_end_a_simulation_changes_nothing() {
    let point = &points("incast", "dctcp", &["workload.senders=40"])[0];
    let limits = Limits {
        stop: Some(&AtomicBool::new(false)),
        ..Limits::NONE
    };
    let with = run::within(limits, point).expect("a conserving run");
    let without = run::run(point).expect("a conserving run");
    assert_eq!(with.digest, without.digest);
}
