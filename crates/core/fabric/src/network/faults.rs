//! Faults of links and switches: packets that wires lose, links that are down or change, ports that begin anew.

use std::iter::Sum;

use base::{Packet, Rate, Span, Time};

use super::Network;
use crate::hook::SwitchHook;
use crate::noise::Noise;
use crate::port::Port;
use crate::port_id::PortId;
use crate::queue::Discipline;
use crate::watch::{DropReason, Watch};

/// What is wrong with the links of a network.
pub(super) struct Faults {
    /// By port: its wire, and whether it sends.
    links: Vec<Faulty>,
    /// Whether the packet that has come out of a wire last was lost there.
    has_just_lost: bool,
}

/// One direction of a link.
#[derive(Default)]
struct Faulty {
    noises: Vec<Noise>,
    /// Why it is down, once for each fault; empty while it is up.
    down: Vec<DropReason>,
    /// Packets that were on the wire when it went down last: they do not arrive.
    doomed: usize,
    /// Why.
    doom: Option<DropReason>,
    drops: FaultDrops,
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

impl Network {
    /// Packets on the wire behind `port` are lost or damaged.
    pub fn add_noise(&mut self, port: PortId, noise: Noise) {
        self.faults_of(port).noises.push(noise);
    }

    /// The wire behind `port` is down from now on: what is on it, what waits for it and what comes to it is lost for this
    /// reason. The port must have been settled.
    pub fn cut<W: Watch>(&mut self, port: PortId, reason: DropReason, now: Time, watch: &mut W) {
        let state = &mut self.ports[port.0 as usize];
        let waited = state.drop_waiting(reason, (now, port), watch);
        let gone = state.take_gone();
        debug_assert_eq!(gone, waited, "the port is settled");
        let on_wire = state.held();
        self.lost += waited;
        let faulty = self.faults_of(port);
        faulty.down.push(reason);
        (faulty.doomed, faulty.doom) = (on_wire, Some(reason));
        faulty.drops.add(reason, waited);
    }

    /// One of the reasons for which the wire behind `port` is down has passed.
    pub fn mend(&mut self, port: PortId, reason: DropReason) {
        let down = &mut self.faults_of(port).down;
        if let Some(place) = down.iter().position(|one| *one == reason) {
            down.remove(place);
        }
    }

    /// The link behind `port` has this rate and this delay from now on. The port must have been settled. What is being sent
    /// is sent to its end, what waits leaves at the new rate, and nothing overtakes what is on the wire.
    pub fn change_link(&mut self, port: PortId, (rate, delay): (Rate, Span), now: Time) {
        self.ports[port.0 as usize].change_link((rate, delay), now);
    }

    /// `port` belongs to a switch that has restarted: whatever decides about its packets begins anew. The port must have been
    /// settled, and nothing may wait there.
    pub fn renew(
        &mut self,
        port: PortId,
        discipline: Discipline,
        hook: Option<Box<dyn SwitchHook>>,
        now: Time,
    ) {
        self.ports[port.0 as usize].renew(discipline, hook, now);
    }

    /// Packets that `port` lost by faults.
    pub fn fault_drops(&self, port: PortId) -> FaultDrops {
        let faults = self.faults.as_ref();
        faults.map_or_else(FaultDrops::default, |faults| {
            faults.links[port.0 as usize].drops
        })
    }

    /// Whether the packet that has come out of a wire last was lost there.
    #[inline(always)]
    pub fn has_just_lost(&self) -> bool {
        self.faults
            .as_ref()
            .is_some_and(|faults| faults.has_just_lost)
    }

    /// Whether `packet`, which comes out of the wire behind `port`, is lost there.
    #[inline(never)]
    pub(super) fn loses<W: Watch>(
        &mut self,
        port: PortId,
        packet: &Packet,
        now: Time,
        watch: &mut W,
    ) -> bool {
        let Some(faults) = &mut self.faults else {
            return false;
        };
        let faulty = &mut faults.links[port.0 as usize];
        let reason = faulty.reason(now);
        faults.has_just_lost = reason.is_some();
        let Some(reason) = reason else { return false };
        faulty.drops.add(reason, 1);
        self.lost += 1;
        self.ports[port.0 as usize].lose(packet, reason, (now, port), watch);
        true
    }

    /// Whether `packet` comes to `port` while its wire is down, and is lost.
    pub(super) fn is_down<W: Watch>(
        &mut self,
        port: PortId,
        packet: &Packet,
        now: Time,
        watch: &mut W,
    ) -> bool {
        let Some(faults) = &mut self.faults else {
            return false;
        };
        let faulty = &mut faults.links[port.0 as usize];
        let Some(reason) = faulty.down.last().copied() else {
            return false;
        };
        faulty.drops.add(reason, 1);
        self.lost += 1;
        let state = &mut self.ports[port.0 as usize];
        // The books of priorities and hooks go on.
        state.settle_watched(now, port, watch, &mut |_| false);
        state.refuse(packet, reason, (now, port), watch);
        true
    }

    fn faults_of(&mut self, port: PortId) -> &mut Faulty {
        (self.apart, self.disturbed) = (true, true);
        let ports = &self.ports;
        let faults = self
            .faults
            .get_or_insert_with(|| Box::new(Faults::of(ports)));
        &mut faults.links[port.0 as usize]
    }
}

impl Faults {
    fn of(ports: &[Port]) -> Self {
        Self {
            links: ports.iter().map(|_| Faulty::default()).collect(),
            has_just_lost: false,
        }
    }
}

impl Faulty {
    /// Why the packet is lost that comes out of the wire now, if it is.
    fn reason(&mut self, now: Time) -> Option<DropReason> {
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
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
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

    const fn add(&mut self, reason: DropReason, packets: u64) {
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
