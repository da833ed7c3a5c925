//! Columns of results for other libraries, through Arrow's C interface. A stream knows its schema at once. It
//! makes a batch from its rows of each column when another library pulls the batch.
//!
//! The `arrow` crates make the capsules and their content. The library that takes a capsule frees its memory.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, LargeListArray, PrimitiveArray, RecordBatch,
    RecordBatchReader,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use hedgerow_arrow::BATCH_ROWS;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PySlice, PyString, PyTuple};

use crate::arrays::{Array, view};
use crate::ending::calling;
use crate::error::DataError;
use crate::ids::Ids;
use crate::requested;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// A column: its name, a NumPy array, [`Ids`], or offsets and values of lists, and true if its objects are
/// bytes instead of texts.
type Column<'py> = (String, Bound<'py, PyAny>, bool);

/// Returns the capsule of a stream of batches, for `__arrow_c_stream__`.
#[pyfunction(name = "_arrow_stream")]
pub(crate) fn stream<'py>(
    py: Python<'py>,
    columns: Vec<Column<'py>>,
    requested_schema: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    capsule(py, Box::new(Batches::new(py, columns)?), requested_schema)
}

/// Returns the capsule of the schema without data, for `__arrow_c_schema__`.
#[pyfunction(name = "_arrow_schema")]
pub(crate) fn schema<'py>(py: Python<'py>, columns: Vec<Column<'py>>) -> PyResult<Bound<'py, PyCapsule>> {
    schema_capsule(py, &Batches::new(py, columns)?.schema)
}

/// Returns the capsule of a stream, with the columns as the consumer wants them where that loses nothing.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
    requested_schema: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = match requested_schema {
        Some(wanted) => requested::reader(reader, wanted)?,
        None => reader,
    };
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Returns the capsule of a schema.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(refused)?, SCHEMA)
}

fn refused(error: ArrowError) -> PyErr {
    DataError::new_err(error.to_string())
}

/// The rows of columns as batches, which are made when they are pulled.
struct Batches {
    columns: Vec<Source>,
    schema: SchemaRef,
    rows: usize,
    at: usize,
}

/// The elements of one or two columns.
struct Source {
    name: String,
    elements: Py<PyAny>,
    types: Vec<DataType>,
    is_bytes: bool,
}

impl Batches {
    fn new(py: Python<'_>, columns: Vec<Column<'_>>) -> PyResult<Batches> {
        let _calling = calling(py);
        let (mut sources, mut fields, mut rows) = (Vec::new(), Vec::new(), None);
        for (name, elements, is_bytes) in columns {
            let named = match elements.cast::<Ids>() {
                Ok(ids) => ids.get().columns(&name),
                Err(_) => vec![(name.clone(), type_of(&name, &elements, is_bytes)?)],
            };
            let len = match elements.cast::<PyTuple>() {
                Ok(lists) => lists_in(&name, &lists.get_item(0)?, lists.get_item(1)?.len()?)?,
                Err(_) => elements.len()?,
            };
            let of_others = *rows.get_or_insert(len);
            if of_others != len {
                let text = format!("{name} has {len} elements, and other columns have {of_others}");
                return Err(DataError::new_err(text));
            }
            let types = named.iter().map(|(_, of)| of.clone()).collect();
            fields.extend(named.into_iter().map(|(name, of)| Field::new(name, of, true)));
            sources.push(Source { name, elements: elements.unbind(), types, is_bytes });
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Batches { columns: sources, schema, rows: rows.unwrap_or(0), at: 0 })
    }

    /// Makes the batch of the rows `from` to `to`.
    fn batch(&self, py: Python<'_>, from: usize, to: usize) -> PyResult<RecordBatch> {
        let _calling = calling(py);
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for Source { name, elements, types, is_bytes } in &self.columns {
            let elements = elements.bind(py);
            match elements.cast::<Ids>() {
                Ok(ids) => arrays.extend(ids.get().arrays(types, from, to)),
                Err(_) => arrays.push(array(name, elements, *is_bytes, from, to)?),
            }
        }
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(refused)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (from, to) = (self.at, self.rows.min(self.at.saturating_add(BATCH_ROWS)));
        if from == to {
            return None;
        }
        let made = Python::try_attach(|py| self.batch(py, from, to));
        // After an error the stream is at its end.
        self.at = if matches!(made, Some(Ok(_))) { to } else { self.rows };
        Some(match made {
            Some(made) => made.map_err(|error| ArrowError::ExternalError(Box::new(error))),
            None => Err(ArrowError::InvalidArgumentError("the interpreter has ended".to_owned())),
        })
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Returns the Arrow type of a column, without reading its elements.
fn type_of(name: &str, column: &Bound<'_, PyAny>, is_bytes: bool) -> PyResult<DataType> {
    if let Ok(lists) = column.cast::<PyTuple>() {
        let of = type_of(name, &lists.get_item(1)?, false)?;
        return Ok(DataType::LargeList(Arc::new(Field::new("item", of, true))));
    }
    let dtype = column.getattr("dtype")?;
    let (kind, size) = (dtype.getattr("kind")?.extract::<char>()?, dtype.getattr("itemsize")?.extract()?);
    Ok(match (kind, size) {
        ('b', _) => DataType::Boolean,
        ('u', ..=4) => DataType::UInt32,
        ('u', _) => DataType::UInt64,
        ('i', _) => DataType::Int64,
        ('f', ..=8_usize) => DataType::Float64,
        ('M', _) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ('O' | 'U' | 'T', _) if !is_bytes => DataType::LargeUtf8,
        ('O' | 'S', _) => DataType::LargeBinary,
        _ => return Err(DataError::new_err(format!("{name} has no type of Arrow: it is of {dtype}"))),
    })
}

/// Returns the elements `from` to `to`.
fn part<'py>(column: &Bound<'py, PyAny>, from: usize, to: usize) -> PyResult<Bound<'py, PyAny>> {
    column.get_item(PySlice::new(column.py(), from as isize, to as isize, 1))
}

