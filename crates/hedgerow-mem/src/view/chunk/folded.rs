//! What a copy that a view made of lists holds, and when one is made.

use crate::version::Read;

/// A view copies so many edges for an entry of a delta, at most.
const EDGES_PER_ENTRY: usize = 32;

/// What a copy holds: a version and the first entries of its delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    /// The number of the version in its chain.
    pub(super) version: u64,
    pub(super) entries: usize,
    /// The vertices that exist as of these.
    pub(super) present: u64,
}

/// Whether `n` entries over so many edges are worth a copy.
#[inline]
pub(super) fn is_worth_it(edges: usize, n: usize) -> bool {
    edges <= n.saturating_mul(EDGES_PER_ENTRY)
}

/// What a view that is made from scratch has to do about a subgraph.
#[derive(Clone, Copy, Default)]
pub struct FromScratch {
    /// Edges to copy.
    pub copied: usize,
    /// Entries of patch and delta to sort, where nothing is copied.
    pub entries: usize,
}

impl FromScratch {
    /// About what is read. O(1).
    pub fn of(read: Read<'_>) -> FromScratch {
        let (version, n) = (read.version(), read.delta_len());
        let edges = version.main().edges().len();
        let patched = version.patch.as_ref().map_or(0, |patch| {
            let (added, removed) = patch.all_sizes();
            added + removed
        });
        let copies = n > 0 && version.patch.is_none() && !version.is_ranked() && is_worth_it(edges, n);
        let (copied, entries) = if copies { (edges + n, 0) } else { (0, n + patched) };
        FromScratch { copied, entries }
    }
}
