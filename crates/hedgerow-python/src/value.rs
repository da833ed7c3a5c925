//! Values of properties: the conversion from and to Python objects.

use std::collections::HashMap;
use std::fmt::Display;

use hedgerow::{KindId, PropertyType, Schema, Value, ValueRef};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDate, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyMapping, PyString, PyTzInfo,
};

use crate::arrays::{exact, not_exact};
use crate::ending::calling;
use crate::error::{DataError, text_of, told};
use crate::handle::Handle;
use crate::imports;
use crate::key::type_name;
use crate::times::Unit;

/// The property with the weight of an edge in a weighted graph.
pub(crate) const WEIGHT: &str = "weight";

/// Properties by name, read from Python.
pub(crate) type Cells = Vec<(String, Value)>;

/// The owner of properties.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// The edges of a label.
    Edges(&'a str),
    /// The vertices of this kind.
    Vertices(KindId),
}

/// The known types of properties, by which ints are converted to floats.
pub(crate) struct Types<'a> {
    schema: std::sync::Arc<Schema>,
    owner: Owner<'a>,
    weighted: bool,
}

impl<'a> Types<'a> {
    pub(crate) fn new(handle: &Handle, owner: Owner<'a>) -> PyResult<Types<'a>> {
        let weighted = handle.config.weighted && matches!(owner, Owner::Edges(""));
        Ok(Types { schema: handle.graph()?.schema(), owner, weighted })
    }

    pub(crate) fn of(&self, name: &str) -> Option<PropertyType> {
        if self.weighted && name == WEIGHT {
            return Some(PropertyType::F64);
        }
        let property = match self.owner {
            Owner::Edges(label) => self.schema.label(label)?.property(name),
            Owner::Vertices(kind) => self.schema.vertex_property(kind, name),
        };
        property.map(|property| property.property_type())
    }
}

/// Reads the properties of one edge or vertex: first those of a mapping, then the keyword arguments.
pub(crate) fn read_cells(
    handle: &Handle,
    owner: Owner<'_>,
    mapping: Option<&Bound<'_, PyAny>>,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Cells> {
    let mut cells = Cells::new();
    if mapping.is_none() && named.is_none_or(|named| named.is_empty()) {
        return Ok(cells);
    }
    let py = mapping.map(|mapping| mapping.py()).or(named.map(|named| named.py()));
    let _calling = py.map(calling);
    let types = Types::new(handle, owner)?;
    if let Some(mapping) = mapping {
        // A cast to `PyMapping` would drop Ctrl-C: to decide if a class is a mapping, Python runs code.
        let py = mapping.py();
        if !mapping.is_instance_of::<PyDict>() && !mapping.is_instance(&py.get_type::<PyMapping>())? {
            let found = type_name(mapping);
            return Err(PyTypeError::new_err(format!("properties must be a mapping, found {found}")));
        }
        for item in mapping.call_method0("items")?.try_iter()? {
            let (name, value) = item?.extract::<(String, Bound<'_, PyAny>)>()?;
            let value = read(&format_args!("property {name}"), &value, types.of(&name))?;
            add(&mut cells, name, value)?;
        }
    }
    for (name, value) in named.into_iter().flatten() {
        let name = name.extract::<String>()?;
        let value = read(&format_args!("property {name}"), &value, types.of(&name))?;
        add(&mut cells, name, value)?;
    }
    Ok(cells)
}

/// Adds a property. A name that was already added is refused, since either value could be meant.
pub(crate) fn add(cells: &mut Cells, name: String, value: Value) -> PyResult<()> {
    if cells.iter().any(|(known, _)| *known == name) {
        return Err(DataError::new_err(format!("property {name} is given twice")));
    }
    cells.push((name, value));
    Ok(())
}

/// Returns the value of `object`, which messages call `name`. An int becomes a float for a property of
/// floats.
pub(crate) fn read(
    name: &dyn Display,
    object: &Bound<'_, PyAny>,
    kind: Option<PropertyType>,
) -> PyResult<Value> {
    let value = read_any(name, object)?;
    Ok(match (value, kind) {
        (Value::I64(number), Some(PropertyType::F64)) => {
            Value::F64(exact(number).ok_or_else(|| not_exact(name, number))?)
        }
        (value, _) => value,
    })
}

fn read_any(name: &dyn Display, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    // This is before the case of int, because a bool is an int too.
    if let Ok(yes) = object.cast::<PyBool>() {
        return Ok(Value::Bool(yes.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return object.extract().map(Value::I64).map_err(|_| {
            let object = text_of(object);
            DataError::new_err(format!("{name}: {object} is out of range: ints are -2**63 to 2**63 - 1"))
        });
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(Value::F64(number.value()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|_| {
            DataError::new_err(format!("{name}: text must not hold surrogates: it is stored as UTF-8"))
        })?;
        return Ok(Value::from(text));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Value::from(bytes.as_bytes()));
    }
    let kind = type_name(object);
    if is_missing(object) {
        return Ok(Value::Null);
    }
    if let Ok(time) = object.cast::<PyDateTime>() {
        return read_time(name, time);
    }
    if let Some(value) = read_scalar(name, object, &kind)? {
        return Ok(value);
    }
    let instead = instead(object, &kind)?;
    Err(PyTypeError::new_err(format!(
        "{name}: a value is None, a bool, int, float, str, bytes or datetime, found {kind}{instead}"
    )))
}

/// Returns the end of a message about an object that no property has: the conversions to choose from. The
/// store converts none of them, since each conversion loses something, or several are equally good.
fn instead(object: &Bound<'_, PyAny>, kind: &str) -> PyResult<&'static str> {
    let is_any = |kinds: &[&str]| kinds.contains(&kind);
    Ok(if object.is_instance_of::<PyDate>() {
        ": make it a datetime with a time zone, or a str by isoformat()"
    } else if is_any(&["time", "timedelta", "timedelta64", "Timedelta", "Period"]) {
        ": make it a whole number of one unit, or a str"
    } else if kind == "Decimal" {
        ": make it a str, which has all digits, or a float, which is rounded"
    } else if kind == "UUID" {
        ": make it a str, or take its .bytes"
    } else if is_any(&["longdouble", "complex", "complex64", "complex128", "clongdouble"]) {
        ": make it floats"
    } else if is_any(&["bytearray", "memoryview"]) {
        ": make it bytes"
    } else if is_any(&["list", "tuple", "set", "frozenset", "dict", "ndarray"]) {
        ": divide it among several properties or edges, or make it a str, such as JSON"
    } else if object.get_type().getattr_opt("__members__")?.is_some() {
        ": take its .value or its .name"
    } else {
        ""
    })
}

/// Returns the value of a scalar of NumPy whose type is called `kind`; `None` for other objects.
fn read_scalar(name: &dyn Display, object: &Bound<'_, PyAny>, kind: &str) -> PyResult<Option<Value>> {
    let numpy = imports::NUMPY.get(object.py())?;
    if object.is_instance(&numpy.getattr("datetime64")?)? {
        let number = object.call_method1("astype", ("int64",))?.extract()?;
        let value = Unit::of(&object.getattr("dtype")?)?.value(number);
        return value.map(Some).map_err(|why| DataError::new_err(format!("{name} {why}")));
    }
    // `item` would convert some time spans to ints, and a record to bytes or a tuple.
    if ["timedelta64", "void"].contains(&kind) || !object.is_instance(&numpy.getattr("generic")?)? {
        return Ok(None);
    }
    let item = object.call_method0("item")?;
    // If Python has no equal type, the `item` of a scalar is the scalar itself.
    if item.is_instance(&numpy.getattr("generic")?)? {
        return Ok(None);
    }
    read_any(name, &item).map(Some)
}

/// The names of the types whose objects mean a missing value, in pandas and in masked arrays.
const MISSING: [&str; 3] = ["NAType", "NaTType", "MaskedConstant"];

/// True if an object means a missing value, as None does.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> bool {
    MISSING.contains(&type_name(object).as_str())
}

/// Returns the microseconds since 1970 of a time with a time zone.
fn read_time(name: &dyn Display, time: &Bound<'_, PyDateTime>) -> PyResult<Value> {
    if time.call_method0("utcoffset")?.is_none() {
        return Err(DataError::new_err(format!("{name}: a datetime needs a time zone")));
    }
    // Times of pandas also have nanoseconds.
    let nanoseconds = time.getattr_opt("nanosecond")?;
    if nanoseconds.map(|n| n.is_truthy()).transpose()?.unwrap_or(false) {
        let why = "has fractions of a microsecond, but times are stored in microseconds";
        return Err(DataError::new_err(format!("{name} {why}")));
    }
    let micros = || -> PyResult<i64> {
        let since = time.call_method1("__sub__", (epoch(time.py())?,))?;
        let microsecond = PyDelta::new(time.py(), 0, 0, 1, false)?;
        since.call_method1("__floordiv__", (microsecond,))?.extract()
    };
    let py = time.py();
    let of_time = |error: &PyErr| DataError::new_err(format!("{name}: {}", text_of(error.value(py))));
    micros().map(Value::Timestamp).map_err(|error| told(py, error, of_time))
}

fn epoch(py: Python<'_>) -> PyResult<Bound<'_, PyDateTime>> {
    PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?))
}

/// Returns a value as a Python object. A time outside the years of `datetime` becomes a `numpy.datetime64`.
pub(crate) fn to_object(py: Python<'_>, value: ValueRef<'_>) -> PyResult<Py<PyAny>> {
    Ok(match value {
        ValueRef::Null => py.None(),
        ValueRef::Bool(yes) => PyBool::new(py, yes).to_owned().into_any().unbind(),
        ValueRef::I64(number) => number.into_pyobject(py)?.into_any().unbind(),
        ValueRef::F64(number) => number.into_pyobject(py)?.into_any().unbind(),
        ValueRef::Utf8(text) => PyString::new(py, text).into_any().unbind(),
        ValueRef::Bytes(bytes) => PyBytes::new(py, bytes).into_any().unbind(),
        ValueRef::Timestamp(micros) => {
            let arguments = PyDict::new(py);
            arguments.set_item("microseconds", micros)?;
            let delta = py.get_type::<PyDelta>().call((), Some(&arguments))?;
            match epoch(py)?.call_method1("__add__", (delta,)) {
                Ok(time) => time.unbind(),
                Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                    imports::NUMPY.get(py)?.call_method1("datetime64", (micros, "us"))?.unbind()
                }
                Err(error) => return Err(error),
            }
        }
    })
}

/// Returns properties as a dictionary.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    properties: &hedgerow::Properties,
) -> PyResult<Bound<'py, PyDict>> {
    let _calling = calling(py);
    let dict = PyDict::new(py);
    for (name, value) in properties {
        dict.set_item(&**name, to_object(py, value.as_ref())?)?;
    }
    Ok(dict)
}

