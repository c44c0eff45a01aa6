//! The port whose queue the metrics describe.

use fabric::{PortId, QueueStatistics};
use plan::PointSpec;
use plan::keys::TopologyKind;

use crate::world::Ended;

/// The port in front of the first receiver, or the port between the switches of a dumbbell. In a graph no port is known
/// to be the bottleneck: there it is the switch port that dropped most; among equals, the one with the longest mean
/// queue.
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
    // Among equal ports the first one counts. If all are idle, the usual port does.
    let worst = measured.fold((ended.bottleneck, (0, 0.0)), |worst, port| {
        let (drops, mean) = port.1;
        let is_worse = drops > worst.1.0 || drops == worst.1.0 && mean > worst.1.1;
        if is_worse { port } else { worst }
    });
    worst.0
}
