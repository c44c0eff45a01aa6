//! A port that loses packets, changes its link or begins anew.

use base::{Packet, Rate, Span, Time};

use super::{Jitter, Port};
use crate::hook::{Calls, SwitchHook};
use crate::port_id::PortId;
use crate::queue::{Backlog, Discipline};
use crate::watch::{DropReason, Watch};

impl Port {
    /// `packet`, which comes to the port while its wire is down, is lost.
    pub(crate) fn refuse<W: Watch>(
        &mut self,
        packet: &Packet,
        reason: DropReason,
        (now, port): (Time, PortId),
        watch: &mut W,
    ) {
        self.drops += 1;
        watch.on_drop(port, packet, reason, now);
    }

    /// `packet`, which the port has accepted, is lost there or on its wire.
    pub(crate) fn lose<W: Watch>(
        &mut self,
        packet: &Packet,
        reason: DropReason,
        (now, port): (Time, PortId),
        watch: &mut W,
    ) {
        self.drops += 1;
        watch.on_lost(port, packet, reason, now);
    }

    /// Drops everything that waits, the newest first; the port is settled. Returns how many packets that were.
    pub(crate) fn drop_waiting<W: Watch>(
        &mut self,
        reason: DropReason,
        (now, port): (Time, PortId),
        watch: &mut W,
    ) -> u64 {
        debug_assert!(self.bucket.is_none(), "{NO_BUCKET}");
        if self.ring.waiting_packets() > 0 {
            // The transmitter is free when it has sent what it is sending.
            self.free_at = self.next_start;
        }
        let mut dropped = 0;
        while let Some(packet) = self.take_newest_waiting() {
            self.leave(self.size_of(&packet), now, port, watch);
            self.uncount(&packet);
            self.lose(&packet, reason, (now, port), watch);
            dropped += 1;
        }
        self.next_start = Time::NEVER;
        dropped
    }

    /// Changes the rate and the delay of the link; the port is settled.
    pub(crate) fn change_link(&mut self, (rate, delay): (Rate, Span), now: Time) {
        debug_assert!(self.bucket.is_none(), "{NO_BUCKET}");
        // A FIFO has decided when each packet arrives; priorities have not.
        let mut waiting = Vec::new();
        while self.ring.waiting_packets() > 0 {
            waiting.extend(self.ring.pop_newest());
        }
        if !waiting.is_empty() {
            self.free_at = self.next_start;
        }
        let newest = self.ring.newest_arrival().unwrap_or(Time::ZERO);
        match &mut self.jitter {
            Some(jitter) => jitter.go_on_behind(newest),
            None if delay < self.delay => self.jitter = Some(Box::new(Jitter::in_order(newest))),
            None => {}
        }
        (self.rate, self.delay, self.exact) = (rate, delay, rate.ps_per_byte());
        let quick = self.exact.filter(|_| self.jitter.is_none());
        let quick = quick.and_then(|exact| exact.try_into().ok());
        self.ps_per_byte = quick.unwrap_or(0);
        for (place, packet) in waiting.iter().rev().enumerate() {
            let (begins, arrival) = self.send_apart(self.size_of(packet), now);
            if place == 0 {
                self.next_start = begins;
            }
            self.ring.push(packet, arrival);
        }
    }

    /// The discipline and the hook begin anew; the port is settled, and nothing waits.
    pub(crate) fn renew(
        &mut self,
        discipline: Discipline,
        hook: Option<Box<dyn SwitchHook>>,
        now: Time,
    ) {
        self.discipline.renew(discipline);
        let Some(mut hook) = hook else { return };
        // The fresh hook was made at time zero, and has seen nothing until now.
        let timed = hook.calls().has(Calls::TIMER);
        while timed && hook.deadline() <= now {
            let due = hook.deadline();
            hook.on_deadline(Backlog::default(), due);
            assert!(
                hook.deadline() > due,
                "a hook that was called at its deadline has a later one"
            );
        }
        (self.calls, self.quiet) = (hook.calls(), hook.quiet());
        self.hook_due = if timed { hook.deadline() } else { Time::NEVER };
        self.hook = Some(hook);
    }

    /// The newest packet that waits, of the lowest class, waits no longer.
    fn take_newest_waiting(&mut self) -> Option<Packet> {
        if self.ring.waiting_packets() > 0 {
            return self.ring.pop_newest();
        }
        self.priorities.as_mut()?.pop_newest()
    }
}

/// A bucket has fixed the arrivals of packets that still wait: settings refuse both together.
const NO_BUCKET: &str = "no fault changes a link with a token bucket";
