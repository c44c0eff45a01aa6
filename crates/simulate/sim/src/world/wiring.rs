//! Builds a world from settings: topology, network, flows and endpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Ordered as _;
use base::cast::{id, low_32};
use base::{FlowId, HostId, Packet, Rate, Seq, Span, Time};
use engine::random::{self, Stream};
use fabric::{Network, NetworkConfig, PortParts, Spread, Topology};
use plan::keys::{
    AfterSynLoss, Ecmp, IdleWindow, Keys, LossDetection, ReceiveWindow, Recovery, RtoEstimator,
    SendBuffer, SsthreshOf, TailLossProbe, TimerKind, WindowGrowth, WindowScale,
};
use plan::workload::{PlannedConnection, PlannedFlow};
use plan::{Group, PointSpec};
use schemes::{FlowInfo, Roles, Sender};
use tcp::{Config, Endpoint, Host, Identity, Plays, ReceiverCc, Slot};

use super::facts::{host_info, host_rates, mss};
use super::ports::Ports;
use super::{Connection, MakeReceiver, RoleSet};
use crate::error::RunError;
use crate::probe::Divide;

/// The ports and routes of a network, or of the part that `part` simulates. Its queues are measured from `first_start`
/// on.
pub(super) fn network(
    point: &PointSpec,
    topology: &Topology,
    ports: &Ports<'_>,
    (first_start, part, withdraws): (Time, &impl Divide, bool),
) -> Result<Network, RunError> {
    let keys = &*point.keys;
    let own = |port, make: &dyn Fn() -> PortParts| {
        if part.has_port(port) {
            make()
        } else {
            PortParts::plain()
        }
    };
    let config = NetworkConfig {
        header_bytes: keys.net.header_bytes,
        sack_bytes: keys.net.sack_bytes,
        switch_limit: ports.switch_limit(),
        host_limit: ports.host_limit(),
        switch_port: &|port, link| own(port, &|| ports.of_switch(port, link)),
        host_port: &|port, link| own(port, &|| ports.of_host(port, link)),
        switch_hold_bytes: ports.taken(),
        pool: ports.pool(),
        measure_from: part.ports_measure_from(first_start),
        spread: match keys.topology.spread() {
            Ecmp::Symmetric => Spread::Symmetric,
            Ecmp::Flow => Spread::Flow,
            Ecmp::Packet => Spread::Packet,
            Ecmp::Off => Spread::Off,
            Ecmp::First => Spread::First,
        },
        salt: Stream::new(point.seed, "ecmp", 0).bits(),
        withdraws,
    };
    Ok(Network::new(topology, &config)?)
}

/// Makes endpoints.
pub(super) struct Endpoints {
    seed: u64,
    groups: Arc<[Group]>,
    /// The first connection of each group. The connections of a group are numbered consecutively.
    first: Vec<u32>,
    role_set: RoleSet,
    /// For each group, the configuration at the senders and at the receivers of its flows.
    configs: Vec<[Arc<Config>; 2]>,
    /// Hosts that send at another rate than `link.rate`.
    rates: BTreeMap<HostId, Rate>,
}

impl Endpoints {
    pub(super) fn new(
        (point, topology): (&PointSpec, &Topology),
        role_set: &RoleSet,
        planned: &[PlannedConnection],
    ) -> Self {
        let usual = point.keys.link.rate;
        let hosts = (0..).map(HostId).take(topology.hosts().len());
        let rates = hosts.map(|host| (host, host_rates(topology, host)[0]));
        let groups = point.groups.iter().zip(&*role_set.roles);
        let config = |(group, roles): (&Group, &Roles)| {
            let sender = Arc::new(endpoint_config(&group.keys, roles));
            let receiver = receiver_config(&group.keys, &sender);
            [sender, receiver]
        };
        Self {
            seed: point.seed,
            groups: Arc::clone(&point.groups),
            first: (0..point.groups.len())
                .map(|group| planned.partition_point(|plan| (plan.group as usize) < group))
                .map(id)
                .collect(),
            role_set: role_set.clone(),
            configs: groups.map(config).collect(),
            rates: rates.filter(|(_, rate)| *rate != usual).into_map(),
        }
    }

    /// Tells the network of every connection.
    pub(super) fn introduce(&self, planned: &[PlannedConnection], network: &mut Network) {
        for (id, plan) in (0..).map(FlowId).zip(planned) {
            let key = self.key(id, plan.group);
            network.introduce(id, key, [plan.sender, plan.receiver]);
        }
    }

