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
mod flow;
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

pub use flow::{Flow, Imported, Kind};
pub use hosts::Host;
pub use write::{Out, write};

impl Kind {
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
