//! Connections and the messages on them.

use base::{HostId, Time};
use plan::workload::PlannedConnection;
use schemes::Sender;
use tcp::{Arrival, Endpoint, Slot};

use super::flow::{Counts, Flow, Link};
use crate::failure::FlowFailure;

/// One connection: its state before it opens and after it is over.
pub(crate) struct Connection {
    /// Host of the end that sends the messages, and its slot there.
    pub(crate) sender: (HostId, Slot),
    /// Host of the end that receives them, and its slot there.
    pub(crate) receiver: (HostId, Slot),
    /// Its messages, from when it opens until its endpoints are removed: at their end, or when another connection takes
    /// their slots.
    pub(super) messages: Option<Box<Messages>>,
    /// The part of an incomplete message that had arrived when the endpoints were removed.
    rest: Option<Box<Rest>>,
    /// Payload of the request for each message; 0: the sender sends without a request.
    request: u64,
    /// Messages that it will carry in all.
    planned: u32,
    /// Place of its group in the point.
    pub(super) group: u32,
    pub(super) opened: bool,
    /// Why it failed, if it did.
    pub(super) failure: Option<FlowFailure>,
    /// The connection that had its slots before.
    pub(super) heir_of: Link,
    /// The message that waits for its slots.
    pub(super) awaited_by: Link,
}

/// The messages on an open connection. Each message is a flow: a range of bytes of the stream from sender to receiver.
/// The messages follow each other in the order in which they started.
pub(crate) struct Messages {
    /// Payload bytes stored at the receiver and at the sender; each byte counts once.
    pub(super) stored: [u64; 2],
    /// The position in the stream at which the next message completes, or its first write; `u64::MAX` if none does.
    due: u64,
    /// The position in the stream of the first message of which nothing has arrived; `u64::MAX` if there is none.
    unseen: u64,
    /// Bytes of the messages that are complete.
    done: u64,
    /// The message that events are booked to: the oldest one that is not over, or else the last one.
    current: Option<u32>,
    /// The message that started last.
    last: Option<u32>,
    /// The oldest message whose request has not come.
    unanswered: Option<u32>,
    /// As that of the connection.
    request: u64,
    /// Bytes of the requests that have come.
    asked: u64,
    /// Messages that have not started.
    left: u32,
    /// The counts of both ends that have been booked to messages.
    booked: Counts,
}

/// The state of requests.
#[derive(Clone, Copy)]
pub(super) struct Answered {
    /// Payload bytes stored at the sender of the messages.
    stored: u64,
    /// The oldest message whose request has not come.
    next: Option<u32>,
    /// Bytes of the requests that have come.
    asked: u64,
}

impl Connection {
    pub(super) fn new(plan: &PlannedConnection, slots: [Slot; 2]) -> Self {
        Self {
            sender: (plan.sender, slots[0]),
            receiver: (plan.receiver, slots[1]),
            messages: None,
            rest: None,
            request: plan.request,
            planned: plan.messages,
            group: plan.group,
            opened: false,
            failure: None,
            heir_of: plan.heir_of.into(),
            awaited_by: Link::NONE,
        }
    }

    /// Payload of the request for each message; `None` if the sender sends without a request.
    pub(super) fn request(&self) -> Option<u64> {
        (self.request > 0).then_some(self.request)
    }

    /// The end that opens the connection: the requesting end, or else the sending end.
    pub(super) fn opener(&self) -> (HostId, Slot) {
        if self.request > 0 {
            self.receiver
        } else {
            self.sender
        }
    }

    /// Whether it carries a single message.
    pub(super) fn has_one_message(&self) -> bool {
        self.planned == 1
    }

    /// The connection gets endpoints.
    pub(super) fn begin(&mut self) {
        self.messages = Some(Box::new(Messages {
            stored: [0; 2],
            due: u64::MAX,
            unseen: u64::MAX,
            done: 0,
            current: None,
            last: None,
            unanswered: None,
            request: self.request,
            asked: 0,
            left: self.planned,
            booked: Counts::default(),
        }));
    }

    /// Its endpoints are removed. The receiver has this many bytes in order, after these events.
    pub(super) fn end(&mut self, flows: &mut [Flow], received: u64, counts: Counts) {
        let Some(mut messages) = self.messages.take() else {
            return;
        };
        messages.book(flows, counts);
        self.rest = messages.current.and_then(|message| {
            let flow = &flows[message as usize];
            let arrived = messages.arrived(flow, received);
            (!flow.is_complete()).then(|| Box::new(Rest { message, arrived }))
        });
    }
}

