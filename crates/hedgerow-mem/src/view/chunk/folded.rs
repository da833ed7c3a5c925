//! The content of copies that a view makes of lists, and the rule for making one.

use crate::version::Read;

/// The most edges that a view copies for each entry of patch or delta.
const EDGES_PER_ENTRY: usize = 64;

/// The content of a copy: a version and the first entries of its delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    /// The number of the version in its chain.
    pub(super) version: u64,
    pub(super) entries: usize,
    /// The vertices that exist after these entries.
    pub(super) present: u64,
}

/// The weight of a removal: it counts as this many entries. A removal cuts a list in two, which slows each
/// pass over the list; all additions to a list are one stretch.
const ENTRIES_PER_REMOVAL: usize = 4;

/// The entries of a version that the lists of a view lack. The view stores them as corrections, or copies the
/// lists with them.
#[derive(Clone, Copy)]
pub(super) struct Lacking {
    /// The number of entries of patch and delta.
    pub(super) entries: usize,
    /// The number of entries that remove edges.
    removals: usize,
}

impl Lacking {
    /// Counts the entries of patch and delta, which the main part lacks. O(delta).
    #[inline]
    pub(super) fn in_main(read: Read<'_>) -> Lacking {
        let (added, removed) = read.version().patch.as_ref().map_or((0, 0), |patch| patch.all_sizes());
        let delta = Lacking::since(read, 0);
        Lacking { entries: delta.entries + added + removed, removals: delta.removals + removed }
    }

    /// Counts the entries of the delta from `from` on. O(delta).
    #[inline]
    pub(super) fn since(read: Read<'_>, from: usize) -> Lacking {
        let entries = read.delta_len() - from;
        Lacking { entries, removals: read.version().delta().removals(from..read.delta_len()) }
    }

    /// True if the view should copy lists of `edges` edges instead of correcting them.
    #[inline]
    pub(super) fn is_worth_a_copy(self, edges: usize) -> bool {
        let entries = self.entries + (ENTRIES_PER_REMOVAL - 1) * self.removals;
        self.entries > 0 && edges <= entries.saturating_mul(EDGES_PER_ENTRY)
    }
}

/// The work for a subgraph in a view that is made from scratch.
#[derive(Clone, Copy, Default)]
pub struct FromScratch {
    /// The number of edges to copy.
    pub copied: usize,
    /// The number of entries of patch and delta to sort, if no edges are copied.
    pub entries: usize,
}

impl FromScratch {
    /// Estimates the work for a state. O(delta).
    pub fn of(read: Read<'_>) -> FromScratch {
        let (version, lacking) = (read.version(), Lacking::in_main(read));
        let edges = version.main().edges().len();
        let copies = lacking.is_worth_a_copy(edges) && !version.is_ranked();
        let (copied, entries) = if copies { (edges + lacking.entries, 0) } else { (0, lacking.entries) };
        FromScratch { copied, entries }
    }
}
