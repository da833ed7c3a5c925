//! Columns of properties: the conversion of arrays to values, and of values to arrays.

use hedgerow::{PropertyType, Value, ValueRef};
use hedgerow_core::assemble::ColumnBuilder;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDateTime, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::arrays::{Array, exact, not_exact, reserved, view};
use crate::ending::calling;
use crate::error::{DataError, text_of};
use crate::imports;
use crate::times::Unit;
use crate::value::{self, to_object};

/// A column with one value per edge, or per vertex.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: hedgerow::Column,
}

impl Column {
    /// Returns the value of one row.
    pub(crate) fn value(&self, at: usize) -> Value {
        self.values.get(at).to_owned()
    }

    /// Returns the type of the values; `None` if there is no value.
    pub(crate) fn found_type(&self) -> Option<PropertyType> {
        (0..self.values.len()).find_map(|at| self.values.get(at).property_type())
    }

    /// Returns the column with the type of its property, unless it has a value of another type.
    fn of_type(self, kind: Option<PropertyType>) -> Column {
        let Some(kind) = kind.filter(|&kind| kind != self.values.kind() && self.found_type().is_none())
        else {
            return self;
        };
        let nulls = std::iter::repeat_n(ValueRef::Null, self.values.len());
        let nulls = hedgerow::Column::of_values(kind, nulls);
        Column { values: nulls.unwrap_or(self.values), ..self }
    }

    /// Returns a column with only the given rows.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Column {
        let kept = rows.iter().map(|&at| self.values.get(at));
        let kept = hedgerow::Column::of_values(self.values.kind(), kept);
        // All values have the column's type, so the rows can be stored.
        Column { name: self.name.clone(), values: kept.unwrap_or_else(|| self.values.clone()) }
    }
}

/// True if an object is a single value, which every row gets, and no column of values.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_python = object.is_none()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyDateTime>();
    if is_python || value::is_missing(object) {
        return Ok(true);
    }
    // An object without elements is refused as a value, and so are bytes that change.
    let has = |name: &str| object.getattr_opt(name).map(|found| found.is_some());
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyDict>() {
        return Ok(true);
    }
    let is_column = has("__iter__")?
        || has("__getitem__")?
        || has("__array__")?
        || has("__array_interface__")?
        || has("__arrow_c_stream__")?
        || has("__arrow_c_array__")?
        || has("__buffer__")?;
    if !is_column {
        return Ok(true);
    }
    object.is_instance(&imports::NUMPY.get(object.py())?.getattr("generic")?)
}

/// Returns the column of property `name` in which every row has the same value.
pub(crate) fn repeated(
    name: String,
    object: &Bound<'_, PyAny>,
    rows: usize,
    kind: Option<PropertyType>,
) -> PyResult<Column> {
    let shown = format!("properties[{name:?}]");
    let value = value::read(&shown, object, kind).map_err(|e| data_error(object.py(), e))?;
    let kind = value.property_type().or(kind).unwrap_or(PropertyType::I64);
    let values = hedgerow::Column::of_values(kind, std::iter::repeat_n(value.as_ref(), rows));
    let values = values.ok_or_else(|| DataError::new_err(format!("{shown} has values of several types")))?;
    Ok(Column { name, values })
}