/// Returns the elements `from` to `to` of a column as an Arrow array.
fn array(
    name: &str,
    column: &Bound<'_, PyAny>,
    is_bytes: bool,
    from: usize,
    to: usize,
) -> PyResult<ArrayRef> {
    if let Ok(lists) = column.cast::<PyTuple>() {
        let (offsets, values) = lists.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        return list_array(name, &part(&offsets, from, to + 1)?, &values);
    }
    let column = Array::read(name, &part(column, from, to)?)?;
    let nulls = column.validity().map(NullBuffer::from);
    let size: usize = column.dtype().getattr("itemsize")?.extract()?;
    Ok(match (column.kind, size) {
        ('b', _) => {
            let bits =
                view::<bool>(&column.array, "bool")?.as_array().iter().copied().collect::<BooleanBuffer>();
            Arc::new(BooleanArray::new(bits, nulls))
        }
        ('u', ..=4) => primitive::<UInt32Type>(&column, "uint32", nulls)?,
        ('u', _) => primitive::<UInt64Type>(&column, "uint64", nulls)?,
        ('i', _) => primitive::<Int64Type>(&column, "int64", nulls)?,
        ('f', _) => primitive::<Float64Type>(&column, "float64", nulls)?,
        ('M', _) => {
            let numbers = column.array.call_method1("view", ("int64",))?.cast_into().map_err(PyErr::from)?;
            let numbers = view::<i64>(&numbers, "int64")?.as_array().to_vec();
            let times = PrimitiveArray::<TimestampMicrosecondType>::try_new(numbers.into(), nulls);
            Arc::new(times.map_err(refused)?.with_timezone("UTC"))
        }
        ('S', _) => objects(name, &column, true)?,
        _ => objects(name, &column, is_bytes)?,
    })
}

fn primitive<T: ArrowPrimitiveType>(
    column: &Array<'_>,
    dtype: &str,
    nulls: Option<NullBuffer>,
) -> PyResult<ArrayRef>
where
    T::Native: Element,
{
    let values: Vec<T::Native> =
        view::<T::Native>(&column.array, dtype)?.as_array().iter().copied().collect();
    Ok(Arc::new(PrimitiveArray::<T>::try_new(ScalarBuffer::from(values), nulls).map_err(refused)?))
}

/// Converts texts or bytes; an element without a value is `None`.
fn objects(name: &str, column: &Array<'_>, is_bytes: bool) -> PyResult<ArrayRef> {
    let kind = if is_bytes { "bytes" } else { "a str" };
    let wrong = |at: usize| DataError::new_err(format!("{name}[{at}] is not {kind}, as other elements are"));
    if is_bytes {
        let mut values = LargeBinaryBuilder::new();
        for (at, item) in column.objects()?.enumerate() {
            match item.is_none() {
                true => values.append_null(),
                false => values.append_value(item.cast::<PyBytes>().map_err(|_| wrong(at))?.as_bytes()),
            }
        }
        return Ok(Arc::new(values.finish()));
    }
    let mut values = LargeStringBuilder::new();
    for (at, item) in column.objects()?.enumerate() {
        match item.is_none() {
            true => values.append_null(),
            false => values.append_value(item.cast::<PyString>().map_err(|_| wrong(at))?.to_cow()?),
        }
    }
    Ok(Arc::new(values.finish()))
}

/// Returns the number of lists with these offsets, which it checks. O(lists).
fn lists_in(name: &str, offsets: &Bound<'_, PyAny>, values: usize) -> PyResult<usize> {
    let offsets = Array::read(name, offsets)?;
    let offsets = view::<i64>(&offsets.array, "int64")?;
    let offsets = offsets.as_array();
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return Err(DataError::new_err(format!("{name}: lists have one offset more than there are lists")));
    };
    if first < 0 || offsets.windows(2).into_iter().any(|ends| ends[0] > ends[1]) {
        return Err(DataError::new_err(format!("{name}: offsets do not ascend")));
    }
    if last as u64 > values as u64 {
        return Err(DataError::new_err(format!("{name}: the last offset is {last} for {values} elements")));
    }
    Ok(offsets.len() - 1)
}

fn list_array(name: &str, offsets: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let offsets = Array::read(name, offsets)?;
    let offsets: Vec<i64> = view::<i64>(&offsets.array, "int64")?.as_array().iter().copied().collect();
    let bounds = offsets.first().zip(offsets.last()).filter(|(first, _)| **first >= 0);
    let Some((&first, &last)) = bounds.filter(|_| offsets.is_sorted()) else {
        // A program changed them after the check.
        return Err(DataError::new_err(format!("{name}: offsets do not ascend")));
    };
    let values = array(name, values, false, first as usize, last as usize)?;
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    let offsets = offsets.into_iter().map(|offset| offset - first).collect();
    let lists = LargeListArray::try_new(item, OffsetBuffer::new(offsets), values, None);
    Ok(Arc::new(lists.map_err(refused)?))
}
