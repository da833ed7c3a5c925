//! Ids as types: a vertex, its subgraph, its number in the subgraph, an edge label.

/// Number of vertices per subgraph: 64 consecutive ids share one latch, one main part and one delta
/// (RapidStore section 5 uses the same partition size).
pub const SUBGRAPH_VERTICES: usize = 64;

/// A vertex inside the store: dense, 32 bits, assigned at commit. Users name vertices by
/// [`VertexKey`](crate::VertexKey).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct VertexId(pub u32);

impl VertexId {
    /// The largest id that a vertex can have; `u32::MAX` is reserved as a sentinel for callers.
    pub const MAX: VertexId = VertexId(u32::MAX - 1);

    /// Returns the id as an index into an array over the dense domain.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the subgraph of this vertex.
    #[inline]
    pub fn subgraph(self) -> SubgraphId {
        SubgraphId(self.0 >> 6)
    }

    /// Returns the number of this vertex in its subgraph.
    #[inline]
    pub fn local(self) -> LocalVertex {
        LocalVertex((self.0 & 63) as u8)
    }
}

/// A group of [`SUBGRAPH_VERTICES`] consecutive vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SubgraphId(pub u32);

impl SubgraphId {
    /// Returns the id as an index into an array over subgraphs.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the vertex at `local` in this subgraph.
    #[inline]
    pub fn vertex(self, local: LocalVertex) -> VertexId {
        VertexId((self.0 << 6) | u32::from(local.0))
    }
}

/// The number of a vertex in its subgraph, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LocalVertex(pub u8);

impl LocalVertex {
    /// Returns the number as an index, 0 to 63.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0 & 63)
    }

    /// Returns a mask with this vertex's bit set.
    #[inline]
    pub fn bit(self) -> u64 {
        1u64 << (self.0 & 63)
    }
}

/// The label of an edge: 0 is the default label, which every graph has; others are named by the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LabelId(pub u16);

impl LabelId {
    /// The label of an edge for which no label is given.
    pub const DEFAULT: LabelId = LabelId(0);
    /// A reserved label that users do not see: the properties of a vertex are stored as the properties of an
    /// edge from the vertex to itself with this label.
    pub const VERTICES: LabelId = LabelId(u16::MAX);
    /// The last label that can be defined.
    pub const MAX: LabelId = LabelId(u16::MAX - 1);
}
