//! The parts that the completion time of a flow consists of.
//!
//! The time from the start of a flow to its completion is cut into eight [`Part`]s, which sum to it exactly. The cut
//! follows the *critical packet*, whose arrival completes the flow and puts the last byte in order.
//!
//! - From the start until the critical packet is sent, time is booked by the state of the sender. It is booked each
//!   time the sender sends, up to this moment, so each moment is booked exactly once. While the bytes already sent
//!   would still occupy the slowest link of the path without other traffic, the time is *serialisation*. The rest of
//!   the time since the last segment is booked to the event that let the sender send: the handshake ended, the
//!   application wrote, a timer expired, a loss was repaired, or an ACK opened the window.
//! - The time that ends with an ACK is divided. The delay that others' packets caused to the ACK and to the segment
//!   that it acknowledges is *queueing*. The time that a delayed ACK waited for its timer is *timers*. The remaining
//!   time is *window*: the sender would have waited in an empty network, too.
//! - After it is sent, the time is that of the critical packet's way: the *propagation* of its links, the
//!   *serialisation* of the packet and of the flow's own packets before it in queues, and *queueing*.
//!
//! The delay that others cause to a packet is the difference to a second network that carries this connection alone:
//! `way` sends every packet over it, too. In a first-in-first-out network a packet is never earlier than in this second
//! network, and the packets of a flow that is really alone are never later: its queueing is zero to the picosecond.
//!
//! An end knows only what a packet has brought to it. The first packet of a direction learns the path, and its answer
//! brings the path back. The sender learns in the same way that a timer of the receiver has expired. So the two ends
//! may be simulated apart; see [`divided`](crate::divided).

mod connection;
mod flight;
mod way;

use base::{FlowId, HostId, Packet, Time};
use connection::FollowedConnection;
use fabric::{DropReason, Network, PortId};
use flight::Flights;
use schemes::Sender;
use tcp::Endpoint;
use way::Hop;

use crate::probe::{End, Follow, Probe};

pub(crate) use flight::Followed;

pub use crate::parts::{Breakdown, Part, Parts, Split};

/// Follows every connection of a simulation, or of a part of its network.
#[derive(Default)]
pub(crate) struct Follower {
    ports: Vec<Hop>,
    header_bytes: u32,
    /// The receiver of each connection.
    receivers: Vec<HostId>,
    /// Packets on their way.
    flights: Flights,
    /// Connections that have begun here and are not over.
    connections: Vec<Option<Box<FollowedConnection>>>,
    /// Connections that are over, whose memory is used again.
    over: Vec<FollowedConnection>,
    /// The breakdown of each complete flow.
    done: Vec<Option<Box<Breakdown>>>,
    /// The parts booked before each flow whose sender was in another part.
    befores: Vec<(u32, Breakdown)>,
}

impl Follower {
    /// Takes over the knowledge of another part of the network.
    pub(crate) fn join(&mut self, other: Self) {
        self.befores.extend(other.befores);
        let connections = self.connections.drain(..).chain(other.connections);
        for connection in connections.flatten() {
            self.befores.extend(connection.befores());
        }
        for (own, others) in self.done.iter_mut().zip(other.done) {
            *own = own.take().or(others);
        }
    }

    /// Flow `id`, planned for `planned`, starts now on the connection `of`. Its sender may be in another part.
    pub(crate) fn begin_message(
        &mut self,
        (of, id): (FlowId, u32),
        (planned, now): (Time, Time),
        here: bool,
    ) {
        let connection = begun(&mut self.connections[of.0 as usize], &mut self.over, now);
        connection.begin(id, (now, now.since(planned).as_ps()), here);
    }

    /// `packet` goes on in another part of the network, after `port`.
    pub(crate) fn export(&mut self, port: PortId, packet: &Packet) -> Option<Followed> {
        self.flights.export(port, packet)
    }

    /// A packet comes from another part of the network.
    pub(crate) fn import(&mut self, packet: Followed) {
        self.flights.import(packet);
    }

