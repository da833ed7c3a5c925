//! Group commit: one sync serves every commit that was appended before it.
//!
//! A committer whose timestamp is not published waits here. If no thread syncs the log, it becomes the
//! leader: it syncs for all, raises the gate of the clock and wakes the others. A failed sync is final (rule
//! F11): every committer whose commit is not published by then gets [`NotDurable`].
//!
//! Committers that the current sync covers sleep at one place, later ones at another. After a sync, a leader
//! either continues or stops. If it continues, it syncs for the later ones, and lets one of the covered ones
//! wake the rest. If it stops, it wakes all of the covered ones, and one of the later ones to lead. Most
//! committers need no lock to find that their commit is durable. So with many clients a sync is under way
//! nearly always, while the clients of the previous sync append.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, Signal, fence};

use crate::apart::Apart;
use crate::clock::Clock;

/// The port to the log.
pub trait DurableLog {
    /// Returns a timestamp that is at least that of every commit drawn and appended before the call.
    fn appended(&self) -> Timestamp;

    /// Makes all commits appended before the call durable.
    ///
    /// # Errors
    /// [`NotDurable`] if the log failed: no further commit may be acknowledged.
    fn sync(&self) -> Result<(), NotDurable>;
}

/// The error of a failed log. Commits that were not published may be durable or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDurable;

/// The number of syncs that a committer leads before it returns, although its own commit was durable after
/// the first. Handing the lead over costs the time to wake a thread, and no thread syncs meanwhile. So a few
/// among many commits take longer.
///
/// The model checker and the scheduler test one more round and the handover.
const ROUNDS: u32 = if cfg!(feature = "model-checking") { 2 } else { 8 };

#[derive(Default)]
struct State {
    /// True while a thread leads.
    leader: bool,
    /// The last timestamp that the sync under way makes durable.
    covers: Timestamp,
    /// The number of the place where committers sleep that the current sync covers. The others sleep at the
    /// other place.
    turn: usize,
    /// The number of threads that have gone to sleep at each place since its threads were last woken.
    asleep: [usize; 2],
    /// The timestamps that threads sleeping at `changed`, or about to, wait for.
    awaited: Vec<Timestamp>,
}

/// The number of places where committers sleep until earlier commits are published. They are divided by
/// timestamp, so that a publication wakes few committers that wait for a later one.
const PLACES: usize = if cfg!(feature = "model-checking") { 2 } else { 8 };

fn place(ts: Timestamp) -> usize {
    ts.0 as usize % PLACES
}

/// The waiting of committers for publication.
#[derive(Default)]
pub struct GroupCommit {
    state: Mutex<State>,
    /// The places where committers wait for a sync: see [`State::turn`].
    synced: [Signal; 2],
    /// True if the first thread that wakes at the place must wake the rest, so that the leader can sync
    /// meanwhile.
    relayed: [AtomicBool; 2],
    /// The places, by [`place`], of committers that wait for earlier commits: their own commit is durable
    /// already, or need not be.
    changed: [Condvar; PLACES],
    /// The least timestamp that a thread at `changed` waits for; 0 if no thread waits. Every publisher reads
    /// it.
    first_awaited: Apart<AtomicU64>,
    /// True if the log failed. Every committer reads it.
    failed: Apart<AtomicBool>,
    /// The last commit for which publication was requested without a thread that waits for it.
    asked: AtomicU64,
    /// True if the thread in [`next_asked`](GroupCommit::next_asked) sleeps, or is about to; it sleeps on
    /// `asked_changed`.
    idle: AtomicBool,
    asked_changed: Condvar,
}

impl GroupCommit {
    /// True if the log failed.
    #[inline]
    pub fn is_failed(&self) -> bool {
        self.failed.0.load(Ordering::Acquire)
    }

