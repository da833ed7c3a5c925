//! Transactions of one edge operation whose endpoints exist: the commit of [`general`](super::general) with
//! every phase reduced to two endpoints. Only the log record and the properties are allocated, and the cache
//! misses of both endpoints overlap.
//!
//! The protocol is the same, step by step (`docs/design/commit-schedules.md`): latches ascending, look-ups
//! verified under them, effect computed against everything applied, timestamp drawn and record appended in
//! the ordering section, applied, released, completed. In unusual cases (an endpoint to be created, a key
//! that names another vertex now) nothing is changed, and the operation takes the general way.

use hedgerow_catalog::error::Result;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, InterpolationHint, KeyKind, LabelId, RowRef, Timestamp, VertexId, VertexKeyRef,
};
use hedgerow_mem::keys::Moment;
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::subgraph::prefetch::End;
use hedgerow_mem::{Attributes, EdgeOp, Hold, Latched, Merged, Ops, Subgraph};
use hedgerow_pager::ids::IdMap;

use super::effect::laid_over;
use super::encode::Encoder;
use super::names::NOW;
use super::op::{Given, OpKind};
use super::order::{draw_unchecked, must_apply};
use super::request::Outcome;
use crate::files::log::Record;
use crate::state::change::{effective, same_weight};
use crate::state::placement::Placement;
use crate::state::store::Engine;

/// One operation on an edge of the default label, by vertex ids. In an undirected graph `src` is the smaller
/// one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Single {
    pub(crate) kind: OpKind,
    pub(crate) src: VertexId,
    pub(crate) dst: VertexId,
    pub(crate) weight: f64,
    /// True if the operation names the key of `dst` first.
    turned: bool,
}

impl Single {
    /// Makes the operation on the vertices that its keys name now; `None` if a key names no vertex. In a
    /// dense graph the vertices need not exist.
    #[inline]
    pub(crate) fn resolve(
        engine: &Engine,
        kind: OpKind,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        weight: f64,
    ) -> Option<Single> {
        let [src, dst] = engine.keys.ids.lookup_all([src, dst], NOW, |_, _, _| ());
        Some(Single::between(engine, kind, [src?, dst?], weight))
    }

    /// Like [`resolve`](Self::resolve), but with unchecked ids from the first look into the table:
    /// [`is_named`](Self::is_named) checks them later, when their rows are in the cache together with the
    /// other data of the commit. `None` if a key probably names no vertex.
    #[inline(always)]
    pub(crate) fn guess(
        engine: &Engine,
        kind: OpKind,
        src: VertexKeyRef<'_>,
        dst: VertexKeyRef<'_>,
        weight: f64,
    ) -> Option<Single> {
        let likely = |moment, _, id: VertexId| {
            if moment == Moment::RowSought {
                let subgraph = engine.pager.subgraphs.get(id.subgraph(), Hold::none());
                subgraph.into_iter().for_each(Subgraph::prefetch_header);
            }
        };
        let ends = match engine.catalog.config.keys {
            // No array of the keys here: to copy a key whole, the processor would wait until the parts that
            // the caller has just written have left its store buffer. With this test inside the id map,
            // single edges took a tenth longer.
            KeyKind::Dense => [IdMap::dense_id(src)?, IdMap::dense_id(dst)?],
            KeyKind::U64 | KeyKind::Str => engine.keys.ids.guess(&[src, dst], likely)?,
        };
        Some(Single::between(engine, kind, ends, weight))
    }

    #[inline]
    fn between(engine: &Engine, kind: OpKind, [first, second]: [VertexId; 2], weight: f64) -> Single {
        let (src, dst) = engine.catalog.placement().ends(first, second);
        Single { kind, src, dst, weight, turned: src != first }
    }

    /// True if both ends have the keys by which they were looked up. The caller holds the latches of both,
    /// and the vertices exist.
    #[inline]
    pub(crate) fn is_named(&self, engine: &Engine, src: VertexKeyRef<'_>, dst: VertexKeyRef<'_>) -> bool {
        // Chosen without a branch: half of the edges of an undirected graph are turned, which no processor
        // can predict.
        let keys = [src, dst];
        let key = |second: bool| keys[usize::from(second)];
        engine.keys.ids.carries(self.src, key(self.turned))
            && engine.keys.ids.carries(self.dst, key(!self.turned))
    }

    #[inline]
    pub(crate) fn ends<'e>(&self, engine: &'e Engine) -> Option<[End<'e>; 2]> {
        let end = |direction, at: VertexId, other| {
            let subgraph = engine.pager.subgraphs.get(at.subgraph(), Hold::none())?;
            Some(End { subgraph, direction, local: at.local(), other })
        };
        Some([
            end(Direction::Out, self.src, self.dst)?,
            end(engine.catalog.placement().second_direction(), self.dst, self.src)?,
        ])
    }

    /// True if the operation sets some properties and keeps the others.
    fn lays(&self) -> bool {
        matches!(self.kind, OpKind::Update | OpKind::Merge)
    }
}

