//! Single links and hosts.

use super::*;

#[test]
fn a_flow_that_loses_segments_is_one_of_the_scenario() {
    let sets = ["workload.senders=4", "bottleneck.lose=segment 5 of flow 3"];
    assert!(load("seed = 1", &sets).is_ok());
    let message = message(
        "seed = 1",
        &["workload.senders=4", "bottleneck.lose=segment 5 of flow 4"],
    );
    assert!(
        message.contains("segments of flow 4 shall be lost, but a simulation has only 4 flows"),
        "{message}"
    );
}

const FABRIC: &str = "[topology]\nkind = \"leaf-spine\"\nracks = 2\nspines = 2\nhosts = 4\n[workload]\nsenders = 4\n";

#[test]
fn single_links_and_hosts_have_settings_by_name_and_may_be_swept() {
    let text = format!(
        "{FABRIC}[link.\"leaf 0 to spine 1\"]\nrate = [\"10Gbps\", \"40Gbps\"]\ndelay = \"5us\"\n[host.\"0..3\"]\nrate = \"100Mbps\"\n"
    );
    let both = scenario(&text, &[]);
    assert_eq!(
        texts(&both, "topology.exceptions"),
        ["10Gbps", "40Gbps"].map(|rate| format!(
            "leaf 0 to spine 1: rate {rate}, delay 5us; hosts 0-3: rate 100Mbps"
        ))
    );
    let axis = "link.\"leaf 0 to spine 1\".rate";
    assert_eq!(both.set_keys(), [axis]);
    assert_eq!(both.points()[0].set[0].1, "10Gbps");
    // Written out, it is the same scenario.
    let resolved = both.resolved();
    assert_eq!(scenario(&resolved, &[]).resolved(), resolved);
    assert_eq!(scenario(&resolved, &[]).set_keys(), [axis]);
    // The command line overrides the file, with quotes and without.
    for name in [axis, "link.leaf 0 to spine 1.rate"] {
        let set = scenario(
            &text,
            &[&format!("{name}=25Gbps"), "host.5.down_rate=1Gbps"],
        );
        let [one] = &texts(&set, "topology.exceptions")[..] else {
            panic!("one value")
        };
        assert!(one.contains("leaf 0 to spine 1: rate 25Gbps"), "{one}");
        assert!(one.contains("host 5: down_rate 1Gbps"), "{one}");
    }
}

#[test]
fn links_and_hosts_that_are_not_there_are_refused_where_they_are_named() {
    for (tables, expected) in [
        (
            "[link.\"leaf 0 to spine 2\"]\nrate = \"1Gbps\"\n",
            "there is no link \"leaf 0 to spine 2\" in this network",
        ),
        (
            "[host.8]\nrate = \"1Gbps\"\n",
            "there is no host 8: the network has 8, numbered from 0",
        ),
        (
            "[host.3]\ndown = true\n",
            "host 3 cannot be down: a host has no other link",
        ),
        (
            "[link.\"host 3 to leaf 0\"]\ndown = true\n",
            "host 3 to leaf 0 cannot be down",
        ),
        (
            "[link.\"spine 0 to leaf 1\"]\ndown_rate = \"1Gbps\"\n",
            "down_rate is the rate towards a host",
        ),
        (
            "[link.\"leaf 0 to spine 0\"]\ndown = true\n[link.\"spine 1 to leaf 0\"]\ndown = true\n",
            "no path leads from host 0 to host 4 while leaf 0 to spine 0 and spine 1 to leaf 0 are down",
        ),
        (
            "[link.leaf]\nrate = \"1Gbps\"\n",
            "\"leaf\" is no name of a link",
        ),
        ("[host.x]\nrate = \"1Gbps\"\n", "\"x\" is no name of a host"),
        (
            "[host.3]\nrat = \"1Gbps\"\n",
            "a single link has no setting rat",
        ),
        (
            "[host.3]\nrate = \"fast\"\n",
            "wrong value for host.3.rate: expected \"auto\" or a rate",
        ),
        (
            "[host.3]\nlose = \"segment 3 of flow 9\"\n",
            "segments of flow 9 shall be lost, but a simulation has only 4 flows",
        ),
    ] {
        let message = message(&format!("{FABRIC}{tables}"), &[]);
        assert!(message.contains(expected), "{message}");
    }
    let wrong = format!("{FABRIC}[link.\"leaf 0 to spine 2\"]\nrate = \"1Gbps\"\n");
    let problems = load(&wrong, &[]).err().expect("a mistake").0;
    let spot = problems[0].spot().expect("a place");
    assert_eq!(
        (spot.line, spot.says),
        (9, "link.\"leaf 0 to spine 2\".rate")
    );
    let remedy = problems[0].remedy().expect("a remedy");
    assert!(
        remedy.starts_with("did you mean `leaf 0 to spine "),
        "{remedy}"
    );
}

#[test]
fn faults_that_fit_no_place_are_refused_with_what_there_is() {
    for (faults, expected) in [
        (
            "leaf 0 to spine 2: down from 1ms",
            "there is no link or switch \"leaf 0 to spine 2\" in this network",
        ),
        (
            "leaf 7: restart at 1ms for 1ms",
            "there is no link or switch \"leaf 7\" in this network",
        ),
        (
            "hosts 3-8: gone at 1ms",
            "there is no host 8 for a fault: the network has 8, numbered from 0",
        ),
        (
            "leaf 0: down from 1ms",
            "leaf 0 is a switch, but this is a fault of a link",
        ),
        (
            "host 3: restart at 1ms for 1ms",
            "host 3 is not a switch, and only switches can restart",
        ),
        (
            "bottleneck: gone at 1ms",
            "bottleneck is not a host, and only hosts can disappear or stop reading",
        ),
        (
            "host 3: goes at 1ms",
            "host 3: \"goes at 1ms\" is no fault; there are \"down from",
        ),
    ] {
        let message = message(FABRIC, &[&format!("topology.faults={faults}")]);
        assert!(message.contains(expected), "{message}");
    }
    let down = "topology.faults=leaf 0 to spine 1: down from 1ms to 2ms";
    for (other, expected) in [
        (
            "switch.burst=1pkt",
            "a token bucket decides in advance when packets leave",
        ),
        (
            "host.burst=1pkt",
            "a token bucket decides in advance when packets leave",
        ),
        ("switch.pfc=all", "would lose pauses that are under way"),
    ] {
        let message = message(FABRIC, &[down, other, "switch.pfc_xoff=24KB"]);
        assert!(message.contains(expected), "{message}");
    }
    // Losses on the wire concern neither.
    let corrupt = "topology.faults=leaf 0 to spine 1: corrupt 0.1";
    assert!(load(FABRIC, &[corrupt, "switch.burst=1pkt"]).is_ok());
}

#[test]
fn faults_are_an_axis_and_several_lines_of_a_file() {
    let text = FABRIC.replace("[topology]\nkind", "[topology]\nfaults = [\"none\", \"\"\"\nleaf 0: restart at 1ms for 1ms\nhost 3: gone at 2ms\n\"\"\"]\nkind");
    let text = format!("schemes = [\"newreno\"]\n{text}");
    let both = scenario(&text, &[]);
    assert_eq!(both.set_keys(), ["topology.faults"]);
    let faults: Vec<usize> = both
        .points()
        .iter()
        .map(|point| point.keys.topology.faults.0.len())
        .collect();
    assert_eq!(faults, [0, 2]);
    let resolved = both.resolved();
    assert_eq!(scenario(&resolved, &[]).resolved(), resolved);
}
