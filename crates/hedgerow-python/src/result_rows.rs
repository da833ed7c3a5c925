//! The vertices that results are about, a row for each.

use std::sync::{Arc, Mutex};

use hedgerow::VertexId;
use pyo3::prelude::*;

use crate::handle::lock;

/// The live vertices, or some of them: row `i` of every result is about `live[i]`, whose external id is
/// `keys[i]`.
pub(crate) struct Vertices {
    pub(crate) live: Vec<VertexId>,
    /// A read-only NumPy array.
    pub(crate) keys: Py<PyAny>,
    pub(crate) rows: Rows,
}

/// The row of every vertex id up to the last live one; undefined for ids without a vertex.
pub(crate) struct Rows(Option<Vec<i64>>);

impl Rows {
    /// Returns the rows of these vertices, ascending. Without holes the id is the row, and nothing is kept.
    pub(crate) fn of(live: &[VertexId]) -> Rows {
        let bound = live.last().map_or(0, |v| v.index() + 1);
        Rows((bound > live.len()).then(|| {
            let mut row_of = vec![0; bound];
            for (row, v) in live.iter().enumerate() {
                row_of[v.index()] = row as i64;
            }
            row_of
        }))
    }

    /// Returns the row of a vertex.
    #[inline]
    pub(crate) fn of_vertex(&self, v: usize) -> i64 {
        self.0.as_ref().map_or(v as i64, |row_of| row_of.get(v).copied().unwrap_or(0))
    }

    /// True if each row is the id.
    pub(crate) fn are_ids(&self) -> bool {
        self.0.is_none()
    }
}

/// The most graphs without all vertices whose vertices a snapshot keeps: their keys are objects, which take
/// long to make.
const MOST: usize = 4;

/// The vertices of graphs that do not have all, the most recent at the end.
#[derive(Default)]
pub(crate) struct SomeVertices(Mutex<Vec<Arc<Vertices>>>);

impl SomeVertices {
    /// Returns the kept vertices that equal `live`.
    pub(crate) fn find(&self, live: &[VertexId]) -> Option<Arc<Vertices>> {
        lock(&self.0).iter().find(|kept| kept.live == live).cloned()
    }

    pub(crate) fn keep(&self, vertices: Arc<Vertices>) {
        let mut kept = lock(&self.0);
        let oldest = (kept.len() == MOST).then(|| kept.remove(0));
        kept.push(vertices);
        drop(kept); // before objects of Python go, which may run code
        drop(oldest);
    }
}
