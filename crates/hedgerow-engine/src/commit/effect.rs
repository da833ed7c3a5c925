//! The effects of the operations of a transaction. They run in program order against the present state, with
//! all latches held; every vertex and edge that changes appears once ([`Effects::compute`]).

use hedgerow_catalog::error::{CommitError, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, InterpolationHint, LabelId, PropertyId, Row, Value, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Attributes, EdgeOp};
use hedgerow_pager::tables::PartitionKey;
use smallvec::SmallVec;

use super::attributes::AttributesTable;
use super::incident::for_each_incident;
use super::key_bindings::KeyBindings;
use super::names::TxnKey;
use super::op::OpKind;
use super::request::Request;
use super::validate::{LatchKey, Latches};
use crate::state::change::{edge_op, effective, same_weight};
use crate::state::store::Engine;

/// An edge operation with vertex ids, and its place in program order.
#[derive(Clone, Copy)]
struct EdgeWrite {
    label: LabelId,
    src: VertexId,
    dst: VertexId,
    rank: u64,
    seq: usize,
    kind: OpKind,
    weight: f64,
    attributes: u32,
}

impl EdgeWrite {
    fn item(&self) -> (LabelId, VertexId, VertexId, u64) {
        (self.label, self.src, self.dst, self.rank)
    }
}

/// Weight and properties of an edge.
pub(super) type State = (f64, Option<Row>);

/// Replaces the given properties of an edge, or of a vertex that may have none, and keeps the others.
pub(super) fn laid_over(old: Option<State>, cells: &[(PropertyId, Value)]) -> State {
    let (weight, row) = old.unwrap_or((1.0, None));
    (weight, Row::merged(row.as_ref(), cells))
}

/// An edge that changes.
#[derive(Clone, Debug)]
pub(crate) struct EdgeEffect {
    pub(crate) label: LabelId,
    pub(crate) src: VertexId,
    pub(crate) dst: VertexId,
    pub(crate) rank: u64,
    /// The weight after the commit; `None` if the commit removes the edge.
    pub(crate) weight: Option<f64>,
    /// The properties after the commit.
    pub(crate) row: Option<Row>,
    /// True if the edge existed before the commit.
    pub(crate) existed: bool,
}

/// An operation on one copy of an edge, or on a vertex, and its chain.
pub(crate) struct AdjacencyOp<'a> {
    pub(crate) chain: PartitionKey,
    pub(crate) op: LocalOp,
    pub(crate) attributes: Attributes<'a>,
}

/// The actual changes of a commit.
#[derive(Default)]
pub(crate) struct Effects {
    /// All edges that operations wrote, including edges that stay unchanged.
    pub(crate) written: SmallVec<[(LabelId, VertexId, VertexId); 2]>,
    pub(crate) edges: SmallVec<[EdgeEffect; 2]>,
    pub(crate) removed: SmallVec<[(TxnKey, VertexId); 1]>,
    pub(crate) inserted: SmallVec<[(TxnKey, VertexId); 2]>,
    /// The number of operations on edges and properties that found an edge or vertex to apply to.
    pub(crate) applied: u64,
}

impl Effects {
    /// Runs `ops` in program order against the present state. All latches are held.
    pub(crate) fn compute(
        engine: &Engine,
        request: &Request<'_>,
        bindings: &mut KeyBindings,
        latches: &Latches<'_>,
    ) -> Result<Effects> {
        let mut writes = run(engine, request, bindings)?;
        let removals = removals(bindings);
        wipe(engine, &removals, latches, &mut writes)?;
        writes.sort_unstable_by_key(|w| (w.item(), w.seq));
        let mut effects = Effects::default();
        for item in writes.chunk_by(|a, b| a.item() == b.item()) {
            effects.written.push((item[0].label, item[0].src, item[0].dst));
            net_effect(engine, item, &removals, latches, request.attributes, &mut effects);
        }
        for binding in &bindings.bindings {
            if binding.initial != binding.live {
                effects.removed.extend(binding.initial.map(|id| (binding.key, id)));
                effects.inserted.extend(binding.live.map(|id| (binding.key, id)));
            }
        }
        Ok(effects)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.removed.is_empty() && self.inserted.is_empty()
    }

