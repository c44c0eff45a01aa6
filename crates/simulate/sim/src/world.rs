//! The world of a simulation: a network, its hosts, and the flows between them.

mod acts;
mod connection;
mod conservation;
mod deadlines;
mod ended;
mod facts;
mod failing;
mod faults;
mod flow;
mod helpers;
mod message;
mod observing;
mod part;
mod ports;
mod repeating;
mod role_set;
mod watching;
mod wiring;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use base::cast::id;
use base::{FlowId, HostId, Packet, Time};
use engine::{Scheduler, Token};
use fabric::{Network, PortId, QueueStatistics, Topology};
use plan::tokens::Tokens;
use plan::workload::{Barrier, Dependencies, Plan, PlannedCollective};
use plan::{Group, PointSpec};
use schemes::{HostInfo, Roles, Sender};
use tcp::{Endpoint, Host, Plays, Progress, ReceiverCc, Slot};

use crate::error::RunError;
use crate::failure::FlowFailure;
use crate::probe::{AtQueues, Packets, Sees};
use connection::{Connection, EndedConnection};
use deadlines::{Deadlines, Out, Outside, PAUSES};
pub(crate) use ended::{Ended, EndedFlow};
use faults::Faults;
pub(crate) use flow::Flow;
#[cfg(test)]
pub(crate) use flow::flow as planned;
use flow::{Act, agenda, flow, waiting};
use helpers::host_helpers;
use ports::Ports;
pub use role_set::ReplaceSender;
pub(crate) use role_set::RoleSet;
pub use wiring::endpoint_config;
use wiring::{Endpoints, early_sizes, hosts, network, own_ends, reserve_slots};

/// The state and the handling of all events; see [`engine::World`].
///
/// Tokens are numbered in this order: the network's, deadlines of endpoints, deadlines of receiver roles, acts of
/// applications.
pub(crate) struct World<R, P> {
    /// The network, the probe, and deadlines.
    outside: Outside<P>,
    topology: Topology,
    hosts: Vec<Host<Sender, R>>,
    /// Whether any host withdraws packets that wait in its port.
    withdraws: bool,
    connections: Vec<Connection>,
    /// Makes the endpoints of a connection.
    endpoints: Endpoints,
    /// Sizes of flows that are alone on a connection opened before they start, by connection.
    early_sizes: BTreeMap<u32, u64>,
    groups: Arc<[Group]>,
    flows: Vec<Flow>,
    /// The future acts of applications, the next on top, and the time of the next event for them.
    agenda: BinaryHeap<Reverse<(Time, Act)>>,
    next_act: Time,
    /// Rounds of repeated incasts.
    barriers: Vec<Barrier>,
    /// Faults of links, switches and hosts, if there are any.
    faults: Option<Box<Faults>>,
    /// Flows that wait for others, if any do.
    dependencies: Option<Box<Dependencies>>,
    /// Collectives, and the flows that belong to each.
    collectives: Vec<PlannedCollective>,
    first_start: Time,
    /// Flows that have neither completed nor failed. Flows without end always count.
    unfinished: usize,
    /// Endpoints that may still act, and the ends that have ended.
    open: usize,
    ended: Vec<bool>,
    /// The port whose queue is reported.
    bottleneck: PortId,
    /// Queue statistics of every port, closed at the last completion.
    queues: Option<Vec<QueueStatistics>>,
    /// The error of a removed connection that did not conserve its bytes or packets.
    violation: Option<RunError>,
}

