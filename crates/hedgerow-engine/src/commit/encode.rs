//! The log record of a commit: the one place that maps each change to its form in the log.
//!
//! The order: removed edges, removed vertices, inserted vertices, put edges. So a key can change its vertex
//! within one commit, and an edge finds its ends.

use hedgerow_catalog::error::Result;
use hedgerow_core::{LabelId, Op, RowRef, VertexId};

use super::effect::{EdgeEffect, Effects};
use super::names::{TxnKey, TxnKeys};
use crate::files::log::Record;
use crate::state::store::Engine;

/// The writer of a record, change by change in the order above.
pub(super) struct Encoder<'e> {
    engine: &'e Engine,
    record: Record,
    /// The properties of one edge in the form of the log.
    row: Vec<u8>,
}

impl<'e> Encoder<'e> {
    pub(super) fn new(engine: &'e Engine) -> Encoder<'e> {
        Encoder { engine, record: Record::default(), row: Vec::new() }
    }

    /// Records the removal of an edge.
    #[inline]
    pub(super) fn remove(&mut self, label: LabelId, ends: (VertexId, VertexId), rank: u64) -> Result<()> {
        let (src, dst) = ends;
        self.record.push(match rank {
            0 => Op::RemoveEdge { label, src, dst },
            rank => Op::RemoveItem { label, src, dst, rank },
        })
    }

    /// Records the removal of a vertex.
    pub(super) fn remove_vertex(&mut self, id: VertexId) -> Result<()> {
        self.record.push(Op::RemoveVertex { id })
    }

    /// Records the insertion of a vertex with this key.
    pub(super) fn insert_vertex(&mut self, id: VertexId, keys: &TxnKeys, key: TxnKey) -> Result<()> {
        self.record.push(Op::InsertVertex { id, key: keys.key(key) })
    }

    /// Records an edge with its weight, if the graph has weights, and its properties.
    #[inline]
    pub(super) fn put(
        &mut self,
        label: LabelId,
        ends: (VertexId, VertexId),
        rank: u64,
        weight: f64,
        row: RowRef<'_>,
    ) -> Result<()> {
        let (src, dst) = ends;
        let weight = self.engine.catalog.is_weighted(label).then_some(weight);
        if rank == 0 && matches!(row, RowRef::Empty) {
            return self.record.push(Op::PutEdge { label, src, dst, weight });
        }
        self.row.clear();
        hedgerow_log::encode_row(row, &mut self.row);
        self.record.push(Op::PutItem { label, src, dst, rank, weight, row: &self.row })
    }

    /// Returns the record, with its checksum.
    #[inline]
    pub(super) fn finish(mut self) -> Record {
        self.record.finish();
        self.record
    }
}

/// Makes the log record of the effects of a commit that takes the general way.
pub(super) fn encode(engine: &Engine, effects: &Effects, keys: &TxnKeys) -> Result<Record> {
    let mut encoder = Encoder::new(engine);
    let ends = |e: &EdgeEffect| (e.src, e.dst);
    for e in effects.edges.iter().filter(|e| e.weight.is_none()) {
        encoder.remove(e.label, ends(e), e.rank)?;
    }
    for &(_, id) in &effects.removed {
        encoder.remove_vertex(id)?;
    }
    for &(key, id) in &effects.inserted {
        encoder.insert_vertex(id, keys, key)?;
    }
    for e in &effects.edges {
        if let Some(weight) = e.weight {
            encoder.put(e.label, ends(e), e.rank, weight, e.row.as_ref().into())?;
        }
    }
    Ok(encoder.finish())
}
