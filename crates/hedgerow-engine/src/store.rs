//! The store: the handle that users hold, and the engine behind it.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{Direction, KeyKind, Timestamp, VertexKeyRef};
use hedgerow_io::{Vfs, VfsLock};
use hedgerow_mem::SubgraphTable;
use hedgerow_txn::{Clock, Counts, GroupCommit, ReaderRegistry};

use crate::background::closing::{Closing, Freed, TellsFreed};
use crate::background::log_bound::LogBound;
use crate::background::reclaim::{LiveHorizon, PendingVersions};
use crate::background::settle::Settling;
use crate::commit::{Ack, OpKind, Pipeline, WriteTxn, autocommit, general};
use crate::durable::log::Durable;
use crate::error::{Error, Result};
use crate::options::{Durability, GraphConfig, Isolation, Options};
use crate::read::snapshot::Snapshot;
use crate::read::views::Views;
use crate::state::ids::IdMap;
use crate::state::schema::{Schema, SchemaCell};
use crate::state::tables::LabelTables;

/// An open graph. Cloning it gives another handle to the same store; all methods may be called from any thread.
///
/// The last handle that goes (snapshots and transactions are handles too) closes the store; call
/// [`close`](Graph::close) to see errors of that.
///
/// A store belongs to the process that opened it. In a forked child every call that returns a [`Result`] is an
/// [`Error::Forked`], and dropping a handle does nothing; what the other calls do says each of them. The child may open
/// other stores, and this one once its parent has closed it or ended.
#[derive(Clone)]
pub struct Graph {
    pub(crate) engine: Arc<Engine>,
}

/// What the handles share. Dropping it closes the store: so its last owner is a user's handle, and threads in the
/// background have the [`Core`] alone.
pub(crate) struct Engine {
    pub(crate) core: Arc<Core>,
}

impl std::ops::Deref for Engine {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        &self.core
    }
}

/// Everything behind a handle.
pub(crate) struct Core {
    pub(crate) config: GraphConfig,
    pub(crate) isolation: Isolation,
    pub(crate) durability: Durability,
    pub(crate) clock: Arc<Clock>,
    pub(crate) readers: ReaderRegistry,
    pub(crate) commits: Arc<GroupCommit>,
    /// Existence of vertices, and the edges of the default label.
    pub(crate) subgraphs: SubgraphTable,
    /// The edges of the other labels, and the properties of vertices.
    pub(crate) labels: LabelTables,
    pub(crate) schema: SchemaCell,
    pub(crate) ids: IdMap,
    pub(crate) pending: PendingVersions,
    pub(crate) views: Views,
    pub(crate) settling: Settling,
    /// The files, if the store has any.
    pub(crate) durable: Option<Arc<Durable>>,
    /// Whether the thread could be started that syncs for tickets; unset until the first one.
    pub(crate) syncer: OnceLock<bool>,
    /// The directory that the store was opened in, if it has one.
    pub(crate) directory: Option<Arc<dyn Vfs>>,
    /// The lock of the directory, while the store is open.
    pub(crate) lock: Mutex<Option<Box<dyn VfsLock>>>,
    /// How often a commit waited because too much was not published yet (rule R11).
    pub(crate) commit_waits: AtomicU64,
    /// Bytes of the log that may wait to be synced, under `sync`.
    pub(crate) max_unsynced_bytes: u64,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) closing: Arc<Closing>,
    /// The thread that syncs for [`Durability::Group`].
    pub(crate) group_syncer: Mutex<Option<JoinHandle<()>>>,
    pub(crate) read_only: bool,
    pub(crate) checkpointing: Mutex<()>,
    /// When the log is to be made shorter.
    pub(crate) log_bound: Arc<LogBound>,
    /// The process that opened the store. Its forked children use nothing of it (`docs/design/processes.md`).
    pub(crate) owner: OwnerProcess,
    /// Stays the last field: fields are dropped in their order.
    pub(crate) tells_freed: TellsFreed,
}

