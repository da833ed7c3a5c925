//! The end of the interpreter.
//!
//! Before Python 3.14 a finalizing interpreter ends a daemon thread when the thread requests the interpreter
//! lock: `pthread_exit` unwinds the thread's stack. If the stack contains a Rust frame that called Python
//! code, it cannot be unwound in this way, and the process aborts. (A thread that returns from
//! `Python::detach` is safe: PyO3 makes it hang.)
//!
//! So each call of this crate into Python code holds a [`Calling`]. While other threads can still run,
//! `atexit` runs [`end`], which sets a flag and waits until no other thread holds a [`Calling`]. A thread
//! that needs one later parks permanently, without the interpreter lock, as in Python 3.14.
//!
//! The order is Dekker's: a thread counts itself, then reads the flag; `end` sets the flag, then reads the
//! count. At least one of the two sees the other.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::prelude::*;

/// The milliseconds that [`end`] waits for threads in Python code that this crate called. User code, such as
/// an iterator given as a column, may never return.
const PATIENCE_MS: usize = 10_000;

/// The number of threads that hold a [`Calling`].
static THREADS: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
/// The thread that ends the interpreter. It is not parked, since later hooks and destructors may use the
/// store.
static ENDER: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// The number of [`Calling`]s that this thread holds.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A guard held during a call of Python code by this crate.
pub(crate) struct Calling {
    /// This makes the guard stay in its thread, which counts it.
    _thread: PhantomData<*const ()>,
}

/// Announces a call of Python code. After the end of the interpreter this function does not return, except in
/// the thread that ends it.
pub(crate) fn calling(py: Python<'_>) -> Calling {
    if DEPTH.replace(DEPTH.get() + 1) == 0 {
        THREADS.fetch_add(1, Ordering::SeqCst);
    }
    if ENDING.load(Ordering::SeqCst) && ENDER.get() != Some(&thread::current().id()) {
        THREADS.fetch_sub(1, Ordering::SeqCst);
        py.detach(|| {
            loop {
                thread::park();
            }
        });
    }
    Calling { _thread: PhantomData }
}

impl Drop for Calling {
    fn drop(&mut self) {
        if DEPTH.replace(DEPTH.get() - 1) == 1 {
            THREADS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// True once the interpreter ends. From then on the value of an exception must not be asked for: PyO3 would
/// attach to the interpreter to make the value, and panic.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// Waits until other threads have left the Python code that this crate called. Prevents new such calls.
#[pyfunction]
fn end(py: Python<'_>) {
    let _ = ENDER.set(thread::current().id());
    ENDING.store(true, Ordering::SeqCst);
    for _ in 0..PATIENCE_MS {
        if THREADS.load(Ordering::SeqCst) <= own() {
            break;
        }
        py.detach(|| thread::sleep(Duration::from_millis(1)));
    }
}

/// Removes the threads of the parent from the count, because a forked child does not have them.
#[pyfunction]
fn forked() {
    THREADS.store(own(), Ordering::SeqCst);
    ENDING.store(false, Ordering::SeqCst);
}

/// Returns the share of this thread in [`THREADS`].
fn own() -> usize {
    usize::from(DEPTH.get() > 0)
}

/// Registers [`end`] and [`forked`] with the interpreter.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(end, module)?,))?;
    let hooks = pyo3::types::PyDict::new(py);
    hooks.set_item("after_in_child", wrap_pyfunction!(forked, module)?)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&hooks))?;
    Ok(())
}

/// Runs `f`, which may wait for the store, without the interpreter lock. Destructors use it, as they get no
/// token. A thread that is not attached to the interpreter, or cannot be, runs `f` directly.
pub(crate) fn released<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    let mut f = Some(f);
    let outcome = Python::try_attach(|py| f.take().map(|f| py.detach(f)));
    match (outcome.flatten(), f) {
        (Some(done), _) => done,
        (None, Some(f)) => f(),
        (None, None) => unreachable!("f was called or is left"),
    }
}
