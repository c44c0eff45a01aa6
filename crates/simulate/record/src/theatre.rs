//! The scene of a simulation for a page to play: every packet at the port of a loss, from before the first loss to the
//! end of its repair, and the state of each sender meanwhile.
//!
//! A [`Theatre`] is a probe that keeps one scene: the first one with a timeout, or else the first one. A scene ends
//! when every segment that its port dropped has passed the port after all. The number of packets is limited: it holds
//! the packets around the first loss, and those after the first timeout.

mod scene;
mod written;

use std::path::Path;
use std::{fs, io};

use base::{FlowId, Packet, Time};
use fabric::{DropReason, Node, PortId};
use plan::PointSpec;
use plan::workload::Plan;
use schemes::Sender;
use schemes::clause::{Decision, Detection};
use sim::probe::{End, Probe};
use tcp::{Endpoint, Plays as _, SenderCounters};

use scene::{Held, Moment, Scene, Seen, State};

/// Finds the scene of a simulation and writes it.
pub struct Theatre {
    plan: Plan,
    /// The scheme or composition of each group, and whether its ends use SACK.
    groups: Vec<(String, bool)>,
    header_bytes: u32,
    /// The packets of each port. Hosts' ports stay empty.
    ports: Vec<Held>,
    of_switches: Vec<bool>,
    flows: Vec<Followed>,
    /// Whether the port has marked the packet that it accepts or drops next.
    marked: bool,
    scene: Option<Scene>,
    best: Option<Scene>,
    begun: u32,
}

/// Facts about a flow.
#[derive(Clone, Default)]
struct Followed {
    state: State,
    counters: SenderCounters,
    recovering: bool,
    /// Whether one of its packets was ever marked.
    marked: bool,
}

impl Theatre {
    /// Watches `point`.
    pub fn new(point: &PointSpec) -> Self {
        let plan = Plan::of(point);
        let topology = &plan.topology;
        let ports = (0..).take(topology.links().len() * 2).map(PortId);
        let of_switch = |port| topology.nodes()[topology.ends(port).0.0 as usize] == Node::Switch;
        let groups = point.groups.iter();
        Self {
            groups: groups
                .map(|group| (group.bundle.clone(), group.keys.tcp.sack))
                .collect(),
            header_bytes: point.keys.net.header_bytes,
            ports: vec![Held::default(); topology.links().len() * 2],
            of_switches: ports.map(of_switch).collect(),
            flows: vec![Followed::default(); plan.connections.len()],
            marked: false,
            scene: None,
            best: None,
            begun: 0,
            plan,
        }
    }

    /// Writes the scene as JSON into a file at `path`; no scene, no file.
    pub fn finish(self, path: &Path) -> io::Result<()> {
        self.scene().map_or(Ok(()), |scene| fs::write(path, scene))
    }

    /// The scene as JSON, if there is one.
    pub fn scene(mut self) -> Option<String> {
        self.choose();
        let scene = self.best.as_ref()?;
        Some(written::text(scene, (&self.plan, self.header_bytes)))
    }

    /// Whether the best scene is complete, so that nothing more needs to be seen.
    fn is_decided(&self) -> bool {
        self.scene.is_none()
            && (self.begun == MOST_SCENES || self.best.as_ref().is_some_and(Scene::has_timeout))
    }

    /// Ends the current scene. It is kept if it is the first one, or the first one with a timeout.
    fn choose(&mut self) {
        let Some(scene) = self.scene.take() else {
            return;
        };
        self.ports[scene.port().0 as usize].release();
        let better = |best: &Scene| scene.has_timeout() && !best.has_timeout();
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(scene);
        }
        if self.is_decided() {
            self.ports.fill(Held::default());
        }
    }

    /// The scene records everything from now on. It begins with the waiting packets and the states of their flows.
    fn resume(&mut self, now: Time) {
        let Some(scene) = &mut self.scene else { return };
        scene.resume(&mut self.ports[scene.port().0 as usize], now);
        for place in 0..scene.flows.len() {
            let flow = scene.flows[place];
            scene.state(flow, self.flows[flow.0 as usize].state, now);
        }
    }

    /// The current scene, if it is at this port.
    fn scene_at(&mut self, port: PortId) -> Option<&mut Scene> {
        self.scene.as_mut().filter(|scene| scene.port() == port)
    }

    fn group(&self, flow: FlowId) -> &(String, bool) {
        &self.groups[self.plan.connections[flow.0 as usize].group as usize]
    }

    /// Records the decisions of a sender, from its counters.
    fn decide(&mut self, flow: FlowId, endpoint: &Endpoint<Sender>, before: &Followed, now: Time) {
        let Some(scene) = &self.scene else { return };
        if !scene.knows(flow) {
            return;
        }
        let after = &self.flows[flow.0 as usize];
        let (old, new) = (&before.counters, &after.counters);
        let is_cut = after.state.cwnd < before.state.cwnd && after.state.in_flight > 0;
        // A timeout also ends a recovery, which is no decision.
        let untimed = old.timeouts == new.timeouts;
        let quiet = untimed && !before.recovering && !after.recovering;
        let again = new.retransmissions > old.retransmissions;
        let held = after.state.is_held() && !before.state.is_held();
        let decisions = [
            (Decision::Timeout, new.timeouts > old.timeouts),
            (Decision::SynTimeout, new.syn_timeouts > old.syn_timeouts),
            (
                Decision::EnterRecovery,
                after.recovering && !before.recovering,
            ),
            (
                Decision::Retransmit,
                again && before.recovering && after.recovering,
            ),
            (
                Decision::LeaveRecovery,
                untimed && before.recovering && !after.recovering,
            ),
            (Decision::TailProbe, new.tail_probes > old.tail_probes),
            (Decision::Undo, new.undone > old.undone),
            (Decision::Reduce, is_cut && quiet && after.marked),
            (Decision::Held, held),
        ];
        let decided = decisions.into_iter().filter(|(_, happened)| *happened);
        let decided: Vec<Decision> = decided.map(|(decision, _)| decision).collect();
        if decided.is_empty() {
            return;
        }
        let (bundle, sack) = self.group(flow);
        let detection = match (sack, endpoint.info().lost.is_some()) {
            (_, true) => Detection::Record,
            (true, false) => Detection::Sack,
            (false, false) => Detection::Duplicates,
        };
        let clauses = decided.into_iter().map(|decision| {
            (
                decision,
                schemes::clause::deciding(decision, detection, bundle),
            )
        });
        let clauses: Vec<_> = clauses
            .filter(|(decision, clause)| *decision != Decision::Held || clause.is_some())
            .collect();
        for (decision, clause) in clauses {
            let Some(scene) = &mut self.scene else { return };
            if decision == Decision::Timeout && scene.on_timeout(flow, now) {
                self.resume(now);
            }
            let Some(scene) = &mut self.scene else { return };
            scene.decision(Moment {
                at: now,
                flow,
                decision,
                clause,
            });
        }
    }
}

