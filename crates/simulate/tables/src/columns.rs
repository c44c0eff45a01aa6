//! Writes columns into row groups of Parquet, for rows in which most values are missing and the present ones come in
//! runs.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Type as Physical};
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::{Type, TypePtr};

use crate::guard;
use crate::rows::{Cell, Column, Field, schema};

/// A file made of row groups with at most [`ColumnFile::GROUP`] rows.
pub struct ColumnFile {
    writer: SerializedFileWriter<BufWriter<File>>,
}

/// A row group, whose columns are written in the order of their fields.
pub struct RowGroup<'a> {
    writer: SerializedRowGroupWriter<'a, BufWriter<File>>,
}

/// A column of whole numbers. A level is 1 for a row with a value and 0 for a row without.
pub struct IntColumn<'a, 'b>(&'a mut ColumnWriterImpl<'b, Int32Type>);

/// A column of real numbers.
pub struct RealColumn<'a, 'b>(&'a mut ColumnWriterImpl<'b, DoubleType>);

/// A column of text.
pub struct TextColumn<'a, 'b>(&'a mut ColumnWriterImpl<'b, ByteArrayType>);

impl ColumnFile {
    /// Rows of a full row group. Its buffers, some hundred kilobytes each, then stay in the cache and in the allocator;
    /// four times as many rows cost a quarter more.
    pub const GROUP: usize = 1 << 15;

    /// A file with these columns in a schema group of this name, with the keys and values of `metadata` and the name of
    /// its `creator`.
    pub fn new(
        file: File,
        (name, fields): (&str, &[Field]),
        metadata: impl IntoIterator<Item = (String, String)>,
        creator: &str,
    ) -> io::Result<Self> {
        let metadata = metadata
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value));
        let schema = Arc::new(schema(name, fields).map_err(error)?);
        Self::with(file, schema, &[], metadata.collect(), creator)
    }

    fn with(
        file: File,
        schema: TypePtr,
        repeated: &[Field],
        metadata: Vec<KeyValue>,
        creator: &str,
    ) -> io::Result<Self> {
        let properties = properties(&schema, repeated, metadata, creator);
        let writer = SerializedFileWriter::new(BufWriter::new(file), schema, properties);
        Ok(Self {
            writer: writer.map_err(error)?,
        })
    }

    /// Adds a row group, which `write` fills.
    pub fn group(
        &mut self,
        write: impl FnOnce(&mut RowGroup<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut group = self.next_group()?;
        write(&mut group)?;
        group.close()
    }

    /// Writes the footer.
    pub fn finish(self) -> io::Result<()> {
        let buffered = self.writer.into_inner().map_err(error)?;
        buffered
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(())
    }

    fn next_group(&mut self) -> io::Result<RowGroup<'_>> {
        let writer = self.writer.next_row_group().map_err(error)?;
        Ok(RowGroup { writer })
    }
}

