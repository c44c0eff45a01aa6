//! The time that a flow would take alone in the network. A flow's slowdown is its completion time over this time.
//!
//! It is the least time in which TCP could deliver the flow over its path if nothing else were there and no window
//! held the sender back. Three steps follow one another:
//!
//! 1. A flow that opens its connection waits for a SYN and a SYN-ACK, and sends an ACK before its data (RFC 9293 §3.5).
//! 2. A flow whose receiver asks for it waits for the request.
//! 3. All bytes leave at once, in full segments and a last one with the rest. A link starts to send a packet when it
//!    has received all of it and has sent the packet before it.
//!
//! So a lone flow whose initial window holds all of it has a slowdown of 1. A higher slowdown is the cost of windows,
//! timers, pauses of the application, waits for an earlier connection, jitter of links, other flows' packets, and the
//! ACK of a request, which may leave ahead of the answer.

use base::{FlowId, HostId, Packet, Span};
use fabric::{LinkSpec, Network};
use plan::Group;

use crate::world::EndedFlow;

/// Finds the times of one flow after the other.
pub(crate) struct Alone {
    /// Bytes of a packet on the wire that are not payload.
    header: u64,
    /// The links of a path. A field so that its memory is used again.
    links: Vec<LinkSpec>,
}

/// Packets that leave at once, as (number, bytes of each): the ACK that ends the handshake, full segments, and a last one
/// with the rest of the payload. The number is 0 for a size that does not occur.
type Train = [(u64, u64); 3];

impl Alone {
    /// A calculator for packets with this many bytes of headers.
    pub(crate) const fn new(header_bytes: u32) -> Self {
        Self {
            header: header_bytes as u64,
            links: Vec::new(),
        }
    }

    /// How long a flow of `group` would take; `None` for a flow without an end. O(links of its path).
    pub(crate) fn time(
        &mut self,
        group: &Group,
        of: &EndedFlow,
        network: &mut Network,
    ) -> Option<Span> {
        let size = of.flow.size()?;
        let mss = u64::from(group.keys.tcp.mss.0);
        let asked = of.request.is_some();
        let opens = of.flow.opens;
        let single = [(1, self.header), (0, 0), (0, 0)];
        let ends = (of.sender, of.receiver);
        let connection = FlowId(of.flow.connection);
        self.find(ends, connection, network);
        // The ACK that ends the handshake leaves together with the next packets of the opener.
        let mut time = self.way(self.train(size, mss, opens && !asked));
        if opens {
            time += self.way(single);
        }
        if opens || asked {
            self.find((ends.1, ends.0), connection, network);
        }
        if opens {
            time += self.way(single);
        }
        if let Some(request) = of.request {
            time += self.way(self.train(request, mss, opens));
        }
        Some(time)
    }

    /// Finds the links from one host to another.
    fn find(&mut self, (from, to): (HostId, HostId), connection: FlowId, network: &mut Network) {
        let packet = Packet::new(connection, to);
        self.links.clear();
        self.links.extend(network.path(from, &packet));
    }

    /// The packets of this payload, after an ACK if `acks`.
    fn train(&self, payload: u64, mss: u64, acks: bool) -> Train {
        let rest = payload % mss;
        [
            (acks.into(), self.header),
            (payload / mss, mss + self.header),
            ((rest > 0).into(), rest + self.header),
        ]
    }

    /// When the last packet of `train` has arrived over the links.
    ///
    /// For packets of one size, only the first and the last are followed. The gaps between packets grow from the first
    /// to the last, because packets that a link held up come closer together. So the last one leaves a link either
    /// right after its own arrival, or when the link has sent all packets without a gap.
    fn way(&self, train: Train) -> Span {
        let mut arrived = [(Span::ZERO, Span::ZERO); 3];
        for link in &self.links {
            let mut free = Span::ZERO;
            for ((count, bytes), (first, last)) in train.into_iter().zip(&mut arrived) {
                if count > 0 {
                    let each = link.rate.serialisation(bytes);
                    let begun = free.max(*first) + each;
                    free = (begun + each * (count - 1)).max(*last + each);
                    (*first, *last) = (begun + link.delay, free + link.delay);
                }
            }
        }
        let last = arrived.into_iter().map(|(_, last)| last).max();
        last.unwrap_or(Span::ZERO)
    }
}