/// The latched subgraphs of both endpoints; one if they share it.
struct Ends<'e> {
    src: Latched<'e>,
    dst: Option<Latched<'e>>,
}

impl<'e> Ends<'e> {
    /// Latches ascending: the order that prevents a cycle of waiting committers.
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

    fn are_resident(&self) -> bool {
        self.src.is_resident() && self.dst().is_resident()
    }

    fn merged(&self) -> Merged {
        let mut merged = self.src.merged();
        self.dst.iter().for_each(|dst| merged += dst.merged());
        merged
    }

    #[inline]
    fn dst(&self) -> &Latched<'e> {
        self.dst.as_ref().unwrap_or(&self.src)
    }

    /// Returns the weight of the edge from the shorter list; both copies agree.
    #[inline(always)]
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

    /// Returns an upper bound of the memory for the merges that are due before the operation.
    #[cold]
    fn bytes_to_merge(&self, engine: &Engine) -> usize {
        let second = engine.catalog.placement().second_direction();
        // Both copies may be in one list.
        let of_src = self.src.bytes_to_merge(Direction::Out, 2);
        let same = self.dst.is_none() && second == Direction::Out;
        let of_dst = if same { 0 } else { self.dst().bytes_to_merge(second, 1) };
        of_src + of_dst
    }

    /// Returns the properties of the edge, from its first copy.
    #[inline]
    fn row(&self, op: &Single, hint: InterpolationHint) -> RowRef<'_> {
        let found = self.src.item(Direction::Out, op.src.local(), op.dst, 0, hint);
        found.map_or(RowRef::Empty, |edge| edge.row)
    }
}

/// Commits the operation without waiting for its publication. `None`: nothing was changed, and the caller
/// takes the general way. `given` makes the properties of the operation. `is_named` is called with the
/// latches held: true if both vertices have the keys by which they were looked up (invariant I4).
#[inline]
pub(crate) fn commit_unpublished<'g>(
    engine: &Engine,
    op: &Single,
    given: &impl Fn() -> Given<'g>,
    is_named: impl FnOnce() -> bool,
) -> Result<Option<Outcome>> {
    if engine.catalog.config.is_one_way() {
        return Ok(None);
    }
    let Some([src, dst]) = op.ends(engine) else { return Ok(None) };
    let mut ends = Ends::latch(op, src.subgraph, dst.subgraph);
    // Checked under the latches, since no chain is evicted then.
    if engine.pager.eviction.happens() && !ends.are_resident() {
        return Ok(None);
    }
    if !(ends.src.contains_vertex(op.src.local()) && ends.dst().contains_vertex(op.dst.local())) {
        return Ok(None);
    }
    let hint = InterpolationHint::over(engine.keys.ids.bound());
    // The edge is looked up first: it is farther away in memory than the keys.
    let before = ends.edge(op, engine.catalog.placement().second_direction(), hint);
    let unasked =
        engine.catalog.config.keys == KeyKind::Dense || faults::is_on(PlantedFault::IdsNotLookedAtAgain);
    if !(unasked || is_named()) {
        return Ok(None);
    }
    let applied = u64::from(op.kind != OpKind::Update || before.is_some());
    // Edges may have properties only if the schema allows it, which is checked under the latches.
    let laid;
    let change = if engine.catalog.schema.default_is_plain() {
        plain_change(engine, op.kind, op.weight, before).map(|(kind, weight)| (kind, weight, RowRef::Empty))
    } else {
        let given = given();
        laid = op.lays().then(|| laid_over(before.map(|w| (w, ends.row(op, hint).to_row())), given.patch).1);
        let row = laid.as_ref().map_or(given.row, |laid| laid.as_ref().into());
        let change = change_of_row(engine, op, before, || ends.row(op, hint).is_same(row));
        change.map(|(kind, weight, takes)| (kind, weight, if takes { row } else { RowRef::Empty }))
    };
    let Some((kind, weight, row)) = change else {
        // The reason for no change may be commits that are not published yet: wait for all that were drawn
        // before this moment.
        let order = engine.order.clock.order();
        engine.check_open()?;
        return Ok(Some(Outcome { ts: order.last_drawn(), edges: 0, applied }));
    };
    let record = engine.durable.as_ref().map(|_| encode(engine, op, kind, weight, row)).transpose()?;
    let memory = engine.pager.take_for_merges(|| ends.bytes_to_merge(engine) + 2 * row.owned_bytes());
    if let Err(needed) = memory {
        drop(ends);
        engine.find_room_to_merge(needed)?;
        return Ok(None);
    }
    make_room(engine, op, &mut ends);
    let ts = draw_unchecked(engine, record)?;
    let whole = must_apply(engine);
    let edges = kind.growth();
    apply(engine, op, kind, weight, row, ts, &mut ends);
    drop(memory); // charged by now
    let merged = ends.merged();
    drop(ends);
    engine.note_merged(LabelId::DEFAULT, merged);
    if engine.order.clock.complete(ts, 0, edges) {
        engine.order.commits.wake(&engine.order.clock);
    }
    whole.done();
    Ok(Some(Outcome { ts, edges, applied }))
}

