//! Contradictions between settings that are valid on their own.

mod pfc;
mod pool;
mod workload;

use base::{OrAuto, OrOff, OrUnlimited, SizeUnit, Span, WireSize};

use super::{
    ExceptionPlace, GraphPart, HostQueue, Keys, LossDetection, QueueUnit, TailLossProbe, TimerKind,
    TopologyKind, WindowScale,
};

/// A contradiction between settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The keys whose values contradict each other. The first is the one to change.
    pub keys: &'static [&'static str],
    /// The error, as one sentence without a full stop.
    pub message: String,
    /// The remedy.
    pub remedy: String,
    /// The link or host with the conflict, named as in `topology.exceptions`.
    pub exception: Option<String>,
}

impl Conflict {
    pub(crate) fn new(
        keys: &'static [&'static str],
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (message, remedy) = (message.into(), remedy.into());
        Self {
            keys,
            message,
            remedy,
            exception: None,
        }
    }

    /// The same conflict, for a link or host with settings of its own.
    pub(crate) fn of_exception(
        place: &ExceptionPlace,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            exception: Some(place.words()),
            ..Self::new(&["topology.exceptions"], message, remedy)
        }
    }
}

/// Every conflict between `keys`; see [`Keys::conflicts`].
pub(super) fn all(keys: &Keys, marking: Option<&str>) -> Vec<Conflict> {
    let mut found = Vec::new();
    topology(keys, &mut found);
    packets(keys, &mut found);
    queues(keys, &mut found);
    ramp(keys, &mut found);
    for (keys, message, remedy) in pool::conflicts(keys)
        .into_iter()
        .chain(pfc::conflicts(keys))
    {
        found.push(Conflict::new(keys, message, remedy));
    }
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
        found.push(Conflict::new(
            &["trace.window"],
            "trace.window must be above 0",
            "throughput is averaged over this time: set it, as in \"1ms\"",
        ));
    }
}

fn topology(keys: &Keys, found: &mut Vec<Conflict>) {
    let topology = &keys.topology;
    let fat_tree = topology.kind == TopologyKind::FatTree;
    let pods = topology.pods.0;
    if fat_tree && !pods.is_multiple_of(2) {
        found.push(Conflict::new(
            &["topology.pods", "topology.kind"],
            format!("a fat tree has an even number of pods, not {pods}"),
            "half the ports of a switch lead up and half down: give an even topology.pods",
        ));
    }
    if let (true, OrAuto(Some(hosts))) = (fat_tree, topology.hosts)
        && hosts.0 != pods / 2
    {
        found.push(Conflict::new(
            &["topology.hosts", "topology.pods"],
            format!(
                "a fat tree of {pods} pods has {} hosts at every edge switch",
                pods / 2
            ),
            "leave topology.hosts at \"auto\" and set topology.pods",
        ));
    }
    if topology.kind == TopologyKind::Graph {
        graph(keys, found);
    }
    if topology.oversubscription.0.is_none() {
        return;
    }
    if keys.bottleneck.rate.0.is_some() {
        found.push(Conflict::new(
            &["topology.oversubscription", "bottleneck.rate"],
            "topology.oversubscription and bottleneck.rate both give the uplinks a rate",
            "leave one of them at \"auto\"",
        ));
    }
    if !fat_tree && topology.kind != TopologyKind::LeafSpine {
        found.push(Conflict::new(
            &["topology.oversubscription", "topology.kind"],
            "only leaf-spine networks and fat trees have an oversubscription",
            "give other networks the rate of their middle links with bottleneck.rate",
        ));
    }
}

fn graph(keys: &Keys, found: &mut Vec<Conflict>) {
    let topology = &keys.topology;
    if let (GraphPart::Whole, Some(apart)) = (topology.part, topology.graph.0.apart()) {
        let [all, part] = [&topology.graph.0, &apart.largest].map(|graph| graph.nodes().len());
        found.push(Conflict::new(
            &["topology.graph", "topology.part"],
            format!("topology.graph, {}", apart.message),
            format!(
                "every host reaches every other: add a link, or set topology.part = \"largest\", which keeps the largest \
                 part, {part} of {all} nodes"
            ),
        ));
        return;
    }
    let network = topology.network();
    if topology.missing_delay.0.is_none()
        && let Some(link) = network.unplaced(keys).next()
    {
        found.push(Conflict::new(
            &["topology.graph", "topology.missing_delay"],
            format!(
                "the link {} has neither a delay nor a length, and its ends have no coordinates to compute one",
                network.in_words(link)
            ),
            "set topology.missing_delay for such links, as in \"1ms\", or bottleneck.delay for all, or give the file \
             delays, lengths or coordinates",
        ));
    }
}

