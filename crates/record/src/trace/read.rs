//! Reading series back.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use scenario::series::FIXED;

use crate::guard;

/// One row of a series file: a sample or an event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SeriesRow<'a> {
    /// Number of the simulation.
    pub point: u32,
    /// Simulated time in microseconds.
    pub time_us: f64,
    /// The port it is about, if any.
    pub port: Option<u32>,
    /// The flow it is about, if any.
    pub flow: Option<u32>,
    /// The host it is about, if any.
    pub host: Option<u32>,
    /// What happened, if it is an event.
    pub event: Option<&'a str>,
    /// The quantities that have a value, by the names of their columns.
    pub values: &'a [(&'a str, f64)],
}

/// Shows every row of the series file at `path`, in its order. Memory holds one row group.
pub fn read(path: &Path, each: &mut dyn FnMut(&SeriesRow<'_>)) -> io::Result<()> {
    let file = File::open(path)?;
    let file = guard::read(|| SerializedFileReader::new(file))?;
    let columns = file
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .to_vec();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    if names.len() < FIXED.len()
        || !names
            .iter()
            .zip(FIXED)
            .all(|(name, fixed)| *name == fixed.name)
    {
        let message = format!("{} is no series file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    for index in 0..file.num_row_groups() {
        let group = guard::read(|| {
            let group = file.get_row_group(index)?;
            Group::read(group.as_ref(), names.len())
        })?;
        group.show(&names, each);
    }
    Ok(())
}

/// A row group, by columns.
struct Group {
    times: Vec<Option<f64>>,
    points: Vec<Option<u32>>,
    ports: Vec<Option<u32>>,
    flows: Vec<Option<u32>>,
    hosts: Vec<Option<u32>>,
    events: Vec<Option<ByteArray>>,
    quantities: Vec<Vec<Option<f64>>>,
}

impl Group {
    fn read(group: &dyn RowGroupReader, columns: usize) -> Result<Self, ParquetError> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let numbers = |column| numbers(group, column, rows);
        let quantities = (FIXED.len()..columns).map(|column| reals(group, column, rows));
        Ok(Self {
            points: numbers(0)?,
            times: reals(group, 1, rows)?,
            ports: numbers(2)?,
            flows: numbers(3)?,
            hosts: numbers(4)?,
            events: texts(group, 5, rows)?,
            quantities: quantities.collect::<Result<_, _>>()?,
        })
    }

    fn show(&self, names: &[&str], each: &mut dyn FnMut(&SeriesRow<'_>)) {
        let mut values = Vec::new();
        for row in 0..self.times.len() {
            values.clear();
            for (name, quantity) in names[FIXED.len()..].iter().zip(&self.quantities) {
                values.extend(quantity[row].map(|value| (*name, value)));
            }
            let event = self.events[row].as_ref();
            each(&SeriesRow {
                point: self.points[row].unwrap_or(0),
                time_us: self.times[row].unwrap_or(f64::NAN),
                port: self.ports[row],
                flow: self.flows[row],
                host: self.hosts[row],
                event: event.map(|event| event.as_utf8().unwrap_or_default()),
                values: &values,
            });
        }
    }
}

fn numbers(
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
) -> Result<Vec<Option<u32>>, ParquetError> {
    let ColumnReader::Int32ColumnReader(mut reader) = group.get_column_reader(column)? else {
        return Err(wrong(column));
    };
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    let values = values.into_iter().map(i32::cast_unsigned);
    Ok(place(&levels, values, rows))
}

fn reals(
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
) -> Result<Vec<Option<f64>>, ParquetError> {
    let ColumnReader::DoubleColumnReader(mut reader) = group.get_column_reader(column)? else {
        return Err(wrong(column));
    };
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    Ok(place(&levels, values.into_iter(), rows))
}

fn texts(
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
) -> Result<Vec<Option<ByteArray>>, ParquetError> {
    let ColumnReader::ByteArrayColumnReader(mut reader) = group.get_column_reader(column)? else {
        return Err(wrong(column));
    };
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    Ok(place(&levels, values.into_iter(), rows))
}

/// Puts values into their rows; a required column has no levels.
fn place<T>(levels: &[i16], mut values: impl Iterator<Item = T>, rows: usize) -> Vec<Option<T>> {
    let present = |row: usize| levels.get(row).is_none_or(|level| *level > 0);
    (0..rows)
        .map(|row| if present(row) { values.next() } else { None })
        .collect()
}

fn wrong(column: usize) -> ParquetError {
    ParquetError::General(format!("column {column} of a series file has another type"))
}
