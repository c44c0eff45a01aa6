//! The profile `linux` beside Linux 6.12 in virtual time, 1,000 ticks a second: the kernel's behaviour in the same
//! incasts and with the same share of losses.
//!
//! 64 KiB from every sender to one receiver, 20 rounds on open connections, links of 1 Gbit/s and a round trip
//! of 80 us, 121,000 bytes of buffer, marks from 30,000 bytes on, packets of 1,514 bytes. Three boots each.

use base::cast::real;
use base::setting::Key;
use plan::keys::profile::of_linux;
use plan::keys::{all_keys, group};
use sim::metrics::FlowRecord;
use sim::run;

use crate::support::points;

/// Over eleven seeds, the median of goodput in Mbit/s, and means of drops and timeouts: CUBIC's window stays at two segments
/// in one of twenty such flows, as the kernel's does when more is lost.
fn simulate(text: &str, scheme: &str, sets: &[&str]) -> (f64, f64, f64) {
    let text = format!("{NETWORK}{text}");
    let mut point = points(&text, scheme, sets).remove(0);
    let (mut goodputs, mut drops, mut timeouts) = (Vec::new(), 0.0, 0.0);
    for seed in 1..=11 {
        point.seed = seed;
        let m = run::run(&point).expect("a conserving run").metrics;
        goodputs.push(m.goodput_bps / 1e6);
        drops += real(m.drops) / 11.0;
        timeouts += real(m.timeouts) / 11.0;
    }
    goodputs.sort_by(f64::total_cmp);
    (goodputs[5], drops, timeouts)
}

// The kernel: 1648 to 1699 drops with Reno, 566 to 649 with CUBIC, 96 with DCTCP (tools/oracle/data), and few timeouts: with
// the jitter of the oracle's scenario in one of ten runs with Reno and in four with CUBIC, in none with DCTCP. Nearly all
// would wait for a timer without RACK. Senders send the same segments when they receive the same
// (tools/oracle/data/streams); how often a queue overflows depends on which packets come at the same instant, too.
#[test]
fn sixteen_senders_repair_as_many_losses_without_a_timer() {
    for (scheme, kernel) in [("newreno", 1679.0), ("cubic", 608.0), ("dctcp", 96.0)] {
        let (_, drops, timeouts) = simulate(INCAST, scheme, &[]);
        let told = format!("{scheme}: {drops} drops, {timeouts} timeouts");
        assert!((drops / kernel - 1.0).abs() < 0.3, "{told}");
        assert!(timeouts <= 1.0, "{told}");
    }
}

// The kernel: 908, 923 and 909 Mbit/s in half a second of a flow that loses 1 % of its packets and comes from a faster
// link (loss-1% in tools/oracle/data/linux.csv).
#[test]
fn a_flow_that_loses_a_hundredth_is_as_fast_as_on_the_kernel() {
    for (scheme, kernel) in [("newreno", 908.0), ("cubic", 923.0), ("dctcp", 909.0)] {
        let (goodput, ..) = simulate(BULK, scheme, &[]);
        assert!((goodput / kernel - 1.0).abs() < 0.02, "{scheme}: {goodput}");
    }
}

#[test]
fn late_packets_and_copies_cost_a_linux_sender_little() {
    let disorder = [
        "bottleneck.loss=0",
        "bottleneck.reordering=0.01",
        "bottleneck.duplication=0.01",
        "bottleneck.ack_loss=0.05",
    ];
    let (goodput, ..) = simulate(BULK, "newreno", &disorder);
    assert!(goodput > 930.0, "{goodput}");
    let paper = [&disorder[..], &["tcp.profile=paper"]].concat();
    let (less, ..) = simulate(BULK, "newreno", &paper);
    assert!(less < goodput, "{less}");
}

/// The network of both, and its TCP. The kernel's port hands a packet on when ours begins to send it: 12.1 us of 80 in
/// the four links of a round trip. What its links hold counts no more as the sender's.
const NETWORK: &str = r#"
[switch]
buffer = "121000B"
ecn_threshold = "30000B"
[net]
header_bytes = 66
[tcp]
profile = "linux"
idle_restart = false
clock_granularity = "1ms"
small_queues = false
"#;

// Beside the kernel with as much jitter 16 senders of 256 KiB wait for 2 to 4 timers in 20 rounds, and for 12 without, there
// and here: senders and port keep step, and the same ones find no room again and again.
#[test]
fn jitter_of_a_packets_time_ends_the_step_that_senders_keep() {
    let timeouts = |jitter| {
        let sets = ["workload.size=256KiB", "workload.jitter=50us", jitter];
        simulate(INCAST, "newreno", &sets).2
    };
    let (locked, random) = (timeouts("link.jitter=0s"), timeouts("link.jitter=12us"));
    assert!(locked > 2.0 * random, "{locked} and {random} timeouts");
}

#[test]
fn jitter_keeps_the_order_of_packets() {
    let sets = [
        "switch.buffer=unlimited",
        "link.jitter=1ms",
        "tcp.sack=true",
    ];
    let point = points(&format!("{NETWORK}{INCAST}"), "newreno", &sets).remove(0);
    let metrics = run::run(&point).expect("a conserving run").metrics;
    assert_eq!((metrics.retransmissions, metrics.timeouts), (0, 0));
}

