//! Rows of series, and the sinks that take them.

use std::io;

use engine::random;
use fabric::DropReason;
use tables::ColumnFile;

/// Rows of a full row group.
pub(super) const GROUP: usize = ColumnFile::GROUP;

/// The sink of row groups. A file is behind a pointer, so that a program with its series in memory does not contain the
/// code that writes files.
pub(super) trait Sink: Send {
    /// Takes the samples of `blocks` and `events`, at most [`GROUP`] together.
    fn write(&mut self, blocks: &[Block], events: &[Event]) -> io::Result<()>;

    /// Nothing more comes.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// One sample of one quantity. `id` is the number of a port, flow or host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Picoseconds.
    pub(super) time: u64,
    pub(super) id: u32,
    pub(super) value: f64,
}

/// The kinds of things to which samples belong; each has its column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    Port,
    Flow,
    Host,
}

/// Samples of one quantity.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Index among the quantities of the file.
    pub(super) quantity: usize,
    pub(super) subject: Subject,
    pub(super) samples: Vec<Sample>,
}

/// An event of a flow, perhaps at a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Picoseconds.
    pub(super) time: u64,
    pub(super) kind: EventKind,
    pub(super) flow: u32,
    pub(super) port: Option<u32>,
    /// Why a packet was dropped.
    pub(super) cause: Option<DropReason>,
}

/// The kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A port has dropped a packet.
    Drop,
    /// A port has marked a packet.
    Mark,
    /// A retransmission timer has expired.
    Timeout,
    /// A timer of the handshake has expired.
    SynTimeout,
    /// Duplicate ACKs have indicated a loss.
    FastRetransmit,
    /// A flow has started.
    Start,
    /// A flow has completed.
    Completion,
}

impl Event {
    /// By which events are sorted.
    pub(super) const fn order(&self) -> (u64, usize, u32, Option<u32>) {
        (self.time, self.kind as usize, self.flow, self.port)
    }

    /// A number that looks random and is the same for equal events.
    pub(super) fn number(&self) -> u64 {
        let place = u64::from(self.flow) << 32 | u64::from(self.port.unwrap_or(u32::MAX));
        random::mix(random::mix(place).wrapping_add(self.time))
    }
}

impl EventKind {
    /// The names of the kinds in the column `event`, in the order of declaration.
    pub const NAMES: [&'static str; 7] = [
        "drop",
        "mark",
        "timeout",
        "syn_timeout",
        "fast_retransmit",
        "start",
        "completion",
    ];
    pub(super) const COUNT: usize = Self::NAMES.len();
}
