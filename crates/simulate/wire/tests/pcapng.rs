//! Files of packets are those that another library writes, byte by byte.

use std::borrow::Cow;
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness};
use proptest::prelude::*;
use wire::pcapng::{CaptureDirection, CaptureInterface, CapturedPacket, LinkType, PcapngWriter};

/// Time in nanoseconds, whether it leaves, its comment, its bytes, and those that are not kept.
type Drawn = (u64, bool, Option<String>, Vec<u8>, u32);

fn ours(application: &str, names: [&str; 2], snap: u32, packets: &[Drawn]) -> Vec<u8> {
    let mut file = PcapngWriter::new(Vec::new(), application).expect(WORKS);
    for link in [LinkType::Ethernet, LinkType::Raw] {
        let [name, description] = names;
        let interface = CaptureInterface {
            name,
            description,
            link,
            snap,
        };
        file.interface(&interface).expect(WORKS);
    }
    for (at, leaves, comment, bytes, more) in packets {
        let packet = CapturedPacket {
            interface: u32::from(*leaves),
            at: Duration::from_nanos(*at),
            direction: if *leaves {
                CaptureDirection::Out
            } else {
                CaptureDirection::In
            },
            comment: comment.as_deref(),
            bytes,
            length: u32::try_from(bytes.len()).expect(WORKS) + more,
        };
        file.packet(&packet).expect(WORKS);
    }
    file.into_inner()
}

fn theirs(application: &str, names: [&str; 2], snap: u32, packets: &[Drawn]) -> Vec<u8> {
    let application = Some(application).filter(|name| !name.is_empty());
    let application =
        application.map(|name| SectionHeaderOption::UserApplication(name.to_owned().into()));
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: application.into_iter().collect(),
        ..SectionHeaderBlock::default()
    };
    let mut file = PcapNgWriter::with_section_header(Vec::new(), section).expect(WORKS);
    for linktype in [DataLink::ETHERNET, DataLink::RAW] {
        let block = InterfaceDescriptionBlock {
            linktype,
            snaplen: snap,
            options: vec![
                InterfaceDescriptionOption::IfName(names[0].into()),
                InterfaceDescriptionOption::IfDescription(names[1].into()),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        file.write_pcapng_block(block).expect(WORKS);
    }
    for (at, leaves, comment, bytes, more) in packets {
        let comment = comment.as_deref();
        let comment = comment.map(|text| EnhancedPacketOption::Comment(text.into()));
        let flags = EnhancedPacketOption::Flags(if *leaves { 2 } else { 1 });
        let block = EnhancedPacketBlock {
            interface_id: u32::from(*leaves),
            timestamp: Duration::from_nanos(*at),
            original_len: u32::try_from(bytes.len()).expect(WORKS) + more,
            data: Cow::Borrowed(bytes),
            options: comment.into_iter().chain([flags]).collect(),
        };
        file.write_block(&block.into_block()).expect(WORKS);
    }
    file.into_inner()
}

proptest! {
    #[test]
    fn a_file_is_what_another_library_writes(
        application in "[a-z 0-9.]{0,9}",
        name in "[a-zé]{0,9}",
        description in "[a-z ]{0,40}",
        snap: u32,
        packets in prop::collection::vec(
            (
                any::<u64>(),
                any::<bool>(),
                prop::option::of("[a-z ]{0,20}"),
                prop::collection::vec(any::<u8>(), 0..99),
                0_u32..2000,
            ),
            0..9,
        ),
    ) {
        let names = [name.as_str(), description.as_str()];
        prop_assert_eq!(
            ours(&application, names, snap, &packets),
            theirs(&application, names, snap, &packets)
        );
    }
}

/// Memory has room, and lengths are small.
const WORKS: &str = "writing to memory works";
