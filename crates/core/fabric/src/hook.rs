//! The work of a switch at a port besides queueing: the role of schemes that work in switches.

use base::{Packet, Time};

use crate::queue::Backlog;

/// Which calls of a [`SwitchHook`] its port makes; a call that nobody waits for costs its packet time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Calls(u8);

impl Calls {
    /// No call.
    pub const NONE: Self = Self(0);
    /// [`SwitchHook::on_arrival`].
    pub const ARRIVAL: Self = Self(1);
    /// [`SwitchHook::on_departure`].
    pub const DEPARTURE: Self = Self(2);
    /// [`SwitchHook::on_level`].
    pub const LEVEL: Self = Self(4);
    /// [`SwitchHook::on_reverse`].
    pub const REVERSE: Self = Self(8);
    /// [`SwitchHook::deadline`] after every call, and [`SwitchHook::on_deadline`].
    pub const TIMER: Self = Self(16);
    /// Every call.
    pub const ALL: Self = Self(31);
    /// No call of a hook: its port marks packets that depart.
    pub(crate) const MARKS: Self = Self(32);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all calls of `other` are made.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any call of `other` is made.
    #[inline(always)]
    pub(crate) const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The calls in both sets.
    pub(crate) const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Lengths of a queue that tell a hook nothing new. If there are none, every length is news.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quiet {
    /// The least of them, in packets where these limit the queue, else in bytes.
    pub least: u64,
    /// The largest of them.
    pub most: u64,
}

impl Quiet {
    /// No length.
    pub const NEVER: Self = Self { least: 1, most: 0 };

    /// Whether `length` is one of them.
    #[inline(always)]
    pub const fn has(self, length: u64) -> bool {
        self.least <= length && length <= self.most
    }
}

/// A scheme's state at one output port of a switch.
///
/// A FIFO port knows its future, so departures and the hook's own timers take no events: they are
/// replayed when the port is next touched, every call with the time it belongs to. Calls of one port
/// come in the order of time; at equal times departures come first, then timers, then arrivals.
/// [`Backlog`] is what waits; the packet in transmission does not.
pub trait SwitchHook: Send {
    /// The calls that it needs. The port asks at the beginning and after every
    /// [`SwitchHook::on_level`]. A port whose hook does not need [`SwitchHook::on_reverse`] is not touched
    /// by packets of the other direction, so only a packet that joins the queue can make it needed.
    fn calls(&self) -> Calls {
        Calls::ALL
    }

    /// Lengths of the queue for which [`SwitchHook::on_level`] would change nothing and is left out. Asked
    /// when [`SwitchHook::calls`] is.
    fn quiet(&self) -> Quiet {
        Quiet::NEVER
    }

    /// `packet` arrives for this port and is offered to its queue next, which may drop it.
    fn on_arrival(&mut self, queue: Backlog, packet: &mut Packet, now: Time) {
        let _ = (queue, packet, now);
    }

    /// The transmission of `packet` begins; `queue` is what remains. TCP options are not shown and not
    /// changed here.
    fn on_departure(&mut self, queue: Backlog, packet: &mut Packet, at: Time) {
        let _ = (queue, packet, at);
    }

    /// From `at` on the queue has this length: after every packet that joins or leaves it, unless the
    /// length is [`SwitchHook::quiet`].
    fn on_level(&mut self, queue: Backlog, at: Time) {
        let _ = (queue, at);
    }

    /// `packet` has come in over the link that this port feeds, against the port's direction, and is
    /// forwarded next: where paths are symmetric, it belongs to a connection whose data leaves here.
    fn on_reverse(&mut self, queue: Backlog, packet: &mut Packet, now: Time) {
        let _ = (queue, packet, now);
    }

    /// When [`SwitchHook::on_deadline`] is to be called: the earliest of its timers, asked after every
    /// call. It moves on with every call of `on_deadline`.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come; `queue` is what waits at `at`.
    fn on_deadline(&mut self, queue: Backlog, at: Time) {
        let _ = (queue, at);
    }

    /// Reports its state by name, for traces.
    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        let _ = sink;
    }
}
