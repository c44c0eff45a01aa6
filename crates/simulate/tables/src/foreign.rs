//! Reads Parquet files of other programs: pyarrow, pandas, polars and others.
//!
//! Such files have more types than ours: unsigned numbers, short floats, times, lists. Only the requested columns are
//! read, so the others may have any type.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::guard;
use crate::rows::{Cell, Column};

/// A file whose columns are known.
pub(crate) struct Foreign {
    reader: SerializedFileReader<File>,
    columns: Vec<ForeignColumn>,
}

/// A column of such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignColumn {
    /// Its name; within a structure, preceded by the names above it.
    pub(crate) name: String,
    /// For a column of dates: the unit of its numbers in picoseconds since 1970.
    pub(crate) tick: Option<u64>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Values are stored unchanged.
    Stored,
    /// Negative stored numbers stand for large unsigned ones.
    Unsigned32,
    Unsigned64,
    /// Nothing that a cell holds.
    Other,
}

impl Foreign {
    /// Opens the file at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let reader = guard::read(|| SerializedFileReader::new(file))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let columns = schema.columns().iter().map(|column| ForeignColumn {
            name: column.path().string(),
            tick: tick(column),
            form: form(column),
        });
        Ok(Self {
            columns: columns.collect(),
            reader,
        })
    }

    /// Its columns, in order.
    pub(crate) fn columns(&self) -> &[ForeignColumn] {
        &self.columns
    }

    /// Calls `each` with the text of every cell of these columns, row by row, until it fails.
    pub(crate) fn read(
        &self,
        wanted: &[usize],
        each: &mut dyn FnMut(&[String]) -> Result<(), String>,
    ) -> io::Result<Result<(), String>> {
        for column in wanted.iter().map(|number| &self.columns[*number]) {
            if column.form == Form::Other {
                let why = format!(
                    "column {} has an unsupported type: expected numbers, texts or dates",
                    column.name
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
        self.refuse_codecs(wanted)?;
        let mut texts = vec![String::new(); wanted.len()];
        for group in 0..self.reader.num_row_groups() {
            let (rows, columns) = guard::read(|| -> parquet::errors::Result<_> {
                let group = self.reader.get_row_group(group)?;
                let columns = wanted
                    .iter()
                    .map(|number| Column::read(group.as_ref(), *number));
                let columns = columns.collect::<parquet::errors::Result<Vec<Column>>>()?;
                Ok((group.metadata().num_rows(), columns))
            })?;
            for row in 0..usize::try_from(rows).unwrap_or(0) {
                for ((text, column), number) in texts.iter_mut().zip(&columns).zip(wanted) {
                    *text = written(column.cell(row), self.columns[*number].form);
                }
                if let Err(wrong) = each(&texts) {
                    return Ok(Err(wrong));
                }
            }
        }
        Ok(Ok(()))
    }
}

impl Foreign {
    /// An error with a remedy for a column whose compression cannot be read.
    fn refuse_codecs(&self, wanted: &[usize]) -> io::Result<()> {
        for group in self.reader.metadata().row_groups() {
            for number in wanted {
                if let Some(why) = refused(group.column(*number).compression()) {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
            }
        }
        Ok(())
    }
}

/// The reason why a column with this compression is not read, if it is not.
fn refused(compression: Compression) -> Option<String> {
    let name = match compression {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        _ => return None,
    };
    Some(format!(
        "it is compressed with {name}, which is not supported: write it with Snappy, Zstandard, gzip or LZ4"
    ))
}

/// A cell as text, with all its digits.
fn written(cell: Cell<'_>, form: Form) -> String {
    match (cell, form) {
        (Cell::Int(value), Form::Unsigned32) => (value & 0xffff_ffff).to_string(),
        (Cell::Int(value), Form::Unsigned64) => value.cast_unsigned().to_string(),
        (Cell::Double(value), _) if value.is_nan() => String::new(),
        (cell, _) => cell.to_string(),
    }
}

fn tick(column: &ColumnDescriptor) -> Option<u64> {
    let unit = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(time)), _) => time.unit,
        (_, ConvertedType::TIMESTAMP_MILLIS) => TimeUnit::MILLIS,
        (_, ConvertedType::TIMESTAMP_MICROS) => TimeUnit::MICROS,
        _ => return None,
    };
    Some(match unit {
        TimeUnit::MILLIS => 1_000_000_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000,
    })
}

