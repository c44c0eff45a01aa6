//! What a point records.

use fabric::{Node, PortId};
use plan::PointSpec;
use plan::keys::{TopologyKind, TraceInterval, TracedPorts, TracedSeries};
use plan::series::{self, Traceable};
use plan::workload;

/// The quantities recorded of a simulation, and the recorded ports and flows.
#[derive(Clone, Debug)]
pub struct TracePlan {
    pub(super) quantities: Vec<&'static Traceable>,
    pub(super) events: bool,
    perfetto: bool,
    pub(super) interval: TraceInterval,
    /// Whether each port is recorded.
    pub(crate) ports: Vec<bool>,
    /// Whether each flow is recorded.
    pub(crate) flows: Vec<bool>,
}

impl TracePlan {
    /// The plan of `point`; `None` if it records nothing.
    ///
    /// # Panics
    /// If the settings of the point were not checked by [`scenario`].
    pub fn of(point: &PointSpec) -> Option<Self> {
        let trace = &point.keys.trace;
        let TracedSeries::Named(names) = &trace.series else {
            return None;
        };
        let chosen = |quantity: &&Traceable| names.contains(&quantity.name);
        let workload = workload::Plan::of(point);
        let (topology, bottleneck) = (&workload.topology, workload.bottleneck);
        let from_switch = |link: &fabric::Link| {
            [link.a, link.b].map(|node| topology.nodes()[node.0 as usize] == Node::Switch)
        };
        let switches = topology.links().iter().flat_map(from_switch);
        // In a graph the bottleneck is only known when the run is over.
        let switch_ports = switches.clone().filter(|from_switch| *from_switch).count();
        let unknown = point.keys.topology.kind == TopologyKind::Graph && switch_ports <= FEW;
        let mut ports: Vec<bool> = match trace.ports {
            TracedPorts::All => switches.map(|_| true).collect(),
            TracedPorts::Switches => switches.collect(),
            TracedPorts::Bottleneck if unknown => switches.collect(),
            TracedPorts::Bottleneck => switches.map(|_| false).collect(),
        };
        ports[bottleneck.0 as usize] = true;
        Some(Self {
            quantities: series::all().iter().filter(chosen).collect(),
            events: names.contains(&series::EVENTS),
            perfetto: names.contains(&series::PERFETTO),
            interval: trace.interval,
            ports,
            flows: trace.flows.choose(workload.connections.len()),
        })
    }

    /// Numbers of the ports that are recorded.
    pub fn ports(&self) -> impl Iterator<Item = PortId> {
        let ports = (0..).zip(&self.ports);
        ports
            .filter(|(_, recorded)| **recorded)
            .map(|(port, _)| PortId(port))
    }

    /// Whether a trace for Perfetto is written, too.
    pub const fn has_perfetto(&self) -> bool {
        self.perfetto
    }

    /// Whether events are recorded.
    pub const fn has_events(&self) -> bool {
        self.events
    }

    /// The quantities whose columns the file has.
    pub fn quantities(&self) -> &[&'static Traceable] {
        &self.quantities
    }
}

/// The most ports of a graph's switches that are all recorded because any of them may turn out to be the bottleneck.
const FEW: usize = 64;
