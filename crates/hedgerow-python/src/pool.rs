//! Parallel calls without the interpreter lock, and kernels that Ctrl-C can end.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hedgerow::{Graph, StateError};
use hedgerow_kernels::Cancel;
use hedgerow_par::Job;
use pyo3::prelude::*;

use crate::ending::calling;
use crate::error::ForkedError;
use crate::handle::{Origin, lock};
use crate::imports;

/// The interval at which the main thread checks for signals while a kernel runs.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs `f` without the interpreter lock on the pool of this process; a forked child has its own pool. If no
/// thread can be started, the calling thread runs `f`.
pub(crate) fn parallel<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> T {
    py.detach(|| hedgerow_par::run(f))
}

/// Runs `f` like [`parallel`]. The main thread, which alone gets signals, calls their handlers meanwhile. If
/// a handler raises, as on Ctrl-C, its exception is returned. If no thread has begun `f`, it is not run;
/// otherwise `end` is called, and the call waits until `f` returns.
pub(crate) fn attended<T: Send + 'static>(
    py: Python<'_>,
    origin: &Origin,
    end: impl Fn(),
    f: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !is_main_thread(py)? {
        return Ok(parallel(py, f));
    }
    attended_by(py, origin, end, |_| Ok(()), || hedgerow_par::start(f))
}

/// Waits for a job. Meanwhile the calling thread calls `meanwhile`, and checks for signals if it is the main
/// thread.
fn attended_by<T: Send + 'static>(
    py: Python<'_>,
    origin: &Origin,
    end: impl Fn(),
    meanwhile: impl Fn(Python<'_>) -> PyResult<()>,
    start: impl FnOnce() -> Job<T> + Send,
) -> PyResult<T> {
    let job = py.detach(start);
    while !py.detach(|| job.wait(LOOK_EVERY)) {
        let looked = look(py).and_then(|()| meanwhile(py));
        // A handler may have forked. In the child no thread works on the call, so there is nothing to wait
        // for.
        if origin.is_forked() {
            looked?;
            return Err(ForkedError::new_err("the process was forked while the call was under way"));
        }
        if let Err(error) = looked {
            end();
            py.detach(|| job.give_up());
            return Err(error);
        }
    }
    Ok(py.detach(|| job.join()))
}

/// The thread of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// A thread of the pool.
    Pool,
    /// A new thread: the call waits for threads of the pool.
    Own,
}

/// Runs a call that [can be ended](cancellable). Calls `told`, if there is one, from time to time with what
/// `progress` returns: the units done and all units. Calls it once more at the end unless the call fails.
pub(crate) fn telling<T: Send + 'static, E: Send + 'static>(
    py: Python<'_>,
    origin: &Origin,
    on: On,
    told: Option<&Bound<'_, PyAny>>,
    progress: impl Fn(&Cancel) -> (u64, u64),
    f: impl FnOnce(&Cancel) -> Result<T, E> + Send + 'static,
) -> PyResult<Result<T, E>> {
    let raised = Arc::<Mutex<Option<PyErr>>>::default();
    let cancel = Cancel::asking(looks(raised.clone()));
    let tell = |py: Python<'_>| {
        let Some(told) = told else { return Ok(()) };
        let _calling = calling(py);
        told.call1(progress(&cancel)).map(drop)
    };
    // There is no progress if the call has not begun, or counts nothing.
    let meanwhile = |py: Python<'_>| if progress(&cancel).1 == 0 { Ok(()) } else { tell(py) };
    let given = cancel.clone();
    let work = move || f(&given);
    let start = move || match on {
        On::Pool => hedgerow_par::start(work),
        On::Own => hedgerow_par::start_beside("hedgerow-load", work),
    };
    let outcome = attended_by(py, origin, || cancel.cancel(), meanwhile, start)?;
    let error = lock(&raised).take();
    error.map_or(Ok(()), Err)?;
    if outcome.is_ok() {
        tell(py)?;
    }
    Ok(outcome)
}

