//! What the numbers in results mean: one description for tables, CSV, JSON and `explain results`.

use base::Column;
use base::cast::real;

pub use plan::metric::METRICS;

use crate::metrics::{GroupMetrics, Metrics};
use crate::parts::Split;

/// What each part of a completion time is, in the order of [`Part`](crate::breakdown::Part).
pub const PART_HELP: [&str; 8] = [
    "Part of fct_us: time in which the connection opened.",
    "Part of fct_us: time in which the flow's own bytes left through the slowest link of their path.",
    "Part of fct_us: time in which the last packet was in wires.",
    "Part of fct_us: time in which the sender waited for an ACK to open its window, as it would in an empty network.",
    "Part of fct_us: time in which the sender had nothing to send.",
    "Part of fct_us: time in which packets of other flows were first.",
    "Part of fct_us: time in which the sender repaired losses that ACKs told of.",
    "Part of fct_us: time in which the sender waited for a timer: of retransmission, of the handshake, or of a probe; or the receiver for its timer of delayed ACKs.",
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
pub fn metric_values(metrics: &Metrics) -> Vec<f64> {
    let m = metrics;
    let mut values = vec![
        m.goodput_bps,
        m.fct_mean_us,
        m.fct_p50_us,
        m.fct_p95_us,
        m.fct_p99_us,
        m.fct_p999_us,
        m.fct_p9999_us,
        m.fct_max_us,
        m.round_p50_us,
        m.round_p99_us,
        m.round_p999_us,
        m.round_max_us,
        known(m.rounds_completed),
        known(m.rounds_unfinished),
        m.rounds_over_ideal,
        m.slowdown_mean,
        m.slowdown_p50,
        m.slowdown_p99,
        m.slowdown_p999,
        real(m.timeouts),
        real(m.tail_timeouts),
        real(m.syn_timeouts),
        real(m.tail_probes),
        real(m.window_probes),
        real(m.timers),
        m.timeout_rate,
        real(m.retransmissions),
        real(m.after_timeout),
        real(m.packets),
        m.fairness,
        real(m.drops),
        real(m.marks),
        real(m.threshold_crossings),
        m.queue_mean_bytes,
        real(m.queue_p5_bytes),
        real(m.queue_p50_bytes),
        real(m.queue_p95_bytes),
        real(m.queue_max_bytes),
        real(m.flows_completed),
        real(m.flows_failed),
        real(m.flows_unfinished),
        real(m.flows_late),
        m.goodput_p50_bps,
        m.goodput_weighted_bps,
        m.bound_p50_us,
        m.bound_p99_us,
        m.bound_max_us,
        m.active,
        m.held_up,
    ];
    values.extend(split_values(m.breakdown.as_ref()));
    values
}

/// A count, or `NaN` where there is nothing to count.
fn known(count: Option<u64>) -> f64 {
    count.map_or(f64::NAN, real)
}

/// The means of the parts of completion times, then those of the slowest flows; `NaN` where they are not known.
fn split_values(split: Option<&Split>) -> [f64; 16] {
    let mut values = [f64::NAN; 16];
    if let Some(split) = split {
        values[..8].copy_from_slice(&split.mean.all());
        values[8..].copy_from_slice(&split.tail.all());
    }
    values
}

/// The numbers of a group of flows: their names are those of [`METRICS`].
pub fn group_values(metrics: &GroupMetrics) -> Vec<(&'static str, f64)> {
    let m = metrics;
    let mut values = vec![
        ("goodput_bps", m.goodput_bps),
        ("fct_mean_us", m.fct_mean_us),
        ("fct_p50_us", m.fct_p50_us),
        ("fct_p95_us", m.fct_p95_us),
        ("fct_p99_us", m.fct_p99_us),
        ("fct_p999_us", m.fct_p999_us),
        ("fct_p9999_us", m.fct_p9999_us),
        ("fct_max_us", m.fct_max_us),
        ("round_p50_us", m.round_p50_us),
        ("round_p99_us", m.round_p99_us),
        ("round_p999_us", m.round_p999_us),
        ("round_max_us", m.round_max_us),
        ("rounds_completed", known(m.rounds_completed)),
        ("rounds_unfinished", known(m.rounds_unfinished)),
        ("rounds_over_ideal", m.rounds_over_ideal),
        ("slowdown_mean", m.slowdown_mean),
        ("slowdown_p50", m.slowdown_p50),
        ("slowdown_p99", m.slowdown_p99),
        ("slowdown_p999", m.slowdown_p999),
        ("timeouts", real(m.timeouts)),
        ("tail_timeouts", real(m.tail_timeouts)),
        ("syn_timeouts", real(m.syn_timeouts)),
        ("tail_probes", real(m.tail_probes)),
        ("window_probes", real(m.window_probes)),
        ("timers", real(m.timers)),
        ("timeout_rate", m.timeout_rate),
        ("retransmissions", real(m.retransmissions)),
        ("after_timeout", real(m.after_timeout)),
        ("packets", real(m.packets)),
        ("fairness", m.fairness),
        ("flows_completed", real(m.flows_completed)),
        ("flows_failed", real(m.flows_failed)),
        ("flows_unfinished", real(m.flows_unfinished)),
        ("flows_late", real(m.flows_late)),
        ("goodput_p50_bps", m.goodput_p50_bps),
        ("goodput_weighted_bps", m.goodput_weighted_bps),
        ("bound_p50_us", m.bound_p50_us),
        ("bound_p99_us", m.bound_p99_us),
        ("bound_max_us", m.bound_max_us),
        ("active", m.active),
        ("held_up", m.held_up),
    ];
    let parts = METRICS[METRICS.len() - 16..].iter();
    let parts = parts.map(|column| column.name);
    values.extend(parts.zip(split_values(m.breakdown.as_ref())));
    values
}

/// The columns of the parts of [`METRICS`]: of all flows, or of the slowest.
pub fn part_columns(slowest: bool) -> &'static [Column] {
    let first = METRICS.len() - if slowest { 8 } else { 16 };
    &METRICS[first..first + 8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Part;
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
        let single = METRICS.len() - 16;
        let values = metric_values(&outcome.metrics);
        for (column, value) in METRICS.iter().zip(values).take(single) {
            // A value that does not exist is null.
            let known = Some(value).filter(|value| value.is_finite());
            assert_eq!(metrics[column.name].as_f64(), known, "{}", column.name);
        }
        // The parts of completion times stand in two objects of their own.
        let mut expected = names(&METRICS[..METRICS.len() - 16]);
        expected.push("breakdown".to_owned());
        assert_eq!(fields(metrics), expected);
        assert_eq!(
            fields(serde_json::to_value(outcome.cost).unwrap()),
            names(COST)
        );
    }

    #[test]
    fn the_parts_of_completion_times_have_their_names() {
        for (slowest, prefix) in [(false, "fct"), (true, "tail")] {
            let names = part_columns(slowest).iter().map(|column| column.name);
            let expected = Part::ALL.map(|part| format!("{prefix}_{}_us", part.name()));
            assert_eq!(names.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn groups_have_every_metric_but_those_of_the_network() {
        let scenario = Scenario::builtin("incast");
        let point = &scenario.points()[0];
        let mut keys = (*point.keys).clone();
        keys.run.classes = base::Quantity::parse("1KB").unwrap();
        let classes = plan::PointSpec {
            keys: keys.into(),
            ..point.clone()
        };
        let outcome = run::run(&classes).unwrap();
        let values = group_values(&outcome.groups[0]);
        let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
        let all = METRICS.iter().map(|column| column.name);
        let own: Vec<_> = all
            .filter(|name| !plan::metric::is_of_network(name))
            .collect();
        assert_eq!(names, own);
    }
}
