//! One connection: where the time of its sender goes.
//!
//! Each end knows its own events and what packets have brought. So the ends of a connection may be in two parts of a
//! network: each part has a [`FollowedConnection`], and packets carry the facts that are known about them.

use base::{FlowId, Packet, Time};
use schemes::Sender;
use tcp::{Endpoint, State};

use super::flight::{Flights, Sent};
use super::way::{Departure, Hop, Way};
use super::{Breakdown, Part};
use crate::probe::End;

/// A connection that is followed.
pub(crate) struct FollowedConnection {
    /// The way of data, and the way back.
    ways: [Way; 2],
    /// Time is booked up to here.
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
    /// Whether the sender had sent all written data, and whether it was in recovery, after its last event.
    idle: bool,
    recovering: bool,
    /// Timers that have expired at the receiver and at the sender.
    expired: [u64; 2],
    /// Segments that have been sent again.
    repaired: u64,
    /// How late the last ACK at the sender was, by queueing and by a timer.
    late: (u64, u64),
    /// The last data that reached the receiver.
    arrived: Option<Arrived>,
    /// When a timer of the receiver last expired.
    fired: Time,
    /// Flows that are not complete, as far as this part knows.
    flows: Vec<Begun>,
}

/// A packet with data that has reached the receiver.
struct Arrived {
    /// Its place among [`Flights`].
    place: u32,
    at: Time,
    /// How late it was by queueing.
    late: u64,
}

