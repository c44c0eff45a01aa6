//! The headers of a captured packet, as far as a flow needs them.
//!
//! Captures are cut short, contain packets without final checksums, and contain large segments that a network card
//! splits later. So only lengths are checked here; the crate `wire` reads packets that must be correct.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) source: (IpAddr, u16),
    pub(crate) target: (IpAddr, u16),
    pub(crate) seq: u32,
    pub(crate) syn: bool,
    pub(crate) ack: bool,
    pub(crate) payload: u32,
}

/// Why a packet is no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// It is something else.
    NotTcp,
    /// Its headers are not all there.
    Cut,
}

/// The segment in the frame `bytes`, which had `length` bytes on a link of this type.
pub(crate) fn segment(link: u32, bytes: &[u8], length: u32) -> Result<Segment, Other> {
    let (begin, kind) = network(link, bytes)?;
    let packet = bytes.get(begin..).ok_or(Other::Cut)?;
    let length = length.saturating_sub(u32::try_from(begin).unwrap_or(u32::MAX));
    match kind {
        Protocol::Ip if packet.first().is_some_and(|first| first >> 4 == 6) => ipv6(packet, length),
        Protocol::Ip => ipv4(packet, length),
        Protocol::Other => Err(Other::NotTcp),
    }
}

/// Whether packets of this type of link are read.
pub(crate) fn is_known(link: u32) -> bool {
    [
        NULL,
        ETHERNET,
        RAW_BSD,
        RAW_OPENBSD,
        RAW,
        LOOP,
        LINUX_SLL,
        IPV4,
        IPV6,
        LINUX_SLL2,
    ]
    .contains(&link)
}

enum Protocol {
    Ip,
    Other,
}

/// The position of the network-layer packet, and its protocol.
fn network(link: u32, bytes: &[u8]) -> Result<(usize, Protocol), Other> {
    let (mut at, mut kind) = match link {
        ETHERNET => (14, half(bytes, 12)?),
        LINUX_SLL => (16, half(bytes, 14)?),
        LINUX_SLL2 => (20, half(bytes, 0)?),
        // The sender's own number for the address family comes first; it differs between systems.
        NULL | LOOP => return Ok((4, Protocol::Ip)),
        _ => return Ok((0, Protocol::Ip)),
    };
    // IEEE 802.1Q and 802.1ad: VLAN tags.
    while kind == 0x8100 || kind == 0x88a8 || kind == 0x9100 {
        kind = half(bytes, at + 2)?;
        at += 4;
    }
    let kind = if kind == 0x0800 || kind == 0x86dd {
        Protocol::Ip
    } else {
        Protocol::Other
    };
    Ok((at, kind))
}

fn ipv4(packet: &[u8], length: u32) -> Result<Segment, Other> {
    let header = packet.first_chunk::<20>().ok_or(Other::Cut)?;
    if header[0] >> 4 != 4 || header[9] != TCP {
        return Err(Other::NotTcp);
    }
    // RFC 791 §3.1: a fragment that is not the first one has no TCP header.
    if half(header, 6)? & 0x1fff != 0 {
        return Err(Other::NotTcp);
    }
    let begin = u32::from(header[0] & 0xf) * 4;
    // Segments that a network card splits later may have length 0 here.
    let total = match half(header, 2)? {
        0 => length,
        total => total.into(),
    };
    let address = |at: usize| Ipv4Addr::from_bits(word(header, at)).into();
    tcp(packet, (begin, total), (address(12), address(16)))
}

fn ipv6(packet: &[u8], length: u32) -> Result<Segment, Other> {
    let header = packet.first_chunk::<40>().ok_or(Other::Cut)?;
    if header[6] != TCP {
        return Err(Other::NotTcp);
    }
    let total = match half(header, 4)? {
        0 => length,
        payload => u32::from(payload) + 40,
    };
    let address = |at: usize| {
        let bytes: [u8; 16] = header[at..at + 16].try_into().expect("16 bytes");
        Ipv6Addr::from(bytes).into()
    };
    tcp(packet, (40, total), (address(8), address(24)))
}

/// RFC 9293 §3.1. The TCP header begins at the first position and the payload ends at the second.
fn tcp(
    packet: &[u8],
    (begin, end): (u32, u32),
    (from, to): (IpAddr, IpAddr),
) -> Result<Segment, Other> {
    let rest = packet.get(begin as usize..).ok_or(Other::Cut)?;
    let header = rest.first_chunk::<14>().ok_or(Other::Cut)?;
    let offset = u32::from(header[12] >> 4) * 4;
    Ok(Segment {
        source: (from, half(header, 0)?),
        target: (to, half(header, 2)?),
        seq: word(header, 4),
        syn: header[13] & 0x02 != 0,
        ack: header[13] & 0x10 != 0,
        payload: end.saturating_sub(begin + offset),
    })
}

fn half(bytes: &[u8], at: usize) -> Result<u16, Other> {
    let both = bytes.get(at..at + 2).ok_or(Other::Cut)?;
    Ok(u16::from_be_bytes([both[0], both[1]]))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

const TCP: u8 = 6;
// Types of links, as https://www.tcpdump.org/linktypes.html lists them.
const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const RAW_BSD: u32 = 12;
const RAW_OPENBSD: u32 = 14;
const RAW: u32 = 101;
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const LINUX_SLL2: u32 = 276;
