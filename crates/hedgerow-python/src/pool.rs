//! Threads for parallel calls.
//!
//! Threads do not survive a fork. A child that called into a pool of its parent would wait for ever, so each process has
//! its own.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::OperationalError;
use crate::handle::lock;

/// The pool, and the process whose threads it has. Locked only by threads that hold the interpreter lock, as a forking
/// thread does: no child finds it locked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs `f` on this process's pool, without the interpreter lock.
pub(crate) fn parallel<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = own().map_err(|error| OperationalError::new_err(format!("cannot start threads: {error}")))?;
    Ok(py.detach(|| pool.install(f)))
}

fn own() -> Result<Arc<ThreadPool>, rayon::ThreadPoolBuildError> {
    let mut slot = lock(&POOL);
    match &*slot {
        Some((process, pool)) if *process == std::process::id() => Ok(pool.clone()),
        _ => {
            let name = |at| format!("hedgerow-{at}");
            let pool = Arc::new(ThreadPoolBuilder::new().thread_name(name).build()?);
            // Dropping the parent's pool would wait for its threads.
            std::mem::forget(slot.replace((std::process::id(), pool.clone())));
            Ok(pool)
        }
    }
}
