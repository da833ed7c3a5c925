//! Group commit: one sync serves every commit that was appended before it.
//!
//! A committer whose timestamp is not published waits here. If nobody is syncing the log, it becomes the leader, syncs
//! for all, raises the gate of the clock and wakes the rest. A failed sync is final (rule F11): everybody who waits,
//! and everybody who comes later, gets [`NotDurable`].

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence};

use crate::clock::Clock;

/// The port to the log.
pub trait DurableLog {
    /// Makes everything appended before the call durable and returns the last timestamp that is. After an error
    /// nothing more may be acknowledged.
    fn sync(&self) -> Result<Timestamp, NotDurable>;
}

/// The log failed: commits that were not published may or may not survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDurable;

#[derive(Default)]
struct State {
    leader: bool,
}

/// Where committers wait for publication.
#[derive(Default)]
pub struct GroupCommit {
    state: Mutex<State>,
    changed: Condvar,
    waiters: AtomicUsize,
    failed: AtomicBool,
    /// The last commit that was submitted without a waiter of its own.
    asked: AtomicU64,
    /// Whether the thread that waits for those sleeps, or is about to; it sleeps on `asked_changed`.
    idle: AtomicBool,
    asked_changed: Condvar,
}

impl GroupCommit {
    /// Whether the log failed.
    #[inline]
    pub fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Marks the log as failed and wakes everybody who waits.
    pub fn fail(&self) {
        let guard = self.state.lock();
        self.failed.store(true, Ordering::Release);
        self.changed.notify_all();
        self.asked_changed.notify_all();
        drop(guard);
    }

    /// Asks the thread that sits in [`next_asked`](Self::next_asked) to see to the publication of `ts`. A few
    /// nanoseconds while that thread is busy.
    #[inline]
    pub fn ask(&self, ts: Timestamp) {
        self.asked.fetch_max(ts.0, Ordering::SeqCst);
        // Orders asking before looking whether the other sleeps; it says so before it looks at what is asked.
        fence(Ordering::SeqCst);
        if self.idle.load(Ordering::SeqCst) {
            self.wake_asked();
        }
    }

    /// Makes [`next_asked`](Self::next_asked) look again whether it is over.
    pub fn wake_asked(&self) {
        let guard = self.state.lock();
        self.asked_changed.notify_all();
        drop(guard);
    }

    /// Sleeps until a commit is asked for that the gate does not let through yet; its timestamp. `None` once the log
    /// has failed or `over` says so. For one thread.
    pub fn next_asked(&self, clock: &Clock, over: impl Fn() -> bool) -> Option<Timestamp> {
        let mut state = self.state.lock();
        loop {
            self.idle.store(true, Ordering::SeqCst);
            // The other half of the fence in `ask`.
            fence(Ordering::SeqCst);
            let asked = Timestamp(self.asked.load(Ordering::SeqCst));
            let busy = clock.gate() < asked;
            if busy || self.is_failed() || over() {
                self.idle.store(false, Ordering::SeqCst);
                return (busy && !self.is_failed()).then_some(asked);
            }
            self.asked_changed.wait(&mut state);
        }
    }

    /// Wakes those who wait, after the published timestamp moved.
    #[inline]
    pub fn wake(&self) {
        // Orders the store of `t_read` before looking for waiters; a waiter counts itself before it looks at `t_read`.
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            let guard = self.state.lock();
            self.changed.notify_all();
            drop(guard);
        }
    }

    /// Waits until `ts` is published. With a log, syncs it where nobody else does. Blocks for about one sync, or while
    /// earlier commits are being applied.
    pub fn wait(
        &self,
        clock: &Clock,
        ts: Timestamp,
        log: Option<&impl DurableLog>,
    ) -> Result<(), NotDurable> {
        if clock.published() >= ts || spin(clock, ts) {
            return Ok(());
        }
        self.waiters.fetch_add(1, Ordering::SeqCst);
        // Orders counting ourselves before looking at `t_read`: the other half of the fence in `wake`.
        fence(Ordering::SeqCst);
        let result = self.wait_counted(clock, ts, log);
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn wait_counted(
        &self,
        clock: &Clock,
        ts: Timestamp,
        log: Option<&impl DurableLog>,
    ) -> Result<(), NotDurable> {
        let mut state = self.state.lock();
        loop {
            if clock.published() >= ts {
                return Ok(());
            }
            if self.is_failed() {
                return Err(NotDurable);
            }
            match log {
                Some(log) if clock.gate() < ts && !state.leader => state = self.lead(state, clock, log),
                _ => self.changed.wait(&mut state),
            }
        }
    }

    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        clock: &Clock,
        log: &impl DurableLog,
    ) -> MutexGuard<'a, State> {
        state.leader = true;
        drop(state);
        match log.sync() {
            Ok(durable) => {
                clock.raise_gate(durable);
            }
            Err(NotDurable) => self.failed.store(true, Ordering::Release),
        }
        let mut state = self.state.lock();
        state.leader = false;
        self.changed.notify_all();
        if self.is_failed() {
            self.asked_changed.notify_all();
        }
        state
    }
}

/// Waits a little without sleeping: an earlier committer usually needs well under a microsecond to finish. Only where
/// publication does not wait for the disk.
#[cfg(not(any(loom, shuttle)))]
fn spin(clock: &Clock, ts: Timestamp) -> bool {
    if clock.gate() < ts {
        return false;
    }
    for _ in 0..200 {
        if clock.published() >= ts {
            return true;
        }
        std::hint::spin_loop();
    }
    std::thread::yield_now();
    clock.published() >= ts
}

#[cfg(any(loom, shuttle))]
fn spin(_: &Clock, _: Timestamp) -> bool {
    false
}
