//! Observes when senders of this machine notice losses, on all devices.
//!
//! The kernel's TCP calls a tracepoint whenever a connection enters a state of congestion control: Recovery, when ACKs
//! indicate a loss, and Loss, once for every retransmission timer that expires.

use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};

use crate::error::LoadError;
use crate::observer::FlowDirection;
use crate::port::{opened, verified};
use crate::ring_reader::RingReader;

/// A sender noticed a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossEvent {
    /// The time by the monotonic clock.
    pub at: Duration,
    /// The way of its data.
    pub way: FlowDirection,
    /// True if a timer indicated the loss, false if ACKs did.
    pub by_timer: bool,
}

/// Observes losses until it is dropped.
pub struct Losses {
    object: Object,
    _links: Vec<Link>,
}

impl Losses {
    /// Begins to observe all senders of this machine.
    pub fn hear() -> Result<Self, LoadError> {
        let object = verified(opened(OBJECT)?)?;
        let refused = |error| LoadError::Refused("attach a program", error);
        let links = object.progs_mut().map(|program| program.attach());
        let links = links.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        Ok(Self {
            object,
            _links: links,
        })
    }

    /// The losses since the last call, nearly in the order of time; `None` if some were lost because the ring was full.
    pub fn heard(&self) -> Result<Option<Vec<LossEvent>>, LoadError> {
        let heard = RingReader::at(&self.map("ring")?, LossEvent::read)?.heard()?;
        let untold = self.map("untold")?.lookup(&[0; 4], MapFlags::ANY);
        let untold = untold.map_err(|error| LoadError::Refused("read a map", error))?;
        let is_whole = untold.is_some_and(|count| count.iter().all(|byte| *byte == 0));
        Ok(is_whole.then_some(heard))
    }

    fn map(&self, name: &str) -> Result<MapHandle, LoadError> {
        let mut maps = self.object.maps();
        let map = maps.find(|map| map.name() == name);
        let map = map.ok_or(LoadError::Lacks("map"))?;
        MapHandle::try_from(&map).map_err(|error| LoadError::Refused("open a map", error))
    }
}

impl LossEvent {
    /// `struct told_loss` of `bpf/losses.bpf.c`.
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes.get(at..)?.first_chunk().copied();
            word.map(u32::from_ne_bytes)
        };
        let key = match word(12)? {
            0 => bytes.get(16..28)?,
            _ => bytes.get(16..52)?,
        };
        Some(Self {
            at: Duration::from_nanos(u64::from_ne_bytes(*bytes.first_chunk()?)),
            way: FlowDirection::read(key)?,
            by_timer: word(8)? == LOSS,
        })
    }
}

/// A state of Linux's TCP (`linux/tcp.h`).
const LOSS: u32 = 4;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/losses.o"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read() {
        let mut bytes = [0; 56];
        bytes[..8].copy_from_slice(&1_500_u64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&3_u32.to_ne_bytes());
        // Ports and addresses in network byte order, as in headers.
        bytes[16..20].copy_from_slice(&[0x1b, 0x58, 0, 80]);
        bytes[20..28].copy_from_slice(&[10, 88, 0, 1, 10, 88, 0, 2]);
        let noticed = LossEvent::read(&bytes).unwrap();
        assert_eq!(noticed.at, Duration::from_nanos(1_500));
        assert_eq!(noticed.way.from, "10.88.0.1:7000".parse().unwrap());
        assert_eq!(noticed.way.to, "10.88.0.2:80".parse().unwrap());
        assert!(!noticed.by_timer);
        bytes[8..12].copy_from_slice(&4_u32.to_ne_bytes());
        assert!(LossEvent::read(&bytes).unwrap().by_timer);
        assert_eq!(LossEvent::read(&bytes[..20]), None);
    }
}
