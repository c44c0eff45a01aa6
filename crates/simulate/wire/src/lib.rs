//! Writes and reads IPv4 and TCP packets as bytes.
//!
//! [`encode`] writes a [`base::Packet`], with addresses and payload, which the simulator does not have. [`decode`]
//! reads one, or says why the bytes are none. Captures use the first, and exchanges with real hosts use both. Nothing
//! here waits, stores data or reads a clock. [`pcapng`] writes files of packets.
//!
//! Both are written by hand, because they need the four reserved bits of the TCP header, which header libraries leave
//! out, and the option of a scheme. IP options are skipped, fragments are refused, and urgent data is ordinary data, as
//! in most stacks.
//!
//! ```
//! use std::net::SocketAddrV4;
//!
//! use base::{FlowId, HostId, Packet, Seq, TcpFlags};
//! use wire::Ends;
//!
//! let ends = Ends {
//!     source: "10.0.0.1:4000".parse::<SocketAddrV4>()?,
//!     destination: "10.0.0.2:80".parse()?,
//! };
//! let mut packet = Packet::new(FlowId(0), HostId(0));
//! (packet.seq, packet.flags, packet.payload) = (Seq(7), TcpFlags::PSH, 5);
//! let mut bytes = Vec::new();
//! wire::encode(&mut bytes, &packet, ends, 1, b"hello");
//!
//! let segment = wire::decode(&bytes)?;
//! assert_eq!((segment.ends, segment.payload), (ends, &b"hello"[..]));
//! assert_eq!(segment.packet.seq, Seq(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checksum;
mod decode;
mod encode;
mod option;
pub mod pcapng;

use std::net::SocketAddrV4;

pub use decode::{DecodedSegment, Refusal, Refusals, decode};
pub use encode::encode;

/// The source and the destination of a segment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ends {
    /// Address and port of its sender.
    pub source: SocketAddrV4,
    /// Address and port that it is sent to.
    pub destination: SocketAddrV4,
}

impl Ends {
    /// The ends of an answer.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
        }
    }
}

/// Bytes of an IPv4 header without options (RFC 791 §3.1).
const IP: usize = 20;
/// Bytes of a TCP header without options (RFC 9293 §3.1).
const TCP: usize = 20;
/// RFC 9293 §6.
const PROTOCOL_TCP: u8 = 6;
