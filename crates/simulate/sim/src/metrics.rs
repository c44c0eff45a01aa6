//! What a simulation measures.

use base::cast::real;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::parts::{Breakdown, Split};

/// Results of one simulation. [`columns`](crate::columns) describes each field.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "described in `columns`, for people and machines alike"
)]
pub struct Metrics {
    #[serde(with = "absent")]
    pub goodput_bps: f64,
    #[serde(with = "absent")]
    pub fct_mean_us: f64,
    #[serde(with = "absent")]
    pub fct_p50_us: f64,
    #[serde(with = "absent")]
    pub fct_p95_us: f64,
    #[serde(with = "absent")]
    pub fct_p99_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub fct_p999_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub fct_p9999_us: f64,
    #[serde(with = "absent")]
    pub fct_max_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p50_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p99_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p999_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_max_us: f64,
    pub rounds_completed: Option<u64>,
    pub rounds_unfinished: Option<u64>,
    #[serde(with = "absent", default = "absent::none")]
    pub rounds_over_ideal: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_mean: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p50: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p99: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p999: f64,
    pub timeouts: u64,
    pub tail_timeouts: u64,
    pub syn_timeouts: u64,
    pub tail_probes: u64,
    pub window_probes: u64,
    pub timers: u64,
    #[serde(with = "absent")]
    pub timeout_rate: f64,
    pub retransmissions: u64,
    pub after_timeout: u64,
    pub packets: u64,
    #[serde(with = "absent")]
    pub fairness: f64,
    pub drops: u64,
    pub marks: u64,
    pub threshold_crossings: u64,
    pub queue_mean_bytes: f64,
    pub queue_p5_bytes: u64,
    pub queue_p50_bytes: u64,
    pub queue_p95_bytes: u64,
    pub queue_max_bytes: u64,
    pub flows_completed: u64,
    pub flows_failed: u64,
    pub flows_unfinished: u64,
    pub flows_late: u64,
    #[serde(with = "absent")]
    pub goodput_p50_bps: f64,
    #[serde(with = "absent")]
    pub goodput_weighted_bps: f64,
    #[serde(with = "absent")]
    pub bound_p50_us: f64,
    #[serde(with = "absent")]
    pub bound_p99_us: f64,
    #[serde(with = "absent")]
    pub bound_max_us: f64,
    #[serde(with = "absent")]
    pub active: f64,
    #[serde(with = "absent")]
    pub held_up: f64,
    pub breakdown: Option<Split>,
}

/// Results of one group of flows, or of the flows of one class. [`columns`](crate::columns) describes each field as it does for all
/// flows together.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "described in `columns`, for people and machines alike"
)]
pub struct GroupMetrics {
    /// Its name; of a class its bounds, as in `100KB-10MB`.
    pub group: String,
    #[serde(with = "absent")]
    pub goodput_bps: f64,
    #[serde(with = "absent")]
    pub fct_mean_us: f64,
    #[serde(with = "absent")]
    pub fct_p50_us: f64,
    #[serde(with = "absent")]
    pub fct_p95_us: f64,
    #[serde(with = "absent")]
    pub fct_p99_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub fct_p999_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub fct_p9999_us: f64,
    #[serde(with = "absent")]
    pub fct_max_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p50_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p99_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_p999_us: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub round_max_us: f64,
    pub rounds_completed: Option<u64>,
    pub rounds_unfinished: Option<u64>,
    #[serde(with = "absent", default = "absent::none")]
    pub rounds_over_ideal: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_mean: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p50: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p99: f64,
    #[serde(with = "absent", default = "absent::none")]
    pub slowdown_p999: f64,
    pub timeouts: u64,
    pub tail_timeouts: u64,
    pub syn_timeouts: u64,
    pub tail_probes: u64,
    pub window_probes: u64,
    pub timers: u64,
    #[serde(with = "absent")]
    pub timeout_rate: f64,
    pub retransmissions: u64,
    pub after_timeout: u64,
    pub packets: u64,
    #[serde(with = "absent")]
    pub fairness: f64,
    pub flows_completed: u64,
    pub flows_failed: u64,
    pub flows_unfinished: u64,
    pub flows_late: u64,
    #[serde(with = "absent")]
    pub goodput_p50_bps: f64,
    #[serde(with = "absent")]
    pub goodput_weighted_bps: f64,
    #[serde(with = "absent")]
    pub bound_p50_us: f64,
    #[serde(with = "absent")]
    pub bound_p99_us: f64,
    #[serde(with = "absent")]
    pub bound_max_us: f64,
    #[serde(with = "absent")]
    pub active: f64,
    #[serde(with = "absent")]
    pub held_up: f64,
    pub breakdown: Option<Split>,
}

