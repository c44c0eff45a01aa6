//! A world that simulates a part of a network, and the joining of the parts to one world.
//!
//! Each part has all hosts, connections and flows, but updates only those at its own hosts. A connection between two
//! parts has both endpoints in both parts, and in each part only one of them acts.

use base::cast::id;
use base::{FlowId, HostId, Time};
use engine::Token;
use fabric::{Network, PortId, QueueStatistics};
use tcp::{Plays, ReceiverCc};

use super::World;
use crate::failure::FlowFailure;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// Whether this host is simulated here.
    pub(super) fn has_host(&self, host: HostId) -> bool {
        self.outside.watch.probe.has_host(host)
    }

    /// Whether one of the hosts of a connection is simulated here.
    pub(super) fn has_an_end(&self, of: FlowId) -> bool {
        let connection = &self.connections[of.0 as usize];
        self.has_host(connection.sender.0) || self.has_host(connection.receiver.0)
    }

    /// The network and the probe, for the exchange with other parts.
    pub(crate) fn part(&mut self) -> (&mut Network, &mut P) {
        (&mut self.outside.network, &mut self.outside.watch.probe)
    }

    /// Ends of connections that may still act.
    pub(crate) const fn open_ends(&self) -> usize {
        self.open
    }

    /// Whether an event with this token is an act of applications.
    pub(crate) fn is_act(&self, token: Token) -> bool {
        token == self.act_token()
    }

    /// Whether an event with this token takes a packet out of a wire, or releases a delayed packet.
    pub(crate) fn moves_packet(&self, token: Token) -> bool {
        let ports = self.outside.network.ports().len();
        (token.0 as usize) < ports || token.0 > self.act_token().0
    }

    /// Brings the statistics of a switch port up to `now`.
    pub(crate) fn settle_switch_port(&mut self, port: PortId, now: Time) {
        let (network, watch) = (&mut self.outside.network, &mut self.outside.watch);
        network.settle_port(port, now, watch, &mut |_| false);
    }

    /// The outcome of all parts together, with these statistics of queues. `over` has the first time at which each flow
    /// was over: a flow completes in one part, and may fail in one or two.
    pub(crate) fn join(mut parts: Vec<Self>, over: &[Time], queues: Vec<QueueStatistics>) -> Self {
        let mut owners = vec![0; parts[0].hosts.len()];
        for (number, part) in parts.iter().enumerate() {
            for (host, owner) in (0..).map(HostId).zip(&mut owners) {
                if part.has_host(host) {
                    *owner = number;
                }
            }
        }
        join_connections(&mut parts, &owners);
        let revoked = join_flows(&mut parts, &owners, over);
        let others = parts.split_off(1);
        let mut world = parts.swap_remove(0);
        for other in others {
            world.take_over(other);
        }
        for (flow, at) in revoked {
            let of = FlowId(world.flows[flow as usize].connection);
            world.outside.watch.probe.revoke((of, flow), at);
        }
        world.queues = Some(queues);
        world
    }

    /// Takes over hosts, ports and counters of another part.
    fn take_over(&mut self, other: Self) {
        let probe = &other.outside.watch.probe;
        for (number, host) in other.hosts.into_iter().enumerate() {
            if probe.has_host(HostId(id(number))) {
                self.hosts[number] = host;
            }
        }
        let packets = self.outside.watch.packets.iter_mut();
        for (own, others) in packets.zip(&other.outside.watch.packets) {
            own.dropped += others.dropped;
            own.inside = own.inside.wrapping_add(others.inside);
        }
        self.violation = self.violation.take().or(other.violation);
        self.open += other.open;
        let network = &mut self.outside.network;
        network.join(other.outside.network, |port| probe.has_port(port));
        let probe = other.outside.watch.probe;
        self.outside.watch.probe.take_over(probe);
    }
}

/// The first part gets each connection with the state of its receiver's part and of its sender's part.
fn join_connections<R, P>(parts: &mut [World<R, P>], owners: &[usize]) {
    for number in 0..parts[0].connections.len() {
        let connection = &parts[0].connections[number];
        let ends = [connection.sender, connection.receiver];
        let [sender, receiver] = ends.map(|(host, _)| owners[host.0 as usize]);
        let at_sender = &parts[sender].connections[number];
        let failure = at_sender.failure;
        let answered = at_sender.messages.as_ref().map(|all| all.answered());
        let connection = swap(parts, receiver, |part| &mut part.connections[number]);
        connection.failure = first_of(failure, connection.failure);
        if let (Some(messages), Some(answered)) = (&mut connection.messages, answered) {
            messages.join(answered);
        }
    }
}

/// The first part gets each flow likewise. Returns the flows that were not complete after all, and the time of their
/// supposed completion.
fn join_flows<R, P>(
    parts: &mut [World<R, P>],
    owners: &[usize],
    over: &[Time],
) -> Vec<(u32, Time)> {
    let mut revoked = Vec::new();
    for (number, over) in over.iter().enumerate() {
        let connection = parts[0].flows[number].connection as usize;
        let ends = &parts[0].connections[connection];
        let ends = [ends.sender, ends.receiver];
        let [sender, receiver] = ends.map(|(host, _)| owners[host.0 as usize]);
        let at_sender = &parts[sender].flows[number];
        let (acknowledged, failure) = (at_sender.acknowledged, at_sender.failure);
        let flow = swap(parts, receiver, |part| &mut part.flows[number]);
        flow.acknowledged = acknowledged;
        let failure = first_of(failure, flow.failure);
        if failure.is_none() {
            continue;
        }
        // The first failure of an end holds for both ends. A flow that is complete by then stays complete.
        flow.failure = failure.filter(|_| *over < flow.completion);
        if flow.failure.is_some() && flow.completion != Time::NEVER {
            revoked.push((id(number), flow.completion));
            flow.completion = Time::NEVER;
            let messages = &mut parts[0].connections[connection].messages;
            if let Some(messages) = messages {
                messages.uncomplete();
            }
        }
        let flow = &mut parts[0].flows[number];
        if flow.failure.is_some() && flow.first_byte > *over {
            flow.first_byte = Time::NEVER;
        }
    }
    revoked
}

/// The earlier of two failures at both ends, because the end that fails first resets the other.
fn first_of(one: Option<FlowFailure>, other: Option<FlowFailure>) -> Option<FlowFailure> {
    one.into_iter().chain(other).min()
}

/// Exchanges a field of the first part with the same field of another part, and returns it.
fn swap<W, T>(parts: &mut [W], other: usize, of: impl Fn(&mut W) -> &mut T) -> &mut T {
    let (first, others) = parts.split_at_mut(1);
    if let Some(other) = other.checked_sub(1) {
        std::mem::swap(of(&mut first[0]), of(&mut others[other]));
    }
    of(&mut first[0])
}
