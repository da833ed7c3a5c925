//! From the operations of a transaction to its net effects.
//!
//! Keys are resolved to vertex ids ([`Slots`]), then, with all latches held, the operations are run in program order
//! against what exists ([`Effects::compute`]): the outcome names every vertex and edge that really changes, once.

use hedgerow_core::{Direction, KeyKind, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, ReadItem};
use smallvec::SmallVec;

use super::reads::Latches;
use super::{Ask, TxnKey, TxnKeys, TxnOp};
use crate::error::{Error, Result};
use crate::graph::Engine;

/// A key of the transaction, with what it names.
pub(crate) struct Slot {
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
    /// An endpoint of an edge that is to be removed.
    unlinks: bool,
    /// Removed by some operation.
    removes: bool,
    /// Created by some operation if absent.
    creates: bool,
}

/// The keys of a transaction, ascending.
pub(crate) struct Slots {
    slots: SmallVec<[Slot; 2]>,
}

impl Slots {
    /// The distinct keys of `ops`, and what is asked of each. `create` says whether edges create their endpoints.
    pub(crate) fn of(ops: &[TxnOp], create: bool) -> Slots {
        let mut slots: SmallVec<[Slot; 2]> = SmallVec::with_capacity(ops.len().min(1 << 16) * 2);
        let slot = |key, ask| Slot {
            key,
            initial: None,
            fresh: None,
            live: None,
            removed_at: None,
            vertex_op: matches!(ask, Ask::InsertVertex | Ask::RemoveVertex),
            unlinks: ask == Ask::Remove,
            removes: ask == Ask::RemoveVertex,
            creates: ask == Ask::InsertVertex || (create && matches!(ask, Ask::Put | Ask::Insert)),
        };
        for op in ops {
            slots.push(slot(op.src, op.ask));
            if op.is_edge() && op.dst != op.src {
                slots.push(slot(op.dst, op.ask));
            }
        }
        slots.sort_unstable_by_key(|s| s.key);
        slots.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                kept.vertex_op |= later.vertex_op;
                kept.unlinks |= later.unlinks;
                kept.removes |= later.removes;
                kept.creates |= later.creates;
            }
            same
        });
        Slots { slots }
    }

    fn place(&self, key: TxnKey) -> usize {
        self.slots.partition_point(|s| s.key < key)
    }

    /// Looks up what every key names now.
    pub(crate) fn resolve(&mut self, engine: &Engine, keys: &TxnKeys) {
        for slot in &mut self.slots {
            slot.initial = engine.ids.lookup(keys.key(slot.key), Timestamp(u64::MAX - 1));
        }
    }

    /// The key latches that the commit needs, ascending: of keys that it may bind or unbind.
    pub(crate) fn key_latches(&self, engine: &Engine, keys: &TxnKeys) -> SmallVec<[usize; 2]> {
        if engine.config.keys == KeyKind::Dense {
            return SmallVec::new();
        }
        let needed = self.slots.iter().filter(|s| s.vertex_op || (s.creates && s.initial.is_none()));
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
        for slot in &mut self.slots {
            let key = keys.key(slot.key);
            if latches.is_empty() || latches.binary_search(&engine.ids.latch_of(key)).is_err() {
                continue;
            }
            slot.initial = engine.ids.lookup(key, Timestamp(u64::MAX - 1));
            if slot.creates && (slot.initial.is_none() || slot.removes) {
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
                slot.fresh = taken.last().copied();
            }
        }
        Ok(taken)
    }

    /// The subgraphs that the commit writes, ascending, with `extra` ones.
    pub(crate) fn subgraphs(&self, extra: &[SubgraphId]) -> SmallVec<[SubgraphId; 4]> {
        let ids = self.slots.iter().flat_map(|s| [s.initial, s.fresh]).flatten();
        let mut subgraphs: SmallVec<[SubgraphId; 4]> = ids.map(VertexId::subgraph).collect();
        subgraphs.extend_from_slice(extra);
        subgraphs.sort_unstable();
        subgraphs.dedup();
        subgraphs
    }

    /// The subgraphs of the neighbours of vertices that the transaction may remove, as far as they are not latched.
    pub(crate) fn unlatched_neighbors(&self, engine: &Engine, latches: &Latches<'_>) -> Vec<SubgraphId> {
        let mut missing = Vec::new();
        for id in self.slots.iter().filter(|s| s.removes).filter_map(|s| s.initial) {
            let Some(latched) = latches.get(id.subgraph()) else { continue };
            for &direction in engine.directions() {
                let neighbors = latched.neighbors(direction, id.local());
                let others = neighbors.iter().map(|&(v, _)| v.subgraph());
                missing.extend(others.filter(|&s| latches.get(s).is_none()));
            }
        }
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// With all latches held: checks that what was looked up is still so. `false` means look again.
    pub(crate) fn settle_initial(&mut self, engine: &Engine, keys: &TxnKeys, latches: &Latches<'_>) -> bool {
        let dense = engine.config.keys == KeyKind::Dense;
        for slot in &mut self.slots {
            if dense {
                let id = slot.initial;
                slot.fresh = id;
                slot.live = id.filter(|&id| latches.contains_vertex(id));
                slot.initial = slot.live;
                continue;
            }
            if let Some(id) = slot.initial
                && !(latches.contains_vertex(id) && engine.ids.carries(id, keys.key(slot.key)))
            {
                return false;
            }
            slot.live = slot.initial;
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
        for slot in self.slots.iter().filter(|s| s.vertex_op || s.unlinks || s.initial != s.live) {
            let key = keys.key(slot.key);
            let changed = engine.ids.last_change(key);
            let existence = |id: VertexId| {
                let latched = latches.get(id.subgraph());
                latched.is_some_and(|l| l.changed_since(Direction::Out, start, ReadItem::Vertex(id.local())))
            };
            let dense_changed = engine.config.keys == KeyKind::Dense && slot.fresh.is_some_and(existence);
            if changed > start || dense_changed {
                return Err(Error::Conflict { with: changed.max(start.next()) });
            }
        }
        Ok(())
    }

    fn end(&mut self, key: TxnKey, create: bool, keys: &TxnKeys) -> Result<Option<VertexId>> {
        let at = self.place(key);
        let slot = &mut self.slots[at];
        if slot.live.is_none() && create {
            slot.live = slot.fresh;
            if slot.live.is_none() {
                return Err(Error::InvalidArgument(format!("no id for vertex {}", keys.key(key))));
            }
        }
        Ok(slot.live)
    }
}

/// An edge operation under vertex ids, at its place in the program.
#[derive(Clone, Copy)]
struct EdgeWrite {
    src: VertexId,
    dst: VertexId,
    seq: usize,
    ask: Ask,
    weight: f64,
}

/// An edge that changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeEffect {
    pub(crate) src: VertexId,
    pub(crate) dst: VertexId,
    /// The weight that it has afterwards; `None` if it is gone.
    pub(crate) weight: Option<f64>,
    /// Whether it existed before.
    pub(crate) existed: bool,
}

