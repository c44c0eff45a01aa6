//! Writes series: takes rows and writes row groups of Parquet.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::LazyLock;

use base::cast::real;
use fabric::DropReason;
use plan::series::{FIXED, Traceable};
use tables::{Cell, ColumnFile, ColumnType, Field, RowGroup};

use super::rows::{Block, Event, EventKind, GROUP, Sink, Subject};

/// A series file that grows by row groups.
pub(super) struct SeriesFile {
    columns: ColumnFile,
    point: i32,
    quantities: usize,
}

impl SeriesFile {
    pub(super) fn new(point: usize, quantities: &[&Traceable], file: File) -> io::Result<Self> {
        let described = FIXED
            .iter()
            .map(|column| (column.name, column.unit, column.help));
        let described = described.chain(
            quantities
                .iter()
                .map(|quantity| (quantity.name, quantity.unit, quantity.help.as_str())),
        );
        let metadata = described.flat_map(|(name, unit, help)| {
            let unit = (!unit.is_empty()).then(|| (format!("{name}.unit"), unit.to_owned()));
            let help = (format!("{name}.description"), help.to_owned());
            unit.into_iter().chain([help])
        });
        let fields = fields(quantities);
        Ok(Self {
            columns: ColumnFile::new(file, ("series", &fields), metadata, CREATOR)?,
            point: i32::try_from(point).map_err(io::Error::other)?,
            quantities: quantities.len(),
        })
    }
}

impl Sink for SeriesFile {
    /// Writes one row group.
    fn write(&mut self, blocks: &[Block], events: &[Event]) -> io::Result<()> {
        let samples: usize = blocks.iter().map(|block| block.samples.len()).sum();
        if samples + events.len() == 0 {
            return Ok(());
        }
        let numbers = (self.point, self.quantities);
        self.columns
            .group(|group| write_group(group, numbers, blocks, events))
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.columns.finish()
    }
}

/// Writes column by column, and in each column block by block, so that levels come in runs.
fn write_group(
    group: &mut RowGroup<'_>,
    (point, quantities): (i32, usize),
    blocks: &[Block],
    events: &[Event],
) -> io::Result<()> {
    let blocks = || blocks.iter().filter(|block| !block.samples.is_empty());
    let mut numbers = Vec::with_capacity(GROUP);
    let mut reals = Vec::with_capacity(GROUP);
    group.ints(|column| {
        let rows = blocks().map(|block| block.samples.len()).sum::<usize>() + events.len();
        numbers.resize(rows, point);
        column.write(&numbers, None)
    })?;
    group.reals(|column| {
        let times = blocks().flat_map(|block| &block.samples);
        reals.extend(times.map(|sample| micros(sample.time)));
        reals.extend(events.iter().map(|event| micros(event.time)));
        column.write(&reals, None)
    })?;
    for subject in [Subject::Port, Subject::Flow, Subject::Host] {
        group.ints(|column| {
            for block in blocks() {
                let rows = block.samples.len();
                if block.subject == subject {
                    numbers.clear();
                    numbers.extend(block.samples.iter().map(|sample| number(sample.id)));
                    column.write(&numbers, Some(&PRESENT[..rows]))?;
                } else {
                    column.write(&[], Some(&NULL[..rows]))?;
                }
            }
            let of_event = |event: &Event| match subject {
                Subject::Port => event.port.map(number),
                Subject::Flow => Some(number(event.flow)),
                Subject::Host => None,
            };
            let present = |event| i16::from(of_event(event).is_some());
            let levels: Vec<i16> = events.iter().map(present).collect();
            let values: Vec<i32> = events.iter().filter_map(of_event).collect();
            column.write(&values, Some(&levels))
        })?;
    }
    group.texts(|column| {
        for block in blocks() {
            column.write(&[], Some(&NULL[..block.samples.len()]))?;
        }
        let name = |event: &Event| EventKind::NAMES[event.kind as usize];
        let values: Vec<&'static str> = events.iter().map(name).collect();
        column.write(&values, Some(&PRESENT[..events.len()]))
    })?;
    group.texts(|column| {
        for block in blocks() {
            column.write(&[], Some(&NULL[..block.samples.len()]))?;
        }
        let present = |event: &Event| i16::from(event.cause.is_some());
        let levels: Vec<i16> = events.iter().map(present).collect();
        let causes = events.iter().filter_map(|event| event.cause);
        let values: Vec<&'static str> = causes.map(DropReason::name).collect();
        column.write(&values, Some(&levels))
    })?;
    for quantity in 0..quantities {
        group.reals(|column| {
            for block in blocks() {
                let rows = block.samples.len();
                if block.quantity == quantity {
                    reals.clear();
                    reals.extend(block.samples.iter().map(|sample| sample.value));
                    column.write(&reals, Some(&PRESENT[..rows]))?;
                } else {
                    column.write(&[], Some(&NULL[..rows]))?;
                }
            }
            column.write(&[], Some(&NULL[..events.len()]))
        })?;
    }
    Ok(())
}

/// Joins `parts` into one series file, in order. All must be complete and have the same columns. In each row the
/// columns of `leading` replace the number of the point; their cells are given with each part, because a sweep that
/// gets more seeds renumbers its points. Row groups are copied without decoding them.
pub fn concatenate(
    leading: &[Field],
    parts: &mut dyn Iterator<Item = (Vec<Cell<'_>>, PathBuf)>,
    out: File,
) -> io::Result<()> {
    tables::concatenate(leading, parts, out, CREATOR)
}

/// The columns of a file with these quantities, after [`FIXED`].
fn fields(quantities: &[&Traceable]) -> Vec<Field> {
    let field = |name: &str, kind, optional| Field {
        name: name.to_owned(),
        kind,
        optional,
        unit: "",
        help: "",
    };
    let mut fields = vec![
        field("point", ColumnType::Int32, false),
        field("time_us", ColumnType::Double, false),
        field("port", ColumnType::Int32, true),
        field("flow", ColumnType::Int32, true),
        field("host", ColumnType::Int32, true),
        field("event", ColumnType::Text, true),
        field("cause", ColumnType::Text, true),
    ];
    let quantities = quantities.iter();
    fields.extend(quantities.map(|quantity| field(quantity.name, ColumnType::Double, true)));
    fields
}

/// Converts to microseconds, the unit of files and results.
pub(super) fn micros(picoseconds: u64) -> f64 {
    real(picoseconds) / 1e6
}

/// Parquet's integers are signed.
const fn number(id: u32) -> i32 {
    id.cast_signed()
}

/// The name of the program in its files.
const CREATOR: &str = concat!("tailwater ", env!("CARGO_PKG_VERSION"));
/// Definition levels of a group without and with values.
static NULL: LazyLock<Vec<i16>> = LazyLock::new(|| vec![0; GROUP]);
static PRESENT: LazyLock<Vec<i16>> = LazyLock::new(|| vec![1; GROUP]);
