//! Writing series: rows in, row groups of Parquet out.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type as SchemaType, TypePtr};
use scenario::series::{FIXED, Traceable};

use crate::guard;

/// One sample of one quantity of whatever `id` numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Picoseconds.
    pub(super) time: u64,
    pub(super) id: u32,
    pub(super) value: f64,
}

/// What the numbers of samples name: the column they go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    Port,
    Flow,
    Host,
}

/// Samples of one quantity.
#[derive(Debug)]
pub(super) struct Block {
    /// Index among the quantities of the file.
    pub(super) quantity: usize,
    pub(super) subject: Subject,
    pub(super) samples: Vec<Sample>,
}

/// What happened to a flow, perhaps at a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Picoseconds.
    pub(super) time: u64,
    pub(super) kind: EventKind,
    pub(super) flow: u32,
    pub(super) port: Option<u32>,
}

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A port has dropped a packet.
    Drop,
    /// A port has marked a packet.
    Mark,
    /// A retransmission timer has expired.
    Timeout,
    /// A timer of the handshake has expired.
    SynTimeout,
    /// Duplicate ACKs have told of a loss.
    FastRetransmit,
    /// A flow has started.
    Start,
    /// A flow has completed.
    Completion,
}

impl EventKind {
    /// What the column `event` calls them, in the order of declaration.
    pub const NAMES: [&'static str; 7] = [
        "drop",
        "mark",
        "timeout",
        "syn_timeout",
        "fast_retransmit",
        "start",
        "completion",
    ];
    pub(super) const COUNT: usize = Self::NAMES.len();
}

/// A series file that grows by row groups.
pub(super) struct SeriesFile {
    writer: SerializedFileWriter<BufWriter<File>>,
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
            let unit =
                (!unit.is_empty()).then(|| KeyValue::new(format!("{name}.unit"), unit.to_owned()));
            let help = KeyValue::new(format!("{name}.description"), help.to_owned());
            unit.into_iter().chain([help])
        });
        let properties = properties(metadata.collect());
        let schema = schema(quantities).map_err(error)?;
        Ok(Self {
            writer: SerializedFileWriter::new(BufWriter::new(file), schema, properties)
                .map_err(error)?,
            point: i32::try_from(point).map_err(io::Error::other)?,
            quantities: quantities.len(),
        })
    }

    /// Writes the samples of `blocks` and `events`, at most [`GROUP`] together, as one row group.
    pub(super) fn write(&mut self, blocks: &[Block], events: &[Event]) -> io::Result<()> {
        let samples: usize = blocks.iter().map(|block| block.samples.len()).sum();
        if samples + events.len() == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(error)?;
        let (point, quantities) = (self.point, self.quantities);
        write_group(&mut group, (point, quantities), blocks, events).map_err(error)?;
        group.close().map_err(error)?;
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        let buffered = self.writer.into_inner().map_err(error)?;
        buffered
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(())
    }
}

/// Column after column, and in each the blocks one after the other, so that levels come in runs.
fn write_group(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    (point, quantities): (i32, usize),
    blocks: &[Block],
    events: &[Event],
) -> Result<(), ParquetError> {
    let blocks = || blocks.iter().filter(|block| !block.samples.is_empty());
    let mut numbers = Vec::with_capacity(GROUP);
    let mut reals = Vec::with_capacity(GROUP);
    column::<Int32Type>(group, |column| {
        let rows = blocks().map(|block| block.samples.len()).sum::<usize>() + events.len();
        numbers.resize(rows, point);
        column.write_batch(&numbers, None, None)
    })?;
    column::<DoubleType>(group, |column| {
        let times = blocks().flat_map(|block| &block.samples);
        reals.extend(times.map(|sample| micros(sample.time)));
        reals.extend(events.iter().map(|event| micros(event.time)));
        column.write_batch(&reals, None, None)
    })?;
    for subject in [Subject::Port, Subject::Flow, Subject::Host] {
        column::<Int32Type>(group, |column| {
            for block in blocks() {
                let rows = block.samples.len();
                if block.subject == subject {
                    numbers.clear();
                    numbers.extend(block.samples.iter().map(|sample| number(sample.id)));
                    column.write_batch(&numbers, Some(&PRESENT[..rows]), None)?;
                } else {
                    column.write_batch(&[], Some(&NULL[..rows]), None)?;
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
            column.write_batch(&values, Some(&levels), None)
        })?;
    }
    column::<ByteArrayType>(group, |column| {
        for block in blocks() {
            column.write_batch(&[], Some(&NULL[..block.samples.len()]), None)?;
        }
        let names =
            EventKind::NAMES.map(|name| ByteArray::from(Bytes::from_static(name.as_bytes())));
        let name = |event: &Event| names[event.kind as usize].clone();
        let values: Vec<ByteArray> = events.iter().map(name).collect();
        column.write_batch(&values, Some(&PRESENT[..events.len()]), None)
    })?;
    for quantity in 0..quantities {
        column::<DoubleType>(group, |column| {
            for block in blocks() {
                let rows = block.samples.len();
                if block.quantity == quantity {
                    reals.clear();
                    reals.extend(block.samples.iter().map(|sample| sample.value));
                    column.write_batch(&reals, Some(&PRESENT[..rows]), None)?;
                } else {
                    column.write_batch(&[], Some(&NULL[..rows]), None)?;
                }
            }
            column.write_batch(&[], Some(&NULL[..events.len()]), None)
        })?;
    }
    Ok(())
}

/// Writes the next column of a group by `write`.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    write: impl FnOnce(
        &mut parquet::column::writer::ColumnWriterImpl<'_, T>,
    ) -> Result<usize, ParquetError>,
) -> Result<(), ParquetError> {
    let next = group.next_column()?;
    let mut column = next.ok_or_else(|| ParquetError::General("a column too many".into()))?;
    write(column.typed::<T>())?;
    column.close()
}

