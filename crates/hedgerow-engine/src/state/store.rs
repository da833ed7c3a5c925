//! The store: the state that all handles of it share.

use std::sync::{Arc, Weak};

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{Direction, GraphConfig, LabelId, Timestamp};
use hedgerow_io::{Vfs, VfsLock};
use hedgerow_mem::{Hold, Merged, SubgraphTable};
use hedgerow_txn::{Clock, Counts, GroupCommit, NotDurable, ReaderRegistry};

use crate::config::{Durability, Isolation};
use crate::error::{CommitError, Error, Result, StateError};
use crate::files::log::Durable;
use crate::options::{Options, Thresholds};
use crate::state::budget::Budget;
use crate::state::closing::{Closing, TellsFreed};
use crate::state::cold_reads::ColdReads;
use crate::state::csr::CsrCache;
use crate::state::directions::directions_of;
use crate::state::eviction::Eviction;
use crate::state::horizon::LiveHorizon;
use crate::state::ids::IdMap;
use crate::state::limits::most_operations;
use crate::state::log_bound::LogBound;
use crate::state::pages::Pages;
use crate::state::pending::PendingVersions;
use crate::state::placement::Placement;
use crate::state::schema::Schema;
use crate::state::schema_cell::SchemaCell;
use crate::state::settling::Settling;
use crate::state::tables::LabelTables;
use crate::state::view_cache::Views;
use crate::state::worker::{Duty, Worker};

/// The state that the handles share. Its drop closes the store. So its last owner must be a user's handle,
/// and threads in the background share only the [`Core`].
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

/// The state behind a handle.
pub(crate) struct Core {
    pub(crate) config: GraphConfig,
    pub(crate) isolation: Isolation,
    pub(crate) durability: Durability,
    pub(crate) clock: Arc<Clock>,
    pub(crate) readers: ReaderRegistry,
    pub(crate) commits: Arc<GroupCommit>,
    /// The existence of vertices, and the edges of the default label.
    pub(crate) subgraphs: SubgraphTable,
    /// The edges of the other labels, and the properties of vertices.
    pub(crate) labels: LabelTables,
    /// The source of pages of the tables that are not loaded yet.
    pub(crate) pages: Pages,
    pub(crate) eviction: Eviction,
    pub(crate) cold: ColdReads,
    pub(crate) budget: Arc<Budget>,
    pub(crate) schema: SchemaCell,
    pub(crate) ids: IdMap,
    pub(crate) pending: PendingVersions,
    pub(crate) views: Views,
    /// True if reads of snapshots may make views in memory.
    pub(crate) views_by_reads: bool,
    pub(crate) csrs: CsrCache,
    pub(crate) settling: Settling,
    /// The files, if the store has any.
    pub(crate) durable: Option<Arc<Durable>>,
    /// The thread that syncs for tickets, started by the first one.
    pub(crate) ticket_syncer: Worker,
    /// The directory that the store was opened in, if it has one.
    pub(crate) directory: Option<Arc<dyn Vfs>>,
    /// The lock of the directory, while the store is open.
    pub(crate) lock: Mutex<Option<Box<dyn VfsLock>>>,
    /// The number of times that a commit waited because too much was not published yet (rule R11).
    pub(crate) commit_waits: AtomicU64,
    /// The greatest number of bytes of the log that may wait for a sync, under `sync`.
    pub(crate) max_unsynced_bytes: u64,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) closing: Arc<Closing>,
    /// The thread that syncs for [`Durability::Group`].
    pub(crate) group_syncer: Worker,
    pub(crate) read_only: bool,
    /// The memory limit, if the options set one.
    pub(crate) memory_limit: Option<u64>,
    /// The greatest number of operations of one transaction.
    pub(crate) most_operations: usize,
    /// The charge for the structures that order commits and snapshots: their size at the last measurement.
    pub(crate) coordination: Mutex<Charge>,
    pub(crate) thresholds: Thresholds,
    pub(crate) checkpointing: Mutex<()>,
    /// The bound of the log's length.
    pub(crate) log_bound: LogBound,
    /// The process that opened the store. Its forked children must not use the store
    /// (`docs/design/processes.md`).
    pub(crate) owner: OwnerProcess,
    /// The last field, since fields are dropped in their order.
    pub(crate) tells_freed: TellsFreed,
}

/// The parts from which [`Engine`] is built, at opening.
pub(crate) struct EngineParts {
    pub(crate) config: GraphConfig,
    pub(crate) last: Timestamp,
    pub(crate) counts: Counts,
    pub(crate) subgraphs: SubgraphTable,
    pub(crate) labels: LabelTables,
    pub(crate) pages: Pages,
    /// The number of subgraphs whose page is in memory and whose chains are not.
    pub(crate) evicted: u64,
    pub(crate) schema: Schema,
    pub(crate) ids: IdMap,
    pub(crate) durable: Option<Durable>,
    pub(crate) directory: Option<Arc<dyn Vfs>>,
    pub(crate) lock: Option<Box<dyn VfsLock>>,
}

