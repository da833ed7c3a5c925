//! What a copy that a view made of lists holds, and when one is made.

/// A view copies so many edges for an entry of a delta, at most.
const EDGES_PER_ENTRY: usize = 32;

/// What a copy holds: a version and the first entries of its delta.
///
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
