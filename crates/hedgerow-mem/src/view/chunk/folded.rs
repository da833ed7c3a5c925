//! What a copy that a view made of lists holds, and when one is made.

use hedgerow_core::Timestamp;

/// A view copies so many edges for an entry of a delta, at most.
const EDGES_PER_ENTRY: usize = 32;

/// What a copy holds: a version and the first entries of its delta.
///
/// The timestamp at which a version begins names it: of two versions of a chain the newer one begins later, or, where nothing
/// was folded, has the entries of the older one in the same order.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    pub(super) begin: Timestamp,
    pub(super) entries: usize,
    /// The vertices that exist as of these.
    pub(super) present: u64,
}

/// Whether `n` entries over so many edges are worth a copy.
#[inline]
pub(super) fn is_worth_it(edges: usize, n: usize) -> bool {
    edges <= n.saturating_mul(EDGES_PER_ENTRY)
}