    /// Whether a packet goes from the receiver of data to the sender.
    #[inline(always)]
    fn goes_back(&self, packet: &Packet) -> bool {
        packet.to != self.receivers[packet.flow.0 as usize]
    }
}

/// The connection at this place, which begins `now` if it has not begun.
#[inline(always)]
fn begun<'a>(
    place: &'a mut Option<Box<FollowedConnection>>,
    over: &mut Vec<FollowedConnection>,
    now: Time,
) -> &'a mut FollowedConnection {
    place.get_or_insert_with(|| {
        Box::new(match over.pop() {
            Some(former) => former.renewed(now),
            None => FollowedConnection::new(now),
        })
    })
}

impl Probe for Follower {
    fn keeps_ends(&self) -> bool {
        false
    }

    #[inline(always)]
    fn on_accept(&mut self, port: PortId, packet: &Packet, _now: Time) {
        self.flights.wait(port, packet);
    }

    fn on_drop(&mut self, port: PortId, packet: &Packet, _reason: DropReason, _now: Time) {
        self.flights.lose(port, packet);
    }

    fn on_lost(&mut self, port: PortId, packet: &Packet, _reason: DropReason, _now: Time) {
        drop(self.flights.export(port, packet));
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        if let Some(connection) = &mut self.connections[end.flow.0 as usize] {
            connection.on_event(end, endpoint, now, &mut self.flights);
        }
    }
}

impl Follow for Follower {
    fn begin(
        &mut self,
        network: &Network,
        header_bytes: u32,
        receivers: impl Iterator<Item = HostId>,
        flows: usize,
    ) {
        self.ports = network.ports().iter().map(Hop::of).collect();
        self.flights = Flights::new(self.ports.len(), network.is_disordered());
        self.header_bytes = header_bytes;
        self.receivers = receivers.collect();
        self.connections = self.receivers.iter().map(|_| None).collect();
        self.done = (0..flows).map(|_| None).collect();
    }

    fn on_message(&mut self, place: (FlowId, u32), times: (Time, Time), _sender: HostId) {
        self.begin_message(place, times, true);
    }

    fn revoke(&mut self, (_, id): (FlowId, u32), _at: Time) {
        self.done[id as usize] = None;
    }

    fn on_message_end(&mut self, of: FlowId, id: u32, now: Time) {
        if let Some(connection) = &mut self.connections[of.0 as usize] {
            let parts = connection.complete(id, now, &mut self.flights);
            self.done[id as usize] = parts.map(Box::new);
        }
    }

    fn on_send(&mut self, packet: &Packet, now: Time) {
        let back = self.goes_back(packet);
        let bytes = u64::from(self.header_bytes) + u64::from(packet.payload);
        let connection = &mut self.connections[packet.flow.0 as usize];
        let connection = begun(connection, &mut self.over, now);
        connection.on_send(packet, back, (bytes, now), &mut self.flights);
    }

    #[inline(always)]
    fn on_arrival(&mut self, port: PortId, packet: &Packet) {
        self.flights.arrive(port, packet);
    }

    fn on_release(&mut self) {
        self.flights.release();
    }

    fn on_delivery(&mut self, packet: &Packet, now: Time) {
        let back = self.goes_back(packet);
        let Some(place) = self.flights.land(packet) else {
            // A copy of a packet is not followed.
            return;
        };
        let connection = &mut self.connections[packet.flow.0 as usize];
        let connection = begun(connection, &mut self.over, now);
        let known = (&mut self.flights, &self.ports[..]);
        connection.on_delivery(packet, place, (back, now), known);
    }

    fn on_gone(&mut self, of: FlowId) {
        if let Some(mut connection) = self.connections[of.0 as usize].take() {
            connection.end(&mut self.flights);
            self.over.push(*connection);
        }
    }

    fn take(&mut self) -> Vec<Option<Box<Breakdown>>> {
        let mut done = std::mem::take(&mut self.done);
        for (id, before) in self.befores.drain(..) {
            if let Some(parts) = &mut done[id as usize] {
                **parts = parts.since(&before);
            }
        }
        done
    }
}
