//! Writes and reads Parquet row by row.
//!
//! Rows are buffered by column and leave as a row group of [`GROUP`] rows, so memory does not grow
//! with the table.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use serde_json::json;

use crate::guard;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, which ends in its unit if it has one.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnType,
    /// Whether values may be missing.
    pub optional: bool,
    /// Its unit, or the things that it counts.
    pub unit: &'static str,
    /// Its meaning.
    pub help: &'static str,
}

/// The type of a column's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnType {
    /// Whole numbers of 32 bits.
    Int32,
    /// Whole numbers of 64 bits.
    Int64,
    /// Real numbers.
    Double,
    /// True or false.
    Bool,
    /// Text.
    Text,
}

/// A value of a table's cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// A real number.
    Double(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(&'a str),
}

impl ColumnType {
    /// The kind of the values in a column of this Parquet type.
    pub(crate) const fn of(stored: Physical) -> Option<Self> {
        Some(match stored {
            Physical::INT32 => Self::Int32,
            Physical::INT64 => Self::Int64,
            Physical::DOUBLE => Self::Double,
            Physical::BOOLEAN => Self::Bool,
            Physical::BYTE_ARRAY => Self::Text,
            _ => return None,
        })
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Null => Ok(()),
            Cell::Int(value) => value.fmt(f),
            Cell::Double(value) => value.fmt(f),
            Cell::Bool(value) => value.fmt(f),
            Cell::Text(value) => value.fmt(f),
        }
    }
}

/// A table that is written row by row.
pub struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table with these columns; the file names `creator` as its maker.
    pub fn new(out: W, fields: &[Field], creator: &str) -> io::Result<Self> {
        Self::compressed(out, fields, creator, Compression::SNAPPY)
    }

    /// The same with another compression, as in files of other versions.
    fn compressed(
        out: W,
        fields: &[Field],
        creator: &str,
        compression: Compression,
    ) -> io::Result<Self> {
        let schema = Arc::new(schema("rows", fields).map_err(io::Error::other)?);
        let properties = properties(fields, creator).set_compression(compression);
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(out, schema, properties);
        Ok(Self {
            writer: writer.map_err(io::Error::other)?,
            columns: fields.iter().map(Column::new).collect(),
            rows: 0,
        })
    }

    /// Adds a row with a cell for each field.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the remaining rows and the footer.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.into_inner().map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows = 0;
        let mut group = self.writer.next_row_group().map_err(io::Error::other)?;
        for column in &mut self.columns {
            let writer = group.next_column().map_err(io::Error::other)?;
            let writer = writer.expect("a column for each field");
            column.write(writer).map_err(io::Error::other)?;
        }
        group.close().map_err(io::Error::other)?;
        Ok(())
    }
}

/// Calls `each` with every row of the file at `path`; a row has a cell for each column.
pub fn read(path: &Path, each: &mut dyn FnMut(&ReadRow<'_>)) -> io::Result<()> {
    let reader = open(path)?;
    for group in 0..reader.num_row_groups() {
        let (rows, columns) = guard::read(|| -> parquet::errors::Result<_> {
            let group = reader.get_row_group(group)?;
            let columns = (0..group.num_columns()).map(|index| Column::read(group.as_ref(), index));
            let columns = columns.collect::<parquet::errors::Result<Vec<Column>>>()?;
            Ok((group.metadata().num_rows(), columns))
        })?;
        for row in 0..usize::try_from(rows).unwrap_or(0) {
            each(&ReadRow {
                columns: &columns,
                row,
            });
        }
    }
    Ok(())
}

pub(crate) fn open(path: &Path) -> io::Result<SerializedFileReader<File>> {
    let file = File::open(path)?;
    guard::read(|| SerializedFileReader::new(file))
}

/// The names of the columns of the file at `path`.
pub fn names(path: &Path) -> io::Result<Vec<String>> {
    let reader = open(path)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names = schema.columns().iter().map(|column| column.name());
    Ok(names.map(str::to_owned).collect())
}

/// A row that was read.
pub struct ReadRow<'a> {
    columns: &'a [Column],
    row: usize,
}

impl ReadRow<'_> {
    /// The cell of the column with this number.
    pub fn cell(&self, column: usize) -> Cell<'_> {
        self.columns[column].cell(self.row)
    }
}

