//! The parameters of the paper.

/// The parameters of the paper, with the paper's values as defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortledtonOptions {
    /// The largest number of neighbours in a block (|B|), and in a sorted array: 4 to 4,096.
    pub block: usize,
}

impl Default for SortledtonOptions {
    fn default() -> Self {
        SortledtonOptions { block: 256 }
    }
}

impl SortledtonOptions {
    /// Returns the block size, limited to its range.
    pub(super) fn block(self) -> usize {
        self.block.clamp(4, 4096)
    }
}
