//! ICTCP in whole simulations: the collapse that its least window cannot prevent, and the throughput of a lone flow.

use crate::support::outcome;

// The first windows of N senders arrive at once: of 2 N packets one is served while they come, one is
// in service, and 2 N - 2 wait. 80 have room: 41 senders fit.
#[test]
fn first_windows_of_two_segments_overflow_eighty_packets_from_the_forty_second_sender_on() {
    for variant in [&[][..], RCC_VERSION] {
        for (senders, drops) in [(41, false), (42, true)] {
            let senders = format!("workload.senders={senders}");
            let sets = [variant, &[senders.as_str()]].concat();
            let metrics = outcome("incast", "ictcp", &sets).metrics;
            assert_eq!(metrics.drops > 0, drops, "{sets:?}: {}", metrics.drops);
        }
    }
}

// The senders of the scenario begin with one segment. ICTCP's begin with two, whatever the scenario says.
#[test]
fn the_first_window_is_the_schemes_own() {
    let sets = ["workload.senders=1", "workload.size=2pkt"];
    let one_round = outcome("incast", "ictcp", &sets).metrics.fct_max_us;
    let two_rounds = outcome("incast", "newreno", &sets).metrics.fct_max_us;
    // A round trip of 160 us and the times of its packets.
    assert!(two_rounds > one_round + 160.0, "{one_round} {two_rounds}");
}

#[test]
fn a_lone_flow_is_held_to_nine_tenths_of_its_link_and_newreno_is_not() {
    let sets = ["workload.senders=1", "workload.size=20MB"];
    // Of 1500 bytes on the wire 1446 are payload.
    let share = |scheme| {
        let metrics = outcome("incast", scheme, &sets).metrics;
        metrics.goodput_bps / 1e9 * 1500.0 / 1446.0
    };
    let (ictcp, newreno) = (share("ictcp"), share("newreno"));
    assert!((0.8..=0.9).contains(&ictcp), "{ictcp}");
    assert!(newreno > 0.9, "{newreno}");
}

#[test]
fn the_senders_own_window_counts_beside_the_advertised_one() {
    // If the sender has a window of its own, a loss halves it; otherwise losses do not change it.
    let sets = [
        "workload.senders=1",
        "workload.size=2MB",
        "bottleneck.loss=0.01",
    ];
    let with = outcome("incast", "ictcp", &sets).metrics.goodput_bps;
    let rwnd = [&sets[..], &["ictcp.sender=rwnd"]].concat();
    let without = outcome("incast", "ictcp", &rwnd).metrics.goodput_bps;
    assert!(without > with, "{with} {without}");
}

/// The variant that the RCC paper simulates under the name of ICTCP.
const RCC_VERSION: &[&str] = &[
    "ictcp.alpha=0.944",
    "ictcp.beta=0.9",
    "ictcp.slow_start=add",
    "ictcp.growth=reno",
    "ictcp.sender=rwnd",
    "ictcp.base_rtt=160us",
];
