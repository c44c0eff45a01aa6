//! What a network tells of the buffers of its switches.

use base::Time;

use super::{Network, PauseReport, Paused, Refusals};
use crate::port_id::PortId;

impl Network {
    /// Packets that `port` dropped because the shared buffer or the headroom of its switch had no room.
    pub fn refusals(&self, port: PortId) -> Refusals {
        match (&self.lossless, &self.buffers) {
            (Some(lossless), _) => lossless.refusals(port),
            (None, Some(buffers)) => buffers.refusals(port),
            (None, None) => Refusals::default(),
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

    /// What pauses came to until `now`, if switches pause.
    pub fn pauses(&self, now: Time) -> Option<PauseReport> {
        self.lossless.as_ref().map(|lossless| lossless.report(now))
    }
}
