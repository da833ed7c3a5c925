//! Single operations in transactions of their own. Their result is computed at commit, under the latches: they read
//! no snapshot and cannot conflict.

use hedgerow_core::VertexKeyRef;

use super::commit::{Outcome, Request, commit};
use super::reads::ReadSet;
use super::{Ask, TxnKeys, TxnOp};
use crate::error::Result;
use crate::graph::Engine;
use crate::options::Isolation;

pub(crate) fn insert_edge(engine: &Engine, src: VertexKeyRef<'_>, dst: VertexKeyRef<'_>) -> Result<bool> {
    Ok(one(engine, Ask::Insert, src, dst)?.edges > 0)
}

pub(crate) fn remove_edge(engine: &Engine, src: VertexKeyRef<'_>, dst: VertexKeyRef<'_>) -> Result<bool> {
    Ok(one(engine, Ask::Remove, src, dst)?.edges < 0)
}

fn one(engine: &Engine, ask: Ask, src: VertexKeyRef<'_>, dst: VertexKeyRef<'_>) -> Result<Outcome> {
    engine.check_writable()?;
    engine.check_key(src)?;
    engine.check_key(dst)?;
    let mut keys = TxnKeys::new(engine.config.keys);
    let op = TxnOp { ask, src: keys.intern(src), dst: keys.intern(dst), weight: 1.0 };
    let request = Request {
        ops: &[op],
        keys: &keys,
        create: true,
        reads: &ReadSet::default(),
        start: hedgerow_core::Timestamp::INFINITY,
        // Nothing was read and the operation is one item: both levels mean the same.
        isolation: Isolation::Serializable,
    };
    commit(engine, &request)
}
