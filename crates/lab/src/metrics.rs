//! Stub of what a simulation measures.

use serde::Serialize;

/// Results of one simulation.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "a stub with the names of the real one")]
pub struct Metrics {
    pub goodput_bps: f64,
    pub fct_mean_us: f64,
    pub fct_p50_us: f64,
    pub fct_p95_us: f64,
    pub fct_p99_us: f64,
    pub fct_max_us: f64,
    pub timeouts: u64,
    pub retransmissions: u64,
    pub drops: u64,
    pub marks: u64,
    pub threshold_crossings: u64,
    pub queue_mean_bytes: f64,
    pub queue_p50_bytes: u64,
    pub queue_p95_bytes: u64,
    pub queue_max_bytes: u64,
    pub flows_completed: u64,
    pub flows_failed: u64,
}

/// What a simulation cost.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "a stub with the names of the real one")]
pub struct Cost {
    pub simulated_us: f64,
    pub packet_hops: u64,
    pub events: u64,
    pub wall_us: f64,
    pub ns_per_hop: f64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "a stub with the names of the real one")]
pub struct FlowRecord {
    pub flow: u32,
    pub sender: u32,
    pub receiver: u32,
    pub size_bytes: u64,
    pub start_us: f64,
    pub completion_us: Option<f64>,
    pub fct_us: Option<f64>,
    pub retransmissions: u64,
    pub timeouts: u64,
}

/// Everything that comes out of one simulation.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "a stub with the names of the real one")]
pub struct Outcome {
    pub metrics: Metrics,
    pub cost: Cost,
    pub flows: Vec<FlowRecord>,
    pub digest: u64,
}
