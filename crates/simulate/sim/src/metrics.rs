//! The metrics of a simulation.

mod collective;
mod ports;

use std::fmt;

use base::Sort as _;
use serde::{Deserialize, Serialize};

pub use crate::failure::FlowFailure;
use crate::parts::{Breakdown, Split};
use base::cast::real;
pub use collective::{CollectiveMetrics, HeldUp};
pub use ports::{PortRecord, TierMetrics};

/// Declares [`Metrics`] and [`GroupMetrics`]. They differ only in the metrics of the network.
macro_rules! metrics {
    (
        flows: { $($(#[$first_at:meta])* $first:ident: $first_kind:ty,)* }
        network: { $($(#[$network_at:meta])* $network:ident: $network_kind:ty,)* }
        flows: { $($(#[$last_at:meta])* $last:ident: $last_kind:ty,)* }
    ) => {
        /// Results of one simulation. [`columns`](crate::columns) describes each field.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[expect(
            missing_docs,
            reason = "described in `columns`, for people and machines alike"
        )]
        pub struct Metrics {
            $($(#[$first_at])* pub $first: $first_kind,)*
            $($(#[$network_at])* pub $network: $network_kind,)*
            $($(#[$last_at])* pub $last: $last_kind,)*
            pub breakdown: Option<Split>,
        }

        /// Results of one group of flows, or of the flows of one class. [`columns`](crate::columns) describes each
        /// field.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[expect(
            missing_docs,
            reason = "described in `columns`, for people and machines alike"
        )]
        pub struct GroupMetrics {
            /// Its name; for a class its bounds, as in `100KB-10MB`.
            pub group: String,
            $($(#[$first_at])* pub $first: $first_kind,)*
            $($(#[$last_at])* pub $last: $last_kind,)*
            pub breakdown: Option<Split>,
        }

        /// Results of the network.
        pub(crate) struct NetworkMetrics {
            $(pub(crate) $network: $network_kind,)*
        }

        impl Metrics {
            /// Nothing was measured: counts are zero.
            pub const NONE: Self = Self {
                $($first: <$first_kind>::NONE,)*
                $($network: <$network_kind>::NONE,)*
                $($last: <$last_kind>::NONE,)*
                breakdown: None,
            };

            /// Joins the metrics of all flows and of the network.
            pub(crate) fn new(flows: &GroupMetrics, network: &NetworkMetrics) -> Self {
                Self {
                    $($first: flows.$first,)*
                    $($network: network.$network,)*
                    $($last: flows.$last,)*
                    breakdown: flows.breakdown,
                }
            }

            /// All values but the breakdown, in the order of the fields.
            pub(crate) fn values(&self) -> Vec<f64> {
                vec![
                    $(self.$first.value(),)*
                    $(self.$network.value(),)*
                    $(self.$last.value(),)*
                ]
            }
        }

        impl GroupMetrics {
            /// All names and values but the breakdown.
            pub(crate) fn values(&self) -> Vec<(&'static str, f64)> {
                vec![
                    $((stringify!($first), self.$first.value()),)*
                    $((stringify!($last), self.$last.value()),)*
                ]
            }
        }
    };
}

metrics! {
    flows: {
        #[serde(with = "absent")]
        goodput_bps: f64,
        #[serde(with = "absent")]
        fct_mean_us: f64,
        #[serde(with = "absent")]
        fct_p50_us: f64,
        #[serde(with = "absent")]
        fct_p95_us: f64,
        #[serde(with = "absent")]
        fct_p99_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        fct_p999_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        fct_p9999_us: f64,
        #[serde(with = "absent")]
        fct_max_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        round_p50_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        round_p99_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        round_p999_us: f64,
        #[serde(with = "absent", default = "absent::none")]
        round_max_us: f64,
        rounds_completed: Option<u64>,
        rounds_unfinished: Option<u64>,
        #[serde(with = "absent", default = "absent::none")]
        rounds_over_ideal: f64,
        #[serde(with = "absent", default = "absent::none")]
        slowdown_mean: f64,
        #[serde(with = "absent", default = "absent::none")]
        slowdown_p50: f64,
        #[serde(with = "absent", default = "absent::none")]
        slowdown_p99: f64,
        #[serde(with = "absent", default = "absent::none")]
        slowdown_p999: f64,
        timeouts: u64,
        tail_timeouts: u64,
        syn_timeouts: u64,
        tail_probes: u64,
        window_probes: u64,
        timers: u64,
        #[serde(with = "absent")]
        timeout_rate: f64,
        retransmissions: u64,
        after_timeout: u64,
        packets: u64,
        #[serde(with = "absent")]
        fairness: f64,
    }
    network: {
        drops: u64,
        drops_pool: Option<u64>,
        drops_threshold: Option<u64>,
        drops_headroom: Option<u64>,
        drops_link_down: Option<u64>,
        drops_restart: Option<u64>,
        drops_host_gone: Option<u64>,
        drops_lossy: Option<u64>,
        drops_corrupt: Option<u64>,
        marks: u64,
        threshold_crossings: u64,
        queue_mean_bytes: f64,
        queue_p5_bytes: u64,
        queue_p50_bytes: u64,
        queue_p95_bytes: u64,
        queue_max_bytes: u64,
        pool_max_bytes: Option<u64>,
        pfc_pauses: Option<u64>,
        #[serde(with = "absent", default = "absent::none")]
        pfc_paused_us: f64,
        pfc_margin_bytes: Option<u64>,
        pfc_deadlock: Option<u64>,
    }
    flows: {
        pfc_victims: Option<u64>,
        flows_completed: u64,
        flows_failed: u64,
        flows_host_gone: Option<u64>,
        flows_gave_up: Option<u64>,
        flows_unfinished: u64,
        flows_late: u64,
        #[serde(with = "absent")]
        goodput_p50_bps: f64,
        #[serde(with = "absent")]
        goodput_weighted_bps: f64,
        #[serde(with = "absent")]
        bound_p50_us: f64,
        #[serde(with = "absent")]
        bound_p99_us: f64,
        #[serde(with = "absent")]
        bound_max_us: f64,
        #[serde(with = "absent")]
        active: f64,
        #[serde(with = "absent")]
        held_up: f64,
    }
}

/// A kind of number that a metric is.
trait Value {
    /// Nothing was measured.
    const NONE: Self;

    /// The real number; `NaN` if there is none.
    fn value(self) -> f64;
}

impl Value for f64 {
    const NONE: Self = Self::NAN;

    fn value(self) -> f64 {
        self
    }
}

impl Value for u64 {
    const NONE: Self = 0;

    fn value(self) -> f64 {
        real(self)
    }
}

impl Value for Option<u64> {
    const NONE: Self = None;

    fn value(self) -> f64 {
        self.map_or(f64::NAN, real)
    }
}

/// The cost of a simulation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "described in `columns`, for people and machines alike"
)]
pub struct RunCost {
    pub simulated_us: f64,
    pub packet_hops: u64,
    pub events: u64,
    pub cpu_us: f64,
    pub ns_per_hop: f64,
}

/// A number that a flow may lack. It takes eight bytes instead of the sixteen of an `Option`, because each of a million
/// flows has five of them.
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
    /// The reason, if it failed.
    pub failure: Option<FlowFailure>,
    /// Whether its connection waited for a pause although the port that it went on to was idle; none without pauses.
    pub pfc_victim: Option<bool>,
    /// The parts of `fct_us`; `None` if they are not known, or were not asked for.
    pub breakdown: Option<Box<Breakdown>>,
}

impl FlowRecord {
    /// Timers that expired while they held the flow up, of every kind.
    pub fn timers(&self) -> u32 {
        self.timeouts + self.syn_timeouts + self.tail_probes + self.window_probes
    }
}

/// Everything that comes out of one simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Results.
    pub metrics: Metrics,
    /// Results of each group of flows, if the scenario has groups, and then of each class, if it has
    /// classes.
    pub groups: Vec<GroupMetrics>,
    /// The cost of the simulation.
    pub cost: RunCost,
    /// Every flow.
    pub flows: Vec<FlowRecord>,
    /// Every port.
    pub ports: Vec<PortRecord>,
    /// Every tier of ports, from the hosts upwards.
    pub tiers: Vec<TierMetrics>,
    /// A number that any difference in any packet-hop changes.
    pub digest: u64,
    /// The collectives of each group that has any.
    pub collectives: Vec<CollectiveMetrics>,
    /// Nodes that wait for each other for good, as in `switch 0 -> switch 1 -> switch 0`; empty without a deadlock.
    #[serde(default)]
    pub deadlock: String,
}

/// Numbers that may be `NaN`, for "there is none". Text formats have no `NaN` and get null. Results of other
/// measurements and of earlier versions may lack some of them.
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
/// With fewer than 1,000 values the 99.9th percentile would be the greatest value under another name, and so would the
/// 99.99th with fewer than 10,000. These are `NaN`.
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
        values.order_by(f64::total_cmp);
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

/// The least of the sorted values that at least `parts` of [`WHOLE`] of the values do not exceed.
fn nearest_rank(sorted: &[f64], parts: usize) -> f64 {
    let rank = (sorted.len() * parts).div_ceil(WHOLE).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// The unit of percentiles: the number of parts that make the whole.
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
