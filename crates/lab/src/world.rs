//! The world of a simulation: a network, its hosts, and the flows between them.

use base::{FlowId, HostId, Packet, Seq, Span, Time};
use engine::random::Stream;
use engine::{Scheduler, Token};
use fabric::{
    Discipline, LevelHistogram, Limit, LinkSpec, LossLaw, Network, NetworkConfig, PortId, Topology,
};
use schemes::{FlowInfo, HostInfo, Roles, Sender};
use tcp::{Arrival, Config, Endpoint, Host, Identity, Progress, ReceiverCc, Slot, Wire};

use crate::keys::{Keys, LossPattern, QueueUnit, TopologyKind, WindowScale, WorkloadKind};
use crate::probe::Probe;
use crate::run::RunError;

/// Everything that happens happens here; see [`engine::World`].
///
/// Tokens: the ports of the network first, then the deadlines of endpoints, then those of receiver
/// roles, then the start of the next flow.
pub(crate) struct World<'p, R, P> {
    probe: &'p mut P,
    network: Network,
    hosts: Vec<Host<Sender, R>>,
    flows: Vec<Flow>,
    deadlines: Deadlines,
    /// Flows in order of start, and how many have started.
    starts: Vec<(Time, FlowId)>,
    started: usize,
    /// Flows neither completed nor failed; unlimited ones never are.
    unfinished: usize,
    /// Endpoints that may still do something, and which have ended.
    open: usize,
    ended: Vec<bool>,
    /// The port whose queue is reported.
    bottleneck: PortId,
    /// Queue statistics, closed at the last completion.
    queue: Option<LevelHistogram>,
}

/// One flow, from one application to another.
pub(crate) struct Flow {
    /// Payload; `None` without end.
    pub(crate) size: Option<u64>,
    /// Sending host and its slot there.
    pub(crate) sender: (HostId, Slot),
    /// Receiving host and its slot there.
    pub(crate) receiver: (HostId, Slot),
    /// Start at the application.
    pub(crate) start: Time,
    /// Last byte in order at the receiver; [`Time::NEVER`] before.
    pub(crate) completion: Time,
    /// Payload bytes stored at the receiver, each counted when it first came.
    stored: u64,
    /// Whether a connection gave up or was reset.
    pub(crate) failed: bool,
}

/// Which deadlines have an event: one per endpoint and one per host's role.
///
/// An event is scheduled only if none is pending that comes earlier; one that comes too early is
/// scheduled again, one that another overtook is ignored. So a deadline that moves back with every
/// ACK costs an event per timeout and not one per ACK.
struct Deadlines {
    /// Time of the earliest pending event, endpoints first, then roles.
    armed: Vec<Time>,
    /// Place of the first endpoint of each host.
    first: Vec<u32>,
    /// Host of each endpoint.
    host: Vec<HostId>,
    /// Token of place 0.
    token: u32,
}

