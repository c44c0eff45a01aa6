//! The way of a packet, without sending it.

use base::{HostId, Packet};

use super::Network;
use crate::port::End;
use crate::topology::LinkSpec;

impl Network {
    /// The links that a packet from `from` passes next, in their order. Where every packet takes a way of its own, this
    /// one takes part: the next packet takes another.
    ///
    /// # Panics
    /// If nobody told of the flow of the packet.
    pub fn path<'a>(
        &'a mut self,
        from: HostId,
        packet: &'a Packet,
    ) -> impl Iterator<Item = LinkSpec> + 'a {
        let mut next = Some(self.host_ports[from.0 as usize]);
        std::iter::from_fn(move || {
            let port = &self.ports[next?.0 as usize];
            next = match port.end {
                End::Host(_) => None,
                End::Switch(row) => Some(self.routes.next(row, packet)),
            };
            Some(port.link())
        })
    }
}
