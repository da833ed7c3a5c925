//! The write transaction.

use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_core::{Cells, Direction, LabelId, Timestamp, VertexId, VertexKeyRef};

use super::attributes::AttributesOfOps;
use super::names::{TxnKey, TxnKeys};
use super::op::EdgeRef;
use super::op::{OpKind, TxnOp};
use super::overlay::Overlay;
use super::request::{Outcome, Request};
use super::ticket::Ticket;
use super::validate::ReadSet;
use super::{autocommit, order, schedule};
use crate::config::Isolation;
use crate::read::snapshot::Snapshot;
use crate::state::edge_key::{EdgeKey, EdgeToWrite};
use crate::state::store::Engine;

/// A write transaction: gathers operations, sees its own writes, and commits them atomically or not at all.
///
/// Writes that name no label write the default one. Reads of edges take a choice of edges
/// ([`EdgeSelectionRef`](crate::EdgeSelectionRef)), as those of a [`Snapshot`] do; without a label they read
/// all labels.
///
/// Reads see one snapshot, taken at the first read, with the transaction's own writes applied. Under
/// [`Isolation::Serializable`] the commit fails with [`CommitError::Conflict`](crate::CommitError::Conflict)
/// if something that was read has changed since; blind writes ([`put_edge`](Self::put_edge)) read nothing and
/// never conflict. Dropping a transaction rolls it back. Any thread may use it, one at a time. Before
/// [`commit`](Self::commit) no method waits for another transaction or for a sync. In a graph that keeps no
/// incoming edges ([`Options::reverse`](crate::Options::reverse)), reading the incoming edges of a vertex is
/// O(vertices log degree).
///
/// # Errors
/// Every method: an [`ArgumentError`] for a key of another kind than the graph's, for a key that is too long,
/// and after 16,777,216 operations; [`StateError::Forked`](crate::StateError::Forked) in a forked child; a
/// [`StorageError`](crate::StorageError) if data to read is not in memory and cannot be read from disk. The
/// transaction is unchanged then.
///
/// ```
/// let graph = hedgerow::Graph::in_memory()?;
/// let mut tx = graph.write()?;
/// tx.put_edge((1, 2))?;
/// assert!(tx.contains_edge((1, 2))?);
/// tx.commit()?;
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[must_use = "a transaction that is dropped is rolled back"]
pub struct WriteTxn {
    pub(super) engine: Arc<Engine>,
    isolation: Isolation,
    create: bool,
    pub(super) keys: TxnKeys,
    pub(super) ops: Vec<TxnOp>,
    /// Ranks and properties of the operations, if they have any.
    pub(super) attributes: AttributesOfOps,
    pub(super) overlay: Option<Overlay>,
    base: Option<Snapshot>,
    pub(super) reads: ReadSet,
    /// The number of snapshot edges of the vertices that it removes; counted only under a memory limit.
    pub(super) edges_of_removed: usize,
}

impl WriteTxn {
    pub(crate) fn new(engine: &Arc<Engine>) -> WriteTxn {
        // Under snapshot isolation the snapshot decides which writes conflict: it is taken now.
        let base = (engine.catalog.isolation == Isolation::Snapshot).then(|| Snapshot::open(engine));
        WriteTxn {
            engine: engine.clone(),
            isolation: engine.catalog.isolation,
            create: true,
            keys: TxnKeys::new(),
            ops: Vec::new(),
            attributes: AttributesOfOps::default(),
            overlay: None,
            base,
            reads: ReadSet::default(),
            edges_of_removed: 0,
        }
    }

