//! Transactions of one edge operation whose endpoints exist: the commit of [`commit`](super::general) with every phase
//! reduced to two endpoints. Nothing is allocated beside the log record, and the cache misses of both endpoints
//! overlap.
//!
//! It is the same protocol, step by step (`docs/design/protocol.md`, section 2): latches ascending, look-ups verified
//! under them, effect computed against everything applied, timestamp drawn and record appended in the ordering section,
//! applied, released, completed. Whatever is unusual (an endpoint to be created, a key that moved) goes to the general
//! path with nothing changed.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, InterpolationHint, KeyKind, LabelId, Op, Timestamp, VertexId, VertexKeyRef};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::subgraph::prefetch::End;
use hedgerow_mem::{EdgeOp, Latched, Subgraph};

use super::op::OpKind;
use super::order::{draw, must_apply};
use super::request::Outcome;
use crate::error::Result;
use crate::files::log::Record;
use crate::state::change::{effective, same_weight};
use crate::state::store::Engine;

/// One edge operation, by vertex ids. Of an undirected graph `src` is the smaller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Single {
    pub(crate) kind: OpKind,
    pub(crate) src: VertexId,
    pub(crate) dst: VertexId,
    pub(crate) weight: f64,
}

impl Single {
    /// The operation with its keys looked up; `None` where one names no vertex. Of a dense graph the vertices need not
    /// exist.
    #[inline]
    pub(crate) fn resolve(
        engine: &Engine,
        kind: OpKind,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        weight: f64,
    ) -> Option<Single> {
        let now = Timestamp(u64::MAX - 1);
        let (src, dst) = (engine.ids.lookup(src, now)?, engine.ids.lookup(dst, now)?);
        let (src, dst) = engine.placement().ends(src, dst);
        Some(Single { kind, src, dst, weight })
    }

    #[inline]
    pub(crate) fn ends<'e>(&self, engine: &'e Engine) -> Option<[End<'e>; 2]> {
        let end = |direction, at: VertexId, other| {
            let subgraph = engine.subgraphs.get(at.subgraph())?;
            Some(End { subgraph, direction, local: at.local(), other })
        };
        Some([
            end(Direction::Out, self.src, self.dst)?,
            end(engine.placement().second_direction(), self.dst, self.src)?,
        ])
    }

    /// The edge's state after the operation, given that before.
    fn after(&self, before: Option<f64>) -> Option<f64> {
        self.kind.makes(before, || self.weight, |old| old.unwrap_or(self.weight))
    }
}

/// Both endpoints' subgraphs, latched; one if they share it.
struct Ends<'e> {
    src: Latched<'e>,
    dst: Option<Latched<'e>>,
}

impl<'e> Ends<'e> {
    /// Latches ascending: the order that keeps committers from waiting for each other in a ring.
    #[inline]
    fn latch(op: &Single, src: &'e Subgraph, dst: &'e Subgraph) -> Ends<'e> {
        let (a, b) = (op.src.subgraph(), op.dst.subgraph());
        if a == b {
            return Ends { src: src.latch(), dst: None };
        }
        src.prefetch_header();
        dst.prefetch_header();
        if a < b {
            let src = src.latch();
            Ends { src, dst: Some(dst.latch()) }
        } else {
            let dst = dst.latch();
            Ends { src: src.latch(), dst: Some(dst) }
        }
    }

    #[inline]
    fn dst(&self) -> &Latched<'e> {
        self.dst.as_ref().unwrap_or(&self.src)
    }

    /// The state of the edge, looked up where the list is shorter: both copies say the same.
    #[inline]
    fn edge(&self, op: &Single, second: Direction, hint: InterpolationHint) -> Option<f64> {
        self.src.prefetch_head(Direction::Out, [op.src.local()]);
        self.dst().prefetch_head(second, [op.dst.local()]);
        let (of_src, of_dst) = (
            self.src.settled_degree(Direction::Out, op.src.local()),
            self.dst().settled_degree(second, op.dst.local()),
        );
        let at_src = of_src <= of_dst;
        self.src.prefetch_edges(Direction::Out, op.src.local(), op.dst, at_src.then_some(hint));
        self.dst().prefetch_edges(second, op.dst.local(), op.src, (!at_src).then_some(hint));
        if at_src {
            self.src.edge(Direction::Out, op.src.local(), op.dst, hint)
        } else {
            self.dst().edge(second, op.dst.local(), op.src, hint)
        }
    }
}