/// Reads a type of properties: its name, or the Python type of its values.
pub(crate) fn read_type(object: &Bound<'_, PyAny>) -> PyResult<PropertyType> {
    if let Ok(name) = object.extract::<String>()
        && let Some(kind) = PropertyType::from_name(&name)
    {
        return Ok(kind);
    }
    let py = object.py();
    for (class, kind) in [
        (py.get_type::<PyBool>(), PropertyType::Bool),
        (py.get_type::<PyInt>(), PropertyType::I64),
        (py.get_type::<PyFloat>(), PropertyType::F64),
        (py.get_type::<PyString>(), PropertyType::Utf8),
        (py.get_type::<PyBytes>(), PropertyType::Bytes),
        (py.get_type::<PyDateTime>(), PropertyType::Timestamp),
    ] {
        if object.is(&class) {
            return Ok(kind);
        }
    }
    let found = object.repr()?;
    Err(DataError::new_err(format!(
        "a type is \"bool\", \"i64\", \"f64\", \"utf8\", \"bytes\", \"timestamp\" or bool, int, float, str, bytes, datetime, found {found}"
    )))
}

/// Returns the types of a mapping from name to type.
pub(crate) fn read_types(
    object: Option<HashMap<String, Bound<'_, PyAny>>>,
) -> PyResult<Vec<(String, PropertyType)>> {
    let mut types = Vec::new();
    for (name, kind) in object.into_iter().flatten() {
        let kind = read_type(&kind)?;
        types.push((name, kind));
    }
    // The order is made deterministic.
    types.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(types)
}
