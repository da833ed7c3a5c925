//! Columns of properties: from arrays into values, and back into arrays.

use hedgerow::{PropertyType, Value, ValueRef};
use numpy::{IntoPyArray, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::bulk::{as_array, reserved, view};
use crate::error::DataError;
use crate::value::{self, to_object};

/// One value per edge.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
}

/// Reads the column of property `name`, one value for each of `edges`. Masked elements, `None` and `NaT` are null.
pub(crate) fn read(
    name: String,
    object: &Bound<'_, PyAny>,
    edges: usize,
    kind: Option<PropertyType>,
) -> PyResult<Column> {
    let shown = format!("properties[{name:?}]");
    let (mut array, mut letter) = as_array(&shown, object)?;
    if matches!(letter, 'U' | 'S') && !object.is_instance_of::<PyUntypedArray>() {
        // NumPy makes texts of numbers among texts, and cuts zeros off their ends: look at each instead.
        let objects = object.py().import("numpy")?.call_method1("asarray", (object, "O"))?;
        (array, letter) = (objects.cast_into::<PyUntypedArray>().map_err(PyErr::from)?, 'O');
    }
    if array.len() != edges {
        let found = array.len();
        return Err(DataError::new_err(format!("{shown} has {found} elements for {edges} edges")));
    }
    let mut values = reserved("values of a property", edges)?;
    let float = kind == Some(PropertyType::F64);
    match letter {
        'b' => values.extend(view::<bool>(&array, "bool")?.as_array().iter().map(|&b| Value::Bool(b))),
        'f' => values.extend(view::<f64>(&array, "float64")?.as_array().iter().map(|&x| Value::F64(x))),
        'i' | 'u' if float => {
            values.extend(view::<f64>(&array, "float64")?.as_array().iter().map(|&x| Value::F64(x)));
        }
        'i' => values.extend(view::<i64>(&array, "int64")?.as_array().iter().map(|&n| Value::I64(n))),
        'u' => {
            for (at, &number) in view::<u64>(&array, "uint64")?.as_array().iter().enumerate() {
                let number = i64::try_from(number).map_err(|_| {
                    DataError::new_err(format!("{shown}[{at}] is {number}: ints are -2**63 to 2**63 - 1"))
                })?;
                values.push(Value::I64(number));
            }
        }
        'M' => {
            let micros = array.call_method1("astype", ("datetime64[us]",))?;
            let micros = micros.call_method1("astype", ("int64",))?;
            let micros = micros.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
            let time = |&t: &i64| if t == i64::MIN { Value::Null } else { Value::Timestamp(t) };
            values.extend(view::<i64>(&micros, "int64")?.as_array().iter().map(time));
        }
        'O' | 'U' | 'S' => {
            for (at, item) in array.call_method0("tolist")?.try_iter()?.enumerate() {
                values.push(value::read(&format!("{shown}[{at}]"), &item?, kind)?);
            }
        }
        _ => {
            let message = format!(
                "{shown} must hold bools, ints, floats, str, bytes or times, found {}",
                array.dtype()
            );
            return Err(DataError::new_err(message));
        }
    }
    mask(object, &mut values)?;
    one_type(&shown, &values)?;
    Ok(Column { name, values })
}

/// Makes masked elements null.
fn mask(object: &Bound<'_, PyAny>, values: &mut [Value]) -> PyResult<()> {
    let masked = object.py().import("numpy")?.getattr("ma")?;
    if !object.is_instance(&masked.getattr("MaskedArray")?)? {
        return Ok(());
    }
    let mask =
        masked.call_method1("getmaskarray", (object,))?.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
    for (value, &hidden) in values.iter_mut().zip(view::<bool>(&mask, "bool")?.as_array().iter()) {
        if hidden {
            *value = Value::Null;
        }
    }
    Ok(())
}

/// Refuses a column of several types before anything is written.
fn one_type(shown: &str, values: &[Value]) -> PyResult<()> {
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
    Ok(())
}

/// A column to be gathered from values of one type.
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

    /// A masked array; of text and bytes, an array of objects with None.
    pub(crate) fn finish(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let numpy = py.import("numpy")?;
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
                return Ok(numpy.call_method1("array", (PyList::new(py, objects?)?, "O"))?.unbind());
            }
        };
        let arguments = PyDict::new(py);
        arguments.set_item("mask", self.nulls.into_pyarray(py))?;
        Ok(numpy.getattr("ma")?.getattr("MaskedArray")?.call((values,), Some(&arguments))?.unbind())
    }
}
