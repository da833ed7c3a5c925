//! Columns of properties by name, from the argument `properties` of a call.

use hedgerow::ArgumentError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::columns::{self, Column};
use crate::error::{DataError, raise, text_of};
use crate::imports;
use crate::key;
use crate::value::Types;

/// Reads columns of properties by name. Each has `rows` values, or one value for all rows. `keys` are the
/// vertices of the rows.
pub(crate) fn read_columns(
    properties: Option<&Bound<'_, PyAny>>,
    types: &Types<'_>,
    rows: usize,
    keys: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Column>> {
    let Some(properties) = properties else { return Ok(Vec::new()) };
    let by_name = imports::COLUMNS.get(properties.py())?.getattr("by_name")?;
    let by_name = by_name.call1((properties, keys)).map_err(|error| wrong_properties(properties, error))?;
    let mut columns: Vec<Column> = Vec::new();
    for item in by_name.try_iter()? {
        let (name, column) = item?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let Ok(name) = name.extract::<String>() else {
            let found = key::shown(&name);
            return Err(PyTypeError::new_err(format!("properties: a name must be a str, found {found}")));
        };
        if columns.iter().any(|known| known.name == name) {
            return Err(DataError::new_err(format!("properties: the column {name} comes twice")));
        }
        let kind = types.of(&name);
        let column = match columns::is_scalar(&column)? {
            true => columns::repeated(name, &column, rows, kind)?,
            false => columns::read(name, &column, rows, kind)?,
        };
        check_type(types, &column)?;
        // The type of a new property cannot be derived from a column without a value.
        if kind.is_some() || column.found_type().is_some() {
            columns.push(column);
        }
    }
    Ok(columns)
}

/// Returns the error for an object that has no columns: a `DataError`, as for an unreadable column.
fn wrong_properties(properties: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = properties.py();
    if error.is_instance_of::<PyTypeError>(py) {
        return DataError::new_err(text_of(error.value(py)));
    }
    error
}

/// Refuses a column whose type differs from its property's, before anything is written.
pub(crate) fn check_type(types: &Types<'_>, column: &Column) -> PyResult<()> {
    match (types.of(&column.name), column.found_type()) {
        (Some(expected), Some(found)) if expected != found => {
            let property = column.name.clone();
            Err(raise(ArgumentError::PropertyType { property, expected, found }.into()))
        }
        _ => Ok(()),
    }
}