/// The end of a connection that an event concerned.
#[derive(Clone, Copy)]
struct ConnectionEnd {
    host: HostId,
    slot: Slot,
    /// The connection, by the number that its packets carry.
    flow: FlowId,
}

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// `receiver` makes the receiver role of each host from the group with this number, or the plain one; `probe` sees
    /// every packet-hop.
    pub(crate) fn new(
        point: &PointSpec,
        role_set: &RoleSet,
        plan: Plan,
        (receiver, probe): (&MakeReceiver<'_, R>, P),
        sched: &mut Scheduler,
    ) -> Result<Self, RunError> {
        let roles = &*role_set.roles;
        let Plan {
            topology,
            bottleneck,
            connections: carrying,
            flows: planned,
            barriers,
            dependencies,
            collectives,
        } = plan;
        let places = carrying.iter().filter(|plan| plan.heir_of.is_none());
        let tokens = Tokens {
            ports: 2 * topology.links().len() as u64 + u64::from(PAUSES),
            ends: 2 * places.count() as u64,
            hosts: topology.hosts().len() as u64,
        };
        tokens.check()?;
        let waiting = waiting(&barriers, &dependencies);
        let starts = || {
            let ready = |(index, _): &(usize, _)| !waiting.contains(index);
            planned.iter().enumerate().filter(ready)
        };
        let first = starts().map(|(_, flow)| flow.start).min();
        let first_start = first.unwrap_or(Time::ZERO + point.keys.workload.start);
        let mut agenda = agenda(starts().map(|(index, _)| index), &planned, &carrying);
        let ports = Ports::new(point, &topology, roles, bottleneck);
        let withdraws = role_set.withdraws();
        let seen = (first_start, &probe, withdraws);
        let mut network = network(point, &topology, &ports, seen)?;
        let faults = Faults::of(&ports, &mut network, &mut agenda);
        let endpoints = Endpoints::new((point, &topology), role_set, &carrying);
        endpoints.introduce(&carrying, &mut network);
        let mut hosts = hosts((point, &topology), roles, &carrying, receiver);
        let early_sizes = early_sizes(&carrying, &planned);
        let connections = reserve_slots(&mut hosts, &carrying);
        let of_hosts = (&*hosts, &topology);
        let helpers = host_helpers(of_hosts, point, roles, (&carrying, &connections));
        // The plan is dropped while the world is built, to save memory.
        drop(carrying);
        let flows: Vec<Flow> = planned.iter().map(flow).collect();
        drop(planned);
        let deadlines = Deadlines::new(&hosts, network.ports().len());
        ports.disturb(
            &mut network,
            [1, PAUSES].map(|place| deadlines.beyond(place)),
        );
        let packets = vec![Packets::default(); connections.len()];
        let next_act = agenda.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        let world = Self {
            unfinished: flows.len(),
            open: own_ends(&connections, &probe),
            ended: vec![false; deadlines.ends],
            outside: Outside {
                network,
                watch: AtQueues { probe, packets },
                deadlines,
                helpers,
            },
            topology,
            hosts,
            withdraws,
            connections,
            endpoints,
            early_sizes,
            groups: Arc::clone(&point.groups),
            flows,
            agenda,
            next_act,
            barriers,
            faults,
            dependencies: (!dependencies.is_empty()).then(|| Box::new(dependencies)),
            collectives,
            first_start,
            bottleneck,
            queues: None,
            violation: None,
        };
        if next_act != Time::NEVER {
            sched.at(next_act, world.act_token());
        }
        Ok(world)
    }

    pub(crate) fn network(&self) -> &Network {
        &self.outside.network
    }

    /// Whether any flow has started.
    pub(crate) fn has_started(&self) -> bool {
        self.flows.iter().any(|flow| flow.started)
    }

    /// Sender and receiver endpoint of a connection, if it has any.
    fn ends(&self, connection: &Connection) -> Option<(&Endpoint<Sender>, &Endpoint<Sender>)> {
        let end = |(host, slot): (HostId, Slot)| self.hosts[host.0 as usize].endpoint(slot);
        connection
            .messages
            .is_some()
            .then(|| (end(connection.sender), end(connection.receiver)))
    }

    /// The statistics of every port's queue from the first start to the last completion, or to `end`.
    pub(crate) fn close_statistics(&mut self, end: Time) -> Vec<QueueStatistics> {
        match self.queues.take() {
            Some(closed) => closed,
            None => self.close_queues(end),
        }
    }

    fn close_queues(&mut self, now: Time) -> Vec<QueueStatistics> {
        self.settle(now);
        self.outside.network.close_statistics(now)
    }

    /// Brings the statistics of every port up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        let stale = &mut stale(&self.hosts, &self.connections);
        let Outside { network, watch, .. } = &mut self.outside;
        network.settle(now, watch, stale);
    }

    /// Whether the probe has lost some of its records.
    pub(crate) fn has_failed(&self) -> bool {
        self.outside.watch.probe.has_failed()
    }

    /// At the end of a run, makes the last reports to the probe and books the last events to flows. Also returns the
    /// probe.
    pub(crate) fn end(mut self, now: Time) -> (Ended, P) {
        self.settle(now);
        self.outside.watch.probe.on_end(now);
        self.restore_links(now);
        let breakdowns = self.outside.watch.probe.take();
        for number in 0..self.connections.len() {
            self.take_messages(number);
        }
        // Reuses the connections' memory, most of which is given back.
        let connections = self.connections.into_iter().map(EndedConnection::of);
        let mut connections: Vec<EndedConnection> = connections.collect();
        connections.shrink_to_fit();
        let ended = Ended {
            topology: self.topology,
            network: self.outside.network,
            bottleneck: self.bottleneck,
            first_start: self.first_start,
            dependencies: self.dependencies,
            collectives: self.collectives,
            connections,
            flows: self.flows,
            breakdowns,
        };
        (ended, self.outside.watch.probe)
    }

    #[inline]
    fn deliver(&mut self, host: HostId, packet: &mut Packet, sched: &mut Scheduler) {
        let connection = &self.connections[packet.flow.0 as usize];
        if connection.messages.is_none() {
            // The packet concerns no endpoint any more: both ends had finished.
            self.outside.watch.packets[packet.flow.0 as usize].leave();
            return;
        }
        let incoming = connection.receiver.0 == host;
        let slot = if incoming {
            connection.receiver.1
        } else {
            connection.sender.1
        };
        let now = sched.now();
        self.outside.watch.probe.on_delivery(packet, now);
        if let Some(Some(helper)) = self.outside.helpers.get_mut(host.0 as usize) {
            helper.on_incoming(slot, packet, now);
        }
        let flow = packet.flow;
        let (at, mut out) = self.host(host, sched);
        let progress = at.on_packet(slot, packet, now, &mut out);
        let end = ConnectionEnd { host, slot, flow };
        if progress.stored {
            if incoming {
                self.note_arrival(end, sched);
            } else {
                self.note_request(end, sched);
            }
        }
        self.after(end, progress, sched);
        self.report(end, false, now);
        let packets = &mut self.outside.watch.packets[flow.0 as usize];
        packets.leave();
        if packets.inside == 0 {
            self.free(flow, sched);
        }
    }

    /// A host and its way out.
    #[inline(always)]
    fn host<'a>(
        &'a mut self,
        host: HostId,
        sched: &'a mut Scheduler,
    ) -> (&'a mut Host<Sender, R>, Out<'a, P>) {
        if self.withdraws {
            let stale = &mut stale(&self.hosts, &self.connections);
            let Outside { network, watch, .. } = &mut self.outside;
            network.settle_host(host, sched.now(), watch, stale);
        }
        let out = Out {
            outside: &mut self.outside,
            sched,
            host,
        };
        (&mut self.hosts[host.0 as usize], out)
    }

    /// A packet comes out of the wire of `port`, in a world in which senders may withdraw packets.
    #[inline(never)]
    fn arrive_withdrawing(&mut self, port: PortId, sched: &mut Scheduler) -> Packet {
        let stale = &mut stale(&self.hosts, &self.connections);
        let Outside { network, watch, .. } = &mut self.outside;
        network.arrive(port, sched, watch, stale)
    }

    /// Handles the effect of an endpoint's event on its application and on the end of the run.
    #[inline]
    fn after(&mut self, end: ConnectionEnd, progress: Progress, sched: &mut Scheduler) {
        if progress.state_changed || progress.peer_finished {
            self.after_change(end, progress, sched);
        }
        self.arm_role(end.host, sched);
    }

    fn after_change(&mut self, end: ConnectionEnd, progress: Progress, sched: &mut Scheduler) {
        let ConnectionEnd { host, slot, flow } = end;
        let now = sched.now();
        if progress.peer_finished {
            // The application closes when its peer has.
            let (at, mut out) = self.host(host, sched);
            at.act(slot, Endpoint::close, now, &mut out);
        }
        if progress.peer_finished && self.connections[flow.0 as usize].receiver == (host, slot) {
            self.end_endless(flow, sched);
        }
        if let Some(abort) = progress.aborted {
            let Connection {
                sender, receiver, ..
            } = self.connections[flow.0 as usize];
            let gone = self.is_gone(sender.0) || self.is_gone(receiver.0);
            let why = if gone {
                FlowFailure::HostGone
            } else {
                abort.into()
            };
            self.fail(flow, why, sched);
        }
        self.note_acknowledgement(end, now);
        let endpoint = self.outside.deadlines.first[host.0 as usize] + slot.0;
        let ended = self.hosts[host.0 as usize].endpoint(slot).is_ended();
        if ended && !self.ended[endpoint as usize] {
            self.ended[endpoint as usize] = true;
            self.open -= 1;
            self.hand_over(flow, sched);
        }
    }

    #[inline]
    fn arm_role(&mut self, host: HostId, sched: &mut Scheduler) {
        // If no role has a deadline, this reads no host.
        let at = self.hosts.get(host.0 as usize);
        let deadline = at.map_or(Time::NEVER, Host::role_deadline);
        if deadline != Time::NEVER {
            let place = self.outside.deadlines.ends + host.0 as usize;
            self.outside.deadlines.arm(place, deadline, sched);
        }
    }

    fn on_endpoint_deadline(&mut self, place: usize, sched: &mut Scheduler) {
        let (host, slot) = self.outside.deadlines.owner(place);
        let at = &self.hosts[host.0 as usize];
        let flow = at.find(slot).map(|endpoint| endpoint.identity().flow);
        let (at, mut out) = self.host(host, sched);
        let now = out.sched.now();
        let progress = at.on_deadline(slot, now, &mut out);
        let Some(flow) = flow else {
            // The connection was over and its endpoints are removed.
            return self.arm_role(host, sched);
        };
        let end = ConnectionEnd { host, slot, flow };
        self.after(end, progress, sched);
        self.report(end, true, now);
    }

    fn on_role_deadline(&mut self, host: HostId, sched: &mut Scheduler) {
        let (at, mut out) = self.host(host, sched);
        let now = out.sched.now();
        at.on_role_deadline(now, &mut out);
        self.arm_role(host, sched);
        self.outside
            .watch
            .probe
            .see_host(host, &self.hosts[host.0 as usize], now);
    }
}

