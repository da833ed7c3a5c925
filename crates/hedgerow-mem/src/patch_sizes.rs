//! The sizes from which on main parts get patches, and the sizes of patches.

/// The divisor for the largest patch: it is 1/16 of the main part, within bounds.
const SHARE: usize = 16;
/// The most entries of a patch: positions in it, with a delta added, must fit 16 bits.
const MOST: usize = 32 << 10;

/// The size from which on main parts get patches, and the size that any patch may have.
#[derive(Clone, Copy, Debug)]
pub struct PatchSizes {
    /// The fewest edges of a main part that gets a patch.
    pub from: usize,
    /// The number of entries that any patch may have, even beyond its share of the main part: a few deltas.
    pub least: usize,
}

impl PatchSizes {
    /// The sizes for tests, whose small graphs need patches too.
    pub const SMALL: PatchSizes = PatchSizes { from: 40, least: 64 };

    /// True if a main part of this size gets patches.
    pub(crate) fn fit(self, edges: usize) -> bool {
        edges >= self.from
    }

    /// Returns the most entries of a patch of such a main part, and of a fold that may make one.
    pub(crate) fn most(self, edges: usize) -> usize {
        (edges / SHARE).clamp(self.least, MOST)
    }
}

impl Default for PatchSizes {
    /// Returns sizes for patches from 64 KiB of neighbours on; copying a smaller main part costs no more than
    /// a patch.
    fn default() -> PatchSizes {
        PatchSizes { from: 16 << 10, least: 1 << 10 }
    }
}