/// The functions that the threads of a store run until it is closed.
#[derive(Clone, Copy)]
pub(crate) struct Threads {
    pub(crate) settle: fn(&Weak<Core>),
    pub(crate) checkpoint: fn(&Weak<Core>),
    pub(crate) sync_at_intervals: fn(&Weak<Core>),
    pub(crate) sync_for_tickets: fn(&Weak<Core>),
    /// Writes a checkpoint on the calling thread, for a switch of the tests.
    #[cfg(feature = "planted-faults")]
    pub(crate) checkpoint_now: fn(&Core),
}

fn worker(core: &Weak<Core>, duty: Duty, run: fn(&Weak<Core>)) -> Worker {
    let core = core.clone();
    Worker::new(duty, Arc::new(move || run(&core)))
}

/// Makes the clock of a store that is being opened.
fn clock_of(parts: &EngineParts, durability: Durability) -> Clock {
    let has_log = parts.durable.is_some();
    let waits = has_log && durability == Durability::Sync;
    let gate = if waits { parts.last } else { Timestamp::INFINITY };
    let clock = Clock::new(parts.last, parts.counts, gate);
    if has_log {
        // The records in the log must be in the order of timestamps.
        clock.order().forbid_outside();
    }
    clock
}

impl Engine {
    pub(crate) fn new(options: &Options, parts: EngineParts, threads: Threads) -> Arc<Engine> {
        // Under the model checkers only the checkers start threads.
        let settles = options.background_settling && !options.read_only && !cfg!(feature = "model-checking");
        let checkpoints = parts.durable.is_some() && !options.read_only && !cfg!(feature = "model-checking");
        // The whole log of an opened store counts as new.
        let covered = parts.durable.as_ref().map_or(0, Durable::first_lsn);
        let account = parts.subgraphs.memory().account();
        let coordination = Charge::new(account, Purpose::Coordination, 0);
        let arena = parts.subgraphs.memory().arena();
        let budget = Budget::new(options.memory_limit, arena, parts.durable.is_some());
        let cold = ColdReads::new(account, options.memory_limit, parts.directory.is_some());
        let core = Arc::new_cyclic(|core| Core {
            config: parts.config,
            isolation: options.isolation,
            durability: options.durability,
            clock: Arc::new(clock_of(&parts, options.durability)),
            readers: ReaderRegistry::default(),
            commits: Arc::default(),
            subgraphs: parts.subgraphs,
            labels: parts.labels,
            eviction: Eviction::new(parts.pages.clean(), parts.evicted),
            pages: parts.pages,
            cold,
            budget: budget.clone(),
            schema: SchemaCell::new(parts.schema),
            ids: parts.ids,
            pending: PendingVersions::default(),
            views: Views::default(),
            views_by_reads: options.views_by_reads,
            csrs: CsrCache::default(),
            settling: Settling::new(
                settles.then(|| worker(core, Duty::Settle, threads.settle)),
                options.after_settling,
            ),
            durable: parts.durable.map(Arc::new),
            ticket_syncer: worker(core, Duty::SyncForTickets, threads.sync_for_tickets),
            directory: parts.directory,
            lock: Mutex::new(parts.lock),
            commit_waits: AtomicU64::new(0),
            max_unsynced_bytes: options.max_unsynced_bytes,
            closed: Arc::default(),
            closing: Arc::default(),
            group_syncer: worker(core, Duty::SyncAtIntervals, threads.sync_at_intervals),
            read_only: options.read_only,
            memory_limit: options.memory_limit,
            most_operations: most_operations(options.memory_limit),
            coordination: Mutex::new(coordination),
            thresholds: options.thresholds,
            checkpointing: Mutex::new(()),
            log_bound: LogBound::new(
                options.checkpoint_log_bytes,
                covered,
                checkpoints.then(|| worker(core, Duty::Checkpoint, threads.checkpoint)),
            ),
            owner: OwnerProcess::current(),
            tells_freed: TellsFreed::default(),
        });
        #[cfg(feature = "planted-faults")]
        core.eviction.switch.writes_checkpoints_by({
            let core = Arc::downgrade(&core);
            move || core.upgrade().iter().for_each(|core| (threads.checkpoint_now)(core))
        });
        core.charge_coordination();
        Arc::new(Engine { core })
    }
}

