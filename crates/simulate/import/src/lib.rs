//! Reads files of other programs: flow records of collectors, packet captures, and flow files, schedules, topologies
//! and size distributions of other simulators. Flows become a trace, as [`tables::flows`] reads it.
//!
//! The kind of a file is detected from its content, never from its name. Nothing is left out silently: [`Imported`]
//! counts what was read and what was skipped with the reason, and explains the numbers in sentences. Entries that a
//! trace cannot express are refused, or left out with [`ImportOptions::lenient`].
//!
//! ```
//! use import::{Content, FileKind, ImportOptions};
//!
//! let text = "2\n2 1 3 100 200000 2\n3 1 3 100 200000 2.000000001\n";
//! let Content::Flows(imported) = import::import(text.as_bytes(), &ImportOptions::default()).unwrap() else {
//!     panic!("flows");
//! };
//! assert_eq!(imported.kind, FileKind::Hpcc);
//! assert_eq!(imported.flows.len(), 2);
//! assert_eq!(imported.flows[1].start - imported.flows[0].start, 1_000);
//! ```

mod capture;
mod chakra;
mod flow;
mod goal;
mod hosts;
mod hpcc;
mod htsim;
mod moments;
mod network;
mod packet;
mod record;
mod records;
mod sizes;
mod summary;
mod topo;
mod topology;
mod waits;
mod words;
mod write;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use flow::{FileKind, ImportOptions, Imported, ImportedFlow, Wait};
pub use hosts::HostIndex;
pub use network::{ImportedLink, ImportedNetwork};
pub use sizes::ImportedSizes;
pub use write::{Out, write};

/// The contents of a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// Flows.
    Flows(Imported),
    /// A network.
    Network(ImportedNetwork),
    /// A distribution of sizes.
    Sizes(ImportedSizes),
}

impl FileKind {
    /// The kind of a file that begins like `bytes`.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if capture::is_one(bytes) {
            return Some(Self::Capture);
        }
        if chakra::is_one(bytes) {
            return Some(Self::Chakra);
        }
        let head = &bytes[..bytes.len().min(HEAD)];
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start().to_owned();
        let first = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))?;
        if text.starts_with(['[', '{']) {
            return Some(Self::Json);
        }
        if topo::is_one(&text) {
            return Some(Self::Topo);
        }
        if htsim::is_one(first) {
            return Some(Self::Htsim);
        }
        if goal::is_one(first) {
            return Some(Self::Goal);
        }
        if hpcc::is_one(first) {
            return Some(Self::Hpcc);
        }
        if topology::is_one(first) {
            return Some(Self::Topology);
        }
        if sizes::is_one(first) {
            return Some(Self::Sizes);
        }
        records::is_header(first).then_some(Self::Csv)
    }
}

/// Reads a file with these contents.
///
/// # Errors
/// If the file has another kind or has no flow. The error has the cause and the position.
pub fn import(bytes: &[u8], options: &ImportOptions) -> Result<Content, String> {
    let Some(kind) = options.kind.or_else(|| FileKind::of(bytes)) else {
        if NFCAPD.iter().any(|magic| bytes.starts_with(magic)) {
            return Err("it is a binary file of nfdump; convert it with: `nfdump -r FILE -o json > flows.json`".to_owned());
        }
        let kinds = FileKind::ALL.map(|(_, _, help)| help).join("; ");
        return Err(format!(
            "its format is not supported; supported are: {kinds}"
        ));
    };
    let mut imported = match kind {
        FileKind::Csv => records::csv(bytes)?,
        FileKind::Json => records::json(bytes)?,
        FileKind::Capture => capture::read(bytes)?,
        FileKind::Hpcc => hpcc::read(text(bytes)?, options)?,
        FileKind::Htsim => htsim::read(text(bytes)?, options)?,
        FileKind::Goal => goal::read(text(bytes)?)?,
        FileKind::Topology => return topology::read(text(bytes)?).map(Content::Network),
        FileKind::Topo => return topo::read(text(bytes)?).map(Content::Network),
        FileKind::Chakra => chakra::read(&options.ranks)?,
        FileKind::Sizes => return sizes::read(text(bytes)?).map(Content::Sizes),
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
    if imported.waits() {
        // Waits refer to flows by index.
        waits::check(&imported.flows)?;
    } else {
        imported.flows.sort_by_key(|flow| flow.start);
    }
    Ok(Content::Flows(imported))
}

/// The contents of the file at `path`.
///
/// # Errors
/// If it cannot be read, or has more than 4 GiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The size of a device file is unknown.
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(
            "it has more than 4 GiB: split it into parts",
        ));
    }
    Ok(bytes)
}

/// The files of all ranks beside the file at `path`. Their names differ in the number before the ending, as in
/// `a.0.et`, `a.1.et`.
///
/// # Errors
/// If the name has no such number, a file cannot be read, or a number is missing.
pub fn ranks(path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let parts = name.rsplit_once('.').and_then(|(stem, ending)| {
        let (stem, number) = stem.rsplit_once('.')?;
        Some((stem, number.parse::<usize>().ok()?, ending))
    });
    let (stem, number, ending) = parts.ok_or(
        "the file name must have the rank before its ending, as in NAME.0.et: rename the files",
    )?;
    let mut files = Vec::new();
    loop {
        let name = format!("{stem}.{}.{ending}", files.len());
        let beside = path.with_file_name(&name);
        if !beside.exists() {
            break;
        }
        let bytes = read(&beside).map_err(|error| format!("{name} cannot be read: {error}"))?;
        files.push((name, bytes));
    }
    if files.len() <= number {
        return Err(format!(
            "the file of rank {} is missing beside it: {stem}.{}.{ending}",
            files.len(),
            files.len()
        ));
    }
    Ok(files)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text file".to_owned())?;
    Ok(text.trim_start_matches('\u{feff}'))
}

/// The first bytes of nfdump's binary files, in both byte orders.
const NFCAPD: [[u8; 2]; 2] = [[0x0c, 0xa5], [0xa5, 0x0c]];
/// A file is read at once.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes from which the kind of a file is detected.
const HEAD: usize = 1 << 14;
