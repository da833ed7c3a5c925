//! Transactions of several blind edge operations: sorted once, then worked on subgraph by subgraph, in parallel where
//! there is enough to do.
//!
//! The protocol is that of [`commit`](super::commit); what differs is how the steps are done. Keys are looked up, every
//! operation becomes one *item* per copy of its edge, items are sorted by subgraph, direction, vertex and destination,
//! the subgraphs are latched in that order, the items about one edge come down to one effect, and effects are applied
//! subgraph by subgraph. No operation is looked up among others: O(n log n) time, O(n) memory.
//!
//! Only what reads nothing comes here, and removes no vertex: then nothing needs validation, and existing vertices stay.

mod keys;
mod lookup;
mod parts;

use hedgerow_core::{Direction, KeyKind, LabelId, LocalVertex, Op, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, Latched};

use super::commit::{Outcome, Request, draw};
use super::{Ask, TxnOp};
use crate::durability::Record;
use crate::error::Result;
use crate::graph::Engine;
use crate::options::Isolation;

use keys::Resolved;
use lookup::Outcomes;
use parts::{Item, Part, for_each, place, split};

/// How many runs ahead headers are loaded.
const AHEAD: usize = 8;
/// How often a commit starts over because a key moved before the latches were held.
const MAX_RESTARTS: usize = 100;

/// Whether the transaction can go this way.
fn suits(request: &Request<'_>) -> bool {
    request.ops.len() > 1
        && request.create
        && request.isolation == Isolation::Serializable
        && request.reads.is_empty()
        && request.ops.iter().all(TxnOp::is_plain_edge)
}

/// Commits the transaction up to and including the mark in the ring. `None` sends the caller to the general path, with
/// nothing changed.
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Option<Outcome>> {
    if !suits(request) {
        return Ok(None);
    }
    for _ in 0..MAX_RESTARTS {
        let mut keys = Resolved::of(engine, request.ops, request.keys)?;
        let each = |take: &mut dyn FnMut(Item)| keys.each_item(engine, request.ops, take);
        let (mut items, ends) = place(request.ops.len() * 2, each);
        let mut parts = split(&mut items, &ends);
        for_each(&mut parts, |part| part.sort());
        latch(engine, &mut parts);
        // Edges of the default label may have properties only if the schema says so, which is asked under the latches.
        if !engine.schema.default_is_plain() || engine.config.is_one_way() {
            return Ok(None);
        }
        if keys.still_hold(engine, request.keys) {
            return finish(engine, request, &mut keys, parts).map(Some);
        }
    }
    Ok(None)
}

/// Latches all subgraphs, ascending as the parts and their runs do.
fn latch<'e>(engine: &'e Engine, parts: &mut [Part<'e, '_>]) {
    for part in parts {
        let mut ahead = 0;
        let runs = &mut part.runs;
        for at in 0..runs.len() {
            while ahead < runs.len().min(at + AHEAD) {
                engine.subgraphs.get_or_create(runs[ahead].subgraph).warm_header();
                ahead += 1;
            }
            // Both directions of a subgraph come one after the other and share the latch.
            if at == 0 || runs[at - 1].subgraph != runs[at].subgraph {
                part.latched.push(engine.subgraphs.get_or_create(runs[at].subgraph).latch());
            }
            runs[at].latch = part.latched.len() - 1;
        }
    }
}

/// With all latches held: compute, order, apply.
fn finish(
    engine: &Engine,
    request: &Request<'_>,
    keys: &mut Resolved<'_>,
    mut parts: Vec<Part<'_, '_>>,
) -> Result<Outcome> {
    let outcomes = Outcomes::new(engine, request.ops.len());
    for_each(&mut parts, |part| outcomes.note_degrees(part));
    for_each(&mut parts, |part| outcomes.look_up(engine, request.ops, part));
    for_each(&mut parts, |part| gather(&outcomes, part));
    let applied = request.ops.len() as u64;
    let edges: i64 = parts.iter().map(|part| part.edges).sum();
    let vertices: usize = parts.iter().map(|part| part.inserted.len()).sum();
    if vertices == 0 && parts.iter().all(|part| part.effects.is_empty()) {
        // "Nothing changes" may rest on commits that are not published yet: wait for all drawn before this moment.
        let order = engine.clock.order();
        engine.check_open()?;
        return Ok(Outcome { ts: order.last_drawn(), edges: 0, applied });
    }
    let record = match &engine.durable {
        Some(_) => Some(encode(engine, request, keys, &parts)?),
        None => None,
    };
    let ts = draw(engine, record, |_| engine.check_open())?;
    if engine.config.keys == KeyKind::Dense {
        let last = parts.iter().flat_map(|part| &part.inserted).max();
        last.into_iter().for_each(|&id| engine.ids.include(id));
    } else {
        keys.bind(engine, request.keys, ts);
    }
    for_each(&mut parts, |part| apply(engine, part, ts));
    drop(parts);
    keys.unlatch();
    if engine.clock.complete(ts, vertices as i64, edges) {
        engine.commits.wake();
    }
    Ok(Outcome { ts, edges, applied })
}

