//! Columns for other libraries, passed through Arrow's C interface: copies of NumPy arrays, in batches.
//!
//! The `arrow` crates make the capsules and their content. The library that takes a capsule frees its memory.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, LargeListArray, PrimitiveArray, RecordBatch,
    RecordBatchIterator,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString, PyTuple};

use crate::arrays::{Array, view};
use crate::ending::calling;
use crate::error::DataError;

/// The number of rows in a batch: some hundreds of kilobytes per column.
const BATCH_ROWS: usize = 1 << 16;
pub(crate) const STREAM: &CStr = c"arrow_array_stream";
pub(crate) const SCHEMA: &CStr = c"arrow_schema";

/// A column: its name, a NumPy array (or offsets and values of lists), and true if its objects are bytes
/// instead of texts.
type Column<'py> = (String, Bound<'py, PyAny>, bool);

/// Returns the capsule of a stream of batches, for `__arrow_c_stream__`.
#[pyfunction(name = "_arrow_stream")]
pub(crate) fn stream<'py>(py: Python<'py>, columns: Vec<Column<'py>>) -> PyResult<Bound<'py, PyCapsule>> {
    let whole = batch(columns)?;
    let starts = (0..whole.num_rows().max(1)).step_by(BATCH_ROWS);
    let part = |start: usize| whole.slice(start, BATCH_ROWS.min(whole.num_rows() - start));
    let batches: Vec<_> = starts.map(|start| Ok::<_, ArrowError>(part(start))).collect();
    let reader = RecordBatchIterator::new(batches, whole.schema());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// Returns the capsule of the schema without data, for `__arrow_c_schema__`.
#[pyfunction(name = "_arrow_schema")]
pub(crate) fn schema<'py>(py: Python<'py>, columns: Vec<Column<'py>>) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&*batch(columns)?.schema()).map_err(refused)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

fn refused(error: ArrowError) -> PyErr {
    DataError::new_err(error.to_string())
}

fn batch(columns: Vec<Column<'_>>) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, column, is_bytes) in columns {
        let _calling = calling(column.py());
        let array = array(&name, &column, is_bytes)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(refused)
}

/// Returns a column as an Arrow array.
fn array(name: &str, column: &Bound<'_, PyAny>, is_bytes: bool) -> PyResult<ArrayRef> {
    if let Ok(lists) = column.cast::<PyTuple>() {
        let (offsets, values) = lists.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        return list_array(name, &offsets, &values);
    }
    let column = Array::read(name, column)?;
    let nulls = column.validity().map(NullBuffer::from);
    let size: usize = column.dtype().getattr("itemsize")?.extract()?;
    Ok(match (column.kind, size) {
        ('b', _) => {
            let bits =
                view::<bool>(&column.array, "bool")?.as_array().iter().copied().collect::<BooleanBuffer>();
            Arc::new(BooleanArray::new(bits, nulls))
        }
        ('u', 4) => primitive::<UInt32Type>(&column, "uint32", nulls)?,
        ('u', _) => primitive::<UInt64Type>(&column, "uint64", nulls)?,
        ('i', _) => primitive::<Int64Type>(&column, "int64", nulls)?,
        ('f', _) => primitive::<Float64Type>(&column, "float64", nulls)?,
        ('M', _) => {
            let numbers = column.array.call_method1("view", ("int64",))?.cast_into().map_err(PyErr::from)?;
            let numbers = view::<i64>(&numbers, "int64")?.as_array().to_vec();
            let times = PrimitiveArray::<TimestampMicrosecondType>::try_new(numbers.into(), nulls);
            Arc::new(times.map_err(refused)?.with_timezone("UTC"))
        }
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

fn list_array(name: &str, offsets: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let offsets = Array::read(name, offsets)?;
    let offsets: Vec<i64> = view::<i64>(&offsets.array, "int64")?.as_array().iter().copied().collect();
    if offsets.first().is_none_or(|&first| first < 0) || !offsets.is_sorted() {
        return Err(DataError::new_err(format!("{name}: offsets do not ascend")));
    }
    let values = array(name, values, false)?;
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    let lists = LargeListArray::try_new(item, OffsetBuffer::new(ScalarBuffer::from(offsets)), values, None);
    Ok(Arc::new(lists.map_err(refused)?))
}
