//! From the operations of a transaction to its net effects.
//!
//! Keys are resolved to vertex ids ([`KeyBindings`]), then, with all latches held, the operations are run in program order
//! against what exists ([`Effects::compute`]): the outcome names every vertex and edge that really changes, once.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, KeyKind, LabelId, LocalVertex, Row, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId,
};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, ItemOp, ReadItem, SubgraphTable};
use smallvec::SmallVec;

use super::general::Request;
use super::validate::{LatchKey, Latches};
use super::{AttributesTable, OpKind, TxnKey, TxnKeys, TxnOp};
use crate::error::{Error, Result};
use crate::state::tables::PartitionKey;
use crate::store::Engine;

/// A key of the transaction, with what it names.
pub(crate) struct KeyBinding {
    pub(crate) key: TxnKey,
    /// The vertex that the key names before this commit. Of a dense graph: the id, existing or not.
    initial: Option<VertexId>,
    /// An id that the key gets if the transaction inserts it.
    fresh: Option<VertexId>,
    /// The vertex that the key names at this point of the program.
    live: Option<VertexId>,
    /// The operation that last removed it, if any.
    removed_at: Option<usize>,
    /// Named by an operation that inserts or removes the vertex itself.
    vertex_op: bool,
    /// An endpoint of an edge that is to be removed or updated.
    unlinks: bool,
    /// Removed by some operation.
    removes: bool,
    /// Created by some operation if absent.
    creates: bool,
}

/// The keys of a transaction, ascending.
pub(crate) struct KeyBindings {
    bindings: SmallVec<[KeyBinding; 2]>,
}

