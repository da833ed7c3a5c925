//! The handle of a store that users hold.

mod checkpoint;
mod edges;
mod labels;
mod open;

use std::sync::Arc;

use hedgerow_core::{Changeable, GraphConfig, Timestamp, VertexKeyRef};

use crate::commit::op::OpKind;
use crate::commit::{Ack, Pipeline, WriteTxn, autocommit, order};
use crate::durable::sync::ClosedBy;
use crate::error::{CommitError, Error, Result};
use crate::read::snapshot::Snapshot;
use crate::state::closing::Freed;
use crate::state::store::Engine;

/// An open graph. Cloning it gives another handle to the same store; all methods may be called from any thread.
///
/// The last handle that goes (snapshots and transactions are handles too) closes the store; call
/// [`close`](Graph::close) to see errors of that.
///
/// A store belongs to the process that opened it. In a forked child every call that returns a [`Result`] is
/// [`StateError::Forked`](crate::StateError::Forked), and dropping a handle does nothing; each other call says what it does. The child may open
/// other stores, and this one once its parent has closed it or ended.
///
/// # Single operations
/// [`insert_edge`](Self::insert_edge), [`put_edge`](Self::put_edge), [`remove_edge`](Self::remove_edge) and their forms with weights and
/// properties are transactions of one operation. Where both ends exist they cost O(log degree), else what a transaction of one
/// operation costs; now and then O(edges of 64 vertices) for a merge. They block for other committers of the same subgraphs, and for a sync
/// under [`Durability::Sync`](crate::Durability::Sync). They cannot conflict. Their errors are those of [`WriteTxn::commit`] but for
/// the conflict, and an [`ArgumentError`](crate::ArgumentError) for a key that the graph cannot have.
#[derive(Clone)]
pub struct Graph {
    pub(crate) engine: Arc<Engine>,
}

impl Changeable for Graph {
    type Snapshot = Snapshot;
}

impl Graph {
    /// What the graph was created with. O(1).
    pub fn config(&self) -> GraphConfig {
        self.engine.config
    }

