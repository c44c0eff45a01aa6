//! What is read of a file: its flows, and what it is.

use crate::hosts::Host;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
pub struct Options {
    /// Its kind, whatever its contents tell.
    pub kind: Option<Kind>,
    /// Payload of flows that have no end; without it they are left out.
    pub endless: Option<u64>,
    /// Whether entries that no trace can have are left out, and not refused.
    pub lenient: bool,
    /// The files of all ranks in their order, with their names, where each rank has one; see [`ranks`](crate::ranks).
    pub ranks: Vec<(String, Vec<u8>)>,
}

/// What was read of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What it is.
    pub kind: Kind,
    /// How many records, packets or flows it has.
    pub read: u64,
    /// What `read` counts.
    pub what: &'static str,
    /// At least one, in the order of their starts.
    pub flows: Vec<Flow>,
    /// The names of hosts, which [`Host`] counts: addresses, or numbers.
    pub hosts: Vec<String>,
    /// Whether times count from 1970.
    pub dated: bool,
    /// What is no flow of the trace, and how many of it.
    pub skipped: Vec<(&'static str, u64)>,
    /// What one should know of the numbers, a sentence each.
    pub notes: Vec<String>,
}

/// A flow of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// When it starts, in picoseconds on the clock of the file.
    pub start: u128,
    /// When its connection opens, if that is known: not after its start.
    pub open: Option<u128>,
    /// Payload in bytes, at least one.
    pub size: u64,
    /// The host that sends.
    pub sender: Host,
    /// The host that receives: another one.
    pub receiver: Host,
    /// Flows with the same number share a connection.
    pub connection: Option<u64>,
    /// The flows before it, if it has no start of its own: `start` is the time after them.
    pub wait: Option<Box<Wait>>,
}

/// The flows that must be done before a flow starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How many of `on` must be done before it starts.
    pub needs: u32,
    /// The flows that it waits for, by their places among those of the file, each with the picoseconds that pass after it.
    pub on: Vec<(u32, u128)>,
    /// The line of the file at which it stands.
    pub line: u64,
}

impl Flow {
    /// A flow of this size between two hosts that starts at once.
    pub(crate) const fn new((sender, receiver): (Host, Host), size: u64) -> Self {
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

impl Kind {
    /// Every kind with its name and what it is.
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

    /// What it is, in words.
    pub fn help(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}
