//! What a world is made of: from settings to topology, network, flows and endpoints.

use base::{FlowId, HostId, Seq, Time};
use engine::random::Stream;
use fabric::{
    Discipline, Limit, LinkSpec, LossLaw, Network, NetworkConfig, PortId, Spread, SwitchPort,
    Topology,
};
use schemes::{FlowInfo, HostInfo, PortInfo, Roles, Sender};
use tcp::{Config, Endpoint, Host, Identity, ReceiverCc};

use super::{Connection, Flow};
use crate::error::RunError;
use crate::keys::{Ecmp, HostQueue, Keys, LossPattern, QueueUnit, WindowScale};
use crate::scenario::{Group, PointSpec};
use crate::workload::PlannedConnection;

/// Which data packets are lost at the bottleneck, if any.
pub(super) fn loss_law(keys: &Keys, seed: u64, bottleneck: PortId) -> Option<LossLaw> {
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

pub(super) fn network(
    point: &PointSpec,
    topology: &Topology,
    roles: &[Roles],
    (lossy, loss): &(PortId, Option<LossLaw>),
    measure_from: Time,
) -> Result<Network, RunError> {
    let keys = &*point.keys;
    let packet = keys.packet_bytes();
    // Packets that count as there at every port (the RCC paper's emulation of load).
    let taken = keys.emulated_packets();
    let limit = |size: base::Size| match keys.switch.unit {
        QueueUnit::Bytes => Limit::Bytes(size.in_bytes(packet).saturating_sub(taken * packet)),
        QueueUnit::Packets => Limit::Packets(size.amount.saturating_sub(taken)),
    };
    let threshold = keys.switch.ecn_threshold.0.map(limit);
    let switch_limit = keys.switch.buffer.0.map_or(Limit::Unlimited, limit);
    // All groups share the switches; at most one brings a scheme for them.
    let in_switches = roles.iter().find(|roles| roles.in_switches());
    let switch_port = |port, link: &LinkSpec| {
        let mut made = SwitchPort {
            discipline: threshold.map_or(Discipline::DropTail, Discipline::EcnThreshold),
            ..SwitchPort::plain()
        };
        if let Some(roles) = in_switches {
            let info = PortInfo {
                port,
                rate: link.rate,
                delay: link.delay,
                limit: switch_limit,
                packet_bytes: packet,
                header_bytes: keys.net.header_bytes,
                mss: mss(keys),
                seed: point.seed,
            };
            if let Some(make) = &roles.queue {
                made.discipline = make(&info, made.discipline);
            }
            made.hook = roles.hook.as_ref().map(|make| make(&info));
            made.priorities = roles.priorities.unwrap_or(1);
        }
        if let Some(law) = loss.as_ref().filter(|_| port == *lossy) {
            made.discipline = law.clone().before(made.discipline);
        }
        if keys.switch.loss.0 > 0.0 {
            let law = LossLaw::Random {
                probability: keys.switch.loss.0,
                stream: Stream::new(point.seed, "switch loss", u64::from(port.0)),
            };
            made.discipline = law.before_all(made.discipline);
        }
        made
    };
    let host_limit =
        |size: base::Size| Limit::Bytes(size.in_bytes(packet).saturating_sub(taken * packet));
    let config = NetworkConfig {
        header_bytes: keys.net.header_bytes,
        switch_limit,
        host_limit: match keys.host.queue {
            HostQueue::Own => keys.host.buffer.0.map_or(Limit::Unlimited, host_limit),
            HostQueue::Switch => switch_limit,
        },
        switch_port: &switch_port,
        hosts_like_switches: keys.host.queue == HostQueue::Switch,
        switch_hold_bytes: taken * packet,
        measure_from,
        spread: match keys.topology.ecmp {
            Ecmp::Symmetric => Spread::Symmetric,
            Ecmp::Flow => Spread::Flow,
            Ecmp::Packet => Spread::Packet,
            Ecmp::Off => Spread::Off,
        },
        salt: Stream::new(point.seed, "ecmp", 0).bits(),
    };
    Ok(Network::new(topology, &config)?)
}

/// What makes endpoints.
pub(super) struct Endpoints<'p> {
    seed: u64,
    roles: &'p [Roles],
    /// Of each group.
    configs: Vec<Config>,
}