/// What [`Engine`] is built from, at opening.
pub(crate) struct EngineParts {
    pub(crate) config: GraphConfig,
    pub(crate) last: Timestamp,
    pub(crate) counts: Counts,
    pub(crate) subgraphs: SubgraphTable,
    pub(crate) labels: LabelTables,
    pub(crate) schema: Schema,
    pub(crate) ids: IdMap,
    pub(crate) durable: Option<Durable>,
    /// The directory, of a store that has one.
    pub(crate) directory: Option<Arc<dyn Vfs>>,
    pub(crate) lock: Option<Box<dyn VfsLock>>,
}

impl Engine {
    pub(crate) fn new(options: &Options, parts: EngineParts) -> Arc<Engine> {
        let waits = parts.durable.is_some() && options.durability == Durability::Sync;
        let gate = if waits { parts.last } else { Timestamp::INFINITY };
        // Under the model checkers threads are theirs to make.
        let settles = options.background_settling && !options.read_only && !cfg!(feature = "model-checking");
        let checkpoints = parts.durable.is_some() && !options.read_only && !cfg!(feature = "model-checking");
        // Of an opened store everything that the log still holds counts.
        let covered =
            parts.durable.as_ref().and_then(|durable| durable.log.segments().first().map(|s| s.first_lsn.0));
        let covered = covered.unwrap_or(0);
        let core = Arc::new_cyclic(|core| Core {
            config: parts.config,
            isolation: options.isolation,
            durability: options.durability,
            clock: Arc::new(Clock::new(parts.last, parts.counts, gate)),
            readers: ReaderRegistry::default(),
            commits: Arc::default(),
            subgraphs: parts.subgraphs,
            labels: parts.labels,
            schema: SchemaCell::new(parts.schema),
            ids: parts.ids,
            pending: PendingVersions::default(),
            views: Views::default(),
            settling: Settling::new(settles.then(|| core.clone())),
            durable: parts.durable.map(Arc::new),
            syncer: OnceLock::new(),
            directory: parts.directory,
            lock: Mutex::new(parts.lock),
            commit_waits: AtomicU64::new(0),
            max_unsynced_bytes: options.max_unsynced_bytes,
            closed: Arc::default(),
            closing: Arc::default(),
            group_syncer: Mutex::new(None),
            read_only: options.read_only,
            checkpointing: Mutex::new(()),
            log_bound: LogBound::new(
                options.checkpoint_log_bytes,
                covered,
                checkpoints.then(|| core.clone()),
            ),
            owner: OwnerProcess::current(),
            tells_freed: TellsFreed::default(),
        });
        Arc::new(Engine { core })
    }
}

