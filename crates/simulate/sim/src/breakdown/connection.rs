//! One connection: where the time of its sender goes.

use base::{Packet, Time};
use schemes::Sender;
use tcp::{Endpoint, State};

use super::way::{Hop, Sent, Way};
use super::{Breakdown, Part};
use crate::probe::End;

/// A connection that is followed.
pub(crate) struct FollowedConnection {
    /// Forth, with data, and back.
    ways: [Way; 2],
    /// Up to where time is booked.
    mark: Time,
    /// What has been booked.
    booked: Breakdown,
    /// When an otherwise idle slowest link finishes all data sent so far; second: the same before the latest send.
    busy: [Time; 2],
    sent_at: Time,
    /// Data segments that were sent in the current event.
    sent: usize,
    /// Whether the handshake is over at the sender.
    open: bool,
    /// Whether the sender had sent all that was written, and whether it was in recovery, after its last event.
    idle: bool,
    recovering: bool,
    /// Timers that have expired at the receiver and at the sender.
    expired: [u64; 2],
    /// Segments that have been sent again.
    repaired: u64,
    /// Of the last ACK at the sender: how late it was by queueing, and by a timer.
    late: (u64, u64),
    /// The last data that reached the receiver, and when.
    arrived: Option<(Sent, Time)>,
    /// Flows that are not complete.
    flows: Vec<Begun>,
}

/// A flow that has started.
struct Begun {
    id: u32,
    start: Time,
    /// How long it had waited for a connection.
    waited: u64,
    /// What had been booked at its start; none until that is known.
    before: Option<Breakdown>,
}

