//! The handle of a store for users.

mod checkpoint;
mod definitions;
mod edges;
mod internals;
mod opening;

use std::sync::Arc;

use hedgerow_catalog::error::{CommitError, Error, Result};
use hedgerow_core::{GraphConfig, Timestamp};
use hedgerow_pager::pager::KeptForSpeed;

use crate::background::settle::settle;
use crate::commit::op::OpKind;
use crate::commit::{Ack, Pipeline, WriteTxn, autocommit, order};
use crate::durable::close::{ClosedBy, close};
use crate::durable::sync::flush;
use crate::read::snapshot::Snapshot;
use crate::state::edge_key::{EdgeKey, EdgeToWrite};
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
                    self.internals().wait_for_conflict(with, retries - left)?;
                }
                other => return other,
            }
        }
    }

    /// Inserts one edge in a transaction of its own, and its endpoints if they are absent. Returns true if
    /// the edge was new, and leaves an existing edge as it is.
    ///
    /// For an edge of the default label this is the fastest way to write single edges: it reads no snapshot
    /// and cannot conflict. O(log degree): see [single operations](Self#single-operations).
    ///
    /// # Errors
    /// Those of [single operations](Self#single-operations);
    /// [`ArgumentError::Invalid`](crate::ArgumentError::Invalid) for a weight that is not a number, or in a
    /// graph without weights.
    #[inline]
    pub fn insert_edge<'a>(&self, edge: impl Into<EdgeToWrite<'a>>) -> Result<bool> {
        self.write_edge(OpKind::Insert, edge.into())
    }

    /// Inserts many edges in one transaction, and their absent endpoints; leaves existing edges as they are.
    /// Returns the number of new edges. See [`WriteTxn::insert_edges`].
    ///
    /// # Errors
    /// Those of [`WriteTxn::insert_edges`] and of [`WriteTxn::commit`].
    pub fn insert_edges<'a>(&self, edges: impl IntoIterator<Item: Into<EdgeToWrite<'a>>>) -> Result<u64> {
        let mut txn = self.write()?;
        txn.insert_edges(edges)?;
        let outcome = txn.commit_unpublished()?;
        Ok(order::publish(&self.engine, outcome)?.edges.unsigned_abs())
    }

    /// Makes sure, in a transaction of its own, that the edge and its endpoints exist. An existing edge loses
    /// its properties; in a weighted graph it gets the weight, or weight 1. Returns true if the edge was new.
    /// Otherwise as [`insert_edge`](Graph::insert_edge).
    ///
    /// # Errors
    /// Those of [`insert_edge`](Graph::insert_edge).
    #[inline]
    pub fn put_edge<'a>(&self, edge: impl Into<EdgeToWrite<'a>>) -> Result<bool> {
        self.write_edge(OpKind::Put, edge.into())
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
    /// Those of [single operations](Self#single-operations);
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel).
    #[inline]
    pub fn remove_edge<'a>(&self, edge: impl Into<EdgeKey<'a>>) -> Result<bool> {
        let edge = edge.into();
        match edge.is_default() {
            true => Ok(autocommit::edge(&self.engine, OpKind::Remove, edge.src, edge.dst, 0.0)?.edges < 0),
            false => self.remove_named(edge),
        }
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
