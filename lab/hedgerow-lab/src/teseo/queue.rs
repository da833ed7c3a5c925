//! What writers ask the service threads for.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hedgerow_core::Direction;
use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
struct Requests {
    /// A key of each segment, when its rebalance is due, and in which tree it is. Since all wait equally
    /// long, those due first come first.
    waiting: VecDeque<(Instant, Direction, u64)>,
    /// When the next visit is due.
    visit: Instant,
    stopped: bool,
}

impl Requests {
    /// Takes what is due.
    fn due(&mut self, visits: Duration) -> Option<Task> {
        let now = Instant::now();
        if let Some((due, direction, key)) = self.waiting.front().copied()
            && due <= now
        {
            self.waiting.pop_front();
            return Some(Task::Rebalance(direction, key));
        }
        let is_due = self.visit <= now;
        is_due.then(|| {
            self.visit = now + visits;
            Task::Visit
        })
    }
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
        // Otherwise a thread waits for the first one, or all have something to do.
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
            if let Some(task) = requests.due(self.visits) {
                // This thread waits for the first request no more: another one has to.
                if !requests.waiting.is_empty() {
                    self.changed.notify_one();
                }
                return Some(task);
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn each_request_wakes_a_thread() {
        const THREADS: usize = 3;
        let visits = Duration::from_secs(30);
        let (queue, all) = (&Queue::new(Duration::from_millis(1), visits), &Barrier::new(THREADS));
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(move || {
                    assert!(matches!(queue.next(), Some(Task::Rebalance(..))));
                    // As long as the others have nothing to do, this one does not come back.
                    all.wait();
                });
            }
            // All of them wait by then, or the test finds less.
            std::thread::sleep(Duration::from_millis(20));
            (0..THREADS as u64).for_each(|key| queue.push(Direction::Out, key));
        });
        assert!(begin.elapsed() < visits / 2, "threads slept until the next visit");
    }
}
