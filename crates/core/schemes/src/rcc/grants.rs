//! A receiving host that lets every ACK leave and holds back what it allows.
//!
//! The law is [`laws::Grants`], the text of `crates/core/laws/c/grant.h`, which the kernel runs at the device of a real
//! receiver; here is the line of connections that wait for more, and who is told when.

use std::collections::VecDeque;

use base::cast::{low_32, real};
use base::{Packet, Span, Time};
use tcp::{AckKind, AckSent, AckVerdict, Arrival, ReceiverCc, Release, Released, Slot};

use super::params::Params;
use super::scheduler::{FLIGHT, WAITING};
use crate::registry::HostInfo;

/// See the module documentation. O(1) for each ACK, and for each that is told more than it asked for.
#[derive(Debug)]
pub(crate) struct Grants {
    law: laws::Grants,
    /// By slot; `None` for connections that were not opened from outside or have ended.
    flows: Vec<Option<GrantedFlow>>,
    /// Who waits, in turn; also some that do not any more.
    line: VecDeque<Slot>,
    /// How many connections may still be told with the ACK that was last sent.
    turns: u32,
    /// When the line is looked at although no ACK has left.
    deadline: Time,
}

#[derive(Debug)]
struct GrantedFlow {
    granted: laws::Granted,
    /// Next offset expected in order; its low 32 bits are what the law takes for the number of the ACK.
    next: u64,
}

impl Grants {
    pub(crate) fn new(params: &Params, host: &HostInfo) -> Self {
        Self {
            law: params.grants(host.packet_bytes, host.mss),
            flows: Vec::new(),
            line: VecDeque::new(),
            turns: 0,
            deadline: Time::NEVER,
        }
    }

    fn pass(&mut self, now: Time) {
        self.law.pass(nanoseconds(now.since(Time::ZERO)));
    }
}

impl ReceiverCc for Grants {
    fn on_open(&mut self, slot: Slot, _syn: &Packet, _mss: u16, now: Time) {
        self.pass(now);
        let index = slot.0 as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, || None);
        }
        let mut granted = laws::Granted::default();
        self.law.on_open(&mut granted, 1, MOST_UNSCALED);
        self.flows[index] = Some(GrantedFlow { granted, next: 1 });
    }

    fn on_close(&mut self, slot: Slot, now: Time) {
        self.pass(now);
        let flow = self.flows.get_mut(slot.0 as usize).and_then(Option::take);
        if let Some(mut flow) = flow {
            self.law.on_close(&mut flow.granted);
        }
        // What it had is somebody else's.
        self.turns = TURNS;
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, _now: Time) {
        if let Some(Some(flow)) = self.flows.get_mut(slot.0 as usize) {
            flow.next = arrival.expected + arrival.in_order;
        }
    }

    fn window(&self, slot: Slot, buffer: u64) -> u64 {
        let Some(Some(flow)) = self.flows.get(slot.0 as usize) else {
            return buffer;
        };
        let left = flow.granted.edge().wrapping_sub(low_32(flow.next));
        // Behind the edge nothing is left: the window is closed until it is the connection's turn. The program of the
        // kernel tells a unit instead, for which Linux does not send; a sender here would send single bytes.
        let left = if left < HALF { left } else { 0 };
        u64::from(left).min(buffer)
    }

    fn on_ack_ready(&mut self, slot: Slot, kind: AckKind, now: Time) -> AckVerdict {
        self.pass(now);
        if let Some(Some(flow)) = self.flows.get_mut(slot.0 as usize)
            && kind != AckKind::Syn
        {
            self.law
                .on_ack(&mut flow.granted, low_32(flow.next), u32::MAX >> 1);
            if !flow.granted.waits() && !self.law.ask(&mut flow.granted, false) {
                self.line.push_back(slot);
            }
            self.turns = TURNS;
        }
        AckVerdict::Send
    }

    fn on_ack_sent(&mut self, slot: Slot, sent: &AckSent, _now: Time) {
        if let Some(Some(flow)) = self.flows.get_mut(slot.0 as usize) {
            // Windows are told in units of their scale, rounded up.
            let edge = low_32(sent.ack + sent.window);
            self.law.on_told(&mut flow.granted, edge);
        }
    }

    fn next_release(&mut self, now: Time) -> Option<Release> {
        while let Some(slot) = self.line.front().copied() {
            let flow = self.flows[slot.0 as usize].as_mut();
            let Some(flow) = flow.filter(|flow| flow.granted.waits()) else {
                self.line.pop_front();
                continue;
            };
            if self.turns == 0 || !self.law.ask(&mut flow.granted, true) {
                break;
            }
            self.turns -= 1;
            self.line.pop_front();
            let what = Released::Ack;
            return Some(Release { slot, what });
        }
        self.deadline = if self.line.is_empty() {
            Time::NEVER
        } else {
            now + WATCHDOG
        };
        None
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, now: Time) {
        self.pass(now);
        self.turns = TURNS;
    }

    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        let (_, waiting) = self.law.connections();
        sink(None, WAITING.name, waiting.into());
        sink(None, FLIGHT.name, real(self.law.in_flight()));
    }
}

impl Params {
    /// The law of a receiver of packets of at most `packet_bytes`, with at most `mss` bytes in a segment. Without a
    /// size the budget is the least one.
    pub fn grants(&self, packet_bytes: u64, mss: u16) -> laws::Grants {
        let packets = self.max_queue.0.map_or(1, |size| {
            (size.in_bytes(packet_bytes) / packet_bytes).max(1)
        });
        let budget = packets.saturating_mul(mss.into());
        let idle = nanoseconds(self.grant_idle);
        laws::Grants::of_least(budget, mss.into(), idle, self.grant_least.0)
    }
}

fn nanoseconds(span: Span) -> u64 {
    span.as_ps() / 1_000
}

/// Of all sequence numbers.
const HALF: u32 = 1 << 31;
/// How many others are told with one ACK that leaves: as many as the program of the kernel can send along.
const TURNS: u32 = 4;
/// The line is looked at after this time without an ACK, as the user of the kernel's program does.
const WATCHDOG: Span = Span::from_millis(10);
/// The largest window that a SYN-ACK can announce (RFC 7323 §2.2).
const MOST_UNSCALED: u32 = 65_535;
