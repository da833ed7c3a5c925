//! The sizes from which on main parts get patches, and the sizes of patches.

/// A patch grows up to this share of the main part: 1/16, within bounds.
const SHARE: usize = 16;
/// The bound on patches: positions in a patch fit 16 bits with a delta on top.
const MOST: usize = 32 << 10;

/// The size from which on main parts get patches, and the size that a patch may have in any case.
#[derive(Clone, Copy, Debug)]
pub struct PatchSizes {
    /// The fewest edges of a main part that gets a patch.
    pub from: usize,
    /// The number of entries that a patch may always have, even if that exceeds its share of the main part: a
    /// few deltas.
    pub least: usize,
}

impl PatchSizes {
    /// The sizes for tests, whose small graphs need patches too.
    pub const SMALL: PatchSizes = PatchSizes { from: 40, least: 64 };

    /// True if a main part of this size gets patches.
    pub(crate) fn fit(self, edges: usize) -> bool {
        edges >= self.from
    }

    /// Returns the most entries that a patch of such a main part may have, or is made from at once.
    pub(crate) fn most(self, edges: usize) -> usize {
        (edges / SHARE).clamp(self.least, MOST)
    }
}

impl Default for PatchSizes {
    /// Returns sizes for patches from 64 KiB of neighbours on; copying less costs no more than a patch.
    fn default() -> PatchSizes {
        PatchSizes { from: 16 << 10, least: 1 << 10 }
    }
}
