//! What a copy that a view made of lists holds, and when one is made.

use crate::version::Read;

/// A view copies so many edges for an entry of patch or delta, at most.
const EDGES_PER_ENTRY: usize = 64;

/// What a copy holds: a version and the first entries of its delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    /// The number of the version in its chain.
    pub(super) version: u64,
    pub(super) entries: usize,
    /// The vertices that exist as of these.
    pub(super) present: u64,
}

/// An entry that removes an edge counts as so many: it cuts a list in two, which each pass over the list meets, while all that is
/// added to a list is one stretch.
const ENTRIES_PER_REMOVAL: usize = 4;

/// How many entries of a version are not in the lists of a view, which keeps them as corrections or copies the lists with them.
#[derive(Clone, Copy)]
pub(super) struct Lacking {
    /// Entries of patch and delta.
    pub(super) entries: usize,
    /// Those of them that remove edges.
    removals: usize,
}

impl Lacking {
    /// The entries that the main part lacks: those of patch and delta. O(delta).
    #[inline]
    pub(super) fn in_main(read: Read<'_>) -> Lacking {
        let (added, removed) = read.version().patch.as_ref().map_or((0, 0), |patch| patch.all_sizes());
        let delta = Lacking::since(read, 0);
        Lacking { entries: delta.entries + added + removed, removals: delta.removals + removed }
    }

    /// The entries of the delta from `from` on. O(delta).
    #[inline]
    pub(super) fn since(read: Read<'_>, from: usize) -> Lacking {
        let entries = read.delta_len() - from;
        Lacking { entries, removals: read.version().delta().removals(from..read.delta_len()) }
    }

    /// Whether the view should copy lists of so many edges rather than correct them.
    #[inline]
    pub(super) fn is_worth_a_copy(self, edges: usize) -> bool {
        let entries = self.entries + (ENTRIES_PER_REMOVAL - 1) * self.removals;
        self.entries > 0 && edges <= entries.saturating_mul(EDGES_PER_ENTRY)
    }
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
    /// About what is read. O(delta).
    pub fn of(read: Read<'_>) -> FromScratch {
        let (version, lacking) = (read.version(), Lacking::in_main(read));
        let edges = version.main().edges().len();
        let copies = lacking.is_worth_a_copy(edges) && !version.is_ranked();
        let (copied, entries) = if copies { (edges + lacking.entries, 0) } else { (0, lacking.entries) };
        FromScratch { copied, entries }
    }
}
