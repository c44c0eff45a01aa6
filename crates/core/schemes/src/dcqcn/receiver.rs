//! The receiver's part: notices about marked packets.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use base::{Extension, Packet, Span, TcpFlags, Time};
use tcp::{Arrival, ReceiverCc, Release, Released, Slot};

use super::params::Variant;

/// The notices of all connections of a host.
#[derive(Debug)]
pub struct Receiver {
    variant: Variant,
    /// Least time between two notices of a connection.
    interval: Span,
    flows: Vec<NoticeState>,
    /// Connections whose notice leaves with this event.
    due: VecDeque<Slot>,
    /// When a notice leaves about a mark that came too soon after another notice, and the slot of its connection.
    later: BinaryHeap<Reverse<(Time, u32)>>,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct NoticeState {
    /// Until when no notice leaves, as one has left.
    quiet_until: Time,
    /// Whether a marked packet has come since the last notice; in HPCC's simulator, whether the last packet was marked.
    marked: bool,
}

impl Receiver {
    pub(super) fn new(variant: Variant, interval: Span) -> Self {
        Self {
            variant,
            interval,
            flows: Vec::new(),
            due: VecDeque::new(),
            later: BinaryHeap::new(),
        }
    }

    fn flow(&mut self, slot: Slot) -> &mut NoticeState {
        let place = slot.0 as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, NoticeState::default());
        }
        &mut self.flows[place]
    }
}

impl ReceiverCc for Receiver {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, _mss: u16, _now: Time) {
        *self.flow(slot) = NoticeState::default();
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, now: Time) {
        let (interval, variant) = (self.interval, self.variant);
        let flow = self.flow(slot);
        if variant == Variant::Hpcc {
            flow.marked = arrival.marked;
        } else if arrival.marked && flow.quiet_until <= now {
            // §3.1, Fig. 6: at once if none has left for N, and else when N is over.
            flow.quiet_until = now + interval;
            self.due.push_back(slot);
        } else if arrival.marked && !flow.marked {
            flow.marked = true;
            let until = flow.quiet_until;
            self.later.push(Reverse((until, slot.0)));
        }
    }

    fn next_release(&mut self, _now: Time) -> Option<Release> {
        let slot = self.due.pop_front()?;
        Some(Release {
            slot,
            what: Released::Notice,
        })
    }

    fn stamp(&mut self, slot: Slot, packet: &mut Packet) {
        let carries = match self.variant {
            Variant::Paper => packet.flags == TcpFlags::NONE,
            Variant::Hpcc => std::mem::take(&mut self.flow(slot).marked),
        };
        if carries {
            packet.extension = CNP;
        }
    }

    fn deadline(&self) -> Time {
        let first = self.later.peek();
        first.map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    fn on_deadline(&mut self, now: Time) {
        while let Some(Reverse((at, slot))) = self.later.peek().copied()
            && at <= now
        {
            self.later.pop();
            let interval = self.interval;
            let flow = self.flow(Slot(slot));
            // The slot may have passed to another connection.
            if flow.marked && flow.quiet_until == at {
                flow.marked = false;
                flow.quiet_until = now + interval;
                self.due.push_back(Slot(slot));
            }
        }
    }
}

/// The header space of a notice, in the notice itself or on an ACK.
pub(super) const CNP: Extension = Extension([0x0043_4e50, 0, 0]);
