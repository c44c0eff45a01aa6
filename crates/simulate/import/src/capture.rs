//! Packet captures: finds flows by connection, with their payload and times.
//!
//! In each direction of a connection, everything sent before the other side sends again is one flow: a request, or its
//! answer. Bytes are counted by sequence numbers. So retransmissions and repeated captures of a packet do not count,
//! but a packet that the capture missed does.

use std::collections::BTreeMap;
use std::net::IpAddr;

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{PcapError, TsResolution};
use tables::flows::exact::SECOND;
use tables::guard;

use crate::hosts::Hosts;
use crate::packet::{self, Other, Segment};
use crate::{FileKind, Imported, ImportedFlow};

/// Whether a file that begins like this is a capture.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    MAGIC.iter().any(|magic| bytes.starts_with(magic))
}

pub(crate) fn read(bytes: &[u8]) -> Result<Imported, String> {
    let mut import = CaptureImport::default();
    // A damaged file can make the third-party reader panic.
    let end = guard::read(|| {
        let end = if bytes.starts_with(&MAGIC[0]) {
            read_pcapng(bytes, &mut import)
        } else {
            read_pcap(bytes, &mut import)
        };
        Ok::<_, PcapError>(end)
    });
    let packets = import.packets;
    let damaged = match end {
        Ok(Ok(())) => None,
        // All bytes are in memory, so a reader only stops at their end.
        Ok(Err(PcapError::IncompleteBuffer | PcapError::IoError(_))) if packets > 0 => {
            Some("The file ends in the middle of a packet.".to_owned())
        }
        Ok(Err(error)) if packets > 0 => Some(format!(
            "The file is damaged behind packet {packets}: {error}."
        )),
        Err(error) if packets > 0 => Some(format!(
            "The file is damaged behind packet {packets}: {error}."
        )),
        Ok(Err(error)) => return Err(format!("it is damaged: {error}")),
        Err(error) => return Err(format!("it is damaged: {error}")),
    };
    Ok(import.into_imported(damaged))
}

fn read_pcap(bytes: &[u8], import: &mut CaptureImport) -> Result<(), PcapError> {
    let mut reader = PcapReader::new(bytes)?;
    let header = reader.header();
    let link = u32::from(header.datalink);
    let tick = match header.ts_resolution {
        TsResolution::MicroSecond => 1_000_000,
        TsResolution::NanoSecond => 1_000,
    };
    while let Some(packet) = reader.next_raw_packet() {
        let packet = packet?;
        let at = u128::from(packet.ts_sec) * u128::from(SECOND) + u128::from(packet.ts_frac) * tick;
        import.add(link, at, &packet.data, packet.orig_len);
    }
    Ok(())
}

/// An interface of a pcapng file: its link type, and the tick of its clock in picoseconds.
type Interface = (u32, Tick);

#[derive(Clone, Copy)]
enum Tick {
    /// A tick is this many picoseconds.
    Of(u128),
    /// A picosecond is this many ticks.
    Parts(u128),
    /// A tick is a second divided by 2 to this power.
    Binary(u32),
}

impl Tick {
    /// pcapng §4.2: a power of ten, or of two with the highest bit set; microseconds by default.
    fn of(interface: &InterfaceDescriptionBlock<'_>) -> Self {
        let said = interface.options.iter().find_map(|option| match option {
            InterfaceDescriptionOption::IfTsResol(power) => Some(*power),
            _ => None,
        });
        match said.unwrap_or(6) {
            power if power & 0x80 != 0 => Self::Binary(u32::from(power & 0x7f).min(63)),
            power @ 0..=12 => Self::Of(10_u128.pow(12 - u32::from(power))),
            power => Self::Parts(10_u128.pow(u32::from(power.min(30)) - 12)),
        }
    }

    fn picoseconds(self, ticks: u128) -> u128 {
        match self {
            Self::Of(each) => ticks * each,
            Self::Parts(parts) => ticks / parts,
            Self::Binary(power) => (ticks * u128::from(SECOND)) >> power,
        }
    }
}

fn read_pcapng(bytes: &[u8], import: &mut CaptureImport) -> Result<(), PcapError> {
    let mut reader = PcapNgReader::new(bytes)?;
    let mut interfaces: Vec<Interface> = Vec::new();
    while let Some(block) = reader.next_block() {
        match block? {
            // Each section has its own interfaces.
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(interface) => {
                interfaces.push((interface.linktype.into(), Tick::of(&interface)));
            }
            Block::EnhancedPacket(packet) => {
                let number = packet.interface_id;
                let interface = interfaces.get(number as usize);
                let (link, tick) = *interface.ok_or(PcapError::InvalidInterfaceId(number))?;
                // The crate takes every clock as nanoseconds, so these are ticks.
                let at = tick.picoseconds(packet.timestamp.as_nanos());
                import.add(link, at, &packet.data, packet.original_len);
            }
            // Packets of this kind have no timestamp.
            Block::SimplePacket(_) | Block::Packet(_) => {
                import.packets += 1;
                import.timeless += 1;
            }
            _ => {}
        }
    }
    Ok(())
}

