//! The store: the state that all handles of it share.

use std::sync::{Arc, Weak};

use hedgerow_catalog::error::{CommitError, Error, Result, StateError};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::{AtomicBool, Mutex, Ordering};
use hedgerow_core::{GraphConfig, LabelId, Timestamp, VertexKeyRef};
use hedgerow_io::{Vfs, VfsLock};
use hedgerow_mem::{Merged, SubgraphTable};
use hedgerow_pager::Inboxes;
use hedgerow_pager::budget::{Budget, For, Need};
use hedgerow_pager::eviction::Eviction;
use hedgerow_pager::ids::IdMap;
use hedgerow_pager::order::Order;
use hedgerow_pager::order::pending::PendingVersions;
use hedgerow_pager::pager::cold_reads::ColdReads;
use hedgerow_pager::pager::keys::Keys;
use hedgerow_pager::pager::pages::Pages;
use hedgerow_pager::pager::room::TakesCommits;
use hedgerow_pager::pager::{MeetsDemands, Pager};
use hedgerow_pager::tables::LabelTables;
use hedgerow_txn::{Clock, Counts, NotDurable};

use crate::config::Durability;
use crate::files::log::Durable;
use crate::options::Options;
use crate::state::catalog::Catalog;
use crate::state::closing::{Closing, TellsFreed};
use crate::state::log_bound::LogBound;
use crate::state::settling::Settling;
use crate::state::view_cache::Views;
use crate::state::work::Work;
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

/// The state behind a handle, in parts.
pub(crate) struct Core {
    pub(crate) catalog: Catalog,
    pub(crate) keys: Keys,
    pub(crate) pager: Pager,
    pub(crate) order: Arc<Order>,
    pub(crate) work: Work,
    /// The caches of views and of their copies.
    pub(crate) views: Arc<Views>,
    /// The files, if the store has any.
    pub(crate) durable: Option<Arc<Durable>>,
    /// The directory that the store was opened in, if it has one.
    pub(crate) directory: Option<Arc<dyn Vfs>>,
    /// The lock of the directory, while the store is open.
    pub(crate) lock: Mutex<Option<Box<dyn VfsLock>>>,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) closing: Arc<Closing>,
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
    /// Operations of the log on chains that are not in memory.
    pub(crate) inboxes: Inboxes,
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

/// Makes the threads of a store, which start later, and their state.
fn work_of(core: &Weak<Core>, options: &Options, parts: &EngineParts, threads: Threads) -> Work {
    // Under the model checkers only the checkers start threads.
    let may_work = !options.read_only && !cfg!(feature = "model-checking");
    let checkpoints = parts.durable.is_some() && may_work;
    let settles = options.background_settling && may_work;
    // The whole log of an opened store counts as new.
    let covered = parts.durable.as_ref().map_or(0, Durable::first_lsn);
    let account = parts.subgraphs.memory().account();
    Work {
        settling: Settling::new(
            settles.then(|| worker(core, Duty::Settle, threads.settle)),
            options.after_settling,
        ),
        checkpointing: Mutex::new(()),
        log_bound: Arc::new(LogBound::new(
            options.checkpoint_log_bytes,
            covered,
            checkpoints.then(|| worker(core, Duty::Checkpoint, threads.checkpoint)),
        )),
        thresholds: options.thresholds,
        coordination: Mutex::new(Charge::new(account, Purpose::Coordination, 0)),
        ticket_syncer: worker(core, Duty::SyncForTickets, threads.sync_for_tickets),
        group_syncer: worker(core, Duty::SyncAtIntervals, threads.sync_at_intervals),
    }
}

impl Engine {
    pub(crate) fn new(options: &Options, parts: EngineParts, threads: Threads) -> Arc<Engine> {
        let has_files = parts.durable.is_some();
        let memory = parts.subgraphs.memory();
        let budget = Budget::new(options.memory_limit, memory.arena(), has_files);
        let cold = ColdReads::new(memory.account(), options.memory_limit, parts.directory.is_some());
        let order = Order::new(clock_of(&parts, options.durability), options.max_unsynced_bytes);
        let owner = OwnerProcess::current();
        let core = Arc::new_cyclic(|core| {
            let work = work_of(core, options, &parts, threads);
            let views = Arc::<Views>::default();
            let catalog = Catalog::new(options, parts.config, parts.schema);
            let pager = Pager {
                config: parts.config,
                schema: catalog.schema.clone(),
                bound: parts.ids.bound.clone(),
                order: order.clone(),
                helper: work.log_bound.clone(),
                views: views.clone(),
                owner,
                subgraphs: parts.subgraphs,
                labels: parts.labels,
                eviction: Eviction::new(parts.pages.opened_at(), parts.evicted),
                inboxes: parts.inboxes,
                pages: parts.pages,
                cold,
                budget,
                has_files,
                memory_limit: options.memory_limit,
                pending: PendingVersions::default(),
            };
            Core {
                catalog,
                keys: Keys { ids: parts.ids, kept: options.thresholds.keys_kept },
                pager,
                order,
                work,
                views,
                durable: parts.durable.map(Arc::new),
                directory: parts.directory,
                lock: Mutex::new(parts.lock),
                closed: Arc::default(),
                closing: Arc::default(),
                tells_freed: TellsFreed::default(),
            }
        });
        #[cfg(feature = "planted-faults")]
        core.pager.eviction.switch.writes_checkpoints_by({
            let core = Arc::downgrade(&core);
            move || core.upgrade().iter().for_each(|core| (threads.checkpoint_now)(core))
        });
        core.charge_coordination();
        Arc::new(Engine { core })
    }
}

