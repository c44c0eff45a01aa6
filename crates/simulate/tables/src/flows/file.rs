//! Reads files of traces row by row: CSV and Parquet.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::fnv;

use super::names::HostTable;
use super::reading::{HostNames, TraceFileSettings};
use super::rows::Rows;
use super::{FlowTrace, clock, plain, rows};
#[cfg(not(target_family = "wasm"))]
use crate::foreign::Foreign;

/// Whether `text` is a path rather than the name of a trace.
pub fn is_path(text: &str) -> bool {
    let ending = Path::new(text)
        .extension()
        .and_then(|ending| ending.to_str());
    let of_tables =
        ending.is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()));
    text.contains(['/', '\\']) || of_tables
}

/// Reads the file at `path`; an error has the line and the cause. A sweep reads the same file many times and gets the
/// same trace while its contents are the same.
pub(super) fn open(path: &str, reading: &TraceFileSettings) -> Result<Arc<FlowTrace>, String> {
    static KNOWN: Mutex<BTreeMap<String, Arc<FlowTrace>>> = Mutex::new(BTreeMap::new());
    // The program in a web page has neither files nor their readers.
    if cfg!(page) {
        return Err(format!(
            "{path}: a page cannot read files; name a trace that comes with the program, or use `tailwater run`"
        ));
    }
    let bytes = read(path)?;
    let hosts = match &reading.hosts {
        HostNames::File(path) => {
            let bytes = read(path)?;
            let text = String::from_utf8(bytes).map_err(|_| format!("{path}: it is no text"))?;
            Some(text)
        }
        HostNames::Auto | HostNames::Appearance => None,
    };
    let table = hosts.as_ref().map_or(&[][..], String::as_bytes);
    let fingerprint = Some(fnv(bytes.iter().chain(table).copied()));
    let way = format!("{path} {reading:?}");
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(trace) = known
        .get(&way)
        .filter(|trace| trace.fingerprint == fingerprint)
    {
        return Ok(Arc::clone(trace));
    }
    let hosts = HostTable::new(&reading.hosts, hosts.as_deref())?;
    let read = if bytes.starts_with(PARQUET) {
        of_parquet(path, reading, hosts)?
    } else {
        csv_rows((path, &bytes), reading, hosts)?
    };
    let trace = clock::place(read, reading).map_err(|cause| format!("{path}: {cause}"))?;
    let trace = Arc::new(FlowTrace {
        fingerprint,
        ..trace
    });
    known.insert(way, Arc::clone(&trace));
    Ok(trace)
}

/// The trace in `bytes`, the CSV content of a file with this name.
pub(super) fn of_csv(
    name: &str,
    bytes: &[u8],
    reading: &TraceFileSettings,
) -> Result<FlowTrace, String> {
    let hosts = HostTable::new(&reading.hosts, None)?;
    let read = csv_rows((name, bytes), reading, hosts)?;
    clock::place(read, reading).map_err(|cause| format!("{name}: {cause}"))
}

/// The trace that comes with the program as `text`.
pub(super) fn of_plain(text: &str, reading: &TraceFileSettings) -> Result<FlowTrace, String> {
    clock::place(plain::rows(text), reading)
}

fn csv_rows(
    (name, bytes): (&str, &[u8]),
    reading: &TraceFileSettings,
    hosts: HostTable,
) -> Result<rows::Read, String> {
    // Spreadsheets write a byte order mark at the beginning.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .delimiter(delimiter(bytes))
        .from_reader(bytes);
    let malformed = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let cause = match error.kind() {
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => {
                format!("{len} fields, and the first line names {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "a byte that is not UTF-8 text".to_owned(),
            _ => "no line of comma-separated values".to_owned(),
        };
        format!("{name}, line {line}: {cause}")
    };
    let names = reader.headers().map_err(|error| malformed(&error))?.clone();
    let columns: Vec<rows::FileColumn<'_>> = names.iter().map(|name| (name, None)).collect();
    let mut rows = Rows::new(name, &columns, reading, hosts)
        .map_err(|cause| format!("{name}, line 1: {cause}"))?;
    let wanted = rows.wanted();
    let mut record = csv::StringRecord::new();
    while reader
        .read_record(&mut record)
        .map_err(|error| malformed(&error))?
    {
        let line = record.position().map_or(0, csv::Position::line);
        let cells: Vec<&str> = wanted
            .iter()
            .map(|place| record.get(*place).unwrap_or_default())
            .collect();
        rows.add(line, &cells)
            .map_err(|cause| format!("{name}, line {line}: {cause}"))?;
    }
    rows.finish("line")
}

/// The separator of the first line: commas, or else semicolons or tabs.
fn delimiter(bytes: &[u8]) -> u8 {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let first = lines.find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let has = |byte| first.is_some_and(|line| line.contains(&byte));
    match (has(b','), has(b';'), has(b'\t')) {
        (false, true, _) => b';',
        (false, false, true) => b'\t',
        _ => b',',
    }
}

/// Pages do not contain the Parquet reader, which is large.
#[cfg(target_family = "wasm")]
fn of_parquet(path: &str, _: &TraceFileSettings, _: HostTable) -> Result<rows::Read, String> {
    Err(format!("{path}: Parquet is not read here; save it as CSV"))
}

/// The rows of the Parquet file at `path`.
#[cfg(not(target_family = "wasm"))]
fn of_parquet(
    path: &str,
    reading: &TraceFileSettings,
    hosts: HostTable,
) -> Result<rows::Read, String> {
    let damaged = |error: &std::io::Error| format!("{path}: {error}");
    let file = Foreign::open(Path::new(path)).map_err(|error| damaged(&error))?;
    let columns: Vec<rows::FileColumn<'_>> = file
        .columns()
        .iter()
        .map(|column| (column.name.as_str(), column.tick))
        .collect();
    let mut rows =
        Rows::new(path, &columns, reading, hosts).map_err(|cause| format!("{path}: {cause}"))?;
    let wanted = rows.wanted();
    let mut number = 0_u64;
    file.read(&wanted, &mut |cells| {
        number += 1;
        rows.add(number, cells)
            .map_err(|cause| format!("{path}, row {number}: {cause}"))
    })
    .map_err(|error| damaged(&error))??;
    rows.finish("row")
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    let refuse = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "{path}: there is no such file; a path is relative to the folder of the scenario file or to the \
             working directory"
        ),
        _ => format!("{path}: it cannot be read: {error}"),
    };
    let mut bytes = Vec::new();
    // The size of a device file is unknown.
    let file = fs::File::open(path).map_err(|error| refuse(&error))?;
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!(
            "{path}: it has more than {MAX_FILE} bytes, too many for a trace"
        ));
    }
    Ok(bytes)
}

/// A gigabyte has about 20 million rows, more than most machines have memory to simulate.
const MAX_FILE: u64 = 1 << 30;
/// Endings by which a file name differs from the name of a trace.
const ENDINGS: [&str; 4] = ["csv", "tsv", "parquet", "pq"];
/// The first bytes of every Parquet file.
const PARQUET: &[u8] = b"PAR1";
