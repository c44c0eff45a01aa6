//! How to read the file of a trace: the meaning of its columns, the selected part, and its hosts.

use std::fmt::Write;

use base::{Quantity, QuantityError, Span};

use super::moment;

/// Settings of a scenario for reading its trace file.
#[derive(Clone, Debug, Default)]
pub struct TraceFileSettings {
    /// The columns.
    pub columns: ColumnNames,
    /// The numbers of hosts that the file gives by name.
    pub hosts: HostNames,
    /// The part that is taken.
    pub window: TraceWindow,
    /// The longest allowed period without a start; longer ones are shortened to it.
    pub max_gap: Option<Span>,
    /// The time to which the first flow is moved if times are shifted.
    pub start: Span,
}

/// The columns of a trace by their meaning: `start=ts in s+size=bytes`. Meanings that are not listed have their usual
/// column names.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ColumnNames {
    named: [Option<ColumnName>; MEANINGS.len()],
}

/// The name of a column, and the unit of its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ColumnName {
    pub(super) name: String,
    /// The unit in picoseconds, or in bytes.
    pub(super) unit: Option<u64>,
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Start,
    Size,
    Sender,
    Receiver,
    Open,
    Request,
    Connection,
    Group,
    Round,
    Id,
    After,
    Delay,
}

impl ColumnNames {
    /// The column with this meaning: the listed one, or else the usual one.
    pub(super) fn of(&self, meaning: Meaning) -> ColumnName {
        self.named[meaning as usize].clone().unwrap_or_else(|| {
            let (_, name, unit) = MEANINGS[meaning as usize];
            ColumnName {
                name: name.to_owned(),
                unit,
            }
        })
    }

    /// Whether a column is listed for this meaning.
    pub(super) fn names(&self, meaning: Meaning) -> bool {
        self.named[meaning as usize].is_some()
    }
}

impl Quantity for ColumnNames {
    fn expected() -> String {
        "\"auto\", or meanings with the names of columns joined by +, as in \"start=ts in s+size=bytes+sender=src\""
            .into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = |message: String| QuantityError { message };
        let mut columns = Self::default();
        if text.trim() == "auto" {
            return Ok(columns);
        }
        for part in text.split('+') {
            let Some((word, name)) = part.split_once('=') else {
                return Err(QuantityError::expected(&Self::expected(), text));
            };
            let (word, name) = (word.trim(), name.trim());
            let Some(place) = MEANINGS.iter().position(|(known, ..)| *known == word) else {
                let known = MEANINGS.map(|(known, ..)| known).join(", ");
                return Err(wrong(format!(
                    "a trace has no value {word:?} in its columns; expected {known}"
                )));
            };
            if columns.named[place].is_some() {
                return Err(wrong(format!("the column of {word} is named twice")));
            }
            let (name, unit) = match name.rsplit_once(" in ") {
                Some((name, unit)) => (name.trim_end(), Some(unit.trim())),
                None => (name, None),
            };
            if name.is_empty() {
                return Err(wrong(format!("the column of {word} has no name")));
            }
            let unit = match (unit, word) {
                (None, "start" | "open" | "delay") => {
                    name.rsplit_once('_').and_then(|(_, end)| moment::unit(end))
                }
                (None, _) => Some(1),
                (Some(unit), "start" | "open" | "delay") => {
                    Some(moment::unit(unit).ok_or_else(|| {
                        wrong(format!(
                            "{unit:?} is no unit of time: ps, ns, us, ms, s, min, h or d"
                        ))
                    })?)
                }
                (Some(unit), "size" | "request") => {
                    let known = SIZES.iter().find(|(known, _)| *known == unit);
                    let bytes = known.map(|(_, bytes)| *bytes);
                    Some(bytes.ok_or_else(|| {
                        wrong(format!(
                            "{unit:?} is no unit of size: B, KB, KiB, MB, MiB, GB or GiB"
                        ))
                    })?)
                }
                (Some(_), _) => return Err(wrong(format!("the column of {word} has no unit"))),
            };
            columns.named[place] = Some(ColumnName {
                name: name.to_owned(),
                unit,
            });
        }
        Ok(columns)
    }
}

/// How the hosts get numbers if a trace gives them by addresses or other names.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum HostNames {
    /// If the file has names instead of numbers, they are numbered in the order of their first appearance.
    #[default]
    Auto,
    /// Numbers in the file count as names, too.
    Appearance,
    /// The table of hosts in this file.
    File(String),
}

impl Quantity for HostNames {
    fn expected() -> String {
        "\"auto\", \"appearance\", or the path of a file, as in \"hosts.csv\", with a line NAME or NAME,NUMBER for each host".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        Ok(match text.trim() {
            "auto" => Self::Auto,
            "appearance" => Self::Appearance,
            path if is_path(path) => Self::File(path.to_owned()),
            _ => return Err(QuantityError::expected(&Self::expected(), text)),
        })
    }

