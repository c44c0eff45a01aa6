//! Settings that are correct one by one and wrong together.

use base::{OrAuto, OrOff, OrUnlimited, SizeUnit, Span, WireSize};

use super::{ConnectionKind, HostQueue, Keys, QueueUnit, TopologyKind, WindowScale, WorkloadKind};
use crate::workload::{SizeLaw, expected_flows};

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
    windows(keys, &mut found);
    workload(keys, &mut found);
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

fn workload(keys: &Keys, found: &mut Vec<Conflict>) {
    let (workload, duration) = (&keys.workload, keys.run.duration.0);
    // What follows from a load is not known here, and may end late.
    let delay = workload.delay.0.map_or(Span::ZERO, |law| law.most());
    let last_epoch = workload.epoch_interval * u64::from(workload.epochs.0 - 1);
    let last_start = workload.start
        + match workload.kind {
            WorkloadKind::Poisson => workload.flows.0.map_or(workload.duration, |_| Span::ZERO),
            WorkloadKind::Burst => workload.jitter + delay + last_epoch,
            WorkloadKind::Incast | WorkloadKind::Pairs | WorkloadKind::Requests => {
                let last = match workload.kind {
                    WorkloadKind::Requests => workload.connections,
                    _ => workload.senders,
                };
                let last = u64::from(last.0 - 1);
                workload.jitter + delay + workload.interval * last + last_epoch
            }
        };
    if duration.is_some_and(|end| end <= last_start) {
        found.push(Conflict {
            keys: &["run.duration", "workload.start"],
            message: "the simulation ends before the last flow starts".into(),
            remedy: format!(
                "flows start until {last_start}: set run.duration above, or let them start sooner"
            ),
        });
    }
    let poisson = workload.kind == WorkloadKind::Poisson;
    let loaded = poisson || (workload.kind == WorkloadKind::Burst && workload.delay.0.is_none());
    let endless = workload.flows.0.is_some() || workload.duration > Span::ZERO;
    if loaded && (workload.load.0 <= 0.0 || (poisson && !endless)) {
        found.push(Conflict {
            keys: &["workload.load", "workload.duration"],
            message: "no flow ever arrives".into(),
            remedy: "give workload.load and workload.duration values above 0".into(),
        });
    }
    if poisson && workload.load.0 > 0.0 && endless && expected_flows(keys) < NO_FLOW {
        found.push(Conflict {
            keys: &["workload.load", "workload.duration"],
            message: format!(
                "no flow ever arrives: {:e} are expected",
                expected_flows(keys)
            ),
            remedy: "raise workload.load or workload.duration, or set workload.flows".into(),
        });
    }
    epochs(keys, found);
    connections(keys, found);
    stops(keys, found);
    writes(keys, found);
    if workload.rounds.0 > 1 && workload.kind != WorkloadKind::Incast {
        found.push(Conflict {
            keys: &["workload.rounds", "workload.kind"],
            message: "only an incast is repeated in rounds".into(),
            remedy: "set workload.kind = \"incast\" or leave workload.rounds out".into(),
        });
    }
    sizes(keys, found);
}

fn epochs(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    if workload.epochs.0 == 1 {
        return;
    }
    if workload.kind == WorkloadKind::Poisson {
        found.push(Conflict {
            keys: &["workload.epochs", "workload.kind"],
            message: "random arrivals have no epochs".into(),
            remedy: "leave workload.epochs out, or set another workload.kind".into(),
        });
    }
    if workload.epoch_interval == Span::ZERO {
        found.push(Conflict {
            keys: &["workload.epochs", "workload.epoch_interval"],
            message: "all epochs would start at the same time".into(),
            remedy: "give workload.epoch_interval, as in \"180ms\"".into(),
        });
    }
    if workload.size.is_unlimited() {
        found.push(Conflict {
            keys: &["workload.epochs", "workload.size"],
            message: "flows without end that start again and again never leave".into(),
            remedy: "set a finite workload.size, or leave workload.epochs out".into(),
        });
    }
}

fn connections(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let between = match keys.topology.kind {
        TopologyKind::Graph => keys.topology.graph.0.span(keys),
        _ => keys.bottleneck.delay.0.unwrap_or(keys.link.delay) * 4,
    };
    // Connections open in the first half; of the other half they need a round trip over the longest
    // path there is, two links of hosts and at most four between switches, if it is no graph.
    let least = (keys.link.delay * 2 + between) * 4;
    if workload.connection == ConnectionKind::Persistent && workload.start < least.max(MOMENT) {
        found.push(Conflict {
            keys: &["workload.start", "workload.connection"],
            message: "there is no time to open persistent connections before the first flow".into(),
            remedy: format!("set workload.start to {} or later", least.max(MOMENT)),
        });
    }
    if workload.kind == WorkloadKind::Requests && workload.request_size.amount == 0 {
        found.push(Conflict {
            keys: &["workload.request_size"],
            message: "a request of size 0 asks for nothing".into(),
            remedy: "give at least \"1B\"".into(),
        });
    }
}

