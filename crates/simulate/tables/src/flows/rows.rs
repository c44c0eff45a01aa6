//! Turns the cells of a trace's rows into flows, for any file format.

use std::collections::BTreeMap;

use base::HostId;

use super::moment;
use super::names::HostTable;
use super::number::Decimal;
use super::reading::{ColumnName, Meaning, TraceFileSettings};
use super::waits::{Wait, Waits};

/// A column of a file: its name and, for a column with a date type, the unit of its numbers in picoseconds.
pub(super) type FileColumn<'a> = (&'a str, Option<u64>);

/// A flow with times on the clock of the file, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its start. For a flow that waits for others: the delay after them.
    pub(super) start: u128,
    /// The index of its wait, once all rows are known.
    pub(super) waits: Option<u32>,
    pub(super) open: Option<u128>,
    pub(super) request: Option<u64>,
    pub(super) size: u64,
    pub(super) sender: HostId,
    pub(super) receiver: HostId,
    pub(super) connection: Option<u64>,
    pub(super) round: Option<u32>,
    pub(super) group: Option<u32>,
}

/// The content of a file that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) rows: Vec<Row>,
    pub(super) groups: Vec<String>,
    /// The waits of flows.
    pub(super) waits: Vec<Wait>,
    /// Whether starts are written as dates rather than numbers.
    pub(super) dated: bool,
    pub(super) hosts: HostTable,
}

/// The rows read so far, and the indices of their columns.
pub(super) struct Rows<'a> {
    file: &'a str,
    /// The columns to read.
    columns: Vec<TraceColumn>,
    /// The simulation of the first row, for a table with the flows of several simulations.
    first_point: Option<String>,
    flows: Vec<Row>,
    groups: Vec<String>,
    dated: bool,
    hosts: HostTable,
    connections: BTreeMap<u64, SharedConnection>,
    /// The number of each round, by the file's own number.
    rounds: BTreeMap<u64, u32>,
    waits: Waits,
}

/// A connection that rows name by its number.
struct SharedConnection {
    ends: (HostId, HostId),
    request: Option<u64>,
    /// The first start of its flows, and the last time at which it opens. Flows that wait for others count for neither.
    starts: u128,
    opens: u128,
}

/// A column that is read.
struct TraceColumn {
    /// Its index among the columns of the file.
    place: usize,
    /// `None`: the number of the simulation.
    meaning: Option<Meaning>,
    name: ColumnName,
    /// The unit of its numbers in picoseconds since 1970, if it has a date type.
    tick: Option<u64>,
}

impl<'a> Rows<'a> {
    /// Finds the columns that `reading` names among the columns that are `there`.
    pub(super) fn new(
        file: &'a str,
        there: &[FileColumn<'_>],
        reading: &TraceFileSettings,
        hosts: HostTable,
    ) -> Result<Self, String> {
        let place = |wanted: &str| there.iter().position(|(name, _)| name.trim() == wanted);
        let mut columns = Vec::new();
        // Without the column `after`, no flow waits. A column `id` then has another meaning, as in many tables.
        let waits = place(&reading.columns.of(Meaning::After).name).is_some();
        for meaning in ALL {
            let name = reading.columns.of(meaning);
            let of_waits = [Meaning::Id, Meaning::Delay].contains(&meaning);
            if of_waits && !waits && !reading.columns.names(meaning) {
                continue;
            }
            match place(&name.name) {
                Some(place) => columns.push(TraceColumn {
                    place,
                    meaning: Some(meaning),
                    name,
                    tick: there[place].1,
                }),
                None if NEEDED.contains(&meaning) || reading.columns.names(meaning) => {
                    let named: Vec<&str> = there
                        .iter()
                        .map(|(name, _)| *name)
                        .take(MOST_NAMES)
                        .collect();
                    let more = if there.len() > MOST_NAMES {
                        ", ..."
                    } else {
                        ""
                    };
                    return Err(format!(
                        "there is no column {}; the file has {}{more}; workload.columns names other columns, as in \
                         \"start=ts in s+size=bytes\"",
                        name.name,
                        named.join(", ")
                    ));
                }
                None => {}
            }
        }
        columns.extend(place("point").map(|place| TraceColumn {
            place,
            meaning: None,
            name: ColumnName {
                name: "point".to_owned(),
                unit: None,
            },
            tick: None,
        }));
        Ok(Self {
            file,
            columns,
            first_point: None,
            flows: Vec::new(),
            groups: Vec::new(),
            dated: false,
            hosts,
            connections: BTreeMap::new(),
            rounds: BTreeMap::new(),
            waits: Waits::default(),
        })
    }

    /// The indices of the columns to read, in the order in which [`Rows::add`] takes their cells.
    pub(super) fn wanted(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.place).collect()
    }