/// Returns the steps of a kernel, for [`telling`].
pub(crate) fn steps(cancel: &Cancel) -> (u64, u64) {
    let progress = cancel.progress();
    (progress.done, progress.total)
}

/// Closes a store. On the main thread it starts another thread for this, so that kernels in the pool do not
/// delay the close, and calls signal handlers meanwhile. A handler's exception ends the close's checkpoint,
/// and is returned with the result of the close.
pub(crate) fn close_attended(
    py: Python<'_>,
    origin: &Origin,
    graph: &Graph,
) -> (hedgerow::Result<()>, PyResult<()>) {
    let looked =
        is_main_thread(py).and_then(|main| if main { attend_close(py, origin, graph) } else { Ok(()) });
    if looked.is_err() {
        graph.internals().skip_checkpoint_at_close();
    }
    if origin.is_forked() {
        return (Err(StateError::Forked.into()), looked);
    }
    // If the other thread has closed the store, this second `close` returns the same result. If no thread
    // could be started, it closes the store.
    (py.detach(|| graph.close()), looked)
}

fn attend_close(py: Python<'_>, origin: &Origin, graph: &Graph) -> PyResult<()> {
    let (done, mut ended) = mpsc::sync_channel::<()>(1);
    let closing = graph.clone();
    let close = move || {
        let _ = closing.close();
        drop((closing, done));
    };
    if thread::Builder::new().name("hedgerow-close".into()).spawn(close).is_err() {
        return Ok(());
    }
    // Only one thread at a time may use a receiver, so the closure borrows it mutably.
    let mut wait = || {
        let ended: &mut mpsc::Receiver<()> = &mut ended;
        ended.recv_timeout(LOOK_EVERY)
    };
    while py.detach(&mut wait) == Err(mpsc::RecvTimeoutError::Timeout) {
        look(py)?;
        // A signal handler may have forked. The child does not have the thread that closes the store.
        if origin.is_forked() {
            return Err(ForkedError::new_err("the process was forked while the call was under way"));
        }
    }
    Ok(())
}

/// Runs a call that polls a flag, and [checks for signals](attended) meanwhile. If a handler raises, the flag
/// is set. If the pool has threads, the main thread checks while they work; otherwise `f` runs on the main
/// thread, and its polls check.
pub(crate) fn cancellable<T: Send + 'static>(
    py: Python<'_>,
    origin: &Origin,
    f: impl FnOnce(&Cancel) -> T + Send + 'static,
) -> PyResult<T> {
    let raised = Arc::<Mutex<Option<PyErr>>>::default();
    let cancel = Cancel::asking(looks(raised.clone()));
    let given = cancel.clone();
    let outcome = attended(py, origin, || cancel.cancel(), move || f(&given))?;
    let error = lock(&raised).take();
    error.map_or(Ok(outcome), Err)
}

/// True if the calling thread is the main thread, the only one that gets signals.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let _calling = calling(py);
    let threading = imports::THREADING.get(py)?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

/// Calls the handlers of pending signals.
fn look(py: Python<'_>) -> PyResult<()> {
    let _calling = calling(py);
    py.check_signals()
}

/// Returns the function that polls call. In a thread of the pool it does nothing. In the calling thread it
/// checks for signals from time to time, stores the exception of a handler, and returns true if there is one.
fn looks(raised: Arc<Mutex<Option<PyErr>>>) -> impl Fn() -> bool + Send + Sync + 'static {
    let main = thread::current().id();
    let next = Mutex::new(Instant::now() + LOOK_EVERY);
    move || {
        if thread::current().id() != main || Instant::now() < *lock(&next) {
            return false;
        }
        *lock(&next) = Instant::now() + LOOK_EVERY;
        let Some(Err(error)) = Python::try_attach(look) else { return false };
        *lock(&raised) = Some(error);
        true
    }
}
