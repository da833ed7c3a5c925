//! The parameters of the paper.

/// The parameters of the paper. The defaults are those of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortledtonOptions {
    /// The most neighbours in a block (|B|), and in a sorted array: 4 to 4,096.
    pub block: usize,
}

impl Default for SortledtonOptions {
    fn default() -> Self {
        SortledtonOptions { block: 256 }
    }
}

impl SortledtonOptions {
    /// The block size in range.
    pub(super) fn block(self) -> usize {
        self.block.clamp(4, 4096)
    }
}
