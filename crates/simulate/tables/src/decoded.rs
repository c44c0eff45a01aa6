//! Columns of Parquet files as arrays, for callers that pass on whole columns.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::file::metadata::{FileMetaData, KeyValue};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::guard;
use crate::rows::{Cell, Column, ColumnType, Values as Compact};

/// The description of a column in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnType,
    /// Whether values may be missing.
    pub optional: bool,
    /// Its unit, or the things that it counts; empty if it has none.
    pub unit: String,
    /// Its meaning; empty if the file does not give it.
    pub help: String,
}

/// The values of one column, in the order of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// A value for each row, meaningless for a row without a value.
    pub values: ArrayValues,
    /// For a column with optional values: whether each row has a value.
    pub valid: Option<Vec<bool>>,
}

/// Values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayValues {
    /// Whole numbers of 32 bits.
    Int32(Vec<i32>),
    /// Whole numbers of 64 bits.
    Int64(Vec<i64>),
    /// Real numbers.
    Double(Vec<f64>),
    /// True or false.
    Bool(Vec<bool>),
    /// Texts behind each other.
    Text {
        /// The position of each text in the bytes, and the end of the last.
        offsets: Vec<i32>,
        /// Their UTF-8.
        bytes: Vec<u8>,
    },
}

/// The columns of the file at `path` and how many rows it has, without reading any.
pub fn describe(path: &Path) -> io::Result<(Vec<Description>, u64)> {
    let file = File::open(path)?;
    let reader = guard::read(|| SerializedFileReader::new(file))?;
    let metadata = reader.metadata().file_metadata();
    let columns = metadata.schema_descr().columns().iter();
    let described = columns.map(|column| {
        let optional = column.max_def_level() > 0;
        let (unit, help) = words(metadata, column.name());
        let kind = ColumnType::of(column.physical_type())
            .ok_or_else(|| wrong("a column has an unsupported type"))?;
        Ok(Description {
            name: column.name().to_owned(),
            kind,
            optional,
            unit,
            help,
        })
    });
    let rows = u64::try_from(metadata.num_rows()).unwrap_or(0);
    Ok((described.collect::<io::Result<_>>()?, rows))
}

/// The columns of every row group of the file at `path`, each as one array.
pub fn decode(path: &Path) -> io::Result<Vec<Vec<Array>>> {
    let file = File::open(path)?;
    let reader = guard::read(|| SerializedFileReader::new(file))?;
    let groups = 0..reader.num_row_groups();
    let group = |number| {
        guard::read(|| -> parquet::errors::Result<Vec<Array>> {
            let group = reader.get_row_group(number)?;
            let columns = 0..group.num_columns();
            columns
                .map(|column| Ok(Array::of(Column::read(group.as_ref(), column)?)))
                .collect()
        })
    };
    groups.map(group).collect()
}

impl Array {
    /// No rows yet.
    pub fn new(kind: ColumnType, optional: bool) -> Self {
        let values = match kind {
            ColumnType::Int32 => ArrayValues::Int32(Vec::new()),
            ColumnType::Int64 => ArrayValues::Int64(Vec::new()),
            ColumnType::Double => ArrayValues::Double(Vec::new()),
            ColumnType::Bool => ArrayValues::Bool(Vec::new()),
            ColumnType::Text => ArrayValues::Text {
                offsets: vec![0],
                bytes: Vec::new(),
            },
        };
        Self {
            values,
            valid: optional.then(Vec::new),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the cell is of another kind, or missing where it may not be.
    pub fn push(&mut self, cell: Cell<'_>) {
        if let Some(valid) = &mut self.valid {
            valid.push(cell != Cell::Null);
        }
        let missing = self.valid.is_some() && cell == Cell::Null;
        match (&mut self.values, cell) {
            (ArrayValues::Int32(values), Cell::Int(value)) => {
                values.push(value.try_into().expect("a number of 32 bits"));
            }
            (ArrayValues::Int64(values), Cell::Int(value)) => values.push(value),
            (ArrayValues::Double(values), Cell::Double(value)) => values.push(value),
            (ArrayValues::Bool(values), Cell::Bool(value)) => values.push(value),
            (ArrayValues::Text { offsets, bytes }, Cell::Text(value)) => {
                bytes.extend_from_slice(value.as_bytes());
                offsets.push(end(bytes));
            }
            (ArrayValues::Int32(values), Cell::Null) if missing => values.push(0),
            (ArrayValues::Int64(values), Cell::Null) if missing => values.push(0),
            (ArrayValues::Double(values), Cell::Null) if missing => values.push(f64::NAN),
            (ArrayValues::Bool(values), Cell::Null) if missing => values.push(false),
            (ArrayValues::Text { offsets, bytes }, Cell::Null) if missing => {
                offsets.push(end(bytes));
            }
            (_, cell) => panic!("a column holds no {cell:?}"),
        }
    }

    /// The array of a column that was read; `optional` values keep their validity.
    fn of(column: Column) -> Self {
        let rows = column.rows();
        match (column.levels.is_none(), column.values) {
            (true, Compact::Int32(values)) => Self::whole(ArrayValues::Int32(values)),
            (true, Compact::Int64(values)) => Self::whole(ArrayValues::Int64(values)),
            (true, Compact::Double(values)) => Self::whole(ArrayValues::Double(values)),
            (true, Compact::Bool(values)) => Self::whole(ArrayValues::Bool(values)),
            (required, values) => {
                let column = Column { values, ..column };
                let mut array = Self::new(column.kind(), !required);
                (0..rows).for_each(|row| array.push(column.cell(row)));
                array
            }
        }
    }

    const fn whole(values: ArrayValues) -> Self {
        Self {
            values,
            valid: None,
        }
    }
}

/// Unit and meaning of a column, from the list under one key or from keys of the column's own.
fn words(metadata: &FileMetaData, name: &str) -> (String, String) {
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let value = |key: &str| {
        let found = pairs.iter().find(|pair: &&KeyValue| pair.key == key);
        found.and_then(|pair| pair.value.as_deref())
    };
    let listed = value(crate::rows::COLUMNS).and_then(|text| {
        let all: Value = serde_json::from_str(text).ok()?;
        let column = all.as_array()?.iter().find(|one| one["name"] == name)?;
        let word = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
        Some((word("unit"), word("help")))
    });
    listed.unwrap_or_else(|| {
        let word = |what: &str| {
            value(&format!("{name}.{what}"))
                .unwrap_or_default()
                .to_owned()
        };
        (word("unit"), word("description"))
    })
}

fn end(bytes: &[u8]) -> i32 {
    i32::try_from(bytes.len()).expect("the texts of a row group have less than 2 GiB")
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