    fn is_path() -> Option<fn(&str) -> bool> {
        Some(is_path)
    }
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\', '.'])
}

/// A part of a trace: the flows that start within it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TraceWindow {
    /// The first instant in it, and the first instant after it; both `None`: all.
    pub(super) bounds: (Option<Bound>, Option<Bound>),
}

/// An end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Picoseconds after the beginning of the trace.
    After(u128),
    /// Picoseconds since 1970.
    Date(u128),
}

impl TraceWindow {
    /// Whether it may leave flows out.
    pub(super) fn is_part(&self) -> bool {
        self.bounds != (None, None)
    }
}

impl Quantity for TraceWindow {
    fn expected() -> String {
        "\"all\" or FROM..TO in times or dates, as in \"1h..90min\", \"2d..\" or \"2024-05-01T10:00..2024-05-01T11:00\""
            .into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let wrong = || QuantityError::expected(&Self::expected(), text);
        if text.trim() == "all" {
            return Ok(Self::default());
        }
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            text => {
                let after = moment::length(text).map(Bound::After);
                let bound = after.or_else(|| moment::date(text).map(Bound::Date));
                bound.map(Some).ok_or_else(wrong)
            }
        };
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let bounds = (bound(from)?, bound(to)?);
        let empty = match bounds {
            (Some(Bound::After(from)), Some(Bound::After(to)))
            | (Some(Bound::Date(from)), Some(Bound::Date(to))) => from >= to,
            (None, None) => return Err(wrong()),
            _ => false,
        };
        if empty {
            let mut message = String::new();
            write!(message, "the window {text} ends before it begins")
                .expect("writing to a string succeeds");
            return Err(QuantityError { message });
        }
        Ok(Self { bounds })
    }
}

/// For each meaning: its word, the usual name of its column, and the unit of that column.
pub(super) const MEANINGS: [(&str, &str, Option<u64>); 12] = [
    ("start", "start_us", Some(1_000_000)),
    ("size", "size_bytes", Some(1)),
    ("sender", "sender", Some(1)),
    ("receiver", "receiver", Some(1)),
    ("open", "open_us", Some(1_000_000)),
    ("request", "request_bytes", Some(1)),
    ("connection", "connection", Some(1)),
    ("group", "group", Some(1)),
    ("round", "round", Some(1)),
    ("id", "id", Some(1)),
    ("after", "after", Some(1)),
    ("delay", "delay_us", Some(1_000_000)),
];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_with_their_units() {
        let columns =
            ColumnNames::parse("start=ts in s+size=ibyt+sender=sa+open=begin_ms").unwrap();
        let named = |name: &str, unit| ColumnName {
            name: name.to_owned(),
            unit,
        };
        assert_eq!(
            columns.of(Meaning::Start),
            named("ts", Some(moment::SECOND))
        );
        assert_eq!(columns.of(Meaning::Size), named("ibyt", Some(1)));
        assert_eq!(
            columns.of(Meaning::Open),
            named("begin_ms", Some(1_000_000_000))
        );
        assert_eq!(columns.of(Meaning::Receiver), named("receiver", Some(1)));
        // Only the values show the unit of this column.
        assert_eq!(
            ColumnNames::parse("start=ts").unwrap().of(Meaning::Start),
            named("ts", None)
        );
        for (text, cause) in [
            ("begin=ts", "a trace has no value \"begin\""),
            ("start=ts in weeks", "is no unit of time"),
            ("size=b in s", "is no unit of size"),
            ("group=g in s", "has no unit"),
            ("size=a+size=b", "named twice"),
            ("size=", "has no name"),
            ("ts", "expected \"auto\""),
        ] {
            let error = ColumnNames::parse(text).unwrap_err().message;
            assert!(error.contains(cause), "{text}: {error}");
        }
    }

    #[test]
    fn a_window_is_times_or_dates() {
        let bounds = |text| TraceWindow::parse(text).unwrap().bounds;
        let second = u128::from(moment::SECOND);
        let after = |seconds| Some(Bound::After(seconds * second));
        assert_eq!(bounds("all"), (None, None));
        assert_eq!(bounds("1h..90min"), (after(3600), after(5400)));
        assert_eq!(bounds("2d.."), (after(172_800), None));
        assert_eq!(bounds("..1s"), (None, after(1)));
        let date = Some(Bound::Date(1_700_000_000 * second));
        assert_eq!(bounds("2023-11-14T22:13:20.."), (date, None));
        for text in ["", "..", "1h", "2h..1h", "1..2", "a..b"] {
            assert!(TraceWindow::parse(text).is_err(), "{text}");
        }
    }
}