/// What a simulation cost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "described in `columns`, for people and machines alike"
)]
pub struct Cost {
    pub simulated_us: f64,
    pub packet_hops: u64,
    pub events: u64,
    pub cpu_us: f64,
    pub ns_per_hop: f64,
}

/// A number that a flow may lack: eight bytes where an `Option` has sixteen, for a million flows have five each.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(from = "Option<f64>", into = "Option<f64>")]
pub struct Measured(f64);

impl Measured {
    /// The number, if there is one.
    pub fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl From<Option<f64>> for Measured {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

impl From<Measured> for Option<f64> {
    fn from(number: Measured) -> Self {
        number.get()
    }
}

/// One flow. Times are on the simulation's clock unless the name says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Number of the flow.
    pub flow: u32,
    /// Name of its group; empty if the scenario has none.
    pub group: String,
    /// Number of its connection.
    pub connection: u32,
    /// Number of its round, if its group has rounds.
    pub round: Option<u32>,
    /// Number of the flow whose end let it start, if it waited for others.
    pub waited_for: Option<u32>,
    /// Sending host.
    pub sender: u32,
    /// Receiving host.
    pub receiver: u32,
    /// Payload; `None` for a flow without end.
    pub size_bytes: Option<u64>,
    /// Payload that arrived in order.
    pub received_bytes: u64,
    /// Start at the application.
    pub start_us: f64,
    /// First payload at the receiver, in order or not.
    pub first_byte_us: Measured,
    /// Last byte in order at the receiver.
    pub completion_us: Measured,
    /// From start to completion.
    pub fct_us: Measured,
    /// `fct_us` over the time that the flow would take alone in the network.
    pub slowdown: Measured,
    /// From start to the ACK of the last byte at the sender, of the last flow of a connection.
    pub acknowledged_us: Measured,
    /// From start to the last byte of `workload.first_write` in order at the receiver.
    pub buffered_us: Measured,
    /// Segments with data or FIN sent, by both ends.
    pub packets: u32,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Segments sent again after a timeout rather than in a fast recovery.
    pub after_timeout: u32,
    /// Retransmission timers that expired.
    pub timeouts: u32,
    /// Of these, those with only the last segments outstanding.
    pub tail_timeouts: u32,
    /// Timers of SYNs and SYN-ACKs that expired.
    pub syn_timeouts: u32,
    /// Probes of a tail that nothing acknowledged, each sent by a timer.
    pub tail_probes: u32,
    /// Probes of a closed window, each sent by a timer.
    pub window_probes: u32,
    /// Packets dropped, of both directions.
    pub drops: u32,
    /// Whether it took longer than `workload.deadline`.
    pub late: bool,
    /// Whether the connection gave up or was reset.
    pub failed: bool,
    /// What `fct_us` consists of; none if it is not known, or was not asked for.
    pub breakdown: Option<Box<Breakdown>>,
}

impl FlowRecord {
    /// Timers that expired while they held the flow up, of every kind.
    pub fn timers(&self) -> u32 {
        self.timeouts + self.syn_timeouts + self.tail_probes + self.window_probes
    }
}

/// One port: the queue at one end of a link and the wire behind it, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortRecord {
    /// Number of the port.
    pub port: u32,
    /// Its tier: `host`, `leaf up`, `leaf down`, `spine`.
    pub tier: String,
    /// The node it belongs to: `host 3` or `switch 0`.
    pub from: String,
    /// The node at the other end of the wire.
    pub to: String,
    /// Whether it is the bottleneck whose queue the metrics describe.
    pub bottleneck: bool,
    /// Packets accepted.
    pub packets: u64,
    /// Bytes accepted, headers included.
    pub bytes: u64,
    /// Packets dropped, by the queue, `bottleneck.loss` or `switch.loss`.
    pub drops: u64,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Arrivals that met a queue at or above the marking threshold, ECN-capable or not.
    pub threshold_crossings: u64,
    /// Mean queue from first start to last completion, weighted by time.
    pub queue_mean_bytes: f64,
    /// Median queue.
    pub queue_p50_bytes: u64,
    /// 95th percentile of the queue.
    pub queue_p95_bytes: u64,
    /// 99th percentile of the queue.
    pub queue_p99_bytes: u64,
    /// Longest queue.
    pub queue_max_bytes: u64,
}