impl FollowedConnection {
    pub(super) fn new(now: Time) -> Self {
        Self {
            ways: [Way::default(), Way::default()],
            mark: now,
            booked: Breakdown::default(),
            busy: [Time::ZERO; 2],
            sent_at: Time::NEVER,
            sent: 0,
            open: false,
            idle: false,
            recovering: false,
            expired: [0; 2],
            repaired: 0,
            late: (0, 0),
            arrived: None,
            flows: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, id: u32, start: Time, waited: u64) {
        self.flows.push(Begun {
            id,
            start,
            waited,
            before: (start == self.mark).then_some(self.booked),
        });
    }

    #[inline(always)]
    pub(super) fn learn(&mut self, hop: &Hop, back: bool) {
        self.ways[usize::from(back)].learn(hop);
    }

    pub(super) fn on_send(&mut self, packet: &Packet, back: bool, (bytes, now): (u64, Time)) {
        if back {
            let answered = self.arrived.as_ref();
            let queueing = answered.map_or(0, |(sent, at)| sent.late(*at));
            self.ways[1].send(packet, (bytes, now), queueing);
            return;
        }
        self.ways[0].send(packet, (bytes, now), 0);
        self.sent += usize::from(packet.payload > 0);
        if self.sent_at != now {
            (self.sent_at, self.busy[1]) = (now, self.busy[0]);
        }
        self.busy[0] = self.busy[0].max(now) + self.ways[0].slowest(bytes);
    }

    pub(super) fn on_drop(&mut self, packet: &Packet, back: bool) {
        self.ways[usize::from(back)].take(packet);
    }

    pub(super) fn on_delivery(&mut self, packet: &Packet, back: bool, now: Time) {
        let Some(sent) = self.ways[usize::from(back)].take(packet) else {
            // A copy, or what was delivered before its path was known.
            return;
        };
        if back {
            self.late = (sent.queueing + sent.late(now), sent.delayed);
        } else if packet.payload > 0 {
            self.arrived = Some((sent, now));
        }
    }

    /// An event of one end is over, and with it what that end sends in answer.
    pub(crate) fn on_event(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        let counters = endpoint.counters();
        let expired =
            counters.timeouts + counters.syn_timeouts + counters.probes + counters.tail_probes;
        let before = std::mem::replace(&mut self.expired[usize::from(end.sends)], expired);
        let fired = expired > before;
        if end.sends {
            let repaired = std::mem::replace(&mut self.repaired, counters.retransmissions);
            let repaired = counters.retransmissions > repaired;
            self.on_sender(endpoint, (end.deadline, fired, repaired), now);
        } else if end.deadline {
            self.on_receiver_timer(fired, now);
        }
    }

    /// A timer at the receiver: that of a delayed ACK, or that of a request or a SYN of its own.
    fn on_receiver_timer(&mut self, fired: bool, now: Time) {
        let since = self.arrived.as_ref().map_or(now, |(_, at)| *at);
        for ack in self.ways[1].sent_at(now) {
            ack.delayed = now.since(since).as_ps();
        }
        if fired && (!self.open || self.idle && self.ways[0].is_empty()) {
            self.book(Part::Timers, now);
        }
    }

    fn on_sender(
        &mut self,
        endpoint: &Endpoint<Sender>,
        (deadline, fired, repaired): (bool, bool, bool),
        now: Time,
    ) {
        if !self.open {
            if fired {
                self.book(Part::Timers, now);
            }
            self.open = !matches!(
                endpoint.state(),
                State::Closed | State::Listen | State::SynSent | State::SynReceived
            );
            if self.open {
                self.book(Part::Handshake, now);
            }
        } else if self.sent > 0 {
            let recovering = self.recovering || endpoint.is_recovering();
            let part = match (deadline, repaired) {
                (true, _) if fired => Part::Timers,
                // The timer of reordering (RFC 8985 §6.3) repairs what an ACK showed to be missing.
                (_, true) => Part::Recovery,
                _ if self.idle => Part::Application,
                _ if recovering => Part::Recovery,
                _ => Part::Window,
            };
            self.book(part, now);
        } else if self.idle && endpoint.unsent() > 0 {
            self.book(Part::Application, now);
        }
        let booked = self.booked;
        for sent in self.ways[0].sent_at(now) {
            sent.booked = booked;
        }
        self.sent = 0;
        self.idle = endpoint.unsent() == 0;
        self.recovering = endpoint.is_recovering();
    }

    /// Books the time up to `now`: what the sender's bytes took, and for the rest `part`.
    fn book(&mut self, part: Part, now: Time) {
        let all = now.since(self.mark).as_ps();
        let busy = self.busy[usize::from(self.sent_at == now)];
        let own = busy.since(self.mark).as_ps().min(all);
        let (queueing, timers) = match part {
            Part::Window => {
                let queueing = self.late.0.min(all - own);
                (queueing, self.late.1.min(all - own - queueing))
            }
            _ => (0, 0),
        };
        let pieces = [
            (Part::Serialisation, own),
            (part, all - own - queueing - timers),
            (Part::Queueing, queueing),
            (Part::Timers, timers),
        ];
        for flow in &mut self.flows {
            if flow.before.is_none() {
                let mut before = self.booked;
                add_until(&mut before, &pieces, flow.start.since(self.mark).as_ps());
                flow.before = Some(before);
            }
        }
        add_until(&mut self.booked, &pieces, all);
        self.mark = now;
    }

    /// Flow `id` is complete by the packet that has just been delivered.
    pub(super) fn complete(&mut self, id: u32, now: Time) -> Option<Breakdown> {
        let place = self.flows.iter().position(|flow| flow.id == id)?;
        let flow = self.flows.remove(place);
        let (sent, at) = self.arrived.as_ref()?;
        if *at != now {
            return None;
        }
        let way = self.way_of(sent, now);
        let mut parts = match flow.before {
            Some(before) if sent.at >= flow.start => sent.booked.since(&before),
            _ => Breakdown::default(),
        };
        // A packet that was sent before the flow started, for one before it, completes both.
        let on_way = now.since(sent.at.max(flow.start)).as_ps();
        add_last(&mut parts, &way, on_way);
        parts.add(Part::Application, flow.waited);
        debug_assert_eq!(
            parts.total(),
            now.since(flow.start).as_ps() + flow.waited,
            "the parts are the whole"
        );
        Some(parts)
    }

    /// Where the critical packet was from its host to the other.
    fn way_of(&self, sent: &Sent, now: Time) -> [(Part, u64); 3] {
        let all = now.since(sent.at).as_ps();
        let propagation = self.ways[0].propagation().min(all);
        let late = sent.late(now).min(all - propagation);
        [
            (Part::Serialisation, all - propagation - late),
            (Part::Queueing, late),
            (Part::Propagation, propagation),
        ]
    }
}

/// Adds the first `until` picoseconds of consecutive pieces.
fn add_until(to: &mut Breakdown, pieces: &[(Part, u64)], mut until: u64) {
    for (part, length) in pieces {
        let taken = until.min(*length);
        to.add(*part, taken);
        until -= taken;
    }
}

/// Adds the last `until` picoseconds of consecutive pieces.
fn add_last(to: &mut Breakdown, pieces: &[(Part, u64)], mut until: u64) {
    for (part, length) in pieces.iter().rev() {
        let taken = until.min(*length);
        to.add(*part, taken);
        until -= taken;
    }
}