/// Returns the change of an edge without properties, given its weight before: the operation on the chains of
/// the edge, and the weight after it.
#[inline]
pub(super) fn plain_change(
    engine: &Engine,
    kind: OpKind,
    weight: f64,
    before: Option<f64>,
) -> Option<(EdgeOp, f64)> {
    let after = kind.makes(before, || weight, |old| old.unwrap_or(weight));
    let same = |old: &f64, new: &f64| same_weight(engine.catalog.config.weighted, *old, *new);
    let change = effective(before.as_ref(), after.as_ref(), same)?;
    Some((change, after.unwrap_or(0.0)))
}

/// Like [`plain_change`], but also returns whether the edge has the properties of the operation afterwards.
/// `has_row` shows whether it has them before.
#[inline]
fn change_of_row(
    engine: &Engine,
    op: &Single,
    before: Option<f64>,
    has_row: impl Fn() -> bool,
) -> Option<(EdgeOp, f64, bool)> {
    let before = before.map(|weight| (weight, false));
    let new = || (op.weight, true);
    let after = op.kind.makes(before, new, |old| (old.map_or(1.0, |(weight, _)| weight), true));
    let same = |(old, _): &(f64, bool), (new, takes): &(f64, bool)| {
        !takes || (same_weight(engine.catalog.config.weighted, *old, *new) && has_row())
    };
    let kind = effective(before.as_ref(), after.as_ref(), same)?;
    let (weight, takes) = after.unwrap_or((0.0, false));
    Some((kind, weight, takes))
}

#[inline]
fn encode(engine: &Engine, op: &Single, kind: EdgeOp, weight: f64, row: RowRef<'_>) -> Result<Record> {
    let mut encoder = Encoder::new(engine);
    match kind {
        EdgeOp::Remove => encoder.remove(LabelId::DEFAULT, (op.src, op.dst), 0)?,
        _ => encoder.put(LabelId::DEFAULT, (op.src, op.dst), 0, weight, row)?,
    }
    Ok(encoder.finish())
}

/// Does the due merges before the timestamp is drawn, so that commits with later timestamps wait for no
/// merge.
#[inline(always)]
fn make_room(engine: &Engine, op: &Single, ends: &mut Ends<'_>) {
    let horizon = engine.order.horizon();
    let second = engine.catalog.placement().second_direction();
    let at = |latched: &mut Latched<'_>, id: VertexId, direction, count| {
        let pins = latched.make_room(direction, count, &horizon);
        engine.pager.keep((id.subgraph(), direction), pins);
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
fn apply(
    engine: &Engine,
    op: &Single,
    kind: EdgeOp,
    weight: f64,
    row: RowRef<'_>,
    ts: Timestamp,
    ends: &mut Ends<'_>,
) {
    let horizon = engine.order.horizon();
    let (weighted, placement) = (engine.catalog.config.weighted, engine.catalog.placement());
    let second = placement.second_direction();
    let forth = LocalOp { local: op.src.local(), op: kind, dst: op.dst, weight };
    let back = LocalOp { local: op.dst.local(), op: kind, dst: op.src, weight };
    let rows = attributes_of_copies(placement, op, row);
    let attributes = |range: std::ops::Range<usize>| rows.as_ref().map_or(&[][..], |rows| &rows[range]);
    let at = |latched: &mut Latched<'_>, id: VertexId, direction, ops| {
        let pins = latched.apply(direction, ops, ts, &horizon);
        engine.pager.keep((id.subgraph(), direction), pins);
    };
    let (ops, forth, back) = ([forth, back], [forth], [back]);
    let both = || Ops::with(&ops, attributes(0..2));
    let (forth, back) = (Ops::with(&forth, attributes(0..1)), Ops::with(&back, attributes(1..2)));
    let has_back = placement.second_changes(kind, weighted);
    match &mut ends.dst {
        Some(dst) => {
            at(&mut ends.src, op.src, Direction::Out, forth);
            if has_back {
                at(dst, op.dst, second, back);
            }
        }
        // Each chain gets one call for the commit.
        None if second == Direction::In => {
            at(&mut ends.src, op.src, Direction::Out, forth);
            if has_back {
                at(&mut ends.src, op.dst, second, back);
            }
        }
        None if op.src == op.dst => at(&mut ends.src, op.src, Direction::Out, forth),
        None => at(&mut ends.src, op.src, Direction::Out, both()),
    }
}

/// Returns the attributes of both copies; `None` if the edge has no properties.
#[inline]
fn attributes_of_copies<'a>(
    placement: Placement,
    op: &Single,
    row: RowRef<'a>,
) -> Option<[Attributes<'a>; 2]> {
    let at = |direction, at, other| {
        let row = placement.row_at(direction, at, other, row);
        Attributes { rank: 0, row }
    };
    if matches!(row, RowRef::Empty) {
        return None;
    }
    Some([at(Direction::Out, op.src, op.dst), at(placement.second_direction(), op.dst, op.src)])
}
