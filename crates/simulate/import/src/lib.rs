//! Flows from the files of other programs: flow records of a collector, captures of packets, flow files of other
//! simulators. What comes out is a trace, as [`tables::flows`] reads it.
//!
//! A file is told by its content, never by its name. Nothing is left out in silence: [`Imported`] counts what was
//! read, what was skipped and why, and says in sentences what the numbers mean.
//!
//! ```
//! let text = "2\n2 1 3 100 200000 2\n3 1 3 100 200000 2.000000001\n";
//! let imported = import::import(text.as_bytes(), None, None).unwrap();
//! assert_eq!(imported.kind, import::Kind::Hpcc);
//! assert_eq!(imported.flows.len(), 2);
//! assert_eq!(imported.flows[1].start - imported.flows[0].start, 1_000);
//! ```

mod capture;
mod hosts;
mod hpcc;
mod htsim;
mod packet;
mod record;
mod records;
mod told;
mod write;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use hosts::Host;
pub use write::{Out, write};

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

    /// What a file that begins like `bytes` is.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if capture::is_one(bytes) {
            return Some(Self::Capture);
        }
        let head = &bytes[..bytes.len().min(HEAD)];
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let first = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))?;
        if text.starts_with(['[', '{']) {
            return Some(Self::Json);
        }
        if htsim::is_one(first) {
            return Some(Self::Htsim);
        }
        if hpcc::is_one(first) {
            return Some(Self::Hpcc);
        }
        records::is_header(first).then_some(Self::Csv)
    }
}

/// The flows of a file that has these contents, and is what `kind` says or what its contents tell. Flows without an
/// end get the size `endless`, or are skipped.
///
/// # Errors
/// If it is no such file, or has no flow: what is wrong, and where.
pub fn import(bytes: &[u8], kind: Option<Kind>, endless: Option<u64>) -> Result<Imported, String> {
    let Some(kind) = kind.or_else(|| Kind::of(bytes)) else {
        if NFCAPD.iter().any(|magic| bytes.starts_with(magic)) {
            return Err("it is a binary file of nfdump, which only that reads: `nfdump -r FILE -o json > flows.json`".to_owned());
        }
        let kinds = Kind::ALL.map(|(_, _, help)| help).join("; ");
        return Err(format!("it is none of the files that are read: {kinds}"));
    };
    let mut imported = match kind {
        Kind::Csv => records::csv(bytes)?,
        Kind::Json => records::json(bytes)?,
        Kind::Capture => capture::read(bytes)?,
        Kind::Hpcc => hpcc::read(text(bytes)?)?,
        Kind::Htsim => htsim::read(text(bytes)?, endless)?,
    };
    imported.skipped.retain(|(_, count)| *count > 0);
    if imported.flows.is_empty() {
        let skipped: Vec<String> = imported
            .skipped
            .iter()
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        let skipped = if skipped.is_empty() {
            String::new()
        } else {
            format!("; skipped: {}", skipped.join(", "))
        };
        return Err(format!(
            "it has no flow ({} {}{skipped})",
            imported.read, imported.what
        ));
    }
    imported.flows.sort_by_key(|flow| flow.start);
    Ok(imported)
}

/// The contents of the file at `path`.
///
/// # Errors
/// If it cannot be read, or has more than 4 GiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Devices do not know their length.
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it has more than 4 GiB: give it in parts"));
    }
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
}

/// How binary files of nfdump begin, in both orders of bytes.
const NFCAPD: [[u8; 2]; 2] = [[0x0c, 0xa5], [0xa5, 0x0c]];
/// A file is read at once.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes that tell what a file is.
const HEAD: usize = 1 << 14;