impl KeyBindings {
    /// The distinct keys of `ops`, and what is asked of each. `create` says whether edges create their endpoints.
    pub(crate) fn of(ops: &[TxnOp], create: bool) -> KeyBindings {
        let mut bindings: SmallVec<[KeyBinding; 2]> = SmallVec::with_capacity(ops.len().min(1 << 16) * 2);
        let binding = |key, kind| KeyBinding {
            key,
            initial: None,
            fresh: None,
            live: None,
            removed_at: None,
            vertex_op: matches!(kind, OpKind::InsertVertex | OpKind::RemoveVertex),
            unlinks: matches!(kind, OpKind::Remove | OpKind::Update | OpKind::Merge),
            removes: kind == OpKind::RemoveVertex,
            creates: kind == OpKind::InsertVertex || (create && matches!(kind, OpKind::Put | OpKind::Insert)),
        };
        for op in ops {
            bindings.push(binding(op.src, op.kind));
            if op.is_edge() && op.dst != op.src {
                bindings.push(binding(op.dst, op.kind));
            }
        }
        bindings.sort_unstable_by_key(|s| s.key);
        bindings.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                kept.vertex_op |= later.vertex_op;
                kept.unlinks |= later.unlinks;
                kept.removes |= later.removes;
                kept.creates |= later.creates;
            }
            same
        });
        KeyBindings { bindings }
    }

    fn place(&self, key: TxnKey) -> usize {
        self.bindings.partition_point(|s| s.key < key)
    }

    /// Looks up what every key names now.
    pub(crate) fn resolve(&mut self, engine: &Engine, keys: &TxnKeys) {
        for binding in &mut self.bindings {
            binding.initial = engine.ids.lookup(keys.key(binding.key), Timestamp(u64::MAX - 1));
        }
    }

    /// The key latches that the commit needs, ascending: of keys that it may bind or unbind, and of those that are
    /// absent, which must stay so.
    pub(crate) fn key_latches(&self, engine: &Engine, keys: &TxnKeys) -> SmallVec<[usize; 2]> {
        if engine.config.keys == KeyKind::Dense {
            return SmallVec::new();
        }
        let needed = self.bindings.iter().filter(|s| s.vertex_op || s.initial.is_none());
        let mut latches: SmallVec<[usize; 2]> =
            needed.map(|s| engine.ids.latch_of(keys.key(s.key))).collect();
        latches.sort_unstable();
        latches.dedup();
        latches
    }

    /// With the key latches held: looks again, and gives an id to every key that may be inserted. Returns the ids
    /// taken; what is not used goes back.
    pub(crate) fn allocate(
        &mut self,
        engine: &Engine,
        keys: &TxnKeys,
        latches: &[usize],
    ) -> Result<SmallVec<[VertexId; 2]>> {
        let mut taken = SmallVec::new();
        if engine.config.keys == KeyKind::Dense {
            return Ok(taken);
        }
        for binding in &mut self.bindings {
            let key = keys.key(binding.key);
            if latches.is_empty() || latches.binary_search(&engine.ids.latch_of(key)).is_err() {
                continue;
            }
            binding.initial = engine.ids.lookup(key, Timestamp(u64::MAX - 1));
            if binding.creates && (binding.initial.is_none() || binding.removes) {
                let id = engine.ids.allocate(|| engine.horizon().oldest()).ok_or_else(|| Error::TooLarge {
                    what: "the number of vertices".into(),
                    limit: u64::from(u32::MAX),
                });
                match id {
                    Ok(id) => taken.push(id),
                    Err(error) => {
                        taken.into_iter().for_each(|id| engine.ids.give_back(id));
                        return Err(error);
                    }
                }
                binding.fresh = taken.last().copied();
            }
        }
        Ok(taken)
    }

    /// The subgraphs that the commit writes, ascending, with `extra` ones: of every vertex where its existence is kept,
    /// and of the endpoints of labelled edges those of the label.
    pub(crate) fn latch_keys(&self, ops: &[TxnOp], extra: &[LatchKey]) -> SmallVec<[LatchKey; 4]> {
        let of = |label: LabelId, binding: &KeyBinding| {
            let ids = [binding.initial, binding.fresh];
            ids.into_iter()
                .flatten()
                .map(move |id| (label, id.subgraph()))
                .collect::<SmallVec<[LatchKey; 2]>>()
        };
        let mut latch_keys: SmallVec<[LatchKey; 4]> =
            self.bindings.iter().flat_map(|binding| of(LabelId::DEFAULT, binding)).collect();
        for op in ops.iter().filter(|op| op.label != LabelId::DEFAULT) {
            latch_keys.extend(of(op.label, &self.bindings[self.place(op.src)]));
            if op.dst != op.src {
                latch_keys.extend(of(op.label, &self.bindings[self.place(op.dst)]));
            }
        }
        latch_keys.extend_from_slice(extra);
        latch_keys.sort_unstable();
        latch_keys.dedup();
        latch_keys
    }

    /// What the removal of vertices needs latched and is not: the vertices' subgraphs of all labels, and those of their
    /// neighbours.
    pub(crate) fn unlatched_neighbors(&self, engine: &Engine, latches: &Latches<'_>) -> Vec<LatchKey> {
        let mut missing = Vec::new();
        if faults::is_on(PlantedFault::FarEdgesLeft) {
            return missing;
        }
        for id in self.bindings.iter().filter(|s| s.removes).filter_map(|s| s.initial) {
            for_each_incident(engine, latches, id, |label, src, dst, _| {
                for at in [src, dst] {
                    missing.extend([(LabelId::DEFAULT, at.subgraph()), (label, at.subgraph())]);
                }
            });
        }
        // What has no page holds nothing.
        missing.retain(|&(label, subgraph)| {
            let exists = engine.table(label).is_some_and(|table| table.get(subgraph).is_some());
            exists && latches.get_of(label, subgraph).is_none()
        });
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// With all latches held: checks that what was looked up is still so. `false` means look again.
    pub(crate) fn settle_initial(&mut self, engine: &Engine, keys: &TxnKeys, latches: &Latches<'_>) -> bool {
        let dense = engine.config.keys == KeyKind::Dense;
        for binding in &mut self.bindings {
            if dense {
                let id = binding.initial;
                binding.fresh = id;
                binding.live = id.filter(|&id| latches.contains_vertex(id));
                binding.initial = binding.live;
                continue;
            }
            if let Some(id) = binding.initial
                && !faults::is_on(PlantedFault::VerticesNotLookedAtAgain)
                && !(latches.contains_vertex(id) && engine.ids.carries(id, keys.key(binding.key)))
            {
                return false;
            }
            binding.live = binding.initial;
        }
        true
    }

    /// Under snapshot isolation: no vertex that the transaction inserts, removes, or takes an edge from may have come or
    /// gone since `start`. The latches of the keys that change, or of their subgraphs in a dense graph, are held; of
    /// the others a change after the look-up orders after this commit.
    pub(crate) fn check_keys_written(
        &self,
        engine: &Engine,
        keys: &TxnKeys,
        start: Timestamp,
        latches: &Latches<'_>,
    ) -> Result<()> {
        if faults::is_on(PlantedFault::KeysNotChecked) {
            return Ok(());
        }
        for binding in self.bindings.iter().filter(|s| s.vertex_op || s.unlinks || s.initial != s.live) {
            let key = keys.key(binding.key);
            let changed = engine.ids.last_change(key);
            let existence = |id: VertexId| {
                let latched = latches.get(id.subgraph());
                latched.is_some_and(|l| l.changed_since(Direction::Out, start, ReadItem::Vertex(id.local())))
            };
            let dense_changed = engine.config.keys == KeyKind::Dense && binding.fresh.is_some_and(existence);
            if changed > start || dense_changed {
                return Err(Error::Conflict { with: changed.max(start.next()) });
            }
        }
        Ok(())
    }

    fn end(&mut self, key: TxnKey, create: bool, keys: &TxnKeys) -> Result<Option<VertexId>> {
        let at = self.place(key);
        let binding = &mut self.bindings[at];
        if binding.live.is_none() && create {
            binding.live = binding.fresh;
            if binding.live.is_none() {
                return Err(Error::InvalidArgument(format!("no id for vertex {}", keys.key(key))));
            }
        }
        Ok(binding.live)
    }
}

