//! Changes: entries reduced to the final word about each edge.

use hedgerow_core::{LocalVertex, RowRef, VertexId};

use crate::delta::Delta;
use crate::op::{EdgeOp, Entries};

/// The final word of a set of changes about one edge.
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

/// Changes in the order in which they came, of several about one edge the last, sorted by vertex, destination and rank.
/// O(n log n), and O(n) for sorted runs.
pub(crate) fn last_words(changes: &mut Vec<Change<'_>>) {
    // Stable: of several about one edge the last stays last.
    changes.sort_by_key(Change::key);
    changes.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            *kept = *later;
        }
        same
    });
}

/// Adds what the first `n` entries of a delta change about edges, in commit order; of one vertex or of all, and of the
/// `wanted` destinations.
pub(crate) fn of_delta<'a>(
    delta: &'a Delta,
    n: usize,
    of: Option<LocalVertex>,
    wanted: impl Fn(VertexId) -> bool,
    changes: &mut Vec<Change<'a>>,
) {
    let push = |at: usize| {
        let entry = delta.entry(at);
        if entry.op == EdgeOp::Vertex || !wanted(entry.dst) {
            return;
        }
        let state = (entry.op != EdgeOp::Remove).then(|| (entry.weight, delta.row(at)));
        changes.push(Change { local: entry.local, dst: entry.dst, rank: delta.rank(at), state });
    };
    match of {
        Some(local) => delta.for_each_index_of(n, local, push),
        None => (0..n).for_each(push),
    }
}
