//! The choice of edges of a label, and errors of composing.

use hedgerow_core::{Direction, EdgeTest, PropertyId, SUBGRAPH_VERTICES, VertexId};

use crate::table::SubgraphPage;
use crate::version::NotInMemory;

/// The edges of one label in one direction, in the subgraphs of a chunk.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The subgraphs with the lists.
    pub lists: &'a SubgraphPage,
    /// The direction in which the edges are read.
    pub direction: Direction,
    /// The choice of their edges.
    pub take: Take<'a>,
}

/// The choice of edges of a label, and of their weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Take<'a> {
    /// The first and the last rank; all ranks if `None`.
    pub ranks: Option<(u64, u64)>,
    /// Tests that an edge must all pass. The edge copies in this direction must store the tested properties.
    pub tests: &'a [EdgeTest],
    /// True if only the edge copy at the smaller of both ends is taken.
    pub first_copies: bool,
    /// The weight of an edge, in a view with weights.
    pub weight: EdgeWeight,
}

/// The source of the weight of an edge.
#[derive(Clone, Copy, Debug, Default)]
pub enum EdgeWeight {
    /// The stored weight; 1 in a label without weights.
    #[default]
    Stored,
    /// The number in a property, or the given default. An edge without both is an
    /// [error](ComposeError::NoWeight).
    Property(Option<PropertyId>, Option<f64>),
}

impl Take<'_> {
    /// True if every edge is taken.
    pub(super) fn is_all(&self) -> bool {
        self.ranks.is_none() && self.tests.is_empty() && !self.first_copies
    }
}

/// The reason why a chunk cannot be composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposeError {
    /// A subgraph is not in memory.
    NotInMemory,
    /// The lists of 64 vertices together have more entries than a view can count.
    TooManyEdges,
    /// The edge between these vertices, in the source with this index, has no number for its weight.
    NoWeight(VertexId, VertexId, usize),
}

impl ComposeError {
    /// Returns the index of the source of an edge without a weight; `usize::MAX` for other errors.
    pub fn source(self) -> usize {
        if let ComposeError::NoWeight(.., source) = self { source } else { usize::MAX }
    }
}

impl From<NotInMemory> for ComposeError {
    fn from(_: NotInMemory) -> ComposeError {
        ComposeError::NotInMemory
    }
}

/// The lists of a source for 64 vertices.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) offsets: &'a [u32; SUBGRAPH_VERTICES + 1],
    pub(super) lists: &'a [VertexId],
    /// Parallel to the lists; empty if all weights are 1.
    pub(super) weights: &'a [f64],
}

impl<'a> Part<'a> {
    /// Returns the number of entries.
    pub(super) fn len(self) -> u32 {
        self.offsets[SUBGRAPH_VERTICES]
    }

    pub(super) fn of(self, local: usize) -> (&'a [VertexId], &'a [f64]) {
        let range = self.offsets[local] as usize..self.offsets[local + 1] as usize;
        (self.lists.get(range.clone()).unwrap_or(&[]), self.weights.get(range).unwrap_or(&[]))
    }
}
