//! Transactions of several blind edge operations: sorted once, then worked on subgraph by subgraph, in parallel where
//! there is enough to do.
//!
//! The protocol is that of [`commit`](super::general); what differs is how the steps are done. Keys are looked up, every
//! operation becomes one *entry* per copy of its edge, entries are sorted by subgraph, direction, vertex and destination,
//! the subgraphs are latched in that order, the entries about one edge come down to one effect, and effects are applied
//! subgraph by subgraph. No operation is looked up among others: O(n log n) time, O(n) memory.
//!
//! Only what reads nothing comes here, and removes no vertex: then nothing needs validation, and existing vertices stay.

mod keys;
mod lookup;
mod parts;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, InterpolationHint, KeyKind, LabelId, LocalVertex, RowRef, Timestamp, VertexId,
};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, EdgeOp, Latched, Merged, Ops};
use hedgerow_txn::{CommitThreads, with_commit_threads};

use super::encode::Encoder;
use super::names::TxnKey;
use super::op::OpKind;
use super::order::{draw, must_apply};
use super::request::{Outcome, Request};
use crate::config::Isolation;
use crate::error::{CommitError, Result};
use crate::files::log::Record;
use crate::state::store::Engine;

use keys::Resolved;
use lookup::Outcomes;
use parts::{Part, parts};

/// How many batches of subgraphs ahead headers are loaded, then heads, then deltas and lists; and where an append goes.
const HEADERS_AHEAD: usize = 8;
const HEADS_AHEAD: usize = 5;
const LISTS_AHEAD: usize = 2;
const DELTAS_AHEAD: usize = 5;
const APPENDS_AHEAD: usize = 3;
/// How often a commit starts over because a key moved before the latches were held.
const MAX_RESTARTS: usize = 100;
const DIRECTIONS: [Direction; 2] = [Direction::Out, Direction::In];

/// Whether the transaction can go this way.
fn suits(engine: &Engine, request: &Request<'_>) -> bool {
    request.ops.len() > 1
        && request.create
        && !engine.config.is_one_way()
        && request.isolation == Isolation::Serializable
        && request.reads.is_empty()
        && request
            .ops
            .iter()
            .all(|op| op.is_default_edge() && request.attributes.get(op.attributes).rank == 0)
}

/// Commits the transaction up to and including the mark in the ring. `None` sends the caller to the general path, with
/// nothing changed.
pub(crate) fn commit_unpublished<'j>(
    engine: &'j Engine,
    request: &'j Request<'_>,
) -> Result<Option<Outcome>> {
    if !suits(engine, request) {
        return Ok(None);
    }
    with_commit_threads(request.ops.len() * 2, engine.thresholds.threads_from, |threads| {
        for _ in 0..MAX_RESTARTS {
            if let Attempt::Committed(outcome) = attempt(engine, request, threads)? {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    })
}

/// What came of an attempt; nothing is changed but by the first.
enum Attempt {
    Committed(Outcome),
    /// A key named something else before the latches were held, or a page was made of which none was there.
    Moved,
}

fn attempt<'j>(engine: &'j Engine, request: &'j Request<'_>, threads: &CommitThreads<'j>) -> Result<Attempt> {
    let keys = Resolved::of(engine, request.ops, request.keys)?;
    let entries = |keys: &Resolved<'_>, range: std::ops::Range<usize>, to: &mut Vec<parts::BatchEntry>| {
        keys.each_entry(engine.placement(), request.ops, range, to);
    };
    let serial = engine.thresholds.threads_from;
    let (mut keys, parts) = parts(threads, request.ops.len(), serial, keys, entries);
    let attributed = !engine.schema.default_is_plain();
    let outcomes = Outcomes::new(engine, request, attributed);
    let latch = |_: &Outcomes<'_>, part: &mut Part<'j>| latch(engine, part);
    let prepare = |outcomes: &Outcomes<'j>, part: &mut Part<'j>| prepare(engine, outcomes, part);
    let (_, parts) = threads.claim_each(outcomes, parts, latch, prepare);
    // Edges may have properties only if the schema says so, which is asked under the latches.
    if !attributed && !engine.schema.default_is_plain() {
        return Ok(Attempt::Moved);
    }
    let unasked = faults::is_on(PlantedFault::BatchKeysNotLookedAtAgain);
    if unasked || keys.still_hold(engine, request.keys) {
        return finish(engine, request, &mut keys, parts, threads);
    }
    Ok(Attempt::Moved)
}