    /// Adds the row of these cells, found at `line`.
    pub(super) fn add(&mut self, line: u64, cells: &[impl AsRef<str>]) -> Result<(), String> {
        let cell = |meaning: Option<Meaning>| {
            let found = self
                .columns
                .iter()
                .zip(cells)
                .find(|(column, _)| column.meaning == meaning);
            found.map(|(column, cell)| (column, cell.as_ref().trim()))
        };
        let needed = |meaning: Meaning| cell(Some(meaning)).expect("a column that every trace has");
        if let Some((_, point)) = cell(None) {
            let first = self.first_point.get_or_insert_with(|| point.to_owned());
            if *first != point {
                return Err(format!(
                    "a flow of point {point} is among flows of point {first}, but a trace describes one simulation"
                ));
            }
        }
        let given = |meaning| cell(Some(meaning)).filter(|(_, text)| !text.is_empty());
        let begin = Begin::of(needed(Meaning::Start), given)?;
        let row = u32::try_from(self.flows.len()).expect("fewer than 2^30 flows");
        if let Some((_, id)) = given(Meaning::Id) {
            self.waits.name(id, row)?;
        }
        let waits = given(Meaning::After);
        if let Some((_, after)) = waits {
            self.waits.wait((row, line), after);
        }
        let Begin { start, dated, open } = begin;
        let (column, text) = needed(Meaning::Size);
        let size = column.size(text)?;
        let request = given(Meaning::Request);
        let request = request
            .map(|(column, text)| column.size(text))
            .transpose()?;
        let ends = [needed(Meaning::Sender), needed(Meaning::Receiver)]
            .map(|(column, text)| (&*column.name.name, text));
        let (sender, receiver) = self.hosts.pair(ends)?;
        let connection = match cell(Some(Meaning::Connection)) {
            None => None,
            Some((column, text)) => {
                let number = column.number(text)?;
                let own = self.connections.entry(number);
                let own = own.or_insert_with(|| SharedConnection::new((sender, receiver), request));
                own.add(
                    number,
                    ((sender, receiver), request),
                    waits.is_none().then_some((start, open)),
                )?;
                Some(number)
            }
        };
        let round = given(Meaning::Round)
            .map(|(column, text)| column.number(text))
            .transpose()?;
        let next = u32::try_from(self.rounds.len()).expect("fewer rounds than flows");
        let round = round.map(|number| *self.rounds.entry(number).or_insert(next));
        let group = cell(Some(Meaning::Group)).map(|(_, text)| text.to_owned());
        let group = group.map(|name| self.group(name));
        if self.flows.len() >= MAX_FLOWS {
            return Err(format!("a simulation has at most {MAX_FLOWS} flows"));
        }
        self.dated |= dated;
        self.flows.push(Row {
            start,
            waits: None,
            open,
            request,
            size,
            sender,
            receiver,
            connection,
            round,
            group,
        });
        Ok(())
    }

    /// The index of a group's name.
    fn group(&mut self, name: String) -> u32 {
        let known = self.groups.iter().position(|known| *known == name);
        let place = known.unwrap_or_else(|| {
            self.groups.push(name);
            self.groups.len() - 1
        });
        u32::try_from(place).expect("fewer groups than flows")
    }

    /// The flows that were read. Messages call the rows of the file `rows`: "line" or "row".
    pub(super) fn finish(mut self, rows: &str) -> Result<Read, String> {
        if self.flows.is_empty() {
            return Err(format!("{}: there is no flow in it", self.file));
        }
        let resolved = self.waits.resolve(self.flows.len());
        let (waits, of) =
            resolved.map_err(|(line, cause)| format!("{}, {rows} {line}: {cause}", self.file))?;
        for (flow, wait) in self.flows.iter_mut().zip(of) {
            flow.waits = wait;
        }
        Ok(Read {
            rows: self.flows,
            groups: self.groups,
            waits,
            dated: self.dated,
            hosts: self.hosts,
        })
    }
}

/// The start of a flow, on the clock of the file.
struct Begin {
    /// Its start. For a flow that waits for others: the delay after them.
    start: u128,
    /// Whether the start is written as a date.
    dated: bool,
    open: Option<u128>,
}

impl Begin {
    /// The start in these cells: a time, or flows to wait for and the delay after them.
    fn of<'a>(
        (column, text): (&TraceColumn, &str),
        given: impl Fn(Meaning) -> Option<(&'a TraceColumn, &'a str)>,
    ) -> Result<Self, String> {
        let time = |(column, text): (&TraceColumn, &str)| Ok::<_, String>(column.time(text)?.0);
        let open = given(Meaning::Open).map(time).transpose()?;
        let delay = given(Meaning::Delay).map(time).transpose()?.unwrap_or(0);
        let name = &column.name.name;
        if let Some((after, _)) = given(Meaning::After) {
            if !text.is_empty() {
                return Err(format!(
                    "a flow starts at a time or after other flows, not both: leave {name} or {} empty",
                    after.name.name
                ));
            }
            return Ok(Self {
                start: delay,
                dated: false,
                open,
            });
        }
        if delay > 0 {
            return Err(format!(
                "a delay counts from the end of other flows, but this flow waits for none: add it to {name}"
            ));
        }
        let (start, dated) = column.time(text)?;
        if open.is_some_and(|open| open > start) {
            let open = given(Meaning::Open);
            let open = open.map_or("open_us", |(column, _)| column.name.name.as_str());
            return Err(format!(
                "{open} is after {name}: a flow needs an open connection"
            ));
        }
        Ok(Self { start, dated, open })
    }
}

