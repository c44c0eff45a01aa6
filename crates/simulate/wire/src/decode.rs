//! From bytes to packets.

use std::net::{Ipv4Addr, SocketAddrV4};

use base::{
    Ecn, Extension, FlowId, HostId, Options, Packet, SackBlocks, Seq, SynOptions, TcpFlags,
    Timestamps,
};

use crate::checksum::{fold, pseudo, sum};
use crate::option::{END, EXPERIMENT, MSS, NOP, SACK, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE};
use crate::{Ends, IP, PROTOCOL_TCP, TCP};

/// A segment that was read.
#[derive(Clone, Copy, Debug)]
pub struct DecodedSegment<'b> {
    /// The segment. Its `flow` and `to` are 0; the caller finds the connection from `ends`.
    pub packet: Packet,
    /// Its source and its destination.
    pub ends: Ends,
    /// Its payload, with the length in the headers.
    pub payload: &'b [u8],
}

base::names! {
    /// Why bytes are refused as a segment.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Refusal {
        /// Fewer bytes than a header has, or than the header says.
        Short = "cut short",
        /// Another version of IP.
        Version = "another version of IP than 4",
        /// The IP header contradicts itself: its length, or that of the packet.
        Header = "contradictory IP header",
        /// A part of a packet.
        Fragment = "fragment",
        /// The checksum of the IP header is wrong.
        HeaderChecksum = "wrong checksum of the IP header",
        /// Another protocol than TCP.
        Protocol = "another protocol than TCP",
        /// The TCP header is shorter than one, or longer than the packet.
        Offset = "contradictory TCP header",
        /// The checksum of the segment is wrong.
        Checksum = "wrong checksum of the segment",
    }
}

/// How many packets were refused, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refusals([u64; Refusal::ALL.len()]);

impl Refusals {
    /// Counts one.
    pub const fn add(&mut self, reason: Refusal) {
        self.0[reason as usize] += 1;
    }

    /// How many were refused for this reason.
    pub const fn of(&self, reason: Refusal) -> u64 {
        self.0[reason as usize]
    }

    /// How many were refused.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl std::error::Error for Refusal {}

/// Reads an IPv4 packet with a TCP segment. Bytes after the packet are padding.
///
/// Unknown options are skipped, and so is everything after an option with a wrong length (RFC 9293 §3.1). If there are
/// more SACK blocks than fit into [`SackBlocks`], the first ones are kept. Both code points of ECN-capable transport
/// become [`Ecn::Capable`].
///
/// # Errors
/// The first [`Refusal`] that holds, in the order of [`Refusal::ALL`].
pub fn decode(bytes: &[u8]) -> Result<DecodedSegment<'_>, Refusal> {
    let header = bytes.first_chunk::<IP>().ok_or(Refusal::Short)?;
    if header[0] >> 4 != 4 {
        return Err(Refusal::Version);
    }
    let begin = usize::from(header[0] & 0xf) * 4;
    let end = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if begin < IP || end < begin {
        return Err(Refusal::Header);
    }
    let packet = bytes.get(..end).ok_or(Refusal::Short)?;
    // RFC 791 §3.1: more fragments follow, or this is not the first one.
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Err(Refusal::Fragment);
    }
    if fold(sum(&packet[..begin])) != 0 {
        return Err(Refusal::HeaderChecksum);
    }
    if header[9] != PROTOCOL_TCP {
        return Err(Refusal::Protocol);
    }
    let (from, to) = (word(header, 12).into(), word(header, 16).into());
    let mut segment = tcp(&packet[begin..], (from, to))?;
    segment.packet.dscp = header[1] >> 2;
    segment.packet.ecn = match header[1] & 0b11 {
        0b00 => Ecn::NotCapable,
        0b11 => Ecn::Marked,
        _ => Ecn::Capable,
    };
    Ok(segment)
}

