//! Watching queues without changing them.

use base::{Packet, Time};

use crate::hook::SwitchHook;
use crate::port_id::PortId;

/// Sees what happens at the queues of a network. `()` sees nothing and costs nothing.
///
/// What is reported of one port comes in the order of time. The lengths of different ports do not: a
/// port notices only at its next event which packets have left its queue.
pub trait Watch {
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

    /// The next node has paused a class at `port`, or resumed it.
    #[inline(always)]
    fn on_pause(&mut self, port: PortId, class: u8, paused: bool, now: Time) {
        let _ = (port, class, paused, now);
    }

    /// A link in disorder will deliver `packet` a second time.
    #[inline(always)]
    fn on_copy(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// A packet is on the way behind `port`, the only one there, since `now`. Returns whether its arrival is to be
    /// scheduled here: not if somebody else takes it with [`Network::export`](crate::Network::export).
    #[inline(always)]
    fn schedules_first(&mut self, port: PortId, now: Time) -> bool {
        let _ = (port, now);
        true
    }

    /// Something has happened at `at` that `hook`, which is at `port`, has seen.
    #[inline(always)]
    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        let _ = (port, hook, at);
    }
}

impl Watch for () {}

base::names! {
    /// Why a packet was dropped. The name is that in traces: `drops_` and the name are the column that counts such drops, if
    /// there is one.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum DropReason {
        /// It did not fit into its queue.
        Full = "port",
        /// The buffer that all queues of the switch share was full.
        Pool = "pool",
        /// Its queue had its share of that buffer.
        Threshold = "threshold",
        /// The port that brought it had filled the headroom of its class, although that was paused there.
        Headroom = "headroom",
        /// The discipline of the queue decided so; a link that loses packets in front of its queue is such a discipline.
        Discipline = "discipline",
        /// Its link was down.
        LinkDown = "link_down",
        /// A switch at an end of its link restarted.
        Restart = "restart",
        /// The host at an end of its link had disappeared.
        HostGone = "host_gone",
        /// A link lost it at random.
        Lossy = "lossy",
        /// It was damaged on the wire, and the next node discarded it.
        Corrupt = "corrupt",
    }
}
