//! What the numbers in results mean: one description for tables, CSV, JSON and `explain results`.

use base::Column;

use crate::metrics::{GroupMetrics, Metrics};

/// The columns of [`Metrics`], in the order of its fields.
pub const METRICS: &[Column] = &[
    Column::new(
        "goodput_bps",
        "bit/s",
        "Payload of all completed flows over the time from the first start to the last completion.",
    ),
    Column::new(
        "fct_mean_us",
        "us",
        "Mean flow completion time: from the start at the application to the last byte in order at the receiver, the handshake included.",
    ),
    Column::new("fct_p50_us", "us", "Median flow completion time."),
    Column::new(
        "fct_p95_us",
        "us",
        "95th percentile of the flow completion times.",
    ),
    Column::new(
        "fct_p99_us",
        "us",
        "99th percentile of the flow completion times.",
    ),
    Column::new("fct_max_us", "us", "Completion time of the slowest flow."),
    Column::new(
        "timeouts",
        "events",
        "Retransmission timers that expired with data or a FIN outstanding.",
    ),
    Column::new(
        "tail_timeouts",
        "events",
        "Timeouts with everything sent and at most the last three segments unacknowledged: too few for duplicate ACKs to tell of a loss.",
    ),
    Column::new(
        "syn_timeouts",
        "events",
        "Timers of the handshake that expired: a SYN or SYN-ACK, or what answers it, was lost.",
    ),
    Column::new(
        "timeout_rate",
        "",
        "Timeouts for each segment sent, those sent again included.",
    ),
    Column::new("retransmissions", "segments", "Segments sent again."),
    Column::new(
        "after_timeout",
        "segments",
        "Segments sent again after a timeout rather than in a fast recovery: losses that nothing else repaired, and what went with them.",
    ),
    Column::new(
        "packets",
        "segments",
        "Segments with data or FIN sent, those sent again included.",
    ),
    Column::new(
        "fairness",
        "",
        "Jain's index of the flows' throughput, payload over time from the start: 1 if all are equal, 1/n if one of n has all.",
    ),
    Column::new(
        "drops",
        "packets",
        "Packets that queues dropped, and those lost by bottleneck.loss or switch.loss.",
    ),
    Column::new(
        "marks",
        "packets",
        "Packets that queues marked with congestion experienced (ECN).",
    ),
    Column::new(
        "threshold_crossings",
        "packets",
        "Arrivals that met a queue at or above the marking threshold, ECN-capable or not.",
    ),
    Column::new(
        "queue_mean_bytes",
        "bytes",
        "Mean length of the bottleneck queue, weighted by time, from the first start to the last completion; the packet in service is excluded.",
    ),
    Column::new(
        "queue_p5_bytes",
        "bytes",
        "5th percentile of the length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_p50_bytes",
        "bytes",
        "Median length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_p95_bytes",
        "bytes",
        "95th percentile of the length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_max_bytes",
        "bytes",
        "Greatest length of the bottleneck queue.",
    ),
    Column::new("flows_completed", "flows", "Flows whose last byte arrived."),
    Column::new("flows_failed", "flows", "Flows whose connection gave up."),
    Column::new(
        "flows_unfinished",
        "flows",
        "Flows with an end that had neither completed nor failed when the simulation stopped.",
    ),
    Column::new(
        "flows_late",
        "flows",
        "Flows with an end that took longer than workload.deadline, complete or not.",
    ),
];

/// The columns of [`Cost`](crate::metrics::Cost), in the order of its fields.
pub const COST: &[Column] = &[
    Column::new(
        "simulated_us",
        "us",
        "Simulated time at the end of the run.",
    ),
    Column::new(
        "packet_hops",
        "hops",
        "Packets handed over a link, each counted once per link.",
    ),
    Column::new("events", "events", "Events the scheduler handled."),
    Column::new(
        "cpu_us",
        "us",
        "Processor time of the simulation. Differs from run to run.",
    ),
    Column::new(
        "ns_per_hop",
        "ns",
        "Processor time per packet-hop. Differs from run to run.",
    ),
];

/// The values of [`METRICS`], in the same order, with `NaN` where there is none.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
pub fn metric_values(metrics: &Metrics) -> Vec<f64> {
    let m = metrics;
    vec![
        m.goodput_bps,
        m.fct_mean_us,
        m.fct_p50_us,
        m.fct_p95_us,
        m.fct_p99_us,
        m.fct_max_us,
        m.timeouts as f64,
        m.tail_timeouts as f64,
        m.syn_timeouts as f64,
        m.timeout_rate,
        m.retransmissions as f64,
        m.after_timeout as f64,
        m.packets as f64,
        m.fairness,
        m.drops as f64,
        m.marks as f64,
        m.threshold_crossings as f64,
        m.queue_mean_bytes,
        m.queue_p5_bytes as f64,
        m.queue_p50_bytes as f64,
        m.queue_p95_bytes as f64,
        m.queue_max_bytes as f64,
        m.flows_completed as f64,
        m.flows_failed as f64,
        m.flows_unfinished as f64,
        m.flows_late as f64,
    ]
}

/// The numbers of a group of flows: their names are those of [`METRICS`].
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
pub fn group_values(metrics: &GroupMetrics) -> [(&'static str, f64); 18] {
    let m = metrics;
    [
        ("goodput_bps", m.goodput_bps),
        ("fct_mean_us", m.fct_mean_us),
        ("fct_p50_us", m.fct_p50_us),
        ("fct_p95_us", m.fct_p95_us),
        ("fct_p99_us", m.fct_p99_us),
        ("fct_max_us", m.fct_max_us),
        ("timeouts", m.timeouts as f64),
        ("tail_timeouts", m.tail_timeouts as f64),
        ("syn_timeouts", m.syn_timeouts as f64),
        ("timeout_rate", m.timeout_rate),
        ("retransmissions", m.retransmissions as f64),
        ("after_timeout", m.after_timeout as f64),
        ("packets", m.packets as f64),
        ("fairness", m.fairness),
        ("flows_completed", m.flows_completed as f64),
        ("flows_failed", m.flows_failed as f64),
        ("flows_unfinished", m.flows_unfinished as f64),
        ("flows_late", m.flows_late as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;
    use scenario::Scenario;

    #[test]
    fn the_described_columns_are_the_fields_of_the_results() {
        let scenario = Scenario::builtin("incast");
        let outcome = run::run(&scenario.points()[0]).unwrap();
        let fields = |value: serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let names = |columns: &[Column]| -> Vec<String> {
            columns
                .iter()
                .map(|column| column.name.to_owned())
                .collect()
        };
        let metrics = serde_json::to_value(&outcome.metrics).unwrap();
        for (column, value) in METRICS.iter().zip(metric_values(&outcome.metrics)) {
            assert_eq!(
                metrics[column.name].as_f64(),
                Some(value),
                "{}",
                column.name
            );
        }
        assert_eq!(fields(metrics), names(METRICS));
        assert_eq!(
            fields(serde_json::to_value(outcome.cost).unwrap()),
            names(COST)
        );
    }
}
