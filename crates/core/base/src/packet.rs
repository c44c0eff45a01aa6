//! The packet: a TCP segment with the fields of its headers that endpoints, switches and schemes use.

use crate::cast::low_32;
use crate::seq::Seq;

/// A connection; the same number at both of its ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

/// An end host; dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostId(pub u32);

/// One TCP segment on the wire.
///
/// `Copy`, because it moves by value from node to node; only the options of the few segments that carry
/// timestamps reach beyond a cache line. Its size on the
/// wire is `payload` plus the header bytes of the network, which is a setting and not a field. The fields
/// have an order, so that those before the options are copied together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Packet {
    /// The connection.
    pub flow: FlowId,
    /// The host it is addressed to.
    pub to: HostId,
    /// Sequence number of the first payload byte, or of the SYN or FIN if there is none.
    pub seq: Seq,
    /// Next sequence number expected from the other side; valid with [`TcpFlags::ACK`].
    pub ack: Seq,
    /// Advertised window in units of the connection's scale; unscaled on SYN segments (RFC 7323 §2.2).
    pub window: u16,
    /// Payload bytes.
    pub payload: u16,
    /// TCP flags.
    pub flags: TcpFlags,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Differentiated services code point: the priority of schemes that use one.
    pub dscp: u8,
    /// The four reserved bits of the TCP header.
    pub reserved: u8,
    /// TCP options.
    pub options: Options,
    /// Header space that belongs to the scheme.
    pub extension: Extension,
}

impl Packet {
    /// A segment without flags, payload or options.
    pub const fn new(flow: FlowId, to: HostId) -> Self {
        Self {
            flow,
            to,
            seq: Seq(0),
            ack: Seq(0),
            window: 0,
            payload: 0,
            flags: TcpFlags::NONE,
            ecn: Ecn::NotCapable,
            dscp: 0,
            reserved: 0,
            options: Options::None,
            extension: Extension::NONE,
        }
    }

    /// Sequence numbers the segment occupies: payload, SYN and FIN (RFC 9293 §3.4).
    pub const fn sequence_length(&self) -> u64 {
        self.payload as u64
            + self.flags.has(TcpFlags::SYN) as u64
            + self.flags.has(TcpFlags::FIN) as u64
    }
}

/// A set of TCP flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(2);
    /// Reset the connection.
    pub const RST: Self = Self(4);
    /// Push.
    pub const PSH: Self = Self(8);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(16);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Self = Self(64);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Self = Self(128);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set if `condition` holds, else the empty set.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    /// The byte of the TCP header.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Not ECN-capable: a congested queue can only drop it.
    #[default]
    NotCapable,
    /// ECN-capable transport, ECT(0).
    Capable,
    /// Congestion experienced.
    Marked,
}

/// TCP options of one segment: a SYN's or SACK blocks, never both, perhaps with timestamps before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Options {
    /// None.
    #[default]
    None,
    /// What a SYN or SYN-ACK negotiates.
    Syn(SynOptions),
    /// Received ranges above the acknowledgement (RFC 2018).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323 §3.2) and the options beside them.
    Stamped(Timestamps, Beside),
}

/// What a segment carries beside timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// Nothing.
    None,
    /// As [`Options::Syn`].
    Syn(SynOptions),
    /// As [`Options::Sack`].
    Sack(SackBlocks),
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// The clock of the sender of this segment (`TSval`).
    pub value: u32,
    /// A value of the other side; 0 in a SYN, which has none to echo (`TSecr`).
    pub echo: u32,
}

impl Options {
    /// These options with timestamps, in place of those that are there.
    #[must_use]
    pub const fn stamped(self, timestamps: Timestamps) -> Self {
        let beside = match self {
            Self::None => Beside::None,
            Self::Syn(syn) => Beside::Syn(syn),
            Self::Sack(blocks) => Beside::Sack(blocks),
            Self::Stamped(_, beside) => beside,
        };
        Self::Stamped(timestamps, beside)
    }

    /// The timestamps, if there are any.
    pub const fn timestamps(&self) -> Option<Timestamps> {
        match self {
            Self::Stamped(timestamps, _) => Some(*timestamps),
            _ => None,
        }
    }

    /// What a SYN negotiates.
    pub const fn syn(&self) -> Option<&SynOptions> {
        match self {
            Self::Syn(syn) | Self::Stamped(_, Beside::Syn(syn)) => Some(syn),
            _ => None,
        }
    }