impl<'p> Endpoints<'p> {
    pub(super) fn new(point: &PointSpec, roles: &'p [Roles]) -> Self {
        let groups = point.groups.iter().zip(roles);
        let config = |(group, roles): (&Group, &Roles)| endpoint_config(&group.keys, roles);
        Self {
            seed: point.seed,
            roles,
            configs: groups.map(config).collect(),
        }
    }

    /// Adds an endpoint for each end of each connection to its host, unless the connection takes over
    /// the places of another.
    pub(super) fn add_all<R: ReceiverCc>(
        &self,
        hosts: &mut [Host<Sender, R>],
        planned: &[PlannedConnection],
        flows: &[Flow],
    ) -> Vec<Connection> {
        let mut sizes = vec![None; planned.len()];
        for flow in flows {
            // A connection that carries several flows has no size to tell.
            let single = planned[flow.connection as usize].messages == 1;
            sizes[flow.connection as usize] = flow.size.filter(|_| single);
        }
        reserve(hosts, planned);
        let mut connections: Vec<Connection> = Vec::with_capacity(planned.len());
        for (number, (plan, size)) in (0..).zip(planned.iter().zip(sizes)) {
            let slots = if let Some(former) = plan.heir_of {
                let former = &connections[former as usize];
                [former.sender.1, former.receiver.1]
            } else {
                let ends = (plan.sender, plan.receiver);
                let asked = plan.request > 0;
                let made = self.make(FlowId(number), ends, (plan.group, size), asked);
                made.map(|end| hosts[end.identity().local.0 as usize].add(end))
            };
            connections.push(Connection::new(plan, slots));
        }
        connections
    }

    /// The endpoints of connection `id` at its sender and its receiver, of a flow of this group and, if
    /// it carries no other, this size; `asked` if the receiver opens it.
    pub(super) fn make(
        &self,
        id: FlowId,
        (sender, receiver): (HostId, HostId),
        (group, size): (u32, Option<u64>),
        asked: bool,
    ) -> [Endpoint<Sender>; 2] {
        let (config, roles) = (self.configs[group as usize], &self.roles[group as usize]);
        let mut initial = Stream::new(self.seed, "initial sequence number", u64::from(id.0));
        [(sender, receiver), (receiver, sender)].map(|(local, remote)| {
            #[expect(clippy::cast_possible_truncation, reason = "32 random bits")]
            let initial_seq = Seq(initial.bits() as u32);
            let identity = Identity {
                flow: id,
                local,
                remote,
                initial_seq,
            };
            let sends = local == sender;
            let info = FlowInfo {
                size: size.filter(|_| sends),
                config,
            };
            let mut endpoint = Endpoint::new(identity, config, roles.make_sender(&info));
            if sends == asked {
                endpoint.listen();
            }
            endpoint
        })
    }
}

/// Makes room at the hosts for the connections that have places of their own.
fn reserve<R: ReceiverCc>(hosts: &mut [Host<Sender, R>], planned: &[PlannedConnection]) {
    let mut ends = vec![0; hosts.len()];
    for plan in planned.iter().filter(|plan| plan.heir_of.is_none()) {
        for host in [plan.sender, plan.receiver] {
            ends[host.0 as usize] += 1;
        }
    }
    for (host, ends) in hosts.iter_mut().zip(ends) {
        host.reserve(ends);
    }
}

/// Which group's receiver role each host plays; `None`: the plain one.
pub(super) fn controlling_groups(
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

/// What a role of a host is told in a group with these settings.
pub(super) fn host_info(keys: &Keys) -> HostInfo {
    HostInfo {
        rate: keys.link.rate,
        mss: mss(keys),
        packet_bytes: keys.packet_bytes(),
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
        header_bytes: keys.net.header_bytes,
        link_rate: keys.link.rate,
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
        window_validation: tcp.window_validation,
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
        receiver_control: roles.receiver.is_some(),
    }
}