/// Latches the subgraphs of a part. Parts are claimed in order, by one thread at a time: so latches are taken in
/// ascending order by the commit as a whole. Where there is no page and nothing is to be put, there is nothing to remove
/// and nothing to latch: it is looked at again when the commit orders (invariant I28).
fn latch<'e>(engine: &'e Engine, part: &mut Part<'e>) {
    let mut ahead = 0;
    let Part { entries, batches, latched, absent, .. } = part;
    latched.reserve_exact(batches.len());
    for at in 0..batches.len() {
        while ahead < batches.len().min(at + HEADERS_AHEAD) {
            engine.subgraphs.get(batches[ahead].subgraph).inspect(|subgraph| subgraph.prefetch_header());
            ahead += 1;
        }
        let batch = &batches[at];
        match engine.subgraphs.get(batch.subgraph) {
            Some(subgraph) => latched.push(subgraph.latch()),
            None if entries[batch.all_entries()].iter().all(|entry| entry.is_kind(OpKind::Remove)) => {
                absent.push(batch.subgraph);
            }
            None => latched.push(engine.subgraphs.get_or_create(batch.subgraph).latch()),
        }
    }
    if !absent.is_empty() {
        batches.retain(|batch| absent.binary_search(&batch.subgraph).is_err());
    }
}

/// Whether the pages that did not exist still do not: asked in the ordering section (invariant I28).
fn still_absent(engine: &Engine, parts: &[Part<'_>]) -> bool {
    let mut absent = parts.iter().flat_map(|part| &part.absent);
    faults::is_on(PlantedFault::AbsentNotLookedAtAgain)
        || !absent.any(|&subgraph| engine.subgraphs.get(subgraph).is_some())
}

/// Everything that can be done before the timestamp is drawn, for the subgraphs of one part: what the operations come to,
/// and room for it, or the version that has it merged in.
fn prepare<'j>(engine: &Engine, outcomes: &Outcomes<'j>, part: &mut Part<'j>) {
    let _ = failpoint::reach(FailPoint::BatchCompute);
    let horizon = engine.horizon();
    let weighted = engine.config.weighted;
    part.effects.reserve_exact(part.entries.len());
    if outcomes.attributed() {
        part.attributes.reserve_exact(part.entries.len());
    }
    let hint = InterpolationHint::over(engine.ids.bound());
    let (mut heads, mut lists) = (0, 0);
    for at in 0..part.batches.len() {
        let upto = |ahead: usize| part.batches.len().min(at + ahead);
        for ahead in heads..upto(HEADS_AHEAD) {
            prefetch_heads(&part.latched[ahead], &part.entries, &part.batches[ahead]);
            outcomes.prefetch_known(&part.entries[part.batches[ahead].all_entries()]);
        }
        for ahead in lists..upto(LISTS_AHEAD) {
            outcomes.prefetch(&part.entries, &part.batches[ahead], &part.latched[ahead], hint);
        }
        (heads, lists) = (upto(HEADS_AHEAD), upto(LISTS_AHEAD));
        gather(engine, outcomes, part, at, hint);
        let Part { batches, latched, effects, attributes, ahead, .. } = part;
        let (batch, held) = (&batches[at], &mut latched[at]);
        for direction in DIRECTIONS {
            let ops = ops(effects, attributes, batch.effects(direction));
            let pinned = |pin| engine.keep((batch.subgraph, direction), pin);
            let built = held.prepare(direction, ops, weighted, &horizon, pinned);
            ahead.extend(built.map(|built| (at as u32, direction, built)));
        }
    }
}

fn prefetch_heads(held: &Latched<'_>, entries: &[parts::BatchEntry], batch: &parts::SubgraphBatch) {
    for direction in DIRECTIONS {
        let entries = &entries[batch.entries(direction)];
        if !entries.is_empty() {
            held.prefetch_head(direction, entries.iter().map(parts::BatchEntry::local));
        }
    }
}

