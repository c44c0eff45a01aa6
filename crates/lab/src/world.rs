//! The world of a simulation: a network, its hosts, and the flows between them.

mod deadlines;
mod wiring;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use base::{FlowId, HostId, Packet, Time};
use engine::{Scheduler, Token};
use fabric::{Network, PortId, QueueStatistics, Topology};
use schemes::{HostInfo, Roles, Sender};
use tcp::{Arrival, Endpoint, Host, Progress, ReceiverCc, Slot};

use crate::error::RunError;
use crate::probe::{self, AtQueues, Probe};
use crate::scenario::PointSpec;
use crate::workload::{Barrier, Plan};
use deadlines::{Deadlines, Helper, Out, number};
use wiring::{
    add_endpoints, controlling_groups, flow_id, host_helpers, host_info, loss_law, network,
};

/// Everything that happens happens here; see [`engine::World`].
///
/// Tokens: those of the network first, then the deadlines of endpoints, then those of receiver
/// roles, then what applications do next.
pub(crate) struct World<'p, R, P> {
    probe: &'p mut P,
    topology: Topology,
    network: Network,
    hosts: Vec<Host<Sender, R>>,
    /// What each host adds below TCP; empty if none does.
    helpers: Vec<Helper>,
    flows: Vec<Flow>,
    deadlines: Deadlines,
    /// What applications will do, the next on top, and when the next event for it comes.
    agenda: BinaryHeap<Reverse<(Time, Act)>>,
    next_act: Time,
    /// Rounds of repeated incasts.
    barriers: Vec<Barrier>,
    first_start: Time,
    /// Flows neither completed nor failed; unlimited ones never are.
    unfinished: usize,
    /// Endpoints that may still do something, and which have ended.
    open: usize,
    ended: Vec<bool>,
    /// The port whose queue is reported.
    bottleneck: PortId,
    /// Queue statistics of every port, closed at the last completion.
    queues: Option<Vec<QueueStatistics>>,
}

/// One flow, from one application to another.
pub(crate) struct Flow {
    /// Place of its group in the point.
    pub(crate) group: u32,
    /// Payload; `None` without end.
    pub(crate) size: Option<u64>,
    /// Sending host and its slot there.
    pub(crate) sender: (HostId, Slot),
    /// Receiving host and its slot there.
    pub(crate) receiver: (HostId, Slot),
    /// Start at the application; of a flow that has not started, when it will, or how long after the
    /// end of the round before it.
    pub(crate) start: Time,
    /// Whether it has started.
    pub(crate) started: bool,
    /// The barrier that waits for it.
    awaited_by: Option<u32>,
    /// First payload at the receiver, in order or not; [`Time::NEVER`] before.
    pub(crate) first_byte: Time,
    /// Last byte in order at the receiver; [`Time::NEVER`] before.
    pub(crate) completion: Time,
    /// Payload bytes stored at the receiver, each counted when it first came.
    stored: u64,
    /// Whether a connection gave up or was reset.
    pub(crate) failed: bool,
}

/// What the application of a flow does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Start(FlowId),
    /// Ends a flow that has no end of its own.
    Stop(FlowId),
}

/// The end of a flow that an event concerned.
#[derive(Clone, Copy)]
struct End {
    host: HostId,
    slot: Slot,
    flow: FlowId,
}

impl<'p, R: ReceiverCc, P: Probe> World<'p, R, P> {
    /// `receiver` makes the control of each host, of the group with this number or the plain one;
    /// `probe` sees every packet-hop.
    pub(crate) fn new(
        point: &PointSpec,
        roles: &[Roles],
        plan: Plan,
        (receiver, probe): (&MakeReceiver<'_, R>, &'p mut P),
        sched: &mut Scheduler,
    ) -> Result<Self, RunError> {
        let Plan {
            topology,
            bottleneck,
            flows: planned,
            barriers,
        } = plan;
        let waiting = waiting(&barriers);
        let numbered = || planned.iter().enumerate();
        let starts = numbered()
            .filter(|(index, _)| !waiting.contains(index))
            .map(|(index, flow)| Reverse((flow.start, Act::Start(flow_id(index)))));
        let stops = numbered()
            .filter(|(_, flow)| flow.stop != Time::NEVER)
            .map(|(index, flow)| Reverse((flow.stop, Act::Stop(flow_id(index)))));
        let agenda: BinaryHeap<_> = starts.chain(stops).collect();
        // Nothing stops before it starts.
        let first = agenda.peek().map(|Reverse((first, _))| *first);
        let first_start = first.unwrap_or(Time::ZERO + point.keys.workload.start);
        let loss = (bottleneck, loss_law(&point.keys, point.seed, bottleneck));
        let network = network(point, &topology, roles, &loss, first_start)?;
        let controlling = controlling_groups(topology.hosts().len(), roles, &planned);
        let mut hosts: Vec<Host<Sender, R>> = controlling
            .into_iter()
            .map(|group| {
                let group = group.map(|group| group as usize);
                let keys = group.map_or(&*point.keys, |group| &point.groups[group].keys);
                Host::new(receiver(group.map(|group| &roles[group]), &host_info(keys)))
            })
            .collect();
        let helpers = host_helpers(hosts.len(), point, roles, &planned);
        let flows = add_endpoints(&mut hosts, point, roles, &planned);
        let deadlines = Deadlines::new(&hosts, network.tokens());
        let tokens = network.tokens() + deadlines.armed.len() + 1;
        if tokens >= 1 << 24 {
            return Err(RunError::TooLarge(tokens));
        }
        let world = Self {
            probe,
            unfinished: flows.len(),
            open: flows.len() * 2,
            ended: vec![false; flows.len() * 2],
            topology,
            network,
            hosts,
            helpers,
            flows,
            deadlines,
            agenda,
            next_act: first_start,
            barriers,
            first_start,
            bottleneck,
            queues: None,
        };
        if first.is_some() {
            sched.at(first_start, world.act_token());
        }
        Ok(world)
    }

