//! Faults of links: wires that lose or damage packets, links that are down.

use std::iter::Sum;

use base::Time;

use crate::noise::Noise;
use crate::port::Port;
use crate::watch::DropReason;

/// The faults of the links of a network.
pub(super) struct Faults {
    /// The wire of each port, and whether the port sends.
    pub(super) links: Vec<Faulty>,
    /// Whether the packet that has come out of a wire last was lost there.
    pub(super) has_just_lost: bool,
}

/// One direction of a link.
#[derive(Default)]
pub(super) struct Faulty {
    pub(super) noises: Vec<Noise>,
    /// The reasons for which it is down, one for each fault; empty while it is up.
    pub(super) down: Vec<DropReason>,
    /// Packets that were on the wire when it went down last: they do not arrive.
    pub(super) doomed: usize,
    /// Why.
    pub(super) doom: Option<DropReason>,
    pub(super) drops: FaultDrops,
}

/// Packets that a port lost by faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FaultDrops {
    /// Its link was down.
    pub link_down: u64,
    /// A switch at an end of its link restarted.
    pub restart: u64,
    /// The host at an end of its link had disappeared.
    pub host_gone: u64,
    /// A link lost them at random.
    pub lossy: u64,
    /// They were damaged on the wire.
    pub corrupt: u64,
}

impl Faults {
    /// None so far.
    pub(super) fn of(ports: &[Port]) -> Self {
        Self {
            links: ports.iter().map(|_| Faulty::default()).collect(),
            has_just_lost: false,
        }
    }
}

impl Faulty {
    /// Why the packet is lost that comes out of the wire now, if it is.
    pub(super) fn reason(&mut self, now: Time) -> Option<DropReason> {
        if self.doomed > 0 {
            self.doomed -= 1;
            return self.doom;
        }
        // Each draws for every packet that reaches it, whatever the others say.
        let drawn = self.noises.iter_mut().map(|noise| noise.loses(now));
        drawn.fold(None, Option::or)
    }
}

impl Sum for FaultDrops {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |sum, one| Self {
            link_down: sum.link_down + one.link_down,
            restart: sum.restart + one.restart,
            host_gone: sum.host_gone + one.host_gone,
            lossy: sum.lossy + one.lossy,
            corrupt: sum.corrupt + one.corrupt,
        })
    }
}

impl FaultDrops {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.link_down + self.restart + self.host_gone + self.lossy + self.corrupt
    }

    pub(super) const fn add(&mut self, reason: DropReason, packets: u64) {
        match reason {
            DropReason::LinkDown => self.link_down += packets,
            DropReason::Restart => self.restart += packets,
            DropReason::HostGone => self.host_gone += packets,
            DropReason::Lossy => self.lossy += packets,
            DropReason::Corrupt => self.corrupt += packets,
            DropReason::Full
            | DropReason::Pool
            | DropReason::Threshold
            | DropReason::Headroom
            | DropReason::Discipline => {}
        }
    }
}