/// The effects of a part, and the vertices that come into being.
fn gather(outcomes: &Outcomes, part: &mut Part<'_, '_>) {
    let Part { items, runs, latched, effects, inserted, edges, .. } = part;
    effects.reserve(items.len());
    for at in 0..runs.len() {
        let from = effects.len();
        let run = &runs[at];
        // Vertices stand in the outgoing chain, with the first run of the subgraph; a second run adds what it needs.
        let earlier = match at.checked_sub(1) {
            Some(before) if runs[before].latch == run.latch => runs[before].created,
            _ => 0,
        };
        let of_run = &items[run.from..run.to];
        outcomes.warm(items, run);
        let created = created(of_run) & !earlier & !latched[run.latch].present();
        for group in of_run.chunk_by(|a, b| a.edge == b.edge) {
            let Some((op, weight)) = outcomes.effect(group[0].op) else { continue };
            // Each edge counts at one of its copies.
            *edges += match op {
                EdgeOp::Insert if outcomes.is_chosen(&group[0]) => 1,
                EdgeOp::Remove if outcomes.is_chosen(&group[0]) => -1,
                _ => 0,
            };
            effects.push(LocalOp { local: group[0].src().local(), op, dst: group[0].dst(), weight });
        }
        let mut left = created;
        while left != 0 {
            inserted.push(run.subgraph.vertex(LocalVertex(left.trailing_zeros() as u8)));
            left &= left - 1;
        }
        let run = &mut runs[at];
        (run.effects_from, run.effects_to, run.created) = (from, effects.len(), created);
    }
}

/// The vertices of the run that operations which insert an edge name.
fn created(items: &[Item]) -> u64 {
    let creates = |item: &&Item| item.ask != Ask::Remove;
    items.iter().filter(creates).fold(0, |mask, item| mask | item.src().local().bit())
}

/// The log record: removals, vertices, edges; an undirected edge once.
fn encode(
    engine: &Engine,
    request: &Request<'_>,
    keys: &Resolved<'_>,
    parts: &[Part<'_, '_>],
) -> Result<Record> {
    let mut record = Record::default();
    let label = LabelId(0);
    let effects = || {
        let runs = parts.iter().flat_map(|part| part.runs.iter().map(move |run| (part, run)));
        let outgoing = runs.filter(|(_, run)| run.direction == Direction::Out);
        outgoing.flat_map(|(part, run)| {
            let effects = &part.effects[run.effects_from..run.effects_to];
            effects.iter().map(move |effect| (run.subgraph.vertex(effect.local), effect))
        })
    };
    let once = |src: VertexId, dst: VertexId| engine.config.directed || src <= dst;
    for (src, effect) in effects().filter(|(src, e)| e.op == EdgeOp::Remove && once(*src, e.dst)) {
        record.push(Op::RemoveEdge { label, src, dst: effect.dst })?;
    }
    if engine.config.keys == KeyKind::Dense {
        for &id in parts.iter().flat_map(|part| &part.inserted) {
            let key = hedgerow_core::VertexKeyRef::U64(u64::from(id.0));
            record.push(Op::InsertVertex { id, key })?;
        }
    } else {
        for (key, id) in keys.fresh() {
            record.push(Op::InsertVertex { id, key: request.keys.key(key) })?;
        }
    }
    for (src, effect) in effects().filter(|(src, e)| e.op != EdgeOp::Remove && once(*src, e.dst)) {
        let weight = engine.config.weighted.then_some(effect.weight);
        record.push(Op::PutEdge { label, src, dst: effect.dst, weight })?;
    }
    record.finish();
    Ok(record)
}

fn apply(engine: &Engine, part: &mut Part<'_, '_>, ts: Timestamp) {
    let horizon = engine.horizon();
    let weighted = engine.config.weighted;
    let mut with_vertices: Vec<LocalOp> = Vec::new();
    let at = |held: &mut Latched<'_>, subgraph: SubgraphId, direction, ops: &[LocalOp]| {
        if !ops.is_empty() {
            let pinned = |pin| engine.pending.add((subgraph, direction), pin);
            held.apply(direction, ops, ts, weighted, &horizon, pinned);
        }
    };
    let Part { runs, latched, effects, .. } = part;
    for of_subgraph in runs.chunk_by(|a, b| a.latch == b.latch) {
        let held = &mut latched[of_subgraph[0].latch];
        let created = of_subgraph.iter().fold(0, |mask, run| mask | run.created);
        let outgoing = of_subgraph.iter().find(|run| run.direction == Direction::Out);
        let edges = outgoing.map_or(&[][..], |run| &effects[run.effects_from..run.effects_to]);
        let subgraph = of_subgraph[0].subgraph;
        if created == 0 {
            at(held, subgraph, Direction::Out, edges);
        } else {
            with_vertices.clear();
            with_vertices.extend(inserted(created));
            with_vertices.extend_from_slice(edges);
            at(held, subgraph, Direction::Out, &with_vertices);
        }
        if let Some(run) = of_subgraph.iter().find(|run| run.direction == Direction::In) {
            at(held, subgraph, Direction::In, &effects[run.effects_from..run.effects_to]);
        }
    }
}

fn inserted(mut mask: u64) -> impl Iterator<Item = LocalOp> {
    std::iter::from_fn(move || {
        let local = LocalVertex((mask != 0).then(|| mask.trailing_zeros() as u8)?);
        mask &= mask - 1;
        Some(LocalOp { local, op: EdgeOp::Vertex, dst: VertexId(1), weight: 0.0 })
    })
}
