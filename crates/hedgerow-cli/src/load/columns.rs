//! The columns of a table that a load reads.

/// The columns of a table that a load reads, by their positions from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct TableColumns {
    /// The columns of source and destination; for vertices, twice the column of the key.
    pub(super) ends: [usize; 2],
    pub(super) kinds: Option<[usize; 2]>,
    pub(super) label: Option<usize>,
    pub(super) rank: Option<usize>,
    pub(super) weight: Option<usize>,
    pub(super) properties: Vec<usize>,
}

impl TableColumns {
    /// Returns the columns that are no properties.
    pub(super) fn taken(&self) -> Vec<usize> {
        let others = self.kinds.into_iter().flatten().chain(self.label).chain(self.rank).chain(self.weight);
        self.ends.into_iter().chain(others).collect()
    }
}
