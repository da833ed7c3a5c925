//! The handle of a store for users.

mod checkpoint;
mod definitions;
mod edges;
mod opening;

use std::sync::Arc;

use hedgerow_catalog::error::{CommitError, Error, Result};
use hedgerow_core::{Changeable, GraphConfig, Timestamp, VertexKeyRef};
use hedgerow_pager::pager::KeptForSpeed;

use crate::background::settle::settle;
use crate::commit::op::OpKind;
use crate::commit::{Ack, Pipeline, WriteTxn, autocommit, order};
use crate::durable::checkpoint::page_versions::write_page_versions;
use crate::durable::close::{ClosedBy, close};
use crate::durable::sync::flush;
use crate::read::snapshot::Snapshot;
use crate::state::closing::Freed;
use crate::state::store::Engine;

/// An open graph. Cloning it gives another handle to the same store; all methods may be called from any
/// thread.
///
/// The drop of the last handle closes the store; snapshots and transactions are handles too. Call
/// [`close`](Graph::close) to see the errors of closing.
///
/// A store belongs to the process that opened it. In a forked child every call that returns a [`Result`]
/// fails with [`StateError::Forked`](crate::StateError::Forked), and dropping a handle does nothing; other
/// calls describe their effect there. The child may open other stores, and this one after its parent has
/// closed it or exited.
///
/// # Single operations
/// [`insert_edge`](Self::insert_edge), [`put_edge`](Self::put_edge), [`remove_edge`](Self::remove_edge) and
/// their forms with weights and properties are transactions of one operation. They cost O(log degree) if both
/// ends exist, else the cost of a transaction of one operation; now and then O(edges of 64 vertices) for a
/// merge. They block for other committers of the same subgraphs, and for a sync under
/// [`Durability::Sync`](crate::Durability::Sync). They cannot conflict. Their errors are those of
/// [`WriteTxn::commit`] without the conflict, and an [`ArgumentError`](crate::ArgumentError) for a key that
/// the graph cannot have.
#[derive(Clone)]
pub struct Graph {
    pub(crate) engine: Arc<Engine>,
}

impl Changeable for Graph {
    type Snapshot = Snapshot;
}

impl Graph {
    /// Returns the settings that the graph was created with. O(1).
    pub fn config(&self) -> GraphConfig {
        self.engine.catalog.config
    }

