//! Whether a simulation ends sooner on several threads.

use std::num::NonZeroUsize;

use base::cast::real;
use plan::PointSpec;
use plan::work::Work;
use plan::workload::Plan;

use super::partition::Partition;

/// Whether a simulation is so long that dividing it may pay off. O(groups).
pub(super) fn has_enough_to_do(point: &PointSpec) -> bool {
    Work::of(point, false).steps() >= LEAST_STEPS
}

/// Whether each thread will probably have enough to do in each window. O(flows).
pub(super) fn is_likely(
    point: &PointSpec,
    plan: &Plan,
    partition: &Partition,
    threads: NonZeroUsize,
) -> bool {
    let threads = real(threads.get().min(partition.parts()) as u64);
    let windows = seconds(point, plan) / partition.window().as_secs();
    Work::of(point, false).steps() >= LEAST_PER_WINDOW * threads * windows
}

/// How long the flows take at least: from the first start to the last, or the time that the busiest host's bytes need
/// on its link.
fn seconds(point: &PointSpec, plan: &Plan) -> f64 {
    let starts = plan.flows.iter().map(|flow| flow.start);
    let span = starts.clone().max().map_or(0.0, |last| {
        last.since(starts.min().unwrap_or(last)).as_secs()
    });
    let mut of_hosts = vec![[0_u64; 2]; plan.topology.hosts().len()];
    for flow in &plan.flows {
        let connection = &plan.connections[flow.connection as usize];
        for (end, host) in [connection.sender, connection.receiver]
            .into_iter()
            .enumerate()
        {
            let bytes = &mut of_hosts[host.0 as usize][end];
            *bytes = bytes.saturating_add(flow.size.unwrap_or(0));
        }
    }
    let most = of_hosts.into_iter().flatten().max().unwrap_or(0);
    let duration = point.keys.run.duration.0;
    let whole = span.max(8.0 * real(most) / real(point.keys.link.rate.as_bps()));
    duration.map_or(whole, |duration| whole.min(duration.as_secs()))
}

/// Steps below which a simulation is over before threads gain anything: half a second.
const LEAST_STEPS: f64 = 5e6;
/// Steps of each thread in each window below which it mostly waits. With 170 steps in a window for two threads
/// together, two were slower than one by a tenth; with 300 they were 1.5 times as fast.
const LEAST_PER_WINDOW: f64 = 100.0;