    /// A number for connection `id` of this group. It does not depend on the other groups.
    fn key(&self, id: FlowId, group: u32) -> u64 {
        let index = id.0 - self.first[group as usize];
        random::member(&self.groups[group as usize].name, index.into())
    }

    /// The way of a connection, for groups whose senders need it: the number of its switches, and the round trip of a
    /// full packet in the empty network.
    pub(super) fn way(
        &self,
        group: u32,
        id: FlowId,
        (from, to): (HostId, HostId),
        network: &mut Network,
    ) -> Option<(u32, Span)> {
        if !self.role_set.roles[group as usize].knows_way {
            return None;
        }
        let config = &self.configs[group as usize][0];
        let header = u64::from(config.header_bytes);
        let mut hops = 0;
        let mut rtt = Span::ZERO;
        for (from, to, bytes) in [
            (from, to, u64::from(config.mss) + header),
            (to, from, header),
        ] {
            hops = 0;
            for link in network.path(from, &Packet::new(id, to)) {
                rtt = rtt + link.delay + link.rate.serialisation(bytes);
                hops += 1;
            }
        }
        Some((hops - 1, rtt))
    }

    /// The endpoints of connection `id` at its sender and its receiver, for a flow of this group. `size` is the size of
    /// its only flow; `asked` if the receiver opens the connection. The senders know the way as [`Endpoints::way`]
    /// returns it.
    pub(super) fn make(
        &self,
        id: FlowId,
        (sender, receiver): (HostId, HostId),
        (group, size): (u32, Option<u64>),
        (asked, way): (bool, Option<(u32, Span)>),
    ) -> [Endpoint<Sender>; 2] {
        let configs = &self.configs[group as usize];
        let roles = &self.role_set.roles[group as usize];
        // Drawn by the number of the connection, not by the name of its group, so that renaming a group changes no
        // result.
        let mut initial = Stream::new(self.seed, "initial sequence number", id.0.into());
        [(sender, receiver), (receiver, sender)].map(|(local, remote)| {
            let initial_seq = Seq(low_32(initial.bits()));
            let identity = Identity {
                flow: id,
                local,
                remote,
                initial_seq,
            };
            let sends = local == sender;
            let mut config = Arc::clone(&configs[usize::from(!sends)]);
            if let Some(rate) = self.rates.get(&local) {
                Arc::make_mut(&mut config).link_rate = *rate;
            }
            let info = FlowInfo {
                size: size.filter(|_| sends),
                config: way.map_or(*config, |(hops, base_rtt)| Config {
                    hops,
                    base_rtt,
                    ..*config
                }),
            };
            let sender = self.role_set.sender(roles, id, &info, sends);
            let mut endpoint = roles.make_endpoint(identity, config, &info, sender);
            if sends == asked {
                endpoint.listen();
            }
            endpoint
        })
    }
}

/// Reserves a slot at its host for each end of each connection, unless the connection takes over the slots of another.
/// Endpoints are made when a connection opens.
pub(super) fn reserve_slots<R: Plays<dyn ReceiverCc>>(
    hosts: &mut [Host<Sender, R>],
    planned: &[PlannedConnection],
) -> Vec<Connection> {
    let mut slots = vec![0; hosts.len()];
    let mut connections: Vec<Connection> = Vec::with_capacity(planned.len());
    for plan in planned {
        let own = if let Some(former) = plan.heir_of {
            let former = &connections[former as usize];
            [former.sender.1, former.receiver.1]
        } else {
            [plan.sender, plan.receiver].map(|host| {
                slots[host.0 as usize] += 1;
                Slot(slots[host.0 as usize] - 1)
            })
        };
        connections.push(Connection::new(plan, own));
    }
    for (host, slots) in hosts.iter_mut().zip(slots) {
        host.reserve(slots);
    }
    connections
}

/// Ends of connections at the hosts that this world simulates.
pub(super) fn own_ends(connections: &[Connection], part: &impl Divide) -> usize {
    let ends = connections
        .iter()
        .flat_map(|connection| [connection.sender.0, connection.receiver.0]);
    ends.filter(|host| part.has_host(*host)).count()
}

/// Sizes of flows that are alone on a connection opened before they start, by connection.
pub(super) fn early_sizes(
    connections: &[PlannedConnection],
    flows: &[PlannedFlow],
) -> BTreeMap<u32, u64> {
    let early = |flow: &&PlannedFlow| {
        let connection = &connections[flow.connection as usize];
        connection.open != Time::NEVER && connection.messages == 1
    };
    flows
        .iter()
        .filter(early)
        .filter_map(|flow| Some((flow.connection, flow.size?)))
        .into_map()
}

