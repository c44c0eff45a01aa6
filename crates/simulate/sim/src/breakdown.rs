//! What the completion time of a flow consists of.
//!
//! The time from the start of a flow to its completion is cut into eight [`Part`]s, which sum to it
//! exactly. The cut follows what completes the flow: the *critical packet*, whose arrival puts the last byte
//! in order.
//!
//! - From the start until the critical packet is sent, time is booked by the state of the sender. Time is
//!   booked when the sender sends, and then up to this moment, so that no moment is booked twice or never.
//!   While the bytes that it has sent would still occupy the slowest link of the path, if no others used
//!   it, the time is *serialisation*. The rest of the time since the last segment went to what let the
//!   sender send: the handshake ended, the application wrote, a timer expired, a loss was repaired, or an
//!   ACK opened the window.
//! - Of the time that an ACK ended, as much is *queueing* as the ACK, and the segment that it answers, were late because
//!   of others' packets; as much of the rest is *timers* as a delayed ACK waited for its timer; and what is
//!   left is *window*: the sender would have waited in an empty network, too.
//! - From then on the time is that of the critical packet's way: the *propagation* of its links, the
//!   *serialisation* of itself and of what the flow has before it in queues, and *queueing*.
//!
//! How late a packet is because of others follows from a second network that carries this connection
//! alone: `way` sends every packet over it. In a first-in-first-out network a packet is never earlier than there, and
//! a flow that is really alone is never later: its queueing is zero to the picosecond.

mod connection;
mod way;

use base::{FlowId, HostId, Packet, Time};
use connection::FollowedConnection;
use fabric::Network;
use way::Hop;

pub use crate::parts::{Breakdown, Part, Parts, Split};

/// Follows every connection of a simulation.
#[derive(Default)]
pub(crate) struct Follower {
    ports: Vec<Hop>,
    header_bytes: u32,
    /// The receiver of each connection.
    receivers: Vec<HostId>,
    /// Connections that have begun and are not over.
    connections: Vec<Option<Box<FollowedConnection>>>,
    /// Of each flow that is complete.
    done: Vec<Option<Box<Breakdown>>>,
}

impl Follower {
    pub(crate) fn begin(
        &mut self,
        network: &Network,
        header_bytes: u32,
        receivers: Vec<HostId>,
        flows: usize,
    ) {
        self.ports = network.ports().iter().map(Hop::of).collect();
        self.header_bytes = header_bytes;
        self.connections = receivers.iter().map(|_| None).collect();
        self.receivers = receivers;
        self.done = (0..flows).map(|_| None).collect();
    }

    /// What became of every flow, by number.
    pub(crate) fn take(&mut self) -> Vec<Option<Box<Breakdown>>> {
        std::mem::take(&mut self.done)
    }

    /// Flow `id` starts now on the connection `of`; it was to start at `planned`.
    pub(crate) fn on_message(&mut self, of: FlowId, id: u32, (planned, now): (Time, Time)) {
        let connection = self.connections[of.0 as usize]
            .get_or_insert_with(|| Box::new(FollowedConnection::new(now)));
        connection.begin(id, now, now.since(planned).as_ps());
    }

    /// A host hands `packet` to its port.
    pub(crate) fn on_send(&mut self, packet: &Packet, now: Time) {
        let back = packet.to != self.receivers[packet.flow.0 as usize];
        let bytes = u64::from(self.header_bytes) + u64::from(packet.payload);
        let connection = &mut self.connections[packet.flow.0 as usize];
        let connection = connection.get_or_insert_with(|| Box::new(FollowedConnection::new(now)));
        connection.on_send(packet, back, (bytes, now));
    }

    /// `packet` has come out of the wire behind `port`.
    #[inline(always)]
    pub(crate) fn on_hop(&mut self, port: fabric::PortId, packet: &Packet) {
        if let Some(connection) = &mut self.connections[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            connection.learn(&self.ports[port.0 as usize], back);
        }
    }

    /// `packet` is lost.
    pub(crate) fn on_drop(&mut self, packet: &Packet) {
        if let Some(connection) = &mut self.connections[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            connection.on_drop(packet, back);
        }
    }

    /// `packet` has reached its host, which handles it next.
    pub(crate) fn on_delivery(&mut self, packet: &Packet, now: Time) {
        if let Some(connection) = &mut self.connections[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            connection.on_delivery(packet, back, now);
        }
    }

    /// The last byte of flow `id` is in order at its receiver.
    pub(crate) fn on_completion(&mut self, of: FlowId, id: u32, now: Time) {
        if let Some(connection) = &mut self.connections[of.0 as usize] {
            self.done[id as usize] = connection.complete(id, now).map(Box::new);
        }
    }

    /// The line of a connection with an event.
    pub(crate) fn connection(&mut self, of: FlowId) -> Option<&mut FollowedConnection> {
        self.connections[of.0 as usize].as_deref_mut()
    }

    /// The endpoints of a connection go.
    pub(crate) fn on_gone(&mut self, of: FlowId) {
        self.connections[of.0 as usize] = None;
    }
}
