//! From which size on main parts get patches, and how large these become.

/// A patch grows up to this share of the main part: 1/16, within bounds.
const SHARE: usize = 16;
/// Positions in a patch fit 16 bits with a delta on top.
const MOST: usize = 32 << 10;

/// From which size on main parts get patches, and how large a patch may become in any case.
#[derive(Clone, Copy, Debug)]
pub struct PatchSizes {
    /// The fewest edges of a main part that gets a patch.
    pub from: usize,
    /// Entries that a patch may have even if they are more than its share of the main part: a few deltas.
    pub least: usize,
}

impl PatchSizes {
    /// For tests, whose graphs are small and are to have patches too.
    pub const SMALL: PatchSizes = PatchSizes { from: 40, least: 64 };

    /// Whether a main part of this size takes patches.
    pub(crate) fn fit(self, edges: usize) -> bool {
        edges >= self.from
    }

    /// The most entries that a patch beside a main part of this size is made of in one go.
    pub(crate) fn most(self, edges: usize) -> usize {
        (edges / SHARE).clamp(self.least, MOST)
    }
}

impl Default for PatchSizes {
    /// From 64 KiB of neighbours on; copying less costs no more than a patch.
    fn default() -> PatchSizes {
        PatchSizes { from: 16 << 10, least: 1 << 10 }
    }
}
