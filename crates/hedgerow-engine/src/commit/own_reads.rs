//! Reads of a transaction whether something exists: its snapshot, with its own writes applied.

use hedgerow_catalog::error::Result;

use super::names::TxnKey;
use super::op::EdgeRef;
use super::overlay::State;
use super::txn::WriteTxn;

impl WriteTxn {
    pub(super) fn reads_vertex(&mut self, key: TxnKey) -> Result<bool> {
        if let Some(exists) = self.own().and_then(|own| own.vertex(key)) {
            return Ok(exists);
        }
        Ok(self.base_id(key)?.is_some())
    }

    /// Reads whether an edge exists, without its properties.
    pub(super) fn reads_existence(&mut self, edge: EdgeRef) -> Result<bool> {
        let own = self.own().and_then(|own| own.item(edge.label, edge.src, edge.dst, edge.rank));
        match own {
            Some(State::Is(edge)) => Ok(edge.is_some()),
            // The state depends on the snapshot, so the edge counts as read.
            Some(State::Based { otherwise, .. }) => Ok(self.is_in_base(edge)? || otherwise.is_some()),
            None => self.is_in_base(edge),
        }
    }

    /// Returns whether the snapshot has the edge, and notes the edge as read.
    fn is_in_base(&mut self, edge: EdgeRef) -> Result<bool> {
        let Some((src, dst)) = self.base_ends(edge.src, edge.dst)? else { return Ok(false) };
        self.reads.edge(edge.label, src, dst);
        match edge.is_plain() {
            true => self.base().contains_edge_by_id(src, dst),
            false => self.base().contains_item(edge.label, src, dst, edge.rank),
        }
    }
}
