//! An output port: a queue, a transmitter and the wire behind it.

mod bucket;
mod busy;
mod departure;
mod facts;
mod fault;
mod hooks;
mod jitter;
mod paused;
mod room;
mod wire;

use std::slice::from_ref;

use base::{HostId, Packet, Rate, Span, Time};

use prefetch_index::prefetch_index;

use crate::histogram::LevelHistogram;
use crate::hook::{Calls, Quiet, SwitchHook};
use crate::port_id::PortId;
use crate::priority::{Priorities, Strict};
use crate::queue::{Backlog, Discipline, Limit, QueueDisc};
use crate::ring::Ring;
use crate::routes::Row;
use crate::watch::{DropReason, Watch};

pub use bucket::Bucket;
pub use facts::PortCounters;
pub use jitter::Jitter;

/// What a port is made of.
pub struct PortConfig {
    /// Rate of the transmitter.
    pub rate: Rate,
    /// One-way delay of the wire.
    pub delay: Span,
    /// The random delay of each packet at the end of the wire, if there is one.
    pub jitter: Option<Jitter>,
    /// The token bucket that takes the place of the rate, if there is one.
    pub bucket: Option<Bucket>,
    /// How much may wait.
    pub limit: Limit,
    /// What happens to arriving packets.
    pub discipline: Discipline,
    /// What the switch does here besides queueing.
    pub hook: Option<Box<dyn SwitchHook>>,
    /// How packets are served by priority.
    pub priorities: Strict,
    /// Bytes a packet has on the wire beside its payload.
    pub header_bytes: u32,
}

/// An output port with a constant rate and a constant delay, a FIFO or one with strict priorities.
///
/// Of a FIFO, at [`Port::offer`] the whole future of an accepted packet is known: it starts to leave when the
/// packets before it have left, and arrives after its serialisation and the delay of the wire. The
/// queue at any instant follows by retiring packets whose transmission has begun. The packet in
/// transmission does not count as queued, and a packet that starts at the instant of an arrival has
/// left the queue before it.
///
/// With priorities a later packet may overtake, so what leaves next depends on what waits when the
/// transmitter is free. That needs no event either: what waits changes only with [`Port::offer`], and
/// while packets wait the one in transmission has an arrival to come, so both decide what is overdue
/// first. All classes share the limit. A packet may leave without having been sent, which
/// [`Port::take_gone`] tells.
///
/// Fields are in the order of use: an idle port touches the first two cache lines.
#[repr(C, align(64))]
pub struct Port {
    /// When the transmitter will have sent everything accepted so far.
    free_at: Time,
    delay: Span,
    ring: Ring,
    /// Picoseconds per byte if whole and few, and there is neither jitter nor a bucket; else 0: then [`jitter`] decides.
    ps_per_byte: u32,
    /// Whether packets that find the transmitter idle matter, too: to the discipline, to a hook, or
    /// because others may still wait for their turn by priority.
    watches_idle: bool,
    /// Whether a packet that finds the transmitter idle and nobody waiting is sent at once: nothing looks at it, and there
    /// is no hook.
    plain: bool,
    /// What the hook is told; nothing without one.
    calls: Calls,
    /// Whether SACK blocks count beside the header bytes.
    pub(crate) counts_sack: bool,
    header_bytes: u32,
    /// Packets and bytes accepted.
    packets: u64,
    bytes: u64,
    /// When the hook is to be called next; [`Time::NEVER`] without one.
    hook_due: Time,
    /// Bytes waiting since `level_since`; levels before are in the histogram.
    waiting_bytes: u64,
    /// When the transmission of the next packet that waits begins; [`Time::NEVER`] if none waits.
    next_start: Time,
    level_since: Time,
    /// Where the wire leads.
    pub(crate) end: End,
    /// Waiting packets, if priorities decide which is next; the ring then holds those on the wire.
    priorities: Option<Box<Priorities>>,
    /// Packets that were accepted, not sent, and not reported yet.
    gone: u64,
    /// Whether it is a host's, who may withdraw what waits.
    pub(crate) of_host: bool,
    limit: Limit,
    discipline: Discipline,
    max_waiting_bytes: u64,
    hook: Option<Box<dyn SwitchHook>>,
    levels: LevelHistogram,
    /// Lengths of the queue that are not reported to the hook.
    quiet: Quiet,
    drops: u64,
    marks: u64,
    threshold_crossings: u64,
    rate: Rate,
    /// Picoseconds per byte if whole, whether there is jitter or not.
    exact: Option<u64>,
    jitter: Option<Box<Jitter>>,
    bucket: Option<Box<Bucket>>,
    /// The discipline that marks packets when their transmission begins ([`departure`]), if there is one.
    departure_marks: Option<Box<Discipline>>,
    /// Why the packet that is offered has no room beside the limit, until it is dropped; else `None`.
    refusal: Option<DropReason>,
}