/// The effects on one subgraph: the vertices that come into being, then the edges.
fn gather<'j>(
    engine: &Engine,
    outcomes: &Outcomes<'j>,
    part: &mut Part<'j>,
    at: usize,
    hint: InterpolationHint,
) {
    let Part { entries, batches, latched, effects, attributes, .. } = part;
    let (batch, held) = (&mut batches[at], &latched[at]);
    batch.effects[0] = effects.len() as u32;
    // Vertices stand in the outgoing chain, also those that edges of the other bring into being.
    let creates = entries[batch.all_entries()].iter().filter(|entry| !entry.is_kind(OpKind::Remove));
    let created = creates.fold(0, |mask, entry| mask | entry.local().bit()) & !held.present();
    effects.extend(inserted(created));
    part.vertices += created.count_ones() as usize;
    let placement = engine.placement();
    for direction in DIRECTIONS {
        let entries = &entries[batch.entries(direction)];
        let mut edges = held.finder(direction, hint);
        let mut done = 0;
        for group in entries.chunk_by(parts::BatchEntry::same_edge) {
            outcomes.prefetch_rows(direction, &entries[done..]);
            done += group.len();
            let (local, dst) = (group[0].local(), group[0].dst());
            let at = batch.subgraph.vertex(local);
            let (op, weight) = if outcomes.attributed() {
                let Some((op, weight, row)) = outcomes.with_row(group, (at, direction), held, &mut edges)
                else {
                    continue;
                };
                attributes.resize(effects.len(), Attributes::NONE);
                attributes.push(Attributes { rank: 0, row });
                (op, weight)
            } else {
                let Some(effect) = outcomes.of(group, &mut edges) else { continue };
                effect
            };
            if placement.counts_at(direction, at, dst) {
                part.changes += 1;
                part.edges += match op {
                    EdgeOp::Insert => 1,
                    EdgeOp::Remove => -1,
                    _ => 0,
                };
            }
            effects.push(LocalOp { local, op, dst, weight });
        }
        batch.effects[direction as usize + 1] = effects.len() as u32;
    }
    if outcomes.attributed() {
        attributes.resize(effects.len(), Attributes::NONE);
    }
}

fn inserted(mut mask: u64) -> impl Iterator<Item = LocalOp> {
    std::iter::from_fn(move || {
        let local = LocalVertex((mask != 0).then(|| mask.trailing_zeros() as u8)?);
        mask &= mask - 1;
        Some(LocalOp { local, op: EdgeOp::Vertex, dst: VertexId(1), weight: 0.0 })
    })
}

/// With all latches held and everything prepared: order, apply.
fn finish<'j>(
    engine: &'j Engine,
    request: &Request<'_>,
    keys: &mut Resolved<'_>,
    parts: Vec<Part<'j>>,
    threads: &CommitThreads<'j>,
) -> Result<Attempt> {
    let applied = request.ops.len() as u64;
    let edges: i64 = parts.iter().map(|part| part.edges).sum();
    let vertices: usize = parts.iter().map(|part| part.vertices).sum();
    if parts.iter().all(|part| part.changes == 0 && part.vertices == 0) {
        // "Nothing changes" may rest on commits that are not published yet: wait for all drawn before this moment.
        let order = engine.clock.order();
        engine.check_open()?;
        if !still_absent(engine, &parts) {
            return Ok(Attempt::Moved);
        }
        return Ok(Attempt::Committed(Outcome { ts: order.last_drawn(), edges: 0, applied }));
    }
    let record = match &engine.durable {
        Some(_) => Some(encode(engine, request, keys, &parts)?),
        None => None,
    };
    let mut absent = true;
    let drawn = draw(engine, record, |last_drawn| {
        absent = still_absent(engine, &parts);
        if absent { engine.check_open() } else { Err(CommitError::Conflict { with: last_drawn }.into()) }
    });
    if !absent {
        return Ok(Attempt::Moved);
    }
    let ts = drawn?;
    let applied_all = must_apply(engine);
    if engine.config.keys == KeyKind::Dense {
        created(&parts).max().into_iter().for_each(|id| engine.ids.include(id));
    } else {
        keys.bind(engine, request.keys, ts);
    }
    threads.each((), parts, move |(), part| {
        let _ = failpoint::reach(FailPoint::BatchApply);
        apply(engine, part, ts);
    });
    keys.unlatch();
    if engine.clock.complete(ts, vertices as i64, edges) {
        engine.commits.wake();
    }
    applied_all.done();
    Ok(Attempt::Committed(Outcome { ts, edges, applied }))
}

