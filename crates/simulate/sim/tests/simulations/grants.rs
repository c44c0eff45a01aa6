//! Receivers that hold back permission to send but not the ACKs: rounds of an incast over a shallow queue.

use base::Span;
use sim::metrics::Outcome;

use crate::support::outcome;

/// Five rounds of 20 senders with 256 KiB each, over 200 Mbit/s and room for 64 KB. A round takes 220 ms at best: 20
/// times 256 KiB in 181.04 segments of 1,448 bytes, each with 66 bytes of headers.
const ROUNDS: &str = r#"
[link]
rate = "200Mbps"
delay = "10us"
[switch]
buffer = "64KB"
[net]
header_bytes = 66
[tcp]
profile = "linux"
[rcc]
max_queue = "40KB"
[workload]
senders = 20
size = "256KiB"
jitter = "1ms"
rounds = 5
"#;

fn rounds(outcome: &Outcome) -> Vec<f64> {
    let ends = outcome.flows.chunks(20);
    ends.map(|flows| {
        let times = flows
            .iter()
            .map(|flow| flow.fct_us.get().unwrap_or(f64::INFINITY));
        times.fold(0.0, f64::max) / 1e3
    })
    .collect()
}

#[test]
fn grants_keep_every_round_within_a_twentieth_of_the_ideal_and_drop_nothing() {
    let held = outcome(ROUNDS, "rcc+cubic", &["rcc.hold=grant"]);
    let plain = outcome(ROUNDS, "cubic", &[]);
    let times = rounds(&held);
    assert_eq!(times.len(), 5);
    for time in &times {
        assert!((210.0..=231.0).contains(time), "{times:?} ms");
    }
    assert_eq!((held.metrics.timeouts, held.metrics.drops), (0, 0));
    assert!(plain.metrics.drops > 1_000, "{}", plain.metrics.drops);
    let slowest = rounds(&plain).into_iter().fold(0.0, f64::max);
    assert!(slowest > 300.0, "{slowest} ms without grants");
}

#[test]
fn what_is_lost_is_granted_again_without_any_stall() {
    // One packet of a hundred is lost in each direction: data, ACKs, and window updates.
    let held = outcome(ROUNDS, "rcc+cubic", &["rcc.hold=grant", "switch.loss=0.01"]);
    assert_eq!(held.metrics.flows_completed, 100);
    let slowest = rounds(&held).into_iter().fold(0.0, f64::max);
    // A few timers of 200 ms and their doubling, where a segment is lost repeatedly.
    let most = Span::from_millis(2_000).as_micros() / 1e3;
    assert!(slowest < most, "{slowest} ms");
}
