//! Transactions of a few blind operations on plain edges of the default label between vertices that exist:
//! the steps of [`single`](super::single) for several edges at once.
//!
//! A [`batch`](super::batch) sorts entries, works in parts, and writes the outcome of each operation where
//! other threads find it. That pays off from some hundred operations on. Here one word for each copy of an
//! edge is sorted, which gives the order of the latches and groups the appends to one chain. Each edge is
//! looked up at the copy with the shorter list, while the data of the next edges is prefetched.
//!
//! In unusual cases nothing is changed, and the transaction commits as a batch: a vertex or page is to be
//! made, a chain is not in memory, or two operations may be on one edge.

mod copies;

use copies::{Edge, EdgeCopy, INLINE, MOST, are_named, gather};
use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, InterpolationHint, LabelId, RowRef, SubgraphId, Timestamp};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Ahead, EdgeOp, Hold, Latched, Merged, Ops};
use smallvec::SmallVec;

use super::encode::Encoder;
use super::order::{draw_unchecked, must_apply};
use super::request::{Outcome, Request};
use super::single::plain_change;
use crate::config::Isolation;
use crate::files::log::Record;
use crate::state::store::Engine;

/// The number of edges by which prefetches are ahead of look-ups.
const EDGES_AHEAD: usize = 8;

/// The effects on one chain: their range among all effects of the commit.
struct ChainEffects {
    /// The index of the latch of its subgraph.
    latch: u16,
    direction: Direction,
    subgraph: SubgraphId,
    start: u32,
    end: u32,
}

type Latches<'e> = SmallVec<[Latched<'e>; INLINE]>;

/// The effects of the operations, by chain.
struct Effects {
    chains: SmallVec<[ChainEffects; 2 * INLINE]>,
    ops: SmallVec<[LocalOp; 2 * INLINE]>,
}

/// True if the request allows this way; vertices and chains are checked later.
fn suits(engine: &Engine, request: &Request<'_>) -> bool {
    (2..=engine.work.thresholds.few_up_to.min(MOST)).contains(&request.ops.len())
        && !engine.catalog.config.is_one_way()
        && request.isolation == Isolation::Serializable
        && request.reads.is_empty()
        && request.ops.iter().all(|op| op.is_default_edge() && op.attributes == 0)
}

/// Commits the transaction up to and including the mark in the ring. `None`: nothing was changed, and the
/// caller commits the transaction as a batch.
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Option<Outcome>> {
    if !suits(engine, request) {
        return Ok(None);
    }
    let Some((mut edges, copies)) = gather(engine, request) else { return Ok(None) };
    let Some(mut latches) = latch(engine, &copies, &mut edges) else { return Ok(None) };
    // Edges may have properties only if the schema allows it, which is checked under the latches.
    if !engine.catalog.schema.default_is_plain() {
        return Ok(None);
    }
    look(engine, request, &latches, &mut edges);
    if !are_named(engine, request, &edges) {
        return Ok(None);
    }
    let applied = request.ops.len() as u64;
    let effects = effects(engine, &copies, &edges);
    if effects.ops.is_empty() {
        // The reason for no change may be commits that are not published yet: wait for all that were drawn
        // before this moment.
        let order = engine.order.clock.order();
        engine.check_open()?;
        return Ok(Some(Outcome { ts: order.last_drawn(), edges: 0, applied }));
    }
    let record = engine.durable.as_ref().map(|_| encode(engine, &edges)).transpose()?;
    // Without memory for all merges at once, the batch does them chain by chain.
    let Ok(merges) = engine.pager.take_for_merges(|| bytes_to_merge(&latches, &effects)) else {
        return Ok(None);
    };
    let built = prepare(engine, &mut latches, &effects);
    drop(merges); // the memory of the merges is charged by now
    let ts = draw_unchecked(engine, record)?;
    let whole = must_apply(engine);
    apply(engine, latches, &effects, built, ts);
    let edges = edges.iter().map(|edge| edge.change.map_or(0, |(op, _)| op.growth())).sum();
    if engine.order.clock.complete(ts, 0, edges) {
        engine.order.commits.wake(&engine.order.clock);
    }
    whole.done();
    Ok(Some(Outcome { ts, edges, applied }))
}

/// Latches the subgraphs, ascending, and notes the latch of each end. `None` if a page or a vertex is absent,
/// or a chain is not in memory.
fn latch<'e>(engine: &'e Engine, copies: &[EdgeCopy], edges: &mut [Edge]) -> Option<Latches<'e>> {
    let mut latches = Latches::new();
    let mut last = None;
    for copy in copies {
        let subgraph = copy.subgraph();
        if last != Some(subgraph) {
            let held = engine.pager.subgraphs.get(subgraph, Hold::none())?.latch();
            // Checked under the latch, where nothing is evicted any more (rule E3).
            if engine.pager.eviction.happens() && !held.is_resident() {
                return None;
            }
            latches.push(held);
            last = Some(subgraph);
        }
        let at = latches.len() - 1;
        let (place, second) = copy.place();
        let edge = &mut edges[place];
        let end = if second { edge.dst } else { edge.src };
        if !latches[at].contains_vertex(end.local()) {
            return None;
        }
        latches[at].prefetch_head(copy.direction(), [end.local()]);
        edge.latches[usize::from(second)] = at as u16;
        if edge.src == edge.dst {
            // A loop of an undirected graph has one copy, at both ends.
            edge.latches = [at as u16; 2];
        }
    }
    Some(latches)
}