/// An edge operation under vertex ids, at its place in the program.
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
type State = (f64, Option<Row>);

/// An edge that changes.
#[derive(Clone, Debug)]
pub(crate) struct EdgeEffect {
    pub(crate) label: LabelId,
    pub(crate) src: VertexId,
    pub(crate) dst: VertexId,
    pub(crate) rank: u64,
    /// The weight that it has afterwards; `None` if it is gone.
    pub(crate) weight: Option<f64>,
    /// The properties that it has afterwards.
    pub(crate) row: Option<Row>,
    /// Whether it existed before.
    pub(crate) existed: bool,
}

/// An operation on one copy of an edge, or on a vertex, and where it goes.
pub(crate) struct AdjacencyOp {
    pub(crate) chain: PartitionKey,
    pub(crate) op: ItemOp,
}

/// What a commit really changes.
#[derive(Default)]
pub(crate) struct Effects {
    /// All edges that were written, also those that stay as they are.
    pub(crate) written: SmallVec<[(LabelId, VertexId, VertexId); 2]>,
    pub(crate) edges: SmallVec<[EdgeEffect; 2]>,
    pub(crate) removed: SmallVec<[(TxnKey, VertexId); 1]>,
    pub(crate) inserted: SmallVec<[(TxnKey, VertexId); 2]>,
    /// How many of the operations on edges and properties found an edge or vertex to apply to.
    pub(crate) applied: u64,
}

