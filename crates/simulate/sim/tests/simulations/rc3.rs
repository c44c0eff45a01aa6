//! RC3 in whole simulations.

use sim::metrics::Outcome;

use crate::support::outcome;

/// One flow over 1 Gbit/s and 40 ms, with the settings of the paper (RC3 §5.1.1).
const ALONE: &str = r#"
name = "alone"
[topology]
kind = "dumbbell"
[link]
rate = "1Gbps"
delay = "1ms"
[bottleneck]
rate = "10Gbps"
delay = "18ms"
[switch]
buffer = "5MB"
ecn_threshold = "off"
[tcp]
initial_window = 4
receive_buffer = "1GiB"
[workload]
kind = "pairs"
senders = 1
size = "66pkt"
start = "0s"
"#;

fn fct_ms(outcome: &Outcome) -> f64 {
    outcome.flows[0].fct_us.get().expect("a complete flow") / 1e3
}

// RC3 sheet, closed form: the handshake, half a round trip, and the transmission of all packets.
#[test]
fn alone_on_an_empty_path_a_flow_takes_its_transmission() {
    for packets in [1, 4, 5, 40, 66, 267, 1187, 2107, 10_000] {
        let size = format!("workload.size={packets}pkt");
        let fct = fct_ms(&outcome(ALONE, "rc3", &[&size]));
        let ideal = 1.5 * 40.0 + f64::from(packets) * 0.012;
        assert!(
            fct >= ideal && fct <= ideal * 1.02,
            "{packets} packets: {fct} ms, not {ideal}"
        );
        let tcp = fct_ms(&outcome(ALONE, "newreno", &[&size]));
        assert!(tcp >= fct * 0.999, "{packets} packets: TCP takes {tcp} ms");
    }
}

// RC3 §2.2: whatever carries the ordinary loop.
#[test]
fn it_runs_beside_cubic_too() {
    let (alone, cubic) = (
        fct_ms(&outcome(ALONE, "rc3", &["workload.size=1187pkt"])),
        fct_ms(&outcome(ALONE, "rc3+cubic", &["workload.size=1187pkt"])),
    );
    assert!((alone - cubic).abs() < 0.02 * alone, "{alone} {cubic}");
}

// RC3 §5.1.2: where low priorities are dropped at a border, TCP is left.
#[test]
fn behind_a_border_it_is_tcp() {
    let border = ["rc3.plain_routers=1", "rc3.border=drop"];
    for packets in [5, 66, 1187] {
        let size = format!("workload.size={packets}pkt");
        let behind = outcome(ALONE, "rc3", &[border[0], border[1], &size]);
        let tcp = fct_ms(&outcome(ALONE, "newreno", &[&size]));
        // A packet of the second loop may be leaving the host when one of TCP comes; that is the only delay.
        let later = fct_ms(&behind) - tcp;
        assert!((0.0..0.1).contains(&later), "{packets} packets: {later} ms");
        assert!(behind.metrics.drops > 0);
    }
}

// RC3 §5.1.2: other flows pass the packets that wait at a low priority in a card, unless the card has no priorities.
#[test]
fn cards_without_priorities_hold_up_other_flows() {
    let flows = r#"
from = "0:0"
to = "1:0"
[group.long]
workload.size = "2000pkt"
[group.short]
workload.size = "2pkt"
workload.start = "10ms"
"#;
    let short = |sets: &[&str]| {
        let outcome = outcome(&format!("{ALONE}{flows}"), "rc3", sets);
        outcome.flows[1].fct_us.get().expect("a complete flow") / 1e3
    };
    let with = short(&["rc3.plain_routers=1"]);
    let without = short(&["rc3.plain_routers=1", "rc3.plain_hosts=true"]);
    // The long flow's packets take 24 ms to leave, and 10 ms of that are over when the short flow's packets come.
    let (least, later) = (1.5 * 40.0, without - with);
    assert!((least..least + 1.0).contains(&with), "{with} ms");
    assert!((13.0..15.0).contains(&later), "{later} ms later");
}

// RC3 §5.1.2, footnote 3: without SACK, TCP retransmits data that has arrived, and RC3 still gains.
#[test]
fn without_selective_acknowledgements_it_still_gains() {
    let sets = ["workload.size=1187pkt", "tcp.sack=false"];
    let (rc3, tcp) = (
        outcome(ALONE, "rc3", &sets),
        outcome(ALONE, "newreno", &sets),
    );
    assert!(
        fct_ms(&rc3) < 0.5 * fct_ms(&tcp),
        "{} {}",
        fct_ms(&rc3),
        fct_ms(&tcp)
    );
}

// Copies in the network card that were sent at priority 0 meanwhile need not leave.
#[test]
fn withdrawn_copies_do_not_leave_and_change_no_completion() {
    // The whole flow fits into the first windows before the card has sent it.
    let slow = [
        "link.rate=10Mbps",
        "bottleneck.delay=1ms",
        "workload.size=267pkt",
    ];
    let hops = |withdraw| {
        let set = format!("rc3.withdraw={withdraw}");
        let outcome = outcome(ALONE, "rc3", &[slow[0], slow[1], slow[2], &set]);
        (fct_ms(&outcome), outcome.cost.packet_hops)
    };
    let ((stay, all), (withdrawn, fewer)) = (hops(false), hops(true));
    assert!(withdrawn <= stay, "{withdrawn} {stay}");
    assert!(fewer * 10 < all * 9, "{fewer} {all}");
}

// RC3 §4.2.3: bursts and acknowledgements for a batch do not change completion times.
#[test]
fn bursts_change_little() {
    let run = |tso: u32| {
        let tso = format!("rc3.tso={tso}");
        let outcome = outcome(ALONE, "rc3", &["workload.size=1187pkt", &tso]);
        (fct_ms(&outcome), outcome.cost.packet_hops)
    };
    let ((single, each), (burst, batched)) = (run(1), run(43));
    assert!((single - burst).abs() < 0.02 * single, "{single} {burst}");
    // For most low packets no acknowledgement is sent.
    assert!(batched * 10 < each * 7, "{batched} {each}");
}

/// Eight flows at random times over one bottleneck.
const SHARED: &str = r#"
name = "shared"
[topology]
kind = "dumbbell"
[link]
rate = "1Gbps"
delay = "1ms"
[bottleneck]
rate = "1Gbps"
delay = "8ms"
[switch]
buffer = "2500KB"
ecn_threshold = "off"
[tcp]
initial_window = 4
receive_buffer = "1GiB"
[workload]
kind = "pairs"
senders = 8
size = "1187pkt"
jitter = "100ms"
"#;

// RC3 §5.1.3: hosts with RC3 do not harm the others, whose flows finish earlier, if anything.
#[test]
fn flows_with_it_do_not_delay_flows_without() {
    let mixed = format!(
        "{SHARED}[group.new.workload]\nsenders = 4\n\
         [group.old]\nscheme = \"newreno\"\nworkload.senders = 4\n"
    );
    let means = |outcome: &Outcome, group: &str| {
        let flows = outcome.flows.iter().filter(|flow| flow.group == group);
        let fcts: Vec<f64> = flows.filter_map(|flow| flow.fct_us.get()).collect();
        assert_eq!(fcts.len(), 4);
        fcts.iter().sum::<f64>() / 4.0
    };
    let alone = outcome(&mixed, "newreno", &[]);
    let both = outcome(&mixed, "rc3", &[]);
    assert!(means(&both, "new") < 0.6 * means(&alone, "new"));
    assert!(means(&both, "old") <= 1.001 * means(&alone, "old"));
}
