//! Profiles, and settings that follow from them.

use super::*;

#[test]
fn a_profile_gives_what_nobody_has_set() {
    let linux = scenario(
        "[tcp]\nprofile = \"linux\"\nmin_rto = \"10ms\"",
        &["tcp.frto=false"],
    );
    let told = |key: &str| texts(&linux, key)[0].clone();
    assert_eq!(told("tcp.loss_detection"), "rack-linux");
    // Timestamps take 12 bytes of every packet.
    assert_eq!(
        (told("tcp.mss"), told("net.header_bytes")),
        ("1448".into(), "52".into())
    );
    assert_eq!(
        (told("tcp.min_rto"), told("tcp.frto")),
        ("10ms".into(), "false".into())
    );
    let stamped = scenario("tcp.timestamps = true\ntcp.mss = 1000", &[]);
    assert_eq!(texts(&stamped, "tcp.mss"), ["1000"]);
    assert_eq!(texts(&stamped, "net.header_bytes"), ["52"]);
    let plain = scenario("tcp.sack = true", &[]);
    assert_eq!(texts(&plain, "net.header_bytes"), ["40"]);
}

#[test]
fn a_value_of_the_profile_yields_to_one_that_is_given() {
    let swept = scenario("tcp.profile = \"linux\"", &["tcp.sack=true,false"]);
    for (key, values) in [
        ("tcp.loss_detection", ["rack-linux", "dupacks"]),
        ("tcp.tail_loss_probe", ["linux", "off"]),
        ("tcp.dsack", ["true", "false"]),
        ("tcp.sack_delay", ["1ms", "0s"]),
        // These work without SACK.
        ("tcp.recovery", ["prr", "prr"]),
        ("tcp.frto", ["true", "true"]),
        ("tcp.undo", ["true", "true"]),
        ("tcp.mss", ["1448", "1448"]),
    ] {
        assert_eq!(texts(&swept, key), values, "{key}");
    }
    let exact = scenario("tcp.profile = \"linux\"", &["tcp.clock_granularity=0s"]);
    assert_eq!(texts(&exact, "tcp.timer"), ["exact"]);
    let told = message(
        "tcp.profile = \"linux\"\ntcp.sack = false",
        &["tcp.dsack=true"],
    );
    assert!(
        told.contains("tcp.dsack works with what SACK reports"),
        "{told}"
    );
}

#[test]
fn what_follows_from_a_profile_is_written_unless_flows_differ() {
    for (text, sets) in [
        (
            "tcp.profile = \"linux\"",
            &["tcp.frto=false", "tcp.dsack=false"][..],
        ),
        ("tcp.profile = \"linux\"", &["tcp.sack=false"]),
        ("tcp.timestamps = true", &[]),
        (
            "tcp.profile = [\"paper\", \"linux\"]",
            &["tcp.quick_acks=0"],
        ),
    ] {
        let first = scenario(text, sets);
        let again = Scenario::load(
            Source::new("again", first.resolved()),
            &Overrides::default(),
        );
        let again = again.expect("what was written is read");
        let differ = text.contains("paper");
        let written = first.resolved().contains("rto_estimator = ");
        assert_eq!(written, !differ, "{text}");
        let all = |scenario: &Scenario| -> Vec<_> {
            let points = scenario.points().iter();
            points.map(|point| point.texts.clone()).collect()
        };
        assert!(all(&again) == all(&first), "{text}");
    }
}

#[test]
fn a_scheme_keeps_what_it_rests_on_whatever_the_profile() {
    let text = "schemes = [\"rcc\", \"newreno\", \"hscc+rcc\"]\ntcp.profile = \"linux\"";
    let told = |sets: &[&str]| -> Vec<String> {
        let linux = scenario(text, sets);
        let points = linux.points().iter();
        points
            .map(|point| point.groups[0].texts["tcp.delayed_ack"].to_owned())
            .collect()
    };
    assert_eq!(told(&[]), ["1", "2", "1"]);
    assert_eq!(told(&["tcp.delayed_ack=3"]), ["3", "3", "3"]);
    let groups = "[tcp]\nprofile = \"linux\"\n[group.a]\nscheme = \"rcc\"\n[group.b]\nscheme = \"newreno\"\n";
    let groups = scenario(groups, &["workload.senders=1"]);
    let of = |place: usize| &groups.points()[0].groups[place].texts["tcp.delayed_ack"];
    assert_eq!((of(0), of(1)), ("1", "2"));
}

#[test]
fn what_reports_feed_needs_sack() {
    for key in [
        "loss_detection=rack",
        "tail_loss_probe=linux",
        "keep_scoreboard=true",
        "dsack=true",
        "sack_delay=1ms",
    ] {
        let told = message("tcp.sack = false", &[&format!("tcp.{key}")]);
        assert!(
            told.contains("SACK") && told.contains(key.split('=').next().unwrap()),
            "{told}"
        );
    }
    let told = message("tcp.timer = \"wheel\"", &[]);
    assert!(told.contains("needs ticks"), "{told}");
}
