//! Group commit and the epochs (section 5).
//!
//! Transactions that have done their work join a group; all of a group get one timestamp, the write epoch. A group is applied at a time:
//! who finishes it last publishes its timestamp as the read epoch, and begins the next group, of all who have come meanwhile. A transaction
//! holds its locks until its group has begun and its own changes are applied, so those of a group have changed different vertices.

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
    /// The timestamp of the last group that began.
    timestamp: u64,
    /// How many of its transactions are still being applied.
    applying: usize,
    /// How many wait for the next group.
    waiting: usize,
    vertices: i64,
    edges: i64,
}

/// The groups of a container.
pub(super) struct Groups {
    state: Mutex<State>,
    begun: AtomicU64,
    clock: Arc<Clock>,
}

impl Groups {
    pub(super) fn new(clock: Arc<Clock>) -> Groups {
        Groups { state: Mutex::new(State::default()), begun: AtomicU64::new(0), clock }
    }

    /// Joins a group, waits until it begins, and returns its timestamp. With all locks of the transaction.
    pub(super) fn join(&self) -> u64 {
        let mut state = self.state.lock();
        if state.applying == 0 {
            self.begin(&mut state, 1);
            return state.timestamp;
        }
        state.waiting += 1;
        let timestamp = state.timestamp + 1;
        drop(state);
        wait_until(|| self.begun.load(SeqCst) >= timestamp);
        timestamp
    }

    fn begin(&self, state: &mut State, transactions: usize) {
        state.timestamp = self.clock.draw();
        (state.applying, state.waiting, state.vertices, state.edges) = (transactions, 0, 0, 0);
        self.begun.store(state.timestamp, SeqCst);
    }

    /// Says that a transaction of the group of `timestamp` is applied, and waits until the group is published.
    pub(super) fn finish(&self, timestamp: u64, more: More) {
        let mut state = self.state.lock();
        state.vertices += more.vertices;
        state.edges += more.edges;
        state.applying -= 1;
        if state.applying > 0 && is_on(Planted::GroupPublishedByFirst) && self.clock.published() < timestamp {
            self.clock.publish(timestamp, state.vertices, state.edges);
            // Long enough for others to read.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        if state.applying == 0 {
            if !is_on(Planted::GroupPublishedByFirst) || self.clock.published() < timestamp {
                self.clock.publish(timestamp, state.vertices, state.edges);
            }
            if state.waiting > 0 {
                let waiting = state.waiting;
                self.begin(&mut state, waiting);
            }
            return;
        }
        drop(state);
        wait_until(|| self.clock.published() >= timestamp);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    let mut asked = 0u32;
    while !is_so() {
        asked = asked.wrapping_add(1);
        if asked % SPINS == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
