//! The meaning of the numbers in results: one description for tables, CSV, JSON and `explain results`.

use base::Column;

pub use plan::metric::METRICS;

use crate::metrics::{GroupMetrics, Metrics};
use crate::parts::Split;

/// The meaning of each part of a completion time, in the order of [`Part`](crate::breakdown::Part).
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

/// The columns of [`RunCost`](crate::metrics::RunCost), in the order of its fields.
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

/// The values of [`METRICS`], in the same order; `NaN` for a missing value.
pub fn metric_values(metrics: &Metrics) -> Vec<f64> {
    let mut values = metrics.values();
    values.extend(split_values(metrics.breakdown.as_ref()));
    values
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

/// The numbers of a group of flows, with the names of [`METRICS`].
pub fn group_values(metrics: &GroupMetrics) -> Vec<(&'static str, f64)> {
    let mut values = metrics.values();
    let parts = METRICS[METRICS.len() - 16..].iter();
    let parts = parts.map(|column| column.name);
    values.extend(parts.zip(split_values(metrics.breakdown.as_ref())));
    values
}

/// The columns for the parts in [`METRICS`]: of all flows, or of the slowest.
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
        // The parts of completion times are in two objects of their own.
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
