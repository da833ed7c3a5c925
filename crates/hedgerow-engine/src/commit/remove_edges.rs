//! Removing the edges of a vertex in several transactions, and the number of operations that the removal of a
//! vertex counts as.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Cells, Direction, LabelId, VertexId, VertexKey, VertexKeyRef};

use super::names::TxnKey;
use super::op::EdgeRef;
use super::op::OpKind;
use super::txn::WriteTxn;
use crate::read::snapshot::Snapshot;

/// The outcome of [`WriteTxn::remove_edges_of`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemovedEdges {
    /// The number of removed edges.
    pub removed: usize,
    /// The number of edges that remain at the vertex, of all labels, in both directions; a self-loop counts
    /// once.
    pub left: usize,
}

/// The edges of a label at a vertex, as a transaction sees them: the edges to remove, and the number of
/// others.
#[derive(Default)]
struct Edges {
    chosen: Vec<(VertexKey, u64)>,
    others: usize,
}

impl Edges {
    fn count(&mut self, most: usize, edge: impl FnOnce() -> (VertexKey, u64)) {
        if self.chosen.len() < most { self.chosen.push(edge()) } else { self.others += 1 }
    }
}

impl WriteTxn {
    /// Removes up to `most` edges of a vertex, of all labels and in both directions, and returns how many
    /// remain; a vertex that does not exist has none. If a vertex has more edges than one transaction may
    /// change, several transactions remove its edges, and the last one removes the vertex:
    ///
    /// ```
    /// let graph = hedgerow::Graph::in_memory()?;
    /// graph.insert_edges(&[(0, 1), (0, 2), (3, 0)])?;
    /// loop {
    ///     let mut tx = graph.write()?;
    ///     let edges = tx.remove_edges_of(0, 2)?;
    ///     if edges.left == 0 {
    ///         tx.remove_vertex(0)?;
    ///     }
    ///     tx.commit()?;
    ///     if edges.left == 0 {
    ///         break;
    ///     }
    /// }
    /// assert!(!graph.snapshot()?.contains_vertex(0)?);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// The order in which edges are removed is not specified. Each edge counts as an operation. Reads the
    /// adjacency of all labels: an edge that another transaction adds to the vertex meanwhile is a conflict.
    /// O(labels + degree), in memory for `most` edges and a list that is not in memory.
    ///
    /// # Errors
    /// Those of every [method](Self); [`CommitError::TooLarge`](crate::CommitError::TooLarge) or
    /// [`ArgumentError::TooLarge`](crate::ArgumentError::TooLarge) if the transaction may not have that
    /// many more operations. None of the edges is removed then.
    pub fn remove_edges_of<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        most: usize,
    ) -> Result<RemovedEdges> {
        let key = self.key(key.into())?;
        if !self.reads_vertex(key)? {
            return Ok(RemovedEdges::default());
        }
        let labels = self.labels_to_read();
        let directions: &[Direction] = if self.engine.catalog.config.directed {
            &[Direction::Out, Direction::In]
        } else {
            &[Direction::Out]
        };
        let (mut chosen, mut left) = (Vec::new(), 0);
        for (label, &direction) in
            (0..labels).flat_map(|label| directions.iter().map(move |to| (LabelId(label), to)))
        {
            let found = self.edges_to_remove((label, key, direction), most - chosen.len())?;
            left += found.others;
            for (other, rank) in found.chosen {
                let other = self.keys.intern(other.as_ref());
                let (src, dst) = if direction == Direction::Out { (key, other) } else { (other, key) };
                chosen.push(EdgeRef { label, src, dst, rank });
            }
        }
        self.note_edges_of_all(labels, key, directions)?;
        self.engine.catalog.check_operations(self.operations().saturating_add(chosen.len()))?;
        let removed = chosen.len();
        for edge in chosen {
            self.push_item(OpKind::Remove, edge, 0.0, Cells::new())?;
        }
        Ok(RemovedEdges { removed, left })
    }

    /// Records a read of the edges of a vertex in the first `labels` labels.
    fn note_edges_of_all(&mut self, labels: u16, key: TxnKey, directions: &[Direction]) -> Result<()> {
        if self.own().is_some_and(|own| own.hides(key)) {
            return Ok(());
        }
        let Some(id) = self.base_id(key)? else { return Ok(()) };
        let snapshot = self.base().clone();
        for &direction in directions {
            if snapshot.has_to_search(direction) {
                // If the read had to search for edges, the whole graph counts as read.
                self.reads.whole();
                continue;
            }
            let direction = snapshot.stored(direction);
            (0..labels).for_each(|label| self.reads.adjacency(LabelId(label), id, direction));
            self.reads.adjacency_of_all(labels, id, direction);
        }
        Ok(())
    }

    /// Finds up to `most` edges of a label at a vertex, by their other end and rank. A self-loop in a
    /// directed graph has two copies, of which only the outgoing one counts.
    fn edges_to_remove(
        &mut self,
        (label, key, direction): (LabelId, TxnKey, Direction),
        most: usize,
    ) -> Result<Edges> {
        let loops = direction == Direction::Out;
        let own = self.own().map(|own| (own.hides(key), own.written(label, key, loops)));
        let (hidden, written) = own.unwrap_or_default();
        let mut found = Edges::default();
        if !hidden && let Some(id) = self.base_id(key)? {
            let snapshot = self.base().clone();
            let (decided, wiped) = self.decided(&snapshot, &written)?;
            let engine = Arc::clone(&self.engine);
            found = engine.keys.telling_keys(&engine.pager, |told| {
                let mut found = Edges::default();
                snapshot.for_each_end(label, id, direction, |other, rank| {
                    let is_own = decided.contains(&(other, rank)) || wiped.contains(&other);
                    if !is_own && (loops || other != id) {
                        found.count(most, || (told.of(other), rank));
                    }
                })?;
                Ok(found)
            })?;
        }
        for (other, rank, exists) in written {
            if exists && (loops || other != key) {
                found.count(most, || (self.keys.key(other).to_owned(), rank));
            }
        }
        Ok(found)
    }

    /// Returns, by ids of the snapshot, the other ends and ranks of edges that the transaction wrote, and the
    /// vertices that it removed.
    #[allow(clippy::type_complexity, reason = "two sets that are used where they are made")]
    fn decided(
        &self,
        snapshot: &Snapshot,
        written: &[(TxnKey, u64, bool)],
    ) -> Result<(HashSet<(VertexId, u64)>, HashSet<VertexId>)> {
        let id = |key: TxnKey| {
            self.engine.keys.vertex_to_read(&self.engine.pager, self.keys.key(key), snapshot.timestamp())
        };
        let mut decided = HashSet::new();
        for &(other, rank, _) in written {
            decided.extend(id(other)?.map(|id| (id, rank)));
        }
        let mut wiped = HashSet::new();
        for op in self.ops.iter().filter(|op| op.kind == OpKind::RemoveVertex) {
            wiped.extend(id(op.src)?);
        }
        Ok((decided, wiped))
    }

    /// Returns how many operations the transaction counts as. The removal of a vertex counts as one, plus one
    /// for each of its edges in the snapshot.
    pub(super) fn operations(&self) -> usize {
        self.ops.len().saturating_add(self.edges_of_removed)
    }

    /// Returns how many edges the removal of a vertex removes: the snapshot's edges, without those that the
    /// transaction removed one by one before. O(labels), and O(edges at the vertex that it wrote).
    pub(super) fn edges_to_remove_with(&mut self, key: TxnKey) -> Result<usize> {
        let snapshot = self.base().clone();
        let edges = self.edges_removed_with(key, &snapshot)?;
        let labels = self.engine.catalog.defined_labels();
        let directions: &[bool] = if self.engine.catalog.config.directed { &[true, false] } else { &[true] };
        let (Some(own), true) = (self.own(), edges > 0) else { return Ok(edges) };
        let written = labels.flat_map(|label| directions.iter().map(move |&out| (LabelId(label), out)));
        let gone = |(_, _, exists): &(TxnKey, u64, bool)| !exists;
        let removed =
            written.map(|(label, out)| own.written(label, key, out).iter().filter(|it| gone(it)).count());
        Ok(edges.saturating_sub(removed.sum()))
    }

    /// Returns how many edges in `snapshot` the removal of a vertex removes; 0 without a memory limit. In a
    /// graph that keeps no incoming edges, leaves out the edges to the vertex. O(labels).
    pub(super) fn edges_removed_with(&self, key: TxnKey, snapshot: &Snapshot) -> Result<usize> {
        let engine = &self.engine;
        if engine.pager.memory_limit.is_none() {
            return Ok(0);
        }
        let t = snapshot.timestamp();
        let Some(id) = engine.keys.vertex_to_read(&engine.pager, self.keys.key(key), t)? else {
            return Ok(0);
        };
        let mut edges = 0usize;
        for label in engine.catalog.defined_labels().map(LabelId) {
            for &direction in engine.catalog.directions_of(label) {
                edges = edges.saturating_add(engine.pager.read_degree((label, id, direction), t)?.0);
            }
        }
        Ok(edges)
    }

    /// Returns how many operations the commit counts as, by the present degrees of the vertices that it
    /// removes. O(operations) if it removes any.
    pub(super) fn operations_now(&self) -> Result<usize> {
        let removed: Vec<TxnKey> =
            self.ops.iter().filter(|op| op.kind == OpKind::RemoveVertex).map(|op| op.src).collect();
        if removed.is_empty() || self.engine.pager.memory_limit.is_none() {
            return Ok(self.ops.len());
        }
        // Edges that the transaction removes one by one already count as operations.
        let mut one_by_one: HashMap<TxnKey, usize> = removed.iter().map(|&key| (key, 0)).collect();
        for op in self.ops.iter().filter(|op| op.kind == OpKind::Remove) {
            let ends = [Some(op.src), (op.dst != op.src).then_some(op.dst)];
            for end in ends.into_iter().flatten() {
                one_by_one.entry(end).and_modify(|n| *n += 1);
            }
        }
        let (now, mut operations) = (Snapshot::open(&self.engine), self.ops.len());
        for key in removed {
            let edges = self.edges_removed_with(key, &now)?;
            let others = edges.saturating_sub(one_by_one.get(&key).copied().unwrap_or(0));
            operations = operations.saturating_add(others);
            self.engine.catalog.check_operations(operations)?;
        }
        Ok(operations)
    }
}