/// Values of one column within a row group, without missing ones.
pub(crate) struct Column {
    pub(crate) values: Values,
    /// For an optional column, 1 for each row with a value and 0 for one without.
    pub(crate) levels: Option<Vec<i16>>,
    /// For a column that was read, the index of each row's value.
    pub(crate) places: Vec<u32>,
}

pub(crate) enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
}

impl Column {
    fn new(field: &Field) -> Self {
        Self {
            values: match field.kind {
                ColumnType::Int32 => Values::Int32(Vec::new()),
                ColumnType::Int64 => Values::Int64(Vec::new()),
                ColumnType::Double => Values::Double(Vec::new()),
                ColumnType::Bool => Values::Bool(Vec::new()),
                ColumnType::Text => Values::Text(Vec::new()),
            },
            levels: field.optional.then(Vec::new),
            places: Vec::new(),
        }
    }

    /// A column with the same value in this many rows.
    pub(crate) fn repeated(field: &Field, cell: Cell<'_>, rows: usize) -> Self {
        let mut column = Self::new(field);
        (0..rows).for_each(|_| column.push(cell));
        column
    }

    fn push(&mut self, cell: Cell<'_>) {
        if let Some(levels) = &mut self.levels {
            levels.push(i16::from(cell != Cell::Null));
        }
        match (&mut self.values, cell) {
            (_, Cell::Null) => debug_assert!(self.levels.is_some(), "only optional values lack"),
            (Values::Int32(values), Cell::Int(value)) => {
                values.push(i32::try_from(value).expect("a number of 31 bits"));
            }
            (Values::Int64(values), Cell::Int(value)) => values.push(value),
            (Values::Double(values), Cell::Double(value)) => values.push(value),
            (Values::Bool(values), Cell::Bool(value)) => values.push(value),
            (Values::Text(values), Cell::Text(value)) => {
                // Names repeat, those of a switch in every other row: they share their bytes.
                let same = |known: &&ByteArray| known.data() == value.as_bytes();
                let known = values.iter().rev().take(2).find(same).cloned();
                values.push(known.unwrap_or_else(|| value.as_bytes().to_vec().into()));
            }
            _ => unreachable!("cells have the kinds of their fields"),
        }
    }

    /// Writes the values and removes them.
    pub(crate) fn write(
        &mut self,
        mut out: SerializedColumnWriter<'_>,
    ) -> parquet::errors::Result<()> {
        fn batch<T: DataType>(
            out: &mut SerializedColumnWriter<'_>,
            values: &mut Vec<T::T>,
            levels: Option<&[i16]>,
        ) -> parquet::errors::Result<()> {
            out.typed::<T>().write_batch(values, levels, None)?;
            values.clear();
            Ok(())
        }
        let levels = self.levels.as_deref();
        match &mut self.values {
            Values::Int32(values) => batch::<Int32Type>(&mut out, values, levels)?,
            Values::Int64(values) => batch::<Int64Type>(&mut out, values, levels)?,
            Values::Double(values) => batch::<DoubleType>(&mut out, values, levels)?,
            Values::Bool(values) => batch::<BoolType>(&mut out, values, levels)?,
            Values::Text(values) => batch::<ByteArrayType>(&mut out, values, levels)?,
        }
        if let Some(levels) = &mut self.levels {
            levels.clear();
        }
        out.close()
    }