/// RFC 9293 §3.1.
fn tcp(bytes: &[u8], (from, to): (Ipv4Addr, Ipv4Addr)) -> Result<DecodedSegment<'_>, Refusal> {
    let header = bytes.first_chunk::<TCP>().ok_or(Refusal::Short)?;
    let offset = usize::from(header[12] >> 4) * 4;
    let (Some(options), true) = (bytes.get(TCP..offset), offset >= TCP) else {
        return Err(Refusal::Offset);
    };
    if fold(sum(bytes) + pseudo(from, to, bytes.len())) != 0 {
        return Err(Refusal::Checksum);
    }
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let payload = &bytes[offset..];
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.seq = Seq(word(header, 4));
    packet.ack = Seq(word(header, 8));
    packet.flags = flags(header[13]);
    packet.reserved = header[12] & 0xf;
    packet.window = half(14);
    packet.payload = u16::try_from(payload.len()).map_err(|_| Refusal::Header)?;
    read_options(&mut packet, options);
    Ok(DecodedSegment {
        packet,
        ends: Ends {
            source: SocketAddrV4::new(from, half(0)),
            destination: SocketAddrV4::new(to, half(2)),
        },
        payload,
    })
}

fn flags(bits: u8) -> TcpFlags {
    let set = FLAGS.into_iter().filter(|flag| bits & flag.bits() > 0);
    set.fold(TcpFlags::NONE, TcpFlags::with)
}