/// What a commit really changes.
#[derive(Default)]
pub(crate) struct Effects {
    /// All edges that were written, also those that stay as they are.
    pub(crate) written: SmallVec<[(VertexId, VertexId); 2]>,
    pub(crate) edges: SmallVec<[EdgeEffect; 2]>,
    pub(crate) removed: SmallVec<[(TxnKey, VertexId); 1]>,
    pub(crate) inserted: SmallVec<[(TxnKey, VertexId); 2]>,
}

impl Effects {
    /// Runs `ops` in program order against what exists. All latches are held.
    pub(crate) fn compute(
        engine: &Engine,
        ops: &[TxnOp],
        create: bool,
        keys: &TxnKeys,
        slots: &mut Slots,
        latches: &Latches<'_>,
    ) -> Result<Effects> {
        let mut writes = run(engine, ops, create, keys, slots)?;
        let removals = removals(slots);
        wipe(engine, &removals, latches, &mut writes);
        writes.sort_unstable_by_key(|w| (w.src, w.dst, w.seq));
        let mut effects = Effects::default();
        for item in writes.chunk_by(|a, b| a.src == b.src && a.dst == b.dst) {
            effects.written.push((item[0].src, item[0].dst));
            effects.edges.extend(net_effect(engine, item, &removals, latches));
        }
        for slot in &slots.slots {
            if slot.initial != slot.live {
                effects.removed.extend(slot.initial.map(|id| (slot.key, id)));
                effects.inserted.extend(slot.live.map(|id| (slot.key, id)));
            }
        }
        Ok(effects)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.removed.is_empty() && self.inserted.is_empty()
    }

    /// By how much the counts of vertices and edges change.
    pub(crate) fn count_changes(&self) -> (i64, i64) {
        let edges = self.edges.iter().map(|e| i64::from(e.weight.is_some()) - i64::from(e.existed)).sum();
        (self.inserted.len() as i64 - self.removed.len() as i64, edges)
    }

