//! A network whose links and switches fail: packets that wires lose, links that are down or change, ports that begin anew.

use base::{Packet, Rate, Span, Time};

use super::Network;
use super::faults::{FaultDrops, Faults, Faulty};
use crate::hook::SwitchHook;
use crate::noise::Noise;
use crate::port_id::PortId;
use crate::queue::Discipline;
use crate::watch::{DropReason, Watch};

impl Network {
    /// Packets on the wire behind `port` are lost or damaged.
    pub fn add_noise(&mut self, port: PortId, noise: Noise) {
        self.faults_of(port).noises.push(noise);
    }

    /// Takes the wire behind `port` down: packets on it, packets that wait for it and packets that come to it are lost
    /// for this reason. The port must have been settled.
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

    /// Changes the rate and the delay of the link behind `port`, which must have been settled. The packet in transmission
    /// is sent to its end, packets that wait leave at the new rate, and none overtakes those on the wire.
    pub fn change_link(&mut self, port: PortId, (rate, delay): (Rate, Span), now: Time) {
        self.ports[port.0 as usize].change_link((rate, delay), now);
    }

    /// `port` belongs to a switch that has restarted: its discipline and its hook begin anew. The port must have been
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
        // The counters of priorities and hooks go on.
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