/// The state of a connection when the run is over.
pub(super) struct EndedConnection {
    pub(super) sender: HostId,
    pub(super) receiver: HostId,
    request: u64,
    rest: Option<Box<Rest>>,
}

/// The arrived part of the oldest message that was not over.
struct Rest {
    message: u32,
    /// Its payload that was in order.
    arrived: u64,
}

impl EndedConnection {
    pub(super) fn of(connection: Connection) -> Self {
        Self {
            sender: connection.sender.0,
            receiver: connection.receiver.0,
            request: connection.request,
            rest: connection.rest,
        }
    }

    /// Payload of the request for each message; `None` if the sender sent without a request.
    pub(super) fn request(&self) -> Option<u64> {
        (self.request > 0).then_some(self.request)
    }

    /// Payload of message `id` that had arrived in order when the endpoints went.
    pub(super) fn received(&self, id: u32, flow: &Flow) -> u64 {
        let size = flow.size().filter(|_| flow.is_complete());
        let rest = self.rest.as_ref().filter(|rest| rest.message == id);
        size.or(rest.map(|rest| rest.arrived)).unwrap_or(0)
    }
}

impl Messages {
    /// Appends message `id` to the started ones. Returns true if it is the last one.
    pub(super) fn begin(&mut self, id: u32, flows: &mut [Flow], counts: Counts) -> bool {
        self.left -= 1;
        if let Some(last) = self.last.replace(id) {
            flows[last as usize].next = Some(id).into();
        }
        if self.running(flows).is_none() {
            self.book(flows, counts);
            self.current = Some(id);
        }
        if self.request > 0 {
            self.unanswered = self.unanswered.or(Some(id));
        }
        self.look_ahead(flows);
        self.left == 0
    }

    /// Books a segment that the receiver stored. Returns true if a message began to arrive, or if a message or its
    /// first write is complete: then [`Connection::note_first_bytes`] and [`Connection::complete`] return which.
    #[inline(always)]
    pub(super) fn store(&mut self, arrival: &Arrival) -> bool {
        self.stored[0] += arrival.new_bytes;
        let end = arrival.offset - 1 + arrival.payload;
        end > self.unseen || in_order(arrival) >= self.due
    }

    /// The messages of which this arrival brought the first byte.
    pub(super) fn note_first_bytes(&mut self, flows: &mut [Flow], arrival: &Arrival, now: Time) {
        let first = arrival.offset - 1;
        let (mut id, mut begin) = (self.running(flows), self.done);
        while let Some(number) = id
            && begin < first + arrival.payload
        {
            let flow = &mut flows[number as usize];
            let end = flow.size().map_or(u64::MAX, |size| begin + size);
            if first < end && flow.first_byte == Time::NEVER {
                flow.first_byte = now;
            }
            (id, begin) = (flow.next.get(), end);
        }
        self.look_ahead(flows);
    }

    /// The next message that this arrival completes.
    pub(super) fn complete(
        &mut self,
        flows: &mut [Flow],
        (arrival, now): (&Arrival, Time),
        counts: Counts,
    ) -> Option<u32> {
        if in_order(arrival) < self.due {
            return None;
        }
        let id = self.running(flows)?;
        let flow = &mut flows[id as usize];
        let writes = flow.writes.as_mut();
        if let Some(writes) = writes.filter(|writes| writes.buffered == Time::NEVER) {
            writes.buffered = now;
            self.look_ahead(flows);
            if in_order(arrival) < self.due {
                return None;
            }
        }
        self.done = self.due;
        self.end(flows, id, now, counts);
        Some(id)
    }

    /// The peer's FIN has arrived. A message without end is over with the bytes that have arrived.
    pub(super) fn complete_endless(
        &mut self,
        flows: &mut [Flow],
        received: u64,
        (now, counts): (Time, Counts),
    ) -> Option<u32> {
        let id = self.running(flows)?;
        self.done = received;
        self.end(flows, id, now, counts);
        Some(id)
    }

    /// The oldest message that is not over fails. Later events are booked to the next one.
    pub(super) fn fail(
        &mut self,
        flows: &mut [Flow],
        (counts, why): (Counts, FlowFailure),
    ) -> Option<u32> {
        let id = self.running(flows)?;
        flows[id as usize].failure = Some(why);
        self.advance(flows, id, counts);
        Some(id)
    }

