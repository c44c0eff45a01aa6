//! Observes a world at a moment.

use base::Sort as _;
use base::{HostId, Time};
use fabric::{PortId, Topology};
use schemes::Sender;
use tcp::{Endpoint, Plays, ReceiverCc};

use super::{Connection, Flow, World};
use crate::observation::{ConnectionState, FlowState, PortState, Snapshot};
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// An observation before any event has happened.
    pub(crate) fn overview(&self) -> Snapshot {
        let flow = |flow: &Flow| FlowState {
            connection: flow.connection,
            size: flow.size(),
            start: None,
            completion: None,
            failed: false,
        };
        let connection = |connection: &Connection| ConnectionState {
            group: connection.group,
            sender: connection.sender.0,
            receiver: connection.receiver.0,
            is_open: false,
            window: 0,
            in_flight: 0,
            unsent: 0,
        };
        let mut receivers: Vec<HostId> =
            self.connections.iter().map(|one| one.receiver.0).collect();
        receivers.order();
        receivers.dedup();
        let in_front = |host| self.topology.host_port(host).reverse();
        let mut ports: Vec<PortId> = receivers.into_iter().map(in_front).collect();
        if !ports.contains(&self.bottleneck) {
            ports.push(self.bottleneck);
        }
        let port = |port| PortState {
            port,
            waiting: 0,
            counters: self.outside.network.ports()[port.0 as usize].counters(),
        };
        Snapshot {
            now: Time::ZERO,
            flows: self.flows.iter().map(flow).collect(),
            connections: self.connections.iter().map(connection).collect(),
            ports: ports.into_iter().map(port).collect(),
            bottleneck: self.bottleneck,
        }
    }

    /// Brings an observation up to `now`; all events up to `now` have been handled. O(flows + observed ports).
    pub(crate) fn observe(&mut self, now: Time, seen: &mut Snapshot) {
        seen.now = now;
        for (state, flow) in seen.flows.iter_mut().zip(&self.flows) {
            state.start = flow.started.then_some(flow.start);
            state.completion = (flow.completion != Time::NEVER).then_some(flow.completion);
            state.failed = flow.failure.is_some();
        }
        for (state, connection) in seen.connections.iter_mut().zip(&self.connections) {
            let ends = self.ends(connection);
            state.is_open = ends.is_some();
            let of =
                |what: fn(&Endpoint<Sender>) -> u64| ends.map_or(0, |(sender, _)| what(sender));
            state.window = of(|sender| sender.cc().as_role().window());
            state.in_flight = of(Endpoint::in_flight);
            state.unsent = of(Endpoint::unsent);
        }
        let stale = &mut super::stale(&self.hosts, &self.connections);
        for state in &mut seen.ports {
            let port =
                self.outside
                    .network
                    .settle_port(state.port, now, &mut self.outside.watch, stale);
            state.waiting = port.waiting();
            state.counters = port.counters();
        }
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// When the first flow starts.
    pub(crate) fn first_start(&self) -> Time {
        self.first_start
    }

    /// When the last flow starts, if none waits for others. O(flows).
    pub(crate) fn last_start(&self) -> Time {
        let starts = self.flows.iter().map(|flow| flow.start);
        starts.max().unwrap_or(Time::ZERO)
    }
}
