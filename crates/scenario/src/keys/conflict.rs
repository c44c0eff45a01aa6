//! Settings that are correct one by one and wrong together.

mod workload;

use base::{OrAuto, OrOff, OrUnlimited, SizeUnit, Span, WireSize};

use super::{
    HostQueue, Keys, LossDetection, QueueUnit, Recovery, TailLossProbe, TimerKind, TopologyKind,
    WindowGrowth, WindowScale,
};

/// A contradiction between settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The keys whose values contradict each other, the one to change first.
    pub keys: &'static [&'static str],
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// Every conflict between `keys`; see [`Keys::conflicts`].
pub(super) fn all(keys: &Keys, marking: Option<&str>) -> Vec<Conflict> {
    let mut found = Vec::new();
    topology(keys, &mut found);
    packets(keys, &mut found);
    queues(keys, &mut found);
    marks(keys, marking, &mut found);
    timers(keys, &mut found);
    reports(keys, &mut found);
    windows(keys, &mut found);
    workload::conflicts(keys, &mut found);
    trace(keys, &mut found);
    found
}

fn trace(keys: &Keys, found: &mut Vec<Conflict>) {
    if keys.trace.window == Span::ZERO {
        found.push(Conflict {
            keys: &["trace.window"],
            message: "trace.window is no time at all".into(),
            remedy: "throughput is averaged over it: give some time, as in \"1ms\"".into(),
        });
    }
}

fn topology(keys: &Keys, found: &mut Vec<Conflict>) {
    let topology = &keys.topology;
    let fat_tree = topology.kind == TopologyKind::FatTree;
    let pods = topology.pods.0;
    if fat_tree && !pods.is_multiple_of(2) {
        found.push(Conflict {
            keys: &["topology.pods", "topology.kind"],
            message: format!("a fat tree has an even number of pods, not {pods}"),
            remedy: "half the ports of a switch lead up and half down: give an even topology.pods"
                .into(),
        });
    }
    if let (true, OrAuto(Some(hosts))) = (fat_tree, topology.hosts)
        && hosts.0 != pods / 2
    {
        found.push(Conflict {
            keys: &["topology.hosts", "topology.pods"],
            message: format!(
                "a fat tree of {pods} pods has {} hosts at every edge switch",
                pods / 2
            ),
            remedy: "leave topology.hosts at \"auto\" and set topology.pods".into(),
        });
    }
    if topology.kind == TopologyKind::Graph
        && let Some(link) = topology.graph.0.without_delay(keys)
    {
        found.push(Conflict {
            keys: &["topology.graph", "bottleneck.delay"],
            message: format!(
                "the link {} has no delay, and its ends no coordinates from which it would follow",
                topology.graph.0.in_words(link)
            ),
            remedy:
                "set bottleneck.delay for all links, as in \"10ms\", or give the file delays or \
                     coordinates"
                    .into(),
        });
    }
    if topology.oversubscription.0.is_none() {
        return;
    }
    if keys.bottleneck.rate.0.is_some() {
        found.push(Conflict {
            keys: &["topology.oversubscription", "bottleneck.rate"],
            message: "topology.oversubscription and bottleneck.rate both give the uplinks a rate"
                .into(),
            remedy: "leave one of them at \"auto\"".into(),
        });
    }
    if !fat_tree && topology.kind != TopologyKind::LeafSpine {
        found.push(Conflict {
            keys: &["topology.oversubscription", "topology.kind"],
            message: "only leaf-spine networks and fat trees have an oversubscription".into(),
            remedy: "give other networks the rate of their middle links with bottleneck.rate"
                .into(),
        });
    }
}

fn packets(keys: &Keys, found: &mut Vec<Conflict>) {
    if keys.packet_bytes() > MAX_PACKET {
        found.push(Conflict {
            keys: &["tcp.mss", "net.header_bytes"],
            message: format!(
                "tcp.mss and net.header_bytes make a packet of {} bytes",
                keys.packet_bytes()
            ),
            remedy: format!("an IP packet has at most {MAX_PACKET} bytes: lower tcp.mss"),
        });
    }
}

