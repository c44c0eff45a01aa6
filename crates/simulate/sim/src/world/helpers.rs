//! The layer that hosts add below TCP, each group to its own flows.

use std::collections::BTreeMap;

use base::{HostId, Packet, Time};
use fabric::Topology;
use plan::PointSpec;
use plan::workload::PlannedConnection;
use schemes::{Roles, Sender};
use tcp::{Host, HostHelper, Plays, ReceiverCc, Slot};

use super::Connection;
use super::deadlines::Helper;
use super::facts::{host_info, host_rates};

/// The additions of each host below TCP; empty if no group has any.
pub(super) fn host_helpers<R: Plays<dyn ReceiverCc>>(
    (hosts, topology): (&[Host<Sender, R>], &Topology),
    point: &PointSpec,
    roles: &[Roles],
    (planned, connections): (&[PlannedConnection], &[Connection]),
) -> Vec<Helper> {
    if roles.iter().all(|roles| roles.host.is_none()) {
        return Vec::new();
    }
    let mut groups: Vec<Vec<u32>> = hosts
        .iter()
        .map(|host| vec![NOBODY; host.slots()])
        .collect();
    for (plan, connection) in planned.iter().zip(connections) {
        for (host, slot) in [connection.sender, connection.receiver] {
            groups[host.0 as usize][slot.0 as usize] = plan.group;
        }
    }
    let make = |host: HostId, group: u32| {
        let make = roles.get(group as usize)?.host.as_ref()?;
        let [_, rate] = host_rates(topology, host);
        Some(make(&host_info(&point.groups[group as usize].keys, rate)))
    };
    let hosts = (0..).map(HostId).zip(groups);
    hosts
        .map(|(host, slots)| helper(slots, &|group| make(host, group)))
        .collect()
}

/// The addition of a host whose connections are of these groups, slot by slot.
fn helper(slots: Vec<u32>, make: &dyn Fn(u32) -> Option<Box<dyn HostHelper>>) -> Helper {
    let mut of_group: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    let mut parts = Vec::new();
    let mut by_slot = Vec::with_capacity(slots.len());
    for group in slots {
        let part = of_group.entry(group).or_insert_with(|| {
            parts.push(make(group)?);
            Some(parts.len() - 1)
        });
        by_slot.push(*part);
    }
    match parts.len() {
        0 => None,
        // All connections have the same addition.
        1 if by_slot.iter().all(Option::is_some) => parts.pop(),
        _ => Some(Box::new(Shared { parts, by_slot })),
    }
}

/// The helpers of several groups at one host, each for the connections of its group.
struct Shared {
    parts: Vec<Box<dyn HostHelper>>,
    /// For each slot the index in `parts`, or `None` for a group without an addition. A slot only passes to a
    /// connection of the same group.
    by_slot: Vec<Option<usize>>,
}

impl Shared {
    fn of(&mut self, slot: Slot) -> Option<&mut Box<dyn HostHelper>> {
        let part = self.by_slot[slot.0 as usize]?;
        Some(&mut self.parts[part])
    }
}

impl HostHelper for Shared {
    fn on_message(&mut self, slot: Slot) {
        if let Some(part) = self.of(slot) {
            part.on_message(slot);
        }
    }

    fn on_outgoing(&mut self, slot: Slot, packet: &mut Packet, now: Time) {
        if let Some(part) = self.of(slot) {
            part.on_outgoing(slot, packet, now);
        }
    }

    fn on_incoming(&mut self, slot: Slot, packet: &mut Packet, now: Time) {
        if let Some(part) = self.of(slot) {
            part.on_incoming(slot, packet, now);
        }
    }
}

/// Stands for the group of a slot without a connection. There is no such slot.
const NOBODY: u32 = u32::MAX;
