//! The port that metrics of the queue are about.

use fabric::{PortId, QueueStatistics};
use plan::PointSpec;
use plan::keys::TopologyKind;

use crate::world::Ended;

/// The port in front of the first receiver, or between the switches of a dumbbell; in a graph, where no port is known to
/// be the bottleneck, the port of a switch that dropped most, and of ports that dropped equally many the one with the
/// longest mean queue.
pub(super) fn of(ended: &Ended, point: &PointSpec, queues: &[QueueStatistics]) -> PortId {
    if point.keys.topology.kind != TopologyKind::Graph {
        return ended.bottleneck;
    }
    let ports = (0..).zip(ended.network.ports()).zip(queues);
    let switches = ports.filter(|((_, port), _)| !port.host_ends().0);
    let measured = switches.map(|((number, port), queue)| {
        let badness = (port.counters().drops, queue.mean);
        (PortId(number), badness)
    });
    // Of ports that are alike the first, and the usual one where all are idle.
    let worst = measured.fold((ended.bottleneck, (0, 0.0)), |worst, port| {
        let (drops, mean) = port.1;
        let is_worse = drops > worst.1.0 || drops == worst.1.0 && mean > worst.1.1;
        if is_worse { port } else { worst }
    });
    worst.0
}
