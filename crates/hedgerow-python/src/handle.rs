//! What the classes share: the store and the reasons not to use it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow::{Graph, GraphConfig};
use hedgerow_core::fork::OwnerProcess;
use pyo3::prelude::*;

use crate::error::{ClosedError, ForkedError};

/// An open store.
pub(crate) struct Handle {
    pub(crate) graph: Graph,
    pub(crate) config: GraphConfig,
    /// The directory; `None` for a store without files.
    pub(crate) path: Option<String>,
    pub(crate) read_only: bool,
    closed: AtomicBool,
    owner: OwnerProcess,
}

impl Handle {
    pub(crate) fn new(graph: Graph, path: Option<String>, read_only: bool) -> Handle {
        let config = graph.config();
        let owner = OwnerProcess::current();
        Handle { graph, config, path, read_only, closed: AtomicBool::new(false), owner }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn set_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Whether this is a child of the process that opened the store. One load.
    pub(crate) fn is_forked(&self) -> bool {
        !self.owner.is_current()
    }

    /// Refuses a forked child, and a closed store. Every method asks this, or [`check_process`](Self::check_process), before
    /// it takes a lock: one that a thread of the parent held at the fork is never released in the child.
    pub(crate) fn check_usable(&self) -> PyResult<()> {
        self.check_process()?;
        if self.is_closed() {
            return Err(ClosedError::new_err("the store is closed"));
        }
        Ok(())
    }

    /// Refuses a forked child.
    pub(crate) fn check_process(&self) -> PyResult<()> {
        if self.is_forked() {
            return Err(ForkedError::new_err("the store was opened before this process was forked"));
        }
        Ok(())
    }
}

impl Drop for Handle {
    /// A child leaves everything alone: another thread of the parent may have held any latch at the fork, and a child
    /// that waited for it would wait for ever. One more reference keeps the engine from being dropped.
    fn drop(&mut self) {
        if self.is_forked() {
            std::mem::forget(self.graph.clone());
        }
    }
}

/// What `mutex` holds, without locking it: its owner alone reaches it, in its drop.
pub(crate) fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Locks `mutex`. What it guards is whole even if a thread panicked meanwhile.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
