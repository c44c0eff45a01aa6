//! The results so far in the format of Prometheus.

use std::fmt::{self, Write};

use observed::{Observation, ObservedVerdict};

use base::cast::real;

/// The text format of Prometheus, for one device or several.
pub(super) fn text(seen: &[Observation]) -> String {
    let labels =
        |seen: &Observation| format!("device=\"{}\",netns=\"{}\"", seen.device, seen.netns);
    let mut out = String::new();
    // Samples of a metric follow each other.
    let all: Vec<_> = seen
        .iter()
        .map(|seen| (labels(seen), numbers(seen)))
        .collect();
    let first = all.first().map(|(_, numbers)| numbers);
    for (place, (name, kind, help, _)) in first.into_iter().flatten().enumerate() {
        line(
            &mut out,
            format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"),
        );
        for (labels, numbers) in &all {
            let (.., value) = numbers[place];
            line(&mut out, format_args!("{name}{{{labels}}} {value}"));
        }
    }
    let name = "tailwater_observed_verdict";
    let head = format_args!("# HELP {name} 1 for the verdict so far.\n# TYPE {name} gauge");
    line(&mut out, head);
    for seen in seen {
        let labels = labels(seen);
        for verdict in ObservedVerdict::ALL {
            let is = u8::from(verdict == seen.judged.verdict);
            let verdict = verdict.name();
            let sample = format_args!("{name}{{{labels},verdict=\"{verdict}\"}} {is}");
            line(&mut out, sample);
        }
    }
    out
}

fn line(out: &mut String, text: fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string succeeds");
}

/// Name, type, help and value.
type Number = (&'static str, &'static str, &'static str, f64);

fn numbers(seen: &Observation) -> Vec<Number> {
    [of_flows(seen).as_slice(), &of_queue(seen)].concat()
}

/// The numbers of packets and flows.
fn of_flows(seen: &Observation) -> [Number; 9] {
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
    ]
}

/// The numbers of the queue, of waiting and of watching.
fn of_queue(seen: &Observation) -> [Number; 4] {
    let queue = seen.queue.as_ref();
    [
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_samples_of_their_own_behind_one_help() {
        let seen = ["eth1", "eth2"].map(|device| Observation {
            device: device.to_owned(),
            drops: 7,
            ..Observation::default()
        });
        let text = text(&seen);
        let drops = "\
# HELP tailwater_observed_drops_total Packets that the queue of the device dropped.
# TYPE tailwater_observed_drops_total counter
tailwater_observed_drops_total{device=\"eth1\",netns=\"\"} 7
tailwater_observed_drops_total{device=\"eth2\",netns=\"\"} 7
";
        assert!(text.contains(drops), "{text}");
        let quiet = "device=\"eth2\",netns=\"\",verdict=\"quiet\"} 1\n";
        assert!(text.ends_with(quiet), "{text}");
        assert_eq!(text.matches("# TYPE").count(), 14);
    }
}