    /// What a SYN negotiates, to be changed on the way.
    pub const fn syn_mut(&mut self) -> Option<&mut SynOptions> {
        match self {
            Self::Syn(syn) | Self::Stamped(_, Beside::Syn(syn)) => Some(syn),
            _ => None,
        }
    }

    /// Bytes that the SACK blocks take of a header: two of the option itself, two that align it, and eight for each
    /// (RFC 2018 §3).
    pub const fn sack_bytes(&self) -> u64 {
        match self.sack() {
            Some(blocks) => 4 + 8 * blocks.len as u64,
            None => 0,
        }
    }

    /// The SACK blocks, if there are any.
    pub const fn sack(&self) -> Option<&SackBlocks> {
        match self {
            Self::Sack(blocks) | Self::Stamped(_, Beside::Sack(blocks)) => Some(blocks),
            _ => None,
        }
    }
}

/// The options of a SYN or SYN-ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SynOptions {
    /// Largest payload the sender of this SYN accepts, in bytes (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Shift of the windows that the sender of this SYN will advertise; absent: no scaling.
    pub window_scale: Option<u8>,
    /// Whether SACK may be used (RFC 2018 §2).
    pub sack_permitted: bool,
}

/// Up to three SACK blocks; the first holds the segment that caused the ACK (RFC 2018 §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); Self::MAX],
    len: SackLen,
}

/// How many blocks; an enum, so that [`Options`] needs no byte for its own tag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
enum SackLen {
    Zero,
    One,
    Two,
    Three,
}

impl SackBlocks {
    /// How many blocks fit beside the timestamps that most stacks carry.
    pub const MAX: usize = 3;

    /// No blocks yet.
    pub const fn new() -> Self {
        Self {
            blocks: [(Seq(0), Seq(0)); Self::MAX],
            len: SackLen::Zero,
        }
    }

    /// Appends the block `start..end`; ignored when full.
    pub fn push(&mut self, start: Seq, end: Seq) {
        let longer = match self.len {
            SackLen::Zero => SackLen::One,
            SackLen::One => SackLen::Two,
            SackLen::Two => SackLen::Three,
            SackLen::Three => return,
        };
        self.blocks[self.len as usize] = (start, end);
        self.len = longer;
    }

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..self.len as usize]
    }
}

impl Default for SackBlocks {
    fn default() -> Self {
        Self::new()
    }
}

/// Header space owned by a scheme: RCC's flow size in the SYN, XCP's header, RCP's rate.
/// Opaque to everything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extension(pub [u32; 3]);

impl Extension {
    /// Nothing carried.
    pub const NONE: Self = Self([0; 3]);

    /// An extension that carries one 64-bit number.
    pub const fn from_u64(value: u64) -> Self {
        Self([low_32(value), low_32(value >> 32), 0])
    }

    /// The number that [`Extension::from_u64`] stored.
    pub const fn as_u64(self) -> u64 {
        self.0[0] as u64 | (self.0[1] as u64) << 32
    }
}

const _: () = assert!(
    size_of::<Packet>() == 72,
    "a packet has the size of a cache line and of timestamps"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_returns_the_number_it_carries() {
        for value in [0, 1, u64::from(u32::MAX) + 1, u64::MAX] {
            assert_eq!(Extension::from_u64(value).as_u64(), value);
        }
    }

    // RFC 7323, appendix A: with timestamps three blocks fill the 40 bytes that options may take.
    #[test]
    fn sack_blocks_take_eight_bytes_each_and_four_together() {
        assert_eq!(Options::None.sack_bytes(), 0);
        let mut blocks = SackBlocks::new();
        for bytes in [12, 20, 28] {
            blocks.push(Seq(1), Seq(2));
            assert_eq!(Options::Sack(blocks).sack_bytes(), bytes);
        }
        let stamps = Timestamps { value: 1, echo: 1 };
        assert_eq!(Options::Sack(blocks).stamped(stamps).sack_bytes(), 28);
    }

    #[test]
    fn syn_and_fin_occupy_a_sequence_number() {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = 10;
        packet.flags = TcpFlags::FIN.with(TcpFlags::ACK);
        assert_eq!(packet.sequence_length(), 11);
    }
}