impl SharedConnection {
    const fn new(ends: (HostId, HostId), request: Option<u64>) -> Self {
        Self {
            ends,
            request,
            starts: u128::MAX,
            opens: 0,
        }
    }

    /// Adds a flow between these ends, for which the receiver asks with this request, with its start and the time at which
    /// the connection opens.
    fn add(
        &mut self,
        number: u64,
        (ends, request): ((HostId, HostId), Option<u64>),
        times: Option<(u128, Option<u128>)>,
    ) -> Result<(), String> {
        if self.ends != ends {
            return Err(format!(
                "connection {number} connects host {} with host {} in an earlier row",
                self.ends.0.0, self.ends.1.0
            ));
        }
        if self.request != request {
            let said = |request: Option<u64>| {
                request.map_or("none".to_owned(), |bytes| format!("{bytes} bytes"))
            };
            return Err(format!(
                "the request on connection {number} is {}, in an earlier row {}: requests on one connection are equally long",
                said(request),
                said(self.request)
            ));
        }
        if let Some((start, open)) = times {
            self.starts = self.starts.min(start);
            self.opens = self.opens.max(open.unwrap_or(0));
        }
        if self.opens > self.starts {
            return Err(format!(
                "connection {number} opens after one of its flows has started: a connection that opens anew needs a number of its own"
            ));
        }
        Ok(())
    }
}

impl TraceColumn {
    /// A time on the clock of the file in picoseconds, and whether it is written as a date.
    fn time(&self, text: &str) -> Result<(u128, bool), String> {
        let name = &self.name.name;
        let Some(number) = Decimal::parse(text) else {
            return match moment::date(text) {
                Some(unix) => Ok((unix, true)),
                None => Err(format!(
                    "{name} is a number{} or a date, as in 10000.25 or 2024-05-01 12:30:00, not {text:?}",
                    self.name.unit.map_or(String::new(), |unit| format!(
                        " of {}",
                        moment::name_of(unit)
                    ))
                )),
            };
        };
        let Some(unit) = self.tick.or(self.name.unit) else {
            return Err(format!(
                "the unit of {name} is not known: give it, as in workload.columns = \"start={name} in s\""
            ));
        };
        if number.negative && number.times(unit) != Some((0, true)) {
            return Err(format!(
                "{name} is {text}, before the beginning of time: 0 is the earliest"
            ));
        }
        let (ps, _) = number
            .times(unit)
            .filter(|(ps, _)| *ps < END)
            .ok_or_else(|| {
                format!("{name} is {text}, later than the year 9999, the last that is read")
            })?;
        Ok((ps, self.tick.is_some()))
    }

    /// A number that serves as an identifier.
    fn number(&self, text: &str) -> Result<u64, String> {
        let number = Decimal::parse(text).and_then(Decimal::whole);
        number.ok_or_else(|| format!("{} is a whole number, not {text:?}", self.name.name))
    }

    fn size(&self, text: &str) -> Result<u64, String> {
        let unit = self.name.unit.unwrap_or(1);
        let wrong = |what: &str| format!("{} is {what}, not {text:?}", self.name.name);
        let number = Decimal::parse(text).ok_or_else(|| wrong("a whole number above 0"))?;
        let (bytes, exact) = number.times(unit).unwrap_or((u128::MAX, true));
        if number.negative || bytes == 0 || !(exact || unit > 1) {
            return Err(wrong("a whole number above 0"));
        }
        u64::try_from(bytes)
            .ok()
            .filter(|bytes| *bytes <= MAX_SIZE)
            .ok_or_else(|| wrong("at most 2^53 bytes"))
    }
}

const ALL: [Meaning; 12] = [
    Meaning::Start,
    Meaning::Size,
    Meaning::Sender,
    Meaning::Receiver,
    Meaning::Open,
    Meaning::Request,
    Meaning::Connection,
    Meaning::Group,
    Meaning::Round,
    Meaning::Id,
    Meaning::After,
    Meaning::Delay,
];
/// Columns of every trace.
const NEEDED: [Meaning; 4] = [
    Meaning::Start,
    Meaning::Size,
    Meaning::Sender,
    Meaning::Receiver,
];
/// The most column names that a message lists.
const MOST_NAMES: usize = 12;
/// Flows have 32-bit numbers, and connections two ends each.
const MAX_FLOWS: usize = 1 << 30;
/// The most that results can count: 9 PB.
const MAX_SIZE: u64 = 1 << 53;
/// Picoseconds from 1970 to the year 10000.
const END: u128 = 253_402_300_800 * moment::SECOND as u128;