impl RowGroup<'_> {
    /// Writes the next column, of whole numbers.
    pub fn ints(
        &mut self,
        write: impl FnOnce(&mut IntColumn<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut column = self.next()?;
        write(&mut IntColumn(column.typed()))?;
        close(column)
    }

    /// Writes the next column, of real numbers.
    pub fn reals(
        &mut self,
        write: impl FnOnce(&mut RealColumn<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut column = self.next()?;
        write(&mut RealColumn(column.typed()))?;
        close(column)
    }

    /// Writes the next column, of text.
    pub fn texts(
        &mut self,
        write: impl FnOnce(&mut TextColumn<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut column = self.next()?;
        write(&mut TextColumn(column.typed()))?;
        close(column)
    }

    fn next(&mut self) -> io::Result<SerializedColumnWriter<'_>> {
        let next = self.writer.next_column().map_err(error)?;
        next.ok_or_else(|| io::Error::other("a column too many"))
    }

    fn close(self) -> io::Result<()> {
        self.writer.close().map_err(error)?;
        Ok(())
    }
}

fn close(column: SerializedColumnWriter<'_>) -> io::Result<()> {
    column.close().map_err(error)
}

impl IntColumn<'_, '_> {
    /// Writes the next rows: `values` has a value for each level of 1, or for all rows without levels.
    pub fn write(&mut self, values: &[i32], levels: Option<&[i16]>) -> io::Result<()> {
        written(self.0.write_batch(values, levels, None))
    }
}

impl RealColumn<'_, '_> {
    /// As [`IntColumn::write`].
    pub fn write(&mut self, values: &[f64], levels: Option<&[i16]>) -> io::Result<()> {
        written(self.0.write_batch(values, levels, None))
    }
}

impl TextColumn<'_, '_> {
    /// As [`IntColumn::write`].
    pub fn write(&mut self, values: &[&'static str], levels: Option<&[i16]>) -> io::Result<()> {
        let values = values
            .iter()
            .map(|text| ByteArray::from(Bytes::from_static(text.as_bytes())));
        let values: Vec<ByteArray> = values.collect();
        written(self.0.write_batch(&values, levels, None))
    }
}

/// Joins `parts` into one file, in order. All must be complete and have the same columns. The columns of `leading`
/// replace the first column of each part. Each of them has one value for all rows of a part: the cells given with the
/// part.
///
/// Row groups are copied unchanged except for these columns. So it takes about as long as copying the files, and memory
/// only holds the descriptions of row groups. Fails without parts, or if a part has other columns.
pub fn concatenate(
    leading: &[Field],
    parts: &mut dyn Iterator<Item = (Vec<Cell<'_>>, PathBuf)>,
    out: File,
    creator: &str,
) -> io::Result<()> {
    let mut joined: Option<(ColumnFile, TypePtr)> = None;
    let mut out = Some(out);
    for (cells, path) in parts {
        let file = File::open(&path)?;
        let described = file.try_clone()?;
        let part = guard::read(|| SerializedFileReader::new(described)).map_err(|error| {
            let message = format!("{} is damaged: {error}", path.display());
            io::Error::new(error.kind(), message)
        })?;
        let described = part.metadata().file_metadata();
        if let Some(out) = out.take() {
            let own = described.schema_descr().root_schema_ptr();
            joined = Some((begin(leading, &part, out, creator)?, own));
        }
        let Some((joined, first)) = &mut joined else {
            continue;
        };
        if described.schema() != first.as_ref() {
            let message = format!("{} has other columns than the first part", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        copy_groups((leading, &cells), &file, &part, joined)?;
    }
    let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "there is nothing to join");
    joined.ok_or_else(nothing)?.0.finish()
}

/// A file with the columns of `leading` in place of the first column of `part`.
fn begin(
    leading: &[Field],
    part: &SerializedFileReader<File>,
    out: File,
    creator: &str,
) -> io::Result<ColumnFile> {
    let part = part.metadata().file_metadata();
    let own = part.schema();
    let first = schema(own.name(), leading).map_err(error)?;
    let fields = first.get_fields().iter().chain(&own.get_fields()[1..]);
    let joined = Type::group_type_builder(own.name()).with_fields(fields.cloned().collect());
    let joined = Arc::new(joined.build().map_err(error)?);
    let mut metadata = part.key_value_metadata().cloned().unwrap_or_default();
    for field in leading {
        let said = [("unit", field.unit), ("description", field.help)];
        for (what, text) in said.into_iter().filter(|(_, text)| !text.is_empty()) {
            let key = format!("{}.{what}", field.name);
            if metadata.iter().all(|known| known.key != key) {
                metadata.push(KeyValue::new(key, text.to_owned()));
            }
        }
    }
    ColumnFile::with(out, joined, leading, metadata, creator)
}

fn copy_groups(
    (leading, cells): (&[Field], &[Cell<'_>]),
    file: &File,
    part: &SerializedFileReader<File>,
    out: &mut ColumnFile,
) -> io::Result<()> {
    for group in part.metadata().row_groups() {
        let rows = usize::try_from(group.num_rows()).map_err(io::Error::other)?;
        let mut copy = out.next_group()?;
        for (field, cell) in leading.iter().zip(cells) {
            let column = copy.next()?;
            Column::repeated(field, *cell, rows)
                .write(column)
                .map_err(error)?;
        }
        for column in &group.columns()[1..] {
            let close = ColumnCloseResult {
                bytes_written: u64::try_from(column.compressed_size()).map_err(io::Error::other)?,
                rows_written: rows as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            copy.writer.append_column(file, close).map_err(error)?;
        }
        copy.close()?;
    }
    Ok(())
}

/// Values are written without difference encoding, which would make files a third smaller but take twice as long for
/// repeated numbers. The least and the greatest value of a group are stored where readers can use them to skip the
/// group. Columns of `repeated` values, and text, use a dictionary.
fn properties(
    schema: &TypePtr,
    repeated: &[Field],
    metadata: Vec<KeyValue>,
    creator: &str,
) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_created_by(creator.to_owned())
        .set_key_value_metadata(Some(metadata))
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(ColumnFile::GROUP)
        .set_data_page_size_limit(ColumnFile::GROUP * 16)
        .set_write_batch_size(ColumnFile::GROUP);
    for field in schema.get_fields() {
        let path = field.name().into();
        properties = match field.get_physical_type() {
            Physical::INT32 => {
                properties.set_column_statistics_enabled(path, EnabledStatistics::Chunk)
            }
            Physical::BYTE_ARRAY => properties.set_column_dictionary_enabled(path, true),
            _ => properties,
        };
    }
    for field in repeated {
        let path = field.name.as_str().into();
        properties = properties.set_column_dictionary_enabled(path, true);
    }
    Arc::new(properties.build())
}

fn written(rows: Result<usize, ParquetError>) -> io::Result<()> {
    rows.map(|_| ()).map_err(error)
}

fn error(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
