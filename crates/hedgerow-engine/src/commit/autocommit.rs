//! Single operations in transactions of their own. Their result is computed at commit, under the latches:
//! they read no snapshot and cannot conflict.

use hedgerow_catalog::error::Result;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{KeyKind, LabelId, PropertyId, PropertyType, RowRef, VertexKeyRef};

use super::attributes::AttributesTable;
use super::names::TxnKeys;
use super::op::{Given, OpKind, TxnOp};
use super::request::{Outcome, Request};
use super::single::{self, Single};
use super::validate::ReadSet;
use super::{order, schedule};
use crate::config::Isolation;
use crate::state::edge_key::EdgeKey;
use crate::state::store::Engine;

/// Commits one edge operation and waits until it is published. Endpoints that are absent are created, unless
/// the edge is to be removed.
#[inline]
pub(crate) fn edge(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
) -> Result<Outcome> {
    engine.check_writable()?;
    engine.check_room(1)?;
    engine.check_key(src)?;
    engine.check_key(dst)?;
    edge_then(engine, kind, src, dst, weight, Given::none, |outcome| order::publish(engine, outcome))
}

/// Like [`edge`], but in a graph without weights, for checked keys: the edge gets one property, whose value
/// is the word.
#[inline]
pub(crate) fn edge_with_word(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    (property, of, word): (PropertyId, PropertyType, u64),
) -> Result<Outcome> {
    engine.check_writable()?;
    engine.check_room(1)?;
    let given = || Given::row(RowRef::Word(property, of, word));
    edge_then(engine, kind, src, dst, 1.0, given, |outcome| order::publish(engine, outcome))
}

/// Like [`edge`], but with properties and without waiting, for checked keys and an edge of the default label.
/// `given` makes the properties where they are used, so that a single number stays in registers until then.
#[inline]
pub(crate) fn edge_unpublished<'g>(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
    given: impl Fn() -> Given<'g>,
) -> Result<Outcome> {
    edge_then(engine, kind, src, dst, weight, given, Ok)
}

/// Like [`edge_unpublished`], but calls `then` with the outcome, separately in each of the three cases. A
/// common result of the cases would be in memory, and the processor would wait for it in the usual case too:
/// single edges took a tenth longer.
#[inline(always)]
fn edge_then<'g>(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
    given: impl Fn() -> Given<'g>,
    then: impl Fn(Outcome) -> Result<Outcome>,
) -> Result<Outcome> {
    // This fault is about ids that were looked up; guessed ids have another one.
    if !faults::is_on(PlantedFault::IdsNotLookedAtAgain) {
        let Some(op) = Single::guess(engine, kind, src, dst, weight) else {
            return then(edge_in_general(engine, kind, src, dst, weight, given)?);
        };
        let named = || faults::is_on(PlantedFault::GuessNotVerified) || op.is_named(engine, src, dst);
        if let Some(outcome) = single::commit_unpublished(engine, &op, &given, named)? {
            return then(outcome);
        }
    }
    then(edge_looked_up(engine, kind, src, dst, weight, given)?)
}

/// Like [`edge_unpublished`], but looks the keys up exactly, without guesses.
#[cold]
fn edge_looked_up<'g>(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
    given: impl Fn() -> Given<'g>,
) -> Result<Outcome> {
    // In a dense graph there are no guesses: an operation that failed before fails now too.
    let op = match engine.catalog.config.keys {
        KeyKind::Dense => None,
        KeyKind::U64 | KeyKind::Str => Single::resolve(engine, kind, src, dst, weight),
    };
    if let Some(op) = op {
        let named = || op.is_named(engine, src, dst);
        if let Some(outcome) = single::commit_unpublished(engine, &op, &given, named)? {
            return Ok(outcome);
        }
    }
    edge_in_general(engine, kind, src, dst, weight, given)
}

/// Like [`edge_unpublished`], but for vertices that may be absent.
#[cold]
fn edge_in_general<'g>(
    engine: &Engine,
    kind: OpKind,
    src: VertexKeyRef<'_>,
    dst: VertexKeyRef<'_>,
    weight: f64,
    given: impl Fn() -> Given<'g>,
) -> Result<Outcome> {
    let mut keys = TxnKeys::new();
    let (src, dst) = (keys.intern(src), keys.intern(dst));
    general(engine, TxnOp::plain(kind, src, dst, weight), &given(), 0, &keys)
}

/// Commits one operation on an edge of any label, given by its id, and waits until it is published. A new
/// edge gets `weight`.
///
/// # Errors
/// Those of a commit.
pub(crate) fn edge_of(
    engine: &Engine,
    kind: OpKind,
    label: LabelId,
    EdgeKey { src, dst, rank, .. }: EdgeKey<'_>,
    weight: f64,
    given: &Given<'_>,
) -> Result<Outcome> {
    engine.check_writable()?;
    engine.check_room(1)?;
    engine.check_key(src)?;
    engine.check_key(dst)?;
    let outcome = if label == LabelId::DEFAULT && rank == 0 {
        edge_unpublished(engine, kind, src, dst, weight, || *given)?
    } else {
        let mut keys = TxnKeys::new();
        let (src, dst) = (keys.intern(src), keys.intern(dst));
        general(engine, TxnOp { label, ..TxnOp::plain(kind, src, dst, weight) }, given, rank, &keys)?
    };
    order::publish(engine, outcome)
}

#[cold]
fn general(engine: &Engine, op: TxnOp, given: &Given<'_>, rank: u64, keys: &TxnKeys) -> Result<Outcome> {
    let op = TxnOp { attributes: 1, ..op };
    let attributes = &[given.to_attributes(rank)];
    schedule::commit_unpublished(engine, &blind(&[op], AttributesTable::of(attributes), keys))
}

fn blind<'a>(ops: &'a [TxnOp], attributes: AttributesTable<'a>, keys: &'a TxnKeys) -> Request<'a> {
    Request {
        ops,
        attributes,
        keys,
        create: true,
        reads: const { &ReadSet::new() },
        start: hedgerow_core::Timestamp::INFINITY,
        // Nothing was read and one item is written: both levels have the same effect.
        isolation: Isolation::Serializable,
    }
}