/// Every host with the receiver role that the scheme of its flows has.
pub(super) fn hosts<R: Plays<dyn ReceiverCc>>(
    (point, topology): (&PointSpec, &Topology),
    roles: &[Roles],
    planned: &[PlannedConnection],
    receiver: &MakeReceiver<'_, R>,
) -> Vec<Host<Sender, R>> {
    let host = |(group, host): (Option<u32>, HostId)| {
        let group = group.map(|group| group as usize);
        let keys = group.map_or(&*point.keys, |group| &point.groups[group].keys);
        let [_, rate] = host_rates(topology, host);
        let info = host_info(keys, rate);
        Host::new(receiver(group.map(|group| &roles[group]), &info))
    };
    let controlling = controlling_groups(topology.hosts().len(), roles, planned);
    let hosts = controlling.into_iter().zip((0..).map(HostId));
    hosts.map(host).collect()
}

/// The group whose receiver role each host plays; `None`: the plain one.
fn controlling_groups(
    hosts: usize,
    roles: &[Roles],
    planned: &[PlannedConnection],
) -> Vec<Option<u32>> {
    let mut groups = vec![None; hosts];
    for plan in planned {
        if roles[plan.group as usize].receiver.is_some() {
            groups[plan.receiver.0 as usize].get_or_insert(plan.group);
        }
    }
    groups
}

/// The configuration of each endpoint of a group, from the group's settings and the roles of its scheme.
pub fn endpoint_config(keys: &Keys, roles: &Roles) -> Config {
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
        header_bytes: keys.net.header_bytes,
        link_rate: keys.link.rate,
        hops: 1,
        base_rtt: Span::ZERO,
        initial_window: roles.initial_window.unwrap_or(tcp.initial_window.0),
        initial_ssthresh: tcp
            .initial_ssthresh
            .0
            .map_or(u64::MAX, |size| size.in_bytes(segment)),
        byte_counting_limit: tcp.byte_counting_limit.0,
        sack: tcp.sack,
        limited_transmit: tcp.limited_transmit,
        fast_retransmit: tcp.fast_retransmit,
        idle_restart: tcp.idle_restart,
        idle_window: idle_window(tcp.idle_window),
        window_validation: tcp.window_validation,
        min_rto: tcp.min_rto,
        max_rto: tcp.max_rto,
        initial_rto: tcp.initial_rto,
        clock_granularity: tcp.clock_granularity,
        rto_after_syn_loss: tcp.rto_after_syn_loss,
        syn_rto: tcp.syn_rto,
        syn_linear_timeouts: tcp.syn_linear_timeouts,
        syn_retries: tcp.syn_retries,
        syn_ack_retries: tcp.syn_ack_retries.0.unwrap_or(tcp.syn_retries),
        after_syn_loss: after_syn_loss(tcp.after_syn_loss),
        retries: tcp.retries,
        patience: (tcp.retries_by_time).then(|| Config::patience_of(tcp.retries, tcp.max_rto)),
        delayed_ack: tcp.delayed_ack.0,
        delayed_ack_timeout: tcp.delayed_ack_timeout,
        delayed_ack_bound: delayed_ack_bound(tcp, tcp.min_rto),
        receive_buffer,
        receive_window: receive_window(tcp.receive_window),
        window_scale: match tcp.window_scale {
            WindowScale::Auto => Some(Config::scale_for(receive_buffer)),
            WindowScale::Off => None,
            WindowScale::Shift(shift) => Some(shift),
        },
        scale_syn_ack: tcp.scale_syn_ack,
        ecn: roles.ecn.unwrap_or(classic),
        ecn_retransmissions: tcp.ecn_retransmissions,
        time_wait: tcp.time_wait,
        receiver_control: roles.receiver.is_some(),
        low_priority: roles.low_priority,
        loss_detection: loss_detection(tcp.loss_detection),
        tail_loss_probe: tail_loss_probe(tcp.tail_loss_probe),
        timer_slack: tcp.timer_slack,
        timestamps: tcp.timestamps,
        recovery: recovery(tcp.recovery),
        ssthresh_of: ssthresh_of(tcp.ssthresh_of),
        keep_scoreboard: tcp.keep_scoreboard,
        frto: tcp.frto,
        undo: tcp.undo,
        dsack: tcp.dsack,
        quick_acks: tcp.quick_acks,
        sack_delay: tcp.sack_delay,
        sack_delay_slack: tcp.sack_delay_slack,
        rto_estimator: rto_estimator(tcp.rto_estimator),
        tick: match tcp.timer {
            TimerKind::Exact => Span::ZERO,
            TimerKind::Wheel => tcp.clock_granularity,
        },
        growth: growth(tcp.window_growth),
        small_queues: tcp.small_queues,
        send_buffer: send_buffer(tcp.send_buffer, segment),
        header_room: tcp.header_room,
        nodelay: tcp.nodelay,
        go_back_n: tcp.go_back_n,
        go_back_again: tcp.go_back_again,
    }
}

