//! Queues that lose packets before their discipline sees them.

use base::{Packet, Time};

use crate::queue::{Backlog, Discipline, QueueDisc, Verdict};

/// A discipline behind a loss: packets that `loses` picks are dropped, and `inner` decides about the others.
struct Losing<L> {
    loses: L,
    inner: Discipline,
}

impl Discipline {
    /// This discipline behind a loss: `loses` is asked once for each packet that arrives, and a lost packet counts as
    /// dropped by the port.
    #[must_use]
    pub fn losing(self, mut loses: impl FnMut(&Packet) -> bool + Send + 'static) -> Self {
        self.losing_by_time(move |packet, _| loses(packet))
    }

    /// As [`Discipline::losing`], where `loses` is told when the packet arrives, too.
    #[must_use]
    pub fn losing_by_time(self, loses: impl FnMut(&Packet, Time) -> bool + Send + 'static) -> Self {
        Self::Custom(Box::new(Losing { loses, inner: self }))
    }
}

impl<L: FnMut(&Packet, Time) -> bool> QueueDisc for Losing<L> {
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, now: Time) -> Verdict {
        if (self.loses)(packet, now) {
            return Verdict::Drop;
        }
        self.inner.on_arrival(backlog, packet, now)
    }

    fn is_congested(&self, backlog: Backlog) -> bool {
        self.inner.is_congested(backlog)
    }

    fn on_empty(&mut self, at: Time) {
        self.inner.on_empty(at);
    }

    fn on_restart(&mut self, fresh: Discipline) -> Option<Discipline> {
        self.inner.renew(fresh);
        None
    }
}
