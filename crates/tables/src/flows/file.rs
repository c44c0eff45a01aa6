//! Files of traces: CSV and Parquet, row by row.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::{HostId, Time};

use super::{FlowTrace, TracedFlow};
use crate::Cell;

/// Whether `text` is meant as a path, not as the name of a trace.
pub fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || Format::of(text).is_some()
}

/// Reads the file at `path`, or says which of its lines is wrong and how. A sweep asks for the same file many
/// times: while its contents are the same, so is the trace.
pub(super) fn open(path: &str) -> Result<Arc<FlowTrace>, String> {
    static KNOWN: Mutex<BTreeMap<String, Arc<FlowTrace>>> = Mutex::new(BTreeMap::new());
    let format = Format::of(path)
        .ok_or_else(|| format!("{path}: a trace is a file whose name ends in .csv or .parquet"))?;
    let bytes = read(path)?;
    let fingerprint = Some(fingerprint(&bytes));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(trace) = known
        .get(path)
        .filter(|trace| trace.fingerprint == fingerprint)
    {
        return Ok(Arc::clone(trace));
    }
    let trace = match format {
        Format::Csv => of_csv(path, &bytes)?,
        Format::Parquet => of_parquet(path)?,
    };
    let trace = Arc::new(FlowTrace {
        fingerprint,
        ..trace
    });
    known.insert(path.to_owned(), Arc::clone(&trace));
    Ok(trace)
}