    /// Sets, before the first operation, whether edges create absent endpoints (default: yes). If not, they
    /// fail the commit with [`CommitError::NoSuchVertex`](crate::CommitError::NoSuchVertex). O(1).
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] once the transaction holds operations.
    pub fn create_endpoints(&mut self, create: bool) -> Result<()> {
        self.engine.check_owner()?;
        if !self.ops.is_empty() && create != self.create {
            let text = "create_endpoints comes before the first operation".into();
            return Err(ArgumentError::Invalid(text).into());
        }
        self.create = create;
        Ok(())
    }

    /// Inserts a vertex. Returns whether it was new. O(1).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn insert_vertex<'a>(&mut self, key: impl Into<VertexKeyRef<'a>>) -> Result<bool> {
        let key = self.key(key.into())?;
        let new = !self.reads_vertex(key)?;
        if new {
            self.push(OpKind::InsertVertex, key, key, 0.0)?;
        }
        Ok(new)
    }

    /// Removes a vertex with all its edges, including edges that other transactions add before this one
    /// commits. Returns whether it existed. O(labels), and O(degree) at commit.
    ///
    /// Under a memory limit each edge is an operation. If a vertex has more edges than a transaction may have
    /// operations, empty it first by [`remove_edges_of`](Self::remove_edges_of).
    ///
    /// # Errors
    /// [`CommitError::TooLarge`](crate::CommitError::TooLarge) for a vertex with too many edges. The commit
    /// returns it if other transactions have added edges since.
    pub fn remove_vertex<'a>(&mut self, key: impl Into<VertexKeyRef<'a>>) -> Result<bool> {
        let key = self.key(key.into())?;
        let existed = self.reads_vertex(key)?;
        if existed {
            let edges = self.edges_to_remove_with(key)?;
            self.engine
                .catalog
                .check_operations(self.operations().saturating_add(edges).saturating_add(1))?;
            self.push(OpKind::RemoveVertex, key, key, 0.0)?;
            self.edges_of_removed = self.edges_of_removed.saturating_add(edges);
        }
        Ok(existed)
    }

    /// Makes sure that the edge exists, without properties; in a weighted graph with the weight, or weight 1.
    /// Reads nothing. Defines a label that is new. O(1).
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for a weight that is not a number or in a graph without weights, and for a
    /// rank in a label that is not `multi`.
    pub fn put_edge<'a>(&mut self, edge: impl Into<EdgeToWrite<'a>>) -> Result<()> {
        let (item, weight) = self.edge_to_write(edge.into())?;
        self.push_item(OpKind::Put, item, weight, Cells::new())
    }

    /// Like [`put_edge`](Self::put_edge), but for many edges. O(edges). If the iterator panics, the edges
    /// before the panic are added.
    ///
    /// # Errors
    /// Those of `put_edge`; none of the edges is added then.
    pub fn put_edges<'a>(&mut self, edges: impl IntoIterator<Item: Into<EdgeToWrite<'a>>>) -> Result<()> {
        self.push_all(OpKind::Put, edges.into_iter().map(Into::into))
    }

    /// Makes sure that the edges exist. Existing ones are left as they are. Unlike
    /// [`insert_edge`](Self::insert_edge) it does not return which are new, and reads nothing. O(edges).
    ///
    /// # Errors
    /// Those of `insert_edge`; none of the edges is added then.
    pub fn insert_edges<'a>(&mut self, edges: impl IntoIterator<Item: Into<EdgeToWrite<'a>>>) -> Result<()> {
        self.push_all(OpKind::Insert, edges.into_iter().map(Into::into))
    }

    /// Makes sure that the edges do not exist. Unlike [`remove_edge`](Self::remove_edge) it does not return
    /// which existed, and reads nothing. O(edges).
    ///
    /// # Errors
    /// Those of `remove_edge`; none of the removals is added then.
    pub fn remove_edges<'a>(&mut self, edges: impl IntoIterator<Item: Into<EdgeKey<'a>>>) -> Result<()> {
        let edges = edges.into_iter().map(|edge| EdgeToWrite { key: edge.into(), weight: None });
        self.push_all(OpKind::Remove, edges)
    }

    /// Adds an operation for each edge; none if one of them is wrong.
    fn push_all<'a>(&mut self, kind: OpKind, edges: impl Iterator<Item = EdgeToWrite<'a>>) -> Result<()> {
        self.engine.check_owner()?;
        let (before, coming, others) = (self.ops.len(), edges.size_hint().0, self.edges_of_removed);
        let attributes = self.attributes.filled();
        let unweighted = if kind == OpKind::Remove { 0.0 } else { 1.0 };
        self.engine.catalog.check_operations(before.saturating_add(others).saturating_add(coming))?;
        self.ops.reserve(coming);
        for edge in edges {
            let pushed = match edge.key.is_default() {
                true => self.push_default(kind, edge, unweighted, others),
                false => self.push_labelled(kind, edge.key, unweighted),
            };
            if pushed.is_err() {
                self.ops.truncate(before);
                self.attributes.truncate(attributes);
                return pushed;
            }
        }
        Ok(())
    }

    /// Adds an operation on an edge of the default label. Always inlined, so that the usual edge stays in
    /// registers: a call took twice as long.
    #[inline(always)]
    fn push_default(
        &mut self,
        kind: OpKind,
        edge: EdgeToWrite<'_>,
        unweighted: f64,
        others: usize,
    ) -> Result<()> {
        let WriteTxn { engine, ops, keys, .. } = self;
        engine.check_key(edge.key.src)?;
        engine.check_key(edge.key.dst)?;
        if let Some(weight) = edge.weight {
            engine.check_weight(weight)?;
        }
        engine.catalog.check_operations((ops.len() + 1).saturating_add(others))?;
        let (src, dst) = (keys.intern(edge.key.src), keys.intern(edge.key.dst));
        ops.push(TxnOp::plain(kind, src, dst, edge.weight.unwrap_or(unweighted)));
        Ok(())
    }

    #[inline(never)]
    fn push_labelled(&mut self, kind: OpKind, edge: EdgeKey<'_>, unweighted: f64) -> Result<()> {
        let item = match kind {
            OpKind::Remove => self.item(edge)?,
            _ => self.item_for_writing(edge)?,
        };
        self.push_item(kind, item, unweighted, Cells::new())
    }

    /// Inserts an edge. Returns whether it was new; an existing edge is left as it is. Reads the edge. O(log
    /// degree).
    ///
    /// # Errors
    /// Those of [`put_edge`](Self::put_edge).
    pub fn insert_edge<'a>(&mut self, edge: impl Into<EdgeToWrite<'a>>) -> Result<bool> {
        let (item, weight) = self.edge_to_write(edge.into())?;
        let new = !self.reads_existence(item)?;
        if new {
            self.push_item(OpKind::Insert, item, weight, Cells::new())?;
        }
        Ok(new)
    }

    fn edge_to_write(&mut self, edge: EdgeToWrite<'_>) -> Result<(EdgeRef, f64)> {
        if let Some(weight) = edge.weight {
            self.engine.check_weight(weight)?;
        }
        Ok((self.item_for_writing(edge.key)?, edge.weight.unwrap_or(1.0)))
    }

    /// Removes an edge. Returns whether it existed; a missing edge is not an error. Reads the edge. O(log
    /// degree).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn remove_edge<'a>(&mut self, edge: impl Into<EdgeKey<'a>>) -> Result<bool> {
        let item = self.item(edge.into())?;
        let existed = self.reads_existence(item)?;
        if existed {
            self.push_item(OpKind::Remove, item, 0.0, Cells::new())?;
        }
        Ok(existed)
    }

    /// True if the vertex exists. O(1).
    ///
    /// # Errors
    /// Those of every [method](Self).
    pub fn contains_vertex<'a>(&mut self, key: impl Into<VertexKeyRef<'a>>) -> Result<bool> {
        let key = self.key(key.into())?;
        self.reads_vertex(key)
    }

    /// Returns the snapshot that the transaction reads, without its own writes. From then on the whole graph
    /// counts as read: any commit after the snapshot is a conflict. O(1).
    ///
    /// # Errors
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.engine.check_owner()?;
        self.reads.whole();
        Ok(self.base().clone().for_user())
    }

    /// Returns the number of operations gathered so far. O(1).
    pub fn operation_count(&self) -> usize {
        self.ops.len()
    }

    /// Commits. Returns the commit timestamp once the transaction is visible to every snapshot opened from
    /// now on and durable as the store's durability mode requires. If the transaction changes nothing, it
    /// returns a timestamp at or after everything it saw.
    ///
    /// Blocks for committers of the same subgraphs, and under [`Durability::Sync`](crate::Durability::Sync)
    /// for a sync. O(operations * log degree + items read), O(degree) for each removed vertex, now and then
    /// O(edges of 64 vertices) to merge.
    ///
    /// # Errors
    /// A [`CommitError`](crate::CommitError): conflict, missing vertex, full disk;
    /// [`ArgumentError::TooLarge`]; a [`StateError`](crate::StateError): closed, forked, poisoned. No effect
    /// of the transaction will ever be visible. The exception is
    /// [`CommitError::OutcomeUnknown`](crate::CommitError::OutcomeUnknown): the log failed, and only
    /// reopening the store shows the outcome.
    pub fn commit(self) -> Result<Timestamp> {
        let engine = self.engine.clone();
        let outcome = self.commit_unpublished()?;
        Ok(order::publish(&engine, outcome)?.ts)
    }

    /// Commits without waiting: on return the transaction has its place in the order of commits, is in the
    /// log and applied, and will become durable and visible; the [`Ticket`] shows when. Later transactions of
    /// the same thread come later in the order. Snapshots and reading transactions see it only once it is
    /// done: if one read the state before it and depends on it, its commit fails with
    /// [`CommitError::Conflict`](crate::CommitError::Conflict).
    ///
    /// Blocks for committers of the same subgraphs, and while too much that was submitted is not durable yet
    /// (see [`Options::max_unsynced_bytes`](crate::Options::max_unsynced_bytes)). Costs as
    /// [`commit`](Self::commit).
    ///
    /// # Errors
    /// Those of [`commit`](Self::commit), except for
    /// [`CommitError::OutcomeUnknown`](crate::CommitError::OutcomeUnknown), which [`Ticket::wait`] reports.
    pub fn submit(self) -> Result<Ticket> {
        let engine = self.engine.clone();
        let outcome = self.commit_unpublished()?;
        Ok(Ticket::new(&engine, outcome.ts))
    }

    pub(crate) fn commit_unpublished(mut self) -> Result<Outcome> {
        self.engine.check_writable()?;
        if self.ops.is_empty() {
            let ts =
                self.base.as_ref().map_or_else(|| self.engine.order.clock.published(), Snapshot::timestamp);
            return Ok(Outcome { ts, edges: 0, applied: 0 });
        }
        self.engine.check_room(self.operations_now()?)?;
        if let Some(outcome) = self.commit_alone()? {
            return Ok(outcome);
        }
        self.reads.prepare(|| self.engine.catalog.defined_labels().end);
        let request = Request {
            ops: &self.ops,
            attributes: self.attributes.table(),
            keys: &self.keys,
            create: self.create,
            reads: &self.reads,
            start: self.base.as_ref().map_or(Timestamp::INFINITY, Snapshot::timestamp),
            isolation: self.isolation,
        };
        schedule::commit_unpublished(&self.engine, &request)
    }

    /// Commits one blind operation on an edge by the short way, if possible.
    fn commit_alone(&self) -> Result<Option<Outcome>> {
        let [op] = self.ops[..] else { return Ok(None) };
        let blind = self.reads.is_empty() && self.isolation == Isolation::Serializable;
        // The short way names an edge by its ends. No edge of the default label has another rank than 0, but
        // a removal may name one.
        let attributes = self.attributes.table();
        let is_plain = op.is_default_edge() && attributes.rank(op.attributes) == 0;
        if !(is_plain && blind && self.create) {
            return Ok(None);
        }
        let (src, dst) = (self.keys.key(op.src), self.keys.key(op.dst));
        let given = attributes.given(op.attributes);
        autocommit::edge_unpublished(&self.engine, op.kind, src, dst, op.weight, || given).map(Some)
    }

    pub(super) fn key(&mut self, key: VertexKeyRef<'_>) -> Result<TxnKey> {
        self.engine.check_key(key)?;
        Ok(self.keys.intern(key))
    }

    pub(super) fn push(&mut self, kind: OpKind, src: TxnKey, dst: TxnKey, weight: f64) -> Result<()> {
        self.push_op(TxnOp::plain(kind, src, dst, weight))
    }

    pub(super) fn push_op(&mut self, op: TxnOp) -> Result<()> {
        self.engine.catalog.check_operations(self.operations().saturating_add(1))?;
        self.ops.push(op);
        Ok(())
    }

    pub(super) fn base(&mut self) -> &Snapshot {
        self.base.get_or_insert_with(|| Snapshot::open(&self.engine))
    }

    /// Returns the overlay with all operations so far; `None` while there are none.
    pub(super) fn own(&mut self) -> Option<&Overlay> {
        if self.ops.is_empty() {
            return None;
        }
        let placement = self.engine.catalog.placement();
        let overlay = self.overlay.get_or_insert_with(|| Overlay::new(placement));
        overlay.catch_up(&self.ops, self.attributes.table(), self.create);
        Some(overlay)
    }

    /// Returns the vertex that `key` names in the snapshot; if there is none, records that as read.
    pub(super) fn base_id(&mut self, key: TxnKey) -> Result<Option<VertexId>> {
        let snapshot = self.base().clone();
        let dense = self.engine.catalog.config.keys == hedgerow_core::KeyKind::Dense;
        let id =
            self.engine.keys.vertex_to_read(&self.engine.pager, self.keys.key(key), snapshot.timestamp())?;
        match id {
            None => self.reads.absent(key),
            // In a dense graph an id does not prove that the vertex exists: the vertex itself is read.
            Some(id) if dense => {
                self.reads.vertex(id);
                return Ok(snapshot.contains_id(id)?.then_some(id));
            }
            Some(id) => self.reads.vertex(id),
        }
        Ok(id)
    }

    /// Records a read of the edges of a vertex; if they had to be searched for, a read of the whole graph.
    pub(super) fn note_adjacency(
        &mut self,
        snapshot: &Snapshot,
        label: LabelId,
        id: VertexId,
        direction: Direction,
    ) {
        if snapshot.has_to_search(direction) {
            self.reads.whole();
        } else {
            self.reads.adjacency(label, id, snapshot.stored(direction));
        }
    }
}
