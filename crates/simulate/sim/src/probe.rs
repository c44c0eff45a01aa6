//! Watching a simulation without changing it.

use std::any::Any;

use base::{FlowId, HostId, Packet, Time};
use fabric::{DropReason, Network, PortId, SwitchHook, Watch};
use schemes::{Receiver, Sender};
use tcp::{Endpoint, Host};

use crate::parts::Breakdown;

/// Watches a simulation. `()` sees nothing and costs nothing; both of a pair see everything; `None` sees nothing; a
/// closure sees every packet-hop.
///
/// Everything about one port, flow or host is reported in the order of time. Queue lengths are
/// reported late, with the time at which they changed: see [`Watch`].
pub trait Probe {
    /// `packet` has come out of the wire of `port`. If a switch has accepted it, it carries the switch's mark.
    #[inline(always)]
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let _ = (port, packet, now);
    }

    /// From `at` on, `waiting` bytes wait at `port`. Several changes can have the same time.
    #[inline(always)]
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        let _ = (port, waiting, at);
    }

    /// `port` has accepted `packet`, marked or not, and will send it.
    #[inline(always)]
    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        let _ = (port, packet, now);
    }

    /// `port` has marked `packet`, which it accepts or drops next.
    #[inline(always)]
    fn on_mark(&mut self, port: PortId, packet: &Packet, now: Time) {
        let _ = (port, packet, now);
    }

    /// `port` has dropped `packet`.
    #[inline(always)]
    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        let _ = (port, packet, reason, now);
    }

    /// `packet`, which `port` had accepted, is lost by a fault: it waited there, or was on the wire.
    #[inline(always)]
    fn on_lost(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        self.on_drop(port, packet, reason, now);
    }

    /// A class of priority is paused at `port`, or resumed.
    #[inline(always)]
    fn on_pause(&mut self, port: PortId, class: u8, paused: bool, now: Time) {
        let _ = (port, class, paused, now);
    }

    /// The hook at `port` of a switch has seen an event at `at`.
    #[inline(always)]
    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        let _ = (port, hook, at);
    }

    /// The application has started `flow`; its first segment has left.
    #[inline(always)]
    fn on_start(&mut self, flow: FlowId, now: Time) {
        let _ = (flow, now);
    }

    /// The last byte of `flow` is in order at its receiver.
    #[inline(always)]
    fn on_completion(&mut self, flow: FlowId, now: Time) {
        let _ = (flow, now);
    }

    /// An event of an endpoint has been handled, and its answers have been sent. If a receiver role releases an ACK for
    /// another connection, that is no event of that connection.
    #[inline(always)]
    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        let _ = (end, endpoint, now);
    }

    /// An event of any connection of `host`, or of its receiver role, has been handled.
    #[inline(always)]
    fn on_host(&mut self, host: HostId, state: &Host<Sender, Receiver>, now: Time) {
        let _ = (host, state, now);
    }

    /// True if the probe can no longer write its records, so that the run may stop. Called now and then.
    #[inline(always)]
    fn has_failed(&self) -> bool {
        false
    }

    /// Whether it wants to see endpoints and hosts with connections that have ended, too. If not, the memory of a
    /// connection is free as soon as only its TIME-WAIT timer is left, and nothing of it is reported any more.
    fn keeps_ends(&self) -> bool {
        true
    }

    /// `flow` was not complete at `at` after all: its sender had failed before.
    #[inline(always)]
    fn on_revocation(&mut self, flow: FlowId, at: Time) {
        let _ = (flow, at);
    }

    /// The simulation is over; nothing follows but [`Probe::join`].
    #[inline(always)]
    fn on_end(&mut self, now: Time) {
        let _ = now;
    }

    /// A new probe of the same kind for a part of the network, before any event. By default there is none, and the
    /// network is simulated as a whole.
    ///
    /// The branches together see what this probe would see of the whole. Each port, host and end of a flow is seen by
    /// one branch; a packet that has left a wire is seen by the branch at its far end.
    fn branch(&self) -> Option<Box<dyn Branch>> {
        None
    }

    /// Takes over the records of a branch.
    fn join(&mut self, branch: Box<dyn Branch>) {
        drop(branch);
    }
}

/// A probe for a part of a network, on its own thread.
pub trait Branch: Probe + Send + Any {}

impl<T: Probe + Send + Any> Branch for T {}

/// The end of a flow that an event concerned, and the kind of event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// The flow.
    pub flow: FlowId,
    /// Whether this end sends the flow's data.
    pub sends: bool,
    /// True if a deadline passed; false if a segment arrived or the application acted.
    pub deadline: bool,
}

impl Probe for () {
    #[inline(always)]
    fn keeps_ends(&self) -> bool {
        false
    }
}

impl<F: FnMut(PortId, &Packet, Time)> Probe for F {
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        self(port, packet, now);
    }
}

forward! { both [A: Probe, B: Probe] (A, B), 0, 1 }
forward! { if_any [P: Probe] Option<P> }
forward! { through [] &mut dyn Probe }
forward! { through [] Box<dyn Branch> }

/// A probe in a world with this kind of receiver.
///
/// If no host has a receiver role, the probe sees no receivers: only one kind of world is watched.
pub(crate) trait Sees<R>: Probe + Follow + Divide {
    /// Whether it wants to see endpoints and hosts.
    #[inline(always)]
    fn sees_ends(&self) -> bool {
        true
    }

    /// As [`Probe::on_host`].
    fn see_host(&mut self, host: HostId, state: &Host<Sender, R>, now: Time);
}