fn queues(keys: &Keys, found: &mut Vec<Conflict>) {
    let switch = &keys.switch;
    if switch.unit == QueueUnit::Packets {
        for (key, size) in [
            (&["switch.buffer", "switch.unit"], switch.buffer.0),
            (
                &["switch.ecn_threshold", "switch.unit"],
                switch.ecn_threshold.0,
            ),
        ] {
            if size.is_some_and(|size| size.unit == SizeUnit::Byte) {
                found.push(Conflict {
                    keys: key,
                    message: format!("{} is in bytes, but the queue counts packets", key[0]),
                    remedy: "give it in pkt, or set switch.unit = \"bytes\"".into(),
                });
            }
        }
    }
    if switch.emulated_load.0 >= 1.0 || (switch.emulated_load.0 > 0.0 && switch.buffer.0.is_none())
    {
        found.push(Conflict {
            keys: &["switch.emulated_load", "switch.buffer"],
            message: "the emulated load takes the whole buffer, or a share of one without bound"
                .into(),
            remedy: "give a load below 1 and a finite switch.buffer".into(),
        });
    }
    if keys.host.queue == HostQueue::Switch && keys.host.buffer.0.is_some() {
        found.push(Conflict {
            keys: &["host.queue", "host.buffer"],
            message: "hosts that queue as switches have no buffer of their own".into(),
            remedy: "leave host.buffer out, or set host.queue = \"own\"".into(),
        });
    }
    let packet = keys.packet_bytes();
    for (key, buffer) in [
        (&["switch.buffer"], switch.buffer),
        (&["host.buffer"], keys.host.buffer),
    ] {
        if let OrUnlimited(Some(size)) = buffer
            && size.in_bytes(packet) < packet
        {
            found.push(Conflict {
                keys: key,
                message: format!("{} has no room for a single full packet", key[0]),
                remedy: format!("a full packet has {packet} bytes: give at least \"1pkt\""),
            });
        }
    }
    if let (OrUnlimited(Some(buffer)), OrOff(Some(threshold))) =
        (switch.buffer, switch.ecn_threshold)
        && threshold.in_bytes(packet) > buffer.in_bytes(packet)
    {
        found.push(Conflict {
            keys: &["switch.ecn_threshold", "switch.buffer"],
            message: format!(
                "the marking threshold lies above the buffer: {} > {}",
                in_words(threshold, packet),
                in_words(buffer, packet)
            ),
            remedy: "such a queue drops before it marks: lower switch.ecn_threshold, raise \
                     switch.buffer, or set switch.ecn_threshold = \"off\""
                .into(),
        });
    }
}

fn marks(keys: &Keys, marking: Option<&str>, found: &mut Vec<Conflict>) {
    if keys.switch.ecn_threshold.0.is_some() {
        return;
    }
    let (keys, user): (&[_], _) = match marking {
        Some(scheme) => (&["switch.ecn_threshold"], format!("scheme {scheme}")),
        None if keys.tcp.ecn => (
            &["switch.ecn_threshold", "tcp.ecn"],
            "tcp.ecn = true".into(),
        ),
        None => return,
    };
    found.push(Conflict {
        keys,
        message: format!("{user} reacts to marks, but the queues never mark"),
        remedy: format!("set switch.ecn_threshold, as in \"40pkt\", or leave {user} out"),
    });
}

fn timers(keys: &Keys, found: &mut Vec<Conflict>) {
    let tcp = &keys.tcp;
    for (key, span) in [
        (&["tcp.min_rto"], tcp.min_rto),
        (&["tcp.initial_rto"], tcp.initial_rto),
        (&["tcp.syn_rto"], tcp.syn_rto),
        (&["tcp.delayed_ack_timeout"], tcp.delayed_ack_timeout),
    ] {
        if span == Span::ZERO {
            found.push(Conflict {
                keys: key,
                message: format!("{} is zero, so its timer would fire forever", key[0]),
                remedy: "give a time above 0, as in \"10ms\"".into(),
            });
        }
    }
    if tcp.timer == TimerKind::Wheel && tcp.clock_granularity == Span::ZERO {
        found.push(Conflict {
            keys: &["tcp.timer", "tcp.clock_granularity"],
            message: "tcp.timer is a wheel that does not turn".into(),
            remedy: "its ticks are tcp.clock_granularity: give some, as in \"1ms\"".into(),
        });
    }
    for (key, span) in [
        (&["tcp.min_rto", "tcp.max_rto"], tcp.min_rto),
        (&["tcp.initial_rto", "tcp.max_rto"], tcp.initial_rto),
    ] {
        if span > tcp.max_rto {
            found.push(Conflict {
                keys: key,
                message: format!("{} = {span} exceeds tcp.max_rto = {}", key[0], tcp.max_rto),
                remedy: format!("lower {} or raise tcp.max_rto", key[0]),
            });
        }
    }
}