/// Reads the known options that this kind of segment may have.
fn read_options(packet: &mut Packet, mut rest: &[u8]) {
    let mut syn = SynOptions {
        mss: DEFAULT_MSS,
        window_scale: None,
        sack_permitted: false,
    };
    let mut sack = SackBlocks::new();
    let mut timestamps = None;
    loop {
        let length = match *rest {
            [] | [END, ..] => break,
            [NOP, ..] => {
                rest = &rest[1..];
                continue;
            }
            [_, length, ..] => usize::from(length),
            [_] => break,
        };
        // After an impossible length, the start of the next option is unknown.
        let (true, Some(option)) = (length >= 2, rest.get(..length)) else {
            break;
        };
        rest = &rest[length..];
        match (option[0], &option[2..]) {
            (MSS, &[high, low]) => syn.mss = u16::from_be_bytes([high, low]),
            (WINDOW_SCALE, &[shift]) => syn.window_scale = Some(shift),
            (SACK_PERMITTED, []) => syn.sack_permitted = true,
            (SACK, blocks) if blocks.len() % 8 == 0 => {
                for block in blocks.chunks_exact(8) {
                    sack.push(Seq(word(block, 0)), Seq(word(block, 4)));
                }
            }
            (TIMESTAMPS, both) if both.len() == 8 => {
                let (value, echo) = (word(both, 0), word(both, 4));
                timestamps = Some(Timestamps { value, echo });
            }
            (_, own) if option.starts_with(&EXPERIMENT) && own.len() == 14 => {
                packet.extension = Extension([word(own, 2), word(own, 6), word(own, 10)]);
            }
            _ => {}
        }
    }
    if packet.flags.has(TcpFlags::SYN) {
        packet.options = Options::Syn(syn);
    } else if !sack.as_slice().is_empty() {
        packet.options = Options::Sack(sack);
    }
    if let Some(timestamps) = timestamps {
        packet.options = packet.options.stamped(timestamps);
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The flags that endpoints use. Urgent data is read as ordinary data.
const FLAGS: [TcpFlags; 7] = [
    TcpFlags::FIN,
    TcpFlags::SYN,
    TcpFlags::RST,
    TcpFlags::PSH,
    TcpFlags::ACK,
    TcpFlags::ECE,
    TcpFlags::CWR,
];
/// RFC 9293 §3.7.1: for a SYN without the option.
const DEFAULT_MSS: u16 = 536;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;

    fn ends() -> Ends {
        Ends {
            source: "10.0.0.1:4000".parse().unwrap(),
            destination: "10.0.0.2:80".parse().unwrap(),
        }
    }

    fn bytes(packet: &Packet, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, packet, ends(), 9, payload);
        bytes
    }

    /// Decodes the packet of a test with some bytes changed and the IP checksum recomputed.
    fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Result<(), Refusal> {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = 4;
        let mut bytes = bytes(&packet, b"data");
        change(&mut bytes);
        if let Some(header) = bytes.get_mut(..IP) {
            header[10..12].fill(0);
            let checksum = fold(sum(header));
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        decode(&bytes).map(drop)
    }

    #[test]
    fn every_refusal_has_its_reason() {
        let reasons = [
            changed(|bytes| bytes.truncate(19)),
            changed(|bytes| bytes[0] = 0x65),
            changed(|bytes| bytes[0] = 0x44),
            changed(|bytes| bytes[6] = 0x20),
            changed(|bytes| bytes[9] = 17),
            changed(|bytes| bytes[32] = 0x40),
            changed(|bytes| bytes[32] = 0xf0),
            changed(|bytes| bytes[43] ^= 1),
            changed(|bytes| bytes[2..4].copy_from_slice(&[0, 19])),
            changed(|bytes| bytes[2..4].copy_from_slice(&[0, 45])),
        ];
        let expected = [
            Refusal::Short,
            Refusal::Version,
            Refusal::Header,
            Refusal::Fragment,
            Refusal::Protocol,
            Refusal::Offset,
            Refusal::Offset,
            Refusal::Checksum,
            Refusal::Header,
            Refusal::Short,
        ];
        assert_eq!(reasons, expected.map(Err));
        assert_eq!(changed(|bytes| bytes[6] = 0), Ok(()));
        let mut packet = bytes(&Packet::new(FlowId(0), HostId(0)), b"");
        packet[11] ^= 1;
        assert_eq!(decode(&packet).map(drop), Err(Refusal::HeaderChecksum));
    }

    #[test]
    fn padding_behind_a_packet_is_none_of_it() {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = 1;
        let mut bytes = bytes(&packet, b"x");
        bytes.extend([7; 6]);
        assert_eq!(decode(&bytes).unwrap().payload, b"x");
    }

    /// The options of a segment, read from these bytes.
    fn read(flags: TcpFlags, options: &[u8]) -> Options {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.flags = flags;
        read_options(&mut packet, options);
        packet.options
    }

    #[test]
    fn unknown_options_are_skipped_and_wrong_lengths_end_them() {
        let known = |scale| {
            Options::Syn(SynOptions {
                mss: 1460,
                window_scale: scale,
                sack_permitted: false,
            })
        };
        let mss = [2, 4, 5, 0xb4];
        let with = |more: &[u8]| read(TcpFlags::SYN, &[&mss[..], more].concat());
        assert_eq!(with(&[30, 4, 9, 9, 3, 3, 7, 1]), known(Some(7)));
        for wrong in [
            &[30, 1, 3, 3, 7][..],
            &[30, 9, 3, 3, 7],
            &[0, 3, 3, 7],
            &[3],
            &[3, 2],
            &[3, 4, 7, 7],
        ] {
            assert_eq!(with(wrong), known(None), "{wrong:?}");
        }
        // RFC 9293 §3.7.1: without the option, 536.
        let Options::Syn(syn) = read(TcpFlags::SYN, &[]) else {
            panic!("a SYN")
        };
        assert_eq!(syn.mss, 536);
    }

    #[test]
    fn options_stand_where_they_may() {
        assert_eq!(read(TcpFlags::ACK, &[2, 4, 5, 0xb4]), Options::None);
        let blocks = [&[1, 1, 5, 34][..], &[0; 32]].concat();
        let Options::Sack(sack) = read(TcpFlags::ACK, &blocks) else {
            panic!("blocks")
        };
        assert_eq!(sack.as_slice().len(), 3);
    }
}
