//! Names of vertices and kinds for messages, which contain no internal numbers.

use std::sync::Arc;

use hedgerow::{CommitError, Error, KindId, Schema, VertexId, VertexKeyRef};
use hedgerow_kernels::KernelError;
use pyo3::prelude::*;

use crate::error::{DataError, IntegrityError, raise, raise_kernel};

/// A source of the kinds of vertices.
pub(crate) trait Kinds {
    fn kind_schema(&self) -> PyResult<Arc<Schema>>;
}

/// The names of kinds.
pub(crate) struct Names(Arc<Schema>);

impl Names {
    pub(crate) fn of(schema: Arc<Schema>) -> Names {
        Names(schema)
    }

    /// Returns a vertex as a program writes it: its id, or the pair of its kind and its id.
    pub(crate) fn shown(&self, key: VertexKeyRef<'_>) -> String {
        let (kind, key) = key.split();
        match key {
            _ if kind == KindId::DEFAULT => key.to_string(),
            VertexKeyRef::Str(text) => format!("({:?}, {text:?})", self.0.kind_name(kind)),
            key => format!("({:?}, {key})", self.0.kind_name(kind)),
        }
    }

    /// Returns the text "kind", followed by the kind's name.
    pub(crate) fn kind(&self, kind: KindId) -> String {
        if kind == KindId::DEFAULT {
            "the default kind".to_owned()
        } else {
            format!("kind {}", self.0.kind_name(kind))
        }
    }
}

/// Returns the exception for a missing vertex that the call requires.
pub(crate) fn no_such_vertex(kinds: &impl Kinds, key: VertexKeyRef<'_>) -> PyErr {
    match kinds.kind_schema() {
        Ok(schema) => IntegrityError::new_err(format!("no vertex {}", Names::of(schema).shown(key))),
        Err(error) => error,
    }
}

/// Returns the exception for an error of a commit.
pub(crate) fn raise_commit(kinds: &impl Kinds, error: Error) -> PyErr {
    match &error {
        Error::Commit(CommitError::NoSuchVertex { key }) if key.kind() != KindId::DEFAULT => {
            no_such_vertex(kinds, key.as_ref())
        }
        _ => raise(error),
    }
}

/// Returns the exception for an error of a kernel on a snapshot. If the error is about an edge, the message
/// names its ends in no order, since some kernels follow edges against their direction.
pub(crate) fn raise_run(snapshot: &hedgerow::Snapshot, error: KernelError<Error>) -> PyErr {
    let error = match error.split() {
        Ok(error) => error,
        Err(error) => return raise(error),
    };
    let names = Names::of(Arc::new(snapshot.schema()));
    let name = |vertex: VertexId| -> Option<String> {
        Some(names.shown(snapshot.vertex_key(vertex).ok().flatten()?.as_ref()))
    };
    let weighs = |from, to, weight: f64, expected: &str| {
        Some(format!(
            "the edge between {} and {} weighs {weight}, expected {expected}",
            name(from)?,
            name(to)?
        ))
    };
    let text = match &error {
        &KernelError::Weight { from, to, weight } => weighs(from, to, weight, "0 or more"),
        &KernelError::NotFinite { from, to, weight } => weighs(from, to, weight, "a finite number"),
        &KernelError::Endless { from, to, weight } => name(from).zip(name(to)).map(|(from, to)| {
            let expected = KernelError::EXPECTED_OF_CYCLES;
            format!("the edge between {from} and {to} weighs {weight}, {expected}")
        }),
        &KernelError::WeightSum { vertex, sum } => name(vertex).map(|vertex| {
            let expected = KernelError::EXPECTED_OF_SUMS;
            format!("the weights of the edges from {vertex} sum to {sum:e}, expected {expected}")
        }),
        &KernelError::NotBipartite { from, to } => name(from).zip(name(to)).map(|(from, to)| {
            format!(
                "the graph is not bipartite: the edge between {from} and {to} closes a cycle of odd length"
            )
        }),
        &KernelError::TooManyPaths { source } => name(source)
            .map(|source| format!("vertex {source} has more than {:e} shortest paths to another", f64::MAX)),
        &KernelError::SourceNotLive { source: vertex, .. }
        | &KernelError::TargetNotLive { target: vertex, .. } => {
            name(vertex).map(|vertex| format!("the kernel does not work on vertex {vertex}"))
        }
        _ => None,
    };
    text.map_or_else(|| raise_kernel(error), DataError::new_err)
}