/// Whether a packet that waits in its own host's port, because of its priority, is withdrawn by its sender.
fn stale<'a, R: Plays<dyn ReceiverCc>>(
    hosts: &'a [Host<Sender, R>],
    connections: &'a [Connection],
) -> impl Fn(&Packet) -> bool + Copy + 'a {
    move |packet| {
        let connection = &connections[packet.flow.0 as usize];
        let (host, slot) = if connection.receiver.0 == packet.to {
            connection.sender
        } else {
            connection.receiver
        };
        connection.messages.is_some() && hosts[host.0 as usize].endpoint(slot).withdraws(packet)
    }
}

/// Makes the receiver role of a host from the roles of the group that controls it; `None` for a host without a role.
pub(crate) type MakeReceiver<'a, R> = dyn Fn(Option<&Roles>, &HostInfo) -> R + 'a;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> engine::World for World<R, P> {
    #[inline(always)]
    fn handle(&mut self, token: Token, sched: &mut Scheduler) {
        if (token.0 as usize) < self.outside.network.ports().len() {
            let port = PortId(token.0);
            let mut packet = if self.withdraws {
                self.arrive_withdrawing(port, sched)
            } else {
                let Outside { network, watch, .. } = &mut self.outside;
                network.arrive(port, sched, watch, &mut |_: &Packet| false)
            };
            let Outside { network, watch, .. } = &mut self.outside;
            watch.probe.on_arrival(port, &packet);
            let reached = network.on_arrival(port, &mut packet, sched, watch);
            if watch.probe.sees_ends() && !network.has_just_lost() {
                watch.probe.on_hop(port, &packet, sched.now());
            }
            if let Some(host) = reached {
                self.deliver(host, &mut packet, sched);
            }
            return;
        }
        let place = (token.0 - self.outside.deadlines.token) as usize;
        if place == self.outside.deadlines.armed.len() {
            self.act(sched);
        } else if place == self.outside.deadlines.armed.len() + PAUSES as usize {
            let Outside { network, watch, .. } = &mut self.outside;
            network.on_pause_event(sched, watch);
        } else if place > self.outside.deadlines.armed.len() {
            self.release(sched);
        } else if self.outside.deadlines.fire(place, sched.now()) {
            match place.checked_sub(self.outside.deadlines.ends) {
                None => self.on_endpoint_deadline(place, sched),
                Some(host) => self.on_role_deadline(HostId(id(host)), sched),
            }
        }
    }

    #[inline(always)]
    fn expect(&self, token: Token) {
        self.outside.network.expect(PortId(token.0));
    }

    /// Whether every connection has ended and the network is empty.
    #[inline]
    fn finished(&self) -> bool {
        self.open == 0 && self.outside.network.is_empty()
    }
}