    /// Returns a snapshot of everything committed so far. O(1) for any size of the graph, also during
    /// commits. Waits for no commit, and no commit waits for it.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.engine.check_usable()?;
        Ok(Snapshot::open(&self.engine).for_user())
    }

    /// Begins a write transaction. O(1); takes no snapshot before the first read, and waits for no other
    /// thread.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn write(&self) -> Result<WriteTxn> {
        self.engine.check_writable()?;
        Ok(WriteTxn::new(&self.engine))
    }

    /// Runs `f` in a write transaction and commits it. After a conflict it waits until the conflicting commit
    /// is visible and tries again, up to `retries` times. Returns the result of `f` and the timestamp. Each
    /// attempt costs what `f` costs, and blocks as [`WriteTxn::commit`].
    ///
    /// # Errors
    /// Those of `f` and of the commit; the last [`CommitError::Conflict`] when the retries are used up.
    pub fn transact<T>(
        &self,
        retries: u32,
        mut f: impl FnMut(&mut WriteTxn) -> Result<T>,
    ) -> Result<(T, Timestamp)> {
        let mut left = retries;
        loop {
            let mut txn = self.write()?;
            let attempt = f(&mut txn).and_then(|value| Ok((value, txn.commit()?)));
            match attempt {
                Err(Error::Commit(CommitError::Conflict { with })) if left > 0 => {
                    left -= 1;
                    self.wait_for_conflict(with, retries - left)?;
                }
                other => return other,
            }
        }
    }

    /// Waits before a retry as [`transact`](Graph::transact) does. For retry loops in other languages.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    #[doc(hidden)]
    pub fn wait_for_conflict(&self, with: Timestamp, attempt: u32) -> Result<()> {
        self.engine.check_usable()?;
        order::wait_for_conflict(&self.engine, with, attempt);
        Ok(())
    }

    /// Inserts one edge in a transaction of its own, and its endpoints if they are absent. Returns true if
    /// the edge was new, and leaves an existing edge as it is. In a weighted graph the weight is 1.
    ///
    /// This is the fastest way to write single edges: it reads no snapshot and cannot conflict. O(log
    /// degree): see [single operations](Self#single-operations).
    ///
    /// # Errors
    /// Those of [single operations](Self#single-operations).
    pub fn insert_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<bool> {
        Ok(autocommit::edge(&self.engine, OpKind::Insert, src.into(), dst.into(), 1.0)?.edges > 0)
    }

    /// Inserts many edges in one transaction, and their absent endpoints; leaves existing edges as they are.
    /// Returns the number of new edges. See [`WriteTxn::insert_edges`].
    ///
    /// # Errors
    /// Those of [`WriteTxn::commit`].
    pub fn insert_edges<'a, K: Into<VertexKeyRef<'a>> + Copy>(&self, edges: &[(K, K)]) -> Result<u64> {
        let mut txn = self.write()?;
        txn.insert_edges(edges)?;
        let outcome = txn.commit_unpublished()?;
        Ok(order::publish(&self.engine, outcome)?.edges.unsigned_abs())
    }

    /// Inserts an edge with a weight, otherwise as [`insert_edge`](Graph::insert_edge).
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a weight that is not a number, or in a
    /// graph without weights.
    pub fn insert_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Insert, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// Makes sure, in a transaction of its own, that the edge and its endpoints exist; in a weighted graph
    /// its weight becomes 1. Returns true if the edge was new. Otherwise as
    /// [`insert_edge`](Graph::insert_edge).
    ///
    /// # Errors
    /// Those of [single operations](Self#single-operations).
    pub fn put_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<bool> {
        Ok(autocommit::edge(&self.engine, OpKind::Put, src.into(), dst.into(), 1.0)?.edges > 0)
    }

    /// Puts an edge with a weight, otherwise as [`put_edge`](Graph::put_edge).
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a weight that is not a number, or in a
    /// graph without weights.
    pub fn put_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Put, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// Returns a [`Pipeline`] for single edge operations of the calling thread, each a transaction of its
    /// own. `on_ack` receives the outcome of each operation. O(1); waits for no other thread.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn pipeline<F: FnMut(Ack)>(&self, on_ack: F) -> Result<Pipeline<F>> {
        self.engine.check_writable()?;
        Ok(Pipeline::new(&self.engine, on_ack))
    }

    /// Removes one edge in a transaction of its own. Returns true if it existed. Otherwise as
    /// [`insert_edge`](Graph::insert_edge).
    ///
    /// # Errors
    /// Those of [single operations](Self#single-operations).
    pub fn remove_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<bool> {
        Ok(autocommit::edge(&self.engine, OpKind::Remove, src.into(), dst.into(), 0.0)?.edges < 0)
    }

    /// Merges all deltas, so that reads find plain CSR blocks, and rewrites the lists in the order of the
    /// vertices. Does nothing if nothing was committed since the last call. Takes each subgraph's latch in
    /// turn; O(edges). Until it returns, lists may be in memory twice.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn settle(&self) -> Result<()> {
        self.engine.check_writable()?;
        settle(&self.engine);
        Ok(())
    }

    /// Drops the view that the store keeps as the base of the next one. The view's memory is freed with the
    /// last snapshot that uses it. The store also drops the view without this call, once the view keeps much
    /// replaced content. Does nothing in a forked child. O(1), except for freeing a view that no snapshot
    /// uses.
    pub fn forget_views(&self) {
        if !self.engine.is_forked() {
            self.engine.views.give_up();
        }
    }

    /// Evicts everything that files hold as it is, like the store does when the memory limit leaves no room.
    /// Returns the number of subgraphs. O(subgraphs). For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    #[doc(hidden)]
    pub fn evict(&self) -> Result<usize> {
        self.engine.check_usable()?;
        Ok(self.engine.pager.evict_until(|| false))
    }

    /// Evicts for readers what [`evict`](Self::evict) evicts, but keeps the memory for a while for reads that
    /// need it again (rule E9 of the protocol). O(subgraphs). For tests.
    ///
    /// # Errors
    /// Those of [`evict`](Self::evict).
    #[doc(hidden)]
    pub fn cool(&self) -> Result<usize> {
        self.engine.check_usable()?;
        Ok(self.engine.pager.cool_all())
    }

    /// Writes the versions from before the last checkpoint that snapshots hold, like the store does when they
    /// leave no room within the memory limit. Then [`evict`](Self::evict) can evict them too. Returns the
    /// number of snapshot timestamps that got a page version. O(subgraphs) for each snapshot. For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked. The error of a file that cannot be written.
    #[doc(hidden)]
    pub fn write_page_versions(&self) -> Result<usize> {
        self.engine.check_usable()?;
        let _one_at_a_time = self.engine.work.checkpointing.lock();
        self.engine.durable.as_ref().map_or(Ok(0), |durable| write_page_versions(&self.engine, durable))
    }

    /// Returns the peak of charged bytes since the previous call. O(1). For tests.
    #[cfg(feature = "planted-faults")]
    #[doc(hidden)]
    pub fn most_memory_used(&self) -> u64 {
        self.engine.pager.account().most_used()
    }

    /// Returns the last published timestamp, which a snapshot opened now gets. In a forked child, returns the
    /// value at the fork. O(1).
    pub fn published_ts(&self) -> Timestamp {
        self.engine.order.clock.published()
    }

    /// Returns the last timestamp known to be on stable media; in a store without files, the published one.
    /// In a forked child, returns the value at the fork. O(1).
    pub fn durable_ts(&self) -> Timestamp {
        self.engine.durable.as_ref().map_or_else(|| self.published_ts(), |durable| durable.durable_ts())
    }

    /// Closes the store: finishes commits under way, syncs and seals the log, releases the directory. Closes
    /// all other handles with it; open snapshots stay readable.
    ///
    /// Before it seals the log, the call writes a checkpoint if that takes less time than the replay of the
    /// log in the next opening (see `docs/design/checkpoints.md`). The drop of the last handle writes none.
    /// Nor does `close` with [`checkpoint_log_bytes`](crate::Options::checkpoint_log_bytes) 0. If the
    /// checkpoint fails, for instance on a full disk, the store is closed nevertheless:
    /// [`checkpoint_error`](Graph::checkpoint_error) returns the reason, and the next opening replays the
    /// log.
    ///
    /// Blocks until commits and a checkpoint under way have ended, and for a sync. A second call blocks until
    /// the first one returns. O(subgraphs), and with a checkpoint the time of
    /// [`checkpoint`](Graph::checkpoint).
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): forked; poisoned if the log failed, now or before. The directory
    /// is released also in these cases.
    pub fn close(&self) -> Result<()> {
        close(&self.engine, ClosedBy::User)
    }

    /// Keeps [`close`](Graph::close) from writing a checkpoint. If `close` already writes or awaits a
    /// checkpoint, that is given up. O(1). For the Python package.
    #[doc(hidden)]
    pub fn skip_checkpoint_at_close(&self) {
        self.engine.closing.skip_checkpoint();
    }

    /// Returns a flag to read after the last handle is dropped: true if the store's memory was freed. For the
    /// Python package.
    #[doc(hidden)]
    pub fn freed(&self) -> Freed {
        self.engine.tells_freed.flag()
    }

    /// Makes everything committed before the call durable, whatever the durability mode. Blocks for a sync;
    /// otherwise O(1).
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned (by this sync, or before);
    /// [`CommitError::OutcomeUnknown`] if the log failed while commits waited for it.
    pub fn flush(&self) -> Result<()> {
        self.engine.check_owner_by_id()?;
        self.engine.check_writable()?;
        flush(&self.engine)
    }
}
