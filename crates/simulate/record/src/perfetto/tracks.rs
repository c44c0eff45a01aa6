//! The tracks of a trace. Each is described before its first event.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use base::{FlowId, Packet, Time};
use fabric::{DropReason, PortId};
use prost::Message as _;

use super::format::{
    CounterDescriptor, DebugAnnotation, PerfettoTrace, TracePacket, TrackDescriptor, TrackEvent,
    TrackEventType,
};

/// Writes tracks and the events on them.
pub(super) struct Tracks {
    out: BufWriter<File>,
    buffer: Vec<u8>,
    failure: Option<io::Error>,
    /// Names of ports and flows.
    ports: Vec<String>,
    flows: Vec<String>,
    /// Numbers of the tracks described so far.
    known: BTreeMap<Track, u64>,
}

/// A row of the viewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Track {
    Ports,
    Flows,
    Port(u32),
    Queue(u32),
    Flow(u32),
    /// A part of a flow, by its name.
    Of(u32, &'static str),
    /// A counter of a flow, by its name.
    Window(u32, &'static str),
}

/// An event of a packet at a port.
#[derive(Clone, Copy)]
pub(super) enum Instant {
    Mark,
    /// With the arrow to its retransmission, if it can have one.
    Drop(Option<u64>, DropReason),
}

/// The limits of a sender and its use of them, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SenderWindows {
    pub(super) cwnd: Option<u64>,
    pub(super) granted: Option<u64>,
    pub(super) in_flight: Option<u64>,
}

impl Tracks {
    pub(super) fn new(file: File, ports: Vec<String>, flows: Vec<String>) -> Self {
        Self {
            out: BufWriter::new(file),
            buffer: Vec::new(),
            failure: None,
            ports,
            flows,
            known: BTreeMap::new(),
        }
    }

