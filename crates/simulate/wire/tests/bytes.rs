//! Arbitrary bytes: those that are no packets are refused without harm, and written packets are read back unchanged.
//!
//! `WIRE_CASES` says how many inputs of each kind there are.

use std::net::{Ipv4Addr, SocketAddrV4};

use base::{
    Ecn, Extension, FlowId, HostId, Options, Packet, SackBlocks, Seq, SynOptions, TcpFlags,
    Timestamps,
};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::{Ends, Refusal, Refusals, decode, encode};

/// A small fast stream of numbers: `SplitMix64`, its state and its increment.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

/// Inputs of each kind: a million in all, unless told otherwise.
fn cases() -> u64 {
    let told = std::env::var("WIRE_CASES").ok();
    told.map_or(350_000, |told| told.parse().expect("a number of inputs"))
}

/// A valid packet, with options of any kind.
fn valid(numbers: &mut Numbers) -> Vec<u8> {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.seq = Seq(low(numbers.next()));
    packet.ack = Seq(low(numbers.next()));
    packet.flags = TcpFlags::ACK;
    packet.payload = u16::try_from(numbers.below(60)).expect("a short payload");
    match numbers.below(4) {
        0 => {}
        1 => {
            packet.flags = TcpFlags::SYN;
            packet.options = Options::Syn(SynOptions {
                mss: 1460,
                window_scale: Some(7),
                sack_permitted: true,
            });
        }
        kind => {
            let mut blocks = SackBlocks::new();
            for _ in 0..=numbers.below(3) {
                blocks.push(Seq(low(numbers.next())), Seq(low(numbers.next())));
            }
            packet.options = Options::Sack(blocks);
            if kind == 3 {
                packet.options = packet.options.stamped(Timestamps { value: 1, echo: 2 });
            }
        }
    }
    let mut bytes = Vec::new();
    let payload = numbers.bytes(packet.payload.into());
    encode(&mut bytes, &packet, ENDS, 1, &payload);
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "half of it is wanted")]
fn low(number: u64) -> u32 {
    number as u32
}

/// A packet that is accepted has the lengths that it states. After it is written, it is accepted again.
fn look(bytes: &[u8]) -> Option<Refusal> {
    let segment = match decode(bytes) {
        Ok(segment) => segment,
        Err(reason) => return Some(reason),
    };
    assert_eq!(segment.payload.len(), usize::from(segment.packet.payload));
    let mut written = Vec::new();
    let payload = segment.payload;
    encode(&mut written, &segment.packet, segment.ends, 1, payload);
    let again = decode(&written).expect("what was written is a packet");
    assert_eq!((again.ends, again.payload), (segment.ends, payload));
    assert_eq!(again.packet.options, segment.packet.options);
    None
}

#[test]
fn a_million_inputs_do_no_harm() {
    let mut numbers = Numbers(1);
    let mut refused = Refusals::default();
    let mut taken = 0_u64;
    let mut count = |reason: Option<Refusal>| match reason {
        Some(reason) => refused.add(reason),
        None => taken += 1,
    };
    for _ in 0..cases() {
        let length = numbers.below(100);
        // Noise, half of it behind the first byte of a header.
        let mut noise = numbers.bytes(length);
        if let (Some(first), 0) = (noise.first_mut(), numbers.below(2)) {
            *first = 0x45;
        }
        count(look(&noise));

        let mut packet = valid(&mut numbers);
        assert_eq!(look(&packet), None);
        for _ in 0..=numbers.below(3) {
            let place = numbers.below(packet.len());
            packet[place] = numbers.next().to_le_bytes()[0];
        }
        if numbers.below(4) == 0 {
            packet.truncate(numbers.below(packet.len() + 1));
        }
        count(look(&packet));

        // The same with right checksums, so that the code behind them is reached.
        mend(&mut packet);
        count(look(&packet));
    }
    for reason in Refusal::ALL {
        assert!(refused.of(reason) > 0, "never {reason}");
    }
    assert_eq!(taken + refused.total(), 3 * cases());
    assert!(taken > cases() / 4, "{taken} packets were taken");
}

