//! Reads of the ranks between two vertices by a transaction.

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::VertexKeyRef;

use super::txn::WriteTxn;

impl WriteTxn {
    /// Returns the ranks of the edges of a label from one vertex to another, ascending; only 0 for a label
    /// that is not `multi`. Empty if there is no edge, or no such vertex. Reads all of these edges: a commit
    /// that adds or removes one between the two vertices is a conflict. O(log degree + ranks).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    pub fn ranks_between<'a>(
        &mut self,
        label: impl Into<LabelRef<'a>>,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Vec<u64>> {
        let label = self.label(label.into())?;
        let (src, dst) = self.engine.catalog.ends_of(Some(label), src.into(), dst.into())?;
        let (src, dst) = (self.key(src)?, self.key(dst)?);
        let hidden = self.own().is_some_and(|own| own.hides(src) || own.hides(dst));
        let mut found = Vec::new();
        if !hidden && let Some((src, dst)) = self.base_ends(src, dst)? {
            self.reads.edge(label, src, dst);
            found = self.base().ranks_of(label, src, dst)?;
        }
        Ok(match self.own() {
            Some(own) => own.ranks(label, src, dst, found),
            None => found,
        })
    }
}
