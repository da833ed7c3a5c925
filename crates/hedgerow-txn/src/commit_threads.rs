//! The threads of one large commit.
//!
//! They belong to this commit only. In a pool of the caller, the thread that has the latches could get other
//! work that waits for them. In a pool of the store, a commit could wait for threads that wait for its
//! latches. The threads stay for all phases of the commit: starting one takes some fifty microseconds, and
//! sometimes it runs only when its parent rests. A phase takes only a millisecond or two.
//!
//! # Protocol
//! * A thread hands work over, counts it, takes it back and waits for it under one lock. A follower is
//!   counted when it takes the work, so before the work can be taken back. It is counted out after it has
//!   dropped its reference. So once the work was taken back and the count is zero, no worker has or can get a
//!   reference to the finished phase.
//! * Elements are claimed under a lock of the phase, in order, one at a time; the thread that claimed an
//!   element has the element's lock.

use std::sync::Arc;

use hedgerow_core::sync::{AtomicU64, AtomicUsize, Condvar, Mutex, Ordering};

/// The most threads that one commit uses.
#[cfg(not(feature = "loom"))]
const MOST_THREADS: usize = 8;
/// The number of checks for the next phase, or for the end of a phase, before a thread sleeps: some tens of
/// microseconds, about as long as waking takes. The model checker needs no checks.
const LOOKS: u32 = if cfg!(feature = "loom") { 0 } else { 1000 };

/// A value that all threads of a commit may use. It is a separate trait, because under the controlled
/// scheduler it requires nothing.
pub trait Shared: Send + Sync {}
impl<T: Send + Sync> Shared for T {}

/// A value that one thread of a commit may pass to another; see [`Shared`].
pub trait Passed: Send {}
impl<T: Send> Passed for T {}

/// The threads of a commit: the calling thread, and threads that follow it from phase to phase. `'j` is the
/// lifetime of references in phases.
pub struct CommitThreads<'j> {
    followers: usize,
    state: Mutex<State<'j>>,
    /// Signals that another phase begins, or that no phase follows.
    begun: Condvar,
    /// Signals that a follower is done.
    done: Condvar,
    /// The number of phases that have begun, or [`OVER`]. Like the next field, it is changed under the lock
    /// of the state and read without the lock.
    phase: AtomicU64,
    /// The number of followers that have a reference to the work.
    working: AtomicUsize,
}

/// The value of `phase` after the last one.
const OVER: u64 = u64::MAX;

#[derive(Default)]
struct State<'j> {
    /// The work of the current phase, until it is taken back.
    work: Option<Arc<dyn Work + 'j>>,
    panicked: bool,
}

/// The work of a phase: each thread takes remaining elements of it until none is left.
trait Work: Send + Sync {
    fn take_part(&self);
}

/// Calls `f` with threads for about `work` units of work. If `work` is less than `serial`, this is only the
/// calling thread; else as many threads as there are processors, at most eight. The other threads end before
/// this returns. Blocks only while `f` runs.
#[cfg(not(feature = "loom"))]
pub fn with_commit_threads<'j, R>(work: usize, serial: usize, f: impl FnOnce(&CommitThreads<'j>) -> R) -> R {
    let workers = CommitThreads::new(if work < serial { 1 } else { threads() });
    if workers.followers == 0 {
        return f(&workers);
    }
    std::thread::scope(|scope| {
        // This also runs if `f` panics, so that the scope does not wait for the followers without end.
        let _dismissed = Dismissed(&workers);
        for _ in 0..workers.followers {
            // If a thread cannot be started, the others do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || workers.follow());
        }
        f(&workers)
    })
}

