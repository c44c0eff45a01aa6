//! From packets to bytes.

use base::{Ecn, Extension, Packet, TcpFlags};

use crate::checksum::{fold, pseudo, sum};
use crate::option::{EXPERIMENT, MOST, MSS, NOP, SACK, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE};
use crate::{Ends, IP, PROTOCOL_TCP, TCP};

/// Appends the IPv4 packet of a segment to `bytes`, with both checksums.
///
/// `identification` goes into the IP header. If `payload` is shorter than the packet's length, zeros follow it; if it
/// is longer, it is cut. The extension of a scheme is left out if SACK blocks and timestamps leave no room for it. The
/// packet's `flow` and `to` are not written.
///
/// # Panics
/// Never for packets whose payload and headers fit into 65,535 bytes, as those of endpoints do.
pub fn encode(
    bytes: &mut Vec<u8>,
    packet: &Packet,
    ends: Ends,
    identification: u16,
    payload: &[u8],
) {
    let (options, length) = options(packet);
    let options = &options[..length];
    let payload = &payload[..payload.len().min(packet.payload.into())];
    let tcp_length = TCP + options.len() + usize::from(packet.payload);
    ip_header(bytes, packet, ends, (identification, tcp_length));
    let begin = bytes.len();
    tcp_header(bytes, packet, ends, options);
    // Trailing zeros do not change the checksum.
    bytes.extend(payload);
    let pseudo = pseudo(*ends.source.ip(), *ends.destination.ip(), tcp_length);
    let checksum = fold(sum(&bytes[begin..]) + pseudo);
    bytes[begin + 16..begin + 18].copy_from_slice(&checksum.to_be_bytes());
    bytes.resize(begin + tcp_length, 0);
}

/// RFC 791 §3.1.
fn ip_header(
    bytes: &mut Vec<u8>,
    packet: &Packet,
    ends: Ends,
    (identification, tcp_length): (u16, usize),
) {
    let begin = bytes.len();
    let ecn = match packet.ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Capable => 0b10,
        Ecn::Marked => 0b11,
    };
    let length = u16::try_from(IP + tcp_length).unwrap_or(u16::MAX);
    bytes.extend([VERSION_AND_LENGTH, packet.dscp << 2 | ecn]);
    bytes.extend(length.to_be_bytes());
    bytes.extend(identification.to_be_bytes());
    bytes.extend(DO_NOT_FRAGMENT);
    bytes.extend([TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
    bytes.extend(ends.source.ip().octets());
    bytes.extend(ends.destination.ip().octets());
    let checksum = fold(sum(&bytes[begin..]));
    bytes[begin + 10..begin + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// RFC 9293 §3.1, with its checksum still zero.
fn tcp_header(bytes: &mut Vec<u8>, packet: &Packet, ends: Ends, options: &[u8]) {
    let acknowledgement = if packet.flags.has(TcpFlags::ACK) {
        packet.ack.0
    } else {
        0
    };
    bytes.extend(ends.source.port().to_be_bytes());
    bytes.extend(ends.destination.port().to_be_bytes());
    bytes.extend(packet.seq.0.to_be_bytes());
    bytes.extend(acknowledgement.to_be_bytes());
    let words = u8::try_from((TCP + options.len()) / 4).unwrap_or(15);
    bytes.extend([words << 4 | packet.reserved & 0xf, packet.flags.bits()]);
    bytes.extend(packet.window.to_be_bytes());
    bytes.extend([0, 0, 0, 0]);
    bytes.extend(options);
}

/// The options of a segment, padded to whole words, and their length.
fn options(packet: &Packet) -> ([u8; MOST], usize) {
    let (mut bytes, mut length) = ([0; MOST], 0);
    let mut put = |part: &[u8]| {
        bytes[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    };
    if let Some(timestamps) = packet.options.timestamps() {
        put(&[NOP, NOP, TIMESTAMPS, 10]);
        put(&timestamps.value.to_be_bytes());
        put(&timestamps.echo.to_be_bytes());
    }
    if let Some(syn) = packet.options.syn() {
        let [high, low] = syn.mss.to_be_bytes();
        put(&[MSS, 4, high, low]);
        if let Some(shift) = syn.window_scale {
            put(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if syn.sack_permitted {
            put(&[NOP, NOP, SACK_PERMITTED, 2]);
        }
    }
    let blocks = packet
        .options
        .sack()
        .map_or(&[][..], |sack| sack.as_slice());
    if !blocks.is_empty() {
        let length = u8::try_from(2 + 8 * blocks.len()).unwrap_or(2);
        put(&[NOP, NOP, SACK, length]);
        for (start, end) in blocks {
            put(&start.0.to_be_bytes());
            put(&end.0.to_be_bytes());
        }
    }
    if packet.extension != Extension::NONE && length + EXPERIMENT.len() + 12 <= MOST {
        bytes[length..length + EXPERIMENT.len()].copy_from_slice(&EXPERIMENT);
        length += EXPERIMENT.len();
        for number in packet.extension.0 {
            bytes[length..length + 4].copy_from_slice(&number.to_be_bytes());
            length += 4;
        }
    }
    (bytes, length)
}

const VERSION_AND_LENGTH: u8 = 0x45;
const DO_NOT_FRAGMENT: [u8; 2] = [0x40, 0x00];
const TIME_TO_LIVE: u8 = 64;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Options, SackBlocks, Seq, SynOptions};

    use super::*;

    #[test]
    fn headers_carry_the_fields_of_the_packet() {
        let mut packet = Packet::new(FlowId(5), HostId(0));
        (packet.seq, packet.ack, packet.window) = (Seq(0x0102_0304), Seq(0x0506_0708), 0x090a);
        packet.flags = TcpFlags::ACK.with(TcpFlags::ECE);
        (packet.payload, packet.dscp, packet.ecn, packet.reserved) = (3, 46, Ecn::Marked, 0b1010);
        let ends = Ends {
            source: "10.0.0.2:49157".parse().unwrap(),
            destination: "10.0.0.1:40000".parse().unwrap(),
        };
        let mut bytes = Vec::new();
        encode(&mut bytes, &packet, ends, 1, b"abcd");
        assert_eq!(bytes.len(), 20 + 20 + 3);
        assert_eq!(
            bytes[..10],
            [0x45, 46 << 2 | 3, 0, 43, 0, 1, 0x40, 0, 64, 6]
        );
        assert_eq!(bytes[12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
        assert_eq!(
            bytes[20..36],
            [
                0xc0, 5, 0x9c, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0x5a, 0x50, 9, 10
            ]
        );
        assert_eq!(&bytes[40..], b"abc");
        assert_eq!(
            fold(sum(&bytes[..20])),
            0,
            "a header sums to all ones with its checksum"
        );
    }

    #[test]
    fn options_are_whole_words_and_leave_out_what_does_not_fit() {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.options = Options::Syn(SynOptions {
            mss: 1460,
            window_scale: Some(7),
            sack_permitted: true,
        });
        packet.extension = Extension::from_u64(0x1_0000_0002);
        let (bytes, length) = options(&packet);
        let expected = [
            2, 4, 5, 0xb4, 1, 3, 3, 7, 1, 1, 4, 2, 253, 16, b'T', b'W', 0, 0, 0, 2, 0, 0, 0, 1, 0,
            0, 0, 0,
        ];
        assert_eq!(bytes[..length], expected);
        let mut blocks = SackBlocks::new();
        for start in [10, 30, 50] {
            blocks.push(Seq(start), Seq(start + 10));
        }
        packet.options = Options::Sack(blocks);
        assert_eq!(options(&packet).1, 28);
    }
}