/// Commits the operation without waiting for its publication. `None` sends the caller to the general path.
/// An edge of the default label may have properties only if the schema says so, which is asked under the latches.
/// `still_named` says, with the latches held, whether both ids still carry the keys they were looked up by
/// (invariant I4).
#[inline]
pub(crate) fn commit_unpublished(
    engine: &Engine,
    op: &Single,
    still_named: impl FnOnce() -> bool,
) -> Result<Option<Outcome>> {
    if engine.config.is_one_way() {
        return Ok(None);
    }
    let Some([src, dst]) = op.ends(engine) else { return Ok(None) };
    let mut ends = Ends::latch(op, src.subgraph, dst.subgraph);
    let exist = ends.src.contains_vertex(op.src.local()) && ends.dst().contains_vertex(op.dst.local());
    let unasked = engine.config.keys == KeyKind::Dense || faults::is_on(PlantedFault::IdsNotLookedAtAgain);
    if !exist || !engine.schema.default_is_plain() || !(unasked || still_named()) {
        return Ok(None);
    }
    let before =
        ends.edge(op, engine.placement().second_direction(), InterpolationHint::over(engine.ids.bound()));
    let after = op.after(before);
    let same = |old: &f64, new: &f64| same_weight(engine.config.weighted, *old, *new);
    let Some(kind) = effective(before.as_ref(), after.as_ref(), same) else {
        // "Nothing changes" may rest on commits that are not published yet: wait for all drawn before this moment.
        let order = engine.clock.order();
        engine.check_open()?;
        return Ok(Some(Outcome { ts: order.last_drawn(), edges: 0, applied: 1 }));
    };
    let record = match &engine.durable {
        Some(_) => Some(encode(engine, op, after)?),
        None => None,
    };
    make_room(engine, op, &mut ends);
    let ts = draw(engine, record, |_| engine.check_open())?;
    let applied = must_apply(engine);
    apply(engine, op, kind, after.unwrap_or(0.0), ts, &mut ends);
    drop(ends);
    let edges = i64::from(after.is_some()) - i64::from(before.is_some());
    if engine.clock.complete(ts, 0, edges) {
        engine.commits.wake();
    }
    applied.done();
    Ok(Some(Outcome { ts, edges, applied: 1 }))
}

fn encode(engine: &Engine, op: &Single, after: Option<f64>) -> Result<Record> {
    let mut record = Record::default();
    let (label, src, dst) = (LabelId(0), op.src, op.dst);
    record.push(match after {
        Some(weight) => Op::PutEdge { label, src, dst, weight: engine.config.weighted.then_some(weight) },
        None => Op::RemoveEdge { label, src, dst },
    })?;
    record.finish();
    Ok(record)
}

/// Merges that are due happen before the timestamp is drawn: who draws a later one waits for no merge.
#[inline]
fn make_room(engine: &Engine, op: &Single, ends: &mut Ends<'_>) {
    let horizon = engine.horizon();
    let (weighted, second) = (engine.config.weighted, engine.placement().second_direction());
    let at = |latched: &mut Latched<'_>, id: VertexId, direction, count| {
        let pinned = |pin| engine.keep((id.subgraph(), direction), pin);
        latched.make_room(direction, count, weighted, &horizon, pinned);
    };
    match &mut ends.dst {
        Some(dst) => {
            at(&mut ends.src, op.src, Direction::Out, 1);
            at(dst, op.dst, second, 1);
        }
        None => {
            at(&mut ends.src, op.src, Direction::Out, 2);
            if second == Direction::In {
                at(&mut ends.src, op.dst, second, 1);
            }
        }
    }
}

#[inline]
fn apply(engine: &Engine, op: &Single, kind: EdgeOp, weight: f64, ts: Timestamp, ends: &mut Ends<'_>) {
    let horizon = engine.horizon();
    let weighted = engine.config.weighted;
    let second = engine.placement().second_direction();
    let forth = LocalOp { local: op.src.local(), op: kind, dst: op.dst, weight };
    let back = LocalOp { local: op.dst.local(), op: kind, dst: op.src, weight };
    let at = |latched: &mut Latched<'_>, id: VertexId, direction, ops: &[LocalOp]| {
        let pinned = |pin| engine.keep((id.subgraph(), direction), pin);
        latched.apply(direction, ops, ts, weighted, &horizon, pinned);
    };
    match &mut ends.dst {
        Some(dst) => {
            at(&mut ends.src, op.src, Direction::Out, &[forth]);
            at(dst, op.dst, second, &[back]);
        }
        // One call per chain and commit.
        None if second == Direction::In => {
            at(&mut ends.src, op.src, Direction::Out, &[forth]);
            at(&mut ends.src, op.dst, second, &[back]);
        }
        None if op.src == op.dst => at(&mut ends.src, op.src, Direction::Out, &[forth]),
        None => at(&mut ends.src, op.src, Direction::Out, &[forth, back]),
    }
}
