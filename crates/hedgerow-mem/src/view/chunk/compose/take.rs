//! What is taken of the edges of a label, and why it cannot be.

use hedgerow_core::{Direction, EdgeTest, PropertyId, SUBGRAPH_VERTICES, VertexId};

use crate::table::SubgraphPage;
use crate::version::NotInMemory;

/// The edges of one label in one direction, of the subgraphs of a chunk.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The lists.
    pub lists: &'a SubgraphPage,
    /// In which direction they are read.
    pub direction: Direction,
    /// What of them is taken.
    pub take: Take<'a>,
}

/// What is taken of the edges of a label.
#[derive(Clone, Copy, Debug, Default)]
pub struct Take<'a> {
    /// The first and the last rank; all where there is none.
    pub ranks: Option<(u64, u64)>,
    /// Tests that an edge must all pass. The copies that are read must keep the properties that the tests read.
    pub tests: &'a [EdgeTest],
    /// Whether only the copies at the smaller end of an edge are taken.
    pub first_copies: bool,
    /// What an edge weighs, in a view with weights.
    pub weight: EdgeWeight,
}

/// What an edge weighs.
#[derive(Clone, Copy, Debug, Default)]
pub enum EdgeWeight {
    /// What the store says; 1 in a label without weights.
    #[default]
    Stored,
    /// The number that a property holds, or else this; an edge without both is an [error](ComposeError::NoWeight).
    Property(Option<PropertyId>, Option<f64>),
}

impl Take<'_> {
    /// Whether every edge is taken.
    pub(super) fn is_all(&self) -> bool {
        self.ranks.is_none() && self.tests.is_empty() && !self.first_copies
    }
}

/// Why a chunk cannot be composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposeError {
    /// A subgraph is not in memory.
    NotInMemory,
    /// The lists of 64 vertices together have more entries than a view counts.
    TooManyEdges,
    /// The edge between these vertices, of the source at this place, has no number to weigh.
    NoWeight(VertexId, VertexId, usize),
}

impl ComposeError {
    /// The place of the source that it is about, of an edge without a weight.
    pub fn source(self) -> usize {
        if let ComposeError::NoWeight(.., source) = self { source } else { usize::MAX }
    }
}

impl From<NotInMemory> for ComposeError {
    fn from(_: NotInMemory) -> ComposeError {
        ComposeError::NotInMemory
    }
}

/// The lists of a source, of 64 vertices.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) offsets: &'a [u32; SUBGRAPH_VERTICES + 1],
    pub(super) lists: &'a [VertexId],
    /// Parallel to the lists; empty where all weigh 1.
    pub(super) weights: &'a [f64],
}

impl<'a> Part<'a> {
    /// The number of entries.
    pub(super) fn len(self) -> u32 {
        self.offsets[SUBGRAPH_VERTICES]
    }

    pub(super) fn of(self, local: usize) -> (&'a [VertexId], &'a [f64]) {
        let range = self.offsets[local] as usize..self.offsets[local + 1] as usize;
        (self.lists.get(range.clone()).unwrap_or(&[]), self.weights.get(range).unwrap_or(&[]))
    }
}
