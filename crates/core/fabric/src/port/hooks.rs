//! What a port tells its hook.

use base::{Packet, Time};

use super::Port;
use crate::hook::{Calls, SwitchHook};
use crate::port_id::PortId;
use crate::queue::{Backlog, Limit};
use crate::watch::Watch;

impl Port {
    /// `packet` comes in over the link whose other direction this port feeds, before it is forwarded.
    #[inline(always)]
    pub fn reverse<W: Watch>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        port: PortId,
        watch: &mut W,
    ) {
        if !self.calls.has(Calls::REVERSE) {
            return;
        }
        self.settle_watched(now, port, watch, &mut |_| false);
        self.call_hook(Calls::REVERSE, now, port, watch, |hook, queue| {
            hook.on_reverse(queue, packet, now);
        });
    }

    /// The queue has another length from `at` on.
    #[inline(always)]
    pub(super) fn tell_level<W: Watch>(&mut self, at: Time, port: PortId, watch: &mut W) {
        if !self.calls.has(Calls::LEVEL) {
            return;
        }
        let length = match self.limit {
            Limit::Packets(_) => self.backlog().packets,
            Limit::Bytes(_) | Limit::Unlimited => self.waiting_bytes,
        };
        if self.quiet.has(length) {
            return;
        }
        self.call_hook(Calls::LEVEL, at, port, watch, |hook, queue| {
            hook.on_level(queue, at);
        });
    }

    /// Calls the hook, if there is one that wants this kind of call, and notes when it is due.
    #[inline(always)]
    pub(super) fn call_hook<W: Watch>(
        &mut self,
        kind: Calls,
        at: Time,
        port: PortId,
        watch: &mut W,
        call: impl FnOnce(&mut dyn SwitchHook, Backlog),
    ) {
        if !self.calls.has(kind) {
            return;
        }
        let queue = self.backlog();
        if let Some(hook) = &mut self.hook {
            call(hook.as_mut(), queue);
            if kind == Calls::LEVEL {
                let marks = self.calls.both(Calls::MARKS);
                (self.calls, self.quiet) = (hook.calls().with(marks), hook.quiet());
            }
            if self.calls.has(Calls::TIMER) {
                self.hook_due = hook.deadline();
            }
            watch.on_hook(port, hook.as_ref(), at);
        }
    }
}
