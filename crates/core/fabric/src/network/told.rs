//! Counts of packets, and of the buffers of switches.

use base::Time;

use super::{BufferDrops, Network, PauseReport, Paused};
use crate::histogram::QueueStatistics;
use crate::port::Port;
use crate::port_id::PortId;

impl Network {
    /// Closes the queue statistics of every port at `now`, up to which [`Network::settle`] must have
    /// come: levels later on are not counted.
    pub fn close_statistics(&mut self, now: Time) -> Vec<QueueStatistics> {
        let close = |port: &mut Port| port.close_statistics(now).statistics();
        self.ports.iter_mut().map(close).collect()
    }

    /// A number that any difference in any packet-hop changes: its time, place and headers. It does not
    /// depend on the order in which hops were simulated.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Packets at ports or kept behind links, counted one port after the other.
    pub fn held(&self) -> usize {
        let kept = self.detained.as_ref().map_or(0, |detained| detained.len());
        self.ports.iter().map(Port::held).sum::<usize>() + kept
    }

    /// Packets that hosts have sent, copies that links have made included, and packets that hosts have received.
    pub fn sent_and_delivered(&self) -> (u64, u64) {
        (self.sent, self.delivered)
    }

    /// Packets that `port` dropped because the shared buffer or the headroom of its switch had no room.
    pub fn refusals(&self, port: PortId) -> BufferDrops {
        match (&self.lossless, &self.buffers) {
            (Some(lossless), _) => lossless.refusals(port),
            (None, Some(buffers)) => buffers.refusals(port),
            (None, None) => BufferDrops::default(),
        }
    }

    /// The most bytes that were in use at a time in the shared buffer of any switch, if there are such buffers.
    pub fn pool_most(&self) -> Option<u64> {
        match &self.lossless {
            Some(lossless) => lossless.most(),
            None => self.buffers.as_ref().map(|buffers| buffers.most()),
        }
    }

    /// How often and for how long classes were paused at `port`, until `now`.
    pub fn paused(&self, port: PortId, now: Time) -> Paused {
        let lossless = self.lossless.as_ref();
        lossless.map_or_else(Paused::default, |lossless| lossless.paused(port, now))
    }

    /// The pauses until `now`, if switches pause.
    pub fn pauses(&self, now: Time) -> Option<PauseReport> {
        self.lossless.as_ref().map(|lossless| lossless.report(now))
    }
}
