//! The records of ports, one by one and by tier.

use base::Sort as _;
use base::Time;
use fabric::{BufferDrops, FaultDrops, Network, PauseReport, PortId, QueueStatistics};
use plan::keys::Faults;

use crate::metrics::{PortRecord, TierMetrics};
use crate::world::Ended;

/// The tiers, from the hosts upwards, in the order of their first ports.
pub(super) fn tiers(ports: &[PortRecord]) -> Vec<TierMetrics> {
    let mut tiers: Vec<TierMetrics> = Vec::new();
    for port in ports {
        let tier = tiers.iter_mut().find(|tier| tier.tier == port.tier);
        let Some(tier) = tier else {
            tiers.push(TierMetrics {
                tier: port.tier.clone(),
                ports: 1,
                drops: port.drops,
                marks: port.marks,
                worst: format!("{} to {}", port.from, port.to),
                worst_drops: port.drops,
                worst_queue_max_bytes: port.queue_max_bytes,
            });
            continue;
        };
        tier.ports += 1;
        tier.drops += port.drops;
        tier.marks += port.marks;
        let worst = (tier.worst_drops, tier.worst_queue_max_bytes);
        if (port.drops, port.queue_max_bytes) > worst {
            tier.worst = format!("{} to {}", port.from, port.to);
            (tier.worst_drops, tier.worst_queue_max_bytes) = (port.drops, port.queue_max_bytes);
        }
    }
    tiers.order_by_key(|tier| tier_order(&tier.tier));
    tiers
}

/// Hosts first, then the way up, then the way down.
fn tier_order(tier: &str) -> usize {
    let known = ["host", "up", "spine", "core", "switch", "down"];
    let place = known.iter().position(|known| tier.ends_with(known));
    place.unwrap_or(known.len())
}

pub(super) fn records(
    ended: &Ended,
    queues: &[QueueStatistics],
    (pauses, end): (Option<&PauseReport>, Time),
) -> Vec<PortRecord> {
    let place = |port| {
        let mut cycle = pauses.into_iter().flat_map(|pauses| &pauses.deadlock);
        cycle
            .position(|one| *one == port)
            .map_or(0, |place| place as u64 + 1)
    };
    let names = ended.topology.names();
    let ports = ended.network.ports().iter().zip(queues);
    let record = |(port, (state, queue)): (u32, (&fabric::Port, &QueueStatistics))| {
        let id = PortId(port);
        let (from, to) = ended.topology.ends(id);
        let counters = state.counters();
        let refusals = ended.network.refusals(id);
        let paused = ended.network.paused(id, end);
        PortRecord {
            port,
            tier: ended.topology.tier(id),
            from: names[from.0 as usize].clone(),
            to: names[to.0 as usize].clone(),
            bottleneck: id == ended.bottleneck,
            packets: counters.packets,
            bytes: counters.bytes,
            drops: counters.drops,
            drops_pool: refusals.pool,
            drops_threshold: refusals.threshold,
            drops_headroom: refusals.headroom,
            drops_fault: ended.network.fault_drops(id).all(),
            marks: counters.marks,
            threshold_crossings: counters.threshold_crossings,
            queue_mean_bytes: queue.mean,
            queue_p50_bytes: queue.p50,
            queue_p95_bytes: queue.p95,
            queue_p99_bytes: queue.p99,
            queue_max_bytes: counters.max_waiting_bytes,
            pauses: paused.pauses,
            paused_us: paused.time.as_micros(),
            deadlock: place(id),
        }
    };
    (0..).zip(ports).map(record).collect()
}

/// Packets that all ports dropped because the shared buffer was full; `None` without a shared buffer.
pub(super) fn refused(network: &Network, count: fn(&BufferDrops) -> u64) -> Option<u64> {
    network.pool_most()?;
    let ports = (0..).map(PortId).zip(network.ports());
    Some(ports.map(|(port, _)| count(&network.refusals(port))).sum())
}

/// Packets that all ports lost by faults; `None` if the settings have no faults.
pub(super) fn by_faults(network: &Network, faults: &Faults) -> Option<FaultDrops> {
    let ports = (0..).map(PortId).take(network.ports().len());
    let all = || ports.map(|port| network.fault_drops(port)).sum();
    (!faults.0.is_empty()).then(all)
}

/// Lossless packets that all ports dropped.
pub(super) fn headroom(network: &Network) -> u64 {
    let ports = (0..).map(PortId).zip(network.ports());
    ports.map(|(port, _)| network.refusals(port).headroom).sum()
}

/// The nodes of a deadlock in order; empty if there is none.
pub(super) fn deadlock(ports: &[PortRecord]) -> String {
    let mut cycle: Vec<&PortRecord> = ports.iter().filter(|port| port.deadlock > 0).collect();
    cycle.order_by_key(|port| port.deadlock);
    let nodes = cycle
        .iter()
        .chain(cycle.first())
        .map(|port| port.from.as_str());
    nodes.collect::<Vec<_>>().join(" -> ")
}
