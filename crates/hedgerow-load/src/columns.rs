//! The columns of a table that a load reads.

/// The columns of a table that a load reads, by their positions from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableColumns {
    /// The columns of source and destination; for vertices, twice the column of the key.
    pub(crate) ends: [usize; 2],
    pub(crate) kinds: Option<[usize; 2]>,
    pub(crate) label: Option<usize>,
    pub(crate) rank: Option<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) properties: Vec<usize>,
}

impl TableColumns {
    /// Returns the columns that are no properties.
    pub(crate) fn taken(&self) -> Vec<usize> {
        let others = self.kinds.into_iter().flatten().chain(self.label).chain(self.rank).chain(self.weight);
        self.ends.into_iter().chain(others).collect()
    }
}
