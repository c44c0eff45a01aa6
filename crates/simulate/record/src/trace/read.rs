//! Reading series back.

use std::io;
use std::path::Path;

use plan::series::FIXED;
use tables::Cell;

/// One row of a series file: a sample or an event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SeriesRow<'a> {
    /// Number of the simulation.
    pub point: u32,
    /// Simulated time in microseconds.
    pub time_us: f64,
    /// The port of the row, if it has one.
    pub port: Option<u32>,
    /// The flow of the row, if it has one.
    pub flow: Option<u32>,
    /// The host of the row, if it has one.
    pub host: Option<u32>,
    /// The kind of event, if it is an event.
    pub event: Option<&'a str>,
    /// The cause of a drop, if it is a drop.
    pub cause: Option<&'a str>,
    /// The quantities with a value, by the names of their columns.
    pub values: &'a [(&'a str, f64)],
}

/// Calls `each` with every row of the series file at `path`, in order. Only one row group is in memory.
pub fn read(path: &Path, each: &mut dyn FnMut(&SeriesRow<'_>)) -> io::Result<()> {
    let names = tables::names(path)?;
    let place = |name: &str| names.iter().position(|found| found == name);
    let fixed: Option<Vec<usize>> = FIXED.iter().map(|column| place(column.name)).collect();
    let Some([point, time, port, flow, host, event, cause]) = fixed.as_deref().and_then(array)
    else {
        let message = format!("{} is no series file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    };
    // Columns of settings come before them, columns of quantities after them.
    let quantities = cause + 1;
    let mut values = Vec::new();
    tables::read(path, &mut |row| {
        let number = |column| match row.cell(column) {
            Cell::Int(number) => u32::try_from(number).ok(),
            _ => None,
        };
        let real = |column| match row.cell(column) {
            Cell::Double(number) => Some(number),
            _ => None,
        };
        values.clear();
        for (column, name) in names.iter().enumerate().skip(quantities) {
            values.extend(real(column).map(|value| (name.as_str(), value)));
        }
        each(&SeriesRow {
            point: number(point).unwrap_or(0),
            time_us: real(time).unwrap_or(f64::NAN),
            port: number(port),
            flow: number(flow),
            host: number(host),
            event: text(row.cell(event)),
            cause: text(row.cell(cause)),
            values: &values,
        });
    })
}

fn text(cell: Cell<'_>) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

fn array(places: &[usize]) -> Option<[usize; 7]> {
    places.try_into().ok()
}
