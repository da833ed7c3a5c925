//! Group commit: one sync serves every commit that was appended before it.
//!
//! A committer whose timestamp is not published waits here. If nobody is syncing the log, it becomes the leader, syncs
//! for all, raises the gate of the clock and wakes the rest. A failed sync is final (rule F11): everybody whose commit is
//! not published, and everybody who comes later with one, gets [`NotDurable`].
//!
//! Those whom the sync under way covers sleep apart from those who came too late for it. At its end the leader has the
//! former woken by one of them and syncs for the latter, or wakes one of the latter to lead and all of the former at
//! once. Most need no lock to find out that their commit is durable. So with many clients a sync is under way nearly
//! always, while those of the one before append.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, Signal, fence};

use crate::apart::Apart;
use crate::clock::Clock;

/// The port to the log.
pub trait DurableLog {
    /// The last timestamp appended: at least every one whose commit has drawn and appended before the call.
    fn appended(&self) -> Timestamp;

    /// Makes everything appended before the call durable.
    ///
    /// # Errors
    /// [`NotDurable`] if the log failed: nothing more may be acknowledged.
    fn sync(&self) -> Result<(), NotDurable>;
}

/// The log failed: commits that were not published may or may not survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotDurable;

/// How many syncs a committer leads before it returns, though its own commit was durable after the first. Handing the
/// lead over costs the time that a thread takes to wake, in which nobody syncs; so a few in many commits take longer.
///
/// The model checker and the scheduler try going on once and handing over.
const ROUNDS: u32 = if cfg!(feature = "model-checking") { 2 } else { 8 };

#[derive(Default)]
struct State {
    /// Whether somebody syncs.
    leader: bool,
    /// The last timestamp that the sync under way makes durable.
    covers: Timestamp,
    /// Where those sleep whom the sync under way covers; the others sleep at the other place.
    turn: usize,
    /// How many went to sleep at each place since those there were last told to wake.
    asleep: [usize; 2],
    /// What those wait for that sleep on `changed`, or are about to.
    awaited: Vec<Timestamp>,
}

/// The places where committers sleep until earlier ones have been published, by timestamp: a publication wakes few that wait for more.
const PLACES: usize = if cfg!(feature = "model-checking") { 2 } else { 8 };

fn place(ts: Timestamp) -> usize {
    ts.0 as usize % PLACES
}

/// Where committers wait for publication.
#[derive(Default)]
pub struct GroupCommit {
    state: Mutex<State>,
    /// Where committers wait for a sync: see [`State::turn`].
    synced: [Signal; 2],
    /// Whether the first to wake up at each place is to wake the rest, so that the leader syncs meanwhile.
    relayed: [AtomicBool; 2],
    /// Where those wait whose commit is durable, or need not be, but who have earlier ones to wait for, by [`place`].
    changed: [Condvar; PLACES],
    /// The first timestamp that somebody there waits for; 0 where nobody does. Every publisher reads it.
    first_awaited: Apart<AtomicU64>,
    /// Every committer reads it.
    failed: Apart<AtomicBool>,
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
        self.failed.0.load(Ordering::Acquire)
    }

    /// Marks the log as failed and wakes everybody who waits.
    pub fn fail(&self) {
        let guard = self.state.lock();
        self.failed.0.store(true, Ordering::Release);
        self.synced.iter().for_each(Signal::advance);
        // A statement, since the locks of other systems return a number.
        self.changed.iter().for_each(|changed| {
            changed.notify_all();
        });
        self.asked_changed.notify_all();
        drop(guard);
        self.synced.iter().for_each(Signal::wake_all);
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

    /// Wakes those who wait for what is published by now: to be called by the thread for which [`Clock::complete`] or
    /// [`Clock::raise_gate`] has just moved the published timestamp.
    #[inline]
    pub fn wake(&self, clock: &Clock) {
        // The clock fenced after it stored `t_read`; a waiter says what it waits for, fences, and looks at `t_read`.
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

    /// Waits until `ts` is published. With a log, syncs it where nobody else does. Blocks for about one sync, or while
    /// earlier commits are being applied.
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
                        // Most find that they are done.
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

    /// Sleeps until the sync that makes `ts` durable is over, or has nobody to lead it.
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
        // Orders saying what we wait for before looking at `t_read`: the other half of the fence in `wake`.
        fence(Ordering::SeqCst);
        if clock.published() < ts && !self.is_failed() {
            self.changed[place(ts)].wait(&mut state);
        }
        // The publisher of `ts` took it out already.
        if let Some(at) = state.awaited.iter().position(|&awaited| awaited == ts) {
            state.awaited.swap_remove(at);
            self.note_awaited(&state);
        }
        state
    }

    /// Syncs for everybody who has appended, and goes on for those who came too late meanwhile, [`ROUNDS`] times at most.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        clock: &Clock,
        log: &impl DurableLog,
    ) -> MutexGuard<'a, State> {
        state.leader = true;
        // No more than this is published after the sync: nobody who sleeps for the next one is done before it.
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
            // Under the lock: who read a signal before this looks there before it sleeps, who reads it after looks again.
            self.synced[done].advance();
            if covered && leads {
                // After the advance: whoever takes this wakes all that sleep, and those about to find that it moved on.
                // Never taken back here: the one who is to wake the rest of an earlier sync may not have run yet.
                self.relayed[done].store(true, Ordering::SeqCst);
            }
            if late && !leads {
                self.synced[next].advance();
            }
            drop(state);
            if late && !leads {
                // One of them leads.
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

/// How often a committer pauses for earlier ones before it gives its processor away.
#[cfg(not(feature = "model-checking"))]
const SPINS: u64 = 200;

/// How often a committer gives its processor away before it sleeps until earlier ones are published.
#[cfg(not(feature = "model-checking"))]
const YIELDS: usize = 4;

/// Waits a little without sleeping: an earlier committer usually needs well under a microsecond to finish. Only where
/// publication does not wait for the disk.
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
        // A commit with many before it looks seldom: each look takes the published timestamp from its publisher (as for ticket locks:
        // Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors", section 2.2).
        let pauses = behind.min(left);
        if pauses == 0 {
            break;
        }
        (0..pauses).for_each(|_| std::hint::spin_loop());
        left -= pauses;
    }
    // Where threads are more than processors, this lets the earlier committer run.
    (0..YIELDS).any(|_| {
        std::thread::yield_now();
        clock.published() >= ts
    })
}

#[cfg(feature = "model-checking")]
fn spin(_: &Clock, _: Timestamp) -> bool {
    false
}
