//! Watching a simulation without changing it.

use base::{Packet, Time};
use fabric::PortId;

/// Sees every packet-hop. `()` sees nothing and costs nothing.
pub trait Probe {
    /// `packet` has come out of the wire behind `port`. If a switch took it, it carries the mark
    /// that it got there.
    #[inline]
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let _ = (port, packet, now);
    }
}

impl Probe for () {}

impl<F: FnMut(PortId, &Packet, Time)> Probe for F {
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        self(port, packet, now);
    }
}
