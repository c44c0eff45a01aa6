//! Shared buffers and marks.

use super::*;

#[test]
fn a_queue_of_a_shared_buffer_has_no_bound_of_its_own_unless_one_is_given() {
    let buffer = |set: &[&str]| {
        let scenario = scenario("schemes = [\"newreno\"]", set);
        scenario.points()[0].text("switch.buffer").to_owned()
    };
    assert_eq!(buffer(&[]), "80pkt");
    assert_eq!(buffer(&["switch.pool=4MB"]), "unlimited");
    assert_eq!(
        buffer(&["switch.pool=4MB", "switch.buffer=100pkt"]),
        "100pkt"
    );
}

#[test]
fn a_shared_buffer_that_cannot_work_is_refused() {
    for (sets, expected) in [
        (
            &["switch.pool=2KB"][..],
            "no full packet fits into the share of switch.pool",
        ),
        (
            // A lone queue gets 60 KB of 120 at alpha 1.
            &["switch.pool=120KB", "switch.ecn_threshold=41pkt"],
            "the marking threshold lies above what the shared buffer allows",
        ),
        (
            &[
                "switch.pool=1MB",
                "switch.buffer=80pkt",
                "switch.emulated_load=0.5",
            ],
            "the emulated load takes a share",
        ),
    ] {
        let text = message("schemes = [\"newreno\"]", sets);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn marks_at_random_need_two_lengths_in_their_order() {
    for sets in [
        &["switch.ecn_max=40pkt"][..],
        &["switch.ecn_max=60pkt", "switch.ecn_threshold=off"],
    ] {
        let text = message("schemes = [\"newreno\"]", sets);
        assert!(
            text.contains("must lie above switch.ecn_threshold"),
            "{text}"
        );
    }
    let marked = scenario(
        "seeds = 3\nschemes = [\"dctcp\"]",
        &["switch.ecn_max=60pkt"],
    );
    assert!(marked.points()[0].is_random() && marked.warnings().is_empty());
}

// B / K - 1 / alpha: 480 KB, 60 KB and alpha 1 make 7.
#[test]
fn queues_that_share_a_buffer_and_drop_before_they_mark_are_warned_of() {
    let warned = |receivers: u32, scheme: &str, more: &str| {
        let text = format!(
            "schemes = \"{scheme}\"\nswitch.pool = \"480KB\"\nswitch.ecn_threshold = \"40pkt\"\n{more}\n\
             [workload]\nsenders = 2\nreceivers = {receivers}"
        );
        let scenario = scenario(&text, &[]);
        let mut warnings = scenario.warnings().iter();
        warnings.any(|warning| warning.to_string().contains("they drop before they mark"))
    };
    assert!(warned(7, "dctcp", ""));
    assert!(!warned(6, "dctcp", ""));
    assert!(!warned(7, "newreno", ""));
    // Lossless queues do not drop.
    assert!(!warned(7, "dctcp", "switch.pfc = \"all\""));
    assert!(warned(7, "dctcp", "switch.pfc = \"3\""));
    let above =
        "schemes = [\"dctcp\"]\nswitch.pool = \"480KB\"\nswitch.ecn_threshold = \"300KB\"\n";
    let text = message(above, &[]);
    assert!(
        text.contains("lies above what the shared buffer allows"),
        "{text}"
    );
    scenario(above, &["switch.pfc=all"]);
}

#[test]
fn a_token_bucket_has_room_for_a_packet_and_a_late_timer_needs_one() {
    for (set, expected) in [
        (
            "switch.burst=100B",
            "no full packet fits into the token bucket of switch.burst",
        ),
        (
            "host.burst=100B",
            "no full packet fits into the token bucket of host.burst",
        ),
        (
            "switch.burst_lateness=10us",
            "switch.burst_lateness has no effect without a token bucket (switch.burst)",
        ),
        (
            "host.burst_lateness=10us",
            "host.burst_lateness has no effect without a token bucket (host.burst)",
        ),
    ] {
        let text = message("schemes = [\"newreno\"]", &[set]);
        assert!(text.contains(expected), "{text}");
    }
    let both = ["host.burst=2pkt", "host.burst_lateness=10us"];
    let scenario = scenario("schemes = [\"newreno\"]", &both);
    assert!(scenario.is_random(), "timers are late at random");
}