    /// The operations per subgraph and direction, sorted by both.
    pub(crate) fn local_ops(&self, directed: bool) -> SmallVec<[(SubgraphId, Direction, LocalOp); 4]> {
        let mut ops =
            SmallVec::with_capacity(self.edges.len() * 2 + self.removed.len() + self.inserted.len());
        for (list, flag) in [(&self.removed[..], 0), (&self.inserted[..], 1)] {
            for &(_, id) in list {
                let op = LocalOp { local: id.local(), op: EdgeOp::Vertex, dst: VertexId(flag), weight: 0.0 };
                ops.push((id.subgraph(), Direction::Out, op));
            }
        }
        for e in &self.edges {
            let op = match (e.existed, e.weight) {
                (false, _) => EdgeOp::Insert,
                (true, Some(_)) => EdgeOp::Update,
                (true, None) => EdgeOp::Remove,
            };
            let side = |at: VertexId, other| LocalOp {
                local: at.local(),
                op,
                dst: other,
                weight: e.weight.unwrap_or(0.0),
            };
            ops.push((e.src.subgraph(), Direction::Out, side(e.src, e.dst)));
            if directed {
                ops.push((e.dst.subgraph(), Direction::In, side(e.dst, e.src)));
            } else if e.src != e.dst {
                ops.push((e.dst.subgraph(), Direction::Out, side(e.dst, e.src)));
            }
        }
        // Stable: a vertex that is removed and inserted keeps that order.
        ops.sort_by_key(|&(subgraph, direction, _)| (subgraph, direction as u8));
        ops
    }
}

/// The edge operations under vertex ids; vertices come and go in the slots.
fn run(
    engine: &Engine,
    ops: &[TxnOp],
    create: bool,
    keys: &TxnKeys,
    slots: &mut Slots,
) -> Result<SmallVec<[EdgeWrite; 2]>> {
    let mut writes = SmallVec::with_capacity(ops.len());
    for (seq, op) in ops.iter().enumerate() {
        match op.ask {
            Ask::InsertVertex => {
                slots.end(op.src, true, keys)?;
            }
            Ask::RemoveVertex => {
                let at = slots.place(op.src);
                if slots.slots[at].live.take().is_some() {
                    slots.slots[at].removed_at = Some(seq);
                }
            }
            Ask::Put | Ask::Insert | Ask::Remove => {
                let makes = op.ask != Ask::Remove;
                let src = slots.end(op.src, create && makes, keys)?;
                let dst = slots.end(op.dst, create && makes, keys)?;
                match (src, dst) {
                    (Some(src), Some(dst)) => {
                        let (src, dst) =
                            if engine.config.directed { (src, dst) } else { (src.min(dst), src.max(dst)) };
                        writes.push(EdgeWrite { src, dst, seq, ask: op.ask, weight: op.weight });
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
fn removals(slots: &Slots) -> Vec<(VertexId, usize)> {
    let mut removals = Vec::new();
    for slot in slots.slots.iter() {
        if let Some(seq) = slot.removed_at {
            removals.extend(slot.initial.map(|id| (id, seq)));
            removals.extend(slot.fresh.filter(|&id| slot.initial != Some(id)).map(|id| (id, seq)));
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
        let Some(latched) = latches.get(id.subgraph()) else { continue };
        for &direction in engine.directions() {
            for (other, _) in latched.neighbors(direction, id.local()) {
                let (src, dst) = match (engine.config.directed, direction) {
                    (true, Direction::Out) => (id, other),
                    (true, Direction::In) => (other, id),
                    (false, _) => (id.min(other), id.max(other)),
                };
                writes.push(EdgeWrite { src, dst, seq, ask: Ask::Remove, weight: 0.0 });
            }
        }
    }
}

/// What the writes about one edge, in program order, come to.
fn net_effect(
    engine: &Engine,
    item: &[EdgeWrite],
    removals: &[(VertexId, usize)],
    latches: &Latches<'_>,
) -> Option<EdgeEffect> {
    let (src, dst) = (item[0].src, item[0].dst);
    let before = latches.get(src.subgraph())?.edge(Direction::Out, src.local(), dst);
    let removed_at = |id: VertexId| {
        let at = removals.partition_point(|&(r, _)| r < id);
        removals.get(at).filter(|&&(r, _)| r == id).map(|&(_, seq)| seq)
    };
    let wiped = if removals.is_empty() { None } else { removed_at(src).max(removed_at(dst)) };
    let mut state = if wiped.is_some() { None } else { before };
    for write in item.iter().filter(|w| wiped.is_none_or(|seq| w.seq > seq)) {
        state = match write.ask {
            Ask::Put => Some(write.weight),
            Ask::Insert => state.or(Some(write.weight)),
            _ => None,
        };
    }
    let same = match (before, state) {
        (None, None) => true,
        (Some(old), Some(new)) => !engine.config.weighted || old.to_bits() == new.to_bits(),
        _ => false,
    };
    (!same).then_some(EdgeEffect { src, dst, weight: state, existed: before.is_some() })
}