/// The effects in a range, with their attributes if edges may have any.
fn ops<'a>(
    effects: &'a [LocalOp],
    attributes: &'a [Attributes<'_>],
    range: std::ops::Range<usize>,
) -> Ops<'a> {
    Ops::with(&effects[range.clone()], attributes.get(range).unwrap_or(&[]))
}

/// All effects on the outgoing chain of each subgraph, with the vertices they are about, and properties.
fn effects<'a>(parts: &'a [Part<'_>]) -> impl Iterator<Item = (VertexId, &'a LocalOp, RowRef<'a>)> {
    let batches = parts.iter().flat_map(|part| part.batches.iter().map(move |batch| (part, batch)));
    batches.flat_map(|(part, batch)| {
        batch.effects(Direction::Out).map(move |at| {
            let (effect, attributes) = (&part.effects[at], part.attributes.get(at));
            let row = attributes.map_or(RowRef::Empty, |attributes| attributes.row);
            (batch.subgraph.vertex(effect.local), effect, row)
        })
    })
}

/// The vertices that come into being, ascending.
fn created(parts: &[Part<'_>]) -> impl Iterator<Item = VertexId> {
    let parts = parts.iter().filter(|part| part.vertices > 0);
    parts
        .flat_map(|part| effects(std::slice::from_ref(part)))
        .filter_map(|(id, effect, _)| (effect.op == EdgeOp::Vertex).then_some(id))
}

/// The log record; an undirected edge stands in it once.
fn encode(engine: &Engine, request: &Request<'_>, keys: &Resolved<'_>, parts: &[Part<'_>]) -> Result<Record> {
    let mut encoder = Encoder::new(engine);
    let label = LabelId::DEFAULT;
    let edges = || {
        let placement = engine.placement();
        let edges = effects(parts).filter(|(_, e, _)| e.op != EdgeOp::Vertex);
        edges.filter(move |(src, e, _)| placement.counts_at(Direction::Out, *src, e.dst))
    };
    for (src, effect, _) in edges().filter(|(_, e, _)| e.op == EdgeOp::Remove) {
        encoder.remove(label, (src, effect.dst), 0)?;
    }
    if engine.config.keys == KeyKind::Dense {
        for id in created(parts) {
            encoder.insert_vertex(id, request.keys, TxnKey(u64::from(id.0)))?;
        }
    } else {
        for (key, id) in keys.fresh() {
            encoder.insert_vertex(id, request.keys, key)?;
        }
    }
    for (src, effect, row) in edges().filter(|(_, e, _)| e.op != EdgeOp::Remove) {
        encoder.put(label, (src, effect.dst), 0, effect.weight, row)?;
    }
    Ok(encoder.finish())
}

/// Applies the effects of a part and releases its latches.
fn apply(engine: &Engine, part: &mut Part<'_>, ts: Timestamp) {
    let horizon = engine.horizon();
    let weighted = engine.config.weighted;
    let Part { batches, latched, effects, attributes, ahead, .. } = part;
    let mut built = ahead.drain(..).peekable();
    for (at, batch) in batches.iter().enumerate() {
        if let Some(held) = latched.get(at + HEADERS_AHEAD) {
            held.prefetch_header();
        }
        if let Some(held) = latched.get(at + DELTAS_AHEAD) {
            held.prefetch_delta_head(Direction::Out);
        }
        if let Some(held) = latched.get(at + APPENDS_AHEAD) {
            held.prefetch_append(Direction::Out);
        }
        for direction in DIRECTIONS {
            let ops = ops(effects, attributes, batch.effects(direction));
            let version = built.next_if(|&(of, chain, _)| (of as usize, chain) == (at, direction));
            if !ops.is_empty() {
                let pinned = |pin| engine.keep((batch.subgraph, direction), pin);
                let version = version.map(|(_, _, version)| version);
                latched[at].apply_ahead(direction, ops, version, ts, weighted, &horizon, pinned);
            }
        }
    }
    drop(built);
    let mut merged = Merged::default();
    latched.iter().for_each(|held| merged += held.merged());
    // Freed here, where several threads do it.
    *part = Part::default();
    engine.note_merged(LabelId::DEFAULT, merged);
}
