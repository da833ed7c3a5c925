//! Kinds and their names.

use std::sync::Arc;

use hedgerow::Schema;
use pyo3::prelude::*;

/// Where the kinds of vertices are found.
pub(crate) trait Kinds {
    fn kind_schema(&self) -> PyResult<Arc<Schema>>;
}
