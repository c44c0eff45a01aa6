use std::borrow::Cow;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness};

use super::*;
use crate::HostIndex;

const CLIENT: (u8, u16) = (1, 40_000);
const SERVER: (u8, u16) = (2, 80);

/// An IPv4 packet with a TCP segment of this much payload; the capture lacks the payload.
fn frame(from: (u8, u16), to: (u8, u16), seq: u32, flags: u8, payload: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((40 + payload).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    bytes.extend([10, 0, 0, from.0, 10, 0, 0, to.0]);
    bytes.extend(from.1.to_be_bytes());
    bytes.extend(to.1.to_be_bytes());
    bytes.extend(seq.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    bytes
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A connection that opens, asks, and gets an answer, in which one segment is sent twice and two are reordered. Then it
/// asks again. Times are in milliseconds.
fn conversation() -> Vec<(u64, Vec<u8>)> {
    // The answer's sequence numbers wrap around.
    let begin = u32::MAX - 999;
    vec![
        (0, frame(CLIENT, SERVER, 100, SYN, 0)),
        (
            1,
            frame(SERVER, CLIENT, begin.wrapping_sub(1), SYN | ACK, 0),
        ),
        (2, frame(CLIENT, SERVER, 101, ACK, 50)),
        (3, frame(SERVER, CLIENT, begin, ACK, 1000)),
        (
            4,
            frame(SERVER, CLIENT, begin.wrapping_add(2000), ACK, 1000),
        ),
        (
            5,
            frame(SERVER, CLIENT, begin.wrapping_add(1000), ACK, 1000),
        ),
        (6, frame(SERVER, CLIENT, begin, ACK, 1000)),
        (7, frame(CLIENT, SERVER, 151, ACK, 0)),
        (8, frame(CLIENT, SERVER, 151, ACK, 20)),
    ]
}

fn pcap(link: DataLink, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let header = PcapHeader {
        datalink: link,
        endianness: Endianness::Big,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (ms, frame) in frames {
        let length = u32::try_from(frame.len()).unwrap();
        writer
            .write_packet(&PcapPacket::new(Duration::from_millis(*ms), length, frame))
            .unwrap();
    }
    writer.into_writer()
}

fn pcapng(resolution: Option<u8>, ticks: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let options = resolution.map(InterfaceDescriptionOption::IfTsResol);
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: 0,
        options: options.into_iter().collect(),
    };
    writer.write_pcapng_block(interface).unwrap();
    for (ticks, frame) in ticks {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            // The crate writes nanoseconds for any tick.
            timestamp: Duration::from_nanos(*ticks),
            original_len: u32::try_from(frame.len()).unwrap(),
            data: Cow::Borrowed(frame),
            options: Vec::new(),
        };
        writer.write_block(&block.into_block()).unwrap();
    }
    writer.into_inner()
}

/// Starts in milliseconds, and sizes.
fn flows(imported: &Imported) -> Vec<(u128, u64)> {
    imported
        .flows
        .iter()
        .map(|flow| (flow.start / 1_000_000_000, flow.size))
        .collect()
}

#[test]
fn every_turn_of_a_connection_is_a_flow_of_its_new_bytes() {
    let imported = read(&pcap(DataLink::RAW, &conversation())).unwrap();
    assert_eq!(flows(&imported), [(2, 50), (3, 3000), (8, 20)]);
    assert_eq!(imported.hosts, ["10.0.0.1", "10.0.0.2"]);
    let ends: Vec<_> = imported
        .flows
        .iter()
        .map(|flow| (flow.sender, flow.receiver, flow.connection))
        .collect();
    assert_eq!(
        ends,
        [
            (HostIndex(0), HostIndex(1), Some(0)),
            (HostIndex(1), HostIndex(0), Some(1)),
            (HostIndex(0), HostIndex(1), Some(0)),
        ]
    );
    assert!(imported.flows.iter().all(|flow| flow.open == Some(0)));
    assert!(imported.notes[0].starts_with("1 connections."));
}

#[test]
fn the_clock_of_an_interface_is_read() {
    let millis = |factor: u64| {
        let all = conversation().into_iter();
        all.map(|(ms, frame)| (ms * factor, frame))
            .collect::<Vec<_>>()
    };
    for (resolution, factor) in [
        (None, 1000),
        (Some(6), 1000),
        (Some(9), 1_000_000),
        (Some(3), 1),
    ] {
        let imported = read(&pcapng(resolution, &millis(factor))).unwrap();
        assert_eq!(
            flows(&imported),
            [(2, 50), (3, 3000), (8, 20)],
            "{resolution:?}"
        );
    }
    // 2^-10 s: two ticks and more.
    let imported = read(&pcapng(Some(0x8a), &millis(1))).unwrap();
    assert_eq!(imported.flows[0].start, 2 * 1_000_000_000_000 / 1024);
}

#[test]
fn frames_of_every_kind_of_link_are_read() {
    let wrapped = |front: &[u8]| {
        let all = conversation().into_iter();
        let all = all.map(|(ms, frame)| (ms, [front, &frame].concat()));
        all.collect::<Vec<_>>()
    };
    let ethernet = [[0; 12].as_slice(), &[0x08, 0x00]].concat();
    let tagged = [[0; 12].as_slice(), &[0x81, 0x00, 0, 7, 0x08, 0x00]].concat();
    let cooked = [[0; 14].as_slice(), &[0x08, 0x00]].concat();
    for (link, front) in [
        (DataLink::ETHERNET, ethernet),
        (DataLink::ETHERNET, tagged),
        (DataLink::LINUX_SLL, cooked),
        (DataLink::NULL, vec![2, 0, 0, 0]),
    ] {
        let imported = read(&pcap(link, &wrapped(&front))).unwrap();
        assert_eq!(flows(&imported), [(2, 50), (3, 3000), (8, 20)], "{link:?}");
    }
    // ARP is not TCP.
    let arp = [[0; 12].as_slice(), &[0x08, 0x06], &[0; 28]].concat();
    let imported = read(&pcap(DataLink::ETHERNET, &[(0, arp)])).unwrap();
    assert_eq!(
        imported.skipped[0],
        ("packets of other protocols than TCP", 1)
    );
}

#[test]
fn a_capture_that_is_cut_says_so_and_gives_what_it_has() {
    let whole = pcap(DataLink::RAW, &conversation());
    let imported = read(&whole[..whole.len() - 10]).unwrap();
    assert_eq!(flows(&imported), [(2, 50), (3, 3000)]);
    assert_eq!(
        imported.notes.last().unwrap(),
        "The file ends in the middle of a packet."
    );
}

/// A block of pcapng: its kind, and its fields.
fn block(is_big: bool, kind: u32, fields: &[&[u8]]) -> Vec<u8> {
    let mut body = fields.concat();
    body.resize(body.len().next_multiple_of(4), 0);
    let number = |number: u32| {
        if is_big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let length = number(u32::try_from(body.len() + 12).unwrap());
    [&number(kind)[..], &length, &body, &length].concat()
}

/// A section whose times are 100 s after those of its clock, and whose packets are of every kind.
fn section(is_big: bool, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let short = |number: u16| {
        if is_big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let number = |number: u32| {
        if is_big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let offset = 100_u64;
    let offset = if is_big {
        offset.to_be_bytes()
    } else {
        offset.to_le_bytes()
    };
    let mut bytes = block(
        is_big,
        0x0a0d_0d0a,
        &[&number(0x1a2b_3c4d), &short(1), &short(0), &[0xff; 8]],
    );
    let options = [&short(14)[..], &short(8), &offset, &[0; 4]].concat();
    bytes.extend(block(is_big, 1, &[&short(101), &[0; 6], &options]));
    for (place, (ms, frame)) in frames.iter().enumerate() {
        let us = u32::try_from(ms * 1000).unwrap();
        let time = [number(0), number(us)].concat();
        let length = number(u32::try_from(frame.len()).unwrap());
        // Every other packet is of the kind that nobody should write any more.
        let (kind, interface) = if place % 2 == 0 {
            (6, number(0))
        } else {
            (2, [0, 0, 0, 0])
        };
        bytes.extend(block(
            is_big,
            kind,
            &[&interface, &time, &length, &length, frame],
        ));
    }
    bytes.extend(block(is_big, 3, &[&number(40), &frames[0].1]));
    // A kind that is not known.
    bytes.extend(block(is_big, 77, &[&[1; 4]]));
    bytes
}

#[test]
fn sections_of_either_order_have_packets_of_every_kind_and_clocks_of_their_own() {
    let both = [
        section(true, &conversation()),
        section(false, &conversation()),
    ]
    .concat();
    for bytes in [
        &section(true, &conversation()),
        &section(false, &conversation()),
        &both,
    ] {
        let imported = read(bytes).unwrap();
        assert_eq!(
            flows(&imported)[..3],
            [(100_002, 50), (100_003, 3000), (100_008, 20)]
        );
        let timeless = imported
            .skipped
            .iter()
            .find(|(what, _)| what.contains("time"));
        assert_eq!(
            timeless.unwrap().1,
            if bytes.len() == both.len() { 2 } else { 1 }
        );
    }
}

#[test]
fn what_is_wrong_with_a_capture_is_told_with_what_stands_before_it() {
    let whole = section(false, &conversation());
    let behind = |bytes: &[u8]| {
        let imported = read(&[&whole[..], bytes].concat()).unwrap();
        assert_eq!(
            flows(&imported),
            [(100_002, 50), (100_003, 3000), (100_008, 20)]
        );
        imported.notes.last().unwrap().clone()
    };
    let packet = |interface: u32, kept: u32| {
        let fields = [interface, 0, 0, kept, kept].map(u32::to_le_bytes);
        block(false, 6, &[&fields.concat()])
    };
    let damaged = |why: &str| format!("The file is damaged behind packet 10: {why}.");
    assert_eq!(behind(&packet(7, 0)), damaged("there is no interface 7"));
    assert_eq!(
        behind(&packet(0, 4)),
        damaged("a packet is longer than its block")
    );
    let uneven = [6_u32, 13, 0, 13].map(u32::to_le_bytes).concat();
    assert_eq!(behind(&uneven), damaged("a block has a length of 13 bytes"));
    let different = [6_u32, 12, 16].map(u32::to_le_bytes).concat();
    assert_eq!(
        behind(&different),
        damaged("a block has two different lengths")
    );
    let orderless = block(false, 0x0a0d_0d0a, &[&[0; 16]]);
    assert_eq!(
        behind(&orderless),
        damaged("a section has no order of bytes")
    );

    let mut long = pcap(DataLink::RAW, &conversation());
    long.extend([0, 0, 0, 9, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 40]);
    let imported = read(&long).unwrap();
    let message = "a packet of 2130706432 bytes is longer than any";
    let message = format!("The file is damaged behind packet 9: {message}.");
    assert_eq!(imported.notes.last(), Some(&message));
    let begin = read(&long[..20]).map(|_| ());
    assert_eq!(begin, Err("it ends before the first packet".to_owned()));
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let mut frames = conversation();
    frames.push((20, frame(CLIENT, SERVER, 9000, SYN, 0)));
    frames.push((21, frame(CLIENT, SERVER, 9001, ACK, 5)));
    let imported = read(&pcap(DataLink::RAW, &frames)).unwrap();
    let last = imported.flows.last().unwrap();
    assert_eq!(
        (last.size, last.connection, last.open),
        (5, Some(2), Some(20_000_000_000))
    );
}

proptest::proptest! {
    /// Damage is reported or skipped: nothing panics, and every flow has a size and an end.
    #[test]
    fn damaged_captures_are_told(places in proptest::collection::vec((0_usize..4096, 0_u8..), 1..8), cut in 0_usize..4096, ng: bool) {
        let mut bytes = if ng {
            pcapng(Some(9), &conversation())
        } else {
            pcap(DataLink::RAW, &conversation())
        };
        let length = bytes.len();
        for (place, byte) in places {
            bytes[4 + place % (length - 4)] = byte;
        }
        bytes.truncate(length - cut % (length / 2));
        if let Ok(crate::Content::Flows(imported)) = crate::import(&bytes, &crate::ImportOptions::default()) {
            proptest::prop_assert!(imported.flows.iter().all(|flow| flow.size > 0 && flow.sender != flow.receiver));
        }
    }

    /// Any text is read or refused, as any kind of file.
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n,\t{}\\[\\]\"]{0,200}", kind in 0_usize..FileKind::ALL.len()) {
        let (kind, ..) = FileKind::ALL[kind];
        let made = format!("Nodes 9\n{text}");
        for text in [&text, &made] {
            for kind in [Some(kind), None] {
                let options = crate::ImportOptions {
                    kind,
                    endless: Some(1),
                    ..crate::ImportOptions::default()
                };
                drop(crate::import(text.as_bytes(), &options));
            }
        }
    }
}
