//! Packets as they look on a real wire.
//!
//! Written by hand because the TCP header needs its four reserved bits, which header libraries leave
//! out, and the option of a scheme.

use base::{Ecn, Extension, HostId, Packet, TcpFlags};

/// Makes frames, in one buffer.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frame: Vec<u8>,
    /// Next IP identification of each host.
    identifications: Vec<u16>,
}

impl Frames {
    /// The frame of `packet`, whose flow is sent by the first and received by the second host.
    pub(super) fn of(&mut self, packet: &Packet, (sender, receiver): (HostId, HostId)) -> &[u8] {
        let (from, to) = if packet.to == receiver {
            (sender, receiver)
        } else {
            (receiver, sender)
        };
        let (options, length) = options(packet);
        let options = &options[..length];
        let tcp_length = TCP + options.len() + usize::from(packet.payload);
        let identification = self.identify(from);
        let frame = &mut self.frame;
        frame.clear();
        frame.extend(mac(to));
        frame.extend(mac(from));
        frame.extend(ETHERTYPE_IPV4);
        ip_header(frame, packet, (from, to), (identification, tcp_length));
        let begin = frame.len();
        tcp_header(frame, packet, to == receiver, options);
        // Payload is zeros and adds nothing to the sum.
        let sum = sum(&frame[begin..]) + sum(&address(from)) + sum(&address(to));
        let checksum = fold(sum + u32::from(PROTOCOL_TCP) + low_32(tcp_length));
        frame[begin + 16..begin + 18].copy_from_slice(&checksum.to_be_bytes());
        frame.resize(begin + tcp_length, 0);
        frame
    }

    fn identify(&mut self, host: HostId) -> u16 {
        let place = host.0 as usize;
        if self.identifications.len() <= place {
            self.identifications.resize(place + 1, 0);
        }
        self.identifications[place] = self.identifications[place].wrapping_add(1);
        self.identifications[place]
    }
}

/// RFC 791 §3.1.
fn ip_header(
    frame: &mut Vec<u8>,
    packet: &Packet,
    (from, to): (HostId, HostId),
    (identification, tcp_length): (u16, usize),
) {
    let begin = frame.len();
    let ecn = match packet.ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Capable => 0b10,
        Ecn::Marked => 0b11,
    };
    let length = u16::try_from(IP + tcp_length).unwrap_or(u16::MAX);
    frame.extend([VERSION_AND_LENGTH, packet.dscp << 2 | ecn]);
    frame.extend(length.to_be_bytes());
    frame.extend(identification.to_be_bytes());
    frame.extend(DO_NOT_FRAGMENT);
    frame.extend([TIME_TO_LIVE, PROTOCOL_TCP, 0, 0]);
    frame.extend(address(from));
    frame.extend(address(to));
    let checksum = fold(sum(&frame[begin..]));
    frame[begin + 10..begin + 12].copy_from_slice(&checksum.to_be_bytes());
}

/// RFC 9293 §3.1, with its checksum still zero.
fn tcp_header(frame: &mut Vec<u8>, packet: &Packet, forward: bool, options: &[u8]) {
    let (sender, receiver) = ports(packet.flow.0);
    let (from, to) = if forward {
        (sender, receiver)
    } else {
        (receiver, sender)
    };
    let acknowledgement = if packet.flags.has(TcpFlags::ACK) {
        packet.ack.0
    } else {
        0
    };
    frame.extend(from.to_be_bytes());
    frame.extend(to.to_be_bytes());
    frame.extend(packet.seq.0.to_be_bytes());
    frame.extend(acknowledgement.to_be_bytes());
    let words = u8::try_from((TCP + options.len()) / 4).unwrap_or(15);
    frame.extend([words << 4 | packet.reserved & 0xf, packet.flags.bits()]);
    frame.extend(packet.window.to_be_bytes());
    frame.extend([0, 0, 0, 0]);
    frame.extend(options);
}

