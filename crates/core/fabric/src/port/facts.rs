//! What a port tells of itself.

use super::{Bucket, End, Port};
use crate::topology::LinkSpec;

/// What a port has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Packets accepted and not pushed out or withdrawn: each is one packet-hop.
    pub packets: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked here.
    pub marks: u64,
    /// Packets that found the queue at or above the marking threshold, ECN-capable or not.
    pub threshold_crossings: u64,
    /// Largest number of bytes waiting.
    pub max_waiting_bytes: u64,
}

impl Port {
    /// Rate and delay of its wire; a time for which the switch holds every packet is part of the delay.
    pub fn link(&self) -> LinkSpec {
        LinkSpec {
            rate: self.rate,
            delay: self.delay,
        }
    }

    /// Its token bucket, as it was when nothing had been sent, if it has one.
    pub fn full_bucket(&self) -> Option<Bucket> {
        self.bucket.as_ref().map(|bucket| bucket.filled())
    }

    /// Whether it belongs to a host, and whether its wire leads to one.
    pub fn host_ends(&self) -> (bool, bool) {
        (self.of_host, matches!(self.end, End::Host(_)))
    }

    /// Packets on the wire or waiting.
    pub fn held(&self) -> usize {
        let by_priority = self
            .priorities
            .as_ref()
            .map_or(0, |waiting| waiting.packets());
        self.ring.len() + usize::try_from(by_priority).unwrap_or(usize::MAX)
    }
}