fn form(column: &ColumnDescriptor) -> Form {
    let decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
        || column.converted_type() == ConvertedType::DECIMAL;
    if decimal || column.max_rep_level() > 0 {
        return Form::Other;
    }
    let unsigned = match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) => !integer.is_signed,
        (_, converted) => [ConvertedType::UINT_32, ConvertedType::UINT_64].contains(&converted),
    };
    match column.physical_type() {
        Physical::INT32 if unsigned => Form::Unsigned32,
        Physical::INT64 if unsigned => Form::Unsigned64,
        Physical::INT32
        | Physical::INT64
        | Physical::FLOAT
        | Physical::DOUBLE
        | Physical::BOOLEAN
        | Physical::BYTE_ARRAY => Form::Stored,
        _ => Form::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::basic::{BrotliLevel, GzipLevel, ZstdLevel};
    use parquet::column::writer::ColumnCloseResult;
    use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::flows::{FlowTrace, TraceFileSettings};

    /// A schema as pandas writes it: dates in nanoseconds, unsigned numbers, text, and columns without meaning for a
    /// trace.
    const SCHEMA: &str = "message schema {
        OPTIONAL INT64 start_us (TIMESTAMP(NANOS,true));
        REQUIRED INT64 size_bytes (INTEGER(64,false));
        REQUIRED BYTE_ARRAY sender (STRING);
        OPTIONAL BYTE_ARRAY receiver (STRING);
        REQUIRED INT32 ttl (INTEGER(32,false));
        REQUIRED FLOAT loss;
        OPTIONAL FIXED_LEN_BYTE_ARRAY (2) odd (FLOAT16);
    }";

    fn column<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, File>,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let mut column = group.next_column()?.expect("another column");
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()
    }

    fn written_with(compression: Compression, path: &Path) -> Result<(), ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = File::create(path)?;
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let texts = |text: &str| [ByteArray::from(text), ByteArray::from(text)];
        let first = 1_700_000_000_000_000_000;
        column::<Int64Type>(&mut group, &[first, first + 1_500], Some(&[1, 1]))?;
        column::<Int64Type>(&mut group, &[1500, 3_000_000_000], None)?;
        column::<ByteArrayType>(&mut group, &texts("10.0.0.1"), None)?;
        column::<ByteArrayType>(&mut group, &texts("10.0.0.2"), Some(&[1, 1]))?;
        column::<Int32Type>(&mut group, &[-1, 64], None)?;
        column::<FloatType>(&mut group, &[0.5, f32::NAN], None)?;
        column::<parquet::data_type::FixedLenByteArrayType>(&mut group, &[], Some(&[0, 0]))?;
        group.close()?;
        writer.close()?;
        Ok(())
    }

    #[test]
    fn a_trace_is_read_from_every_compression_that_programs_use() {
        let all = [
            ("none", Compression::UNCOMPRESSED),
            ("snappy", Compression::SNAPPY),
            ("zstd", Compression::ZSTD(ZstdLevel::default())),
            ("gzip", Compression::GZIP(GzipLevel::default())),
            ("lz4", Compression::LZ4_RAW),
        ];
        for (name, compression) in all {
            let path =
                std::env::temp_dir().join(format!("foreign-{name}-{}.parquet", std::process::id()));
            written_with(compression, &path).unwrap();
            let trace =
                FlowTrace::open(&path.to_string_lossy(), &TraceFileSettings::default()).unwrap();
            let flows: Vec<_> = trace
                .flows()
                .iter()
                .map(|flow| (flow.start.as_ps(), flow.size))
                .collect();
            assert_eq!(flows, [(0, 1500), (1_500_000, 3_000_000_000)], "{name}");
            assert_eq!(trace.last_host(), 1, "{name}");
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn only_columns_that_are_asked_for_must_be_of_a_known_type() {
        let path =
            std::env::temp_dir().join(format!("foreign-types-{}.parquet", std::process::id()));
        written_with(Compression::SNAPPY, &path).unwrap();
        let file = Foreign::open(&path).unwrap();
        let mut cells = Vec::new();
        let read = file.read(&[4, 5], &mut |row| {
            cells.extend(row.iter().cloned());
            Ok(())
        });
        assert_eq!(read.unwrap(), Ok(()));
        assert_eq!(cells, ["4294967295", "0.5", "64", ""]);
        let refused = file.read(&[6], &mut |_| Ok(())).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("column odd has an unsupported type")
        );
        std::fs::remove_file(path).unwrap();
    }

    /// The file at `path` with this compression in its columns' metadata. The data stays unchanged, because a reader
    /// that refuses the compression does not read it.
    fn relabelled(compression: Compression, path: &Path) -> Result<(), ParquetError> {
        written_with(Compression::UNCOMPRESSED, path)?;
        let bytes = Bytes::from(std::fs::read(path)?);
        let reader = SerializedFileReader::new(bytes.clone())?;
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::default())?;
        let mut group = writer.next_row_group()?;
        let told = reader.metadata().row_group(0);
        for column in told.columns() {
            let metadata = column.clone().into_builder();
            let close = ColumnCloseResult {
                bytes_written: column.compressed_size().unsigned_abs(),
                rows_written: told.num_rows().unsigned_abs(),
                metadata: metadata.set_compression(compression).build()?,
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(&bytes, close)?;
        }
        group.close()?;
        writer.close()?;
        Ok(())
    }

    #[test]
    fn a_compression_that_is_not_read_is_named_with_those_that_are() {
        let all = [
            ("Brotli", Compression::BROTLI(BrotliLevel::default())),
            ("LZO", Compression::LZO),
        ];
        for (name, compression) in all {
            let path =
                std::env::temp_dir().join(format!("refused-{name}-{}.parquet", std::process::id()));
            relabelled(compression, &path).unwrap();
            let trace = FlowTrace::open(&path.to_string_lossy(), &TraceFileSettings::default());
            let why = trace.expect_err("nobody reads it");
            let expected = format!(
                "it is compressed with {name}, which is not supported: write it with Snappy, Zstandard, gzip or LZ4"
            );
            assert!(why.ends_with(&expected), "{why}");
            std::fs::remove_file(path).unwrap();
        }
    }
}