impl Core {
    /// Records the main parts that merges of a label replaced, for view caches and settling. The caller holds
    /// no latch: this takes locks, and may start a thread.
    #[inline]
    pub(crate) fn note_merged(&self, label: LabelId, merged: Merged) {
        if merged.main_parts > 0 {
            self.views.note_replaced(label, merged.bytes);
            self.work.settling.note_merge();
        }
    }

    /// Waits until `ts` is published, and durable if the mode asks for it.
    #[inline]
    pub(crate) fn wait_published(&self, ts: Timestamp) -> Result<()> {
        let log = self.durable.as_deref().filter(|_| self.catalog.durability == Durability::Sync);
        self.order
            .commits
            .wait(&self.order.clock, ts, log)
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
        self.catalog.durability == Durability::Sync
            && durable.log.end().0 > durable.log.durable().0.saturating_add(self.order.max_unsynced_bytes)
            && self.order.clock.published() < self.order.clock.drawn()
    }

    /// True if commits must wait for a checkpoint before they append more. Called in the ordering section.
    #[inline]
    pub(crate) fn log_is_full(&self) -> bool {
        self.durable.as_ref().is_some_and(|durable| self.work.log_bound.is_full(durable.log.end().0))
    }

    /// Asks for a checkpoint if the log is long. Called after an append.
    #[inline]
    pub(crate) fn bound_log(&self, durable: &Durable) {
        if self.work.log_bound.is_due(durable.log.end().0) {
            self.work.log_bound.ask();
        }
    }

    /// True if this process is a forked child of the process that opened the store. Costs one load.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.pager.owner.is_current()
    }

    /// Fails in a forked child: other threads of the parent do not exist there, so their work in progress
    /// never ends. Every call of every handle checks this before it takes a lock.
    #[inline]
    pub(crate) fn check_owner(&self) -> Result<()> {
        if self.is_forked() { Err(StateError::Forked.into()) } else { Ok(()) }
    }

    /// Checks that the graph has weights, and that `weight` is a number; fails in a forked child.
    pub(crate) fn check_weight(&self, weight: f64) -> Result<()> {
        self.check_owner()?;
        self.catalog.check_weight(weight)
    }

    /// Checks that `key` is of the graph's type and in range; fails in a forked child.
    #[inline]
    pub(crate) fn check_key(&self, key: VertexKeyRef<'_>) -> Result<()> {
        self.check_owner()?;
        self.catalog.check_key(key)
    }

    /// Like [`check_owner`](Self::check_owner), but also in a child that was forked without the C library.
    /// Costs a system call.
    pub(crate) fn check_owner_by_id(&self) -> Result<()> {
        if self.pager.owner.is_current_by_id() { Ok(()) } else { Err(StateError::Forked.into()) }
    }

    /// Fails in a forked child, and on a closed store.
    pub(crate) fn check_usable(&self) -> Result<()> {
        self.check_owner()?;
        if self.closed.load(Ordering::Acquire) {
            return Err(StateError::Closed.into());
        }
        Ok(())
    }

    /// Ensures that the memory limit has room for a commit of `operations` operations. O(1); if room is
    /// short, first evicts data, and waits for a checkpoint. The caller must hold nothing (rule B2).
    ///
    /// # Errors
    /// Those of [`Pager::check_room`].
    #[inline]
    pub(crate) fn check_room(&self, operations: usize) -> Result<()> {
        self.pager.check_room(operations, self)
    }

    /// Makes room for merges of a commit that got no [memory](Pager::take_for_merges). The commit holds
    /// nothing any more.
    ///
    /// # Errors
    /// Those of [`check_room`](Self::check_room).
    #[cold]
    pub(crate) fn find_room_to_merge(&self, needed: u64) -> Result<()> {
        let need = Need::new(For::Commit, needed).with_block(needed);
        self.pager.make_room_for_commit(&need, self)
    }

    /// Fails for a closed, poisoned or read-only store.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_usable()?;
        if self.catalog.read_only {
            return Err(StateError::ReadOnly.into());
        }
        if self.order.commits.is_failed() {
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
        if self.catalog.read_only {
            return Err(StateError::ReadOnly.into());
        }
        if self.order.commits.is_failed() {
            return Err(StateError::Poisoned.into());
        }
        Ok(())
    }

    /// Updates the charge of the structures that order commits, snapshots and checkpoints: at opening, and
    /// for statistics. O(timestamps that versions wait for).
    pub(crate) fn charge_coordination(&self) {
        let runs = self.durable.as_ref().map_or(0, |durable| durable.runs.lock().bytes());
        let keys = self.pager.pages.sources().key_index_bytes();
        let bytes =
            self.order.clock.bytes() + self.order.readers.bytes() + self.pager.pending.bytes() + runs + keys;
        self.work.coordination.lock().set(bytes);
    }
}

impl TakesCommits for Core {
    fn check_writable(&self) -> Result<()> {
        Core::check_writable(self)
    }

    fn log_end(&self) -> u64 {
        Core::log_end(self)
    }
}
