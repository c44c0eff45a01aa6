//! What a world is made of: from settings to topology, network, flows and endpoints.

use base::{FlowId, HostId, Seq, Span, Time};
use engine::random::Stream;
use fabric::{Discipline, Limit, LinkSpec, LossLaw, Network, NetworkConfig, PortId, Topology};
use schemes::{FlowInfo, Roles, Sender};
use tcp::{Config, Endpoint, Host, Identity, ReceiverCc, Slot};

use super::Flow;
use crate::error::RunError;
use crate::keys::{Keys, LossPattern, QueueUnit, TopologyKind, WindowScale, WorkloadKind};

/// The topology and the port whose queue is the bottleneck.
pub(crate) fn topology(keys: &Keys) -> (Topology, PortId) {
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

/// The flows of the workload; slots are given out by [`add_endpoints`].
pub(super) fn flows(keys: &Keys, seed: u64) -> Vec<Flow> {
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
            first_byte: Time::NEVER,
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
pub(super) fn add_endpoints<R: ReceiverCc>(
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

pub(super) fn mss(keys: &Keys) -> u16 {
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
        initial_window: roles.initial_window.unwrap_or(tcp.initial_window.0),
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
pub(super) const fn flow_id(index: usize) -> FlowId {
    FlowId(index as u32)
}