fn packets(keys: &Keys, found: &mut Vec<Conflict>) {
    if keys.packet_bytes() > MAX_PACKET {
        found.push(Conflict::new(
            &["tcp.mss", "net.header_bytes"],
            format!(
                "tcp.mss and net.header_bytes make a packet of {} bytes",
                keys.packet_bytes()
            ),
            format!("an IP packet has at most {MAX_PACKET} bytes: lower tcp.mss"),
        ));
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
            (&["switch.ecn_max", "switch.unit"], switch.ecn_max.0),
        ] {
            if size.is_some_and(|size| size.unit == SizeUnit::Byte) {
                found.push(Conflict::new(
                    key,
                    format!("{} is in bytes, but the queue counts packets", key[0]),
                    "give it in pkt, or set switch.unit = \"bytes\"",
                ));
            }
        }
    }
    if switch.emulated_load.0 >= 1.0 || (switch.emulated_load.0 > 0.0 && switch.buffer.0.is_none())
    {
        found.push(Conflict::new(
            &["switch.emulated_load", "switch.buffer"],
            "the emulated load takes the whole buffer, or switch.buffer is unlimited",
            "give a load below 1 and a finite switch.buffer",
        ));
    }
    buckets(keys, found);
    if keys.host.queue == HostQueue::Switch && keys.host.buffer.0.is_some() {
        found.push(Conflict::new(
            &["host.queue", "host.buffer"],
            "host.buffer has no effect with host.queue = \"switch\"",
            "leave host.buffer out, or set host.queue = \"own\"",
        ));
    }
    let packet = keys.packet_bytes();
    for (key, buffer) in [
        (&["switch.buffer"], switch.buffer),
        (&["host.buffer"], keys.host.buffer),
    ] {
        if let OrUnlimited(Some(size)) = buffer
            && size.in_bytes(packet) < packet
        {
            found.push(Conflict::new(
                key,
                format!("{} has no room for a single full packet", key[0]),
                format!("a full packet has {packet} bytes: give at least \"1pkt\""),
            ));
        }
    }
    if let (OrUnlimited(Some(buffer)), OrOff(Some(threshold))) =
        (switch.buffer, switch.ecn_threshold)
        && threshold.in_bytes(packet) > buffer.in_bytes(packet)
    {
        found.push(Conflict::new(
            &["switch.ecn_threshold", "switch.buffer"],
            format!(
                "the marking threshold lies above the buffer: {} > {}",
                in_words(threshold, packet),
                in_words(buffer, packet)
            ),
            "such a queue drops before it marks: lower switch.ecn_threshold, raise \
                     switch.buffer, or set switch.ecn_threshold = \"off\"",
        ));
    }
}

/// Token buckets without room for a packet, and late timers without a bucket.
fn buckets(keys: &Keys, found: &mut Vec<Conflict>) {
    let (switch, host) = (&keys.switch, &keys.host);
    let buckets: [(&'static [&'static str; 2], _, _); 2] = [
        (
            &["switch.burst", "switch.burst_lateness"],
            switch.burst,
            switch.burst_lateness,
        ),
        (
            &["host.burst", "host.burst_lateness"],
            host.burst,
            host.burst_lateness,
        ),
    ];
    for (names, burst, lateness) in buckets {
        let [name, late] = *names;
        match burst.0 {
            Some(depth) if depth.in_bytes(keys.packet_bytes()) < keys.packet_bytes() => {
                let why = format!(
                    "no full packet fits into the token bucket of {name}, so no packet would ever leave"
                );
                let remedy = "give \"1pkt\" or more, or \"off\"";
                found.push(Conflict::new(&names[..1], why, remedy));
            }
            None if lateness > Span::ZERO => {
                let why = format!("{late} has no effect without a token bucket ({name})");
                let remedy = format!("leave {late} out, or give {name}");
                found.push(Conflict::new(&names[..], why, remedy));
            }
            _ => {}
        }
    }
}

