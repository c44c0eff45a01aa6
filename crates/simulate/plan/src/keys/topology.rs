//! The shape of the network.

use std::sync::Arc;

use base::{Count, Factor, OrAuto, OrOff, Span};

use super::{Capacity, Ecmp, Exceptions, Faults, GraphPart, LinkWeight, TopologyKind};
use crate::graph::{Graph, GraphChoice};

base::settings! {
    /// The shape of the network.
    pub struct Topology in "topology" {
        /// The shape of the network: a star around one switch, a dumbbell of two switches, a chain of several in a row, a tree of racks below one root switch, racks below several spine switches, a fat tree of three layers, or the switches and links of topology.graph.
        pub kind: TopologyKind = "star",
        /// Number of hosts of a star, or of hosts at each edge switch of another shape, of a graph at each node; "auto" makes as many as the workload needs, in a graph 10. A fat tree has half as many as it has pods.
        pub hosts: OrAuto<Count> = "auto",
        /// Switches of a chain.
        pub switches: Count = "3",
        /// Racks of a tree, or leaves of a leaf-spine network.
        pub racks: Count = "4",
        /// Spines of a leaf-spine network; every leaf has one uplink to each.
        pub spines: Count = "4",
        /// Pods of a fat tree, an even number k: k/2 edge and k/2 aggregation switches each, k/2 hosts at every edge switch, k*k/4 core switches.
        pub pods: Count = "4",
        /// Rate of the hosts at a switch over the rate of its uplinks in a leaf-spine network or fat tree; the links above have the rate of the uplinks. "auto" leaves their rate to bottleneck.rate.
        pub oversubscription: OrAuto<Factor> = "auto",
        /// Switches and links of a graph: the name of one that comes with the program (`tailwater list topologies`), or the path of a file of GraphML (.graphml, .xml) or node-link JSON (.json), from the folder of the scenario file or the working directory. Every node is a switch with topology.hosts hosts.
        pub graph: GraphChoice = "internet2",
        /// Which nodes of a graph take part: all ("whole"), or those of its largest part whose nodes can all reach each other. Nodes keep their order and are numbered anew.
        pub part: GraphPart = "whole",
        /// Delay of the links of a graph about which its file says nothing: neither a delay nor a length, nor where both ends are. "off" refuses such a file.
        pub missing_delay: OrOff<Span> = "1ms",
        /// What the attribute "weight" of a link of a graph means: a length in km of fibre, or a delay in "ms" or "us". Links with a weight then have no other delay. "none" takes it for a cost of routing and ignores it.
        pub weight: LinkWeight = "none",
        /// Rates of the links of a graph. "auto" is what its file says and, where that says nothing, "equal-load": traffic from every host to all others fills every link as much as the links of hosts, so a link on the paths of P pairs of nodes has P*H*R/(n-1), with H hosts at each of n nodes and R = link.rate, rounded up to a thousandth of R. A range draws the rate of each link, uniformly. bottleneck.rate overrides all of these.
        pub capacity: Capacity = "auto",
        /// Seed from which a range in topology.capacity draws. It is not that of the run, so that all seeds and schemes have the same network.
        pub capacity_seed: u64 = "1",
        /// How packets spread over paths of equal length: connection by connection with ACKs on the path of the data ("symmetric") or on another ("flow"), packet by packet, or not at all ("off"): then packets in both directions take the path whose switches, read from the host with the lower number, have the lowest numbers. "first" does not spread them either, but every switch takes the first of its links that lead nearer, in the order of the graph's links, as the global routes of ns-3 do. "auto" is "off" in a graph, else "symmetric".
        pub ecmp: OrAuto<Ecmp> = "auto",
        /// Links and hosts that differ from all others, which are usually written as tables: `[link."leaf 0 to spine 1"]` with a link by the name that results give its port, and `[host.3]` or `[host."0..3"]` with the link of a host, each with rate, delay, buffer, loss, lose or down, and of a host down_rate. A rate, a delay and down = true hold in both directions, all others for the port of that name, of a host for the one that leads to it. A load stays a share of link.rate or bottleneck.rate, and automatic jitter and the threshold of marks stay those of all.
        pub exceptions: Exceptions = "none",
        /// Faults while the simulation runs, separated by ";" or line breaks, each behind its place, several of a place joined by +: a link or switch by the name that results give it, "host 3" or "hosts 0-3", or "bottleneck". Of a link, or of the links of hosts, in both directions: "down from 10ms to 20ms" loses what is on the wire, what waits for it and what comes to it; "flap down 2ms up 3ms from 10ms to 50ms" does so again and again ("flap at random": exponential times with these means); "rate 1Gbps from 10ms to 20ms" and "delay 1ms from 10ms to 20ms"; "corrupt 0.001" damages this share of packets, which the next node drops; "gilbert-elliott p 0.01 r 0.25 good 0 bad 1" loses packets in bursts: p and r lead to the bad state and back, the others are the losses in each. Of a switch: "restart at 20ms for 5ms": its links are down for that time, and its laws begin anew. Of a host: "gone at 50ms"; "stops reading from 10ms to 50ms": its receive buffers fill. Without "to" a fault lasts for good; corrupt and gilbert-elliott need no times. Routes stay as they are. Results count these losses by cause, and say why flows failed.
        pub faults: Faults = "none",
    }
}

impl Topology {
    /// The graph of the network, or its part as `topology.part` says.
    pub fn network(&self) -> &Arc<Graph> {
        let graph = &self.graph.0;
        match (self.part, graph.apart()) {
            (GraphPart::Largest, Some(apart)) => &apart.largest,
            _ => graph,
        }
    }

    /// How packets spread over paths of equal length.
    pub fn spread(&self) -> Ecmp {
        let usual = match self.kind {
            TopologyKind::Graph => Ecmp::Off,
            _ => Ecmp::Symmetric,
        };
        self.ecmp.0.unwrap_or(usual)
    }
}
