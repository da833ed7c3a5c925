//! Vertices and kinds as messages name them: never by internal numbers.

use std::sync::Arc;

use hedgerow::{KindId, Schema, VertexKeyRef};
use pyo3::prelude::*;

/// Where the kinds of vertices are found.
pub(crate) trait Kinds {
    fn kind_schema(&self) -> PyResult<Arc<Schema>>;
}

/// The names of kinds.
pub(crate) struct Names(Arc<Schema>);

impl Names {
    pub(crate) fn of(schema: Arc<Schema>) -> Names {
        Names(schema)
    }

    /// A vertex as a program names it: its id, or the pair of its kind and its id.
    pub(crate) fn shown(&self, key: VertexKeyRef<'_>) -> String {
        let (kind, key) = key.split();
        match key {
            _ if kind == KindId::DEFAULT => key.to_string(),
            VertexKeyRef::Str(text) => format!("({:?}, {text:?})", self.0.kind_name(kind)),
            key => format!("({:?}, {key})", self.0.kind_name(kind)),
        }
    }

    /// A kind with its name.
    pub(crate) fn kind(&self, kind: KindId) -> String {
        if kind == KindId::DEFAULT {
            "the default kind".to_owned()
        } else {
            format!("kind {}", self.0.kind_name(kind))
        }
    }
}
