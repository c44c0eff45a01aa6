//! All waits for timers are counted: no flow waits for a timer that no counter shows.

use std::collections::BTreeMap;
use std::fmt::Write;

use engine::random::Stream;
use plan::PointSpec;
use scenario::{Overrides, Scenario, Source};
use sim::breakdown::Part;
use sim::run::{self, Limits, Watching};

/// Scenarios that are tried.
pub(crate) const TRIED: u64 = 150;
/// A wait that is long enough to need an explanation, in picoseconds.
const LONG: u64 = 10_000_000_000;

/// One of `values`.
fn one<'a>(random: &mut Stream, values: &[&'a str]) -> &'a str {
    let place = random.below(values.len() as u64);
    values[usize::try_from(place).expect("a place")]
}

/// A small network that loses SYNs, middles and ends of flows, with the TCP of papers or of Linux.
pub(crate) fn scenario(number: u64) -> String {
    let mut random = Stream::new(number, "timers", 0);
    let mut text = format!("schemes = [\"{}\"]\nseed = {number}\n", {
        one(
            &mut random,
            &["newreno", "cubic", "dctcp", "rcc", "rwndq", "hscc"],
        )
    });
    let settings: [(&str, &[&str]); 13] = [
        ("tcp.profile", &["\"paper\"", "\"linux\""]),
        ("tcp.min_rto", &["\"20ms\"", "\"200ms\""]),
        ("tcp.syn_rto", &["\"50ms\"", "\"1s\""]),
        (
            "tcp.tail_loss_probe",
            &["\"off\"", "\"linux\"", "\"rfc8985\""],
        ),
        // Waits for a delayed ACK are not waits of the sender, and are not counted.
        ("tcp.delayed_ack", &["1"]),
        ("switch.buffer", &["\"8pkt\"", "\"20pkt\"", "\"80pkt\""]),
        ("switch.ecn_threshold", &["\"4pkt\""]),
        ("switch.loss", &["0", "0.01", "0.1"]),
        ("workload.senders", &["1", "3", "12", "30"]),
        ("workload.size", &["\"1KB\"", "\"16KB\"", "\"100KB\""]),
        ("workload.rounds", &["1", "3"]),
        ("workload.connection", &["\"new\"", "\"persistent\""]),
        ("link.delay", &["\"10us\"", "\"500us\""]),
    ];
    for (key, values) in settings {
        writeln!(text, "{key} = {}", one(&mut random, values))
            .expect("writing to a string succeeds");
    }
    text
}

/// The only point of a scenario, if its settings go together.
pub(crate) fn point(text: &str) -> Option<PointSpec> {
    let scenario = Scenario::load(Source::new("random.toml", text), &Overrides::default()).ok()?;
    scenario.points().first().cloned()
}

#[test]
fn no_flow_waits_for_a_timer_that_no_counter_shows() {
    let (mut run, mut waited, mut without_timeouts) = (0, 0, 0);
    for text in (0..TRIED).map(scenario) {
        let Some(point) = point(&text) else { continue };
        run += 1;
        let watching = Watching {
            probe: None,
            breakdown: true,
        };
        let outcome = run::watch(Limits::NONE, &point, watching).expect("a conserving run");
        // Flows that share a connection share its timers.
        let mut connections: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
        for flow in &outcome.flows {
            let (longest, timers) = connections.entry(flow.connection).or_default();
            let parts = flow.breakdown.as_deref();
            let wait = parts.map_or(0, |parts| parts.get(Part::Timers));
            *longest = (*longest).max(wait);
            *timers += flow.timers();
        }
        for (connection, (longest, timers)) in connections {
            assert!(
                longest < LONG || timers > 0,
                "connection {connection} waited {longest} ps for timers and has none\n{text}"
            );
            waited += u32::from(longest >= LONG);
        }
        let metrics = &outcome.metrics;
        let kinds = [
            metrics.timeouts,
            metrics.syn_timeouts,
            metrics.tail_probes,
            metrics.window_probes,
        ];
        assert_eq!(metrics.timers, kinds.iter().sum::<u64>(), "{text}");
        without_timeouts += u32::from(metrics.timeouts == 0 && metrics.timers > 0);
    }
    // The property means something only if flows wait, and not only for the retransmission timer.
    assert!(
        run > 100 && waited > 100 && without_timeouts > 5,
        "{run} {waited} {without_timeouts}"
    );
}
