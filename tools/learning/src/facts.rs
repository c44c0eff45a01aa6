//! Facts about an episode's network before any event.

use std::collections::{BTreeMap, VecDeque};

use base::cast::real;
use base::{HostId, Rate, Span};
use fabric::{NodeId, PortId, Topology};
use plan::PointSpec;
use sim::observation::Snapshot;

use crate::settings::{Agents, DecisionInterval, EnvironmentSettings};

/// Of one episode.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// How many agents decide.
    pub(crate) agents: usize,
    /// Of every connection.
    pub(crate) connections: Vec<Placement>,
    /// For every agent: the capacity of its receiving hosts' links in bytes per second, and the index of its port among
    /// the observed ones.
    pub(crate) links: Vec<(f64, usize)>,
    /// All receiving hosts' links together, bytes per second.
    pub(crate) capacity: f64,
    /// Index of the bottleneck among the observed ports.
    pub(crate) bottleneck: usize,
    /// The limit of a port in bytes, or a bandwidth-delay product if it has none.
    pub(crate) buffer: f64,
    /// Bytes per second of a sending host's link.
    pub(crate) link: f64,
    /// The longest round trip without queues.
    pub(crate) round_trip: Span,
    /// The time from one decision to the next.
    pub(crate) interval: Span,
}

/// Where a connection is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// Who decides for it.
    pub(crate) agent: usize,
    /// Its round trip without queues: a full packet there, an ACK back.
    pub(crate) round_trip: Span,
}

impl Facts {
    pub(crate) fn of(
        settings: &EnvironmentSettings,
        point: &PointSpec,
        (topology, seen): (&Topology, &Snapshot),
    ) -> Self {
        let keys = &point.keys;
        let sizes = (keys.packet_bytes(), u64::from(keys.net.header_bytes));
        let mut receivers: Vec<HostId> = seen.connections.iter().map(|one| one.receiver).collect();
        receivers.sort_unstable();
        receivers.dedup();
        let ways: BTreeMap<HostId, Vec<Span>> = receivers
            .iter()
            .map(|host| (*host, round_trips(topology, *host, sizes)))
            .collect();
        let agent = |number: usize, receiver: HostId| match settings.agents {
            Agents::Flow => number,
            Agents::Host => receivers.partition_point(|host| *host < receiver),
            Agents::Port => 0,
        };
        let connections: Vec<Placement> = seen
            .connections
            .iter()
            .enumerate()
            .map(|(number, one)| Placement {
                agent: agent(number, one.receiver),
                round_trip: ways[&one.receiver][topology.hosts()[one.sender.0 as usize].0 as usize],
            })
            .collect();
        let place = |port: PortId| seen.ports.iter().position(|state| state.port == port);
        let in_front = |host: HostId| topology.host_port(host).reverse();
        let bottleneck = place(seen.bottleneck).unwrap_or(0);
        // If the bottleneck is deeper in the network, all flows are assumed to pass it.
        let is_last = receivers
            .iter()
            .any(|host| in_front(*host) == seen.bottleneck);
        let port = |host: HostId| {
            place(in_front(host))
                .filter(|_| is_last)
                .unwrap_or(bottleneck)
        };
        let rate = |host: HostId| bytes_per_second(rate_of(topology, in_front(host)));
        let links: Vec<(f64, usize)> = match settings.agents {
            Agents::Flow => seen
                .connections
                .iter()
                .map(|one| (rate(one.receiver), port(one.receiver)))
                .collect(),
            Agents::Host => receivers
                .iter()
                .map(|host| (rate(*host), port(*host)))
                .collect(),
            Agents::Port => vec![(receivers.iter().map(|host| rate(*host)).sum(), bottleneck)],
        };
        let round_trip = connections
            .iter()
            .map(|one| one.round_trip)
            .max()
            .unwrap_or(Span::ZERO);
        let product = bytes_per_second(rate_of(topology, seen.bottleneck)) * round_trip.as_secs();
        let buffer = keys.switch.buffer.0;
        Self {
            agents: links.len(),
            connections,
            links,
            capacity: receivers.iter().map(|host| rate(*host)).sum(),
            bottleneck,
            buffer: buffer.map_or(product, |size| real(size.in_bytes(keys.packet_bytes()))),
            link: bytes_per_second(keys.link.rate),
            round_trip,
            interval: match settings.interval {
                DecisionInterval::RoundTrip => round_trip,
                DecisionInterval::Fixed(interval) => interval,
            },
        }
    }

    /// The window in segments that fills wires and buffer.
    pub(crate) fn filling_window(&self, point: &PointSpec) -> f64 {
        let bytes = self.link * self.round_trip.as_secs() + self.buffer;
        (bytes / real(point.keys.packet_bytes())).ceil().max(1.0)
    }
}

/// Round trips between every node and `host` without queues, over the fewest links; among equal ways, the first one
/// found. O(links).
fn round_trips(topology: &Topology, host: HostId, (packet, ack): (u64, u64)) -> Vec<Span> {
    let mut beside: Vec<Vec<(NodeId, Span)>> = vec![Vec::new(); topology.nodes().len()];
    for link in topology.links() {
        let both = |there: &fabric::LinkSpec, back: &fabric::LinkSpec| {
            there.delay
                + there.rate.serialisation(packet)
                + back.delay
                + back.rate.serialisation(ack)
        };
        // Data go towards the host.
        beside[link.b.0 as usize].push((link.a, both(&link.spec, &link.back)));
        beside[link.a.0 as usize].push((link.b, both(&link.back, &link.spec)));
    }
    let start = topology.hosts()[host.0 as usize];
    let mut found: Vec<Option<Span>> = vec![None; topology.nodes().len()];
    found[start.0 as usize] = Some(Span::ZERO);
    let mut next = VecDeque::from([start]);
    while let Some(node) = next.pop_front() {
        let here = found[node.0 as usize].unwrap_or(Span::ZERO);
        for (other, takes) in &beside[node.0 as usize] {
            let place = &mut found[other.0 as usize];
            if place.is_none() {
                *place = Some(here + *takes);
                next.push_back(*other);
            }
        }
    }
    found
        .into_iter()
        .map(|way| way.unwrap_or(Span::ZERO))
        .collect()
}

/// The rate of a port.
fn rate_of(topology: &Topology, port: PortId) -> Rate {
    let link = &topology.links()[port.0 as usize / 2];
    if port.0.is_multiple_of(2) {
        link.spec.rate
    } else {
        link.back.rate
    }
}

fn bytes_per_second(rate: Rate) -> f64 {
    real(rate.as_bps()) / 8.0
}
