//! The vertices that results are about, with a row for each.

use std::sync::{Arc, Mutex};

use hedgerow::VertexId;
use pyo3::prelude::*;

use crate::handle::lock;

/// The vertices of results, all live ones or some of them. Row `i` of every result is about `live[i]`, whose
/// external id is element `i` of `ids`.
pub(crate) struct Vertices {
    pub(crate) live: Vec<VertexId>,
    /// Ids as [`ids::new`](crate::ids::new) returns them.
    pub(crate) ids: Py<PyAny>,
    pub(crate) rows: Rows,
}

/// The row of every vertex id up to the last live one; undefined for an id without a vertex.
pub(crate) struct Rows(Option<Vec<i64>>);

impl Rows {
    /// Returns the rows of these vertices, which must be ascending. If no id is missing, each id is its row,
    /// and nothing is stored.
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

    /// True if each vertex's row is its id.
    pub(crate) fn are_ids(&self) -> bool {
        self.0.is_none()
    }
}

/// The maximal number of vertex subsets that a snapshot keeps. Making them takes long, because their keys are
/// objects.
const MOST: usize = 4;

/// The kept vertex subsets, for graphs without all vertices; the most recent one is last.
#[derive(Default)]
pub(crate) struct SomeVertices(Mutex<Vec<Arc<Vertices>>>);

impl SomeVertices {
    /// Returns the kept vertex subset that equals `live`.
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