    /// A snapshot of everything committed so far. O(1), whatever is held or written; waits for no commit, and no commit
    /// waits for it.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.engine.check_usable()?;
        Ok(Snapshot::open(&self.engine).for_user())
    }

    /// Begins a write transaction. O(1); takes no snapshot before the first read, and waits for nobody.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn write(&self) -> Result<WriteTxn> {
        self.engine.check_writable()?;
        Ok(WriteTxn::new(&self.engine))
    }

    /// Runs `f` in a write transaction and commits it, again after each conflict, up to `retries` times. Before it tries again it
    /// waits until the conflicting commit is visible. Returns what `f` returned and the timestamp. Each attempt costs what `f` does
    /// and blocks as [`WriteTxn::commit`].
    ///
    /// # Errors
    /// Whatever `f` or the commit returns; the last [`CommitError::Conflict`] when the retries are used up.
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

    /// Waits as [`transact`](Graph::transact) does before it tries again: for loops around it in other languages.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    #[doc(hidden)]
    pub fn wait_for_conflict(&self, with: Timestamp, attempt: u32) -> Result<()> {
        self.engine.check_usable()?;
        order::wait_for_conflict(&self.engine, with, attempt);
        Ok(())
    }

    /// Inserts one edge in a transaction of its own, and its endpoints where absent. Returns whether it was new; an
    /// existing edge is left as it is. In a weighted graph the weight is 1.
    ///
    /// The fastest way to write single edges: it reads no snapshot and cannot conflict. O(log degree): see
    /// [single operations](Self#single-operations).
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

    /// Inserts many edges in one transaction, and their endpoints where absent; existing edges are left as they are.
    /// Returns how many were new. See [`WriteTxn::insert_edges`].
    ///
    /// # Errors
    /// As of [`WriteTxn::commit`].
    pub fn insert_edges<'a, K: Into<VertexKeyRef<'a>> + Copy>(&self, edges: &[(K, K)]) -> Result<u64> {
        let mut txn = self.write()?;
        txn.insert_edges(edges)?;
        let outcome = txn.commit_unpublished()?;
        Ok(order::publish(&self.engine, outcome)?.edges.unsigned_abs())
    }

    /// As [`insert_edge`](Graph::insert_edge), with a weight.
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a weight that is not a number, or in a graph without weights.
    pub fn insert_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Insert, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// Makes sure, in a transaction of its own, that the edge exists, and its endpoints; in a weighted graph its weight becomes 1.
    /// Returns whether it was new. Otherwise as [`insert_edge`](Graph::insert_edge).
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

    /// As [`put_edge`](Graph::put_edge), with a weight.
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a weight that is not a number, or in a graph without weights.
    pub fn put_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Put, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// A [`Pipeline`] for single edge operations of the calling thread, each a transaction of its own. `on_ack` learns what became
    /// of each. O(1); waits for nobody.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn pipeline<F: FnMut(Ack)>(&self, on_ack: F) -> Result<Pipeline<F>> {
        self.engine.check_writable()?;
        Ok(Pipeline::new(&self.engine, on_ack))
    }

    /// Removes one edge in a transaction of its own. Returns whether it existed. Otherwise as [`insert_edge`](Graph::insert_edge).
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

    /// Merges all deltas, so that reads find plain CSR blocks, and lays the lists out anew in the order of the vertices;
    /// nothing is done if nothing was committed since the last call. Takes each subgraph's latch in turn; O(edges). Until
    /// it returns, lists may be in memory twice.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned.
    pub fn settle(&self) -> Result<()> {
        self.engine.check_writable()?;
        self.engine.settle();
        Ok(())
    }

    /// Gives up the view that the store keeps for the next one to be made of. Its memory goes with the last snapshot that uses it.
    /// The store does the same by itself once the view keeps much that it has replaced. Does nothing in a forked child. O(1), but
    /// for freeing the view where nothing else uses it.
    pub fn forget_views(&self) {
        if !self.engine.is_forked() {
            self.engine.views.forget();
        }
    }

    /// Takes everything out of memory that files hold as it is, as a memory limit does when it leaves no room; returns how many
    /// subgraphs. O(subgraphs). For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    #[doc(hidden)]
    pub fn evict(&self) -> Result<usize> {
        self.engine.check_usable()?;
        Ok(self.engine.evict_until(|| false))
    }

    /// As [`evict`](Self::evict), but keeps all of it for whoever reads it soon (rule E9 of the protocol). O(subgraphs). For tests.
    ///
    /// # Errors
    /// As of that.
    #[doc(hidden)]
    pub fn cool(&self) -> Result<usize> {
        self.engine.check_usable()?;
        Ok(self.engine.cool_all())
    }

    /// Has everything that snapshots hold from before the last checkpoint written, as a memory limit does when what they hold leaves no room:
    /// then [`evict`](Self::evict) takes that too. Returns how many timestamps of snapshots got a page version. O(subgraphs) for each snapshot. For tests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked. What a file that cannot be written is told by.
    #[doc(hidden)]
    pub fn write_page_versions(&self) -> Result<usize> {
        self.engine.check_usable()?;
        let _one_at_a_time = self.engine.checkpointing.lock();
        self.engine.durable.as_ref().map_or(Ok(0), |durable| self.engine.write_page_versions(durable))
    }

    /// The most bytes of memory that were charged at any moment since this was asked before. O(1). For tests.
    #[cfg(feature = "planted-faults")]
    #[doc(hidden)]
    pub fn most_memory_used(&self) -> u64 {
        self.engine.account().most_used()
    }

    /// The last timestamp that is published: what a snapshot opened now sees. In a forked child, that of the fork. O(1).
    pub fn published_ts(&self) -> Timestamp {
        self.engine.clock.published()
    }

    /// The last timestamp known to be on stable media. Of a store without files, the published one. In a forked child, that of the
    /// fork. O(1).
    pub fn durable_ts(&self) -> Timestamp {
        self.engine.durable.as_ref().map_or_else(|| self.published_ts(), |durable| durable.durable_ts())
    }

    /// Closes the store: commits under way are finished, the log is synced and sealed, the directory is released. All handles are
    /// closed with it; snapshots that are open stay readable.
    ///
    /// Before it seals the log, the call writes a checkpoint if that takes less time than the replay of the log in the next
    /// opening (the rule is in `docs/design/checkpoints.md`). The drop of the last handle writes none, nor does `close` with
    /// [`checkpoint_log_bytes`](crate::Options::checkpoint_log_bytes) 0. If the checkpoint fails, on a full disk for instance,
    /// the store closes all the same: [`checkpoint_error`](Graph::checkpoint_error) says why, and the next opening replays the
    /// log.
    ///
    /// Blocks until commits and a checkpoint under way have ended, and for a sync; a second call blocks until the first one
    /// returns. O(subgraphs), and with a checkpoint the time of [`checkpoint`](Graph::checkpoint).
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): forked; poisoned if the log failed, now or before. The directory is released all the
    /// same.
    pub fn close(&self) -> Result<()> {
        self.engine.close(ClosedBy::User)
    }

    /// For the Python package: keeps [`close`](Graph::close) from writing a checkpoint. A checkpoint that `close` is writing, or
    /// waits for, ends without effect. O(1).
    #[doc(hidden)]
    pub fn skip_checkpoint_at_close(&self) {
        self.engine.closing.skip_checkpoint();
    }

    /// For the Python package: tells, once all handles are dropped, whether the store's memory was freed.
    #[doc(hidden)]
    pub fn freed(&self) -> Freed {
        self.engine.tells_freed.flag()
    }

    /// Makes everything committed before the call durable, whatever the durability mode. Blocks for a sync. O(1) besides.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked, read-only, poisoned, also by this sync;
    /// [`CommitError::OutcomeUnknown`] if the log failed while commits waited for it.
    pub fn flush(&self) -> Result<()> {
        self.engine.check_owner_by_id()?;
        self.engine.check_writable()?;
        self.engine.flush()
    }
}
