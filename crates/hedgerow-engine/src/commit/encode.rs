//! The log record of a commit's effects.

use hedgerow_core::Op;

use super::effect::{EdgeEffect, Effects};
use super::op::TxnKeys;
use crate::error::Result;
use crate::files::log::Record;
use crate::state::store::Engine;

/// The log record of the effects. Removals come before insertions: a key can change its vertex in one commit.
pub(super) fn encode(engine: &Engine, effects: &Effects, keys: &TxnKeys) -> Result<Record> {
    let mut record = Record::default();
    for e in effects.edges.iter().filter(|e| e.weight.is_none()) {
        let EdgeEffect { label, src, dst, rank, .. } = *e;
        record.push(Op::RemoveItem { label, src, dst, rank })?;
    }
    for &(_, id) in &effects.removed {
        record.push(Op::RemoveVertex { id })?;
    }
    for &(key, id) in &effects.inserted {
        record.push(Op::InsertVertex { id, key: keys.key(key) })?;
    }
    let mut bytes = Vec::new();
    for e in &effects.edges {
        let EdgeEffect { label, src, dst, rank, .. } = *e;
        let Some(weight) = e.weight else { continue };
        let weight = engine.is_weighted(label).then_some(weight);
        match &e.row {
            None if rank == 0 => record.push(Op::PutEdge { label, src, dst, weight })?,
            row => {
                bytes.clear();
                row.iter().for_each(|row| hedgerow_log::encode_row(row, &mut bytes));
                record.push(Op::PutItem { label, src, dst, rank, weight, row: &bytes })?;
            }
        }
    }
    record.finish();
    Ok(record)
}
