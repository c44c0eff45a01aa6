//! Hints about settings that are allowed but probably not intended.

use base::Ordered as _;
use base::cast::{real, whole};
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
        "add random delays at hosts, as in link.jitter=auto: with random starts alone senders keep step",
    ))
}

/// A hint that flows share an unlimited first-in-first-out queue at their host, in which a flow without an end leaves
/// little for the others.
pub(super) fn starving(points: &[PointSpec]) -> Option<Problem> {
    // A plan costs as much as its flows, so only the first such point is checked.
    let point = points.iter().find(|point| has_endless(point))?;
    let keys = &point.keys;
    // If hosts queue as switches do, switch.buffer limits these queues.
    if keys.host.queue != HostQueue::Own || keys.host.buffer.0.is_some() {
        return None;
    }
    let plan = Plan::of(point);
    let sender = |flow: &PlannedFlow| plan.connections[flow.connection as usize].sender;
    let mut flows = vec![(0_u32, false); plan.topology.hosts().len()];
    for flow in &plan.flows {
        let host = &mut flows[sender(flow).0 as usize];
        host.0 += 1;
        // With small queues, data waits in the socket instead.
        let small = point.groups[flow.group as usize].keys.tcp.small_queues;
        host.1 |= flow.size.is_none() && !small;
    }
    let host = flows
        .iter()
        .position(|(count, endless)| *count > 1 && *endless)?;
    let problem = Problem::warning(format!(
        "host {host} sends a flow without end together with others, and host.buffer = unlimited: if its own link is the \
         bottleneck, that flow fills the queue there and starves the others"
    ));
    Some(problem.help(
        "bound the queue, as in host.buffer=100pkt, or tcp.receive_buffer, or set tcp.small_queues=true",
    ))
}

/// A hint that queues with a shared buffer drop before they mark when many are busy. With n busy queues the threshold
/// of each is alpha B / (1 + n alpha), which stays above K for n < B / K - 1 / alpha.
pub(super) fn late_marks(points: &[PointSpec]) -> Option<Problem> {
    let acts = |point: &&PointSpec| {
        let mut groups = point.groups.iter();
        groups.any(|group| {
            group
                .marking()
                .is_some_and(|threshold| !threshold.is_empty())
        })
    };
    let of = |point: &PointSpec| {
        let (switch, packet) = (&point.keys.switch, point.keys.packet_bytes());
        // Lossless queues are limited by the incoming ports, and they do not drop.
        if switch.pfc.is_all() {
            return None;
        }
        let pool = real(switch.pool.bytes(packet)?);
        let threshold = real(switch.ecn_threshold.0?.in_bytes(packet));
        let alphas = switch.pool_alpha.of(switch.pool);
        let alpha = alphas.into_iter().fold(f64::INFINITY, f64::min);
        let queues = whole((pool / threshold - 1.0 / alpha).ceil());
        Some((queues, switch.ecn_threshold.0?, alpha))
    };
    let points = points
        .iter()
        .filter(acts)
        .filter_map(|point| Some((point, of(point)?)));
    // A plan costs as much as its flows, so only the point with the fewest such queues is checked.
    let (point, (queues, threshold, alpha)) = points.min_by_key(|(_, (queues, ..))| *queues)?;
    let plan = Plan::of(point);
    let receivers = plan.connections.iter().map(|connection| {
        let port = plan.topology.host_port(connection.receiver);
        (plan.topology.ends(port).1.0, connection.receiver.0)
    });
    let receivers: Vec<(u32, u32)> = receivers.into_set().into_iter().collect();
    let at_switches = receivers.chunk_by(|(one, _), (other, _)| one == other);
    let most = at_switches.map(<[_]>::len).max().unwrap_or(0) as u64;
    if most < queues {
        return None;
    }
    let problem = Problem::warning(format!(
        "{most} hosts at one switch receive, and when {queues} of their queues are busy, the dynamic threshold of each lies \
         below switch.ecn_threshold = {threshold}: they drop before they mark"
    ));
    Some(problem.help(format!(
        "queues mark before they drop only if fewer than B / K - 1 / alpha are busy, where B is switch.pool, K \
         switch.ecn_threshold and alpha = {alpha}: lower switch.ecn_threshold or raise switch.pool"
    )))
}

fn has_endless(point: &PointSpec) -> bool {
    let endless = |group: &Group| {
        let workload = &group.keys.workload;
        workload.size.is_unlimited() && workload.kind != WorkloadKind::Trace
    };
    point.groups.iter().any(endless)
}
