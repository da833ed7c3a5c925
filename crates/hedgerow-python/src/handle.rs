//! The state that the classes share: the store, and the checks that it may be used.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hedgerow::{Graph, GraphConfig, Schema};
use hedgerow_core::fork::OwnerProcess;
use pyo3::prelude::*;

use crate::ending::released;
use crate::error::{ClosedError, ForkedError, raise};
use crate::names::Kinds;

/// The size of a store above which closing it returns the free heap memory of the process to the system.
const LARGE_BYTES: u64 = 4 << 20;

/// The time that closing waits for a busy worker of the store, so that the worker's memory is returned with
/// the other memory.
const PATIENCE: Duration = Duration::from_millis(200);

/// The number of stores that this process has opened.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// The configuration of a store, and the process that opened it. Some objects need no more, and so do not
/// keep the store alive.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) config: GraphConfig,
    /// The number of the store, unique in this process.
    pub(crate) number: u64,
    owner: OwnerProcess,
}

impl Origin {
    /// True if this process is a forked child of the process that opened the store. Costs one load.
    pub(crate) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Returns an error in a forked child.
    pub(crate) fn check_process(&self) -> PyResult<()> {
        if self.is_forked() {
            return Err(ForkedError::new_err("the store was opened before this process was forked"));
        }
        Ok(())
    }
}

impl Kinds for Handle {
    fn kind_schema(&self) -> PyResult<Arc<Schema>> {
        Ok(self.graph()?.schema())
    }
}

/// A function that closes a graph. It returns the result, and the exception of a signal handler that ran
/// meanwhile.
type CloseGraph = fn(Python<'_>, &Origin, &Graph) -> (hedgerow::Result<()>, PyResult<()>);

/// An open store.
pub(crate) struct Handle {
    graph: Mutex<Store>,
    pub(crate) origin: Origin,
    /// The directory as the program named it; `None` for a store without files.
    pub(crate) path: Option<PathBuf>,
    /// The same directory, whatever the process's directory is by now.
    pub(crate) absolute: Option<PathBuf>,
    pub(crate) read_only: bool,
    closed: AtomicBool,
}

impl std::ops::Deref for Handle {
    type Target = Origin;

    fn deref(&self) -> &Origin {
        &self.origin
    }
}

impl Handle {
    pub(crate) fn new(graph: Graph, path: Option<PathBuf>, read_only: bool) -> Handle {
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let origin = Origin { config: graph.config(), number, owner: OwnerProcess::current() };
        let graph = Mutex::new(Store::Open(graph));
        let absolute = path.as_deref().and_then(|path| std::path::absolute(path).ok());
        Handle { graph, origin, path, absolute, read_only, closed: AtomicBool::new(false) }
    }

    /// Returns the store for one call, or an error if it may not be used.
    pub(crate) fn graph(&self) -> PyResult<Graph> {
        self.check_usable()?;
        match &*lock(&self.graph) {
            Store::Open(graph) => Ok(graph.clone()),
            Store::Closed(_) => Err(ClosedError::new_err("the store is closed")),
        }
    }

    /// Returns the result of `of_open` for an open store. For a closed one, returns the result of
    /// `of_closed`, which gets the facts that are still known.
    pub(crate) fn known<T>(
        &self,
        of_open: impl FnOnce(&Graph) -> T,
        of_closed: impl FnOnce(&Closed) -> T,
    ) -> PyResult<T> {
        self.check_process()?;
        Ok(match &*lock(&self.graph) {
            Store::Open(graph) => of_open(graph),
            Store::Closed(closed) => of_closed(closed),
        })
    }

    /// Closes and drops the store. Its memory returns to the system now, even if Python objects refer to this
    /// handle. Open snapshots, transactions, tickets and pipelines delay the return.
    pub(crate) fn close(&self, py: Python<'_>, close: CloseGraph) -> PyResult<()> {
        self.check_process()?;
        self.set_closed();
        let graph = match &*lock(&self.graph) {
            Store::Open(graph) => graph.clone(),
            Store::Closed(closed) if closed.failed => {
                return Err(raise(hedgerow::Error::State(hedgerow::StateError::Poisoned)));
            }
            Store::Closed(_) => return Ok(()),
        };
        let bytes = py.detach(|| graph.stats().map_or(0, |stats| stats.memory_bytes()));
        let (closed, looked) = close(py, &self.origin, &graph);
        if self.is_forked() {
            return looked;
        }
        py.detach(|| {
            let figures = Closed {
                published_ts: graph.published_ts().0,
                durable_ts: graph.durable_ts().0,
                checkpoint_error: graph.checkpoint_error(),
                failed: closed.is_err(),
            };
            let left = std::mem::replace(&mut *lock(&self.graph), Store::Closed(figures));
            let freed = graph.internals().freed();
            drop((left, graph));
            // Only for large stores, trimming the heap of the whole process is worth its cost.
            if bytes > LARGE_BYTES {
                freed.wait(PATIENCE);
                crate::heap::give_back();
            }
        });
        looked.and_then(|()| closed.map_err(raise))
    }

    /// Prevents [`close`](Self::close) from writing a checkpoint.
    pub(crate) fn skip_checkpoint_at_close(&self) -> PyResult<()> {
        self.graph().map(|graph| graph.internals().skip_checkpoint_at_close())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn set_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Refuses a forked child, and a closed store. Every method calls this or [`Origin::check_process`]
    /// before it takes a lock. In the child, a lock that another thread of the parent held at the fork is
    /// never released.
    pub(crate) fn check_usable(&self) -> PyResult<()> {
        self.check_process()?;
        if self.is_closed() {
            return Err(ClosedError::new_err("the store is closed"));
        }
        Ok(())
    }
}

/// The store, or the facts that remain after its close.
enum Store {
    Open(Graph),
    Closed(Closed),
}

/// The facts that remain known about a closed store.
#[derive(Default)]
pub(crate) struct Closed {
    pub(crate) published_ts: u64,
    pub(crate) durable_ts: u64,
    pub(crate) checkpoint_error: Option<String>,
    /// True if the close reported that the log had failed.
    failed: bool,
}

impl Drop for Handle {
    /// Does nothing in a forked child. At the fork another thread of the parent may have held any latch, and
    /// the child would wait for it without end. An additional reference prevents the drop of the engine.
    fn drop(&mut self) {
        let store = std::mem::replace(own(&mut self.graph), Store::Closed(Closed::default()));
        if self.is_forked() {
            std::mem::forget(store);
        } else {
            // Dropping the last reference closes the store, which may wait for the disk.
            released(|| drop(store));
        }
    }
}

/// Returns the content of `mutex` without locking it. This is only for an owner's drop, where no other thread
/// has access.
pub(crate) fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex`. Its content is consistent even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