    pub(crate) fn read(group: &dyn RowGroupReader, index: usize) -> parquet::errors::Result<Self> {
        let wrong = |what: &str| Err(ParquetError::General(what.to_owned()));
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let schema = group.metadata().schema_descr().column(index);
        let optional = schema.max_def_level() > 0;
        let mut levels = optional.then(Vec::new);
        let reader = group.get_column_reader(index)?;
        macro_rules! all {
            ($reader:ident, $values:ident) => {{
                let mut left = rows;
                while left > 0 {
                    let read = $reader.read_records(left, levels.as_mut(), None, &mut $values);
                    let (records, ..) = read?;
                    if records == 0 {
                        return wrong("a column is shorter than its table");
                    }
                    left -= records;
                }
            }};
            ($reader:ident as $kind:ident) => {{
                let mut values = Vec::new();
                all!($reader, values);
                Values::$kind(values)
            }};
        }
        let values = match reader {
            ColumnReader::Int32ColumnReader(mut reader) => all!(reader as Int32),
            ColumnReader::Int64ColumnReader(mut reader) => all!(reader as Int64),
            ColumnReader::DoubleColumnReader(mut reader) => all!(reader as Double),
            // Our files do not have these types; other programs' files do.
            ColumnReader::FloatColumnReader(mut reader) => {
                let mut values: Vec<f32> = Vec::new();
                all!(reader, values);
                Values::Double(values.into_iter().map(f64::from).collect())
            }
            ColumnReader::BoolColumnReader(mut reader) => all!(reader as Bool),
            ColumnReader::ByteArrayColumnReader(mut reader) => all!(reader as Text),
            _ => return wrong("a column is of a type that is not written"),
        };
        let mut next = 0;
        let place = |level: &i16| {
            let place = if *level > 0 { next } else { u32::MAX };
            next += u32::from(*level > 0);
            place
        };
        let places = levels.iter().flatten().map(place).collect();
        Ok(Self {
            values,
            levels,
            places,
        })
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        match (&self.levels, &self.values) {
            (Some(levels), _) => levels.len(),
            (None, Values::Int32(values)) => values.len(),
            (None, Values::Int64(values)) => values.len(),
            (None, Values::Double(values)) => values.len(),
            (None, Values::Bool(values)) => values.len(),
            (None, Values::Text(values)) => values.len(),
        }
    }

    /// The kind of its values.
    pub(crate) const fn kind(&self) -> ColumnType {
        match &self.values {
            Values::Int32(_) => ColumnType::Int32,
            Values::Int64(_) => ColumnType::Int64,
            Values::Double(_) => ColumnType::Double,
            Values::Bool(_) => ColumnType::Bool,
            Values::Text(_) => ColumnType::Text,
        }
    }

    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        let place = match &self.levels {
            None => row,
            Some(_) if self.places[row] == u32::MAX => return Cell::Null,
            Some(_) => self.places[row] as usize,
        };
        match &self.values {
            Values::Int32(values) => Cell::Int(values[place].into()),
            Values::Int64(values) => Cell::Int(values[place]),
            Values::Double(values) => Cell::Double(values[place]),
            Values::Bool(values) => Cell::Bool(values[place]),
            Values::Text(values) => Cell::Text(values[place].as_utf8().unwrap_or_default()),
        }
    }
}

