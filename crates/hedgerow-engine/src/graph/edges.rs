//! Single operations on edges of any label, each in a transaction of its own.

use hedgerow_core::{LabelId, PropertyId, Value};

use super::Graph;
use crate::commit::autocommit;
use crate::commit::op::{OpAttributes, OpKind, TxnKeys, TxnOp};
use crate::commit::request::Outcome;
use crate::error::Result;
use crate::state::edge_key::EdgeKey;

impl Graph {
    /// Lays properties over those of an edge, in a transaction of its own; a null removes. Returns whether the edge
    /// exists. Decided at commit: it reads no snapshot and cannot conflict.
    ///
    /// # Errors
    /// As of [`WriteTxn::update_edge`] and of a commit.
    pub fn update_edge<N: AsRef<str>, V: Into<Value>>(
        &self,
        edge: EdgeKey<'_>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<bool> {
        let label = self.engine.label(edge.label)?;
        let cells = self.engine.cells(label, properties)?;
        Ok(self.one(OpKind::Update, label, edge, cells)?.applied > 0)
    }

    /// Removes an edge of any label in a transaction of its own. Returns whether it existed.
    ///
    /// # Errors
    /// [`Error::NoSuchLabel`] and those of a commit.
    pub fn remove_edge_of(&self, edge: EdgeKey<'_>) -> Result<bool> {
        let label = self.engine.label(edge.label)?;
        Ok(self.one(OpKind::Remove, label, edge, Vec::new())?.edges < 0)
    }

    fn one(
        &self,
        kind: OpKind,
        label: LabelId,
        edge: EdgeKey<'_>,
        cells: Vec<(PropertyId, Value)>,
    ) -> Result<Outcome> {
        self.engine.check_key(edge.src)?;
        self.engine.check_key(edge.dst)?;
        let mut keys = TxnKeys::new(self.engine.config.keys);
        let (src, dst) = (keys.intern(edge.src), keys.intern(edge.dst));
        let op = TxnOp { kind, label, attributes: 1, src, dst, weight: 1.0 };
        autocommit::attributes(&self.engine, &[op], &[OpAttributes { rank: edge.rank, cells }], &keys)
    }
}
