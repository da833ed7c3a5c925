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

    /// Says that `id` is bound to nothing, whatever segments say, unless the table knows what it is bound to. For who has replayed the
    /// removal of a vertex whose key is in segments alone, before there are readers.
    pub fn set_unbound(&self, id: VertexId) {
        self.rows.set_unbound(id);
    }
}