    /// When the first flow starts.
    pub(crate) fn first_start(&self) -> Time {
        self.first_start
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    pub(crate) fn bottleneck(&self) -> PortId {
        self.bottleneck
    }

    /// Sender and receiver endpoint of a flow.
    pub(crate) fn ends(&self, flow: &Flow) -> (&Endpoint<Sender>, &Endpoint<Sender>) {
        let end = |(host, slot): (HostId, Slot)| self.hosts[host.0 as usize].endpoint(slot);
        (end(flow.sender), end(flow.receiver))
    }

    /// Statistics of every port's queue from the first start to the last completion, or to `end`.
    pub(crate) fn close_statistics(&mut self, end: Time) -> Vec<QueueStatistics> {
        let mut watch = AtQueues(self.probe);
        match self.queues.take() {
            Some(closed) => closed,
            None => self.network.close_statistics(end, &mut watch),
        }
    }

    /// Tells the probe what is left to tell at the end of a run.
    pub(crate) fn end(&mut self, now: Time) {
        self.network.settle(now, &mut AtQueues(self.probe));
        self.probe.on_end(now);
    }

    /// Every byte is delivered once, every packet is somewhere.
    pub(crate) fn check_conservation(&self) -> Result<(), RunError> {
        let held: usize = self.network.ports().iter().map(fabric::Port::held).sum();
        let drops: u64 = self
            .network
            .ports()
            .iter()
            .map(|port| port.counters().drops)
            .sum();
        let (sent, delivered) = self.network.sent_and_delivered();
        if sent != delivered + drops + held as u64 {
            return Err(RunError::Conservation(format!(
                "{sent} packets sent, {delivered} delivered, {drops} dropped, {held} in the network"
            )));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            let (sender, receiver) = self.ends(flow);
            let received = receiver.received();
            let whole = flow.size.is_none_or(|size| size == received);
            let complete = flow.completion == Time::NEVER || whole;
            let once = flow.stored == received + receiver.held();
            let sent_first = received < sender.highest_sent().max(1);
            if !(complete && once && sent_first) {
                return Err(RunError::Conservation(format!(
                    "flow {index} of {:?} bytes stored {} and received {received} in order, of {} sent",
                    flow.size,
                    flow.stored,
                    sender.highest_sent()
                )));
            }
        }
        Ok(())
    }

    fn act_token(&self) -> Token {
        Token(self.deadlines.token + number(self.deadlines.armed.len()))
    }

    /// Has an event scheduled for what applications do next, unless one comes that is early enough.
    fn arm_agenda(&mut self, sched: &mut Scheduler) {
        if let Some(Reverse((at, _))) = self.agenda.peek()
            && *at < self.next_act
        {
            self.next_act = *at;
            sched.at(*at, self.act_token());
        }
    }

    /// Does what applications have to do by now; what comes next gets the event.
    fn act(&mut self, sched: &mut Scheduler) {
        if self.next_act == sched.now() {
            self.next_act = Time::NEVER;
        }
        while let Some(Reverse((at, act))) = self.agenda.peek().copied() {
            if at > sched.now() {
                break;
            }
            self.agenda.pop();
            match act {
                Act::Start(flow) => self.start(flow, sched),
                Act::Stop(flow) => self.stop(flow, sched),
            }
        }
        self.arm_agenda(sched);
    }

    fn start(&mut self, id: FlowId, sched: &mut Scheduler) {
        let flow = &mut self.flows[id.0 as usize];
        flow.started = true;
        let size = flow.size;
        let open = |endpoint: &mut Endpoint<Sender>| {
            endpoint.write(size.unwrap_or(u64::MAX));
            if size.is_some() {
                endpoint.close();
            }
            endpoint.connect();
        };
        let end = self.at_sender(id, open, sched);
        self.probe.on_start(id, sched.now());
        self.report(end, false, sched.now());
    }

    fn stop(&mut self, id: FlowId, sched: &mut Scheduler) {
        let end = self.at_sender(id, Endpoint::close_early, sched);
        self.report(end, false, sched.now());
    }

    /// The sending application of a flow acts on its connection.
    fn at_sender(
        &mut self,
        flow: FlowId,
        act: impl FnOnce(&mut Endpoint<Sender>),
        sched: &mut Scheduler,
    ) -> End {
        let (host, slot) = self.flows[flow.0 as usize].sender;
        let mut out = Out::new(
            (&mut self.network, self.probe),
            &mut self.helpers,
            &mut self.deadlines,
            sched,
            host,
        );
        let now = out.sched.now();
        self.hosts[host.0 as usize].act(slot, act, now, &mut out);
        End { host, slot, flow }
    }

    #[inline]
    fn deliver(&mut self, host: HostId, packet: &mut Packet, sched: &mut Scheduler) {
        if let Some(Some(helper)) = self.helpers.get_mut(host.0 as usize) {
            helper.on_incoming(packet, sched.now());
        }
        let flow = &self.flows[packet.flow.0 as usize];
        let incoming = flow.receiver.0 == host;
        let slot = if incoming {
            flow.receiver.1
        } else {
            flow.sender.1
        };
        let now = sched.now();
        let mut out = Out::new(
            (&mut self.network, self.probe),
            &mut self.helpers,
            &mut self.deadlines,
            sched,
            host,
        );
        let progress = self.hosts[host.0 as usize].on_packet(slot, packet, now, &mut out);
        if incoming && progress.stored {
            let arrival = *self.hosts[host.0 as usize].endpoint(slot).arrival();
            self.note_arrival(packet.flow, &arrival, sched);
        }
        let flow = packet.flow;
        let end = End { host, slot, flow };
        self.after(end, progress, sched);
        self.report(end, false, now);
    }

    /// Books what arrived at the receiver of a flow.
    #[inline]
    fn note_arrival(&mut self, id: FlowId, arrival: &Arrival, sched: &mut Scheduler) {
        let now = sched.now();
        let flow = &mut self.flows[id.0 as usize];
        flow.stored += arrival.new_bytes;
        if flow.first_byte == Time::NEVER && arrival.payload > 0 {
            flow.first_byte = now;
        }
        let in_order = arrival.expected - 1 + arrival.in_order;
        if flow.size == Some(in_order) && flow.completion == Time::NEVER {
            flow.completion = now;
            self.probe.on_completion(id, now);
            self.finish_flow(id, sched);
        }
    }

    fn finish_flow(&mut self, id: FlowId, sched: &mut Scheduler) {
        let now = sched.now();
        if let Some(barrier) = self.flows[id.0 as usize].awaited_by {
            let barrier = &mut self.barriers[barrier as usize];
            barrier.waits_for -= 1;
            if barrier.waits_for == 0 {
                let begin = (now + barrier.think).since(Time::ZERO);
                for next in barrier.next.clone() {
                    let flow = &mut self.flows[next as usize];
                    flow.start += begin;
                    self.agenda
                        .push(Reverse((flow.start, Act::Start(FlowId(next)))));
                }
                self.arm_agenda(sched);
            }
        }
        self.unfinished -= 1;
        if self.unfinished == 0 {
            let mut watch = AtQueues(self.probe);
            self.queues = Some(self.network.close_statistics(now, &mut watch));
        }
    }

    /// What an event of an endpoint means for its application and for the end of the run.
    #[inline]
    fn after(&mut self, end: End, progress: Progress, sched: &mut Scheduler) {
        if progress.state_changed || progress.peer_finished {
            self.after_change(end, progress, sched);
        }
        self.arm_role(end.host, sched);
    }

    fn after_change(&mut self, end: End, progress: Progress, sched: &mut Scheduler) {
        let End { host, slot, flow } = end;
        let now = sched.now();
        if progress.peer_finished {
            // The application closes when its peer has.
            let mut out = Out::new(
                (&mut self.network, self.probe),
                &mut self.helpers,
                &mut self.deadlines,
                sched,
                host,
            );
            self.hosts[host.0 as usize].act(slot, Endpoint::close, now, &mut out);
        }
        let ending = &mut self.flows[flow.0 as usize];
        let incoming = ending.receiver == (host, slot);
        if progress.peer_finished && incoming && ending.completion == Time::NEVER {
            // A flow without end was stopped: this was all of it.
            ending.completion = now;
            self.probe.on_completion(flow, now);
            self.finish_flow(flow, sched);
        }
        if progress.aborted {
            let aborted = &mut self.flows[flow.0 as usize];
            let was_over = aborted.failed || aborted.completion != Time::NEVER;
            aborted.failed |= aborted.completion == Time::NEVER;
            if !was_over {
                self.finish_flow(flow, sched);
            }
        }
        let endpoint = self.deadlines.first[host.0 as usize] + slot.0;
        let ended = self.hosts[host.0 as usize].endpoint(slot).is_ended();
        if ended && !self.ended[endpoint as usize] {
            self.ended[endpoint as usize] = true;
            self.open -= 1;
        }
    }

    #[inline]
    fn arm_role(&mut self, host: HostId, sched: &mut Scheduler) {
        let deadline = self.hosts[host.0 as usize].role_deadline();
        if deadline != Time::NEVER {
            let place = self.deadlines.host.len() + host.0 as usize;
            self.deadlines.arm(place, deadline, sched);
        }
    }

    fn on_endpoint_deadline(&mut self, place: usize, sched: &mut Scheduler) {
        let host = self.deadlines.host[place];
        let slot = Slot(number(place) - self.deadlines.first[host.0 as usize]);
        let flow = self.hosts[host.0 as usize].endpoint(slot).identity().flow;
        let mut out = Out::new(
            (&mut self.network, self.probe),
            &mut self.helpers,
            &mut self.deadlines,
            sched,
            host,
        );
        let now = out.sched.now();
        let progress = self.hosts[host.0 as usize].on_deadline(slot, now, &mut out);
        let end = End { host, slot, flow };
        self.after(end, progress, sched);
        self.report(end, true, now);
    }

    fn on_role_deadline(&mut self, host: HostId, sched: &mut Scheduler) {
        let mut out = Out::new(
            (&mut self.network, self.probe),
            &mut self.helpers,
            &mut self.deadlines,
            sched,
            host,
        );
        let now = out.sched.now();
        self.hosts[host.0 as usize].on_role_deadline(now, &mut out);
        self.arm_role(host, sched);
        self.probe.on_host(host, &self.hosts[host.0 as usize], now);
    }

    /// Shows the probe an endpoint after one of its events.
    #[inline(always)]
    fn report(&mut self, end: End, deadline: bool, now: Time) {
        let host = &self.hosts[end.host.0 as usize];
        let place = probe::End {
            flow: end.flow,
            sends: self.flows[end.flow.0 as usize].sender.0 == end.host,
            deadline,
        };
        self.probe.on_endpoint(place, host.endpoint(end.slot), now);
        self.probe.on_host(end.host, host, now);
    }
}

/// Makes the receiver role of a host from the roles of the group that controls it, if one does.
pub(crate) type MakeReceiver<'a, R> = dyn Fn(Option<&Roles>, &HostInfo) -> R + 'a;

/// Flows that start behind a barrier.
fn waiting(barriers: &[Barrier]) -> BTreeSet<usize> {
    let next = barriers.iter().flat_map(|barrier| barrier.next.clone());
    next.map(|flow| flow as usize).collect()
}

impl<R: ReceiverCc, P: Probe> engine::World for World<'_, R, P> {
    #[inline]
    fn handle(&mut self, token: Token, sched: &mut Scheduler) {
        if (token.0 as usize) < self.network.ports().len() {
            let port = PortId(token.0);
            let mut packet = Packet::new(FlowId(0), HostId(0));
            let mut watch = AtQueues(self.probe);
            let reached = self
                .network
                .on_arrival(port, &mut packet, sched, &mut watch);
            self.probe.on_hop(port, &packet, sched.now());
            if let Some(host) = reached {
                self.deliver(host, &mut packet, sched);
            }
            return;
        }
        if token.0 < self.deadlines.token {
            self.network
                .on_transmit(token, sched, &mut AtQueues(self.probe));
            return;
        }
        let place = (token.0 - self.deadlines.token) as usize;
        if place == self.deadlines.armed.len() {
            self.act(sched);
        } else if self.deadlines.fire(place, sched.now()) {
            match place.checked_sub(self.deadlines.host.len()) {
                None => self.on_endpoint_deadline(place, sched),
                Some(host) => self.on_role_deadline(HostId(number(host)), sched),
            }
        }
    }

    /// Every connection has ended and the network is empty.
    #[inline]
    fn finished(&self) -> bool {
        self.open == 0 && self.network.is_empty()
    }
}
