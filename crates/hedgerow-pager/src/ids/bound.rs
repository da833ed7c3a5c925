//! The bound of the ids of vertices.

use hedgerow_core::sync::{AtomicU32, Ordering};
use hedgerow_core::{SUBGRAPH_VERTICES, VertexId};

/// The bound of the ids of vertices: one more than the largest id ever assigned.
#[derive(Default)]
pub struct VertexBound(AtomicU32);

impl VertexBound {
    /// Returns one more than the largest id that was assigned.
    #[inline]
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Returns the number of subgraphs that may hold vertices.
    pub fn subgraphs(&self) -> u32 {
        self.get().div_ceil(SUBGRAPH_VERTICES as u32)
    }

    /// Raises the bound to include `id`.
    #[inline]
    pub(crate) fn include(&self, id: VertexId) {
        if self.0.load(Ordering::Relaxed) <= id.0 {
            self.0.fetch_max(id.0 + 1, Ordering::AcqRel);
        }
    }

    /// Raises the bound to `end(bound)`, unless that is `None`; returns the bound before.
    pub(crate) fn raise(&self, end: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, end).ok()
    }
}