    /// Marks the log as failed and wakes all waiting threads.
    pub fn fail(&self) {
        let guard = self.state.lock();
        self.failed.0.store(true, Ordering::Release);
        self.synced.iter().for_each(Signal::advance);
        // A block with a statement, since on other systems this call of a lock returns a number.
        self.changed.iter().for_each(|changed| {
            changed.notify_all();
        });
        self.asked_changed.notify_all();
        drop(guard);
        self.synced.iter().for_each(Signal::wake_all);
    }

    /// Requests from the thread in [`next_asked`](Self::next_asked) that `ts` is published. Takes a few
    /// nanoseconds while that thread is busy.
    #[inline]
    pub fn ask(&self, ts: Timestamp) {
        self.asked.fetch_max(ts.0, Ordering::SeqCst);
        // Orders the request before the check of `idle`; the other thread sets `idle` before it checks the
        // requests.
        fence(Ordering::SeqCst);
        if self.idle.load(Ordering::SeqCst) {
            self.wake_asked();
        }
    }

    /// Makes [`next_asked`](Self::next_asked) check its end condition again.
    pub fn wake_asked(&self) {
        let guard = self.state.lock();
        self.asked_changed.notify_all();
        drop(guard);
    }

    /// Sleeps until a commit beyond the gate is requested, and returns its timestamp. Returns `None` once the
    /// log has failed, or once `over` returns true and no such commit is requested. Only one thread may call
    /// this.
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

    /// Wakes the threads that wait for timestamps published by now. The thread whose [`Clock::complete`] or
    /// [`Clock::raise_gate`] has just moved the published timestamp must call this.
    #[inline]
    pub fn wake(&self, clock: &Clock) {
        // The clock fenced after it stored `t_read`; a waiter stores its timestamp, fences, and checks
        // `t_read`.
        let first = self.first_awaited.0.load(Ordering::SeqCst);
        if first > 0 && first <= clock.published().0 {
            self.wake_published(clock);
        }
    }

    #[cold]
    fn wake_published(&self, clock: &Clock) {
        let mut state = self.state.lock();
        let published = clock.published();
        state.awaited.retain(|&ts| {
            let waits = ts > published;
            if !waits {
                self.changed[place(ts)].notify_all();
            }
            waits
        });
        self.note_awaited(&state);
    }

    fn note_awaited(&self, state: &State) {
        let first = state.awaited.iter().min().map_or(0, |ts| ts.0);
        self.first_awaited.0.store(first, Ordering::SeqCst);
    }

    /// Waits until `ts` is published. With a log, syncs it if no other thread does. Blocks for about one
    /// sync, or while earlier commits are being applied.
    ///
    /// # Errors
    /// [`NotDurable`] if the log failed before `ts` was published.
    pub fn wait(
        &self,
        clock: &Clock,
        ts: Timestamp,
        log: Option<&impl DurableLog>,
    ) -> Result<(), NotDurable> {
        if clock.published() >= ts || spin(clock, ts) {
            return Ok(());
        }
        let mut state = self.state.lock();
        loop {
            if clock.published() >= ts {
                return Ok(());
            }
            if self.is_failed() {
                return Err(NotDurable);
            }
            state = match log {
                Some(log) if clock.gate() < ts => {
                    if state.leader {
                        self.sleep_until_synced(state, ts);
                        // Most committers find that their commit is published.
                        if clock.published() >= ts {
                            return Ok(());
                        }
                        self.state.lock()
                    } else {
                        self.lead(state, clock, log)
                    }
                }
                _ => self.sleep_until_published(state, clock, ts),
            };
        }
    }

    /// Sleeps until the sync that makes `ts` durable is over, or until it needs a leader.
    fn sleep_until_synced(&self, mut state: MutexGuard<'_, State>, ts: Timestamp) {
        let place = if ts <= state.covers { state.turn } else { state.turn ^ 1 };
        state.asleep[place] += 1;
        let seen = self.synced[place].now();
        drop(state);
        self.synced[place].sleep(seen);
        if self.relayed[place].load(Ordering::SeqCst) && self.relayed[place].swap(false, Ordering::SeqCst) {
            self.synced[place].wake_all();
        }
    }