/// Reads the column of property `name`, with one value for each of `edges`. Masked elements, `None` and `NaT`
/// become null.
pub(crate) fn read(
    name: String,
    object: &Bound<'_, PyAny>,
    edges: usize,
    kind: Option<PropertyType>,
) -> PyResult<Column> {
    let shown = format!("properties[{name:?}]");
    let array = Array::read(&shown, object)?;
    if array.len() != edges {
        let found = array.len();
        return Err(DataError::new_err(format!("{shown} has {found} elements for {edges} edges")));
    }
    if let Some(values) = as_it_lies(&array, kind)? {
        return Ok(Column { name, values }.of_type(kind));
    }
    let mut values = match array.kind {
        'b' => typed(&array, &view::<bool>(&array.array, "bool")?, |_, b| Ok(Value::Bool(b)))?,
        'f' if !array.is_wide_float() => {
            typed(&array, &view::<f64>(&array.array, "float64")?, |_, x| Ok(Value::F64(x)))?
        }
        'i' => typed(&array, &view::<i64>(&array.array, "int64")?, |_, n| Ok(Value::I64(n)))?,
        'u' => typed(&array, &view::<u64>(&array.array, "uint64")?, |at, number| {
            i64::try_from(number).map(Value::I64).map_err(|_| {
                DataError::new_err(format!("{shown}[{at}] is {number}: ints are -2**63 to 2**63 - 1"))
            })
        })?,
        'M' => times(&shown, &array)?,
        'O' | 'U' | 'S' => objects(&shown, &array)?,
        _ => {
            let found = array.dtype().str()?;
            return Err(DataError::new_err(format!(
                "{shown} must hold bools, ints, floats, str, bytes or times, found {found}"
            )));
        }
    };
    let has_floats = values.iter().any(|value| matches!(value, Value::F64(_)));
    if has_floats || kind == Some(PropertyType::F64) {
        ints_as_floats(&shown, &mut values)?;
    }
    let found = one_type(&shown, &values)?.or(kind).unwrap_or(PropertyType::I64);
    let values = hedgerow::Column::of_values(found, values.iter().map(Value::as_ref));
    let values = values.ok_or_else(|| DataError::new_err(format!("{shown} has values of several types")))?;
    Ok(Column { name, values })
}

/// Returns the values of an array that need no check of each one: floats, ints of an int property, and texts.
fn as_it_lies(array: &Array<'_>, kind: Option<PropertyType>) -> PyResult<Option<hedgerow::Column>> {
    if array.has_missing() {
        return Ok(None);
    }
    Ok(match array.kind {
        'f' if !array.is_wide_float() => {
            let mut values: Vec<f64> = reserved("values of a property", array.len())?;
            values.extend(view::<f64>(&array.array, "float64")?.as_array().iter());
            Some(hedgerow::Column::from(values))
        }
        'i' if kind != Some(PropertyType::F64) => {
            let mut values: Vec<i64> = reserved("values of a property", array.len())?;
            values.extend(view::<i64>(&array.array, "int64")?.as_array().iter());
            Some(hedgerow::Column::from(values))
        }
        'O' | 'U' => texts(array)?,
        _ => None,
    })
}

/// Returns the column of an array that contains only texts and `None`.
fn texts(array: &Array<'_>) -> PyResult<Option<hedgerow::Column>> {
    let mut texts = ColumnBuilder::new(PropertyType::Utf8, array.len());
    let mut push = |item: &Bound<'_, PyAny>| {
        // Text that is not UTF-8 is refused later, when columns of objects are read.
        match item.cast::<PyString>().map(|text| text.to_str()) {
            Ok(Ok(text)) => texts.push(ValueRef::Utf8(text)),
            _ if item.is_none() => texts.nulls(1),
            _ => return false,
        }
        true
    };
    // Reading a text runs no Python code that could change the array. So no list of its objects is needed.
    let are_texts = match array.array.cast::<PyArray1<Py<PyAny>>>().map(|objects| objects.try_readonly()) {
        Ok(Ok(objects)) => objects.as_array().iter().all(|item| push(item.bind(array.array.py()))),
        _ => array.objects()?.all(|item| push(&item)),
    };
    Ok(if are_texts { texts.finish() } else { None })
}

/// Returns the values of the elements of a typed array; missing elements are null.
fn typed<T: numpy::Element + Copy>(
    array: &Array<'_>,
    elements: &PyReadonlyArray1<'_, T>,
    value: impl Fn(usize, T) -> PyResult<Value>,
) -> PyResult<Vec<Value>> {
    let mut values = reserved("values of a property", array.len())?;
    for (at, &element) in elements.as_array().iter().enumerate() {
        values.push(if array.is_missing(at) { Value::Null } else { value(at, element)? });
    }
    Ok(values)
}

fn times(shown: &str, array: &Array<'_>) -> PyResult<Vec<Value>> {
    let unit = Unit::of(&array.dtype())?;
    let numbers = array.array.call_method1("astype", ("int64",))?;
    let numbers = numbers.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
    typed(array, &view::<i64>(&numbers, "int64")?, |at, number| {
        unit.value(number).map_err(|why| DataError::new_err(format!("{shown}[{at}] {why}")))
    })
}