impl<'j> CommitThreads<'j> {
    /// Makes a group of `threads` threads, at least the calling one. The other threads must call
    /// [`follow`](Self::follow).
    pub fn new(threads: usize) -> CommitThreads<'j> {
        CommitThreads {
            followers: threads.saturating_sub(1),
            state: Mutex::new(State::default()),
            begun: Condvar::new(),
            done: Condvar::new(),
            phase: AtomicU64::new(0),
            working: AtomicUsize::new(0),
        }
    }

    /// Returns the number of threads that work on a phase.
    pub fn threads(&self) -> usize {
        self.followers + 1
    }

    /// Calls `f` with the context and each element, on all threads. Returns the context and the elements.
    ///
    /// # Panics
    /// If `f` panics, on any thread.
    pub fn each<X: Shared + 'j, T: Passed + 'j>(
        &self,
        context: X,
        all: Vec<T>,
        f: impl Fn(&X, &mut T) + Shared + 'j,
    ) -> (X, Vec<T>) {
        self.claim_each(context, all, |_, _| (), f)
    }

    /// Calls `claim` with the context and each element in order, one call at a time, and then `f` with them,
    /// on all threads. Returns the context and the elements.
    ///
    /// # Panics
    /// If `claim` or `f` panics, on any thread.
    pub fn claim_each<X: Shared + 'j, T: Passed + 'j>(
        &self,
        context: X,
        mut all: Vec<T>,
        claim: impl Fn(&X, &mut T) + Shared + 'j,
        f: impl Fn(&X, &mut T) + Shared + 'j,
    ) -> (X, Vec<T>) {
        if self.followers == 0 || all.len() < 2 {
            for one in &mut all {
                claim(&context, one);
                f(&context, one);
            }
            return (context, all);
        }
        let all = all.into_iter().map(Mutex::new).collect();
        let phase = Arc::new(Phase { context, all, next: Mutex::new(0), claim, f });
        self.begin(phase.clone());
        phase.take_part();
        self.end();
        let phase = Arc::into_inner(phase).expect("no follower has the phase after its end");
        (phase.context, phase.all.into_iter().map(Mutex::into_inner).collect())
    }

    fn begin(&self, work: Arc<dyn Work + 'j>) {
        let mut state = self.state.lock();
        state.work = Some(work);
        self.phase.fetch_add(1, Ordering::Release);
        drop(state);
        self.begun.notify_all();
    }

    /// Takes the work back, so that no follower begins it, and waits until no follower has a reference to it.
    fn end(&self) {
        let taken_back = self.state.lock().work.take();
        drop(taken_back);
        look_until(|| self.working.load(Ordering::Acquire) == 0);
        let mut state = self.state.lock();
        while self.working.load(Ordering::Acquire) > 0 {
            self.done.wait(&mut state);
        }
        assert!(!state.panicked, "a thread of the commit panicked");
    }

    /// Takes part in each phase until the threads are [dismissed](Self::dismiss).
    pub fn follow(&self) {
        let mut seen = 0;
        while let Some(taken) = self.next(&mut seen) {
            taken.work.iter().for_each(|work| work.take_part());
        }
    }

    /// Makes the followers leave their loops.
    pub fn dismiss(&self) {
        let state = self.state.lock();
        self.phase.store(OVER, Ordering::Release);
        drop(state);
        self.begun.notify_all();
    }

    /// Waits for a phase after the phase `seen`, and takes its work; `None` after the last phase.
    fn next(&self, seen: &mut u64) -> Option<Taken<'_, 'j>> {
        look_until(|| self.phase.load(Ordering::Acquire) != *seen);
        let mut state = self.state.lock();
        loop {
            let phase = self.phase.load(Ordering::Acquire);
            if phase == OVER {
                return None;
            }
            // If the phase is over already, there is no work.
            let work = if phase == *seen { None } else { state.work.clone() };
            *seen = phase;
            if work.is_some() {
                self.working.fetch_add(1, Ordering::Relaxed);
                return Some(Taken { workers: self, work });
            }
            self.begun.wait(&mut state);
        }
    }
}

/// Checks repeatedly, for a bounded time, until `is` returns true.
fn look_until(is: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if is() {
            return;
        }
        std::hint::spin_loop();
    }
}

/// Work that a follower took. Its drop counts the follower out, after normal work and after a panic.
struct Taken<'c, 'j> {
    workers: &'c CommitThreads<'j>,
    work: Option<Arc<dyn Work + 'j>>,
}

impl Drop for Taken<'_, '_> {
    fn drop(&mut self) {
        // Dropped first: a thread that waits for the count relies on the reference being gone.
        self.work = None;
        let mut state = self.workers.state.lock();
        state.panicked |= std::thread::panicking();
        self.workers.working.fetch_sub(1, Ordering::Release);
        drop(state);
        self.workers.done.notify_all();
    }
}

