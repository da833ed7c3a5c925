//! What a table knows of ids, where segments hold keys too; and of which kinds their vertices are.

use hedgerow_core::{KindId, SubgraphId, VertexId};

use super::KeyTable;

impl KeyTable {
    /// Whether the table knows what `id` is bound to, or that it is bound to nothing: where segments hold keys too, whether those are to
    /// be asked no more. Once it does it always will.
    #[inline]
    pub fn knows(&self, id: VertexId) -> bool {
        self.rows.is_known(id)
    }

    /// Marks `id` as bound to nothing, whatever segments say, unless the table knows its binding. Replay calls this for a removed vertex
    /// whose key only segments hold, before any reader exists.
    pub fn set_unbound(&self, id: VertexId) {
        self.rows.set_unbound(id);
    }

    /// [`kind_of`](Self::kind_of) these vertices of a subgraph: calls `f` with each kind and those that have it. O(kinds).
    pub fn kinds_of(&self, subgraph: SubgraphId, vertices: u64, f: impl FnMut(KindId, u64)) {
        self.rows.kinds_of(subgraph, vertices, f);
    }
}