    pub(super) const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.out.flush(),
        }
    }

    /// `waiting` bytes wait at a port from now on.
    pub(super) fn queue(&mut self, port: PortId, waiting: u64, at: Time) {
        self.counter(Track::Queue(port.0), waiting, at);
    }

    /// Records those windows of a flow that have changed.
    pub(super) fn windows(
        &mut self,
        flow: FlowId,
        before: SenderWindows,
        after: SenderWindows,
        now: Time,
    ) {
        for (name, before, after) in [
            ("congestion window", before.cwnd, after.cwnd),
            ("advertised window", before.granted, after.granted),
            ("in flight", before.in_flight, after.in_flight),
        ] {
            if let Some(value) = after.filter(|_| before != after) {
                self.counter(Track::Window(flow.0, name), value, now);
            }
        }
    }

    /// Records an event of a packet at a port.
    pub(super) fn at_port(&mut self, port: PortId, instant: Instant, packet: &Packet, now: Time) {
        let (name, arrow, cause) = match instant {
            Instant::Mark => ("mark", None, None),
            Instant::Drop(arrow, reason) => ("drop", arrow, Some(reason.name())),
        };
        let value = |name: &str, value: u32| DebugAnnotation {
            name: Some(name.to_owned()),
            uint_value: Some(value.into()),
            string_value: None,
        };
        let cause = cause.map(|cause| DebugAnnotation {
            name: Some("cause".to_owned()),
            uint_value: None,
            string_value: Some(cause.to_owned()),
        });
        let event = TrackEvent {
            name: Some(name.to_owned()),
            flow_ids: arrow.into_iter().collect(),
            debug_annotations: [
                value("flow", packet.flow.0),
                value("seq", packet.seq.0),
                value("payload", packet.payload.into()),
            ]
            .into_iter()
            .chain(cause)
            .collect(),
            ..TrackEvent::default()
        };
        self.event(Track::Port(port.0), TrackEventType::Instant, event, now);
    }

    /// Records an event of a flow, to which an arrow may lead.
    pub(super) fn of_flow(&mut self, flow: FlowId, name: &str, arrow: Option<u64>, now: Time) {
        let event = TrackEvent {
            name: Some(name.to_owned()),
            terminating_flow_ids: arrow.into_iter().collect(),
            ..TrackEvent::default()
        };
        self.event(Track::Flow(flow.0), TrackEventType::Instant, event, now);
    }

    /// A part of a flow begins. Each part has its own track, because a recovery may end after the transfer in which it
    /// began.
    pub(super) fn begin(&mut self, flow: FlowId, name: &'static str, now: Time) {
        let event = TrackEvent {
            name: Some(name.to_owned()),
            ..TrackEvent::default()
        };
        self.event(Track::Of(flow.0, name), TrackEventType::Begin, event, now);
    }

    /// It ends.
    pub(super) fn end(&mut self, flow: FlowId, name: &'static str, now: Time) {
        let track = Track::Of(flow.0, name);
        self.event(track, TrackEventType::End, TrackEvent::default(), now);
    }

    fn counter(&mut self, track: Track, value: u64, at: Time) {
        let event = TrackEvent {
            counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        self.event(track, TrackEventType::Counter, event, at);
    }

    fn event(&mut self, track: Track, kind: TrackEventType, event: TrackEvent, at: Time) {
        let event = TrackEvent {
            kind: Some(kind as i32),
            track_uuid: Some(self.number(track)),
            ..event
        };
        self.write(TracePacket {
            timestamp: Some(at.as_ps() / 1000),
            track_event: Some(event),
            ..TracePacket::default()
        });
    }

    /// The number of a track. A new track is described now.
    fn number(&mut self, track: Track) -> u64 {
        if let Some(number) = self.known.get(&track) {
            return *number;
        }
        let parent = match track {
            Track::Ports | Track::Flows => None,
            Track::Port(_) => Some(Track::Ports),
            Track::Flow(_) => Some(Track::Flows),
            Track::Queue(port) => Some(Track::Port(port)),
            Track::Of(flow, _) | Track::Window(flow, _) => Some(Track::Flow(flow)),
        };
        let parent_uuid = parent.map(|parent| self.number(parent));
        let name = match track {
            Track::Ports => "Ports".to_owned(),
            Track::Flows => "Flows".to_owned(),
            Track::Port(port) => format!("port {port}: {}", self.ports[port as usize]),
            Track::Flow(flow) => self.flows[flow as usize].clone(),
            Track::Queue(_) => "queue".to_owned(),
            Track::Of(_, name) | Track::Window(_, name) => name.to_owned(),
        };
        let counts = matches!(track, Track::Queue(_) | Track::Window(..));
        let rank = match track {
            Track::Ports => Some(0),
            Track::Flows => Some(1),
            Track::Port(number) | Track::Flow(number) => i32::try_from(number).ok(),
            _ => None,
        };
        let number = self.known.len() as u64 + 1;
        self.known.insert(track, number);
        self.write(TracePacket {
            // The first packet declares that it refers to no earlier packet.
            sequence_flags: (number == 1).then_some(1),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(number),
                name: Some(name),
                parent_uuid,
                counter: counts.then_some(CounterDescriptor { unit: Some(BYTES) }),
                child_ordering: rank.map(|_| BY_RANK),
                sibling_order_rank: rank,
            }),
            ..TracePacket::default()
        });
        number
    }

    fn write(&mut self, packet: TracePacket) {
        if self.failure.is_some() {
            return;
        }
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(1),
            ..packet
        };
        self.buffer.clear();
        let piece = PerfettoTrace {
            packet: vec![packet],
        };
        let encoded = piece.encode(&mut self.buffer).map_err(io::Error::other);
        let written = encoded.and_then(|()| self.out.write_all(&self.buffer));
        self.failure = written.err();
    }
}

/// A unit of counters.
const BYTES: i32 = 3;
/// An order of tracks.
const BY_RANK: i32 = 3;