/// A guard that dismisses the followers when it is dropped.
#[cfg(not(feature = "loom"))]
struct Dismissed<'c, 'j>(&'c CommitThreads<'j>);

#[cfg(not(feature = "loom"))]
impl Drop for Dismissed<'_, '_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

struct Phase<X, T, C, F> {
    context: X,
    all: Vec<Mutex<T>>,
    /// The number of claimed elements.
    next: Mutex<usize>,
    claim: C,
    f: F,
}

impl<X, T, C, F> Work for Phase<X, T, C, F>
where
    X: Shared,
    T: Passed,
    C: Fn(&X, &mut T) + Shared,
    F: Fn(&X, &mut T) + Shared,
{
    fn take_part(&self) {
        let next = || {
            let mut next = self.next.lock();
            let mut one = self.all.get(*next)?.lock();
            *next += 1;
            (self.claim)(&self.context, &mut one);
            Some(one)
        };
        while let Some(mut one) = next() {
            (self.f)(&self.context, &mut one);
        }
    }
}

/// Returns the number of threads to use. Threads ask the system until one has stored the answer. No thread
/// waits for the answer of another, since a child that is forked meanwhile would lack the other thread.
#[cfg(not(feature = "loom"))]
fn threads() -> usize {
    static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    match THREADS.load(std::sync::atomic::Ordering::Relaxed) {
        0 => {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
            THREADS.store(threads, std::sync::atomic::Ordering::Relaxed);
            threads
        }
        threads => threads,
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    fn with_three<'j, R>(f: impl FnOnce(&CommitThreads<'j>) -> R) -> R {
        let workers = CommitThreads::new(3);
        std::thread::scope(|scope| {
            let _dismissed = Dismissed(&workers);
            (1..workers.threads()).for_each(|_| _ = scope.spawn(|| workers.follow()));
            f(&workers)
        })
    }

    #[test]
    fn phases_work_on_each_element_once_and_claim_in_order() {
        for round in 0..200 {
            let claimed = Mutex::new(Vec::new());
            let all = with_three(|workers| {
                let mut all: Vec<u64> = (0..round % 7 * 9).collect();
                for _ in 0..4 {
                    let claim = |claimed: &&Mutex<Vec<u64>>, one: &mut u64| claimed.lock().push(*one % 100);
                    (_, all) = workers.claim_each(&claimed, all, claim, |_, one| *one += 100);
                }
                all
            });
            let order: Vec<u64> = (0..round % 7 * 9).collect();
            assert!(all.iter().copied().eq(order.iter().map(|one| one + 400)));
            assert!(claimed.into_inner().chunks(order.len().max(1)).all(|phase| phase == order));
        }
    }

    /// A panic on any thread ends the phase and reaches the caller.
    #[test]
    fn a_panic_on_any_thread_is_one_of_the_caller() {
        let bad = [0, 7, 19];
        for bad in bad {
            let done = AtomicUsize::new(0);
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                with_three(|workers| {
                    workers.each(&done, (0..20).collect(), |done, one: &mut usize| {
                        assert!(*one != bad, "planted");
                        std::thread::sleep(std::time::Duration::from_micros(50));
                        done.fetch_add(1, Ordering::Relaxed);
                    });
                })
            }));
            assert!(panicked.is_err());
            assert!(done.into_inner() < 20);
        }
    }

    /// The caller must not apply changes that are only partly prepared.
    #[test]
    fn the_caller_goes_no_further_after_a_panic_of_a_follower() {
        let caller = std::thread::current().id();
        let (began, went_on) = (AtomicBool::new(false), AtomicBool::new(false));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            with_three(|workers| {
                workers.each(&began, vec![(); 3], move |began, ()| {
                    let follows = std::thread::current().id() != caller;
                    began.fetch_or(follows, Ordering::Relaxed);
                    assert!(!follows, "planted");
                    while !began.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
                went_on.store(true, Ordering::Relaxed);
            });
        }));
        assert!(panicked.is_err());
        assert!(!went_on.into_inner());
    }
}
