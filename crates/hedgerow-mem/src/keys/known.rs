//! The knowledge of a key table about ids when segments hold keys too, and about the kinds of their vertices.

use hedgerow_core::{KindId, SubgraphId, VertexId};

use super::KeyTable;

impl KeyTable {
    /// True if the table knows the key of `id`, or that it has none. If segments hold keys too, they need not
    /// be read then. Once true, it stays true.
    #[inline]
    pub fn knows(&self, id: VertexId) -> bool {
        self.rows.is_known(id)
    }

    /// Marks `id` as without a key, whatever segments hold, unless the table knows its key. Replay calls this
    /// for a removed vertex whose key only segments hold, before any reader exists.
    pub fn set_unbound(&self, id: VertexId) {
        self.rows.set_unbound(id);
    }

    /// Groups these vertices of a subgraph by kind: calls `f` with each kind and the vertices of it, like
    /// [`kind_of`](Self::kind_of). O(kinds).
    pub fn kinds_of(&self, subgraph: SubgraphId, vertices: u64, f: impl FnMut(KindId, u64)) {
        self.rows.kinds_of(subgraph, vertices, f);
    }
}
