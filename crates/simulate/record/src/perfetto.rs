//! Traces for [Perfetto](https://ui.perfetto.dev): flows as tracks, queues and windows as counters, drops, marks and
//! timers as instants, and an arrow from each drop to its retransmission.
//!
//! The file has the viewer's native format, not the older JSON format: times are in nanoseconds, counters have units,
//! tracks have parents, and it can be read as a stream. A file is a pure function of the point.

pub mod format;
mod tracks;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use base::{FlowId, HostId, Packet, Time};
use fabric::{DropReason, Node, PortId};
use plan::PointSpec;
use plan::workload;
use schemes::Sender;
use sim::probe::{End, Probe};
use tcp::{Endpoint, Plays as _};

use crate::trace::TracePlan;
use tracks::{Instant, SenderWindows, Tracks};

/// Writes a trace of one simulation.
pub struct Perfetto {
    tracks: Tracks,
    /// For each flow, whether its windows are recorded; for each port, whether its queue is recorded.
    flows: Vec<bool>,
    ports: Vec<bool>,
    /// Whether each port belongs to a host. A host's port sees a packet first.
    of_hosts: Vec<bool>,
    states: Vec<FlowState>,
    /// Segments that were dropped and not retransmitted yet: by receiving host and flow, the first sequence number of
    /// each and its arrow.
    lost: BTreeMap<(HostId, FlowId), Vec<(u32, u64)>>,
    arrows: u64,
}

/// Facts about a flow.
#[derive(Clone, Default)]
struct FlowState {
    started: bool,
    recovering: bool,
    /// For the receiving and the sending end: timeouts, timeouts of SYNs, retransmissions, tail-loss probes.
    counts: [[u64; 4]; 2],
    windows: SenderWindows,
    /// Arrows that end at segments retransmitted since the endpoint was last seen.
    sent_again: Vec<u64>,
}

impl Perfetto {
    /// A trace of `point` into `file`, which is empty.
    pub fn new(plan: &TracePlan, point: &PointSpec, file: File) -> Self {
        let workload = workload::Plan::of(point);
        let topology = &workload.topology;
        let names = topology.names();
        let count = topology.links().len() * 2;
        let ends = (0..).take(count).map(|port| topology.ends(PortId(port)));
        let port_names = ends.clone().map(|(from, to)| {
            let [from, to] = [from, to].map(|node| &names[node.0 as usize]);
            format!("{from} to {to}")
        });
        let connections = workload.connections.iter();
        let flow_names = connections
            .zip(0..)
            .map(|(flow, id)| format!("flow {id}: host {} to {}", flow.sender.0, flow.receiver.0));
        let is_host =
            |node: fabric::NodeId| matches!(topology.nodes()[node.0 as usize], Node::Host(_));
        Self {
            of_hosts: ends.map(|(from, _)| is_host(from)).collect(),
            flows: plan.flows.clone(),
            ports: plan.ports.clone(),
            states: vec![FlowState::default(); plan.flows.len()],
            tracks: Tracks::new(file, port_names.collect(), flow_names.collect()),
            lost: BTreeMap::new(),
            arrows: 0,
        }
    }

    /// Ends the file. Fails if writing failed now or before.
    pub fn finish(self) -> io::Result<()> {
        self.tracks.finish()
    }

    /// The growth of an end's counters since it was last seen.
    fn gained(&mut self, end: End, endpoint: &Endpoint<Sender>) -> [u64; 4] {
        let counters = endpoint.counters();
        let now = [
            counters.timeouts,
            counters.syn_timeouts,
            counters.retransmissions,
            counters.tail_probes,
        ];
        let known = &mut self.states[end.flow.0 as usize].counts[usize::from(end.sends)];
        let before = std::mem::replace(known, now);
        std::array::from_fn(|index| now[index].saturating_sub(before[index]))
    }
}

impl Probe for Perfetto {
    fn has_failed(&self) -> bool {
        self.tracks.has_failed()
    }

    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if self.ports[port.0 as usize] {
            self.tracks.queue(port, waiting, at);
        }
    }

    fn on_accept(&mut self, port: PortId, packet: &Packet, _now: Time) {
        if self.lost.is_empty() || !self.of_hosts[port.0 as usize] {
            return;
        }
        let key = (packet.to, packet.flow);
        let Some(lost) = self.lost.get_mut(&key) else {
            return;
        };
        let length = packet.sequence_length();
        let sent = &mut self.states[packet.flow.0 as usize].sent_again;
        lost.retain(|(seq, arrow)| {
            let repaired = u64::from(seq.wrapping_sub(packet.seq.0)) < length;
            if repaired {
                sent.push(*arrow);
            }
            !repaired
        });
        if lost.is_empty() {
            self.lost.remove(&key);
        }
    }

    fn on_mark(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.tracks.at_port(port, Instant::Mark, packet, now);
    }

    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        let arrow = (packet.sequence_length() > 0).then(|| {
            self.arrows += 1;
            let lost = self.lost.entry((packet.to, packet.flow)).or_default();
            lost.push((packet.seq.0, self.arrows));
            self.arrows
        });
        self.tracks
            .at_port(port, Instant::Drop(arrow, reason), packet, now);
    }

    fn on_start(&mut self, flow: FlowId, now: Time) {
        let state = &mut self.states[flow.0 as usize];
        if !std::mem::replace(&mut state.started, true) {
            self.tracks.begin(flow, "transfer", now);
        }
    }

    fn on_completion(&mut self, flow: FlowId, now: Time) {
        let state = &mut self.states[flow.0 as usize];
        if std::mem::take(&mut state.started) {
            self.tracks.end(flow, "transfer", now);
        }
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        let [timeouts, syn_timeouts, again, probes] = self.gained(end, endpoint);
        let index = end.flow.0 as usize;
        for (name, count) in [
            ("timeout", timeouts),
            ("SYN timeout", syn_timeouts),
            ("tail probe", probes),
        ] {
            for _ in 0..count {
                self.tracks.of_flow(end.flow, name, None, now);
            }
        }
        if again > 0 || !self.states[index].sent_again.is_empty() {
            let mut arrows = std::mem::take(&mut self.states[index].sent_again).into_iter();
            for _ in 0..again {
                self.tracks
                    .of_flow(end.flow, "retransmission", arrows.next(), now);
            }
            // The retransmission of a SYN, or of data that a loop at low priority had lost.
            for arrow in arrows {
                self.tracks
                    .of_flow(end.flow, "sent again", Some(arrow), now);
            }
        }
        if !end.sends {
            return;
        }
        let recovering = endpoint.is_recovering();
        let state = &mut self.states[index];
        if std::mem::replace(&mut state.recovering, recovering) != recovering {
            if recovering {
                self.tracks.begin(end.flow, "fast recovery", now);
            } else {
                self.tracks.end(end.flow, "fast recovery", now);
            }
        }
        if self.flows[index] {
            let windows = SenderWindows {
                cwnd: Some(endpoint.cc().as_role().window()).filter(|window| *window != u64::MAX),
                granted: Some(endpoint.peer_window()),
                in_flight: Some(endpoint.in_flight()),
            };
            let before = std::mem::replace(&mut self.states[index].windows, windows);
            self.tracks.windows(end.flow, before, windows, now);
        }
    }

    fn on_end(&mut self, now: Time) {
        for (flow, state) in (0..).map(FlowId).zip(&self.states) {
            if state.recovering {
                self.tracks.end(flow, "fast recovery", now);
            }
            if state.started {
                self.tracks.end(flow, "transfer", now);
            }
        }
    }
}
