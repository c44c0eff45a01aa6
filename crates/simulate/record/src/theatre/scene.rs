//! A port and its senders, from before a loss to the end of its repair.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use base::{FlowId, HostId, Packet, Time};
use fabric::PortId;
use schemes::Sender;
use schemes::clause::{Clause, Decision};
use tcp::Endpoint;

/// Events at one port while a loss was repaired.
pub(super) struct Scene {
    port: PortId,
    pub(super) loss: Time,
    /// The first timeout of a flow that lost a segment here.
    pub(super) timeout: Option<Time>,
    pub(super) end: Time,
    /// The times in which all packets and states are recorded.
    pub(super) spans: Vec<(Time, Option<Time>)>,
    pub(super) packets: Vec<Seen>,
    /// The start of each state, with the index of its flow.
    pub(super) states: Vec<(Time, u32, State)>,
    pub(super) moments: Vec<Moment>,
    /// Flows in order of first appearance, and the index of each.
    pub(super) flows: Vec<FlowId>,
    places: BTreeMap<u32, u32>,
    /// Segments dropped here that have not passed since: receiving host, flow, first sequence number.
    lost: Vec<(HostId, FlowId, u32)>,
    /// The most packets and states of the current span.
    most: usize,
}

/// The packets of a port.
#[derive(Clone, Default)]
pub(super) struct Held {
    /// Packets between acceptance and arrival at the far end of the wire.
    pub(super) waiting: VecDeque<Seen>,
    /// The latest packets that arrived there.
    past: VecDeque<Seen>,
    /// Until when others did.
    forgotten: Time,
}

/// A packet at the port.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) accepted: Time,
    /// When it arrived at the far end of the wire or was dropped; `NEVER` before.
    pub(super) left: Time,
    pub(super) flow: u32,
    pub(super) seq: u32,
    pub(super) payload: u16,
    /// Flags such as [`Seen::MARKED`].
    pub(super) flags: u8,
    to: HostId,
    /// Its index in the scene, if it has one.
    slot: Option<u32>,
}

/// The state of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct State {
    /// Congestion window; `u64::MAX`: none.
    pub(super) cwnd: u64,
    pub(super) in_flight: u64,
    pub(super) granted: u64,
    /// A reason such as [`State::IDLE`], with [`State::RECOVERING`].
    pub(super) waits: u8,
    /// When its next timer expires, in picoseconds; 0: none runs.
    pub(super) timer: u64,
}

/// A decision of a sender.
pub(super) struct Moment {
    pub(super) at: Time,
    pub(super) flow: FlowId,
    pub(super) decision: Decision,
    pub(super) clause: Option<Clause>,
}

impl Scene {
    /// A loss at `port`.
    pub(super) const fn new(port: PortId, now: Time) -> Self {
        Self {
            port,
            loss: now,
            timeout: None,
            end: now,
            spans: Vec::new(),
            packets: Vec::new(),
            states: Vec::new(),
            moments: Vec::new(),
            flows: Vec::new(),
            places: BTreeMap::new(),
            lost: Vec::new(),
            most: 0,
        }
    }

    /// Records everything from now on, until the limit is reached, including the packets that wait now. The first call
    /// also adds packets that left shortly before.
    pub(super) fn resume(&mut self, port: &mut Held, now: Time) {
        self.most = self.size() + port.waiting.len() + MOST;
        if self.is_recording() {
            return;
        }
        let mut past = std::mem::take(&mut port.past);
        let from = if self.spans.is_empty() {
            let first = past.front().or(port.waiting.front());
            let first = first.map_or(now, |seen| seen.accepted);
            // Earlier packets are dropped, and one of them may have waited until this time.
            first.max(port.forgotten)
        } else {
            past.clear();
            now
        };
        self.spans.push((from, None));
        let waiting = port.waiting.iter_mut();
        for seen in past
            .iter_mut()
            .chain(waiting.filter(|seen| seen.slot.is_none()))
        {
            self.add(seen, now);
        }
    }