fn objects(shown: &str, array: &Array<'_>) -> PyResult<Vec<Value>> {
    let mut values = reserved("values of a property", array.len())?;
    for (at, item) in array.objects()?.enumerate() {
        let value = if array.is_missing(at) {
            Value::Null
        } else {
            value::read(&format_args!("{shown}[{at}]"), &item, None).map_err(|e| data_error(item.py(), e))?
        };
        values.push(value);
    }
    Ok(values)
}

/// Returns the error for an element of the wrong kind, as a `DataError` about the column.
fn data_error(py: Python<'_>, error: PyErr) -> PyErr {
    match error.is_instance_of::<PyTypeError>(py) {
        true => DataError::new_err(text_of(error.value(py))),
        false => error,
    }
}

/// Converts ints to floats, if a float equals each of them.
fn ints_as_floats(shown: &str, values: &mut [Value]) -> PyResult<()> {
    for (at, value) in values.iter_mut().enumerate() {
        if let Value::I64(number) = *value {
            let float = exact(number).ok_or_else(|| not_exact(&format_args!("{shown}[{at}]"), number))?;
            *value = Value::F64(float);
        }
    }
    Ok(())
}

/// Returns the type of the values; `None` if there is no value. Refuses a column with several types before
/// anything is written.
fn one_type(shown: &str, values: &[Value]) -> PyResult<Option<PropertyType>> {
    let mut first = None;
    for (at, value) in values.iter().enumerate() {
        let Some(kind) = value.property_type() else { continue };
        match first {
            Some(first) if first != kind => {
                return Err(DataError::new_err(format!(
                    "{shown}[{at}] is of type {kind}, others are of type {first}"
                )));
            }
            _ => first = Some(kind),
        }
    }
    Ok(first)
}

/// A column that gathers values of one type.
pub(crate) struct Gather {
    kind: PropertyType,
    bools: Vec<bool>,
    ints: Vec<i64>,
    floats: Vec<f64>,
    others: Vec<Value>,
    nulls: Vec<bool>,
}

impl Gather {
    pub(crate) fn new(kind: PropertyType) -> Gather {
        let nulls = Vec::new();
        Gather { kind, bools: Vec::new(), ints: Vec::new(), floats: Vec::new(), others: Vec::new(), nulls }
    }

    pub(crate) fn kind(&self) -> PropertyType {
        self.kind
    }

    pub(crate) fn push(&mut self, value: ValueRef<'_>) {
        self.nulls.push(value.is_null());
        match (self.kind, value) {
            (PropertyType::Bool, value) => self.bools.push(matches!(value, ValueRef::Bool(true))),
            (PropertyType::I64 | PropertyType::Timestamp, ValueRef::I64(n) | ValueRef::Timestamp(n)) => {
                self.ints.push(n);
            }
            (PropertyType::I64, _) => self.ints.push(0),
            (PropertyType::Timestamp, _) => self.ints.push(i64::MIN),
            (PropertyType::F64, ValueRef::F64(x)) => self.floats.push(x),
            (PropertyType::F64, _) => self.floats.push(0.0),
            (PropertyType::Utf8 | PropertyType::Bytes, value) => self.others.push(value.to_owned()),
        }
    }

    /// Returns a masked array. For text and bytes it returns an array of objects with None.
    pub(crate) fn finish(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let _calling = calling(py);
        let values = match self.kind {
            PropertyType::Bool => self.bools.into_pyarray(py).into_any(),
            PropertyType::I64 => self.ints.into_pyarray(py).into_any(),
            PropertyType::F64 => self.floats.into_pyarray(py).into_any(),
            PropertyType::Timestamp => {
                self.ints.into_pyarray(py).into_any().call_method1("view", ("datetime64[us]",))?
            }
            PropertyType::Utf8 | PropertyType::Bytes => {
                let objects: PyResult<Vec<Py<PyAny>>> =
                    self.others.iter().map(|value| to_object(py, value.as_ref())).collect();
                let objects = PyList::new(py, objects?)?;
                return Ok(imports::NUMPY.get(py)?.call_method1("array", (objects, "O"))?.unbind());
            }
        };
        let arguments = PyDict::new(py);
        arguments.set_item("mask", self.nulls.into_pyarray(py))?;
        let masked = imports::MASKED_ARRAYS.get(py)?;
        Ok(masked.call_method("MaskedArray", (values,), Some(&arguments))?.unbind())
    }
}