type End = (IpAddr, u16);

/// The connections seen so far, with counts of packets.
#[derive(Default)]
struct CaptureImport {
    packets: u64,
    strange: u64,
    others: u64,
    cut: u64,
    timeless: u64,
    seen: u64,
    without_begin: u64,
    connections: BTreeMap<(End, End), Connection>,
    hosts: Hosts,
    flows: Vec<ImportedFlow>,
}

/// A connection and its two directions; the one from the lower address is first.
struct Connection {
    number: u64,
    opened: Option<u128>,
    /// For each side, the sequence number after its last byte, and whether it has sent payload.
    next: [Option<u32>; 2],
    /// The side that sent last, and its flow.
    turn: Option<(usize, usize)>,
}

impl CaptureImport {
    fn add(&mut self, link: u32, at: u128, bytes: &[u8], length: u32) {
        self.packets += 1;
        if !packet::is_known(link) {
            self.strange += 1;
            return;
        }
        match packet::segment(link, bytes, length) {
            Ok(segment) => self.segment(at, segment),
            Err(Other::NotTcp) => self.others += 1,
            Err(Other::Cut) => self.cut += 1,
        }
    }

    fn segment(&mut self, at: u128, segment: Segment) {
        let side = usize::from(segment.source > segment.target);
        let key = if side == 0 {
            (segment.source, segment.target)
        } else {
            (segment.target, segment.source)
        };
        let begins = segment.syn && !segment.ack;
        let first = segment.seq.wrapping_add(u32::from(segment.syn));
        let known = self.connections.get(&key);
        // A new SYN on the same ports is another connection; a repeated SYN is not.
        let again = begins
            && known.is_some_and(|known| known.turn.is_some() && known.next[side] != Some(first));
        if known.is_none() || again {
            self.connections.insert(
                key,
                Connection {
                    number: self.seen,
                    opened: begins.then_some(at),
                    next: [None; 2],
                    turn: None,
                },
            );
            self.seen += 1;
            self.without_begin += u64::from(!segment.syn);
        }
        let connection = self
            .connections
            .get_mut(&key)
            .expect("a connection that was added");
        if segment.syn {
            connection.next[side].get_or_insert(first);
        }
        if segment.payload == 0 {
            return;
        }
        let next = connection.next[side].get_or_insert(first);
        let end = first.wrapping_add(segment.payload);
        // Sequence numbers are compared around the circle (RFC 9293 §3.4).
        let new = end.wrapping_sub(*next);
        if new == 0 || new > u32::MAX / 2 {
            return;
        }
        *next = end;
        match connection.turn {
            Some((last, flow)) if last == side => self.flows[flow].size += u64::from(new),
            _ => {
                connection.turn = Some((side, self.flows.len()));
                self.flows.push(ImportedFlow {
                    start: at,
                    open: connection.opened.filter(|opened| *opened <= at),
                    size: new.into(),
                    sender: self.hosts.host(&segment.source.0.to_string()),
                    receiver: self.hosts.host(&segment.target.0.to_string()),
                    connection: Some(connection.number * 2 + side as u64),
                    wait: None,
                });
            }
        }
    }

    fn into_imported(mut self, damaged: Option<String>) -> Imported {
        let all = self.flows.len();
        self.flows.retain(|flow| flow.sender != flow.receiver);
        let themselves = (all - self.flows.len()) as u64;
        let mut notes = vec![format!(
            "{} connections. What one side sends before the other side answers is one flow; retransmitted bytes count once.",
            self.seen
        )];
        if self.without_begin > 0 {
            notes.push(format!(
                "{} connections were open when the capture began: their flows begin with the first byte that it has.",
                self.without_begin
            ));
        }
        notes.extend(damaged);
        Imported {
            kind: FileKind::Capture,
            read: self.packets,
            what: "packets",
            flows: self.flows,
            hosts: self.hosts.into_names(),
            dated: true,
            skipped: vec![
                ("packets of other protocols than TCP", self.others),
                ("packets cut within their headers", self.cut),
                ("packets of an unsupported link type", self.strange),
                ("packets without a time", self.timeless),
                ("flows from a host to itself", themselves),
            ],
            notes,
        }
    }
}

/// The first bytes of captures: pcapng, and pcap in both byte orders with microseconds or nanoseconds.
const MAGIC: [[u8; 4]; 5] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

#[cfg(test)]
mod tests;
