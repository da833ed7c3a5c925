//! Where parallel work runs: which pool, or the calling thread.

use std::cell::Cell;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, mpsc};
use std::time::Duration;

use hedgerow_core::fork;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most jobs into which a loop is cut for each thread: enough for a balance, while making them costs nothing beside the work.
const JOBS_OF_A_THREAD: usize = 128;

/// Where a call runs.
pub(crate) enum Place {
    /// Rayon's calls may be made as they stand: a pool is current, or the global one works.
    Here,
    /// The pool that this process keeps.
    Own(Arc<ThreadPool>),
    /// The calling thread.
    Alone,
}

/// What a process knows of pools. Of another process, that of the parent before a fork, nothing is used.
struct Known {
    process: u64,
    /// `None`: rayon's global pool works.
    own: Option<Arc<ThreadPool>>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// The process in which rayon's global pool was found to work; 0 for none. What [`KNOWN`] says, to be read without a lock.
static GLOBAL_WORKS_IN: AtomicU64 = AtomicU64::new(0);

/// The process in which a call waited for the lock of [`KNOWN`] in vain: its holder was left behind in a fork. 0 for none.
static LOCKED_FOR_EVER_IN: AtomicU64 = AtomicU64::new(0);

/// Set by [`refuse_threads`].
static REFUSED: AtomicBool = AtomicBool::new(false);

/// How long a call waits for another one that starts the pool. The thread that held the lock may have been left behind in a
/// fork, so no call waits for ever.
const LOCK_TRIES: u32 = 1_000;
const LOCK_PAUSE: Duration = Duration::from_micros(100);

/// How long the global pool may take to run an empty job, when it is not known which process started it.
const GLOBAL_ANSWERS: Duration = Duration::from_millis(200);

thread_local! {
    /// Whether the calling thread is in a [`run`] for which no thread could be had: calls within it do not try again.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// The process, never 0. Pools do not outlive a fork. Forks are counted once [`find`] asked for that, before which no pool is
/// known.
fn process() -> u64 {
    fork::generation() + 1
}

/// As if no thread could be started from now on, for tests; what runs in a pool already stays there.
#[doc(hidden)]
pub fn refuse_threads(refused: bool) {
    REFUSED.store(refused, Ordering::Relaxed);
}

impl Place {
    /// The place, if `count` elements are worth sharing out there.
    pub(crate) fn shared(self, count: usize) -> Option<Place> {
        (count > 1 && !matches!(self, Place::Alone)).then_some(self)
    }

    /// Calls `f` with each number below `count`. A job that another thread may take has one number, or more where there are very many.
    pub(crate) fn each(self, count: usize, f: &(dyn Fn(usize) + Sync)) {
        let together = count.div_ceil(JOBS_OF_A_THREAD * threads()).max(1);
        self.within(|| (0..count).into_par_iter().with_max_len(together).for_each(f));
    }

    /// Runs `f` where a parallel call may be made: in the pool of the process, or on this thread. Never alone.
    pub(crate) fn within<R: Send>(self, f: impl FnOnce() -> R + Send) -> R {
        called(f, |f| match self {
            Place::Own(pool) => pool.install(f),
            Place::Here | Place::Alone => f(),
        })
    }
}

/// Has `caller` call `f` once, through a pointer: so `f` is compiled once, in however many places `caller` calls it.
fn called<R: Send>(f: impl FnOnce() -> R + Send, caller: impl FnOnce(&mut (dyn FnMut() + Send))) -> R {
    let (mut f, mut result) = (Some(f), None);
    caller(&mut || result = f.take().map(|f| f()));
    result.unwrap_or_else(|| unreachable!("the function was called"))
}

/// Runs `f` on a thread of the pool that parallel calls use, so that each of them starts from a worker: passing a job in from
/// outside costs a lock and two wake-ups. On the calling thread where there is no pool. Blocks until `f` returns.
pub fn run<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    called(f, run_here)
}

fn run_here(f: &mut (dyn FnMut() + Send)) {
    match place() {
        Place::Here => rayon::scope(|_| f()),
        Place::Own(pool) => pool.install(f),
        Place::Alone => {
            let _until_the_end = StayAlone(ALONE.replace(true));
            f();
        }
    }
}

/// Has a thread of the pool call `f` some time; without a pool, calls it before this returns.
pub fn spawn(f: impl FnOnce() + Send + 'static) {
    match place() {
        Place::Here => rayon::spawn(f),
        Place::Own(pool) => pool.spawn(f),
        Place::Alone => f(),
    }
}

/// How many threads a parallel call made here would use.
pub fn threads() -> usize {
    match place() {
        Place::Here => rayon::current_num_threads(),
        Place::Own(pool) => pool.current_num_threads(),
        Place::Alone => 1,
    }
}

struct StayAlone(bool);

impl Drop for StayAlone {
    fn drop(&mut self) {
        ALONE.set(self.0);
    }
}

/// Where a call made by this thread runs. A few nanoseconds; the first call of a process starts the threads.
pub(crate) fn place() -> Place {
    if rayon::current_thread_index().is_some() {
        return Place::Here;
    }
    if ALONE.get() || REFUSED.load(Ordering::Relaxed) {
        return Place::Alone;
    }
    if GLOBAL_WORKS_IN.load(Ordering::Acquire) == process() {
        return Place::Here;
    }
    if LOCKED_FOR_EVER_IN.load(Ordering::Relaxed) == process() {
        return Place::Alone;
    }
    let Some(mut known) = lock() else {
        LOCKED_FOR_EVER_IN.store(process(), Ordering::Relaxed);
        return Place::Alone;
    };
    find(&mut known)
}

/// Locks what is known; `None` if that takes too long.
fn lock() -> Option<MutexGuard<'static, Option<Known>>> {
    for _ in 0..LOCK_TRIES {
        match KNOWN.try_lock() {
            Ok(known) => return Some(known),
            Err(TryLockError::Poisoned(known)) => return Some(known.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
    None
}

fn find(known: &mut Option<Known>) -> Place {
    fork::count_forks();
    let process = process();
    match known {
        Some(here) if here.process == process => return here.own.clone().map_or(Place::Here, Place::Own),
        _ => {}
    }
    // Started before the global pool is: a failure to start that one would be final, also for other users of rayon.
    let name = |at| format!("hedgerow-{at}");
    let Ok(own) = ThreadPoolBuilder::new().thread_name(name).build() else { return Place::Alone };
    let own = if global_works(known.is_some()) { None } else { Some(Arc::new(own)) };
    if own.is_none() {
        GLOBAL_WORKS_IN.store(process, Ordering::Release);
    }
    // Dropping the pool of the parent would wake threads that do not exist.
    std::mem::forget(known.replace(Known { process, own: own.clone() }));
    own.map_or(Place::Here, Place::Own)
}

/// Starts rayon's global pool, or asks the one that was started before for an answer: after a fork it has no threads. In a
/// child of a process that `used` pools it is not even asked.
fn global_works(used: bool) -> bool {
    if used {
        return false;
    }
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // It could not be started.
        Err(error) if error.source().is_some() => false,
        Err(_) => {
            let (answer, answered) = mpsc::channel();
            // Should an earlier start of it have failed, rayon panics here.
            let ask = || rayon::spawn(move || _ = answer.send(()));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).is_ok()
                && answered.recv_timeout(GLOBAL_ANSWERS).is_ok()
        }
    }
}