/// A flow that has started.
struct Begun {
    id: u32,
    start: Time,
    /// How long it had waited for a connection.
    waited: u64,
    /// The parts booked before its start; `None` until they are known, or if the sender is in another part.
    before: Option<Breakdown>,
    /// Whether the sender is here.
    whole: bool,
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
            fired: Time::ZERO,
            flows: Vec::new(),
        }
    }

    /// A connection begins that uses the memory of one that is over.
    pub(super) fn renewed(self, now: Time) -> Self {
        let Self {
            mut ways,
            mut flows,
            ..
        } = self;
        ways.iter_mut().for_each(Way::forget);
        flows.clear();
        Self {
            ways,
            flows,
            ..Self::new(now)
        }
    }

    /// The connection is over.
    pub(super) fn end(&mut self, flights: &mut Flights) {
        if let Some(arrived) = self.arrived.take() {
            flights.free(arrived.place);
        }
    }

    /// A flow starts. Whether its sender is `here` decides which part knows the time booked before.
    pub(super) fn begin(&mut self, id: u32, (start, waited): (Time, u64), here: bool) {
        self.flows.push(Begun {
            id,
            start,
            waited,
            before: (!here || start == self.mark).then_some(self.booked),
            whole: here,
        });
    }

    pub(super) fn on_send(
        &mut self,
        packet: &Packet,
        back: bool,
        (bytes, now): (u64, Time),
        flights: &mut Flights,
    ) {
        let answered = self.arrived.as_ref().filter(|_| back);
        let departure = Departure {
            bytes,
            now,
            queueing: answered.map_or(0, |arrived| arrived.late),
            fired: self.fired,
            told: self.ways[usize::from(!back)].news(),
        };
        self.ways[usize::from(back)].send(packet, departure, flights);
        if back {
            return;
        }
        self.sent += usize::from(packet.payload > 0);
        if self.sent_at != now {
            (self.sent_at, self.busy[1]) = (now, self.busy[0]);
        }
        self.busy[0] = self.busy[0].max(now) + self.ways[0].slowest(bytes);
    }

    /// Flows that are not complete here, and the time booked before each.
    pub(super) fn befores(&self) -> impl Iterator<Item = (u32, Breakdown)> {
        let flows = self.flows.iter();
        let befores = flows.filter_map(|flow| Some((flow.id, flow.before?)));
        befores.filter(|(_, before)| *before != Breakdown::default())
    }

    pub(super) fn on_delivery(
        &mut self,
        packet: &Packet,
        place: u32,
        (back, now): (bool, Time),
        (flights, ports): (&mut Flights, &[Hop]),
    ) {
        let sent = flights.landed(place);
        if let Some(path) = self.ways[usize::from(back)].arrive(sent, ports) {
            self.ways[usize::from(!back)].know(&path, ports);
        }
        let late = sent.late(now);
        let over = if back {
            let (fired, delayed) = (sent.fired, sent.delayed);
            let queueing = sent.queueing + late;
            if fired > self.mark && (!self.open || self.idle) {
                // The sender could do nothing until the receiver's timer expired.
                self.book(Part::Timers, fired);
            }
            self.late = (queueing, delayed);
            Some(place)
        } else if packet.payload > 0 {
            let arrived = Arrived {
                place,
                at: now,
                late,
            };
            self.arrived.replace(arrived).map(|before| before.place)
        } else {
            Some(place)
        };
        if let Some(place) = over {
            flights.free(place);
        }
    }

    /// An event of one end and the packets that it sends in answer are over.
    pub(super) fn on_event(
        &mut self,
        end: End,
        endpoint: &Endpoint<Sender>,
        now: Time,
        flights: &mut Flights,
    ) {
        let counters = endpoint.counters();
        let expired =
            counters.timeouts + counters.syn_timeouts + counters.probes + counters.tail_probes;
        let before = std::mem::replace(&mut self.expired[usize::from(end.sends)], expired);
        let fired = expired > before;
        if end.sends {
            let repaired = std::mem::replace(&mut self.repaired, counters.retransmissions);
            let repaired = counters.retransmissions > repaired;
            self.on_sender(endpoint, (end.deadline, fired, repaired), now);
            for place in self.ways[0].sent_at(now) {
                if let Some(sent) = flights.sent_now(*place, end.flow, now) {
                    sent.booked = self.booked;
                }
            }
        } else if end.deadline {
            self.on_receiver_timer(fired, (end.flow, now), flights);
        }
    }

    /// A timer at the receiver has expired: for a delayed ACK, or for its own request or SYN.
    fn on_receiver_timer(
        &mut self,
        fired: bool,
        (flow, now): (FlowId, Time),
        flights: &mut Flights,
    ) {
        let since = self.arrived.as_ref().map_or(now, |arrived| arrived.at);
        if fired {
            self.fired = now;
        }
        for place in self.ways[1].sent_at(now) {
            if let Some(ack) = flights.sent_now(*place, flow, now) {
                ack.delayed = now.since(since).as_ps();
                ack.fired = self.fired;
            }
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
                // The reordering timer (RFC 8985 §6.3) repairs a loss that an ACK showed.
                (_, true) => Part::Recovery,
                _ if self.idle => Part::Application,
                _ if recovering => Part::Recovery,
                _ => Part::Window,
            };
            self.book(part, now);
        } else if self.idle && endpoint.unsent() > 0 {
            self.book(Part::Application, now);
        }
        self.sent = 0;
        self.idle = endpoint.unsent() == 0;
        self.recovering = endpoint.is_recovering();
    }

    /// Books the time up to `now`: serialisation of the sender's bytes first, and the rest as `part`.
    fn book(&mut self, part: Part, now: Time) {
        let all = now.since(self.mark).as_ps();
        let busy = self.busy[usize::from(self.sent_at >= now)];
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

    /// The packet that has just been delivered completes flow `id`.
    pub(super) fn complete(
        &mut self,
        id: u32,
        now: Time,
        flights: &mut Flights,
    ) -> Option<Breakdown> {
        let place = self.flows.iter().position(|flow| flow.id == id)?;
        let flow = self.flows.remove(place);
        let arrived = self.arrived.as_ref().filter(|arrived| arrived.at == now)?;
        let sent = flights.landed(arrived.place);
        let way = self.way_of(sent, now);
        let mut parts = match flow.before {
            Some(before) if sent.at >= flow.start => sent.booked.since(&before),
            _ => Breakdown::default(),
        };
        // A packet that was sent before the flow started, for the flow before it, completes both.
        let on_way = now.since(sent.at.max(flow.start)).as_ps();
        add_last(&mut parts, &way, on_way);
        parts.add(Part::Application, flow.waited);
        debug_assert!(
            !flow.whole || parts.total() == now.since(flow.start).as_ps() + flow.waited,
            "the parts are the whole"
        );
        Some(parts)
    }

    /// The time of the critical packet on the way between the hosts, in parts.
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
