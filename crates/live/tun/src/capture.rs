//! The packets of the TUN device in a file that Wireshark reads, with comments.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use base::Time;
use wire::pcapng::{CaptureDirection, CaptureInterface, CapturedPacket, LinkType, PcapngWriter};

/// A file that is being written.
pub(crate) struct Capture(PcapngWriter<BufWriter<File>>);

impl Capture {
    pub(crate) fn create(file: &Path) -> io::Result<Self> {
        let mut writer = PcapngWriter::new(BufWriter::new(File::create(file)?), "")?;
        writer.interface(&CaptureInterface {
            name: "tun0",
            description: "our side of the device",
            link: LinkType::Raw,
            snap: 0,
        })?;
        Ok(Self(writer))
    }

    /// Writes a packet as our side of the device sees it: one that comes in goes to our endpoints.
    pub(crate) fn write(
        &mut self,
        packet: &[u8],
        direction: CaptureDirection,
        comment: Option<&str>,
        now: Time,
    ) -> io::Result<()> {
        self.0.packet(&CapturedPacket {
            interface: 0,
            at: Duration::from_nanos(now.as_ps() / 1000),
            direction,
            comment,
            bytes: packet,
            length: u32::try_from(packet.len()).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }

    /// Writes the buffered data to the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.into_inner().flush()
    }
}