/// The other end of a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Host(HostId),
    Switch(Row),
}

/// The fate of a packet offered to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// It is lost.
    Dropped,
    /// It waits behind others; its arrival is scheduled when theirs is handled.
    Queued,
    /// The same, and packets of lower priority made room for it, which [`Port::take_gone`] counts.
    Displacing,
    /// It is the only one and arrives then, which is to be scheduled: one event per busy port.
    First(Time),
}

impl Port {
    /// An idle port whose queue statistics begin at `measure_from`.
    pub fn new(config: PortConfig, measure_from: Time) -> Self {
        let hook = config.hook.as_ref();
        let calls = hook.map_or(Calls::NONE, |hook| hook.calls());
        let looks = config.discipline.is_congested(Backlog::default())
            || matches!(config.discipline, Discipline::Custom(_))
            || calls.has(Calls::ARRIVAL);
        Self {
            free_at: Time::ZERO,
            delay: config.delay,
            ring: Ring::new(),
            ps_per_byte: (config.rate.ps_per_byte())
                .filter(|_| config.jitter.is_none() && config.bucket.is_none())
                .and_then(|exact| exact.try_into().ok())
                .unwrap_or(0),
            header_bytes: config.header_bytes,
            counts_sack: false,
            watches_idle: looks || config.priorities.classes > 1,
            plain: !looks && hook.is_none(),
            calls,
            quiet: hook.map_or(Quiet::NEVER, |hook| hook.quiet()),
            packets: 0,
            bytes: 0,
            hook_due: config
                .hook
                .as_ref()
                .filter(|_| calls.has(Calls::TIMER))
                .map_or(Time::NEVER, |hook| hook.deadline()),
            hook: config.hook,
            waiting_bytes: 0,
            next_start: Time::NEVER,
            level_since: measure_from,
            levels: LevelHistogram::new(),
            limit: config.limit,
            discipline: config.discipline,
            max_waiting_bytes: 0,
            drops: 0,
            marks: 0,
            threshold_crossings: 0,
            rate: config.rate,
            exact: config.rate.ps_per_byte(),
            jitter: config.jitter.map(Box::new),
            bucket: config.bucket.map(Box::new),
            departure_marks: None,
            priorities: (config.priorities.classes > 1)
                .then(|| Box::new(Priorities::new(config.priorities))),
            end: End::Host(HostId(0)),
            of_host: true,
            gone: 0,
            refusal: None,
        }
    }

    /// A packet arrives at the queue; it may be marked.
    #[inline(always)]
    pub fn offer(&mut self, packet: &mut Packet, now: Time) -> Offer {
        self.offer_watched(packet, now, PortId(0), &mut ())
    }

    /// [`Port::offer`] with someone who sees what happens, told that this is `port`.
    #[inline(always)]
    pub fn offer_watched<W: Watch>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> Offer {
        if !self.is_idle(now) {
            return self.offer_busy(packet, now, port, watch);
        }
        let size = self.size_of(packet);
        self.start_idle(packet, size, now, port, watch)
    }