impl<'p, R: ReceiverCc, P: Probe> World<'p, R, P> {
    /// `receiver` makes the control of each host; `probe` sees every packet-hop.
    pub(crate) fn new(
        keys: &Keys,
        roles: &Roles,
        (receiver, probe): (&dyn Fn(&HostInfo) -> R, &'p mut P),
        seed: u64,
        sched: &mut Scheduler,
    ) -> Result<Self, RunError> {
        let (topology, bottleneck) = topology(keys);
        let start = Time::ZERO + keys.workload.start;
        let mut flows = flows(keys, seed);
        let mut starts: Vec<(Time, FlowId)> = flows
            .iter()
            .enumerate()
            .map(|(index, flow)| (flow.start, flow_id(index)))
            .collect();
        starts.sort_unstable();
        let measure_from = starts.first().map_or(start, |(first, _)| *first);
        let loss = (bottleneck, loss_law(keys, seed, bottleneck));
        let network = network(keys, &topology, &loss, measure_from)?;
        let info = HostInfo {
            rate: keys.link.rate,
            mss: mss(keys),
            packet_bytes: keys.packet_bytes(),
        };
        let mut hosts: Vec<Host<Sender, R>> = topology
            .hosts()
            .iter()
            .map(|_| Host::new(receiver(&info)))
            .collect();
        add_endpoints(&mut hosts, keys, roles, seed, &mut flows);
        let ports = network.ports().len();
        let deadlines = Deadlines::new(&hosts, ports);
        let tokens = ports + deadlines.armed.len() + 1;
        if tokens >= 1 << 24 {
            return Err(RunError::TooLarge(tokens));
        }
        let world = Self {
            probe,
            unfinished: flows.len(),
            open: flows.len() * 2,
            ended: vec![false; flows.len() * 2],
            network,
            hosts,
            flows,
            deadlines,
            starts,
            started: 0,
            bottleneck,
            queue: None,
        };
        if let Some((first, _)) = world.starts.first() {
            sched.at(*first, world.start_token());
        }
        Ok(world)
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

    /// Statistics of the bottleneck's queue from the first start to the last completion, or to `end`.
    pub(crate) fn close_statistics(&mut self, end: Time) -> LevelHistogram {
        match self.queue.take() {
            Some(closed) => closed,
            None => self.network.port_mut(self.bottleneck).close_statistics(end),
        }
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
            let complete = flow.completion == Time::NEVER || Some(received) == flow.size;
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

    fn start_token(&self) -> Token {
        Token(self.deadlines.token + number(self.deadlines.armed.len()))
    }

    /// Starts every flow that is due; the next one gets the event.
    fn start_flows(&mut self, sched: &mut Scheduler) {
        while let Some((start, id)) = self.starts.get(self.started).copied() {
            if start > sched.now() {
                sched.at(start, self.start_token());
                return;
            }
            self.started += 1;
            let flow = &self.flows[id.0 as usize];
            let (size, (host, slot)) = (flow.size, flow.sender);
            let open = |endpoint: &mut Endpoint<Sender>| {
                endpoint.write(size.unwrap_or(u64::MAX));
                if size.is_some() {
                    endpoint.close();
                }
                endpoint.connect();
            };
            let mut out = Out::new(&mut self.network, &mut self.deadlines, sched, host);
            self.hosts[host.0 as usize].act(slot, open, out.sched.now(), &mut out);
        }
    }

    #[inline]
    fn deliver(&mut self, host: HostId, packet: &Packet, sched: &mut Scheduler) {
        let flow = &self.flows[packet.flow.0 as usize];
        let incoming = flow.receiver.0 == host;
        let slot = if incoming {
            flow.receiver.1
        } else {
            flow.sender.1
        };
        let now = sched.now();
        let mut out = Out::new(&mut self.network, &mut self.deadlines, sched, host);
        let progress = self.hosts[host.0 as usize].on_packet(slot, packet, now, &mut out);
        if incoming && progress.stored {
            let arrival = *self.hosts[host.0 as usize].endpoint(slot).arrival();
            self.note_arrival(packet.flow, &arrival, now);
        }
        self.after(host, slot, progress, packet.flow, sched);
    }

    /// Books what arrived at the receiver of a flow.
    #[inline]
    fn note_arrival(&mut self, flow: FlowId, arrival: &Arrival, now: Time) {
        let flow = &mut self.flows[flow.0 as usize];
        flow.stored += arrival.new_bytes;
        let in_order = arrival.expected - 1 + arrival.in_order;
        if flow.size == Some(in_order) && flow.completion == Time::NEVER {
            flow.completion = now;
            self.finish_flow(now);
        }
    }

    fn finish_flow(&mut self, now: Time) {
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.queue = Some(self.network.port_mut(self.bottleneck).close_statistics(now));
        }
    }

    /// What an event of an endpoint means for its application and for the end of the run.
    #[inline]
    fn after(
        &mut self,
        host: HostId,
        slot: Slot,
        progress: Progress,
        flow: FlowId,
        sched: &mut Scheduler,
    ) {
        if progress.state_changed || progress.peer_finished {
            self.after_change(host, slot, progress, flow, sched);
        }
        self.arm_role(host, sched);
    }

    fn after_change(
        &mut self,
        host: HostId,
        slot: Slot,
        progress: Progress,
        flow: FlowId,
        sched: &mut Scheduler,
    ) {
        let now = sched.now();
        if progress.peer_finished {
            // The application closes when its peer has.
            let mut out = Out::new(&mut self.network, &mut self.deadlines, sched, host);
            self.hosts[host.0 as usize].act(slot, Endpoint::close, now, &mut out);
        }
        if progress.aborted {
            let flow = &mut self.flows[flow.0 as usize];
            let was_over = flow.failed || flow.completion != Time::NEVER;
            flow.failed |= flow.completion == Time::NEVER;
            if !was_over {
                self.finish_flow(now);
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
        let mut out = Out::new(&mut self.network, &mut self.deadlines, sched, host);
        let now = out.sched.now();
        let progress = self.hosts[host.0 as usize].on_deadline(slot, now, &mut out);
        self.after(host, slot, progress, flow, sched);
    }

    fn on_role_deadline(&mut self, host: HostId, sched: &mut Scheduler) {
        let mut out = Out::new(&mut self.network, &mut self.deadlines, sched, host);
        let now = out.sched.now();
        self.hosts[host.0 as usize].on_role_deadline(now, &mut out);
        self.arm_role(host, sched);
    }
}

impl<R: ReceiverCc, P: Probe> engine::World for World<'_, R, P> {
    #[inline]
    fn handle(&mut self, token: Token, sched: &mut Scheduler) {
        if token.0 < self.deadlines.token {
            let port = PortId(token.0);
            let mut packet = Packet::new(FlowId(0), HostId(0));
            let reached = self.network.on_arrival(port, &mut packet, sched);
            self.probe.on_hop(port, &packet, sched.now());
            if let Some(host) = reached {
                self.deliver(host, &packet, sched);
            }
            return;
        }
        let place = (token.0 - self.deadlines.token) as usize;
        if place == self.deadlines.armed.len() {
            self.start_flows(sched);
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

impl Deadlines {
    fn new<R: ReceiverCc>(hosts: &[Host<Sender, R>], ports: usize) -> Self {
        let (mut first, mut host) = (Vec::new(), Vec::new());
        for (index, owner) in hosts.iter().enumerate() {
            first.push(number(host.len()));
            host.resize(host.len() + owner.endpoints().len(), HostId(number(index)));
        }
        Self {
            armed: vec![Time::NEVER; host.len() + hosts.len()],
            first,
            host,
            token: number(ports),
        }
    }

    #[inline]
    fn arm(&mut self, place: usize, deadline: Time, sched: &mut Scheduler) {
        if deadline < self.armed[place] {
            // A deadline that has passed is due now.
            let at = deadline.max(sched.now());
            self.armed[place] = at;
            sched.at(at, Token(self.token + number(place)));
        }
    }

    /// Whether the event that fires now is the one that counts.
    fn fire(&mut self, place: usize, now: Time) -> bool {
        let counts = self.armed[place] == now;
        if counts {
            self.armed[place] = Time::NEVER;
        }
        counts
    }
}

/// The way out of a host.
struct Out<'a> {
    network: &'a mut Network,
    deadlines: &'a mut Deadlines,
    sched: &'a mut Scheduler,
    host: HostId,
}

impl<'a> Out<'a> {
    #[inline]
    fn new(
        network: &'a mut Network,
        deadlines: &'a mut Deadlines,
        sched: &'a mut Scheduler,
        host: HostId,
    ) -> Self {
        Self {
            network,
            deadlines,
            sched,
            host,
        }
    }
}

impl Wire for Out<'_> {
    #[inline]
    fn send(&mut self, packet: &mut Packet) {
        self.network.send(self.host, packet, self.sched);
    }

    #[inline]
    fn arm(&mut self, slot: Slot, deadline: Time) {
        let place = self.deadlines.first[self.host.0 as usize] + slot.0;
        self.deadlines.arm(place as usize, deadline, self.sched);
    }
}

/// The topology and the port whose queue is the bottleneck.
fn topology(keys: &Keys) -> (Topology, PortId) {
    let edge = LinkSpec {
        rate: keys.link.rate,
        delay: keys.link.delay,
    };
    let hosts = keys
        .topology
        .hosts
        .0
        .map_or(keys.hosts_needed(), |count| u64::from(count.0));
    let hosts = u32::try_from(hosts).expect("the scenario checked the number of hosts");
    match keys.topology.kind {
        // Host 0 receives; its link is the first, and the port towards it the second of that link.
        TopologyKind::Star => (Topology::star(hosts, edge), PortId(1)),
        TopologyKind::Dumbbell => {
            let rate = keys.bottleneck.rate.0.unwrap_or(edge.rate);
            let delay = keys.bottleneck.delay.0.unwrap_or(edge.delay);
            // The middle is the first link; its port from left to right carries all the data.
            (
                Topology::dumbbell(hosts, edge, LinkSpec { rate, delay }),
                PortId(0),
            )
        }
    }
}

/// Which data packets are lost at the bottleneck, if any.
fn loss_law(keys: &Keys, seed: u64, bottleneck: PortId) -> Option<LossLaw> {
    let probability = keys.bottleneck.loss.0;
    if probability <= 0.0 {
        return None;
    }
    Some(match keys.bottleneck.loss_pattern {
        LossPattern::Random => LossLaw::Random {
            probability,
            stream: Stream::new(seed, "loss", u64::from(bottleneck.0)),
        },
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1 / p is at least 1, and a period beyond 2^64 loses nothing"
        )]
        LossPattern::Periodic => LossLaw::Periodic {
            period: (1.0 / probability).round() as u64,
        },
    })
}

fn network(
    keys: &Keys,
    topology: &Topology,
    (lossy, loss): &(PortId, Option<LossLaw>),
    measure_from: Time,
) -> Result<Network, RunError> {
    let packet = keys.packet_bytes();
    let limit = |size: base::Size| match keys.switch.unit {
        QueueUnit::Bytes => Limit::Bytes(size.in_bytes(packet)),
        QueueUnit::Packets => Limit::Packets(size.amount),
    };
    let threshold = keys.switch.ecn_threshold.0.map(limit);
    let discipline = |port| {
        let marks = threshold.map_or(Discipline::DropTail, Discipline::EcnThreshold);
        match loss {
            Some(law) if port == *lossy => law.clone().before(marks),
            _ => marks,
        }
    };
    let host_limit = |size: base::Size| Limit::Bytes(size.in_bytes(packet));
    let config = NetworkConfig {
        header_bytes: keys.net.header_bytes,
        switch_limit: keys.switch.buffer.0.map_or(Limit::Unlimited, limit),
        host_limit: keys.host.buffer.0.map_or(Limit::Unlimited, host_limit),
        switch_discipline: &discipline,
        measure_from,
    };
    Ok(Network::new(topology, &config)?)
}

/// The flows of the workload; slots are given out by [`hosts`].
fn flows(keys: &Keys, seed: u64) -> Vec<Flow> {
    let senders = keys.workload.senders.0;
    let mss = u64::from(keys.tcp.mss.0);
    let start = Time::ZERO + keys.workload.start;
    let pair = |index| match (keys.topology.kind, keys.workload.kind) {
        (TopologyKind::Star, _) => (index + 1, 0),
        (TopologyKind::Dumbbell, WorkloadKind::Incast) => (index, right_side(keys)),
        (TopologyKind::Dumbbell, WorkloadKind::Pairs) => (index, right_side(keys) + index),
    };
    let flow = |index: u32| {
        let (sender, receiver) = pair(index);
        let jitter =
            Stream::new(seed, "start", u64::from(index)).below(keys.workload.jitter.as_ps());
        Flow {
            size: keys.workload.size.0.map(|size| size.in_bytes(mss)),
            sender: (HostId(sender), Slot(0)),
            receiver: (HostId(receiver), Slot(0)),
            start: start + Span::from_ps(jitter),
            completion: Time::NEVER,
            stored: 0,
            failed: false,
        }
    };
    (0..senders).map(flow).collect()
}

/// The first host on the right side of a dumbbell.
fn right_side(keys: &Keys) -> u32 {
    keys.topology
        .hosts
        .0
        .map_or(keys.workload.senders.0, |count| count.0)
}

/// An endpoint for each end of each flow, whose slots are written into the flows.
fn add_endpoints<R: ReceiverCc>(
    hosts: &mut [Host<Sender, R>],
    keys: &Keys,
    roles: &Roles,
    seed: u64,
    flows: &mut [Flow],
) {
    let config = endpoint_config(keys, roles);
    for (index, flow) in flows.iter_mut().enumerate() {
        let id = flow_id(index);
        let mut initial = Stream::new(seed, "initial sequence number", u64::from(id.0));
        let ends = [
            (flow.sender.0, flow.receiver.0),
            (flow.receiver.0, flow.sender.0),
        ];
        let slots = ends.map(|(local, remote)| {
            #[expect(clippy::cast_possible_truncation, reason = "32 random bits")]
            let initial_seq = Seq(initial.bits() as u32);
            let identity = Identity {
                flow: id,
                local,
                remote,
                initial_seq,
            };
            let sends = local == flow.sender.0;
            let info = FlowInfo {
                size: flow.size.filter(|_| sends),
                config,
            };
            let mut endpoint = Endpoint::new(identity, config, roles.make_sender(&info));
            if !sends {
                endpoint.listen();
            }
            hosts[local.0 as usize].add(endpoint)
        });
        (flow.sender.1, flow.receiver.1) = (slots[0], slots[1]);
    }
}

fn mss(keys: &Keys) -> u16 {
    u16::try_from(keys.tcp.mss.0).expect("the scenario checked the segment size")
}

fn endpoint_config(keys: &Keys, roles: &Roles) -> Config {
    let tcp = &keys.tcp;
    let segment = u64::from(tcp.mss.0);
    let receive_buffer = tcp.receive_buffer.in_bytes(segment);
    let classic = if tcp.ecn {
        tcp::EcnMode::Classic
    } else {
        tcp::EcnMode::Off
    };
    Config {
        mss: mss(keys),
        initial_window: tcp.initial_window.0,
        initial_ssthresh: tcp
            .initial_ssthresh
            .0
            .map_or(u64::MAX, |size| size.in_bytes(segment)),
        byte_counting_limit: tcp.byte_counting_limit.0,
        sack: tcp.sack,
        limited_transmit: tcp.limited_transmit,
        idle_restart: tcp.idle_restart,
        min_rto: tcp.min_rto,
        max_rto: tcp.max_rto,
        initial_rto: tcp.initial_rto,
        clock_granularity: tcp.clock_granularity,
        syn_rto: tcp.syn_rto,
        syn_retries: tcp.syn_retries,
        retries: tcp.retries,
        delayed_ack: tcp.delayed_ack.0,
        delayed_ack_timeout: tcp.delayed_ack_timeout,
        receive_buffer,
        window_scale: match tcp.window_scale {
            WindowScale::Auto => Some(Config::scale_for(receive_buffer)),
            WindowScale::Off => None,
            WindowScale::Shift(shift) => Some(shift),
        },
        ecn: roles.ecn.unwrap_or(classic),
        time_wait: tcp.time_wait,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "flows have 32-bit numbers")]
const fn flow_id(index: usize) -> FlowId {
    FlowId(index as u32)
}

/// Counts of ports, endpoints and hosts are checked against the size of a token.
#[expect(clippy::cast_possible_truncation, reason = "fewer than 2^24")]
const fn number(count: usize) -> u32 {
    count as u32
}