/// Conflicts of marks whose probability grows between two queue lengths.
fn ramp(keys: &Keys, found: &mut Vec<Conflict>) {
    let switch = &keys.switch;
    if let OrOff(Some(max)) = switch.ecn_max {
        let above = |min: WireSize| {
            let packet = keys.packet_bytes();
            max.in_bytes(packet) <= min.in_bytes(packet)
        };
        if switch.ecn_threshold.0.is_none_or(above) {
            found.push(Conflict::new(
                &["switch.ecn_max", "switch.ecn_threshold"],
                "switch.ecn_max must lie above switch.ecn_threshold",
                "raise switch.ecn_max, lower switch.ecn_threshold, or set switch.ecn_max = \"off\"",
            ));
        }
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
    found.push(Conflict::new(
        keys,
        format!("{user} reacts to marks, but the queues never mark"),
        format!("set switch.ecn_threshold, as in \"40pkt\", or leave {user} out"),
    ));
}

fn timers(keys: &Keys, found: &mut Vec<Conflict>) {
    let tcp = &keys.tcp;
    // If it follows tcp.min_rto, it is as valid as tcp.min_rto.
    let receiver_min_rto = tcp.receiver_min_rto.0.unwrap_or(MIN_RTO);
    for (key, span) in [
        (&["tcp.min_rto"], tcp.min_rto),
        (&["tcp.receiver_min_rto"], receiver_min_rto),
        (&["tcp.initial_rto"], tcp.initial_rto),
        (&["tcp.syn_rto"], tcp.syn_rto),
        (&["tcp.delayed_ack_timeout"], tcp.delayed_ack_timeout),
    ] {
        if span == Span::ZERO {
            found.push(Conflict::new(
                key,
                format!("{} is zero, so its timer would fire forever", key[0]),
                "give a time above 0, as in \"10ms\"",
            ));
        }
    }
    if tcp.timer == TimerKind::Wheel && tcp.clock_granularity == Span::ZERO {
        found.push(Conflict::new(
            &["tcp.timer", "tcp.clock_granularity"],
            "tcp.timer = \"wheel\" needs ticks",
            "set their length with tcp.clock_granularity, as in \"1ms\"",
        ));
    }
    for (key, span) in [
        (&["tcp.min_rto", "tcp.max_rto"], tcp.min_rto),
        (&["tcp.receiver_min_rto", "tcp.max_rto"], receiver_min_rto),
        (&["tcp.initial_rto", "tcp.max_rto"], tcp.initial_rto),
    ] {
        if span > tcp.max_rto {
            found.push(Conflict::new(
                key,
                format!("{} = {span} exceeds tcp.max_rto = {}", key[0], tcp.max_rto),
                format!("lower {} or raise tcp.max_rto", key[0]),
            ));
        }
    }
}

/// Conflicts of mechanisms that need SACK.
fn reports(keys: &Keys, found: &mut Vec<Conflict>) {
    let tcp = &keys.tcp;
    if tcp.sack {
        return;
    }
    let by_time = tcp.loss_detection != LossDetection::DupAcks;
    let probes = tcp.tail_loss_probe != TailLossProbe::Off;
    let needs: [(&[&str], bool); 5] = [
        (&["tcp.loss_detection", "tcp.sack"], by_time),
        (&["tcp.tail_loss_probe", "tcp.sack"], probes),
        (&["tcp.keep_scoreboard", "tcp.sack"], tcp.keep_scoreboard),
        (&["tcp.dsack", "tcp.sack"], tcp.dsack),
        (&["tcp.sack_delay", "tcp.sack"], tcp.sack_delay > Span::ZERO),
    ];
    for (keys, _) in needs.into_iter().filter(|(_, needed)| *needed) {
        found.push(Conflict::new(
            keys,
            format!(
                "{} works with what SACK reports, and tcp.sack = false",
                keys[0]
            ),
            format!("set tcp.sack = true, or leave {} out", keys[0]),
        ));
    }
}

fn windows(keys: &Keys, found: &mut Vec<Conflict>) {
    let mss = u64::from(keys.tcp.mss.0);
    let buffer = keys.tcp.receive_buffer.in_bytes(mss);
    if buffer < mss {
        found.push(Conflict::new(
            &["tcp.receive_buffer", "tcp.mss"],
            "tcp.receive_buffer has no room for a single segment",
            format!("a segment has tcp.mss = {mss} bytes: give at least as much"),
        ));
    }
    if let WindowScale::Shift(shift) = keys.tcp.window_scale
        && buffer >> shift == 0
    {
        let unit = 1_u32 << shift;
        found.push(Conflict::new(
            &["tcp.window_scale", "tcp.receive_buffer"],
            format!(
                "tcp.window_scale = {shift} advertises windows in units of {unit} bytes, more than \
                 tcp.receive_buffer = {}",
                keys.tcp.receive_buffer
            ),
            "its window would always be closed: lower tcp.window_scale, or set it to \
                     \"auto\"",
        ));
    }
    if buffer > MAX_WINDOW {
        found.push(Conflict::new(
            &["tcp.receive_buffer"],
            "tcp.receive_buffer exceeds the largest window TCP can advertise",
            "give at most \"1GiB\" (RFC 7323, section 2.3)",
        ));
    }
    if keys
        .tcp
        .initial_ssthresh
        .0
        .is_some_and(|size| size.amount == 0)
    {
        found.push(Conflict::new(
            &["tcp.initial_ssthresh"],
            "tcp.initial_ssthresh is zero",
            "give at least \"1pkt\", or \"unlimited\"",
        ));
    }
}

/// A size as the user wrote it, with the bytes if the text does not show them.
fn in_words(size: WireSize, packet_bytes: u64) -> String {
    match size.unit {
        SizeUnit::Byte => size.to_string(),
        SizeUnit::Packet => format!("{size} ({} bytes)", size.in_bytes(packet_bytes)),
    }
}

/// A minimum that conflicts with no other timer.
const MIN_RTO: Span = Span::from_ps(1);
/// The total length field of an IPv4 header has 16 bits (RFC 791 §3.1).
const MAX_PACKET: u64 = 65_535;
/// RFC 7323 §2.3: windows stay below 2^30.
const MAX_WINDOW: u64 = 1 << 30;