impl Core {
    /// Returns the directions that are stored.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        directions_of(&self.config, LabelId::DEFAULT)
    }

    /// Returns the directions that are stored for a label.
    pub(crate) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        directions_of(&self.config, label)
    }

    /// Returns the workers whose threads were started.
    #[cfg(test)]
    pub(crate) fn workers(&self) -> Vec<&Worker> {
        let always = [&self.ticket_syncer, &self.group_syncer];
        let optional = self.settling.worker.iter().chain(&self.log_bound.worker);
        always.into_iter().chain(optional).filter(|worker| worker.has_thread()).collect()
    }

    pub(crate) fn horizon(&self) -> LiveHorizon<'_> {
        LiveHorizon::new(&self.clock, &self.readers)
    }

    /// Records the main parts that merges of a label replaced, for view caches and settling. The caller holds
    /// no latch: this takes locks, and may start a thread.
    #[inline]
    pub(crate) fn note_merged(&self, label: LabelId, merged: Merged) {
        if merged.main_parts > 0 {
            self.views.note_replaced(label, merged.bytes);
            self.settling.note_merge();
        }
    }

    /// Returns the rules for the places of the copies of edges.
    #[inline]
    pub(crate) fn placement(&self) -> Placement {
        Placement::of(&self.config)
    }

    /// Returns the number of subgraphs that may hold vertices.
    pub(crate) fn subgraph_bound(&self) -> u32 {
        self.ids.bound().div_ceil(64)
    }

    /// Waits until `ts` is published, and durable if the mode asks for it.
    #[inline]
    pub(crate) fn wait_published(&self, ts: Timestamp) -> Result<()> {
        let log = self.durable.as_deref().filter(|_| self.durability == Durability::Sync);
        self.commits
            .wait(&self.clock, ts, log)
            .map_err(|NotDurable| Error::Commit(CommitError::OutcomeUnknown))
    }

    /// Returns the end of the log; 0 if there is no log.
    pub(crate) fn log_end(&self) -> u64 {
        self.durable.as_ref().map_or(0, |durable| durable.log.end().0)
    }

    /// True if commits must wait for a sync before they append more. Called in the ordering section. If true,
    /// some commit is unpublished, so that a wait for publication can end.
    #[inline]
    pub(crate) fn backlog_is_full(&self) -> bool {
        let Some(durable) = &self.durable else { return false };
        self.durability == Durability::Sync
            && durable.log.end().0 > durable.log.durable().0.saturating_add(self.max_unsynced_bytes)
            && self.clock.published() < self.clock.drawn()
    }

    /// True if commits must wait for a checkpoint before they append more. Called in the ordering section.
    #[inline]
    pub(crate) fn log_is_full(&self) -> bool {
        self.durable.as_ref().is_some_and(|durable| self.log_bound.is_full(durable.log.end().0))
    }

    /// Asks for a checkpoint if the log is long. Called after an append.
    #[inline]
    pub(crate) fn bound_log(&self, durable: &Durable) {
        if self.log_bound.is_due(durable.log.end().0) {
            self.log_bound.ask();
        }
    }

    /// True if this process is a forked child of the process that opened the store. Costs one load.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Fails in a forked child: other threads of the parent do not exist there, so their work in progress
    /// never ends. Every call of every handle checks this before it takes a lock.
    #[inline]
    pub(crate) fn check_owner(&self) -> Result<()> {
        if self.is_forked() { Err(StateError::Forked.into()) } else { Ok(()) }
    }

    /// Like [`check_owner`](Self::check_owner), but also in a child that was forked without the C library.
    /// Costs a system call.
    pub(crate) fn check_owner_by_id(&self) -> Result<()> {
        if self.owner.is_current_by_id() { Ok(()) } else { Err(StateError::Forked.into()) }
    }

    /// Fails in a forked child, and on a closed store.
    pub(crate) fn check_usable(&self) -> Result<()> {
        self.check_owner()?;
        if self.closed.load(Ordering::Acquire) {
            return Err(StateError::Closed.into());
        }
        Ok(())
    }

    /// Fails for a closed, poisoned or read-only store.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_usable()?;
        if self.read_only {
            return Err(StateError::ReadOnly.into());
        }
        if self.commits.is_failed() {
            return Err(StateError::Poisoned.into());
        }
        Ok(())
    }

    /// Fails for a closed, read-only or poisoned store; called inside the ordering section.
    #[inline]
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StateError::Closed.into());
        }
        if self.read_only {
            return Err(StateError::ReadOnly.into());
        }
        if self.commits.is_failed() {
            return Err(StateError::Poisoned.into());
        }
        Ok(())
    }

    /// Returns the table of a label, if the label ever had an edge.
    #[inline]
    pub(crate) fn table(&self, label: LabelId) -> Option<&SubgraphTable> {
        if label == LabelId::DEFAULT { Some(&self.subgraphs) } else { self.labels.get(label) }
    }

    /// Returns a hold that suffices for all tables (rule P6).
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        self.labels.hold()
    }

    /// Returns a hold that suffices for the table of a label.
    #[inline]
    pub(crate) fn hold_of(&self, label: LabelId) -> Hold {
        if label == LabelId::DEFAULT { Hold::empty() } else { self.labels.hold() }
    }

    /// Returns the table of a label; makes it if the label never had an edge.
    pub(crate) fn table_or_create(&self, label: LabelId) -> &SubgraphTable {
        if label == LabelId::DEFAULT { &self.subgraphs } else { self.labels.get_or_create(label) }
    }

    /// Returns all tables, ascending by label: the default label, labels with edges, properties of vertices.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (LabelId, &SubgraphTable)> {
        std::iter::once((LabelId::DEFAULT, &self.subgraphs)).chain(self.labels.iter())
    }

    /// True if edges of a label carry the weight of a weighted graph.
    #[inline]
    pub(crate) fn is_weighted(&self, label: LabelId) -> bool {
        self.config.weighted && label == LabelId::DEFAULT
    }
}
