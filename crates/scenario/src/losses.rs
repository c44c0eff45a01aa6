//! Flows that are named where segments are lost.

use crate::PointSpec;
use crate::problem::Problem;
use crate::workload::Plan;

/// What is wrong with a point whose `bottleneck.lose` names a flow that is not there.
pub(super) fn unknown_flow(point: &PointSpec) -> Option<Problem> {
    let last = point.keys.bottleneck.lose.last_flow()?;
    let flows = Plan::of(point).flows.len();
    if u64::from(last) < flows as u64 {
        return None;
    }
    let problem = Problem::new(format!(
        "bottleneck.lose names flow {last}, and a simulation has {flows} flows"
    ));
    Some(problem.help("flows are numbered from 0, as in the results"))
}
