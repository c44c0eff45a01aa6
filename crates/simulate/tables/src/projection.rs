//! Reads some columns of a table, row by row. The others are not decoded.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::guard;
use crate::rows::{Cell, Column, open};

/// Calls `each` with these cells of every row of the file at `path`, in order. Columns are given by index; `None`
/// stands for a column that the file lacks and gives an empty cell. Only these columns are decoded; all processors
/// decode row groups ahead of the caller.
///
/// Returns the number of decoded cells, as a measure of the work.
pub fn read_columns(
    path: &Path,
    columns: &[Option<usize>],
    each: &mut dyn FnMut(&[Cell<'_>]),
) -> io::Result<u64> {
    let projection = Projection::of(columns);
    let reader = open(path)?;
    let groups = reader.num_row_groups();
    let decoders = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let decoders = decoders.min(groups / GROUPS_PER_DECODER);
    let mut decoded = 0;
    if decoders < 2 {
        for group in 0..groups {
            let group = projection.decode(&reader, group)?;
            decoded += projection.each_row(&group, each);
        }
        return Ok(decoded);
    }
    thread::scope(|scope| {
        let decode = |first: usize| {
            // One group is handed over while the next is decoded.
            let (out, ready) = mpsc::sync_channel(1);
            let projection = &projection;
            scope.spawn(move || {
                // A reader moves the position in its file, so each reader opens the file itself.
                let reader = open(path);
                for group in (first..groups).step_by(decoders) {
                    let decoded = match &reader {
                        Ok(reader) => projection.decode(reader, group),
                        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
                    };
                    if out.send(decoded).is_err() {
                        return;
                    }
                }
            });
            ready
        };
        let ready: Vec<_> = (0..decoders).map(decode).collect();
        for group in 0..groups {
            let group = ready[group % decoders].recv();
            let group = group.map_err(|_| io::Error::other("a reader has ended"))??;
            decoded += projection.each_row(&group, each);
        }
        Ok(decoded)
    })
}

/// The requested columns of a table.
struct Projection {
    /// The indices of the columns to decode, ascending.
    decoded: Vec<usize>,
    /// For each requested column, its index among the decoded ones.
    places: Vec<Option<usize>>,
}

/// The decoded columns of a row group.
struct Decoded {
    rows: usize,
    columns: Vec<Column>,
}

impl Projection {
    fn of(columns: &[Option<usize>]) -> Self {
        let decoded: BTreeSet<usize> = columns.iter().copied().flatten().collect();
        let decoded: Vec<usize> = decoded.into_iter().collect();
        let place = |column: &Option<usize>| column.and_then(|it| decoded.binary_search(&it).ok());
        let places = columns.iter().map(place).collect();
        Self { decoded, places }
    }

    fn decode(&self, reader: &SerializedFileReader<File>, group: usize) -> io::Result<Decoded> {
        guard::read(|| -> parquet::errors::Result<_> {
            let group = reader.get_row_group(group)?;
            let columns = self.decoded.iter();
            let columns = columns.map(|index| Column::read(group.as_ref(), *index));
            Ok(Decoded {
                rows: usize::try_from(group.metadata().num_rows()).unwrap_or(0),
                columns: columns.collect::<parquet::errors::Result<_>>()?,
            })
        })
    }

    /// Hands over every row. Returns the number of cells decoded for them.
    fn each_row(&self, group: &Decoded, each: &mut dyn FnMut(&[Cell<'_>])) -> u64 {
        let mut cells = Vec::with_capacity(self.places.len());
        for row in 0..group.rows {
            cells.clear();
            let cell = |place: &Option<usize>| {
                place.map_or(Cell::Null, |place| group.columns[place].cell(row))
            };
            cells.extend(self.places.iter().map(cell));
            each(&cells);
        }
        group.rows as u64 * self.decoded.len() as u64
    }
}

/// Row groups of a table per decoding thread: reading fewer takes less time than starting a thread.
const GROUPS_PER_DECODER: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{ColumnType, Field, GROUP, TableWriter, read};

    #[test]
    fn only_the_columns_that_are_asked_for_are_decoded_and_their_rows_stay_in_order() {
        let field = |name: &str| Field {
            name: name.to_owned(),
            kind: ColumnType::Int64,
            optional: name == "c",
            unit: "",
            help: "",
        };
        let rows = i64::try_from(GROUP).unwrap() * 9 + 7;
        let path = std::env::temp_dir().join(format!("tailwater-columns-{}", std::process::id()));
        let fields = ["a", "b", "c", "d"].map(field);
        let mut table = TableWriter::new(File::create(&path).unwrap(), &fields, "test").unwrap();
        let third = |i: i64| {
            if i % 3 == 0 {
                Cell::Null
            } else {
                Cell::Int(-i)
            }
        };
        for i in 0..rows {
            table
                .row([Cell::Int(i), Cell::Int(7), third(i), Cell::Int(8)])
                .unwrap();
        }
        table.finish().unwrap();
        let mut next = 0;
        // The third, none, the first, and the third again: two columns.
        let decoded = read_columns(&path, &[Some(2), None, Some(0), Some(2)], &mut |cells| {
            assert_eq!(
                cells,
                [third(next), Cell::Null, Cell::Int(next), third(next)]
            );
            next += 1;
        });
        assert_eq!(next, rows);
        assert_eq!(decoded.unwrap(), 2 * rows.cast_unsigned());
        let mut all = 0;
        read(&path, &mut |_| all += 1).unwrap();
        assert_eq!(all, rows);
        // Damage in the first row group is an error here, too.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4..200].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let all = [0, 1, 2, 3].map(Some);
        assert!(read_columns(&path, &all, &mut |_| {}).is_err());
        std::fs::remove_file(path).unwrap();
    }
}
