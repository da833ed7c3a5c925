//! Facts that a key table knows about ids: whether segments may hold their keys, and the kinds of their
//! vertices.

use hedgerow_core::{KindId, SubgraphId, VertexId};

use super::KeyTable;

impl KeyTable {
    /// True if the table knows the key of `id`, or knows that `id` has none. Then segments with keys need not
    /// be read. Once true, it stays true.
    #[inline]
    pub fn knows(&self, id: VertexId) -> bool {
        self.rows.is_known(id)
    }

    /// Marks `id` as without a key, also if segments have one, unless the table knows its key. Replay calls
    /// this for a removed vertex whose key only segments hold, before any reader exists.
    pub fn set_unbound(&self, id: VertexId) {
        self.rows.set_unbound(id);
    }

    /// Groups these vertices of a subgraph by kind, like [`kind_of`](Self::kind_of): calls `f` with each kind
    /// and its vertices. O(kinds).
    pub fn kinds_of(&self, subgraph: SubgraphId, vertices: u64, f: impl FnMut(KindId, u64)) {
        self.rows.kinds_of(subgraph, vertices, f);
    }
}