    /// A packet has been accepted.
    pub(super) fn accept(&mut self, seen: &mut Seen, packet: &Packet, now: Time) {
        if self.is_lost(packet) {
            seen.flags |= Seen::AGAIN;
        }
        self.add(seen, now);
    }

    /// A packet has been dropped, on arrival or pushed out.
    pub(super) fn lose(&mut self, mut seen: Seen, packet: &Packet, now: Time) {
        let again = self.is_lost(packet);
        seen.flags |= Seen::DROPPED | if again { Seen::AGAIN } else { 0 };
        seen.left = now;
        match seen.slot {
            Some(slot) => self.packets[slot as usize] = seen,
            None => self.add(&mut seen, now),
        }
        if packet.sequence_length() > 0 && !again {
            self.lost.push((packet.to, packet.flow, packet.seq.0));
        }
        self.end = now;
    }

    /// A packet has arrived at the far end of the wire.
    pub(super) fn leave(&mut self, seen: Seen, packet: &Packet, now: Time) {
        if let Some(slot) = seen.slot {
            self.packets[slot as usize].left = now;
        }
        self.lost.retain(|lost| !covers(packet, *lost));
        self.end = now;
    }

    /// `flow` has failed, so the scene no longer waits for its losses.
    pub(super) fn forget(&mut self, flow: FlowId, now: Time) {
        self.lost.retain(|(_, of, _)| *of != flow);
        self.end = now;
    }

    /// The simulation is over.
    pub(super) const fn stop(&mut self, now: Time) {
        self.end = now;
    }

    /// A timer of `flow` has expired. Returns whether it is the first timeout after a loss here.
    pub(super) fn on_timeout(&mut self, flow: FlowId, now: Time) -> bool {
        let is_first = self.timeout.is_none() && self.lost.iter().any(|(_, of, _)| *of == flow);
        if is_first {
            self.timeout = Some(now);
        }
        is_first
    }

    /// A flow of the scene enters this state.
    pub(super) fn state(&mut self, flow: FlowId, state: State, now: Time) {
        if self.is_recording() {
            self.states.push((now, self.place(flow), state));
            self.stop_if_full(now);
        }
    }

    /// Records a decision of a sender.
    pub(super) fn decision(&mut self, moment: Moment) {
        if self.moments.len() < MOST {
            self.end = moment.at;
            self.moments.push(moment);
        }
    }

    pub(super) const fn port(&self) -> PortId {
        self.port
    }

    /// The index of a flow that is in the scene.
    pub(super) fn place(&self, flow: FlowId) -> u32 {
        self.places[&flow.0]
    }

    pub(super) fn knows(&self, flow: FlowId) -> bool {
        self.places.contains_key(&flow.0)
    }

    pub(super) const fn has_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// Whether every segment dropped here has passed.
    pub(super) const fn is_repaired(&self) -> bool {
        self.lost.is_empty()
    }

    fn is_lost(&self, packet: &Packet) -> bool {
        self.lost.iter().any(|lost| covers(packet, *lost))
    }

    fn add(&mut self, seen: &mut Seen, now: Time) {
        if !self.is_recording() {
            return;
        }
        let next = base::cast::id(self.flows.len());
        if let Entry::Vacant(entry) = self.places.entry(seen.flow) {
            entry.insert(next);
            self.flows.push(FlowId(seen.flow));
        }
        seen.slot = Some(base::cast::id(self.packets.len()));
        self.packets.push(*seen);
        self.stop_if_full(now);
    }

    fn is_recording(&self) -> bool {
        self.spans.last().is_some_and(|(_, to)| to.is_none())
    }

    fn stop_if_full(&mut self, now: Time) {
        if self.size() >= self.most
            && let Some((_, to)) = self.spans.last_mut()
        {
            *to = Some(now);
        }
    }

