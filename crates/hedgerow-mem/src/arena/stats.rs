//! Statistics of an arena.

/// The bytes of an arena by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArenaStats {
    /// Bytes taken from the system.
    pub mapped: usize,
    /// Bytes of the open parts of regions, without pages that were returned to the system. Other bytes of
    /// regions occupy no memory.
    pub touched: usize,
    /// Bytes of pages inside free blocks that were returned to the system.
    pub returned: usize,
    /// Bytes of allocated blocks, with their headers.
    pub allocated: usize,
    /// Number of allocated blocks.
    pub blocks: usize,
    /// Number of regions, with the mappings of large blocks.
    pub regions: usize,
}

impl ArenaStats {
    /// Bytes that occupy memory and hold no block: gaps between blocks, and the heads of regions.
    pub fn free(&self) -> usize {
        self.touched.saturating_sub(self.allocated)
    }
}
