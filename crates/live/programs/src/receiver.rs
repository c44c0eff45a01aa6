//! A receiver whose windows are decided outside the kernel, connection by connection.
//!
//! Programs at the device of a host report incoming segments and outgoing acknowledgements, and write the last assigned
//! window into each acknowledgement. The process that assigns windows needs neither the sockets nor copies of packets,
//! and acknowledgements never wait for it.

use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::error::LoadError;
use crate::objects;
use crate::observer::FlowDirection;
use crate::port::Port;
use crate::ring_reader::RingReader;

/// A segment that arrived at a receiver or left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The time by the monotonic clock.
    pub at: Duration,
    /// The direction of the connection's acknowledgements.
    pub way: FlowDirection,
    /// Its kind.
    pub kind: SegmentKind,
}

/// The kind of a segment for a receiver. Numbers are those in the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentKind {
    /// A SYN with this number arrived.
    Opens(u32),
    /// Data came.
    Carries {
        /// The number of the first byte.
        number: u32,
        /// Bytes of payload.
        bytes: u32,
        /// Bytes of each segment but the last one, if several arrived as one.
        each: u32,
    },
    /// A FIN arrived, with the number of its first byte and its bytes of payload.
    Ends(u32, u32),
    /// A reset came.
    Breaks,
    /// A SYN-ACK left with this acknowledgement, and a window of this many bytes.
    Accepts(u32, u32),
    /// Another acknowledgement left, and a window of this many bytes as its sender reads it.
    Acknowledges(u32, u32),
}

/// The programs of a receiver, and their reports. They are removed when this is dropped.
pub struct Receiver {
    port: Port,
}

impl Receiver {
    /// Loads the programs, which the kernel verifies; they have no lease yet. A connection may send this many bytes
    /// until it gets a window.
    pub fn load(first_bytes: u32) -> Result<Self, LoadError> {
        let port = Port::load(&objects::assigned(first_bytes))?;
        Ok(Self { port })
    }

    /// Lease, counters and hooks.
    pub fn port(&self) -> &Port {
        &self.port
    }

    /// Assigns a window in bytes to the connection with acknowledgements in this direction, if it is known.
    pub fn assign(&self, way: &FlowDirection, bytes: u32) -> Result<(), LoadError> {
        let (windows, key) = self.windows(way)?;
        match windows.update(&key, &bytes.to_ne_bytes(), MapFlags::EXIST) {
            Err(error) if error.kind() != libbpf_rs::ErrorKind::NotFound => {
                Err(LoadError::Refused("write a map", error))
            }
            _ => Ok(()),
        }
    }

    /// Forgets a connection that has ended. Its later acknowledgements have TCP's own windows.
    pub fn forget(&self, way: &FlowDirection) -> Result<(), LoadError> {
        let (windows, key) = self.windows(way)?;
        // It may be gone already.
        drop(windows.delete(&key));
        Ok(())
    }

    /// Listens to the reports of the programs. Only one reader at a time gets all entries.
    pub fn listen(&self) -> Result<RingReader<Segment>, LoadError> {
        RingReader::at(&self.map_named("ring")?, Segment::read)
    }

    /// The number of segments that were not reported because the ring was full.
    pub fn untold(&self) -> Result<u64, LoadError> {
        let value = self.map_named("untold")?.lookup(&[0; 4], MapFlags::ANY);
        let value = value.map_err(|error| LoadError::Refused("read a map", error))?;
        let count = value.and_then(|value| value.first_chunk().copied());
        Ok(count.map_or(0, u64::from_ne_bytes))
    }

    /// The map with the window of a connection, and its key there.
    fn windows(&self, way: &FlowDirection) -> Result<(MapHandle, Vec<u8>), LoadError> {
        let name = if way.from.is_ipv4() {
            "windows"
        } else {
            "windows6"
        };
        Ok((self.map_named(name)?, way.key().1))
    }

    fn map_named(&self, name: &str) -> Result<MapHandle, LoadError> {
        let mut maps = self.port.object().maps();
        let map = maps.find(|map| map.name() == name);
        let map = map.ok_or(LoadError::Lacks("map"))?;
        MapHandle::try_from(&map).map_err(|error| LoadError::Refused("open a map", error))
    }
}

impl Segment {
    /// `struct told_segment` of `bpf/assigned.h`.
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes.get(at..)?.first_chunk().copied();
            word.map(u32::from_ne_bytes)
        };
        let nanoseconds = u64::from_ne_bytes(*bytes.first_chunk()?);
        let key = match word(12)? {
            0 => bytes.get(16..28)?,
            _ => bytes.get(16..52)?,
        };
        let (number, size) = (word(52)?, word(56)?);
        Some(Self {
            at: Duration::from_nanos(nanoseconds),
            way: FlowDirection::read(key)?,
            kind: match word(8)? {
                1 => SegmentKind::Opens(number),
                2 => SegmentKind::Carries {
                    number,
                    bytes: size,
                    each: word(60)?,
                },
                3 => SegmentKind::Ends(number, size),
                4 => SegmentKind::Breaks,
                5 => SegmentKind::Accepts(number, size),
                6 => SegmentKind::Acknowledges(number, size),
                _ => return None,
            },
        })
    }
}