    /// `packet` finds the transmitter idle and leaves at once.
    #[inline(always)]
    fn start_idle<W: Watch>(
        &mut self,
        packet: &Packet,
        size: u64,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) -> Offer {
        self.packets += 1;
        self.bytes += size;
        let was_idle = self.ring.is_empty();
        let arrival = self.start(packet, size, now);
        watch.on_accept(port, packet, now);
        if was_idle {
            Offer::First(arrival)
        } else {
            Offer::Queued
        }
    }

    /// Whether a packet leaves at once, and nothing is to be looked at before.
    #[inline(always)]
    fn is_idle(&self, now: Time) -> bool {
        // Not by bytes: a packet without any may wait, too.
        self.next_start == Time::NEVER && self.free_at <= now && self.plain
    }

    /// How many packets were accepted and then pushed out or withdrawn since this was asked last.
    #[inline(always)]
    pub fn take_gone(&mut self) -> u64 {
        std::mem::take(&mut self.gone)
    }

    /// The oldest packet has arrived at the other end. What is `stale` is as in [`Port::settle_watched`].
    #[inline(always)]
    pub fn arrive<W: Watch>(
        &mut self,
        now: Time,
        port: PortId,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) -> Packet {
        debug_assert_eq!(
            self.ring.next_arrival(),
            Some(now),
            "one event per busy port"
        );
        // When the last packet on the wire arrives, those that wait by priority are scheduled.
        if self.ring.oldest_waits() || self.watches_idle && self.ring.is_last() {
            self.settle_watched(now, port, watch, stale);
        }
        self.ring.pop()
    }

    /// When the oldest packet arrives. After [`Port::arrive`] it is to be scheduled.
    #[inline(always)]
    pub fn next_arrival(&self) -> Option<Time> {
        self.ring.next_arrival()
    }

    /// When the transmission of a packet begins that is offered now and queued, if that is known: zero with
    /// priorities. It has passed if the transmitter is idle.
    #[inline(always)]
    pub(crate) fn next_begins(&self) -> Time {
        if self.priorities.is_some() {
            return Time::ZERO;
        }
        self.free_at
    }

    /// [`Port::arrive`] will probably be called next.
    #[inline(always)]
    pub(crate) fn expect_arrival(&self) {
        prefetch_index(from_ref(&self.free_at), 0);
        prefetch_index(from_ref(&self.waiting_bytes), 0);
        self.ring.expect_pop();
    }

    /// Closes the queue statistics at `now`, up to which the port must be settled: levels later on are
    /// not counted.
    pub fn close_statistics(&mut self, now: Time) -> &LevelHistogram {
        self.change_level(now);
        &self.levels
    }

    /// Bytes that wait, as far as the port has been settled; the packet in transmission does not.
    pub fn waiting(&self) -> u64 {
        self.waiting_bytes
    }

    /// What the port has counted.
    pub fn counters(&self) -> PortCounters {
        PortCounters {
            packets: self.packets,
            bytes: self.bytes,
            drops: self.drops,
            marks: self.marks,
            threshold_crossings: self.threshold_crossings,
            max_waiting_bytes: self.max_waiting_bytes,
        }
    }

    /// What the switch does here besides queueing.
    pub fn hook(&self) -> Option<&dyn SwitchHook> {
        self.hook.as_deref()
    }

    /// Accounts for everything that happened here until `now`: packets that left the queue, timers of
    /// the hook. Packets that waited by priority, of lower priority than the first, and are `stale`
    /// when it is their turn are withdrawn instead.
    #[inline(always)]
    pub fn settle_watched<W: Watch>(
        &mut self,
        now: Time,
        port: PortId,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        if self.next_start <= now || self.hook_due <= now {
            self.catch_up_apart(now, port, watch, stale);
        }
    }

