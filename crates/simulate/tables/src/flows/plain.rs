//! Traces that come with the program, whose form is known.
//!
//! The reader of other programs' files knows names of columns, units, dates and addresses. These traces need none of it, so
//! that a page, which has no files, carries no such reader.

use base::HostId;

use super::names::HostTable;
use super::number::Decimal;
use super::rows::{Read, Row};

/// The rows of a trace whose lines are [`COLUMNS`], each with a start in microseconds, numbers of hosts and a group.
///
/// # Panics
/// If a line has another form.
pub(super) fn rows(text: &str) -> Read {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS), "the columns of such a trace");
    let mut groups: Vec<String> = Vec::new();
    let number = |text: &str| text.parse::<u64>().expect("a whole number");
    let host = |text: &str| HostId(text.parse().expect("the number of a host"));
    let rows = lines.map(|line| {
        let mut cells = line.split(',');
        let mut cell = || cells.next().expect("a line has every column");
        let start = Decimal::parse(cell()).and_then(|us| us.times(MICROSECOND));
        let (start, _) = start.expect("microseconds");
        let (size, sender, receiver) = (number(cell()), host(cell()), host(cell()));
        let name = cell();
        let known = groups.iter().position(|known| known == name);
        let group = known.unwrap_or_else(|| {
            groups.push(name.to_owned());
            groups.len() - 1
        });
        Row {
            start,
            waits: None,
            open: None,
            request: None,
            size,
            sender,
            receiver,
            connection: None,
            round: None,
            group: Some(u32::try_from(group).expect("fewer groups than flows")),
        }
    });
    Read {
        rows: rows.collect(),
        groups,
        waits: Vec::new(),
        dated: false,
        hosts: HostTable::default(),
    }
}

const COLUMNS: &str = "start_us,size_bytes,sender,receiver,group";
/// Picoseconds.
const MICROSECOND: u64 = 1_000_000;
