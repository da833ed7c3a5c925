//! What the classes share: the store and the reasons not to use it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow::{Graph, GraphConfig};
use pyo3::prelude::*;

use crate::ending::released;
use crate::error::{ClosedError, ForkedError};

/// An open store.
pub(crate) struct Handle {
    pub(crate) graph: Store,
    pub(crate) config: GraphConfig,
    /// The directory; `None` for a store without files.
    pub(crate) path: Option<String>,
    pub(crate) read_only: bool,
    closed: AtomicBool,
    process: u32,
}

impl Handle {
    pub(crate) fn new(graph: Graph, path: Option<String>, read_only: bool) -> Handle {
        let config = graph.config();
        let process = std::process::id();
        Handle { graph: Store(Some(graph)), config, path, read_only, closed: AtomicBool::new(false), process }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn set_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Whether this is a child of the process that opened the store.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// Refuses a closed store, and a store with files in a forked child.
    pub(crate) fn check_usable(&self) -> PyResult<()> {
        if self.is_closed() {
            return Err(ClosedError::new_err("the store is closed"));
        }
        self.check_process()
    }

    /// Refuses a store with files in a forked child.
    pub(crate) fn check_process(&self) -> PyResult<()> {
        if self.path.is_some() && self.is_forked() {
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
            std::mem::forget(Graph::clone(&self.graph));
        }
    }
}

/// A store that is dropped without the interpreter lock: the last reference closes it, which takes as long as the disk.
pub(crate) struct Store(Option<Graph>);

impl std::ops::Deref for Store {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        self.0.as_ref().expect("only its destructor empties a store")
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let graph = self.0.take();
        released(|| drop(graph));
    }
}

/// Locks `mutex`. What it guards is whole even if a thread panicked meanwhile.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