    /// The next message whose request is complete now that this many bytes are in order at the sender.
    pub(super) fn answer(&mut self, flows: &[Flow], in_order: u64) -> Option<u32> {
        let id = self.unanswered?;
        if in_order < self.asked + self.request {
            return None;
        }
        self.asked += self.request;
        self.unanswered = flows[id as usize].next.get();
        Some(id)
    }

    /// Whether no message follows `id`.
    pub(super) fn ends_with(&self, id: u32) -> bool {
        self.last_of_all() == Some(id)
    }

    /// Whether more messages will start.
    pub(super) const fn has_more(&self) -> bool {
        self.left > 0
    }

    /// The last message of the connection, if it has started.
    pub(super) fn last_of_all(&self) -> Option<u32> {
        self.last.filter(|_| self.left == 0)
    }

    /// Books the events since the last call to the current message.
    pub(super) fn book(&mut self, flows: &mut [Flow], counts: Counts) {
        if let Some(id) = self.current {
            flows[id as usize].counts.add(counts.since(self.booked));
            self.booked = counts;
        }
    }

    /// Payload of the current message that has arrived in order, from the `received` bytes of the connection. A message
    /// without end that is over was the only one.
    fn arrived(&self, flow: &Flow, received: u64) -> u64 {
        if flow.is_over() && flow.size().is_none() {
            received
        } else {
            received - self.done.min(received)
        }
    }

    /// The state of requests, which the sender of the messages knows.
    pub(super) const fn answered(&self) -> Answered {
        Answered {
            stored: self.stored[1],
            next: self.unanswered,
            asked: self.asked,
        }
    }

    /// Takes over another world's state of the sender of these messages.
    pub(super) const fn join(&mut self, answered: Answered) {
        self.stored[1] = answered.stored;
        self.unanswered = answered.next;
        self.asked = answered.asked;
    }

    /// The only message has failed after all, before its completion.
    pub(super) fn uncomplete(&mut self) {
        self.done = 0;
    }

    /// Whether each byte was delivered once, and each message is complete when its last byte is.
    pub(super) fn is_conserved(
        &self,
        flows: &[Flow],
        (sender, receiver): (&Endpoint<Sender>, &Endpoint<Sender>),
        failed: bool,
    ) -> bool {
        let one_way = |from: &Endpoint<Sender>, to: &Endpoint<Sender>, stored: u64| {
            let received = to.received();
            stored == received + to.held() && received < from.highest_sent().max(1)
        };
        let all_over = self.running(flows).is_none() && !failed;
        let whole = receiver.received() == self.done || !all_over;
        one_way(sender, receiver, self.stored[0])
            && one_way(receiver, sender, self.stored[1])
            && whole
            && receiver.received() >= self.done
            && sender.received() >= self.asked
    }

    /// The oldest message that is not over.
    fn running(&self, flows: &[Flow]) -> Option<u32> {
        self.current.filter(|id| !flows[*id as usize].is_over())
    }

    fn end(&mut self, flows: &mut [Flow], id: u32, now: Time, counts: Counts) {
        flows[id as usize].completion = now;
        self.advance(flows, id, counts);
    }

    /// Message `id` is over. The next one, if it has started, becomes the current one.
    fn advance(&mut self, flows: &mut [Flow], id: u32, counts: Counts) {
        if let Some(next) = flows[id as usize].next.get() {
            self.book(flows, counts);
            self.current = Some(next);
        }
        self.look_ahead(flows);
    }

    /// Finds the position at which the next message completes, and the position of the first message that has not begun
    /// to arrive.
    fn look_ahead(&mut self, flows: &[Flow]) {
        let running = self.running(flows);
        let mark = running.and_then(|id| flows[id as usize].next_mark());
        self.due = mark.map_or(u64::MAX, |mark| self.done + mark);
        self.unseen = u64::MAX;
        let (mut id, mut begin) = (running, self.done);
        while let Some(number) = id {
            let flow = &flows[number as usize];
            if flow.first_byte == Time::NEVER {
                self.unseen = begin;
                return;
            }
            begin = flow.size().map_or(u64::MAX, |size| begin + size);
            id = flow.next.get();
        }
    }
}

/// Bytes in order after this arrival.
#[inline(always)]
fn in_order(arrival: &Arrival) -> u64 {
    arrival.expected - 1 + arrival.in_order
}
