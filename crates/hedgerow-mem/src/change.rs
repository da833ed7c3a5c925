//! Changes: the last delta entry about each edge.

use hedgerow_core::{LocalVertex, RowRef, VertexId};

/// The last state that a set of delta entries gives an edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) local: LocalVertex,
    pub(crate) dst: VertexId,
    pub(crate) rank: u64,
    /// Weight and properties, or `None` if the edge is gone.
    pub(crate) state: Option<(f64, RowRef<'a>)>,
}

impl Change<'_> {
    #[inline]
    pub(crate) fn key(&self) -> (u8, u32, u64) {
        (self.local.0, self.dst.0, self.rank)
    }
}

/// Reduces `changes`, which are in commit order, to the last change of each edge, sorted by vertex,
/// destination and rank. O(n log n), and O(n) for sorted runs.
pub(crate) fn last_words(changes: &mut Vec<Change<'_>>) {
    // The sort is stable: among the changes of one edge, the newest stays last.
    changes.sort_by_key(Change::key);
    changes.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            *kept = *later;
        }
        same
    });
}
