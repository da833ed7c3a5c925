//! The schema as Python objects.

use hedgerow::{LabelId, Property};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ending::calling;
use crate::results::make;

/// A `Schema`.
pub(crate) fn to_object(py: Python<'_>, schema: &hedgerow::Schema) -> PyResult<Py<PyAny>> {
    let _calling = calling(py);
    let labels = PyDict::new(py);
    for label in schema.labels() {
        let arguments = PyDict::new(py);
        arguments.set_item("name", &**label.name())?;
        arguments.set_item("multi", label.is_multi())?;
        arguments.set_item("properties", types(py, label.properties())?)?;
        labels.set_item(&**label.name(), make(py, "Label", &arguments)?)?;
    }
    let arguments = PyDict::new(py);
    arguments.set_item("labels", labels)?;
    arguments.set_item("vertex_properties", types(py, schema.vertex_properties())?)?;
    make(py, "Schema", &arguments)
}

/// The names of all labels, the default one first.
pub(crate) fn names(schema: &hedgerow::Schema) -> Vec<String> {
    schema.labels().iter().map(|label| label.name().to_string()).collect()
}

/// What a label is called: as the caller named it, or else as the schema does.
pub(crate) fn name(schema: Option<&hedgerow::Schema>, named: Option<&str>, label: LabelId) -> String {
    let known = schema.and_then(|schema| schema.label_by_id(label)).map(|label| label.name().to_string());
    named.map(str::to_owned).or(known).unwrap_or_default()
}

fn types<'py>(py: Python<'py>, properties: &[Property]) -> PyResult<Bound<'py, PyDict>> {
    let types = PyDict::new(py);
    for property in properties {
        types.set_item(&**property.name(), property.property_type().name())?;
    }
    Ok(types)
}