/// The trace that `bytes`, of a file with this name, hold as CSV.
pub(super) fn of_csv(name: &str, bytes: &[u8]) -> Result<FlowTrace, String> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
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
    let mut rows = Rows::new(name, &names.iter().collect::<Vec<_>>())?;
    for record in reader.records() {
        let record = record.map_err(|error| malformed(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize| record.get(column).unwrap_or_default().to_owned();
        rows.add(&field)
            .map_err(|cause| format!("{name}, line {line}: {cause}"))?;
    }
    rows.finish()
}

/// The trace in the Parquet file at `path`.
fn of_parquet(path: &str) -> Result<FlowTrace, String> {
    let damaged = |error: &std::io::Error| format!("{path}: {error}");
    let names = crate::names(Path::new(path)).map_err(|error| damaged(&error))?;
    let mut rows = Rows::new(path, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    let (mut number, mut wrong) = (0_u64, None);
    crate::read(Path::new(path), &mut |row| {
        number += 1;
        let field = |column: usize| match row.cell(column) {
            Cell::Null => String::new(),
            Cell::Int(value) => value.to_string(),
            // Six decimals are all that a start has.
            Cell::Double(value) => format!("{value:.6}"),
            Cell::Bool(value) => value.to_string(),
            Cell::Text(text) => text.to_owned(),
        };
        if wrong.is_none()
            && let Err(cause) = rows.add(&field)
        {
            wrong = Some(format!("{path}, row {number}: {cause}"));
        }
    })
    .map_err(|error| damaged(&error))?;
    wrong.map_or_else(|| rows.finish(), Err)
}

/// Rows that have been read, and where their columns are.
struct Rows<'a> {
    name: &'a str,
    /// Places of the columns that every trace has: start, size, sender, receiver.
    columns: [usize; 4],
    open: Option<usize>,
    connection: Option<usize>,
    group: Option<usize>,
    /// The simulation that a table of flows names, and the one of the first row.
    point: Option<usize>,
    first_point: Option<String>,
    flows: Vec<TracedFlow>,
    groups: Vec<String>,
    /// The hosts of each connection.
    ends: BTreeMap<u64, (HostId, HostId)>,
}

impl<'a> Rows<'a> {
    fn new(name: &'a str, names: &[&str]) -> Result<Self, String> {
        let place = |wanted: &str| names.iter().position(|name| name.trim() == wanted);
        let mut columns = [0; 4];
        for (column, wanted) in columns.iter_mut().zip(NEEDED) {
            *column = place(wanted).ok_or_else(|| {
                format!(
                    "{name}, line 1: there is no column {wanted}; a trace has {}",
                    NEEDED.join(", ")
                )
            })?;
        }
        Ok(Self {
            name,
            columns,
            open: place("open_us"),
            connection: place("connection"),
            group: place("group"),
            point: place("point"),
            first_point: None,
            flows: Vec::new(),
            groups: Vec::new(),
            ends: BTreeMap::new(),
        })
    }

    /// Adds a row, whose text in each column `field` gives.
    fn add(&mut self, field: &dyn Fn(usize) -> String) -> Result<(), String> {
        let text = |column: usize| field(column).trim().to_owned();
        if let Some(point) = self.point.map(text) {
            let first = self.first_point.get_or_insert_with(|| point.clone());
            if *first != point {
                return Err(format!(
                    "a flow of point {point} among flows of point {first}: a trace is of one simulation"
                ));
            }
        }
        let [start, size, sender, receiver] = self.columns.map(text);
        let time = |name: &str, text: &str| {
            picoseconds(text).ok_or_else(|| {
                format!(
                    "{name} is microseconds with up to six decimals, as in 10000.25, not {text:?}"
                )
            })
        };
        let start = time("start_us", &start)?;
        let open = self.open.map(text).filter(|text| !text.is_empty());
        let open = open.map(|text| time("open_us", &text)).transpose()?;
        if open.is_some_and(|open| open > start) {
            return Err("open_us is after start_us: a flow needs an open connection".to_owned());
        }
        let size = whole(&size)
            .filter(|size| *size > 0)
            .ok_or_else(|| format!("size_bytes is a whole number above 0, not {size:?}"))?;
        let host = |name: &str, text: &str| {
            let number = whole(text).and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| *number < u32::MAX);
            number
                .map(HostId)
                .ok_or_else(|| format!("{name} is the number of a host, not {text:?}"))
        };
        let (sender, receiver) = (host("sender", &sender)?, host("receiver", &receiver)?);
        if sender == receiver {
            return Err(format!("host {} would send to itself", sender.0));
        }
        let connection = match self.connection.map(text) {
            None => None,
            Some(text) => {
                let number = whole(&text)
                    .ok_or_else(|| format!("connection is a whole number, not {text:?}"))?;
                let ends = *self.ends.entry(number).or_insert((sender, receiver));
                if ends != (sender, receiver) {
                    return Err(format!(
                        "connection {number} leads from host {} to host {} further up",
                        ends.0.0, ends.1.0
                    ));
                }
                Some(number)
            }
        };
        let group = self.group.map(text).map(|name| self.group(name));
        if self.flows.len() >= MAX_FLOWS {
            return Err(format!("a simulation has at most {MAX_FLOWS} flows"));
        }
        self.flows.push(TracedFlow {
            start,
            open,
            size,
            sender,
            receiver,
            connection,
            group,
        });
        Ok(())
    }

    /// The place of a group's name.
    fn group(&mut self, name: String) -> u32 {
        let known = self.groups.iter().position(|known| *known == name);
        let place = known.unwrap_or_else(|| {
            self.groups.push(name);
            self.groups.len() - 1
        });
        u32::try_from(place).expect("fewer groups than flows")
    }

    fn finish(self) -> Result<FlowTrace, String> {
        if self.flows.is_empty() {
            return Err(format!("{}: there is no flow in it", self.name));
        }
        Ok(FlowTrace {
            flows: self.flows,
            groups: self.groups,
            fingerprint: None,
        })
    }
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Parquet,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
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
    // Devices do not know their length.
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

/// A number of digits alone.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Microseconds with up to six decimals, which is as fine as the clock.
fn picoseconds(text: &str) -> Option<Time> {
    let (micros, decimals) = text.split_once('.').unwrap_or((text, "0"));
    if decimals.len() > 6 {
        return None;
    }
    let picos = whole(&format!("{decimals:0<6}"))?;
    let picos = whole(micros)?.checked_mul(1_000_000)?.checked_add(picos)?;
    (picos < LATEST).then(|| Time::from_ps(picos))
}

/// FNV-1a over the contents.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Columns of every trace.
const NEEDED: [&str; 4] = ["start_us", "size_bytes", "sender", "receiver"];
/// Flows have 32-bit numbers, and connections two ends each.
const MAX_FLOWS: usize = 1 << 30;
/// A gigabyte has about 20 million rows, which is more than the memory of most machines can simulate.
const MAX_FILE: u64 = 1 << 30;
/// Picoseconds of a day; what starts later is no time in microseconds.
const LATEST: u64 = 86_400_000_000_000_000;
