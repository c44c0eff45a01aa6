//! Checks the flows that chosen losses name.

use crate::problem::Problem;
use plan::PointSpec;
use plan::keys::LostSegments;
use plan::workload::Plan;

/// The error of a point that loses segments of a flow that does not exist.
pub(super) fn unknown_flow(point: &PointSpec) -> Option<Problem> {
    let keys = &point.keys;
    let own = keys.topology.exceptions.0.iter();
    let all = own
        .map(|exception| &exception.own.lose)
        .chain([&keys.bottleneck.lose]);
    let last = all.filter_map(LostSegments::last_flow).max()?;
    let flows = Plan::of(point).flows.len();
    if u64::from(last) < flows as u64 {
        return None;
    }
    let problem = Problem::new(format!(
        "segments of flow {last} shall be lost, but a simulation has only {flows} flows"
    ));
    Some(problem.help("flows are numbered from 0, as in the results"))
}
