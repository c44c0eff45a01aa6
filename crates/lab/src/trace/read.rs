//! Reading series back.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::file::error;
use super::quantity::FIXED;

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
    let file = SerializedFileReader::new(File::open(path)?).map_err(error)?;
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
        let group = file.get_row_group(index).map_err(error)?;
        read_group(group.as_ref(), &names, each).map_err(error)?;
    }
    Ok(())
}

fn read_group(
    group: &dyn RowGroupReader,
    names: &[&str],
    each: &mut dyn FnMut(&SeriesRow<'_>),
) -> Result<(), ParquetError> {
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let numbers = |column| numbers(group, column, rows);
    let (points, ports, flows, hosts) = (numbers(0)?, numbers(2)?, numbers(3)?, numbers(4)?);
    let times = reals(group, 1, rows)?;
    let events = texts(group, 5, rows)?;
    let quantities = (FIXED.len()..names.len()).map(|column| reals(group, column, rows));
    let quantities = quantities.collect::<Result<Vec<_>, _>>()?;
    let mut values = Vec::new();
    for row in 0..rows {
        values.clear();
        for (name, quantity) in names[FIXED.len()..].iter().zip(&quantities) {
            values.extend(quantity[row].map(|value| (*name, value)));
        }
        let event = events[row]
            .as_ref()
            .map(|event| event.as_utf8())
            .transpose()?;
        each(&SeriesRow {
            point: points[row].unwrap_or(0),
            time_us: times[row].unwrap_or(f64::NAN),
            port: ports[row],
            flow: flows[row],
            host: hosts[row],
            event,
            values: &values,
        });
    }
    Ok(())
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
