//! Single operations in transactions of their own. Their result is computed at commit, under the latches: they read
//! no snapshot and cannot conflict.

use hedgerow_core::VertexKeyRef;

use super::op::{AttributesTable, OpAttributes, OpKind, TxnKeys, TxnOp};
use super::request::{Outcome, Request};
use super::single::{self, Single};
use super::validate::ReadSet;
use super::{order, schedule};
use crate::config::Isolation;
use crate::error::Result;
use crate::state::store::Engine;

/// Commits one edge operation and waits until it is published. Endpoints that are absent are created, unless the edge
/// is to be removed.
#[inline]
pub(crate) fn edge(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
) -> Result<Outcome> {
    engine.check_writable()?;
    engine.check_key(src)?;
    engine.check_key(dst)?;
    let outcome = edge_unpublished(engine, kind, src, dst, weight)?;
    order::publish(engine, outcome)
}

/// As [`edge`], without waiting, for keys that were checked.
#[inline]
pub(crate) fn edge_unpublished(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
) -> Result<Outcome> {
    if let Some(op) = Single::resolve(engine, kind, src, dst, weight) {
        let named = || names(engine, &op, src, dst);
        if let Some(outcome) = single::commit_unpublished(engine, &op, named)? {
            return Ok(outcome);
        }
    }
    general(engine, kind, src, dst, weight)
}

/// Whether the ids of `op` carry the keys, whichever way round. Asked with the latches of both held.
pub(crate) fn names(engine: &Engine, op: &Single, a: VertexKeyRef<'_>, b: VertexKeyRef<'_>) -> bool {
    let carry = |src, dst| engine.ids.carries(op.src, src) && engine.ids.carries(op.dst, dst);
    carry(a, b) || (!engine.config.directed && carry(b, a))
}

#[cold]
fn general(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
) -> Result<Outcome> {
    let mut keys = TxnKeys::new(engine.config.keys);
    let op = TxnOp::plain(kind, keys.intern(src), keys.intern(dst), weight);
    schedule::commit_unpublished(engine, &blind(&[op], AttributesTable::default(), &keys))
}

/// Commits operations that read nothing and waits until they are published.
pub(crate) fn attributes(
    engine: &Engine,
    ops: &[TxnOp],
    attributes: &[OpAttributes],
    keys: &TxnKeys,
) -> Result<Outcome> {
    engine.check_writable()?;
    let outcome = schedule::commit_unpublished(engine, &blind(ops, AttributesTable(attributes), keys))?;
    order::publish(engine, outcome)
}

fn blind<'a>(ops: &'a [TxnOp], attributes: AttributesTable<'a>, keys: &'a TxnKeys) -> Request<'a> {
    Request {
        ops,
        attributes,
        keys,
        create: true,
        reads: const { &ReadSet::new() },
        start: hedgerow_core::Timestamp::INFINITY,
        // Nothing was read and the operation is one item: both levels mean the same.
        isolation: Isolation::Serializable,
    }
}
