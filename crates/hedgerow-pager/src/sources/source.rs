//! The port through which a merge reads the sources of a chain.

use hedgerow_core::{Direction, LocalVertex, VertexId};
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, ReadMemory, TierError};

use crate::sources::word::{Identity, Word};

/// A function of the caller. It returns true if the requested memory is available. A source calls it before
/// the source takes memory. If the function returns false, the source fails with [`TierError::NoRoom`].
pub type HasMemory<'a> = &'a mut dyn FnMut(ReadMemory) -> bool;

/// A chain: the lists of a subgraph in one label and one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainId {
    /// The label and the subgraph.
    pub image: ImageId,
    /// True if the lists have the incoming edges.
    pub is_incoming: bool,
}

/// The requested part of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All lists.
    Chain,
    /// No edge: the query only tests if a source has the whole chain. An image answers it from its directory
    /// alone.
    Vertex(LocalVertex),
    /// The number of edges of one vertex.
    Degree(LocalVertex),
    /// The list of one vertex.
    List(LocalVertex),
    /// The edges of a vertex to one neighbor, of any rank.
    Near(LocalVertex, VertexId),
    /// One edge.
    Edge(Identity),
}

/// A query for a part of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// The chain.
    pub chain: ChainId,
    /// The requested part.
    pub extent: Extent,
    /// True if the rows of properties are requested too. Words have their rows in any case.
    pub rows: bool,
}

/// The answer of a source about a part of a chain.
#[derive(Clone, Debug)]
pub enum Answer<'s, L> {
    /// The source has nothing about the chain. The merge asks the next older source.
    Nothing,
    /// Words about edges of the requested part: one for each edge, ascending by identity. The merge asks
    /// older sources for the other edges.
    Words(Vec<Word<'s>>),
    /// The whole list. The merge asks no older source. The list may have edges beyond the requested part.
    Whole(L),
}

/// The answer of a source about the existing vertices of a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskAnswer {
    /// The source has nothing about the vertices.
    Nothing,
    /// The vertices that were inserted or removed. Bit `i` stands for the local vertex `i`. No bit is set in
    /// both masks.
    Words {
        /// The vertices that exist.
        inserted: u64,
        /// The vertices that do not exist.
        removed: u64,
    },
    /// All existing vertices.
    Whole(u64),
}

/// A source of lists. A source answers for one or more pages. All its answers are as of the same timestamp.
pub trait Source<'s> {
    /// A whole list, in the form in which the source has it.
    type Whole: WholeList;

    /// Answers a query. For [`Extent::Degree`], a source of words returns the words of the vertex. A source
    /// of whole lists may return a list that has only its length.
    ///
    /// # Errors
    /// Damage, and failures of the file system; [`TierError::NoRoom`] if `has_memory` returns false.
    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, Self::Whole>, TierError>;

    /// Returns the existing vertices of a subgraph. For an image of a label other than the default one,
    /// returns the vertices that have neighbors.
    ///
    /// # Errors
    /// The errors of [`answer`](Self::answer).
    fn mask(&self, image: ImageId, has_memory: HasMemory<'_>) -> Result<MaskAnswer, TierError>;
}

/// A whole list of a chain, or the requested part of it.
pub trait WholeList {
    /// Calls `f` with each edge, ascending by identity. O(edges).
    fn for_each(&self, f: impl FnMut(LocalVertex, ItemRef<'_>));

    /// Returns the number of edges of a vertex. The query must have requested it, by [`Extent::Degree`] or
    /// [`Extent::List`]. O(1).
    fn degree(&self, local: LocalVertex) -> u64;
}

impl ChainId {
    /// Returns the chain of an image in one direction.
    pub fn new(image: ImageId, direction: Direction) -> ChainId {
        ChainId { image, is_incoming: direction == Direction::In }
    }

    /// Returns the direction of the edges.
    pub fn direction(self) -> Direction {
        if self.is_incoming { Direction::In } else { Direction::Out }
    }
}

impl Extent {
    /// True if the extent has the edge.
    #[inline]
    pub fn has(self, edge: Identity) -> bool {
        match self {
            Extent::Chain => true,
            Extent::Vertex(_) => false,
            Extent::Degree(local) | Extent::List(local) => edge.local == local,
            Extent::Near(local, other) => (edge.local, edge.other) == (local, other),
            Extent::Edge(one) => edge == one,
        }
    }
}
