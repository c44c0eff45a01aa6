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
}

impl Kind {
    /// Every kind with its name and what it is.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
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
            "a flow file of the HPCC simulator and its descendants",
        ),
        (Self::Htsim, "htsim", "a connection matrix of htsim (.cm)"),
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