impl Probe for Theatre {
    /// A scene is over when its losses are repaired, and a connection that has ended has no losses.
    fn keeps_ends(&self) -> bool {
        false
    }

    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        let marked = std::mem::take(&mut self.marked);
        if !self.of_switches[port.0 as usize] || self.is_decided() {
            return;
        }
        let mut seen = Seen::new(packet, marked, now);
        if let Some(scene) = self.scene.as_mut().filter(|scene| scene.port() == port) {
            let is_new = !scene.knows(packet.flow);
            scene.accept(&mut seen, packet, now);
            if is_new && scene.knows(packet.flow) {
                let state = self.flows[packet.flow.0 as usize].state;
                scene.state(packet.flow, state, now);
            }
        }
        self.ports[port.0 as usize].waiting.push_back(seen);
    }

    fn on_mark(&mut self, _port: PortId, packet: &Packet, _now: Time) {
        self.marked = true;
        self.flows[packet.flow.0 as usize].marked = true;
    }

    fn on_drop(&mut self, port: PortId, packet: &Packet, _reason: DropReason, now: Time) {
        let marked = std::mem::take(&mut self.marked);
        if !self.of_switches[port.0 as usize] || self.is_decided() {
            return;
        }
        let waiting = &mut self.ports[port.0 as usize].waiting;
        // A queue may push out a packet that it has accepted.
        let place = waiting.iter().rposition(|seen| seen.is(packet));
        let pushed_out = place.and_then(|place| waiting.remove(place));
        let is_loss = packet.sequence_length() > 0;
        if is_loss && self.scene.is_none() {
            self.begun += 1;
            self.scene = Some(Scene::new(port, now));
            self.resume(now);
        }
        let Some(scene) = self.scene.as_mut().filter(|scene| scene.port() == port) else {
            return;
        };
        let is_new = !scene.knows(packet.flow);
        let seen = pushed_out.unwrap_or_else(|| Seen::new(packet, marked, now));
        scene.lose(seen, packet, now);
        if is_new && scene.knows(packet.flow) {
            let state = self.flows[packet.flow.0 as usize].state;
            scene.state(packet.flow, state, now);
        }
    }

    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let Some(seen) = self.ports[port.0 as usize].leave(packet, now) else {
            return;
        };
        if let Some(scene) = self.scene_at(port) {
            scene.leave(seen, packet, now);
            if scene.is_repaired() {
                self.choose();
            }
        }
    }

    fn on_completion(&mut self, flow: FlowId, now: Time) {
        if let Some(scene) = &mut self.scene {
            scene.forget(flow, now);
            if scene.is_repaired() {
                self.choose();
            }
        }
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        if !end.sends || self.is_decided() {
            return;
        }
        let window = endpoint.cc().as_role().window();
        let after = Followed {
            state: State::of(endpoint, window),
            counters: endpoint.counters(),
            recovering: endpoint.is_recovering(),
            marked: self.flows[end.flow.0 as usize].marked,
        };
        let state = after.state;
        let before = std::mem::replace(&mut self.flows[end.flow.0 as usize], after);
        if let Some(scene) = &mut self.scene {
            if scene.knows(end.flow) && state != before.state {
                scene.state(end.flow, state, now);
            }
            self.decide(end.flow, endpoint, &before, now);
        }
    }

    fn on_end(&mut self, now: Time) {
        if let Some(scene) = &mut self.scene {
            scene.stop(now);
        }
    }
}

/// The most scenes that are begun in search of one with a timeout.
const MOST_SCENES: u32 = 64;