/// The configuration of a receiver, given the one of its senders.
fn receiver_config(keys: &Keys, sender: &Arc<Config>) -> Arc<Config> {
    match keys.tcp.receiver_min_rto.0 {
        Some(min_rto) => Arc::new(Config {
            min_rto,
            delayed_ack_bound: delayed_ack_bound(&keys.tcp, min_rto),
            ..**sender
        }),
        None => Arc::clone(sender),
    }
}

/// As in Linux: a tick less than the least timeout of this end, which stands for the timeout of the other.
fn delayed_ack_bound(tcp: &plan::keys::Tcp, min_rto: Span) -> Span {
    if tcp.delayed_ack_below_rto {
        min_rto.max(tcp.clock_granularity * 2) - tcp.clock_granularity
    } else {
        Span::from_ps(u64::MAX)
    }
}

const fn after_syn_loss(loss: AfterSynLoss) -> tcp::AfterSynLoss {
    match loss {
        AfterSynLoss::Rfc5681 => tcp::AfterSynLoss::Rfc5681,
        AfterSynLoss::Linux => tcp::AfterSynLoss::Linux,
    }
}

const fn idle_window(window: IdleWindow) -> tcp::IdleWindow {
    match window {
        IdleWindow::Initial => tcp::IdleWindow::Initial,
        IdleWindow::Halves => tcp::IdleWindow::Halves,
    }
}

fn send_buffer(buffer: SendBuffer, segment: u64) -> Option<tcp::SendBufferSize> {
    match buffer {
        SendBuffer::Unlimited => None,
        SendBuffer::Sizes(least, most) => Some(tcp::SendBufferSize {
            least: least.in_bytes(segment),
            most: most.in_bytes(segment),
        }),
    }
}

const fn receive_window(window: ReceiveWindow) -> tcp::ReceiveWindow {
    match window {
        ReceiveWindow::Buffer => tcp::ReceiveWindow::Buffer,
        ReceiveWindow::Grows => tcp::ReceiveWindow::Grows,
    }
}

const fn loss_detection(detection: LossDetection) -> tcp::LossDetection {
    match detection {
        LossDetection::DupAcks => tcp::LossDetection::DupAcks,
        LossDetection::Rack => tcp::LossDetection::Rack,
        LossDetection::RackLinux => tcp::LossDetection::RackLinux,
    }
}

const fn recovery(recovery: Recovery) -> tcp::Recovery {
    match recovery {
        Recovery::Rfc6675 => tcp::Recovery::Rfc6675,
        Recovery::Prr => tcp::Recovery::Prr,
    }
}

const fn rto_estimator(estimator: RtoEstimator) -> tcp::RtoEstimator {
    match estimator {
        RtoEstimator::Rfc6298 => tcp::RtoEstimator::Rfc6298,
        RtoEstimator::Linux => tcp::RtoEstimator::Linux,
    }
}

const fn growth(growth: WindowGrowth) -> tcp::Growth {
    match growth {
        WindowGrowth::Acks => tcp::Growth::Acks,
        WindowGrowth::Segments => tcp::Growth::Segments,
        WindowGrowth::Delivery => tcp::Growth::Delivery,
    }
}

const fn ssthresh_of(share: SsthreshOf) -> tcp::SsthreshOf {
    match share {
        SsthreshOf::Flight => tcp::SsthreshOf::Flight,
        SsthreshOf::Window => tcp::SsthreshOf::Window,
        SsthreshOf::Pipe => tcp::SsthreshOf::Pipe,
    }
}

const fn tail_loss_probe(probe: TailLossProbe) -> tcp::TailLossProbe {
    match probe {
        TailLossProbe::Off => tcp::TailLossProbe::Off,
        TailLossProbe::Rfc8985 => tcp::TailLossProbe::Rfc8985,
        TailLossProbe::Linux => tcp::TailLossProbe::Linux,
    }
}
