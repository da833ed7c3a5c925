//! Parallel calls without the interpreter lock.

use pyo3::prelude::*;

/// Runs `f` where parallel calls run, without the interpreter lock: on a pool of this process, also in a forked child, and
/// on the calling thread where no thread can be started.
pub(crate) fn parallel<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> T {
    py.detach(|| hedgerow_par::run(f))
}
