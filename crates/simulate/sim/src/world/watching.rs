//! The reports of a world to its probe, beside those of its network.

use base::Time;
use tcp::{Plays, ReceiverCc};

use super::{ConnectionEnd, World};
use crate::probe::{self, Sees};

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// Tells the follower of packets about the network.
    pub(crate) fn follow(&mut self, header_bytes: u32) {
        let connections = self.connections.iter();
        let receivers = connections.map(|connection| connection.receiver.0);
        let flows = self.flows.len();
        let probe = &mut self.outside.watch.probe;
        probe.begin(&self.outside.network, header_bytes, receivers, flows);
    }

    /// Shows the probe an endpoint after one of its events.
    #[inline(always)]
    pub(super) fn report(&mut self, end: ConnectionEnd, deadline: bool, now: Time) {
        if !self.outside.watch.probe.sees_ends() {
            return;
        }
        let host = &self.hosts[end.host.0 as usize];
        let place = probe::End {
            flow: end.flow,
            sends: self.connections[end.flow.0 as usize].sender.0 == end.host,
            deadline,
        };
        self.outside
            .watch
            .probe
            .on_endpoint(place, host.endpoint(end.slot), now);
        self.outside.watch.probe.see_host(end.host, host, now);
    }
}