// Linux 6.18 over a path of 100 ms, told by TCP_INFO: 108.3 ms without a pause, and 204 to 210 ms after 400 ms, with windows of
// 589, 985, 1183 and 1282 segments before the pauses, which are half the one before and the 691 of an answer. The timeout is
// 300 ms. A pause lasts from the last data of an answer to the next request: the think time and 100 ms. Each timeout of it but
// the first halves the window, which then needs a round trip more to send the answer; after 5 s it begins with ten segments,
// and an answer takes seven round trips as the first one did (tcp_cwnd_restart).
//
// Slow start without a threshold adds every answer to the window, so that less and less is left for the last round trip:
// later answers need as many, and what they take falls from 204 ms towards 200.
#[test]
fn an_answer_after_a_pause_takes_a_round_trip_more_for_each_further_timeout() {
    let expected = [
        ("100ms", 108.0),
        ("250ms", 208.0),
        ("400ms", 208.0),
        ("800ms", 308.0),
        ("5s", 700.0),
    ];
    for scheme in ["newreno", "cubic", "dctcp"] {
        for (think, ms) in expected {
            let think_set = format!("workload.think={think}");
            let point = points(PAUSES, scheme, &[&think_set]).remove(0);
            let flows = run::run(&point).expect("a conserving run").flows;
            let time = |flow: &FlowRecord| flow.fct_us.get().expect("it is complete") / 1e3;
            let times: Vec<f64> = flows.iter().map(time).collect();
            let told = format!("{scheme} {think}: {times:?}");
            let close = |time: &f64| (time / ms - 1.0).abs() < 0.03;
            assert!(times[1..3].iter().all(close), "{told}");
            let round_trips = |time: f64| (time / 100.0).floor();
            let as_many = |time: &f64| (round_trips(*time) - round_trips(ms)).abs() < 0.5;
            assert!(times[1..].iter().all(as_many), "{told}");
        }
    }
}

/// One connection that asks for one answer after the other.
const PAUSES: &str = r#"
[link]
delay = "25ms"
[switch]
buffer = "unlimited"
[tcp]
profile = "linux"
[workload]
kind = "requests"
connection = "persistent"
senders = 1
requests = 8
size = "1MB"
start = "1s"
"#;

/// Twelve senders that lose packets, with each setting that is true or false the other way round.
#[test]
fn each_yes_or_no_setting_of_tcp_can_be_turned_alone() {
    let turned = |key: &&&Key| match key.default {
        "true" | "false" => ["tcp", "net", "cubic"].contains(&group(key.name)),
        _ => false,
    };
    for profile in ["paper", "linux"] {
        let profile_set = format!("tcp.profile={profile}");
        for key in all_keys().iter().filter(turned) {
            let usual = of_linux(key.name).filter(|_| profile == "linux");
            let other = usual.unwrap_or(key.default) == "false";
            let set = format!("{}={other}", key.name);
            let point = points(LOSSES, "cubic", &[&profile_set, &set]).remove(0);
            assert_eq!(point.text(key.name), other.to_string());
            let metrics = run::run(&point).expect("a conserving run").metrics;
            let told = format!("{profile} {set}: {metrics:?}");
            assert_eq!(metrics.flows_completed, 24, "{told}");
            assert!(metrics.drops > 0, "{told}");
        }
    }
}

const LOSSES: &str = r#"
[switch]
buffer = "30pkt"
ecn_threshold = "20pkt"
[bottleneck]
loss = 0.01
[workload]
senders = 12
size = "40KB"
rounds = 2
"#;

// Duplicates repair single losses as well as reports do.
#[test]
fn without_sack_single_losses_cost_no_more() {
    let lossy = ["bottleneck.loss=0.001", "tcp.sack=false"];
    let (with, ..) = simulate(BULK, "newreno", &lossy[..1]);
    let (without, ..) = simulate(BULK, "newreno", &lossy);
    assert!(without > 0.98 * with, "{without} and {with} Mbit/s");
}

// A host delays an ACK for less than its own least timeout, which stands for that of the sender (tcp_delack_max). Where the
// sender's is 5 ms and its own 200 ms, the ACK of an answer comes 40 ms later, and the sender's timer expires before.
#[test]
fn a_receiver_with_a_longer_timeout_delays_acks_beyond_that_of_its_sender() {
    let timeouts = |set: &str| {
        let point = points(SHORT, "newreno", &["tcp.min_rto=5ms", set]).remove(0);
        run::run(&point).expect("a conserving run").metrics.timeouts
    };
    assert_eq!(timeouts("tcp.receiver_min_rto=auto"), 0);
    assert_eq!(timeouts("tcp.receiver_min_rto=5ms"), 0);
    // One for each answer but the last, which the end of the connection has acknowledged at once.
    assert_eq!(timeouts("tcp.receiver_min_rto=200ms"), 4);
}

/// Answers of one segment, a second between them.
const SHORT: &str = r#"
[tcp]
profile = "linux"
quick_acks = 0
tail_loss_probe = "off"
[workload]
kind = "requests"
connection = "persistent"
senders = 1
requests = 5
size = "1000B"
think = "1s"
"#;

const INCAST: &str = r#"
[link]
delay = "16972ns"
[workload]
senders = 16
size = "64KiB"
rounds = 20
jitter = "2us"
start = "200ms"
connection = "persistent"
"#;

const BULK: &str = r#"
[link]
rate = "10Gbps"
down_rate = "1Gbps"
delay = "16972ns"
[bottleneck]
loss = 0.01
[workload]
senders = 1
size = "unlimited"
start = "0s"
[run]
duration = "500ms"
"#;
