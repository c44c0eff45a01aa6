//! Tables as Arrow streams (the `PyCapsule` interface), which polars, pandas, pyarrow and `DuckDB` accept directly.
//!
//! A file is decoded once, when its values are first needed. All streams share the same buffers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use results::Frame;
use scenario::{Problem, Problems};
use tables::ColumnType;
use tables::decoded::{self, Array, ArrayValues, Description};

use crate::errors::{guarded, internal};

/// Columns with a name, a unit and a description.
#[pyclass(frozen, module = "tailwater._tailwater")]
pub(crate) struct Table {
    path: Option<PathBuf>,
    columns: Vec<Description>,
    rows: usize,
    schema: SchemaRef,
    batches: OnceLock<Vec<RecordBatch>>,
}

impl Table {
    /// The table in a file, which is read when a value is needed.
    pub(crate) fn of_file(path: PathBuf) -> Result<Self, Problems> {
        let (columns, rows) =
            decoded::describe(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(Self {
            schema: schema(&columns),
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
            columns,
            path: Some(path),
            batches: OnceLock::new(),
        })
    }

    /// A table in memory.
    pub(crate) fn of_frame(frame: Frame) -> Self {
        let schema = schema(&frame.columns);
        let batch = batch(&schema, frame.arrays);
        Self {
            path: None,
            columns: frame.columns,
            rows: batch.num_rows(),
            schema,
            batches: OnceLock::from(vec![batch]),
        }
    }

    fn batches(&self) -> Result<&[RecordBatch], Problems> {
        if let (None, Some(path)) = (self.batches.get(), &self.path) {
            let groups = decoded::decode(path).map_err(|error| unreadable(path, &error))?;
            let groups = groups.into_iter().map(|group| batch(&self.schema, group));
            // If two threads read at the same time, one result is discarded.
            drop(self.batches.set(groups.collect()));
        }
        Ok(self.batches.get().map_or(&[], Vec::as_slice))
    }
}

#[pymethods]
impl Table {
    /// The Parquet file, if there is one.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// Name, type, unit and description of every column.
    #[getter]
    fn columns(&self) -> Vec<(&str, String, &str, &str)> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let described = columns.map(|(column, field)| {
            let kind = field.data_type().to_string().to_ascii_lowercase();
            (
                column.name.as_str(),
                kind,
                column.unit.as_str(),
                column.help.as_str(),
            )
        });
        described.collect()
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        let schema = schema.map_err(|error| internal(py, &error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// A consumer may ask for other types, which a producer need not give.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = guarded(py, || Ok::<_, Problems>(self.batches()?.to_vec()))?;
        let batches = batches.into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn schema(columns: &[Description]) -> SchemaRef {
    let fields = columns.iter().map(|column| {
        let kind = match column.kind {
            ColumnType::Int32 => DataType::Int32,
            ColumnType::Int64 => DataType::Int64,
            ColumnType::Double => DataType::Float64,
            ColumnType::Bool => DataType::Boolean,
            ColumnType::Text => DataType::Utf8,
        };
        let words = [("unit", &column.unit), ("description", &column.help)];
        let words = words.into_iter().filter(|(_, word)| !word.is_empty());
        let words = words.map(|(key, word)| (key.to_owned(), word.clone()));
        Field::new(&column.name, kind, column.optional)
            .with_metadata(words.collect::<BTreeMap<_, _>>())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Arrays that take over the decoded memory.
fn batch(schema: &SchemaRef, arrays: Vec<Array>) -> RecordBatch {
    let arrays = arrays.into_iter().map(array).collect();
    RecordBatch::try_new(Arc::clone(schema), arrays).expect("columns of one length, as described")
}

fn array(array: Array) -> ArrayRef {
    let valid = array.valid.map(NullBuffer::from);
    match array.values {
        ArrayValues::Int32(values) => Arc::new(Int32Array::new(values.into(), valid)),
        ArrayValues::Int64(values) => Arc::new(Int64Array::new(values.into(), valid)),
        ArrayValues::Double(values) => Arc::new(Float64Array::new(values.into(), valid)),
        ArrayValues::Bool(values) => {
            Arc::new(BooleanArray::new(BooleanBuffer::from(values), valid))
        }
        ArrayValues::Text { offsets, bytes } => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let text = StringArray::try_new(offsets, Buffer::from_vec(bytes), valid);
            Arc::new(text.expect("texts that were checked when they were read"))
        }
    }
}

fn unreadable(path: &std::path::Path, error: &std::io::Error) -> Problems {
    let problem = Problem::new(format!("cannot read {}: {error}", path.display()));
    let help = "run its scenario again into another folder; the results will be the same";
    problem.help(help).into()
}