/// Looks up each edge at the shorter of its two lists, since both copies agree, and notes the change of its
/// operation.
fn look(engine: &Engine, request: &Request<'_>, latches: &Latches<'_>, edges: &mut [Edge]) {
    let second = engine.catalog.placement().second_direction();
    let hint = InterpolationHint::over(engine.keys.ids.bound());
    for at in 0..edges.len() + EDGES_AHEAD {
        if let Some(edge) = edges.get_mut(at) {
            let ([src, dst], [of_src, of_dst]) =
                (edge.latched(latches), [edge.src.local(), edge.dst.local()]);
            let of_dst_degree = dst.settled_degree(second, of_dst);
            edge.at_src = src.settled_degree(Direction::Out, of_src) <= of_dst_degree;
            src.prefetch_edges(Direction::Out, of_src, edge.dst, edge.at_src.then_some(hint));
            dst.prefetch_edges(second, of_dst, edge.src, (!edge.at_src).then_some(hint));
        }
        let Some(at) = at.checked_sub(EDGES_AHEAD) else { continue };
        let (edge, op) = (&mut edges[at], &request.ops[at]);
        let [src, dst] = edge.latched(latches);
        let before = if edge.at_src {
            src.edge(Direction::Out, edge.src.local(), edge.dst, hint)
        } else {
            dst.edge(second, edge.dst.local(), edge.src, hint)
        };
        edge.change = plain_change(engine, op.kind, op.weight, before);
    }
}

/// Groups the effects by chain.
fn effects(engine: &Engine, copies: &[EdgeCopy], edges: &[Edge]) -> Effects {
    let mut effects = Effects { chains: SmallVec::new(), ops: SmallVec::new() };
    effects.ops.reserve(copies.len());
    let (placement, weighted) = (engine.catalog.placement(), engine.catalog.config.weighted);
    for chain in copies.chunk_by(|a, b| a.chain() == b.chain()) {
        let (start, mut latch) = (effects.ops.len() as u32, 0);
        for copy in chain {
            let (place, second) = copy.place();
            let edge = &edges[place];
            let Some((op, weight)) = edge.change else { continue };
            if second && !placement.second_changes(op, weighted) {
                continue;
            }
            let (at, dst) = if second { (edge.dst, edge.src) } else { (edge.src, edge.dst) };
            latch = edge.latches[usize::from(second)];
            effects.ops.push(LocalOp { local: at.local(), op, dst, weight });
        }
        let end = effects.ops.len() as u32;
        if end > start {
            let (direction, subgraph) = (chain[0].direction(), chain[0].subgraph());
            effects.chains.push(ChainEffects { latch, direction, subgraph, start, end });
        }
    }
    effects
}

impl Effects {
    #[inline]
    fn of(&self, chain: &ChainEffects) -> Ops<'_> {
        Ops::plain(&self.ops[chain.start as usize..chain.end as usize])
    }
}

/// Makes the log record; an undirected edge is in it once.
fn encode(engine: &Engine, edges: &[Edge]) -> Result<Record> {
    let mut encoder = Encoder::new(engine);
    let changed = || edges.iter().filter_map(|edge| Some(((edge.src, edge.dst), edge.change?)));
    for (ends, _) in changed().filter(|(_, (op, _))| *op == EdgeOp::Remove) {
        encoder.remove(LabelId::DEFAULT, ends, 0)?;
    }
    for (ends, (_, weight)) in changed().filter(|(_, (op, _))| *op != EdgeOp::Remove) {
        encoder.put(LabelId::DEFAULT, ends, 0, weight, RowRef::Empty)?;
    }
    Ok(encoder.finish())
}

/// Returns an upper bound of the memory for the merges that are due before the operations.
#[cold]
fn bytes_to_merge(latches: &Latches<'_>, effects: &Effects) -> usize {
    let of = |chain: &ChainEffects| {
        latches[usize::from(chain.latch)].bytes_to_merge(chain.direction, effects.of(chain).len())
    };
    effects.chains.iter().map(of).sum()
}

/// Versions that were built before the timestamp was drawn, each with the index of its chain among the
/// effects.
type Built = SmallVec<[(usize, Ahead); 1]>;

/// Does the due merges before the timestamp is drawn, so that commits with later timestamps wait for no
/// merge.
fn prepare(engine: &Engine, latches: &mut Latches<'_>, effects: &Effects) -> Built {
    let (mut built, horizon) = (Built::new(), engine.order.horizon());
    for (at, chain) in effects.chains.iter().enumerate() {
        let (held, ops) = (&mut latches[usize::from(chain.latch)], effects.of(chain));
        let (ahead, pins) = held.prepare(chain.direction, ops, &horizon);
        engine.pager.keep((chain.subgraph, chain.direction), pins);
        built.extend(ahead.map(|ahead| (at, ahead)));
    }
    built
}

/// Applies the effects, and releases each latch after the last effect on its subgraph: another commit can
/// write to that subgraph while this one applies the other effects.
fn apply(engine: &Engine, latches: Latches<'_>, effects: &Effects, built: Built, ts: Timestamp) {
    let (horizon, mut built) = (engine.order.horizon(), built.into_iter().peekable());
    let mut chains = effects.chains.iter().enumerate().peekable();
    let mut merged = Merged::default();
    for (latch, mut held) in latches.into_iter().enumerate() {
        while let Some((at, chain)) = chains.next_if(|(_, chain)| usize::from(chain.latch) == latch) {
            let version = built.next_if(|&(of, _)| of == at).map(|(_, version)| version);
            let pins = held.apply_ahead(chain.direction, effects.of(chain), version, ts, &horizon);
            engine.pager.keep((chain.subgraph, chain.direction), pins);
        }
        merged += held.merged();
    }
    engine.note_merged(LabelId::DEFAULT, merged);
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests;
