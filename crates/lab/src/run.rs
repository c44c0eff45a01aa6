//! Stub of the simulation: made-up numbers of the right types, so that the command can be built.

use crate::metrics::{Cost, FlowRecord, Metrics, Outcome};
use crate::scenario::PointSpec;

/// Why a simulation failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunError {
    /// The books do not balance.
    #[error("conservation violated: {0}")]
    Conservation(String),
}

/// Not a simulation.
pub fn run(point: &PointSpec) -> Result<Outcome, RunError> {
    let slow = if point.bundle == "rcc" {
        0
    } else {
        u64::from(point.keys.workload.senders.0)
    };
    let n = f64::from(point.keys.workload.senders.0);
    let fct = |share: f64| {
        share * n * 350.0 * if slow > 50 { 3.1 } else { 1.0 }
            + f64::from(u32::try_from(point.seed).unwrap_or(0))
    };
    let unlimited = point.keys.workload.size.0.is_none();
    let fct = |share| if unlimited { f64::NAN } else { fct(share) };
    Ok(Outcome {
        metrics: Metrics {
            goodput_bps: 9.4e8 / if slow > 50 { 2.0 } else { 1.0 },
            fct_mean_us: fct(0.6),
            fct_p50_us: fct(0.5),
            fct_p95_us: fct(0.95),
            fct_p99_us: fct(0.99),
            fct_max_us: fct(1.0),
            timeouts: slow / 2,
            retransmissions: slow,
            drops: slow,
            marks: slow * 3,
            threshold_crossings: slow * 3,
            queue_mean_bytes: 35_400.0 + n,
            queue_p50_bytes: 34_500,
            queue_p95_bytes: 52_500,
            queue_max_bytes: 57_000 + slow,
            flows_completed: u64::from(point.keys.workload.senders.0),
            flows_failed: 0,
        },
        cost: Cost {
            simulated_us: 5.0e4,
            packet_hops: 100_000,
            events: 110_000,
            wall_us: 7_000.0,
            ns_per_hop: 70.0,
        },
        flows: vec![FlowRecord {
            flow: 0,
            sender: 1,
            receiver: 0,
            size_bytes: 32_768,
            start_us: 10_000.0,
            completion_us: Some(20_000.0),
            fct_us: Some(10_000.0),
            retransmissions: 0,
            timeouts: 0,
        }],
        digest: 0x1234_5678_9abc_def0 ^ point.seed,
    })
}
