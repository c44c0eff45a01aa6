//! The Linux counterpart of a point of a scenario: pure data, made without privileges.
//!
//! Every setting becomes a knob of the bed, is refused with a remedy, or is reported as different, with the setting of
//! the simulated twin.

mod limits;
pub(crate) mod settings;

use base::Rate;
use fabric::{Node, NodeId, PortId, Topology};
use machine::{RouteOptions, Sysctl};
use plan::PointSpec;
use plan::workload::Plan;
use scenario::Problems;

use crate::paths;

pub use settings::Different;

/// The network of a point, with the knobs of the kernel.
#[derive(Clone, Debug)]
pub struct Testbed {
    /// Hosts, switches and links, with the scenario's rates.
    pub topology: Topology,
    /// The port whose queue the metrics describe.
    pub bottleneck: PortId,
    /// The watched port: the bottleneck, unless more flows pass another port.
    pub watched: PortId,
    /// Limit of every switch queue, in bytes with Ethernet headers.
    pub switch_limit: u32,
    /// Limit of every host queue.
    pub host_limit: u32,
    /// The queue length in bytes from which switches mark ECN-capable packets.
    pub mark_from: Option<u64>,
    /// Payload of a full segment.
    pub mss: u32,
    /// Attributes of every route of a host.
    pub route: RouteOptions,
    /// Settings of every host below `/proc/sys/net`; a later one overrides an earlier one with the same name.
    pub sysctls: Vec<Sysctl>,
    /// Differences between Linux and the scenario.
    pub different: Vec<Different>,
    /// Settings of the twin by key: the kernel's behaviour, as far as the simulator can follow it.
    pub twin: Vec<(&'static str, String)>,
}

impl Testbed {
    /// The bed of `point`, or why Linux cannot run it.
    pub fn of(point: &PointSpec) -> Result<Self, Problems> {
        limits::check(point)?;
        let plan = Plan::of(point);
        limits::check_plan(&plan)?;
        let keys = &point.keys;
        let packet = u64::from(keys.tcp.mss.0) + u64::from(HEADERS);
        let room = |bytes: Option<u64>| {
            let bytes = bytes.unwrap_or(UNLIMITED.into());
            u32::try_from(bytes).unwrap_or(UNLIMITED).min(UNLIMITED)
        };
        let switch_limit = room(keys.switch.buffer.0.map(|size| size.in_bytes(packet)));
        let own = room(keys.host.buffer.0.map(|size| size.in_bytes(packet)));
        let as_switches = keys.host.queue == plan::keys::HostQueue::Switch;
        let settings = settings::translate(point);
        Ok(Self {
            watched: paths::busiest(&plan.topology, plan.bottleneck, &plan.connections),
            topology: plan.topology,
            bottleneck: plan.bottleneck,
            switch_limit,
            host_limit: if as_switches { switch_limit } else { own },
            mark_from: (keys.switch.ecn_threshold.0).map(|size| size.in_bytes(packet)),
            mss: keys.tcp.mss.0,
            route: settings.route,
            sysctls: settings.sysctls,
            different: settings.different,
            twin: settings.twin,
        })
    }

    /// The bed of `point` with these additional settings of hosts, or why Linux cannot run it.
    pub fn with_sysctls(point: &PointSpec, sysctls: &[Sysctl]) -> Result<Self, Problems> {
        let mut bed = Self::of(point)?;
        bed.sysctls.extend_from_slice(sysctls);
        Ok(bed)
    }

    /// Bytes of a full packet in a queue: payload, headers and 14 bytes of Ethernet.
    pub fn packet_bytes(&self) -> u32 {
        self.mss + HEADERS
    }

    /// The number of full packets that fit into this many bytes, because a band counts packets.
    pub fn room_of_band(&self, limit: u32) -> u32 {
        (limit / self.packet_bytes()).max(1)
    }

    /// The largest IP packet of every link: a full segment with timestamps.
    pub fn mtu(&self) -> u32 {
        self.mss + HEADERS - ETHERNET
    }

    /// The rate of the fastest link in either direction.
    ///
    /// # Panics
    /// If the network has no links; the network of every plan has links.
    pub fn fastest(&self) -> Rate {
        let links = self.topology.links().iter();
        let rates = links.flat_map(|link| [link.spec.rate, link.back.rate]);
        rates.max().expect("a network has links")
    }

    /// The rate of the port that is watched.
    pub fn watched_rate(&self) -> Rate {
        self.port_rate(self.watched)
    }

    /// The rate at which a port sends.
    pub fn port_rate(&self, port: PortId) -> Rate {
        let link = &self.topology.links()[port.0 as usize / 2];
        if port.0.is_multiple_of(2) {
            link.spec.rate
        } else {
            link.back.rate
        }
    }

    /// A node's part of its namespace's name: `h3` or `s0`.
    pub fn node_name(&self, node: NodeId) -> String {
        let place = node.0 as usize;
        match self.topology.nodes()[place] {
            Node::Host(host) => format!("h{}", host.0),
            Node::Switch => {
                let before = self.topology.nodes()[..place].iter();
                let switches = before.filter(|node| **node == Node::Switch).count();
                format!("s{switches}")
            }
        }
    }
}

/// Headers of every packet in a queue: Ethernet 14, IPv4 20, TCP 20, timestamps 12.
pub const HEADERS: u32 = 66;
const ETHERNET: u32 = 14;

/// Limit of a queue without one: more than the windows of all flows of a bed.
const UNLIMITED: u32 = 64 << 20;

#[cfg(test)]
mod tests;