impl Core {
    pub(crate) fn horizon(&self) -> LiveHorizon<'_> {
        LiveHorizon::new(self)
    }

    /// The directions that are stored.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        let both = self.config.directed && self.config.reverse;
        if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }

    /// The number of subgraphs that may hold vertices.
    pub(crate) fn subgraph_bound(&self) -> u32 {
        self.ids.bound().div_ceil(64)
    }

    /// Whether commits must wait for a sync before they append more. Asked in the ordering section. Something is unpublished
    /// then, so that there is something to wait for.
    #[inline]
    pub(crate) fn backlog_is_full(&self) -> bool {
        let Some(durable) = &self.durable else { return false };
        self.durability == Durability::Sync
            && durable.log.end().0 > durable.log.durable().0.saturating_add(self.max_unsynced_bytes)
            && self.clock.published() < self.clock.drawn()
    }

    /// Whether commits must wait for a checkpoint before they append more. Asked in the ordering section.
    #[inline]
    pub(crate) fn log_is_full(&self) -> bool {
        self.durable.as_ref().is_some_and(|durable| self.log_bound.is_full(durable.log.end().0))
    }

    /// Has a checkpoint written if the log is long. Asked after something was appended.
    #[inline]
    pub(crate) fn bound_log(&self, durable: &Durable) {
        if self.log_bound.is_due(durable.log.end().0) {
            self.log_bound.ask();
        }
    }

    /// Whether this process is a forked child of the one that opened the store. One load.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Refuses work in a forked child: what its parent's other threads were in the middle of is never finished there. Every
    /// call of every handle asks this before it takes a lock.
    #[inline]
    pub(crate) fn check_owner(&self) -> Result<()> {
        if self.is_forked() { Err(Error::Forked) } else { Ok(()) }
    }

    /// As [`check_owner`](Self::check_owner), also in a child that was made past the C library. Costs a system call.
    pub(crate) fn check_owner_by_id(&self) -> Result<()> {
        if self.owner.is_current_by_id() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Refuses work in a forked child, and on a closed store.
    pub(crate) fn check_usable(&self) -> Result<()> {
        self.check_owner()?;
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        Ok(())
    }

    /// Refuses writes on a closed, poisoned or read-only store.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_usable()?;
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        if self.commits.is_failed() {
            return Err(Error::Poisoned);
        }
        Ok(())
    }

    /// Checks that the graph has weights, and that this is one; refuses in a forked child.
    pub(crate) fn check_weight(&self, weight: f64) -> Result<()> {
        self.check_owner()?;
        if !self.config.weighted {
            return Err(Error::InvalidArgument("the graph has no weights".into()));
        }
        if weight.is_nan() {
            return Err(Error::InvalidArgument("a weight must be a number, not NaN".into()));
        }
        Ok(())
    }

    /// Checks that `key` is of the graph's type and in range; refuses in a forked child.
    #[inline]
    pub(crate) fn check_key(&self, key: VertexKeyRef<'_>) -> Result<()> {
        self.check_owner()?;
        if self.takes_key(key) { Ok(()) } else { Err(self.misfit(key)) }
    }

    /// Whether a vertex may have the key.
    #[inline]
    fn takes_key(&self, key: VertexKeyRef<'_>) -> bool {
        match (self.config.keys, key) {
            (KeyKind::Dense, VertexKeyRef::U64(n)) => n <= u64::from(hedgerow_core::VertexId::MAX.0),
            (KeyKind::U64, VertexKeyRef::U64(_)) => true,
            (KeyKind::Str, VertexKeyRef::Str(s)) => s.len() <= hedgerow_core::key::MAX_KEY_BYTES,
            _ => false,
        }
    }

    /// What is wrong with a key that no vertex may have.
    #[cold]
    fn misfit(&self, key: VertexKeyRef<'_>) -> Error {
        match (self.config.keys, key) {
            (KeyKind::Dense, VertexKeyRef::U64(n)) => Error::InvalidArgument(format!(
                "vertex id {n} is out of range: dense ids end at {}",
                u32::MAX - 1
            )),
            (KeyKind::Str, VertexKeyRef::Str(s)) => Error::TooLarge {
                what: format!("a vertex key of {} bytes", s.len()),
                limit: hedgerow_core::key::MAX_KEY_BYTES as u64,
            },
            (kind, key) => {
                Error::InvalidArgument(format!("vertex key {key:?} does not fit a graph with {kind:?} keys"))
            }
        }
    }
}

