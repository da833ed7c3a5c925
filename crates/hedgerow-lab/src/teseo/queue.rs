//! What writers ask the service threads for.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hedgerow_core::Direction;
use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
struct Requests {
    /// A key of each segment, when its rebalance is due, and in which tree it is. Since all wait equally long, those due first come first.
    waiting: VecDeque<(Instant, Direction, u64)>,
    /// When the next visit is due.
    visit: Instant,
    stopped: bool,
}

/// What writers ask for.
#[derive(Debug)]
pub(super) struct Queue {
    requests: Mutex<Requests>,
    changed: Condvar,
    delay: Duration,
    visits: Duration,
}

/// What a service thread does next.
pub(super) enum Task {
    Rebalance(Direction, u64),
    Visit,
}

impl Queue {
    pub(super) fn new(delay: Duration, visits: Duration) -> Queue {
        let requests = Requests { waiting: VecDeque::new(), visit: Instant::now() + visits, stopped: false };
        Queue { requests: Mutex::new(requests), changed: Condvar::new(), delay, visits }
    }

    /// Asks for a rebalance of the segment that holds `key`.
    pub(super) fn push(&self, direction: Direction, key: u64) {
        let mut requests = self.requests.lock();
        requests.waiting.push_back((Instant::now() + self.delay, direction, key));
        // Otherwise a thread wakes up for the first one.
        if requests.waiting.len() == 1 {
            self.changed.notify_one();
        }
    }

    /// All that is asked for, which is then due.
    pub(super) fn take_all(&self) -> Vec<(Direction, u64)> {
        self.requests.lock().waiting.drain(..).map(|(_, direction, key)| (direction, key)).collect()
    }

    /// Waits for the next task; none once the service is stopped.
    pub(super) fn next(&self) -> Option<Task> {
        let mut requests = self.requests.lock();
        loop {
            if requests.stopped {
                return None;
            }
            let now = Instant::now();
            if let Some((due, direction, key)) = requests.waiting.front().copied()
                && due <= now
            {
                requests.waiting.pop_front();
                return Some(Task::Rebalance(direction, key));
            }
            if requests.visit <= now {
                requests.visit = now + self.visits;
                return Some(Task::Visit);
            }
            let first = requests.waiting.front().map_or(requests.visit, |first| first.0.min(requests.visit));
            self.changed.wait_until(&mut requests, first);
        }
    }

    /// Stops all who wait for tasks.
    pub(super) fn stop(&self) {
        self.requests.lock().stopped = true;
        self.changed.notify_all();
    }
}
