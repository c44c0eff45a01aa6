//! Results of ports and of their tiers.

use serde::{Deserialize, Serialize};

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
    /// Packets dropped, by the queue, `bottleneck.loss`, `switch.loss` or `topology.faults`.
    pub drops: u64,
    /// Drops because the shared buffer was full.
    pub drops_pool: u64,
    /// Drops because the queue held its share of that buffer.
    pub drops_threshold: u64,
    /// Drops of lossless packets because the headroom was full.
    pub drops_headroom: u64,
    /// Packets lost by faults, on the wire behind the port, too.
    pub drops_fault: u64,
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
    /// How often the node at the other end paused a priority here.
    pub pauses: u64,
    /// Total time of these pauses, all priorities together.
    pub paused_us: f64,
    /// Its place in a deadlock, from 1: packets that wait at the next place pause it; 0 if it is in none.
    pub deadlock: u64,
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
    /// Both ends of the worst port: `leaf 0 to host 3`. It dropped most; among equals, it had the longest queue.
    pub worst: String,
    /// Packets that the worst port dropped.
    pub worst_drops: u64,
    /// The longest queue of the worst port.
    pub worst_queue_max_bytes: u64,
}
