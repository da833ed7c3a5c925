//! Group commit and the epochs (section 5).
//!
//! Transactions that have done their work join a group. A group is applied at a time: who finishes it last publishes it to readers, and
//! begins the next group, of all who have come meanwhile. A transaction holds its locks until its group has begun and its own changes are
//! applied, so those of a group have changed different vertices. Each has a timestamp of its own, in the order in which they came.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use hedgerow_core::sync::Mutex;

use crate::change::More;
use crate::clock::Clock;
use crate::planted::{Planted, is_on};

/// How often a transaction asks for its group before it lets other threads run.
const SPINS: u32 = 100;

#[derive(Default)]
struct State {
    /// The first timestamp of the last group that began, and what its transactions did, as far as they are applied.
    first: u64,
    group: Vec<More>,
    /// How many of them are still being applied.
    applying: usize,
    /// How many wait for the next group.
    waiting: usize,
}

/// The groups of a container.
pub(super) struct Groups {
    state: Mutex<State>,
    /// The last timestamp of the last group that began.
    begun: AtomicU64,
    clock: Arc<Clock>,
}

impl Groups {
    pub(super) fn new(clock: Arc<Clock>) -> Groups {
        Groups { state: Mutex::new(State::default()), begun: AtomicU64::new(0), clock }
    }

    /// Joins a group, waits until it begins, and returns the timestamp of the transaction, which holds all its locks.
    pub(super) fn join(&self) -> u64 {
        let mut state = self.state.lock();
        if state.applying == 0 {
            self.begin(&mut state, 1);
            return state.first;
        }
        let timestamp = state.first + (state.group.len() + state.waiting) as u64;
        state.waiting += 1;
        drop(state);
        wait_until(|| self.begun.load(SeqCst) >= timestamp);
        timestamp
    }

    /// Begins the group of so many transactions, which have come.
    fn begin(&self, state: &mut State, transactions: usize) {
        state.first = self.clock.draw();
        let last = (1..transactions).fold(state.first, |_, _| self.clock.draw());
        state.group.clear();
        state.group.resize(transactions, More::default());
        (state.applying, state.waiting) = (transactions, 0);
        self.begun.store(last, SeqCst);
    }

    /// Says that a transaction is applied, and waits until its group is published.
    pub(super) fn finish(&self, timestamp: u64, more: More) {
        let mut state = self.state.lock();
        let place = (timestamp - state.first) as usize;
        state.group[place] = more;
        state.applying -= 1;
        if state.applying == 0 {
            self.publish(&state);
            if state.waiting > 0 {
                let waiting = state.waiting;
                self.begin(&mut state, waiting);
            }
            return;
        }
        if is_on(Planted::GroupPublishedByFirst) {
            self.publish(&state);
            // Long enough for others to read.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        drop(state);
        wait_until(|| self.clock.published() >= timestamp);
    }

    fn publish(&self, state: &State) {
        if is_on(Planted::GroupPublishedByFirst) && self.clock.published() >= state.first {
            return;
        }
        for (timestamp, more) in (state.first..).zip(&state.group) {
            self.clock.publish(timestamp, more.vertices, more.edges);
        }
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    let mut asked = 0u32;
    while !is_so() {
        asked = asked.wrapping_add(1);
        if asked.is_multiple_of(SPINS) {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
