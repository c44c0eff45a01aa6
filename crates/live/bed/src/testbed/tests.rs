use std::collections::BTreeSet;

use base::{Quantity, Rate, Span};
use scenario::{Overrides, Scenario, Source};

use super::*;

fn bed(settings: &[(&str, &str)]) -> Result<Testbed, Problems> {
    let overrides = Overrides {
        sets: settings
            .iter()
            .map(|(key, text)| format!("{key}={text}"))
            .collect(),
        ..Overrides::default()
    };
    let source = Source::new("test", "schemes = [\"cubic\"]");
    Testbed::of(&Scenario::load(source, &overrides).unwrap().points()[0])
}

fn refused(settings: &[(&str, &str)]) -> String {
    let Problems(problems) = bed(settings).unwrap_err();
    problems[0].to_string()
}

#[test]
fn the_incast_of_the_paper_becomes_knobs() {
    let settings = [
        ("workload.senders", "20"),
        ("tcp.mss", "1446"),
        ("tcp.initial_window", "1"),
        ("tcp.sack", "false"),
        ("tcp.min_rto", "10ms"),
        ("tcp.receive_buffer", "65535B"),
        ("tcp.window_scale", "off"),
        ("net.header_bytes", "54"),
    ];
    let bed = bed(&settings).unwrap();
    assert_eq!(bed.topology.hosts().len(), 21);
    assert_eq!(bed.packet_bytes(), 1512);
    assert_eq!(bed.mtu(), 1498);
    assert_eq!(bed.switch_limit, 80 * 1512);
    assert_eq!(bed.host_limit, UNLIMITED);
    assert_eq!(bed.watched_rate(), Rate::from_bps(1_000_000_000));
    let route = RouteOptions {
        advertised_mss: 1458,
        initial_window: 1,
        min_rto_ms: 10,
        quick_ack: true,
        window: 65_535,
    };
    assert_eq!(bed.route, route);
    let sysctl = |name| {
        let mut all = bed.sysctls.iter();
        all.find(|setting| setting.file == name)
            .map(|setting| setting.value.as_str())
    };
    assert_eq!(sysctl("ipv4/tcp_sack"), Some("0"));
    assert_eq!(sysctl("ipv4/tcp_window_scaling"), Some("0"));
    let different: Vec<_> = bed.different.iter().map(|row| row.key).collect();
    assert!(different.contains(&"link.delay"), "{different:?}");
    assert!(bed.twin.contains(&("net.header_bytes", "66".to_owned())));
}

#[test]
fn hosts_and_switches_have_names() {
    let bed = bed(&[("topology.kind", "dumbbell"), ("workload.senders", "2")]).unwrap();
    let nodes = 0..u32::try_from(bed.topology.nodes().len()).unwrap();
    let names: BTreeSet<_> = nodes.map(|node| bed.node_name(NodeId(node))).collect();
    assert!(names.contains("s0") && names.contains("s1") && names.contains("h0"));
    assert_eq!(names.len(), bed.topology.nodes().len());
}

#[test]
fn what_linux_cannot_have_is_refused() {
    let chain = refused(&[("topology.kind", "chain")]);
    assert_eq!(chain, "topology.kind: the test bed cannot have this shape");
    let lossy = refused(&[("bottleneck.loss", "0.01")]);
    assert!(lossy.starts_with("bottleneck.loss"), "{lossy}");
    let late = refused(&[("bottleneck.reordering", "0.01")]);
    assert!(late.starts_with("bottleneck.ack_loss"), "{late}");
    assert!(refused(&[("bottleneck.lose", "syn")]).starts_with("bottleneck.lose"));
    for key in ["switch.burst", "host.burst"] {
        assert!(refused(&[(key, "2pkt")]).starts_with(key));
    }
    assert!(refused(&[("switch.pool", "4MB")]).starts_with("switch.pool"));
    assert!(refused(&[("switch.ecn_max", "60pkt")]).starts_with("switch.ecn_max"));
    let pfc = [
        ("switch.pfc", "all"),
        ("switch.pfc_xoff", "24KB"),
        ("switch.buffer", "unlimited"),
    ];
    assert!(refused(&pfc).starts_with("switch.pfc"));
    let slow = refused(&[("topology.exceptions", "hosts 1-2: rate 10Mbps")]);
    assert!(slow.starts_with("[link.NAME]"), "{slow}");
    if !cfg!(feature = "kernel") {
        assert!(refused(&[("tcp.ecn", "true")]).starts_with("tcp.ecn"));
    }
    let unasked = refused(&[("workload.kind", "requests")]);
    assert!(unasked.starts_with("workload.connection"), "{unasked}");
    let many = refused(&[("workload.senders", "300")]);
    assert!(many.starts_with("301 hosts"), "{many}");
}

