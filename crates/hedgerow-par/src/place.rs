//! The place where parallel work runs: a pool, or the calling thread.

use std::cell::Cell;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, mpsc};
use std::time::Duration;

use hedgerow_core::fork;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The most jobs for each thread into which a loop is divided: enough to balance the work, but few enough
/// that making the jobs costs little.
const JOBS_OF_A_THREAD: usize = 128;

/// The place where a call runs.
pub(crate) enum Place {
    /// The current pool, or the global one if it works: rayon's functions can be called directly.
    Here,
    /// The pool that this process keeps.
    Own(Arc<ThreadPool>),
    /// The calling thread.
    Alone,
}

/// The pools that a process knows. If the entry belongs to another process, the parent before a fork, it is
/// not used.
struct Known {
    process: u64,
    /// The pool that the process keeps; `None` if rayon's global pool works.
    own: Option<Arc<ThreadPool>>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// The process in which rayon's global pool was found to work; 0 for none. A copy of this fact from [`KNOWN`]
/// that is read without a lock.
static GLOBAL_WORKS_IN: AtomicU64 = AtomicU64::new(0);

/// The process in which a call could not get the lock of [`KNOWN`], because the thread that had it does not
/// exist after a fork. 0 for none.
static LOCKED_FOR_EVER_IN: AtomicU64 = AtomicU64::new(0);

/// True after [`refuse_threads`] was called with true.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// The number of attempts of a call to get the lock while another call starts the pool. After a fork the lock
/// may never be released, so no call waits without end.
const LOCK_TRIES: u32 = 1_000;
const LOCK_PAUSE: Duration = Duration::from_micros(100);

/// The time in which the global pool must run an empty job, if it is not known which process started it.
const GLOBAL_ANSWERS: Duration = Duration::from_millis(200);

thread_local! {
    /// True while the calling thread is in a [`run`] that found no thread: calls within it do not try again.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of the process, never 0. Pools do not outlive a fork. [`find`] makes the process count
/// forks; before its first call no pool is known.
fn process() -> u64 {
    fork::generation() + 1
}

/// Makes this module behave as if no thread could be started, for tests. Work that already runs in a pool is
/// not affected.
#[doc(hidden)]
pub fn refuse_threads(refused: bool) {
    REFUSED.store(refused, Ordering::Relaxed);
}

impl Place {
    /// Returns the place, if sharing `count` elements among its threads pays.
    pub(crate) fn shared(self, count: usize) -> Option<Place> {
        (count > 1 && !matches!(self, Place::Alone)).then_some(self)
    }

    /// Calls `f` with each number below `count`. A job that another thread may take has one number, or
    /// several if there are very many.
    pub(crate) fn each(self, count: usize, f: &(dyn Fn(usize) + Sync)) {
        let together = count.div_ceil(JOBS_OF_A_THREAD * threads()).max(1);
        self.within(|| (0..count).into_par_iter().with_max_len(together).for_each(f));
    }

    /// Runs `f` where it can make a parallel call: in the pool of the process, or on this thread. Never marks
    /// the thread as alone.
    pub(crate) fn within<R: Send>(self, f: impl FnOnce() -> R + Send) -> R {
        called(f, |f| match self {
            Place::Own(pool) => pool.install(f),
            Place::Here | Place::Alone => f(),
        })
    }
}

/// Makes `caller` call `f` once, through a pointer, so that `f` is compiled once, even if `caller` has
/// several calls of it.
fn called<R: Send>(f: impl FnOnce() -> R + Send, caller: impl FnOnce(&mut (dyn FnMut() + Send))) -> R {
    let (mut f, mut result) = (Some(f), None);
    caller(&mut || result = f.take().map(|f| f()));
    result.unwrap_or_else(|| unreachable!("the function was called"))
}

/// Runs `f` on a thread of the pool that parallel calls use, so that each parallel call in `f` starts from a
/// worker. Passing a job in from outside costs a lock and two wake-ups. Without a pool, runs `f` on the
/// calling thread. Blocks until `f` returns.
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

/// Makes a thread of the pool call `f` later; without a pool, calls it before this returns.
pub fn spawn(f: impl FnOnce() + Send + 'static) {
    match place() {
        Place::Here => rayon::spawn(f),
        Place::Own(pool) => pool.spawn(f),
        Place::Alone => f(),
    }
}

/// Returns the number of threads that a parallel call from here would use.
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

/// Returns the place where a call of this thread runs. Takes a few nanoseconds; the first call of a process
/// starts the threads.
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

/// Locks [`KNOWN`]; `None` if that takes too long.
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
    // This pool is started before rayon's global one. A failure to start the global one would be final, also
    // for other users of rayon.
    let name = |at| format!("hedgerow-{at}");
    let Ok(own) = ThreadPoolBuilder::new().thread_name(name).build() else { return Place::Alone };
    let own = if global_works(known.is_some()) { None } else { Some(Arc::new(own)) };
    if own.is_none() {
        GLOBAL_WORKS_IN.store(process, Ordering::Release);
    }
    // Dropping the parent's pool would wake threads that do not exist.
    std::mem::forget(known.replace(Known { process, own: own.clone() }));
    own.map_or(Place::Here, Place::Own)
}

/// Starts rayon's global pool, or checks that one started earlier still answers: after a fork it has no
/// threads. Does not check in a child of a process that `used` pools.
fn global_works(used: bool) -> bool {
    if used {
        return false;
    }
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // The global pool could not be started.
        Err(error) if error.source().is_some() => false,
        Err(_) => {
            let (answer, answered) = mpsc::channel();
            // If an earlier start of the pool failed, rayon panics here.
            let ask = || rayon::spawn(move || _ = answer.send(()));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).is_ok()
                && answered.recv_timeout(GLOBAL_ANSWERS).is_ok()
        }
    }
}