/// The ports of one tier: of hosts, or of the switches of one layer in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierMetrics {
    /// `host`, `leaf up`, `leaf down`, `spine`.
    pub tier: String,
    /// How many ports it has.
    pub ports: u64,
    /// Packets that all of them dropped.
    pub drops: u64,
    /// Packets that all of them marked.
    pub marks: u64,
    /// Both ends of the worst port: `leaf 0 to host 3`. It dropped most, or of ports that dropped equally many it had the longest
    /// queue.
    pub worst: String,
    /// Packets that the worst port dropped.
    pub worst_drops: u64,
    /// The longest queue of the worst port.
    pub worst_queue_max_bytes: u64,
}

/// The collectives of one group of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveMetrics {
    /// Name of the group; empty if the scenario has none.
    pub group: String,
    /// Collectives that were complete.
    pub completed: u64,
    /// Time of a collective in an empty network, from the closed form of its algorithm: each message has the mean delay
    /// and the slowest link of all their paths, and carries no headers.
    pub ideal_us: f64,
    /// Mean time of those that were complete.
    pub mean_us: f64,
    /// Time of the slowest of them.
    pub slowest_us: f64,
    /// The message that held up the slowest one most.
    pub held_up: Option<HeldUp>,
}

/// The message that held a collective up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldUp {
    /// Number of the flow.
    pub flow: u32,
    /// Its step within the collective, from 0.
    pub step: u32,
    /// Steps of the collective.
    pub steps: u32,
    /// The host that sent it.
    pub sender: u32,
    /// The host that received it.
    pub receiver: u32,
    /// From the end of the message that it waited for, or the start of the collective, to its own end.
    pub took_us: f64,
    /// The same in an empty network.
    pub ideal_us: f64,
}

/// Everything that comes out of one simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Results.
    pub metrics: Metrics,
    /// Results of each group of flows, if the scenario has groups, and then of each class, if it has
    /// classes.
    pub groups: Vec<GroupMetrics>,
    /// What they cost.
    pub cost: Cost,
    /// Every flow.
    pub flows: Vec<FlowRecord>,
    /// Every port.
    pub ports: Vec<PortRecord>,
    /// Every tier of ports, from the hosts upwards.
    pub tiers: Vec<TierMetrics>,
    /// The collectives of each group that has any.
    pub collectives: Vec<CollectiveMetrics>,
    /// A number that any difference in any packet-hop changes.
    pub digest: u64,
}

/// Numbers that may be `NaN`, for "there is none": null in formats for people, which have no `NaN`. What others measure,
/// and what an earlier version measured, may not name all of them.
mod absent {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) const fn none() -> f64 {
        f64::NAN
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() && value.is_nan() {
            to.serialize_none()
        } else {
            to.serialize_f64(*value)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        if from.is_human_readable() {
            Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
        } else {
            f64::deserialize(from)
        }
    }
}

/// Mean and exact percentiles; `NaN` if there is none.
///
/// The 99.9th percentile of fewer than 1,000 values, and the 99.99th of fewer than 10,000, would be the greatest
/// value under another name. They are `NaN`: there are too few values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distribution {
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) p9999: f64,
    pub(crate) max: f64,
}

impl Distribution {
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let rank = |parts| nearest_rank(&values, parts);
        let rare = |parts| {
            let enough = values.len() * (WHOLE - parts) >= WHOLE;
            if enough { rank(parts) } else { f64::NAN }
        };
        Self {
            mean: values.iter().sum::<f64>() / real(values.len() as u64),
            p50: rank(5_000),
            p95: rank(9_500),
            p99: rank(9_900),
            p999: rare(9_990),
            p9999: rare(9_999),
            max: rank(WHOLE),
        }
    }
}

/// The least value that at least this many parts of [`WHOLE`] of the sorted values do not exceed.
fn nearest_rank(sorted: &[f64], parts: usize) -> f64 {
    let rank = (sorted.len() * parts).div_ceil(WHOLE).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// All values, in the parts that percentiles are told in.
const WHOLE: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_values_of_the_sample() {
        let distribution = Distribution::of((1..=200).rev().map(f64::from).collect());
        let text = format!("{distribution:?}");
        assert_eq!(
            text,
            "Distribution { mean: 100.5, p50: 100.0, p95: 190.0, p99: 198.0, p999: NaN, p9999: NaN, max: 200.0 }"
        );
        assert!(Distribution::of(Vec::new()).p99.is_nan());
    }

    #[test]
    fn percentiles_beyond_the_number_of_values_are_missing() {
        let of = |count: u32| Distribution::of((1..=count).map(f64::from).collect());
        assert!(of(999).p999.is_nan());
        // The 999th of 1,000 values: one is greater.
        assert_eq!(of(1_000).p999.to_string(), "999");
        assert!(of(9_999).p9999.is_nan());
        assert_eq!(of(9_999).p999.to_string(), "9990");
        assert_eq!(of(10_000).p9999.to_string(), "9999");
    }
}