#[test]
fn groups_differ_in_their_workload_and_their_priority_alone() {
    let of = |more: &str| {
        let text = format!(
            "schemes = [\"qos+cubic\"]\nrun.duration = \"1s\"\n[group.mice.workload]\nkind = \"requests\"\n\
             connection = \"persistent\"\n[group.elephants]\nworkload.size = \"unlimited\"\n{more}"
        );
        let scenario = Scenario::load(Source::new("test", text), &Overrides::default()).unwrap();
        Testbed::of(&scenario.points()[0])
    };
    let different = of("").unwrap().different;
    assert!(
        different.iter().any(|row| row.key == "workload.kind"),
        "servers open"
    );
    assert!(of("qos.priority = 0").is_ok());
    let Problems(problems) = of("tcp.min_rto = \"5ms\"").unwrap_err();
    let expected = "group.elephants: in the test bed a group cannot have its own tcp.min_rto";
    assert_eq!(problems[0].to_string(), expected);
}

#[test]
fn every_text_of_the_twin_is_a_correct_value() {
    let settings = [
        ("tcp.delayed_ack", "3"),
        ("tcp.scale_syn_ack", "true"),
        ("tcp.window_scale", "3"),
        ("tcp.initial_ssthresh", "64KiB"),
        ("tcp.limited_transmit", "false"),
        ("tcp.window_validation", "false"),
        ("switch.unit", "packets"),
    ];
    let bed = bed(&settings).unwrap();
    assert!(bed.different.len() >= 11);
    for (key, text) in &bed.twin {
        let key = plan::keys::key(key).expect("a declared key");
        assert_eq!((key.check)(text), Ok(()), "{}", key.name);
    }
}

#[test]
fn an_ack_of_the_twin_waits_for_less_than_the_least_timeout() {
    // A tick less than two ticks and a half, rounded up; 40 ms at most.
    for (min_rto, expected) in [
        ("10ms", "8ms"),
        ("5ms", "4ms"),
        ("1ms", "4ms"),
        ("200ms", "40ms"),
    ] {
        let bed = bed(&[
            ("tcp.min_rto", min_rto),
            ("tcp.delayed_ack", "2"),
            ("tcp.delayed_ack_timeout", "1ms"),
        ]);
        let twin = bed.unwrap().twin;
        let text = twin
            .iter()
            .find(|(key, _)| *key == "tcp.delayed_ack_timeout");
        let span = |text: &str| Span::parse(text).unwrap();
        assert_eq!(
            span(&text.expect("another one").1),
            span(expected),
            "{min_rto}"
        );
    }
    let bed = bed(&[("tcp.min_rto", "200ms"), ("tcp.delayed_ack", "2")]).unwrap();
    assert!(
        bed.twin
            .iter()
            .all(|(key, _)| *key != "tcp.delayed_ack_timeout")
    );
}

#[test]
fn every_setting_is_judged() {
    // A new key must be mapped, refused or reported. When that is done, it is listed here.
    let judged = include_str!("settings.rs").to_owned()
        + include_str!("limits.rs")
        + include_str!("../testbed.rs");
    let plan_makes = [
        "topology.",
        "workload.",
        "run.",
        "trace.",
        "link.",
        "bottleneck.",
        "net.",
    ];
    // The settings of a profile are judged with the profile.
    let of_linux = plan::keys::Profile::Linux.settings();
    for key in plan::keys::all_keys() {
        let (group, field) = key.name.split_once('.').unwrap();
        let of_the_plan = plan_makes.iter().any(|prefix| key.name.starts_with(prefix));
        let of_a_scheme = schemes::all().iter().any(|scheme| scheme.name == group);
        let named = judged.contains(&format!("{group}.{field}"));
        let of_the_profile = of_linux.iter().any(|(name, _)| *name == key.name);
        assert!(
            of_the_plan || of_a_scheme || of_the_profile || named,
            "{} is not judged",
            key.name
        );
    }
}
