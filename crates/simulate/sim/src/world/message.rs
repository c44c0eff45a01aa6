//! The acts of applications on connections: open them, send messages and requests, close.

use std::cmp::Reverse;

use base::cast::low_32;
use base::{FlowId, HostId, Time};
use engine::Scheduler;
use plan::keys::Workload;
use schemes::Sender;
use tcp::{Arrival, Endpoint, Plays, ReceiverCc, Slot};

use super::connection::Messages;
use super::flow::{Act, Counts, Link};
use super::{Connection, ConnectionEnd, World};
use crate::failure::FlowFailure;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// Opens a connection on which nothing is sent yet.
    pub(super) fn open(&mut self, id: FlowId, sched: &mut Scheduler) {
        if !self.has_an_end(id) || self.of(id).failure.is_some() {
            return;
        }
        let size = self.early_sizes.get(&id.0).copied();
        self.make_ends(id, size);
        let connection = self.of(id);
        connection.opened = true;
        let opener = connection.opener();
        self.stop_readers(id, sched);
        if self.has_host(opener.0) {
            self.apply(id, opener, Endpoint::connect, sched);
        }
    }

    /// A message begins: it is sent, or the receiver requests it.
    pub(super) fn start(&mut self, id: u32, sched: &mut Scheduler) {
        let of = FlowId(self.flows[id as usize].connection);
        if !self.has_an_end(of) {
            return;
        }
        if let Some(failure) = self.of(of).failure {
            let flow = &mut self.flows[id as usize];
            (flow.started, flow.failure) = (true, Some(failure));
            return self.finish_flow(id, sched);
        }
        if !self.take_slots(id, of) {
            return;
        }
        self.flows[id as usize].started = true;
        self.stop_readers(of, sched);
        let now = sched.now();
        let planned = self.flows[id as usize].start;
        let sender = self.of(of).sender.0;
        let probe = &mut self.outside.watch.probe;
        probe.on_message((of, id), (planned, now), sender);
        let counts = self.counts(of.0 as usize);
        let connection = &mut self.connections[of.0 as usize];
        let messages = connection.messages.as_mut().expect(OPEN);
        let last = messages.begin(id, &mut self.flows, counts);
        let first = !std::mem::replace(&mut connection.opened, true);
        let (opener, request) = (connection.opener(), connection.request());
        self.flows[id as usize].opens = first;
        if !self.has_host(opener.0) {
            return;
        }
        self.note_message(opener);
        // A requesting application closes after the answer; an application without end closes when it is stopped.
        let (bytes, whole) = match request {
            Some(request) => {
                let parts = self.workload_of(id).request_writes.0;
                let last = self.write_ahead(of, opener, (request, parts), sched);
                (last, false)
            }
            None => self.write_first(id, sched),
        };
        let act = |endpoint: &mut Endpoint<Sender>| {
            endpoint.write(bytes);
            if last && whole {
                endpoint.close();
            }
            if first {
                endpoint.connect();
            }
        };
        let end = self.act_at(of, opener, act, sched);
        if first {
            self.outside.watch.probe.on_start(of, sched.now());
        }
        self.report(end, false, sched.now());
    }

    /// Writes a message of this many bytes in this many parts, except for the last part. Returns the bytes written.
    fn write_ahead(
        &mut self,
        of: FlowId,
        end: (HostId, Slot),
        (bytes, parts): (u64, u32),
        sched: &mut Scheduler,
    ) -> u64 {
        let ahead = u64::from(parts).min(bytes) - 1;
        let part = bytes / (ahead + 1);
        for _ in 0..ahead {
            self.apply(of, end, |endpoint| endpoint.write(part), sched);
        }
        bytes - ahead * part
    }

    /// How the applications of a flow behave.
    fn workload_of(&self, id: u32) -> &Workload {
        let group = self.flows[id as usize].group as usize;
        &self.groups[group].keys.workload
    }

    /// Bytes that the application of a flow writes at once, and whether they are all bytes of a flow with an end. It
    /// writes the rest later.
    fn write_first(&mut self, id: u32, sched: &mut Scheduler) -> (u64, bool) {
        let flow = &mut self.flows[id as usize];
        let Some(size) = flow.size() else {
            return (u64::MAX, false);
        };
        let Some(writes) = &mut flow.writes else {
            return (size, true);
        };
        let first = writes.first.min(size);
        writes.left = size - first;
        let whole = writes.left == 0;
        if !whole {
            self.write_later(id, sched);
        }
        (first, whole)
    }

    fn write_later(&mut self, id: u32, sched: &mut Scheduler) {
        let interval = self.workload_of(id).write_interval;
        let next = (sched.now() + interval, Act::Write(id));
        self.agenda.push(Reverse(next));
        self.arm_agenda(sched);
    }

    /// The application of a flow writes more of it, and closes after the last byte: the flow is alone on its
    /// connection.
    pub(super) fn write_more(&mut self, id: u32, sched: &mut Scheduler) {
        let flow = &mut self.flows[id as usize];
        if flow.failure.is_some() {
            return;
        }
        let keys = &self.groups[flow.group as usize].keys;
        let part = keys.workload.write.in_bytes(keys.tcp.mss.0.into());
        let writes = flow.writes.as_mut().expect("it is written piece by piece");
        let part = part.min(writes.left);
        writes.left -= part;
        let (whole, of) = (writes.left == 0, FlowId(flow.connection));
        if !whole {
            self.write_later(id, sched);
        }
        let sender = self.of(of).sender;
        let write = |endpoint: &mut Endpoint<Sender>| {
            endpoint.write(part);
            if whole {
                endpoint.close();
            }
        };
        self.apply(of, sender, write, sched);
    }

    /// The application of a flow without end stops sending.
    pub(super) fn stop(&mut self, id: u32, sched: &mut Scheduler) {
        let of = FlowId(self.flows[id as usize].connection);
        let connection = self.of(of);
        let sender = connection.sender;
        if connection.messages.is_none() || !self.has_host(sender.0) {
            return;
        }
        self.apply(of, sender, Endpoint::close_early, sched);
    }

    /// Books an arrival at the receiver of messages.
    #[inline]
    pub(super) fn note_arrival(&mut self, at: ConnectionEnd, sched: &mut Scheduler) {
        let endpoint = self.hosts[at.host.0 as usize].endpoint(at.slot);
        let messages = self.connections[at.flow.0 as usize].messages.as_mut();
        if messages.expect(OPEN).store(endpoint.arrival()) {
            // Only few segments begin or end a message, so that few are copied.
            let arrival = *endpoint.arrival();
            self.note_messages(at.flow, &arrival, sched);
        }
    }

    fn note_messages(&mut self, of: FlowId, arrival: &Arrival, sched: &mut Scheduler) {
        let now = sched.now();
        let messages = self.connections[of.0 as usize].messages.as_mut();
        let messages = messages.expect(OPEN);
        messages.note_first_bytes(&mut self.flows, arrival, now);
        let counts = self.counts(of.0 as usize);
        loop {
            let messages = self.connections[of.0 as usize].messages.as_mut();
            let messages = messages.expect(OPEN);
            let done = messages.complete(&mut self.flows, (arrival, now), counts);
            let Some(id) = done else {
                return;
            };
            self.outside.watch.probe.on_message_end(of, id, now);
            if messages.ends_with(id) {
                self.outside.watch.probe.on_completion(of, now);
            }
            self.finish_flow(id, sched);
        }
    }

    /// Books an arrival of a request at the sender, which then answers.
    pub(super) fn note_request(&mut self, at: ConnectionEnd, sched: &mut Scheduler) {
        let of = at.flow;
        let endpoint = self.hosts[at.host.0 as usize].endpoint(at.slot);
        let Arrival {
            expected,
            in_order,
            new_bytes,
            ..
        } = *endpoint.arrival();
        let in_order = expected - 1 + in_order;
        self.messages(of).stored[1] += new_bytes;
        loop {
            let connection = &mut self.connections[of.0 as usize];
            let messages = connection.messages.as_mut().expect(OPEN);
            let Some(id) = messages.answer(&self.flows, in_order) else {
                return;
            };
            let (sender, last) = (connection.sender, messages.ends_with(id));
            self.note_message(sender);
            let (bytes, whole) = self.write_first(id, sched);
            let parts = self.workload_of(id).answer_writes.0;
            let bytes = self.write_ahead(of, sender, (bytes, parts), sched);
            let answer = |endpoint: &mut Endpoint<Sender>| {
                endpoint.write(bytes);
                if last && whole {
                    endpoint.close();
                }
            };
            self.apply(of, sender, answer, sched);
        }
    }

    /// The peer's FIN has come to the receiver: a message without end was stopped, and has arrived completely.
    pub(super) fn end_endless(&mut self, of: FlowId, sched: &mut Scheduler) {
        let (now, counts) = (sched.now(), self.counts(of.0 as usize));
        let connection = &self.connections[of.0 as usize];
        let received = self.ends(connection).map_or(0, |(_, end)| end.received());
        let messages = self.connections[of.0 as usize].messages.as_mut();
        let messages = messages.expect(OPEN);
        if let Some(id) = messages.complete_endless(&mut self.flows, received, (now, counts)) {
            self.outside.watch.probe.on_completion(of, now);
            self.finish_flow(id, sched);
        }
    }

    /// The state of an end has changed. When the sender's FIN is acknowledged, its last message is acknowledged, too.
    pub(super) fn note_acknowledgement(&mut self, end: ConnectionEnd, now: Time) {
        let connection = &self.connections[end.flow.0 as usize];
        let messages = connection.messages.as_ref();
        let last = messages.and_then(|messages| messages.last_of_all());
        let Some(last) = last.filter(|_| connection.sender == (end.host, end.slot)) else {
            return;
        };
        let sender = self.hosts[end.host.0 as usize].endpoint(end.slot);
        let flow = &mut self.flows[last as usize];
        if sender.is_acknowledged() && flow.acknowledged == Time::NEVER {
            flow.acknowledged = now;
        }
    }

    /// A connection has failed, and all its messages with it.
    pub(super) fn fail(&mut self, of: FlowId, why: FlowFailure, sched: &mut Scheduler) {
        let counts = self.counts(of.0 as usize);
        loop {
            let connection = &mut self.connections[of.0 as usize];
            connection.failure.get_or_insert(why);
            let messages = connection.messages.as_mut().expect(OPEN);
            let Some(id) = messages.fail(&mut self.flows, (counts, why)) else {
                return;
            };
            self.finish_flow(id, sched);
        }
    }

    /// An end of a connection has ended. When both have, a waiting connection gets their slots.
    pub(super) fn hand_over(&mut self, of: FlowId, sched: &mut Scheduler) {
        if self.has_ended(of)
            && let Some(waiting) = std::mem::replace(&mut self.of(of).awaited_by, Link::NONE).get()
        {
            self.agenda
                .push(Reverse((sched.now(), Act::Start(waiting))));
            self.arm_agenda(sched);
        }
    }

    /// The counters of a connection so far.
    pub(super) fn counts(&self, connection: usize) -> Counts {
        let Some((sender, receiver)) = self.ends(&self.connections[connection]) else {
            return Counts::default();
        };
        let (sender, receiver) = (sender.counters(), receiver.counters());
        Counts {
            packets: small(sender.segments + receiver.segments),
            retransmissions: small(sender.retransmissions + receiver.retransmissions),
            after_timeout: small(sender.after_timeout + receiver.after_timeout),
            timeouts: small(sender.timeouts + receiver.timeouts),
            tail_timeouts: small(sender.tail_timeouts + receiver.tail_timeouts),
            syn_timeouts: small(sender.syn_timeouts + receiver.syn_timeouts),
            tail_probes: small(sender.tail_probes + receiver.tail_probes),
            window_probes: small(sender.probes + receiver.probes),
            drops: self.outside.watch.packets[connection].dropped,
        }
    }

    /// A flow is over, and perhaps its round or all flows.
    fn finish_flow(&mut self, id: u32, sched: &mut Scheduler) {
        let now = sched.now();
        self.outside.watch.probe.on_over(id, now);
        if let Some(barrier) = self.flows[id as usize].awaited_by.get() {
            let barrier = &mut self.barriers[barrier as usize];
            barrier.waits_for -= 1;
            if barrier.waits_for == 0 {
                let begin = (now + barrier.think).since(Time::ZERO);
                for next in barrier.next.clone() {
                    let flow = &mut self.flows[next as usize];
                    flow.start += begin;
                    self.agenda.push(Reverse((flow.start, Act::Start(next))));
                }
                self.arm_agenda(sched);
            }
        }
        if let Some(dependencies) = &mut self.dependencies {
            let (flows, agenda) = (&mut self.flows, &mut self.agenda);
            dependencies.done(id, now, |next, ready| {
                let flow = &mut flows[next as usize];
                flow.start += ready.since(Time::ZERO);
                agenda.push(Reverse((flow.start, Act::Start(next))));
            });
            self.arm_agenda(sched);
        }
        self.unfinished -= 1;
        if self.unfinished == 0 {
            let closed = self.close_queues(now);
            self.queues = Some(closed);
        }
    }

    /// Gives endpoints to a connection that is not open. If it has to take over slots that are in use, its message
    /// waits and the result is false.
    fn take_slots(&mut self, message: u32, id: FlowId) -> bool {
        let connection = &self.connections[id.0 as usize];
        if connection.opened {
            return true;
        }
        if let Some(former) = connection.heir_of.get().map(FlowId) {
            if !self.has_ended(former) {
                self.of(former).awaited_by = Some(message).into();
                return false;
            }
            self.close_books(former);
        }
        let single = self.connections[id.0 as usize].has_one_message();
        let size = self.flows[message as usize].size().filter(|_| single);
        self.make_ends(id, size);
        true
    }

    /// Puts new endpoints into the slots of a connection: for one flow of this size, or for several flows.
    fn make_ends(&mut self, id: FlowId, size: Option<u64>) {
        let connection = &mut self.connections[id.0 as usize];
        connection.begin();
        let ends = [connection.sender, connection.receiver];
        let asked = connection.request().is_some();
        let hosts = (ends[0].0, ends[1].0);
        let group = connection.group;
        let network = &mut self.outside.network;
        let way = self.endpoints.way(group, id, hosts, network);
        let made = self.endpoints.make(id, hosts, (group, size), (asked, way));
        for ((host, slot), endpoint) in ends.into_iter().zip(made) {
            self.hosts[host.0 as usize].put(slot, endpoint);
            let place = self.outside.deadlines.first[host.0 as usize] + slot.0;
            self.ended[place as usize] = false;
        }
    }

    /// Removes the endpoints of a connection if only the TIME-WAIT timer is left: both have ended, and none of their
    /// packets is on its way.
    pub(super) fn free(&mut self, id: FlowId, sched: &mut Scheduler) {
        let connection = &self.connections[id.0 as usize];
        if self.outside.watch.probe.keeps_ends()
            || !self.has_ended(id)
            || connection.failure.is_some()
        {
            return;
        }
        let settled = |(sender, receiver): (&Endpoint<Sender>, &Endpoint<Sender>)| {
            sender.is_settled() && receiver.is_settled() && receiver.held() == 0
        };
        if !self.ends(connection).is_some_and(settled) {
            return;
        }
        let ends = [connection.sender, connection.receiver];
        self.close_books(id);
        for (host, slot) in ends {
            self.hosts[host.0 as usize].take(slot);
        }
        let hosts = &self.hosts;
        let is_there = |host: HostId, slot| hosts[host.0 as usize].find(slot).is_some();
        self.outside.deadlines.forget(is_there, sched);
    }

    /// A connection is over, and its endpoints are removed.
    fn close_books(&mut self, id: FlowId) {
        self.outside.watch.probe.on_gone(id);
        let violation = self.check_connection(id.0 as usize).err();
        self.violation = self.violation.take().or(violation);
        self.take_messages(id.0 as usize);
    }

    /// Books the counters of a connection to its flows. Nothing more will happen to them.
    pub(super) fn take_messages(&mut self, connection: usize) {
        let Some((_, receiver)) = self.ends(&self.connections[connection]) else {
            return;
        };
        let (received, counts) = (receiver.received(), self.counts(connection));
        self.connections[connection].end(&mut self.flows, received, counts);
    }

    fn has_ended(&self, id: FlowId) -> bool {
        let connection = &self.connections[id.0 as usize];
        let ends = [connection.sender, connection.receiver];
        ends.into_iter().all(|(host, slot)| {
            let place = self.outside.deadlines.first[host.0 as usize] + slot.0;
            self.ended[place as usize]
        })
    }

    /// Reports the begin of a message to the host's addition below TCP.
    fn note_message(&mut self, (host, slot): (HostId, Slot)) {
        if let Some(Some(helper)) = self.outside.helpers.get_mut(host.0 as usize) {
            helper.on_message(slot);
        }
    }

    /// An application acts on an end of a connection.
    pub(super) fn apply(
        &mut self,
        id: FlowId,
        end: (HostId, Slot),
        act: impl FnOnce(&mut Endpoint<Sender>),
        sched: &mut Scheduler,
    ) {
        let end = self.act_at(id, end, act, sched);
        self.report(end, false, sched.now());
    }

    fn act_at(
        &mut self,
        flow: FlowId,
        (host, slot): (HostId, Slot),
        act: impl FnOnce(&mut Endpoint<Sender>),
        sched: &mut Scheduler,
    ) -> ConnectionEnd {
        let (at, mut out) = self.host(host, sched);
        let now = out.sched.now();
        at.act(slot, act, now, &mut out);
        ConnectionEnd { host, slot, flow }
    }

    /// The messages of an open connection.
    #[inline(always)]
    fn messages(&mut self, id: FlowId) -> &mut Messages {
        self.of(id).messages.as_mut().expect(OPEN)
    }

    fn of(&mut self, id: FlowId) -> &mut Connection {
        &mut self.connections[id.0 as usize]
    }
}

/// Endpoints have events while their connection is open.
const OPEN: &str = "the connection is open";

/// Converts a count. One connection has fewer than 2^32 events.
fn small(count: u64) -> u32 {
    low_32(count)
}
