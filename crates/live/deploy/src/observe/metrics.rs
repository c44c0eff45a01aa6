//! What was seen so far as Prometheus reads it.

use observed::{Observation, Verdict};

use base::cast::real;

/// The text format of Prometheus.
pub(super) fn text(seen: &Observation) -> String {
    let labels = format!("device=\"{}\",netns=\"{}\"", seen.device, seen.netns);
    let metric = |(name, kind, help, value): (&str, &str, &str, f64)| {
        format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{{{labels}}} {value}\n")
    };
    let numbers: String = numbers(seen).into_iter().map(metric).collect();
    let name = "tailwater_observed_verdict";
    let all = [
        Verdict::Incast,
        Verdict::LossWithoutIncast,
        Verdict::Microbursts,
        Verdict::SlowStartBound,
        Verdict::Quiet,
    ];
    let verdicts = all.map(|verdict| {
        let is = u8::from(verdict == seen.judged.verdict);
        format!("{name}{{{labels},verdict=\"{}\"}} {is}\n", verdict.name())
    });
    let head = format!("# HELP {name} 1 for the verdict so far.\n# TYPE {name} gauge\n");
    numbers + &head + &verdicts.concat()
}

/// Name, type, help and value.
fn numbers(seen: &Observation) -> [(&'static str, &'static str, &'static str, f64); 13] {
    let queue = seen.queue.as_ref();
    [
        (
            "tailwater_observed_seconds",
            "gauge",
            "Time since the observation began.",
            seen.seconds,
        ),
        (
            "tailwater_observed_packets_total",
            "counter",
            "Packets that left and came in.",
            real(seen.packets.iter().sum()),
        ),
        (
            "tailwater_observed_flows_total",
            "counter",
            "Transfers that ended.",
            real(seen.flows),
        ),
        (
            "tailwater_observed_drops_total",
            "counter",
            "Packets that the queue of the device dropped.",
            real(seen.drops),
        ),
        (
            "tailwater_observed_timeouts_total",
            "counter",
            "Timeouts of flows that ended.",
            real(seen.timeouts),
        ),
        (
            "tailwater_observed_fast_retransmits_total",
            "counter",
            "Retransmissions in fast recovery of flows that ended.",
            real(seen.fast_retransmits),
        ),
        (
            "tailwater_observed_needless_repairs_total",
            "counter",
            "Timeouts and retransmissions in fast recovery of data that had arrived, of flows that ended.",
            real(seen.needless_timeouts + seen.needless_fast_retransmits),
        ),
        (
            "tailwater_observed_crowds_total",
            "counter",
            "Milliseconds with eight or more flows to one receiver.",
            real(seen.judged.crowds),
        ),
        (
            "tailwater_observed_crowd_flows_max",
            "gauge",
            "The most flows to one receiver at once.",
            f64::from(seen.judged.most),
        ),
        (
            "tailwater_observed_queue_mean_bytes",
            "gauge",
            "Mean of the queue over time.",
            queue.map_or(0.0, |queue| queue.mean_bytes),
        ),
        (
            "tailwater_observed_queue_max_bytes",
            "gauge",
            "The longest queue.",
            queue.map_or(0.0, |queue| real(queue.max_bytes)),
        ),
        (
            "tailwater_observed_waited_share",
            "gauge",
            "Share of completion times spent in silence before timeouts.",
            seen.waited_share,
        ),
        (
            "tailwater_observed_core_share",
            "gauge",
            "Share of a processor that watching takes.",
            seen.cost.core_share,
        ),
    ]
}
