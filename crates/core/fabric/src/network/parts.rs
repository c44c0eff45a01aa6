//! A network whose parts are simulated one by one.
//!
//! Each part has all ports, and uses those whose packets its own nodes send. A packet that goes to a node of
//! another part is taken out of the wire before it arrives, and put into the end of the same wire there.

use base::{Packet, Time};
use engine::{Scheduler, Token};

use super::Network;
use crate::port_id::PortId;

impl Network {
    /// The oldest packet behind `port` leaves its wire early, if it arrives by `until`; with the time at which it
    /// arrives. The port must have been settled up to a time at which the packet had been sent.
    pub fn export(&mut self, port: PortId, until: Time) -> Option<(Time, Packet)> {
        let from = &mut self.ports[port.0 as usize];
        let arrival = from.next_arrival().filter(|arrival| *arrival <= until)?;
        Some((arrival, from.take_sent()))
    }

    /// When the oldest packet behind `port` arrives, if there is one.
    pub fn next_arrival(&self, port: PortId) -> Option<Time> {
        self.ports[port.0 as usize].next_arrival()
    }

    /// A packet that another part has exported arrives out of the wire behind `port` at `arrival`. It is scheduled as
    /// if that had happened at `since`, unless packets before it are still on the wire. O(1).
    pub fn import(
        &mut self,
        port: PortId,
        packet: &Packet,
        (since, arrival): (Time, Time),
        sched: &mut Scheduler,
    ) {
        let to = &mut self.ports[port.0 as usize];
        if to.put_sent(packet, arrival) {
            sched.at_since(since, arrival, Token(port.0));
        }
    }

    /// Takes over what `other`, a part of the same network, has counted, and the ports that it has. O(ports).
    pub fn join(&mut self, other: Self, has_port: impl Fn(PortId) -> bool) {
        for (id, port) in (0..).map(PortId).zip(other.ports) {
            if has_port(id) {
                self.ports[id.0 as usize] = port;
            }
        }
        self.routes.join(&other.routes);
        let kept = other.detained.filter(|detained| detained.len() > 0);
        self.detained = kept.or_else(|| self.detained.take());
        self.hooked |= other.hooked;
        self.apart |= other.apart;
        self.disturbed |= other.disturbed;
        self.sent = self.sent.wrapping_add(other.sent);
        self.delivered = self.delivered.wrapping_add(other.delivered);
        self.lost = self.lost.wrapping_add(other.lost);
        self.digest = self.digest.wrapping_add(other.digest);
    }
}