    /// Returns the subgraphs that the commit writes, ascending.
    pub(crate) fn latch_keys(&self, engine: &Engine) -> Vec<LatchKey> {
        let vertices = self.removed.iter().chain(&self.inserted);
        let mut latch_keys: Vec<LatchKey> =
            vertices.map(|&(_, id)| (LabelId::DEFAULT, id.subgraph())).collect();
        for e in &self.edges {
            latch_keys.push((e.label, e.src.subgraph()));
            if !engine.catalog.config.is_one_way() {
                latch_keys.push((e.label, e.dst.subgraph()));
            }
        }
        latch_keys.sort_unstable();
        latch_keys.dedup();
        latch_keys
    }

    /// Returns the changes of the counts of vertices and edges.
    pub(crate) fn count_changes(&self) -> (i64, i64) {
        let edges = self.edges.iter().filter(|e| e.label != LabelId::VERTICES);
        let edges = edges.map(|e| i64::from(e.weight.is_some()) - i64::from(e.existed)).sum();
        (self.inserted.len() as i64 - self.removed.len() as i64, edges)
    }

    /// Returns the operations per chain, sorted by chain.
    pub(crate) fn adjacency_ops(&self, engine: &Engine) -> SmallVec<[AdjacencyOp<'_>; 4]> {
        let mut ops =
            SmallVec::with_capacity(self.edges.len() * 2 + self.removed.len() + self.inserted.len());
        for (list, flag) in [(&self.removed[..], 0), (&self.inserted[..], 1)] {
            for &(_, id) in list {
                let op = LocalOp { local: id.local(), op: EdgeOp::Vertex, dst: VertexId(flag), weight: 0.0 };
                let chain = PartitionKey::from((id.subgraph(), Direction::Out));
                ops.push(AdjacencyOp { chain, op, attributes: Attributes::NONE });
            }
        }
        for e in &self.edges {
            e.push_copies(engine, &mut ops);
        }
        // Stable: a vertex that is removed and inserted keeps that order.
        ops.sort_by_key(|op| op.chain.order());
        ops
    }
}

impl EdgeEffect {
    /// Adds the operations on the copies of the edge ([`placement`](crate::state::placement)).
    fn push_copies<'a>(&'a self, engine: &Engine, ops: &mut SmallVec<[AdjacencyOp<'a>; 4]>) {
        let Some(kind) = edge_op(self.existed, self.weight.is_some()) else { return };
        let mut side = |at: VertexId, dst, direction, row| {
            let labelled = direction == Direction::In && self.label != LabelId::DEFAULT;
            if labelled && faults::is_on(PlantedFault::ReverseEdgeLost) {
                return;
            }
            let chain = PartitionKey { label: self.label, subgraph: at.subgraph(), direction };
            let op = LocalOp { local: at.local(), op: kind, dst, weight: self.weight.unwrap_or(0.0) };
            ops.push(AdjacencyOp { chain, op, attributes: Attributes { rank: self.rank, row } });
        };
        side(self.src, self.dst, Direction::Out, self.row.as_ref().into());
        let placement = engine.catalog.placement();
        if self.label == LabelId::VERTICES || !placement.has_second(self.src, self.dst) {
            return;
        }
        if placement.second_changes(kind, engine.catalog.is_weighted(self.label)) {
            let second = placement.second_direction();
            let row = placement.row_at(second, self.dst, self.src, self.row.as_ref().into());
            side(self.dst, self.src, second, row);
        }
    }
}