/// The options of a segment, padded to whole words, and their length.
fn options(packet: &Packet) -> ([u8; MAX_OPTIONS], usize) {
    let (mut bytes, mut length) = ([0; MAX_OPTIONS], 0);
    let mut put = |part: &[u8]| {
        bytes[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    };
    if let Some(timestamps) = packet.options.timestamps() {
        put(&[NOP, NOP, 8, 10]);
        put(&timestamps.value.to_be_bytes());
        put(&timestamps.echo.to_be_bytes());
    }
    if let Some(syn) = packet.options.syn() {
        let [high, low] = syn.mss.to_be_bytes();
        put(&[2, 4, high, low]);
        if let Some(shift) = syn.window_scale {
            put(&[NOP, 3, 3, shift]);
        }
        if syn.sack_permitted {
            put(&[NOP, NOP, 4, 2]);
        }
    }
    let blocks = packet
        .options
        .sack()
        .map_or(&[][..], |sack| sack.as_slice());
    if !blocks.is_empty() {
        put(&[NOP, NOP, 5, u8::try_from(2 + 8 * blocks.len()).unwrap_or(2)]);
        for (start, end) in blocks {
            put(&start.0.to_be_bytes());
            put(&end.0.to_be_bytes());
        }
    }
    if packet.extension != Extension::NONE && length + EXPERIMENT.len() + 12 <= MAX_OPTIONS {
        bytes[length..length + EXPERIMENT.len()].copy_from_slice(&EXPERIMENT);
        length += EXPERIMENT.len();
        for number in packet.extension.0 {
            bytes[length..length + 4].copy_from_slice(&number.to_be_bytes());
            length += 4;
        }
    }
    (bytes, length)
}

/// Ports of the sending and the receiving end: no two flows have both in common.
fn ports(flow: u32) -> (u16, u16) {
    let low = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    let (sender, receiver) = (flow % DYNAMIC_PORTS, flow / DYNAMIC_PORTS);
    (
        FIRST_DYNAMIC_PORT + low(sender),
        FIRST_SERVICE_PORT + low(receiver),
    )
}

/// A locally administered address that ends in the number of the host.
const fn mac(host: HostId) -> [u8; 6] {
    let [_, a, b, c] = host.0.to_be_bytes();
    [0x02, 0, 0, a, b, c]
}

/// 10.0.0.1 is host 0.
const fn address(host: HostId) -> [u8; 4] {
    let [_, a, b, c] = (host.0 + 1).to_be_bytes();
    [10, a, b, c]
}

/// Sum of 16-bit words, not yet folded; an odd byte at the end counts as a word's first half.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2);
    words
        .map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)))
        .sum()
}

/// The Internet checksum of what sums to `sum`.
#[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
const fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a packet is below 2^16 bytes"
)]
const fn low_32(length: usize) -> u32 {
    length as u32
}

/// Bytes of headers without options.
const IP: usize = 20;
const TCP: usize = 20;
const MAX_OPTIONS: usize = 40;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const VERSION_AND_LENGTH: u8 = 0x45;
const DO_NOT_FRAGMENT: [u8; 2] = [0x40, 0x00];
const TIME_TO_LIVE: u8 = 64;
const PROTOCOL_TCP: u8 = 6;
const NOP: u8 = 1;
/// Kind and length of a shared experimental option, and an identifier: RFC 6994 §3.
const EXPERIMENT: [u8; 4] = [253, 16, b'T', b'W'];
/// RFC 6335 §6: ports from here on are nobody's.
const FIRST_DYNAMIC_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u32 = 16_384;
/// A range in which Wireshark knows no service.
const FIRST_SERVICE_PORT: u16 = 40_000;

#[cfg(test)]
mod tests {
    use base::{FlowId, Options, SackBlocks, Seq, SynOptions};

    use super::*;

    fn frame(packet: &Packet) -> Vec<u8> {
        Frames::default()
            .of(packet, (HostId(1), HostId(0)))
            .to_vec()
    }

    #[test]
    fn the_checksum_is_that_of_a_known_header() {
        // The example of RFC 1071 §3: words 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let sum = sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!((sum, fold(sum)), (0x2_ddf0, !0xddf2));
    }

    #[test]
    fn headers_carry_the_fields_of_the_packet() {
        let mut packet = Packet::new(FlowId(5), HostId(0));
        (packet.seq, packet.ack, packet.window) = (Seq(0x0102_0304), Seq(0x0506_0708), 0x090a);
        packet.flags = TcpFlags::ACK.with(TcpFlags::ECE);
        (packet.payload, packet.dscp, packet.ecn, packet.reserved) = (3, 46, Ecn::Marked, 0b1010);
        let frame = frame(&packet);
        assert_eq!(frame.len(), 14 + 20 + 20 + 3);
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0]);
        assert_eq!(
            frame[14..24],
            [0x45, 46 << 2 | 3, 0, 43, 0, 1, 0x40, 0, 64, 6]
        );
        assert_eq!(frame[26..34], [10, 0, 0, 2, 10, 0, 0, 1]);
        assert_eq!(
            frame[34..50],
            [
                0xc0, 5, 0x9c, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 0x5a, 0x50, 9, 10
            ]
        );
        assert_eq!(
            fold(sum(&frame[14..34])),
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

    #[test]
    fn no_two_flows_share_both_ports() {
        let mut seen: Vec<_> = (0..100_000).map(ports).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100_000);
    }
}