impl Effects {
    /// Runs `ops` in program order against what exists. All latches are held.
    pub(crate) fn compute(
        engine: &Engine,
        request: &Request<'_>,
        bindings: &mut KeyBindings,
        latches: &Latches<'_>,
    ) -> Result<Effects> {
        let mut writes = run(engine, request, bindings)?;
        let removals = removals(bindings);
        wipe(engine, &removals, latches, &mut writes);
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

    /// The subgraphs that the commit writes, ascending.
    pub(crate) fn latch_keys(&self, engine: &Engine) -> Vec<LatchKey> {
        let vertices = self.removed.iter().chain(&self.inserted);
        let mut latch_keys: Vec<LatchKey> =
            vertices.map(|&(_, id)| (LabelId::DEFAULT, id.subgraph())).collect();
        for e in &self.edges {
            latch_keys.push((e.label, e.src.subgraph()));
            if !engine.config.is_one_way() {
                latch_keys.push((e.label, e.dst.subgraph()));
            }
        }
        latch_keys.sort_unstable();
        latch_keys.dedup();
        latch_keys
    }

    /// By how much the counts of vertices and edges change.
    pub(crate) fn count_changes(&self) -> (i64, i64) {
        let edges = self.edges.iter().filter(|e| e.label != LabelId::VERTICES);
        let edges = edges.map(|e| i64::from(e.weight.is_some()) - i64::from(e.existed)).sum();
        (self.inserted.len() as i64 - self.removed.len() as i64, edges)
    }

    /// The operations per chain, sorted by chain.
    pub(crate) fn adjacency_ops(&self, engine: &Engine) -> SmallVec<[AdjacencyOp; 4]> {
        let mut ops =
            SmallVec::with_capacity(self.edges.len() * 2 + self.removed.len() + self.inserted.len());
        for (list, flag) in [(&self.removed[..], 0), (&self.inserted[..], 1)] {
            for &(_, id) in list {
                let op = LocalOp { local: id.local(), op: EdgeOp::Vertex, dst: VertexId(flag), weight: 0.0 };
                let chain = PartitionKey::from((id.subgraph(), Direction::Out));
                ops.push(AdjacencyOp { chain, op: ItemOp { op, rank: 0, row: None } });
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

impl AdjacencyOp {
    pub(crate) fn is_plain(&self) -> bool {
        self.op.rank == 0 && self.op.row.is_none()
    }
}

impl EdgeEffect {
    /// Both copies of the edge. Properties are kept with the outgoing copy; of an undirected edge those of fixed width
    /// in both copies, the others at the smaller endpoint.
    fn push_copies(&self, engine: &Engine, ops: &mut SmallVec<[AdjacencyOp; 4]>) {
        let kind = match (self.existed, self.weight) {
            (false, _) => EdgeOp::Insert,
            (true, Some(_)) => EdgeOp::Update,
            (true, None) => EdgeOp::Remove,
        };
        let mut side = |at: VertexId, dst, direction, row| {
            let labelled = direction == Direction::In && self.label != LabelId::DEFAULT;
            if labelled && faults::is_on(PlantedFault::ReverseEdgeLost) {
                return;
            }
            let chain = PartitionKey { label: self.label, subgraph: at.subgraph(), direction };
            let op = LocalOp { local: at.local(), op: kind, dst, weight: self.weight.unwrap_or(0.0) };
            ops.push(AdjacencyOp { chain, op: ItemOp { op, rank: self.rank, row } });
        };
        side(self.src, self.dst, Direction::Out, self.row.clone());
        if self.label == LabelId::VERTICES {
            return;
        }
        if engine.config.directed {
            // The incoming copy holds no properties: an update of nothing else does not touch it.
            let touched = kind != EdgeOp::Update || engine.is_weighted(self.label);
            if touched && engine.config.reverse {
                side(self.dst, self.src, Direction::In, None);
            }
        } else if self.src != self.dst {
            side(self.dst, self.src, Direction::Out, self.row.as_ref().and_then(Row::fixed_only));
        }
    }
}

/// Calls `f` with label, source, destination and rank of every edge of the vertex `id`, of all labels and everything
/// applied included; under [`LabelId::VERTICES`] its properties. Where the subgraph of a label is not latched yet, the
/// vertex itself stands for what is not known.
fn for_each_incident(
    engine: &Engine,
    latches: &Latches<'_>,
    id: VertexId,
    mut f: impl FnMut(LabelId, VertexId, VertexId, u64),
) {
    for (label, table) in engine.tables() {
        // Edges to the vertex stand with their sources: the vertex's own subgraph of the label may be untouched.
        if engine.config.is_one_way() && label != LabelId::VERTICES {
            for_each_source(engine, table, id, |src, rank| f(label, src, id, rank));
        }
        let Some(latched) = latches.get_of(label, id.subgraph()) else {
            let touched = |subgraph: &hedgerow_mem::Subgraph| {
                [Direction::Out, Direction::In].into_iter().any(|d| !subgraph.is_untouched(d))
            };
            if table.get(id.subgraph()).is_some_and(touched) {
                f(label, id, id, 0);
            }
            continue;
        };
        for &direction in engine.directions_of(label) {
            latched.for_each_item(direction, id.local(), |item| {
                let (src, dst) = match (engine.config.directed, direction) {
                    (true, Direction::Out) => (id, item.dst),
                    (true, Direction::In) => (item.dst, id),
                    (false, _) => (id.min(item.dst), id.max(item.dst)),
                };
                f(label, src, dst, item.rank);
            });
        }
    }
}

/// Calls `f` with source and rank of every edge to the vertex `id`, in a graph that keeps no incoming edges. Its
/// existence is latched, so that everything found is applied and nothing is missed: an edge to it takes that latch.
fn for_each_source(engine: &Engine, table: &SubgraphTable, id: VertexId, mut f: impl FnMut(VertexId, u64)) {
    for subgraph in (0..engine.subgraph_bound()).map(SubgraphId) {
        let Some(entry) = table.get(subgraph) else { continue };
        entry.read_latest(Direction::Out, |read| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                read.for_each_item_to(local, id, |item| f(subgraph.vertex(local), item.rank));
            }
        });
    }
}

/// The edge operations under vertex ids; vertices come and go in the slots.
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
                        let (src, dst) =
                            if engine.config.directed { (src, dst) } else { (src.min(dst), src.max(dst)) };
                        let (label, rank) = (op.label, request.attributes.rank(op.attributes));
                        let (kind, weight, attributes) = (op.kind, op.weight, op.attributes);
                        writes.push(EdgeWrite { label, src, dst, rank, seq, kind, weight, attributes });
                    }
                    _ if makes => {
                        let missing = if src.is_none() { op.src } else { op.dst };
                        return Err(Error::NoSuchVertex { key: keys.key(missing).to_owned() });
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(writes)
}

/// The vertex ids that were removed in the course of the program, ascending, with the place of the last removal.
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
) {
    for &(id, seq) in removals {
        for_each_incident(engine, latches, id, |label, src, dst, rank| {
            let kind = OpKind::Remove;
            writes.push(EdgeWrite { label, src, dst, rank, seq, kind, weight: 0.0, attributes: 0 });
        });
    }
}

/// What the writes about one edge, in program order, come to.
fn net_effect(
    engine: &Engine,
    item: &[EdgeWrite],
    removals: &[(VertexId, usize)],
    latches: &Latches<'_>,
    attributes: AttributesTable<'_>,
    effects: &mut Effects,
) {
    let EdgeWrite { label, src, dst, rank, .. } = item[0];
    // Where nothing is latched, there is no page, and so no edge.
    let latched = latches.get_of(label, src.subgraph());
    let before: Option<State> =
        latched.and_then(|latched| latched.item(Direction::Out, src.local(), dst, rank));
    let removed_at = |id: VertexId| {
        let at = removals.partition_point(|&(r, _)| r < id);
        removals.get(at).filter(|&&(r, _)| r == id).map(|&(_, seq)| seq)
    };
    let wiped = if removals.is_empty() { None } else { removed_at(src).max(removed_at(dst)) };
    let mut state = if wiped.is_some() { None } else { before.clone() };
    for write in item.iter().filter(|w| wiped.is_none_or(|seq| w.seq > seq)) {
        effects.applied += u64::from(write.kind != OpKind::Update || state.is_some());
        state = match write.kind {
            OpKind::Put => Some((write.weight, attributes.row(write.attributes))),
            OpKind::Insert => state.or_else(|| Some((write.weight, attributes.row(write.attributes)))),
            OpKind::Update => {
                state.map(|(w, row)| (w, Row::merged(row.as_ref(), attributes.cells(write.attributes))))
            }
            OpKind::Merge => {
                let row = state.and_then(|(_, row)| row);
                Some((1.0, Row::merged(row.as_ref(), attributes.cells(write.attributes))))
            }
            _ => None,
        };
        // A vertex without properties has no row at all.
        state = state.filter(|(_, row)| label != LabelId::VERTICES || row.is_some());
    }
    let same = match (&before, &state) {
        (None, None) => true,
        (Some((old, old_row)), Some((new, new_row))) => {
            (!engine.is_weighted(label) || old.to_bits() == new.to_bits()) && old_row == new_row
        }
        _ => false,
    };
    if !same {
        let (weight, row) = state.map_or((None, None), |(weight, row)| (Some(weight), row));
        effects.edges.push(EdgeEffect { label, src, dst, rank, weight, row, existed: before.is_some() });
    }
}