/// Gives inputs that are long enough for both headers the right checksums.
fn mend(packet: &mut [u8]) {
    let Some(header) = packet.get_mut(..20) else {
        return;
    };
    header[0] = 0x45;
    header[6..8].fill(0);
    header[9] = 6;
    let sum_of = |parts: &[&[u8]]| {
        let bytes = parts.concat();
        let words = bytes.chunks(2);
        let words =
            words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !u16::try_from(sum).expect("folded")
    };
    header[10..12].fill(0);
    let checksum = sum_of(&[header]);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    let end = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let Some((header, segment)) = packet
        .get_mut(..end)
        .and_then(|packet| packet.split_at_mut_checked(20))
    else {
        return;
    };
    if segment.len() < 20 {
        return;
    }
    segment[16..18].fill(0);
    let length = u16::try_from(segment.len()).expect("a short packet");
    let pseudo = [&[0, 6][..], &length.to_be_bytes()].concat();
    let checksum = sum_of(&[&header[12..20], &pseudo, segment]);
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
}

const ENDS: Ends = Ends {
    source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 4000),
    destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 80),
};

fn ends() -> impl Strategy<Value = Ends> {
    let end = || any::<(u32, u16)>().prop_map(|(ip, port)| SocketAddrV4::new(ip.into(), port));
    (end(), end()).prop_map(|(source, destination)| Ends {
        source,
        destination,
    })
}

fn options() -> impl Strategy<Value = Options> {
    let syn = any::<(u16, Option<u8>, bool)>().prop_map(|(mss, window_scale, sack_permitted)| {
        Options::Syn(SynOptions {
            mss,
            window_scale,
            sack_permitted,
        })
    });
    let sack = vec(any::<(u32, u32)>(), 1..=SackBlocks::MAX).prop_map(|list| {
        let mut blocks = SackBlocks::new();
        for (start, end) in list {
            blocks.push(Seq(start), Seq(end));
        }
        Options::Sack(blocks)
    });
    let plain = prop_oneof![Just(Options::None), syn, sack];
    let stamps = any::<Option<(u32, u32)>>();
    (plain, stamps).prop_map(|(plain, stamps)| match stamps {
        Some((value, echo)) => plain.stamped(Timestamps { value, echo }),
        None => plain,
    })
}

fn packets() -> impl Strategy<Value = Packet> {
    let numbers = any::<(u32, u32, u16, u8)>();
    let header = (0_u8..64, 0_u8..16, 0_u8..3, any::<u64>());
    (numbers, header, options(), 0_u16..1500).prop_map(|(numbers, header, options, payload)| {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        let (seq, ack, window, bits) = numbers;
        (packet.seq, packet.ack, packet.window) = (Seq(seq), Seq(ack), window);
        packet.flags = TcpFlags::ACK;
        for (bit, flag) in [TcpFlags::FIN, TcpFlags::RST, TcpFlags::PSH, TcpFlags::CWR]
            .into_iter()
            .enumerate()
        {
            packet.flags = packet.flags.with(flag.when(bits >> bit & 1 > 0));
        }
        packet.flags = packet
            .flags
            .with(TcpFlags::SYN.when(options.syn().is_some()));
        let (dscp, reserved, ecn, extension) = header;
        (packet.dscp, packet.reserved) = (dscp, reserved);
        packet.ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Marked][usize::from(ecn)];
        // Beside blocks and timestamps together there is no room for it.
        if !matches!(options, Options::Stamped(..)) && options.sack().is_none() {
            packet.extension = Extension::from_u64(extension);
        }
        (packet.options, packet.payload) = (options, payload);
        packet
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(packet in packets(), ends in ends(), first in any::<u8>()) {
        let payload: Vec<u8> = (0..packet.payload).map(|at| at.to_le_bytes()[0] ^ first).collect();
        let mut bytes = Vec::new();
        encode(&mut bytes, &packet, ends, 7, &payload);
        let read = decode(&bytes).expect("it is a packet");
        prop_assert_eq!((read.ends, read.payload), (ends, &payload[..]));
        // A SYN without options is read with the options that their absence stands for.
        prop_assert_eq!(format!("{:?}", read.packet), format!("{packet:?}"));
    }

    #[test]
    fn a_bit_that_changes_on_the_way_is_noticed(
        packet in packets(), place in any::<prop::sample::Index>(), bit in 0_u32..8,
    ) {
        let mut bytes = Vec::new();
        encode(&mut bytes, &packet, ENDS, 7, &[]);
        let place = place.index(bytes.len());
        bytes[place] ^= 1_u8 << bit;
        prop_assert!(decode(&bytes).is_err());
    }
}
