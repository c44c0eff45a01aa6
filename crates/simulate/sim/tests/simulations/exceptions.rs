//! Links and hosts that differ from all others.

use scenario::{Overrides, Scenario, Source};
use sim::metrics::Outcome;
use sim::run;

/// Two leaves with two hosts each below two spines; hosts 0 and 1 send to hosts 2 and 3.
const FABRIC: &str = "schemes = [\"newreno\"]\nswitch.ecn_threshold = \"off\"\n\
    [topology]\nkind = \"leaf-spine\"\nracks = 2\nspines = 2\nhosts = 2\n\
    [workload]\nkind = \"pairs\"\nsenders = 2\nfrom = \"0:0-1\"\nto = \"1:0-1\"\nsize = \"1MB\"\nstart = \"1ms\"\n";

fn outcome(tables: &str) -> Outcome {
    let source = Source::new("my.toml", format!("{FABRIC}{tables}"));
    let scenario = Scenario::load(source, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    run::run(&scenario.points()[0]).expect("a conserving run")
}

/// Milliseconds that each flow took.
fn times(outcome: &Outcome) -> Vec<f64> {
    let flows = outcome.flows.iter();
    flows
        .map(|flow| flow.fct_us.get().expect("it completes") / 1e3)
        .collect()
}

/// Drops by the names of ports.
fn drops(outcome: &Outcome) -> Vec<(String, u64)> {
    let ports = outcome.ports.iter().filter(|port| port.drops > 0);
    ports
        .map(|port| (format!("{} to {}", port.from, port.to), port.drops))
        .collect()
}

#[test]
fn a_host_with_a_slower_link_sends_and_receives_at_its_own_rate() {
    let usual = times(&outcome(""));
    // 8 Mbit take 80 ms at 100 Mbit/s.
    let slow = times(&outcome("[host.1]\nrate = \"100Mbps\"\n"));
    assert!(slow[1] > 80.0 && slow[1] < 95.0, "{slow:?}");
    assert!(slow[0] < usual[0] * 1.2, "{slow:?} {usual:?}");
    let down = times(&outcome("[host.\"2..3\"]\ndown_rate = \"100Mbps\"\n"));
    assert!(down.iter().all(|time| *time > 80.0), "{down:?}");
    // Acknowledgements alone go that way.
    let other = times(&outcome("[host.\"0..1\"]\ndown_rate = \"100Mbps\"\n"));
    assert!(other.iter().all(|time| *time < 20.0), "{other:?}");
}

#[test]
fn a_role_of_a_host_knows_the_rate_of_its_own_link() {
    let text = FABRIC
        .replace("newreno", "rcc")
        .replace("\"off\"", "\"40pkt\"");
    let run = |tables: &str| {
        let source = Source::new("my.toml", format!("{text}{tables}"));
        let scenario = Scenario::load(source, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        run::run(&scenario.points()[0]).expect("a conserving run")
    };
    // All hosts at 100 Mbit/s, by either way to say it, are the same simulation.
    let each = run("[host.\"0..3\"]\nrate = \"100Mbps\"\n");
    let all = run("[link]\nrate = \"100Mbps\"\n[bottleneck]\nrate = \"1Gbps\"\n");
    assert_eq!(each.digest, all.digest);
}

#[test]
fn routes_avoid_a_link_that_is_down() {
    let tables = "[link.\"leaf 0 to spine 0\"]\ndown = true\n";
    let outcome = outcome(tables);
    let carried = |name: &str| {
        let mut ports = outcome.ports.iter();
        let port = ports.find(|port| format!("{} to {}", port.from, port.to) == name);
        port.map_or(0, |port| port.packets)
    };
    assert_eq!(carried("leaf 0 to spine 0"), 0);
    assert_eq!(carried("spine 0 to leaf 1"), 0);
    assert!(carried("leaf 0 to spine 1") > 1000);
    assert_eq!(times(&outcome).len(), 2);
}

#[test]
fn a_single_link_has_its_own_delay_buffer_and_losses() {
    // Both flows take spine 1, whose link down has a tenth of the rate of the others: its queue overflows.
    let down = "[link.\"leaf 0 to spine 0\"]\ndown = true\n[link.\"spine 1 to leaf 1\"]\nrate = \"100Mbps\"\n";
    let lossy = drops(&outcome(&format!("{down}buffer = \"10pkt\"\n")));
    assert_eq!(lossy.len(), 1, "{lossy:?}");
    assert_eq!(lossy[0].0, "spine 1 to leaf 1");
    assert_eq!(
        drops(&outcome(&format!("{down}buffer = \"unlimited\"\n"))),
        []
    );
    // A round trip of 20 ms more: data and ACKs both cross it. A 1 MB flow needs seven.
    let usual = times(&outcome("[link.\"leaf 0 to spine 0\"]\ndown = true\n"));
    let far = times(&outcome(
        "[link.\"leaf 0 to spine 0\"]\ndown = true\n[link.\"leaf 0 to spine 1\"]\ndelay = \"10ms\"\n",
    ));
    assert!(far[0] > usual[0] + 100.0, "{far:?} {usual:?}");
    let chosen = outcome("[host.3]\nlose = \"segments 5 7 of flow 1 + segment 5 of flow 0\"\n");
    assert_eq!(drops(&chosen), [("leaf 1 to host 3".to_owned(), 2)]);
    let random = drops(&outcome("[host.3]\nloss = 0.05\n"));
    assert_eq!(random[0].0, "leaf 1 to host 3");
    assert!(random[0].1 > 10, "{random:?}");
}