    /// Sleeps until the published timestamp has moved.
    fn sleep_until_published<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        clock: &Clock,
        ts: Timestamp,
    ) -> MutexGuard<'a, State> {
        state.awaited.push(ts);
        self.note_awaited(&state);
        // Orders the store of the awaited timestamp before the check of `t_read`: the other half of the fence
        // in `wake`.
        fence(Ordering::SeqCst);
        if clock.published() < ts && !self.is_failed() {
            self.changed[place(ts)].wait(&mut state);
        }
        // The publisher of `ts` may have removed it already.
        if let Some(at) = state.awaited.iter().position(|&awaited| awaited == ts) {
            state.awaited.swap_remove(at);
            self.note_awaited(&state);
        }
        state
    }

    /// Syncs for all committers that have appended, and again for those that appended during the sync, at
    /// most [`ROUNDS`] times.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        clock: &Clock,
        log: &impl DurableLog,
    ) -> MutexGuard<'a, State> {
        state.leader = true;
        // The sync publishes nothing beyond this timestamp: a committer that sleeps for the next sync is not
        // done before the next sync.
        state.covers = log.appended();
        for round in 1.. {
            let covers = state.covers;
            drop(state);
            match log.sync() {
                Ok(()) if clock.raise_gate(covers) => self.wake(clock),
                Ok(()) => {}
                Err(NotDurable) => self.fail(),
            }
            state = self.state.lock();
            let (done, next) = (state.turn, state.turn ^ 1);
            let covered = std::mem::take(&mut state.asleep[done]) > 0;
            let late = state.asleep[next] > 0 && !self.is_failed();
            let leads = late && round < ROUNDS;
            (state.turn, state.leader, state.covers) = (next, leads, log.appended());
            // Done under the lock: a thread that read the signal before this finds it moved and does not
            // sleep; a thread that reads it later checks the state again.
            self.synced[done].advance();
            if covered && leads {
                // Done after the advance: the thread that takes this flag wakes all sleepers, also threads
                // that are about to find that the signal moved. The flag is never cleared here: the thread
                // that must wake the rest after an earlier sync may not have run yet.
                self.relayed[done].store(true, Ordering::SeqCst);
            }
            if late && !leads {
                self.synced[next].advance();
            }
            drop(state);
            if late && !leads {
                // The woken thread leads.
                self.synced[next].wake_one();
            }
            if covered && leads {
                self.synced[done].wake_one();
            } else if covered {
                self.synced[done].wake_all();
            }
            state = self.state.lock();
            if !leads {
                break;
            }
        }
        state
    }
}

/// The number of pauses of a committer that waits for earlier ones, before it yields its processor.
#[cfg(not(feature = "model-checking"))]
const SPINS: u64 = 200;

/// The number of times that a committer yields its processor before it sleeps until earlier commits are
/// published.
#[cfg(not(feature = "model-checking"))]
const YIELDS: usize = 4;

/// Spins for a while: an earlier committer usually needs much less than a microsecond to finish. Returns at
/// once if publication waits for the disk.
#[cfg(not(feature = "model-checking"))]
fn spin(clock: &Clock, ts: Timestamp) -> bool {
    if clock.gate() < ts {
        return false;
    }
    let mut left = SPINS;
    loop {
        let behind = ts.0.saturating_sub(clock.published().0);
        if behind == 0 {
            return true;
        }
        // A commit with many commits before it checks rarely: each check takes the published timestamp from
        // its publisher's cache (as for ticket locks: Mellor-Crummey and Scott, "Algorithms for scalable
        // synchronization on shared-memory multiprocessors", section 2.2).
        let pauses = behind.min(left);
        if pauses == 0 {
            break;
        }
        (0..pauses).for_each(|_| std::hint::spin_loop());
        left -= pauses;
    }
    // If there are more threads than processors, yielding lets the earlier committer run.
    (0..YIELDS).any(|_| {
        std::thread::yield_now();
        clock.published() >= ts
    })
}

#[cfg(feature = "model-checking")]
fn spin(_: &Clock, _: Timestamp) -> bool {
    false
}