impl Graph {
    /// Opens or creates the store in the directory `path` with default options. See [`Options::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Graph> {
        Options::new().open(path)
    }

    /// A store without files, with default options.
    pub fn in_memory() -> Result<Graph> {
        Options::new().in_memory()
    }

    /// What the graph was created with.
    pub fn config(&self) -> GraphConfig {
        self.engine.config
    }

    /// A snapshot of everything committed so far. O(1), whatever is held or written; waits for no commit, and no commit
    /// waits for it.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Forked`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.engine.check_usable()?;
        Ok(Snapshot::open(&self.engine))
    }

    /// Begins a write transaction.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Forked`], [`Error::ReadOnly`], [`Error::Poisoned`].
    pub fn write(&self) -> Result<WriteTxn> {
        self.engine.check_writable()?;
        Ok(WriteTxn::new(&self.engine))
    }

    /// Runs `f` in a write transaction and commits it, again after each conflict, up to `retries` times. Before it
    /// tries again it waits until the conflicting commit is visible. Returns what `f` returned and the timestamp.
    ///
    /// # Errors
    /// Whatever `f` or the commit returns; the last [`Error::Conflict`] when the retries are used up.
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
                Err(Error::Conflict { with }) if left > 0 => {
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
    /// [`Error::Closed`], [`Error::Forked`].
    #[doc(hidden)]
    pub fn wait_for_conflict(&self, with: Timestamp, attempt: u32) -> Result<()> {
        self.engine.check_usable()?;
        crate::commit::wait_for_conflict(&self.engine, with, attempt);
        Ok(())
    }

    /// Inserts one edge in a transaction of its own, and its endpoints where absent. Returns whether it was new; an
    /// existing edge is left as it is. In a weighted graph the weight is 1.
    ///
    /// The fastest way to write single edges: it reads no snapshot and cannot conflict.
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
        Ok(general::publish(&self.engine, outcome)?.edges.unsigned_abs())
    }

    /// As [`insert_edge`](Graph::insert_edge), with a weight.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a weight that is not a number, or in a graph without weights.
    pub fn insert_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Insert, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// Makes sure, in a transaction of its own, that the edge exists, and its endpoints; in a weighted graph its weight
    /// becomes 1. Returns whether it was new.
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
    /// [`Error::InvalidArgument`] for a weight that is not a number, or in a graph without weights.
    pub fn put_weighted_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
        weight: f64,
    ) -> Result<bool> {
        self.engine.check_weight(weight)?;
        Ok(autocommit::edge(&self.engine, OpKind::Put, src.into(), dst.into(), weight)?.edges > 0)
    }

    /// A [`Pipeline`] for single edge operations of the calling thread, each a transaction of its own. `on_ack` learns
    /// what became of each.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Forked`], [`Error::ReadOnly`], [`Error::Poisoned`].
    pub fn pipeline<F: FnMut(Ack)>(&self, on_ack: F) -> Result<Pipeline<F>> {
        self.engine.check_writable()?;
        Ok(Pipeline::new(&self.engine, on_ack))
    }

    /// Removes one edge in a transaction of its own. Returns whether it existed.
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
    pub fn settle(&self) -> Result<()> {
        self.engine.check_writable()?;
        self.engine.settle();
        Ok(())
    }

    /// Gives up the view that the store keeps for the next one to be made of. Its memory goes with the last snapshot that
    /// uses it. The store does the same by itself once the view keeps much that it has replaced. Does nothing in a forked
    /// child.
    pub fn forget_views(&self) {
        if !self.engine.is_forked() {
            self.engine.views.forget();
        }
    }

    /// The last timestamp that is published: what a snapshot opened now sees. In a forked child, that of the fork.
    pub fn published_ts(&self) -> Timestamp {
        self.engine.clock.published()
    }

    /// The last timestamp known to be on stable media. Of a store without files, the published one. In a forked child, that
    /// of the fork.
    pub fn durable_ts(&self) -> Timestamp {
        self.engine.durable.as_ref().map_or_else(|| self.published_ts(), |durable| durable.durable_ts())
    }

    /// Closes the store: commits under way are finished, the log is synced and sealed, the directory is released. All
    /// handles are closed with it; snapshots that are open stay readable.
    ///
    /// # Errors
    /// [`Error::Forked`]; [`Error::Poisoned`] if the log failed, now or before. The directory is released all the same.
    pub fn close(&self) -> Result<()> {
        self.engine.close()
    }

    /// For the Python package: tells, once all handles are dropped, whether the store's memory was freed.
    #[doc(hidden)]
    pub fn freed(&self) -> Freed {
        self.engine.tells_freed.flag()
    }

    /// Makes everything committed before the call durable, whatever the durability mode. Blocks for a sync.
    pub fn flush(&self) -> Result<()> {
        self.engine.check_owner_by_id()?;
        self.engine.check_writable()?;
        self.engine.flush()
    }
}