/// Mechanisms that are fed by SACK.
fn reports(keys: &Keys, found: &mut Vec<Conflict>) {
    let tcp = &keys.tcp;
    if tcp.sack {
        return;
    }
    let by_time = tcp.loss_detection != LossDetection::DupAcks;
    let probes = tcp.tail_loss_probe != TailLossProbe::Off;
    let by_delivery = tcp.window_growth == WindowGrowth::Delivery;
    let needs: [(&[&str], bool); 9] = [
        (&["tcp.loss_detection", "tcp.sack"], by_time),
        (&["tcp.tail_loss_probe", "tcp.sack"], probes),
        (&["tcp.recovery", "tcp.sack"], tcp.recovery == Recovery::Prr),
        (&["tcp.keep_scoreboard", "tcp.sack"], tcp.keep_scoreboard),
        (&["tcp.frto", "tcp.sack"], tcp.frto),
        (&["tcp.undo", "tcp.sack"], tcp.undo),
        (&["tcp.dsack", "tcp.sack"], tcp.dsack),
        (&["tcp.sack_delay", "tcp.sack"], tcp.sack_delay > Span::ZERO),
        (&["tcp.window_growth", "tcp.sack"], by_delivery),
    ];
    for (keys, _) in needs.into_iter().filter(|(_, needed)| *needed) {
        found.push(Conflict {
            keys,
            message: format!(
                "{} works with what SACK reports, and tcp.sack = false",
                keys[0]
            ),
            remedy: format!("set tcp.sack = true, or leave {} at its default", keys[0]),
        });
    }
}

fn windows(keys: &Keys, found: &mut Vec<Conflict>) {
    let mss = u64::from(keys.tcp.mss.0);
    let buffer = keys.tcp.receive_buffer.in_bytes(mss);
    if buffer < mss {
        found.push(Conflict {
            keys: &["tcp.receive_buffer", "tcp.mss"],
            message: "tcp.receive_buffer has no room for a single segment".into(),
            remedy: format!("a segment has tcp.mss = {mss} bytes: give at least as much"),
        });
    }
    if let WindowScale::Shift(shift) = keys.tcp.window_scale
        && buffer >> shift == 0
    {
        let unit = 1_u32 << shift;
        found.push(Conflict {
            keys: &["tcp.window_scale", "tcp.receive_buffer"],
            message: format!(
                "tcp.window_scale = {shift} advertises windows in units of {unit} bytes, more than \
                 tcp.receive_buffer = {}",
                keys.tcp.receive_buffer
            ),
            remedy: "its window would always be closed: lower tcp.window_scale, or set it to \
                     \"auto\""
                .into(),
        });
    }
    if buffer > MAX_WINDOW {
        found.push(Conflict {
            keys: &["tcp.receive_buffer"],
            message: "tcp.receive_buffer exceeds the largest window TCP can advertise".into(),
            remedy: "give at most \"1GiB\" (RFC 7323, section 2.3)".into(),
        });
    }
    if keys
        .tcp
        .initial_ssthresh
        .0
        .is_some_and(|size| size.amount == 0)
    {
        found.push(Conflict {
            keys: &["tcp.initial_ssthresh"],
            message: "tcp.initial_ssthresh is zero".into(),
            remedy: "give at least \"1pkt\", or \"unlimited\"".into(),
        });
    }
}

/// A size as the user wrote it, and in bytes where that says more.
fn in_words(size: WireSize, packet_bytes: u64) -> String {
    match size.unit {
        SizeUnit::Byte => size.to_string(),
        SizeUnit::Packet => format!("{size} ({} bytes)", size.in_bytes(packet_bytes)),
    }
}

/// The total length field of an IPv4 header has 16 bits (RFC 791 §3.1).
const MAX_PACKET: u64 = 65_535;
/// RFC 7323 §2.3: windows stay below 2^30.
const MAX_WINDOW: u64 = 1 << 30;
