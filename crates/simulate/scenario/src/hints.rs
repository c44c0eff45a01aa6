//! Hints about what is allowed and probably not meant.

use plan::keys::{HostQueue, WorkloadKind};
use plan::workload::{Plan, PlannedFlow};
use plan::{Group, PointSpec};

use crate::Problem;

/// A hint that all seeds give the same result.
pub(super) fn unused_seeds(points: &[PointSpec], seeds: u32) -> Option<Problem> {
    if seeds < 2 || points.iter().any(PointSpec::is_random) {
        return None;
    }
    let problem = Problem::warning(format!(
        "nothing in this scenario is random, so {seeds} seeds give {seeds} times the same result"
    ));
    Some(problem.help(
        "let packets of hosts be late by random times, as in link.jitter=auto: random starts alone leave senders in step",
    ))
}

/// A hint that flows of one host share an endless first-in-first-out queue there, in which one without an end leaves
/// the others little.
pub(super) fn starving(points: &[PointSpec]) -> Option<Problem> {
    // A plan costs as much as its flows: the first such point stands for all.
    let point = points.iter().find(|point| has_endless(point))?;
    let keys = &point.keys;
    // Where hosts queue as switches do, switch.buffer bounds them.
    if keys.host.queue != HostQueue::Own || keys.host.buffer.0.is_some() {
        return None;
    }
    let plan = Plan::of(point);
    let sender = |flow: &PlannedFlow| plan.connections[flow.connection as usize].sender;
    let mut flows = vec![(0_u32, false); plan.topology.hosts().len()];
    for flow in &plan.flows {
        let host = &mut flows[sender(flow).0 as usize];
        host.0 += 1;
        // What small queues keep back waits in its socket.
        let small = point.groups[flow.group as usize].keys.tcp.small_queues;
        host.1 |= flow.size.is_none() && !small;
    }
    let host = flows
        .iter()
        .position(|(count, endless)| *count > 1 && *endless)?;
    let problem = Problem::warning(format!(
        "host {host} sends a flow without end beside others, and host.buffer = unlimited: where its own link is the \
         bottleneck, that flow fills the queue there and starves the others"
    ));
    Some(problem.help(
        "bound the queue, as in host.buffer=100pkt, or tcp.receive_buffer, or set tcp.small_queues=true",
    ))
}

fn has_endless(point: &PointSpec) -> bool {
    let endless = |group: &Group| {
        let workload = &group.keys.workload;
        workload.size.is_unlimited() && workload.kind != WorkloadKind::Trace
    };
    point.groups.iter().any(endless)
}
