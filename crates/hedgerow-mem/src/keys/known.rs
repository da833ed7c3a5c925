//! What a table knows of ids where segments hold keys too.

use hedgerow_core::VertexId;

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
}