/// Returns the edge operations with vertex ids. Notes in the bindings of the keys which vertices are inserted
/// and removed.
fn run(
    engine: &Engine,
    request: &Request<'_>,
    bindings: &mut KeyBindings,
) -> Result<SmallVec<[EdgeWrite; 2]>> {
    let (ops, keys, create) = (request.ops, request.keys, request.create);
    let mut writes = SmallVec::with_capacity(ops.len());
    for (seq, op) in ops.iter().enumerate() {
        match op.kind {
            OpKind::InsertVertex => {
                bindings.end(op.src, true, keys)?;
            }
            OpKind::RemoveVertex => {
                let at = bindings.place(op.src);
                if bindings.bindings[at].live.take().is_some() {
                    bindings.bindings[at].removed_at = Some(seq);
                }
            }
            OpKind::Put | OpKind::Insert | OpKind::Remove | OpKind::Update | OpKind::Merge => {
                let makes = matches!(op.kind, OpKind::Put | OpKind::Insert);
                let src = bindings.end(op.src, create && makes, keys)?;
                let dst = bindings.end(op.dst, create && makes, keys)?;
                match (src, dst) {
                    (Some(src), Some(dst)) => {
                        let (src, dst) = engine.catalog.placement().ends(src, dst);
                        let (label, rank) = (op.label, request.attributes.rank(op.attributes));
                        let (kind, weight, attributes) = (op.kind, op.weight, op.attributes);
                        writes.push(EdgeWrite { label, src, dst, rank, seq, kind, weight, attributes });
                    }
                    _ if makes => {
                        let missing = if src.is_none() { op.src } else { op.dst };
                        return Err(CommitError::NoSuchVertex { key: keys.key(missing).to_owned() }.into());
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(writes)
}

/// Returns the vertex ids that the program removed, ascending, each with the place of its last removal.
fn removals(bindings: &KeyBindings) -> Vec<(VertexId, usize)> {
    let mut removals = Vec::new();
    for binding in bindings.bindings.iter() {
        if let Some(seq) = binding.removed_at {
            removals.extend(binding.initial.map(|id| (id, seq)));
            removals.extend(binding.fresh.filter(|&id| binding.initial != Some(id)).map(|id| (id, seq)));
        }
    }
    removals.sort_unstable();
    removals
}

/// Adds the removal of every edge that removed vertices had before this commit.
fn wipe(
    engine: &Engine,
    removals: &[(VertexId, usize)],
    latches: &Latches<'_>,
    writes: &mut SmallVec<[EdgeWrite; 2]>,
) -> Result<()> {
    for &(id, seq) in removals {
        for_each_incident(engine, latches, id, |label, src, dst, rank| {
            let kind = OpKind::Remove;
            writes.push(EdgeWrite { label, src, dst, rank, seq, kind, weight: 0.0, attributes: 0 });
        })?;
    }
    Ok(())
}

/// Reduces the writes to one edge, in program order, to their net effect.
fn net_effect(
    engine: &Engine,
    item: &[EdgeWrite],
    removals: &[(VertexId, usize)],
    latches: &Latches<'_>,
    attributes: AttributesTable<'_>,
    effects: &mut Effects,
) {
    let EdgeWrite { label, src, dst, rank, .. } = item[0];
    // Without a latched subgraph there is no page, and so no edge.
    let latched = latches.get_of(label, src.subgraph());
    let hint = InterpolationHint::over(engine.keys.ids.bound());
    let found = latched.and_then(|latched| latched.item(Direction::Out, src.local(), dst, rank, hint));
    let before: Option<State> = found.map(|edge| (edge.weight, edge.row.to_row()));
    let removed_at = |id: VertexId| {
        let at = removals.partition_point(|&(r, _)| r < id);
        removals.get(at).filter(|&&(r, _)| r == id).map(|&(_, seq)| seq)
    };
    let wiped = if removals.is_empty() { None } else { removed_at(src).max(removed_at(dst)) };
    let mut state = if wiped.is_some() { None } else { before.clone() };
    for write in item.iter().filter(|w| wiped.is_none_or(|seq| w.seq > seq)) {
        effects.applied += u64::from(write.kind != OpKind::Update || state.is_some());
        let given = attributes.given(write.attributes);
        let new = || (write.weight, given.row.to_row());
        state = write.kind.makes(state, new, |old| laid_over(old, given.patch));
        // A vertex without properties has no row at all.
        state = state.filter(|(_, row)| label != LabelId::VERTICES || row.is_some());
    }
    let same = |(old, old_row): &State, (new, new_row): &State| {
        same_weight(engine.catalog.is_weighted(label), *old, *new) && old_row == new_row
    };
    if effective(before.as_ref(), state.as_ref(), same).is_some() {
        let (weight, row) = state.map_or((None, None), |(weight, row)| (Some(weight), row));
        effects.edges.push(EdgeEffect { label, src, dst, rank, weight, row, existed: before.is_some() });
    }
}
