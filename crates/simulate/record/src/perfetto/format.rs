//! The part of Perfetto's trace format that a simulation uses (`protos/perfetto/trace`, files `trace_packet.proto`,
//! `track_event/*.proto`).
//!
//! The messages are declared here by hand for `prost`, so that no compiler of schemas is needed.

use prost::Message;

/// A whole file, or a piece of one: files in this format may be concatenated.
#[derive(Clone, PartialEq, Message)]
pub struct PerfettoTrace {
    /// Everything, in any order.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// An event or the description of a track.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds of simulated time.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who wrote it.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// 1 in the first packet: it refers to no earlier packet.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// Something happened.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// A track begins.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// A row of the viewer.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number in the file.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name in the viewer.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The track above it in the display.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// Set if it counts.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// The order of its children: 3 sorts them by their rank.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its rank among its siblings.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// The quantity of a counter.
#[derive(Clone, PartialEq, Message)]
pub struct CounterDescriptor {
    /// 3: bytes.
    #[prost(int32, optional, tag = "3")]
    pub unit: Option<i32>,
}

/// An event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// A [`TrackEventType`].
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// Its name in the viewer.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The new value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Arrows that begin here.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
    /// Named values.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
}

/// A named value.
#[derive(Clone, PartialEq, Message)]
pub struct DebugAnnotation {
    /// Its name.
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    /// Its value.
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// Its value, if it is a text.
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
}

/// Kinds of [`TrackEvent`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrackEventType {
    /// Something begins.
    Begin = 1,
    /// Ends the slice that began last on the track.
    End = 2,
    /// An event without duration.
    Instant = 3,
    /// A counter has a new value.
    Counter = 4,
}