/// The columns of a file, in a schema group of this name.
pub(crate) fn schema(name: &str, fields: &[Field]) -> parquet::errors::Result<Type> {
    let column = |field: &Field| {
        let (physical, logical) = match field.kind {
            ColumnType::Int32 => (Physical::INT32, None),
            ColumnType::Int64 => (Physical::INT64, None),
            ColumnType::Double => (Physical::DOUBLE, None),
            ColumnType::Bool => (Physical::BOOLEAN, None),
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if field.optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        let builder = Type::primitive_type_builder(&field.name, physical);
        let builder = builder.with_repetition(repetition);
        Ok(Arc::new(builder.with_logical_type(logical).build()?))
    };
    let columns: parquet::errors::Result<Vec<_>> = fields.iter().map(column).collect();
    Type::group_type_builder(name).with_fields(columns?).build()
}

/// Text repeats and uses a dictionary; whole numbers grow slowly and are stored as differences; real numbers are stored
/// unchanged. Everything is compressed by Snappy. 180,000 flows of an incast then take 11.0 instead of 13.2 MB and 14 %
/// more time to write; Zstandard takes 10.2 MB and twice the time. Repeated flows, such as those of requests, take a
/// fifth. Dictionaries for numbers, or splitting their bytes, make files larger or writing half as fast.
fn properties(fields: &[Field], creator: &str) -> WriterPropertiesBuilder {
    let described: Vec<_> = fields
        .iter()
        .map(|field| json!({ "name": field.name, "unit": field.unit, "help": field.help }))
        .collect();
    let columns = KeyValue::new(COLUMNS.to_owned(), json!(described).to_string());
    let mut builder = WriterProperties::builder()
        .set_created_by(creator.to_owned())
        .set_key_value_metadata(Some(vec![columns]))
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // Row groups are small, so an index of their pages costs more than it saves.
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    for field in fields {
        let path = ColumnPath::from(field.name.as_str());
        builder = match field.kind {
            ColumnType::Int32 | ColumnType::Int64 => {
                builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnType::Text => builder.set_column_dictionary_enabled(path, true),
            ColumnType::Double | ColumnType::Bool => builder,
        };
    }
    builder
}

/// The key under which a file describes its columns.
pub(crate) const COLUMNS: &str = "tailwater.columns";
/// Rows of a row group. It is large enough to make its overhead negligible, and small enough to keep a few in memory
/// (about 3 MB for the 20 columns of a flow).
pub(crate) const GROUP: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::{self, Array};

    fn field(name: &str, kind: ColumnType, optional: bool) -> Field {
        Field {
            name: name.to_owned(),
            kind,
            optional,
            unit: "",
            help: "",
        }
    }

    #[test]
    fn what_is_written_is_read_back_over_several_row_groups() {
        let fields = [
            field("i", ColumnType::Int32, false),
            field("l", ColumnType::Int64, true),
            field("d", ColumnType::Double, true),
            field("b", ColumnType::Bool, false),
            field("t", ColumnType::Text, true),
        ];
        let rows = i64::try_from(GROUP).unwrap() * 2 + 7;
        let texts = ["newreno", "", "größer"];
        let cells = |i: i64| {
            let place = usize::try_from(i % 3).unwrap();
            let third = |cell| if place == 0 { Cell::Null } else { cell };
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let real = i as f64 / 3.0;
            [
                Cell::Int(i),
                third(Cell::Int(-i * 1_000_000_007)),
                third(Cell::Double(real)),
                Cell::Bool(i % 2 == 0),
                if i % 5 == 0 {
                    Cell::Null
                } else {
                    Cell::Text(texts[place])
                },
            ]
        };
        let path = std::env::temp_dir().join(format!("tailwater-table-{}", std::process::id()));
        let mut table = TableWriter::new(File::create(&path).unwrap(), &fields, "test").unwrap();
        for i in 0..rows {
            table.row(cells(i)).unwrap();
        }
        table.finish().unwrap();
        let mut next = 0;
        read(&path, &mut |row| {
            let read: Vec<_> = (0..5).map(|column| row.cell(column)).collect();
            assert_eq!(read, cells(next));
            next += 1;
        })
        .unwrap();
        assert_eq!(next, rows);
        assert_eq!(names(&path).unwrap(), ["i", "l", "d", "b", "t"]);
        let (described, count) = decoded::describe(&path).unwrap();
        assert_eq!(i64::try_from(count).unwrap(), rows);
        assert_eq!(described[1].kind, ColumnType::Int64);
        assert!(described[1].optional && !described[0].optional);
        let mut built: Vec<Array> = fields
            .iter()
            .map(|field| Array::new(field.kind, field.optional))
            .collect();
        let groups = decoded::decode(&path).unwrap();
        assert_eq!(groups.len(), 3);
        let last = i64::try_from(GROUP).unwrap() * 2;
        for row in last..rows {
            built
                .iter_mut()
                .zip(cells(row))
                .for_each(|(array, cell)| array.push(cell));
        }
        // NaN, which stands for a missing number, is not equal to itself.
        assert_eq!(format!("{:?}", groups[2]), format!("{built:?}"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_table_is_compressed_and_one_that_is_not_is_read_as_well() {
        let fields = [
            field("n", ColumnType::Int64, false),
            field("x", ColumnType::Double, false),
        ];
        let written = |compression: Option<Compression>| {
            let name = format!("tailwater-codec-{compression:?}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let file = File::create(&path).unwrap();
            let mut table = match compression {
                Some(other) => TableWriter::compressed(file, &fields, "test", other).unwrap(),
                None => TableWriter::new(file, &fields, "test").unwrap(),
            };
            for i in 0..1000 {
                table.row([Cell::Int(i), Cell::Double(11_500.25)]).unwrap();
            }
            table.finish().unwrap();
            let mut rows = Vec::new();
            read(&path, &mut |row| {
                rows.push(format!("{:?} {:?}", row.cell(0), row.cell(1)));
            })
            .unwrap();
            let bytes = std::fs::metadata(&path).unwrap().len();
            std::fs::remove_file(path).unwrap();
            (rows, bytes)
        };
        let (now, small) = written(None);
        let (before, large) = written(Some(Compression::UNCOMPRESSED));
        assert_eq!(now.len(), 1000);
        assert_eq!(now, before);
        assert!(2 * small < large, "{small} of {large} bytes");
    }
}
