//! Writes files of packets that Wireshark reads: pcapng (draft-ietf-opsawg-pcapng), with a clock of nanoseconds.
//!
//! ```
//! use std::time::Duration;
//!
//! use wire::pcapng::{CapturedPacket, CaptureDirection, CaptureInterface, LinkType, PcapngWriter};
//!
//! let mut file = PcapngWriter::new(Vec::new(), "")?;
//! file.interface(&CaptureInterface { name: "eth0", description: "of a host", link: LinkType::Ethernet, snap: 0 })?;
//! file.packet(&CapturedPacket {
//!     interface: 0,
//!     at: Duration::from_micros(5),
//!     direction: CaptureDirection::Out,
//!     comment: Some("dropped"),
//!     bytes: &[0; 60],
//!     length: 1_514,
//! })?;
//! assert_eq!(file.into_inner().len(), 28 + 56 + 116);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Write};
use std::time::Duration;

/// A file that is being written.
pub struct PcapngWriter<W> {
    out: W,
    /// The block that is being made; kept, so that blocks do not allocate.
    block: Vec<u8>,
}

/// A point where packets are captured (§4.2).
#[derive(Clone, Copy, Debug)]
pub struct CaptureInterface<'a> {
    /// Its short name.
    pub name: &'a str,
    /// Its description in words.
    pub description: &'a str,
    /// The header that its packets begin with.
    pub link: LinkType,
    /// The most bytes of a packet that are kept; 0 if all are.
    pub snap: u32,
}

/// The header that packets begin with, by its number in the registry of link types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// An Ethernet header.
    Ethernet = 1,
    /// An IP header.
    Raw = 101,
}

/// The direction of a packet, by its number in `epb_flags` (§4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureDirection {
    /// It comes in.
    In = 1,
    /// It leaves.
    Out = 2,
}

/// A packet (§4.3).
#[derive(Clone, Copy, Debug)]
pub struct CapturedPacket<'a> {
    /// The number of its interface, in the order in which these were written, from 0.
    pub interface: u32,
    /// Time since the epoch.
    pub at: Duration,
    /// Its direction.
    pub direction: CaptureDirection,
    /// A remark that Wireshark shows beside it.
    pub comment: Option<&'a str>,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Its length in bytes, with those that are not kept.
    pub length: u32,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file (§4.1) by a program called `application`; empty names none.
    ///
    /// # Errors
    /// If `out` fails, as in all functions here.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut file = Self {
            out,
            block: Vec::new(),
        };
        file.begin(0x0a0d_0d0a);
        file.number(0x1a2b_3c4d);
        // Version 1.0 and an unknown length of what follows.
        file.block.extend(1_u32.to_le_bytes());
        file.block.extend((-1_i64).to_le_bytes());
        if !application.is_empty() {
            file.option(4, application.as_bytes());
            file.end_of_options();
        }
        file.write()?;
        Ok(file)
    }

    /// Adds an interface.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn interface(&mut self, interface: &CaptureInterface<'_>) -> io::Result<()> {
        self.begin(1);
        self.number(interface.link as u32);
        self.number(interface.snap);
        self.option(2, interface.name.as_bytes());
        self.option(3, interface.description.as_bytes());
        // Ticks of 10^-9 s.
        self.option(9, &[9]);
        self.end_of_options();
        self.write()?;
        Ok(())
    }

    /// Adds a packet. Returns the bytes that it takes in the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn packet(&mut self, packet: &CapturedPacket<'_>) -> io::Result<usize> {
        let at = u64::try_from(packet.at.as_nanos()).unwrap_or(u64::MAX);
        let kept = u32::try_from(packet.bytes.len()).map_err(io::Error::other)?;
        self.begin(6);
        self.number(packet.interface);
        // The upper half comes first, whatever the order of bytes is.
        self.block.extend(at.rotate_left(32).to_le_bytes());
        self.number(kept);
        self.number(packet.length);
        self.padded(packet.bytes);
        if let Some(comment) = packet.comment {
            self.option(1, comment.as_bytes());
        }
        self.option(2, &(packet.direction as u32).to_le_bytes());
        self.end_of_options();
        self.write()
    }

    /// Returns the writer beneath.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.number(kind);
        // The length is known at the end.
        self.number(0);
    }

    fn number(&mut self, number: u32) {
        self.block.extend(number.to_le_bytes());
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Adds an option (§3.5), whose value is cut at its greatest length.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.block.extend(code.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.padded(value);
    }

    fn end_of_options(&mut self) {
        self.number(0);
    }

    /// Writes the block with its length at both ends (§3.1).
    fn write(&mut self) -> io::Result<usize> {
        let length = self.block.len() + 4;
        let told = u32::try_from(length).map_err(io::Error::other)?;
        self.block[4..8].copy_from_slice(&told.to_le_bytes());
        self.number(told);
        self.out.write_all(&self.block)?;
        Ok(length)
    }
}
