//! The schema as Python objects.

use std::ops::Deref;

use hedgerow::{KindId, LabelId, Property};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString};

use crate::ending::calling;
use crate::key::shown;
use crate::results::{key_type, make};

/// Returns a `Schema`.
pub(crate) fn to_object(py: Python<'_>, schema: &hedgerow::Schema) -> PyResult<Py<PyAny>> {
    let _calling = calling(py);
    let labels = PyDict::new(py);
    for label in schema.labels() {
        let arguments = PyDict::new(py);
        arguments.set_item("name", &**label.name())?;
        arguments.set_item("multi", label.is_multi())?;
        arguments.set_item("properties", types(py, label.properties())?)?;
        let kind = |at: usize| label.ends().map(|ends| schema.kind_name(ends[at]).to_owned());
        arguments.set_item("src", kind(0))?;
        arguments.set_item("dst", kind(1))?;
        labels.set_item(&**label.name(), make(py, "Label", &arguments)?)?;
    }
    let arguments = PyDict::new(py);
    arguments.set_item("labels", labels)?;
    let of = |kind| types(py, schema.vertex_properties_of(kind));
    arguments.set_item("vertex_properties", of(KindId::DEFAULT)?)?;
    let kinds = PyDict::new(py);
    for kind in schema.kinds() {
        let arguments = PyDict::new(py);
        arguments.set_item("name", &**kind.name())?;
        arguments.set_item("keys", key_type(kind.keys()))?;
        arguments.set_item("properties", of(kind.id())?)?;
        kinds.set_item(&**kind.name(), make(py, "Kind", &arguments)?)?;
    }
    arguments.set_item("kinds", kinds)?;
    make(py, "Schema", &arguments)
}

/// Returns the names of all labels, beginning with the default one.
pub(crate) fn names(schema: &hedgerow::Schema) -> Vec<String> {
    schema.labels().iter().map(|label| label.name().to_string()).collect()
}

/// Returns the name of a label: the one that the caller stated, or else the schema's.
pub(crate) fn name(schema: Option<&hedgerow::Schema>, named: Option<&str>, label: LabelId) -> String {
    let known = schema.and_then(|schema| schema.label_by_id(label)).map(|label| label.name().to_string());
    named.map(str::to_owned).or(known).unwrap_or_default()
}

fn types<'py, 'p>(
    py: Python<'py>,
    properties: impl IntoIterator<Item = &'p Property>,
) -> PyResult<Bound<'py, PyDict>> {
    let types = PyDict::new(py);
    for property in properties {
        types.set_item(&**property.name(), property.property_type().name())?;
    }
    Ok(types)
}

/// The argument `label` of a call that accepts one label.
pub(crate) struct Label<'a>(pub(crate) &'a str);

impl Deref for Label<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Label<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Label<'a>> {
        if object.is_instance_of::<PyString>() {
            return object.extract().map(Label);
        }
        // Some calls have the label where others have the weight.
        let advice = if object.is_instance_of::<PyFloat>() { "; a weight is given as weight=" } else { "" };
        Err(PyTypeError::new_err(format!("label must be a str, found {}{advice}", shown(&object))))
    }
}
