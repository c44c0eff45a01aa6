//! The packets of the TUN device in a file that Wireshark reads, with comments.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use base::Time;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};

/// A file that is being written.
pub(crate) struct Capture(PcapNgWriter<BufWriter<File>>);

/// The direction of a packet, as in the format's flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// To our endpoints.
    In = 1,
    /// To the kernel.
    Out = 2,
}

impl Capture {
    pub(crate) fn create(file: &Path) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            ..SectionHeaderBlock::default()
        };
        let file = BufWriter::new(File::create(file)?);
        let mut writer = PcapNgWriter::with_section_header(file, section).map_err(error)?;
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed("tun0")),
                InterfaceDescriptionOption::IfDescription(Cow::Borrowed("our side of the device")),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        writer.write_pcapng_block(interface).map_err(error)?;
        Ok(Self(writer))
    }

    /// Writes a packet as our side of the device sees it.
    pub(crate) fn write(
        &mut self,
        packet: &[u8],
        direction: Direction,
        comment: Option<&str>,
        now: Time,
    ) -> io::Result<()> {
        let comment = comment.map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text)));
        let flags = EnhancedPacketOption::Flags(direction as u32);
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(now.as_ps() / 1000),
            original_len: u32::try_from(packet.len()).unwrap_or(u32::MAX),
            data: Cow::Borrowed(packet),
            options: comment.into_iter().chain([flags]).collect(),
        };
        self.0.write_block(&block.into_block()).map_err(error)?;
        Ok(())
    }

    /// Writes the buffered data to the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.into_inner().flush()
    }
}

fn error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// As a negative power of ten, for the option `if_tsresol` of pcapng.
const NANOSECONDS: u8 = 9;