    const fn size(&self) -> usize {
        self.packets.len() + self.states.len()
    }
}

impl Held {
    /// Its scene is over. The next one numbers its packets anew.
    pub(super) fn release(&mut self) {
        for seen in &mut self.waiting {
            seen.slot = None;
        }
    }

    /// A packet has arrived at the far end of the wire; `None` if it was not seen waiting.
    pub(super) fn leave(&mut self, packet: &Packet, now: Time) -> Option<Seen> {
        let place = self.waiting.iter().position(|seen| seen.is(packet))?;
        let mut seen = self.waiting.remove(place)?;
        seen.left = now;
        if seen.slot.is_none() {
            if self.past.len() == PAST
                && let Some(oldest) = self.past.pop_front()
            {
                self.forgotten = oldest.left;
            }
            self.past.push_back(seen);
        }
        Some(seen)
    }
}

impl Seen {
    /// The port has marked it.
    pub(super) const MARKED: u8 = 1;
    /// It has been dropped.
    pub(super) const DROPPED: u8 = 2;
    /// It carries a segment that was dropped here.
    pub(super) const AGAIN: u8 = 4;

    pub(super) const fn new(packet: &Packet, marked: bool, now: Time) -> Self {
        Self {
            accepted: now,
            left: Time::NEVER,
            flow: packet.flow.0,
            seq: packet.seq.0,
            payload: packet.payload,
            flags: if marked { Self::MARKED } else { 0 },
            to: packet.to,
            slot: None,
        }
    }

    /// Whether it is this packet.
    pub(super) fn is(&self, packet: &Packet) -> bool {
        self.flow == packet.flow.0
            && self.seq == packet.seq.0
            && self.payload == packet.payload
            && self.to == packet.to
    }
}

impl State {
    /// There is nothing to send, and nothing is outstanding.
    pub(super) const IDLE: u8 = 0;
    /// The congestion window is full.
    pub(super) const FULL: u8 = 1;
    /// The advertised window is full.
    pub(super) const HELD: u8 = 2;
    /// Everything is sent but not all acknowledged.
    pub(super) const SENT: u8 = 3;
    /// Neither window is full: the sender waits for its pace, the handshake or its turn at the host's port.
    pub(super) const READY: u8 = 4;
    /// Added in fast recovery.
    pub(super) const RECOVERING: u8 = 8;

    /// The state of a sender whose congestion window is `cwnd`.
    pub(super) fn of(endpoint: &Endpoint<Sender>, cwnd: u64) -> Self {
        let (in_flight, granted) = (endpoint.in_flight(), endpoint.peer_window());
        let next = in_flight + endpoint.mss();
        let waits = match (endpoint.unsent(), in_flight) {
            (0, 0) => Self::IDLE,
            (0, _) => Self::SENT,
            _ if next > granted && granted <= cwnd => Self::HELD,
            _ if next > cwnd => Self::FULL,
            _ => Self::READY,
        };
        let recovering = if endpoint.is_recovering() {
            Self::RECOVERING
        } else {
            0
        };
        let timer = endpoint.deadline();
        Self {
            cwnd,
            in_flight,
            granted,
            waits: waits | recovering,
            timer: if timer == Time::NEVER {
                0
            } else {
                timer.as_ps()
            },
        }
    }

    /// Whether the receiver's window is the sender's limit.
    pub(super) const fn is_held(&self) -> bool {
        self.waits & !Self::RECOVERING == Self::HELD
    }
}

/// Whether `packet` carries this lost segment.
fn covers(packet: &Packet, (to, flow, seq): (HostId, FlowId, u32)) -> bool {
    packet.flow == flow
        && packet.to == to
        && u64::from(seq.wrapping_sub(packet.seq.0)) < packet.sequence_length()
}

/// The most past packets that a port remembers: some hundred microseconds on a fast link.
const PAST: usize = 128;
/// The most packets and states of a span.
const MOST: usize = 2000;
