//! A scheduler that gives the transactions of a stream to several writers, so that transactions that share a
//! vertex commit in stream order.
//!
//! A transaction is ready when every earlier transaction that names one of its vertices has been
//! acknowledged. Ready transactions may commit in any order, since transactions on distinct vertices commute.
//! The scheduler looks ahead a bounded number of transactions, and hands out the earliest ready one first.
//!
//! Per vertex only the latest transaction in the window is kept: a new transaction waits for it, and it has
//! waited for the one before. Vertices are compared by a 64-bit hash. A collision would make two transactions
//! wait for one another needlessly, never run them out of order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::stream::Transaction;

#[cfg(test)]
mod tests;

/// The usual look-ahead, in transactions.
pub const DEFAULT_WINDOW: usize = 4096;

/// A stream shared by several writers. Every writer repeats [`next`](Self::next), commit,
/// [`acknowledge`](Self::acknowledge). All methods may be called from any thread.
pub struct Scheduler<I> {
    window: usize,
    hasher: RandomState,
    state: Mutex<State<I>>,
    /// Signalled when a transaction may have become ready, or when the schedule ends.
    changed: Condvar,
}

struct State<I> {
    /// The source; `None` after its end.
    source: Option<I>,
    pending: HashMap<u64, Pending>,
    ready: BinaryHeap<Reverse<u64>>,
    /// The latest pending transaction that names the vertex.
    latest: HashMap<u64, u64>,
    stopped: bool,
}

struct Pending {
    transaction: Arc<Transaction>,
    /// Hashes of its vertices, each once.
    vertices: Vec<u64>,
    /// The number of earlier transactions that must be acknowledged first.
    waits_for: usize,
    /// The later transactions that wait for this one.
    waiters: Vec<u64>,
}

impl<I, E> Scheduler<I>
where
    I: Iterator<Item = Result<Transaction, E>>,
{
    /// Schedules `source`, whose indices must ascend (gaps are fine: a resumed stream leaves out what was
    /// acknowledged before). At most `window` transactions, at least one, are held at a time.
    pub fn new(source: I, window: usize) -> Self {
        let state = State {
            source: Some(source),
            pending: HashMap::new(),
            ready: BinaryHeap::new(),
            latest: HashMap::new(),
            stopped: false,
        };
        Scheduler {
            window: window.max(1),
            hasher: RandomState::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Returns the earliest ready transaction; blocks while none is ready but a later one may be. `None` once
    /// all were returned, or after [`stop`](Self::stop).
    ///
    /// # Errors
    /// Returns the error of the source to one caller. The stream ends there; transactions read before it are
    /// still returned.
    pub fn next(&self) -> Option<Result<Arc<Transaction>, E>> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Err(error) = self.read_ahead(&mut state) {
                return Some(Err(error));
            }
            if let Some(Reverse(index)) = state.ready.pop() {
                let transaction = state.pending.get(&index).map(|p| Arc::clone(&p.transaction));
                match transaction {
                    Some(transaction) => return Some(Ok(transaction)),
                    None => continue,
                }
            }
            if state.source.is_none() && state.pending.values().all(|p| p.waits_for == 0) {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records that the transaction has been committed, and releases the transactions that waited for it. Has
    /// no effect for an index that no writer has.
    pub fn acknowledge(&self, index: u64) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let Some(done) = state.pending.remove(&index) else { return };
        for vertex in done.vertices {
            if state.latest.get(&vertex) == Some(&index) {
                state.latest.remove(&vertex);
            }
        }
        for waiter in done.waiters {
            if let Some(pending) = state.pending.get_mut(&waiter) {
                pending.waits_for -= 1;
                if pending.waits_for == 0 {
                    state.ready.push(Reverse(waiter));
                }
            }
        }
        drop(guard);
        self.changed.notify_all();
    }

    /// Ends the schedule: every [`next`](Self::next) returns `None`, including calls that wait.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Reads the source until a transaction is ready or the window is full.
    fn read_ahead(&self, state: &mut State<I>) -> Result<(), E> {
        while state.ready.is_empty() && state.pending.len() < self.window {
            let Some(source) = &mut state.source else { return Ok(()) };
            match source.next() {
                Some(Ok(transaction)) => self.admit(state, transaction),
                Some(Err(error)) => {
                    state.source = None;
                    self.changed.notify_all();
                    return Err(error);
                }
                None => {
                    state.source = None;
                    self.changed.notify_all();
                }
            }
        }
        Ok(())
    }

    fn admit(&self, state: &mut State<I>, transaction: Transaction) {
        let index = transaction.index;
        let keys = transaction.events.iter().flat_map(|event| event.vertices());
        let mut vertices: Vec<u64> = keys.map(|key| self.hasher.hash_one(key)).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut before: Vec<u64> = vertices.iter().filter_map(|&v| state.latest.insert(v, index)).collect();
        before.sort_unstable();
        before.dedup();
        for earlier in &before {
            if let Some(pending) = state.pending.get_mut(earlier) {
                pending.waiters.push(index);
            }
        }
        let waits_for = before.len();
        if waits_for == 0 {
            state.ready.push(Reverse(index));
        }
        let transaction = Arc::new(transaction);
        state.pending.insert(index, Pending { transaction, vertices, waits_for, waiters: Vec::new() });
    }

    /// Locks the state. A writer that panicked left it whole: nothing here panics between two changes that
    /// belong together.
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
