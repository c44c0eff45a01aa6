//! A simulation with a probe from outside, a breakdown of completion times, or both.

use base::{FlowId, HostId, Time};
use schemes::{Receiver, Sender};
use tcp::Host;

use crate::breakdown::Follower;
use crate::probe::{Branch, Divide, Follow, Probe, Sees};

/// A probe from outside and the follower for breakdowns: either or both.
pub(crate) struct Watched<P> {
    pub(crate) probe: Option<P>,
    pub(crate) follower: Option<Follower>,
}

forward! { both [P: Probe] Watched<P>, probe, follower }

impl<P: Probe> Sees<Receiver> for Watched<P>
where
    Self: Divide,
{
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
    follow! { follower }

    fn on_message(&mut self, place: (FlowId, u32), times: (Time, Time), sender: HostId) {
        if let Some(follower) = &mut self.follower {
            follower.on_message(place, times, sender);
        }
    }

    fn revoke(&mut self, place: (FlowId, u32), at: Time) {
        self.probe.on_revocation(place.0, at);
        if let Some(follower) = &mut self.follower {
            follower.revoke(place, at);
        }
    }
}