/// Flows that stop before they start, or that end by themselves.
fn stops(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let Some(stop) = workload.stop.0 else {
        return;
    };
    if !workload.size.is_unlimited() {
        found.push(Conflict {
            keys: &["workload.stop", "workload.size"],
            message: "flows with an end are not stopped before it".into(),
            remedy: "set workload.size = \"unlimited\", or leave workload.stop out".into(),
        });
    }
    let last = u64::from(workload.senders.0 - 1);
    let starts = [workload.start, workload.start + workload.interval * last];
    let stops = [stop, stop + workload.stop_interval * last];
    if starts.iter().zip(stops).any(|(start, stop)| *start >= stop) {
        found.push(Conflict {
            keys: &["workload.stop", "workload.start"],
            message: "a flow would stop before it starts".into(),
            remedy: format!(
                "flows start from {} to {}: set workload.stop and workload.stop_interval so that each stops \
                 later",
                starts[0], starts[1]
            ),
        });
    }
}

/// Applications that write in parts and cannot.
fn writes(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let Some(first) = workload.first_write.0 else {
        return;
    };
    if workload.size.is_unlimited() {
        found.push(Conflict {
            keys: &["workload.first_write", "workload.size"],
            message: "flows without end are never written to their end".into(),
            remedy: "set a finite workload.size, or leave workload.first_write out".into(),
        });
    }
    if workload.connection == ConnectionKind::Persistent {
        found.push(Conflict {
            keys: &["workload.first_write", "workload.connection"],
            message:
                "on a connection that carries several flows the parts of one would lie among those \
                      of another"
                    .into(),
            remedy: "set workload.connection = \"new\", or leave workload.first_write out".into(),
        });
    }
    let amounts = [first.amount, workload.write.amount];
    if amounts.contains(&0) || workload.write_interval == Span::ZERO {
        found.push(Conflict {
            keys: &[
                "workload.first_write",
                "workload.write",
                "workload.write_interval",
            ],
            message: "an application would write nothing, or everything after no time".into(),
            remedy: "give each a value above 0, as in \"1.5MB\", \"64KB\" and \"100ms\"".into(),
        });
    }
}

fn sizes(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    match &workload.size {
        SizeLaw::Unlimited if keys.run.duration.0.is_none() && workload.stop.0.is_none() => found
            .push(Conflict {
                keys: &["workload.size", "run.duration"],
                message: "unlimited flows never end, and neither would the simulation".into(),
                remedy:
                    "set run.duration or workload.stop, as in \"1s\", or a finite workload.size"
                        .into(),
            }),
        SizeLaw::Unlimited
            if workload.rounds.0 > 1
                || matches!(
                    workload.kind,
                    WorkloadKind::Poisson | WorkloadKind::Requests
                ) =>
        {
            found.push(Conflict {
                keys: &["workload.size", "workload.rounds", "workload.kind"],
                message:
                    "flows that never end neither finish a round nor make a load nor an answer"
                        .into(),
                remedy: "set a finite workload.size".into(),
            });
        }
        SizeLaw::Fixed(size) if size.amount == 0 => found.push(Conflict {
            keys: &["workload.size"],
            message: "flows of size 0 have nothing to send".into(),
            remedy: "give at least \"1B\", or \"unlimited\" together with run.duration".into(),
        }),
        _ => {}
    }
    if workload.size_step.amount == 0 {
        found.push(Conflict {
            keys: &["workload.size_step"],
            message: "workload.size_step is zero".into(),
            remedy: "give at least \"1B\"".into(),
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

/// So few flows are expected at a receiver only by mistake: with a thousand receivers, one run in a
/// thousand would have one.
const NO_FLOW: f64 = 1e-6;
/// The total length field of an IPv4 header has 16 bits (RFC 791 §3.1).
const MAX_PACKET: u64 = 65_535;
/// Handshakes take time even where wires do not.
const MOMENT: Span = Span::from_millis(1);
/// RFC 7323 §2.3: windows stay below 2^30.
const MAX_WINDOW: u64 = 1 << 30;