    /// [`Port::catch_up`] as a function of its own: its callers stay short.
    #[inline(never)]
    fn catch_up_apart<W: Watch>(
        &mut self,
        now: Time,
        port: PortId,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        self.catch_up(now, port, watch, stale);
    }

    #[inline(always)]
    fn catch_up<W: Watch>(
        &mut self,
        now: Time,
        port: PortId,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        loop {
            let start = self.next_start;
            if start.min(self.hook_due) > now {
                return;
            }
            if start <= self.hook_due {
                match &mut self.priorities {
                    None => self.start_oldest(port, watch),
                    Some(waiting) => {
                        let mut packet = waiting.pop();
                        self.start_waiting(&mut packet, start, port, watch, stale);
                        self.review_next_start();
                    }
                }
            } else {
                let due = self.hook_due;
                self.call_hook(Calls::TIMER, due, port, watch, |hook, queue| {
                    hook.on_deadline(queue, due);
                });
                assert!(
                    self.hook_due > due,
                    "a hook that was called at its deadline has a later one"
                );
            }
        }
    }

    /// The transmission of the oldest packet that waits in a FIFO has begun.
    #[inline(always)]
    fn start_oldest<W: Watch>(&mut self, port: PortId, watch: &mut W) {
        let start = self.next_start;
        let (payload, sack_bytes) = self.ring.start_oldest();
        let size = self.size(payload, sack_bytes);
        self.next_start = if self.ring.waiting_packets() > 0 {
            self.begins_after(size, start)
        } else {
            Time::NEVER
        };
        self.leave(size, start, port, watch);
        if self.calls.has_any(Calls::DEPARTURE.with(Calls::MARKS)) {
            self.tell_departure(start, port, watch);
        }
    }

    /// The turn of `packet`, which waited by priority, has come at `start`.
    #[inline(always)]
    fn start_waiting<W: Watch>(
        &mut self,
        packet: &mut Packet,
        start: Time,
        port: PortId,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        self.leave(self.size_of(packet), start, port, watch);
        if packet.dscp > 0 && self.of_host && stale(packet) {
            self.uncount(packet);
            return;
        }
        self.depart(packet, start, port, watch);
        self.start(packet, self.size_of(packet), start);
    }

    /// A packet of this size has left the queue at `at`.
    #[inline(always)]
    fn leave<W: Watch>(&mut self, size: u64, at: Time, port: PortId, watch: &mut W) {
        self.change_level(at);
        self.waiting_bytes -= size;
        watch.on_level(port, self.waiting_bytes, at);
        self.tell_level(at, port, watch);
        if self.waiting_bytes == 0 {
            self.discipline.on_empty(at);
        }
    }

    /// The transmitter, which is free, sends `packet`. Returns when it arrives.
    #[inline(always)]
    fn start(&mut self, packet: &Packet, size: u64, now: Time) -> Time {
        let arrival = self.transmit(size, now);
        self.ring.push_started(packet, arrival);
        arrival
    }

    #[inline(always)]
    fn change_level(&mut self, at: Time) {
        // A queue that changes before the measured period has nothing to record: `since` is zero.
        self.levels
            .add(self.waiting_bytes, at.since(self.level_since));
        self.level_since = self.level_since.max(at);
    }

    /// The transmitter sends a packet of this size from `from` on. Returns when the packet arrives.
    #[inline(always)]
    fn transmit(&mut self, size: u64, from: Time) -> Time {
        match self.ps_per_byte {
            0 => self.transmit_apart(size, from),
            exact => {
                self.free_at = from + Span::from_ps(u64::from(exact) * size);
                self.free_at + self.delay
            }
        }
    }

    /// When the packet that waits behind the newest started one begins, which has this size and began at `start`.
    #[inline(always)]
    fn begins_after(&self, size: u64, start: Time) -> Time {
        match self.ps_per_byte {
            0 => self.begins_after_apart(size, start),
            exact => start + Span::from_ps(u64::from(exact) * size),
        }
    }
}

#[cfg(test)]
mod tests;
