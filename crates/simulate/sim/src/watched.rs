//! A simulation that is watched from outside, broken down, or both.

use base::{FlowId, HostId, Packet, Time};
use fabric::{DropReason, Network, PortId, SwitchHook};
use schemes::{Receiver, Sender};
use tcp::{Endpoint, Host};

use crate::breakdown::Follower;
use crate::parts::Breakdown;
use crate::probe::{Branch, Divide, End, Follow, Probe, Sees};

/// A probe from outside, and what breaks completion times down: either or both.
pub(crate) struct Watched<P> {
    pub(crate) probe: Option<P>,
    pub(crate) follower: Option<Follower>,
}

impl<P: Probe> Probe for Watched<P> {
    #[inline(always)]
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.probe.on_hop(port, packet, now);
    }

    #[inline(always)]
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        self.probe.on_level(port, waiting, at);
    }

    #[inline(always)]
    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.probe.on_accept(port, packet, now);
        if let Some(follower) = &mut self.follower {
            follower.on_accept(port, packet);
        }
    }

    #[inline(always)]
    fn on_mark(&mut self, port: PortId, packet: &Packet, now: Time) {
        self.probe.on_mark(port, packet, now);
    }

    #[inline(always)]
    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        self.probe.on_drop(port, packet, reason, now);
        if let Some(follower) = &mut self.follower {
            follower.on_drop(port, packet);
        }
    }

    fn on_lost(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        self.probe.on_lost(port, packet, reason, now);
        if let Some(follower) = &mut self.follower {
            follower.on_lost(port, packet);
        }
    }

    #[inline(always)]
    fn on_pause(&mut self, port: PortId, class: u8, paused: bool, now: Time) {
        self.probe.on_pause(port, class, paused, now);
    }

    #[inline(always)]
    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        self.probe.on_hook(port, hook, at);
    }

    #[inline(always)]
    fn on_start(&mut self, flow: FlowId, now: Time) {
        self.probe.on_start(flow, now);
    }

    #[inline(always)]
    fn on_completion(&mut self, flow: FlowId, now: Time) {
        self.probe.on_completion(flow, now);
    }

    #[inline(always)]
    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        self.probe.on_endpoint(end, endpoint, now);
        if let Some(follower) = &mut self.follower {
            follower.on_endpoint(end, endpoint, now);
        }
    }

    fn has_failed(&self) -> bool {
        self.probe.has_failed()
    }

    fn on_revocation(&mut self, flow: FlowId, at: Time) {
        self.probe.on_revocation(flow, at);
    }

    fn on_end(&mut self, now: Time) {
        self.probe.on_end(now);
    }
}

impl<P: Probe> Sees<Receiver> for Watched<P>
where
    Self: Divide,
{
    fn keeps_ends(&self) -> bool {
        self.probe.is_some()
    }

    #[inline(always)]
    fn see_host(&mut self, host: HostId, state: &Host<Sender, Receiver>, now: Time) {
        self.probe.on_host(host, state, now);
    }
}

impl Divide for Watched<&mut dyn Probe> {}

impl Divide for Watched<Box<dyn Branch>> {
    fn take_over(&mut self, other: Self) {
        if let (Some(own), Some(others)) = (&mut self.probe, other.probe) {
            own.join(others);
        }
        if let (Some(own), Some(others)) = (&mut self.follower, other.follower) {
            own.join(others);
        }
    }
}

impl<P: Probe> Follow for Watched<P> {
    fn begin(
        &mut self,
        network: &Network,
        header_bytes: u32,
        receivers: impl Iterator<Item = HostId>,
        flows: usize,
    ) {
        if let Some(follower) = &mut self.follower {
            follower.begin(network, header_bytes, receivers.collect(), flows);
        }
    }

    fn on_message(&mut self, place: (FlowId, u32), times: (Time, Time), _: HostId) {
        if let Some(follower) = &mut self.follower {
            follower.on_message(place, times, true);
        }
    }

    fn revoke(&mut self, (of, id): (FlowId, u32), at: Time) {
        self.probe.on_revocation(of, at);
        if let Some(follower) = &mut self.follower {
            follower.revoke(id);
        }
    }

    fn on_message_end(&mut self, of: FlowId, id: u32, now: Time) {
        if let Some(follower) = &mut self.follower {
            follower.on_completion(of, id, now);
        }
    }

    fn on_send(&mut self, packet: &Packet, now: Time) {
        if let Some(follower) = &mut self.follower {
            follower.on_send(packet, now);
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, port: PortId, packet: &Packet) {
        if let Some(follower) = &mut self.follower {
            follower.on_arrival(port, packet);
        }
    }

    fn on_delivery(&mut self, packet: &Packet, now: Time) {
        if let Some(follower) = &mut self.follower {
            follower.on_delivery(packet, now);
        }
    }

    fn on_gone(&mut self, of: FlowId) {
        if let Some(follower) = &mut self.follower {
            follower.on_gone(of);
        }
    }

    fn take(&mut self) -> Vec<Option<Box<Breakdown>>> {
        self.follower.as_mut().map_or_else(Vec::new, Follower::take)
    }
}