/// Further reports, for the breakdown of completion times. By default they are ignored.
pub(crate) trait Follow {
    /// A world begins, with this network, this receiver of each connection, and this many flows.
    #[inline(always)]
    fn begin(
        &mut self,
        network: &Network,
        header_bytes: u32,
        receivers: impl Iterator<Item = HostId>,
        flows: usize,
    ) {
        let _ = (network, header_bytes, flows);
        drop(receivers);
    }

    /// Flow `id` of a connection starts now; the first time is the planned one. Its sender is `sender`.
    #[inline(always)]
    fn on_message(&mut self, place: (FlowId, u32), times: (Time, Time), sender: HostId) {
        let _ = (place, times, sender);
    }

    /// Flow `id` of a connection was not complete at `at` after all.
    #[inline(always)]
    fn revoke(&mut self, (of, id): (FlowId, u32), at: Time) {
        let _ = (of, id, at);
    }

    /// The packet that has just been delivered completes flow `id`.
    #[inline(always)]
    fn on_message_end(&mut self, of: FlowId, id: u32, now: Time) {
        let _ = (of, id, now);
    }

    /// A host hands `packet` to its port.
    #[inline(always)]
    fn on_send(&mut self, packet: &Packet, now: Time) {
        let _ = (packet, now);
    }

    /// `packet` comes out of the wire of `port`, before any other handling.
    #[inline(always)]
    fn on_arrival(&mut self, port: PortId, packet: &Packet) {
        let _ = (port, packet);
    }

    /// A packet that a link has kept is about to go on: of equal ones, the one that has been kept for longest.
    #[inline(always)]
    fn on_release(&mut self) {}

    /// A host is about to handle `packet`.
    #[inline(always)]
    fn on_delivery(&mut self, packet: &Packet, now: Time) {
        let _ = (packet, now);
    }

    /// The endpoints of a connection are removed.
    #[inline(always)]
    fn on_gone(&mut self, of: FlowId) {
        let _ = of;
    }

    /// The breakdown of every flow, by number; empty if nothing was followed.
    #[inline(always)]
    fn take(&mut self) -> Vec<Option<Box<Breakdown>>> {
        Vec::new()
    }
}

/// The part of a network that a world simulates, and its messages to the other parts. By default it simulates the
/// whole.
pub(crate) trait Divide {
    /// Whether this host is simulated here.
    #[inline(always)]
    fn has_host(&self, host: HostId) -> bool {
        let _ = host;
        true
    }

    /// Whether packets leave this port here.
    #[inline(always)]
    fn has_port(&self, port: PortId) -> bool {
        let _ = port;
        true
    }

    /// The time from which ports measure their queues, in a world that measures them from `first_start` on.
    #[inline(always)]
    fn ports_measure_from(&self, first_start: Time) -> Time {
        first_start
    }

    /// See [`Watch::schedules_first`].
    #[inline(always)]
    fn schedules_first(&mut self, port: PortId, now: Time) -> bool {
        let _ = (port, now);
        true
    }

    /// Flow `id` is complete here, or has failed.
    #[inline(always)]
    fn on_over(&mut self, id: u32, now: Time) {
        let _ = (id, now);
    }

    /// Takes over the records of another part.
    fn take_over(&mut self, other: Self)
    where
        Self: Sized,
    {
        drop(other);
    }
}

impl Follow for () {}

impl Divide for () {}

impl<R> Sees<R> for () {
    #[inline(always)]
    fn sees_ends(&self) -> bool {
        false
    }

    #[inline(always)]
    fn see_host(&mut self, _: HostId, _: &Host<Sender, R>, _: Time) {}
}

/// A probe as the network sees it, with the queue statistics that the results need.
pub(crate) struct AtQueues<P> {
    pub(crate) probe: P,
    /// The packets of each connection.
    pub(crate) packets: Vec<Packets>,
}

/// The fate of the packets of a connection.
#[derive(Clone, Copy, Default)]
pub(crate) struct Packets {
    /// Dropped.
    pub(crate) dropped: u32,
    /// Sent and neither delivered nor dropped. A packet that its host withdraws is counted for good. So this may be too
    /// high but never too low.
    pub(crate) inside: u32,
}

impl Packets {
    /// A packet has left the way and the ports, or is counted only here because another part of the network has sent
    /// it.
    #[inline(always)]
    pub(crate) const fn leave(&mut self) {
        self.inside = self.inside.wrapping_sub(1);
    }

    /// A packet has been sent.
    #[inline(always)]
    pub(crate) const fn enter(&mut self) {
        self.inside = self.inside.wrapping_add(1);
    }
}

impl<P: Probe + Divide> Watch for AtQueues<P> {
    fn on_copy(&mut self, packet: &Packet) {
        self.packets[packet.flow.0 as usize].enter();
    }

    #[inline(always)]
    fn schedules_first(&mut self, port: PortId, now: Time) -> bool {
        self.probe.schedules_first(port, now)
    }

    #[inline(always)]
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        self.probe.on_level(port, waiting, at);
    }

    #[inline(always)]
    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.probe.on_accept(port, packet, now);
    }

    #[inline(always)]
    fn on_mark(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.probe.on_mark(port, packet, now);
    }

    #[inline(always)]
    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        let packets = &mut self.packets[packet.flow.0 as usize];
        packets.dropped += 1;
        packets.leave();
        self.probe.on_drop(port, packet, reason, now);
    }

    fn on_lost(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        let packets = &mut self.packets[packet.flow.0 as usize];
        packets.dropped += 1;
        packets.leave();
        self.probe.on_lost(port, packet, reason, now);
    }

    #[inline(always)]
    fn on_pause(&mut self, port: PortId, class: u8, paused: bool, now: Time) {
        self.probe.on_pause(port, class, paused, now);
    }

    #[inline(always)]
    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        self.probe.on_hook(port, hook, at);
    }
}
