//! The port through which a merge reads the sources of a chain.

use hedgerow_core::{Direction, LocalVertex, VertexId};
use hedgerow_mem::items::ItemRef;
use hedgerow_tier::{ImageId, ReadMemory, TierError};

use crate::word::{Identity, Word};

/// A function of the caller that returns true if this memory is available. A source calls it before it takes
/// memory, and fails with [`TierError::NoRoom`] if it returns false.
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
    /// No edge: only whether a source has the whole chain. For an image, its directory is enough.
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
    /// True if rows are requested too. Words have their rows in any case.
    pub rows: bool,
}

/// The answer of a source about a part of a chain.
#[derive(Clone, Debug)]
pub enum Answer<'s, L> {
    /// The source has nothing about the chain, so the next older source is asked.
    Nothing,
    /// The words within the requested part: one for each edge, ascending by identity. Older sources have the
    /// rest.
    Words(Vec<Word<'s>>),
    /// The whole list, so older sources are not asked. It may have edges beyond the requested part.
    Whole(L),
}

/// The answer of a source about the existing vertices of a subgraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskAnswer {
    /// The source has nothing about the vertices.
    Nothing,
    /// Some vertices were inserted or removed: bit `i` stands for the local vertex `i`. No bit is in both.
    Words {
        /// The vertices that exist.
        inserted: u64,
        /// The vertices that do not exist.
        removed: u64,
    },
    /// All existing vertices.
    Whole(u64),
}

/// A source of lists. A value of this type answers for one page or for more, and all its answers have the
/// same time: each source of a page is as of one timestamp.
pub trait Source<'s> {
    /// A whole list, in the form in which the source has it.
    type Whole: WholeList;

    /// Answers a query. A source with words answers [`Extent::Degree`] with the words of the vertex. A source
    /// with the whole list may answer it with a list that only has its length.
    ///
    /// # Errors
    /// Damage, and failures of the file system; [`TierError::NoRoom`] if `has_memory` returns false.
    fn answer(&self, query: &Query, has_memory: HasMemory<'_>) -> Result<Answer<'s, Self::Whole>, TierError>;

    /// Returns which vertices of a subgraph exist. In an image of another label than the default one: which
    /// have neighbors.
    ///
    /// # Errors
    /// The errors of [`answer`](Self::answer).
    fn mask(&self, image: ImageId, has_memory: HasMemory<'_>) -> Result<MaskAnswer, TierError>;
}

/// A whole list of a chain, or the requested part of it.
pub trait WholeList {
    /// Calls `f` with each edge, ascending by identity. O(edges).
    fn for_each(&self, f: impl FnMut(LocalVertex, ItemRef<'_>));

    /// Returns the number of edges of a vertex, if it was requested by [`Extent::Degree`] or
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
