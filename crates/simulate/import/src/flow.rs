//! The content of an imported file: its flows and facts about it.

use crate::hosts::HostIndex;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Flow records as comma-separated values: nfdump and other collectors.
    Csv,
    /// Flow records as JSON objects: nfdump and other collectors.
    Json,
    /// Packets, as pcap or pcapng.
    Capture,
    /// A flow file of the HPCC simulator and its descendants.
    Hpcc,
    /// A connection matrix of htsim.
    Htsim,
    /// A schedule of `LogGOPSim` and ATLAHS.
    Goal,
    /// A topology of the HPCC simulator and its descendants.
    Topology,
    /// A topology of htsim.
    Topo,
    /// A distribution of sizes.
    Sizes,
    /// Execution traces of Chakra.
    Chakra,
}

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Its kind; `None`: detected from its contents.
    pub kind: Option<FileKind>,
    /// Payload of flows without an end; `None` leaves them out.
    pub endless: Option<u64>,
    /// Whether entries that a trace cannot express are left out instead of refused.
    pub lenient: bool,
    /// The files of all ranks in order, with their names, if each rank has a file; see [`ranks`](crate::ranks).
    pub ranks: Vec<(String, Vec<u8>)>,
}

/// The content of a file that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its kind.
    pub kind: FileKind,
    /// The number of records, packets or flows in the file.
    pub read: u64,
    /// The unit of `read`.
    pub what: &'static str,
    /// At least one flow, in the order of their starts.
    pub flows: Vec<ImportedFlow>,
    /// The names of hosts, to which [`HostIndex`] refers: addresses, or numbers.
    pub hosts: Vec<String>,
    /// Whether times count from 1970.
    pub dated: bool,
    /// Kinds of entries that are not flows of the trace, with their numbers.
    pub skipped: Vec<(&'static str, u64)>,
    /// Remarks on the numbers, a sentence each.
    pub notes: Vec<String>,
}

/// A flow of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFlow {
    /// The start, in picoseconds on the clock of the file.
    pub start: u128,
    /// The opening of its connection, if known; not after its start.
    pub open: Option<u128>,
    /// Payload in bytes, at least one.
    pub size: u64,
    /// The host that sends.
    pub sender: HostIndex,
    /// The receiving host, which is not the sender.
    pub receiver: HostIndex,
    /// Flows with the same number share a connection.
    pub connection: Option<u64>,
    /// The flows that it waits for, if it has no start of its own: `start` is then the delay after them.
    pub wait: Option<Box<Wait>>,
}

/// The flows that must be done before a flow starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How many of `on` must be done before it starts.
    pub needs: u32,
    /// The flows that it waits for, by their indices in the file, with the delay after each in picoseconds.
    pub on: Vec<(u32, u128)>,
    /// Its line in the file.
    pub line: u64,
}

impl ImportedFlow {
    /// A flow of this size between two hosts that starts at time zero.
    pub(crate) const fn new((sender, receiver): (HostIndex, HostIndex), size: u64) -> Self {
        Self {
            start: 0,
            open: None,
            size,
            sender,
            receiver,
            connection: None,
            wait: None,
        }
    }
}

impl FileKind {
    /// Every kind with its name and its description.
    pub const ALL: [(Self, &'static str, &'static str); 10] = [
        (
            Self::Csv,
            "csv",
            "flow records as comma-separated values, as nfdump -o csv writes them",
        ),
        (
            Self::Json,
            "json",
            "flow records as JSON, as nfdump -o json writes them",
        ),
        (
            Self::Capture,
            "capture",
            "packets, as tcpdump and Wireshark write them (pcap, pcapng)",
        ),
        (
            Self::Hpcc,
            "hpcc",
            "a flow file of the HPCC simulator and its descendants PowerTCP, ABM and SimAI",
        ),
        (Self::Htsim, "htsim", "a connection matrix of htsim (.cm)"),
        (
            Self::Goal,
            "goal",
            "a schedule of LogGOPSim and ATLAHS in the text form of GOAL (.goal)",
        ),
        (
            Self::Topology,
            "topology",
            "a topology of the HPCC simulator and its descendants PowerTCP, ABM and SimAI",
        ),
        (Self::Topo, "topo", "a topology of htsim (.topo)"),
        (
            Self::Sizes,
            "sizes",
            "a distribution of sizes: bytes and the share of flows up to them",
        ),
        (
            Self::Chakra,
            "chakra",
            "execution traces of Chakra, a file for each rank (.et)",
        ),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Its kind, in words.
    pub fn help(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}