/// One series file out of `parts`, each complete and with the same columns, in their order; each with
/// the number that its point has by now: a sweep that gets more seeds numbers its points anew.
///
/// Row groups are copied as they are but for that number, so the time is that of copying files and
/// memory holds the descriptions of row groups alone. Fails if there is no part or one has other
/// columns.
pub fn concatenate(parts: &mut dyn Iterator<Item = (usize, PathBuf)>, out: File) -> io::Result<()> {
    let mut joined: Option<SerializedFileWriter<BufWriter<File>>> = None;
    let mut out = Some(out);
    for (point, path) in parts {
        let point = i32::try_from(point).map_err(io::Error::other)?;
        let file = File::open(&path)?;
        let described = file.try_clone()?;
        let part = guard::read(|| SerializedFileReader::new(described)).map_err(|error| {
            let message = format!("{} is damaged: {error}", path.display());
            io::Error::new(error.kind(), message)
        })?;
        let described = part.metadata().file_metadata();
        if let Some(out) = out.take() {
            let metadata = described.key_value_metadata().cloned().unwrap_or_default();
            let schema = described.schema_descr().root_schema_ptr();
            let properties = properties(metadata);
            let writer = SerializedFileWriter::new(BufWriter::new(out), schema, properties);
            joined = Some(writer.map_err(error)?);
        }
        let Some(writer) = &mut joined else { continue };
        if described.schema() != writer.schema_descr().root_schema() {
            let message = format!("{} has other columns than the first part", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        for group in part.metadata().row_groups() {
            let mut copy = writer.next_row_group().map_err(error)?;
            let rows = usize::try_from(group.num_rows()).map_err(io::Error::other)?;
            column::<Int32Type>(&mut copy, |column| {
                column.write_batch(&vec![point; rows], None, None)
            })
            .map_err(error)?;
            for column in &group.columns()[1..] {
                let close = ColumnCloseResult {
                    bytes_written: u64::try_from(column.compressed_size())
                        .map_err(io::Error::other)?,
                    rows_written: rows as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                copy.append_column(&file, close).map_err(error)?;
            }
            copy.close().map_err(error)?;
        }
    }
    let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "there are no series to join");
    let buffered = joined.ok_or_else(nothing)?.into_inner().map_err(error)?;
    buffered
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

fn schema(quantities: &[&Traceable]) -> Result<TypePtr, ParquetError> {
    let field = |name, kind, repetition| {
        SchemaType::primitive_type_builder(name, kind).with_repetition(repetition)
    };
    let optional = |name| field(name, Type::INT32, Repetition::OPTIONAL).build();
    let event = field("event", Type::BYTE_ARRAY, Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::String))
        .with_converted_type(ConvertedType::UTF8);
    let mut fields = vec![
        field("point", Type::INT32, Repetition::REQUIRED).build()?,
        field("time_us", Type::DOUBLE, Repetition::REQUIRED).build()?,
        optional("port")?,
        optional("flow")?,
        optional("host")?,
        event.build()?,
    ];
    for quantity in quantities {
        fields.push(field(quantity.name, Type::DOUBLE, Repetition::OPTIONAL).build()?);
    }
    let fields = fields.into_iter().map(Arc::new).collect();
    let schema = SchemaType::group_type_builder("series").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}

/// Everything is written as it is: differences would make files a third smaller, and take twice as
/// long for numbers that repeat. Least and greatest values of a group let readers skip it where that
/// can be of use.
fn properties(metadata: Vec<KeyValue>) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("tailwater {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(GROUP)
        .set_data_page_size_limit(GROUP * 16)
        .set_write_batch_size(GROUP)
        .set_column_dictionary_enabled(ColumnPath::from("event"), true);
    for name in ["point", "port", "flow", "host"] {
        properties = properties
            .set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
    }
    Arc::new(properties.build())
}

/// Times in files and results are microseconds.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
pub(super) fn micros(picoseconds: u64) -> f64 {
    picoseconds as f64 / 1e6
}

/// Parquet's integers are signed.
#[expect(
    clippy::cast_possible_wrap,
    reason = "ports, flows and hosts are below 2^24"
)]
const fn number(id: u32) -> i32 {
    id as i32
}

fn error(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

/// Rows of a full row group: its buffers, some hundred kilobytes each, then stay in the cache and in the
/// allocator's hands; four times as many rows cost a quarter more.
pub(super) const GROUP: usize = 1 << 15;
/// Definition levels of a group without and with values.
static NULL: LazyLock<Vec<i16>> = LazyLock::new(|| vec![0; GROUP]);
static PRESENT: LazyLock<Vec<i16>> = LazyLock::new(|| vec![1; GROUP]);
