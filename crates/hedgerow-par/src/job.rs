//! Work of a thread of the pool for another thread, which now and then does something else while it waits.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::place::{Place, place, run};

/// Work that was started. If this is dropped, the work continues without it.
#[must_use = "the work goes on alone"]
pub struct Job<R> {
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    state: Mutex<State<R>>,
    ended: Condvar,
}

type Work<R> = Box<dyn FnOnce() -> R + Send>;

enum State<R> {
    /// No thread has begun the work.
    Waiting(Work<R>),
    Running,
    Done(std::thread::Result<R>),
    /// The result was taken, or the work was given up before it began.
    Gone,
}

/// Makes a thread of the pool call `f`, and returns without waiting. If no thread can be started, or if the
/// calling thread itself belongs to a pool, calls `f` before it returns.
///
/// The values that `f` owns are dropped before the job is [done](Job::wait). If `f` panics, [`Job::join`]
/// panics.
pub fn start<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> Job<R> {
    start_in(place(), f)
}

/// Makes a new thread with this name call `f`, which may wait for threads of the pool. If no thread can be
/// started, calls `f` before it returns. Otherwise like [`start`].
pub fn start_beside<R: Send + 'static>(name: &str, f: impl FnOnce() -> R + Send + 'static) -> Job<R> {
    let job = Job::of(f);
    let (shared, again) = (job.shared.clone(), job.shared.clone());
    let thread = std::thread::Builder::new().name(name.to_owned());
    if matches!(place(), Place::Alone) || thread.spawn(move || shared.work()).is_err() {
        again.work();
    }
    job
}

pub(crate) fn start_in<R: Send + 'static>(place: Place, f: impl FnOnce() -> R + Send + 'static) -> Job<R> {
    let job = Job::of(f);
    let shared = job.shared.clone();
    let work = move || shared.work();
    match place {
        // The pool may have only the thread that will wait.
        Place::Here if rayon::current_thread_index().is_some() => work(),
        Place::Here => rayon::spawn(work),
        Place::Own(pool) => pool.spawn(work),
        Place::Alone => run(work),
    }
    job
}

impl<R> Job<R> {
    fn of(f: impl FnOnce() -> R + Send + 'static) -> Job<R>
    where
        R: Send + 'static,
    {
        let state = Mutex::new(State::Waiting(Box::new(f)));
        Job { shared: Arc::new(Shared { state, ended: Condvar::new() }) }
    }

    /// Waits until the work is done, but not longer than `at_most`. True if it is done.
    pub fn wait(&self, at_most: Duration) -> bool {
        let unfinished = |state: &mut State<R>| matches!(state, State::Waiting(_) | State::Running);
        let (state, _) = (self.shared.ended)
            .wait_timeout_while(self.shared.state(), at_most, unfinished)
            .unwrap_or_else(PoisonError::into_inner);
        !matches!(&*state, State::Waiting(_) | State::Running)
    }

    /// Waits for the result.
    ///
    /// # Panics
    /// If the work panicked.
    pub fn join(self) -> R {
        match self.end() {
            State::Done(Ok(result)) => result,
            State::Done(Err(panic)) => resume_unwind(panic),
            _ => unreachable!("the work has ended, and its result is taken once"),
        }
    }

    /// Cancels the work if it has not begun; else waits until it is done. The work and its result are
    /// dropped.
    pub fn give_up(self) {
        let mut state = self.shared.state();
        if matches!(&*state, State::Waiting(_)) {
            let work = std::mem::replace(&mut *state, State::Gone);
            drop(state);
            drop(work);
            return;
        }
        drop(state);
        drop(self.end());
    }

    fn end(self) -> State<R> {
        let unfinished = |state: &mut State<R>| matches!(state, State::Waiting(_) | State::Running);
        let ended = self.shared.ended.wait_while(self.shared.state(), unfinished);
        std::mem::replace(&mut *ended.unwrap_or_else(PoisonError::into_inner), State::Gone)
    }
}

impl<R> Shared<R> {
    fn work(&self) {
        let work = {
            let mut state = self.state();
            match std::mem::replace(&mut *state, State::Running) {
                State::Waiting(work) => work,
                other => {
                    *state = other;
                    return;
                }
            }
        };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        *self.state() = State::Done(outcome);
        self.ended.notify_all();
    }

    /// Locks the state. No panic happens under this lock.
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
