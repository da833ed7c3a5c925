//! The requests of writers to the service threads.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hedgerow_core::Direction;
use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
struct Requests {
    /// For each request, the time when it is due, the tree, and a key of the segment. All requests wait
    /// equally long, so the queue has the order of their due times.
    waiting: VecDeque<(Instant, Direction, u64)>,
    /// The time when the next visit is due.
    visit: Instant,
    stopped: bool,
}

impl Requests {
    /// Takes the next task that is due.
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

/// The queue of requests from writers.
#[derive(Debug)]
pub(super) struct Queue {
    requests: Mutex<Requests>,
    changed: Condvar,
    delay: Duration,
    visits: Duration,
}

/// The next task of a service thread.
pub(super) enum Task {
    Rebalance(Direction, u64),
    Visit,
}

impl Queue {
    pub(super) fn new(delay: Duration, visits: Duration) -> Queue {
        let requests = Requests { waiting: VecDeque::new(), visit: Instant::now() + visits, stopped: false };
        Queue { requests: Mutex::new(requests), changed: Condvar::new(), delay, visits }
    }

    /// Requests a rebalance of the segment that holds `key`.
    pub(super) fn push(&self, direction: Direction, key: u64) {
        let mut requests = self.requests.lock();
        requests.waiting.push_back((Instant::now() + self.delay, direction, key));
        // If there are more requests, a thread already waits for the first one, or all threads are busy.
        if requests.waiting.len() == 1 {
            self.changed.notify_one();
        }
    }

    /// Takes all requests, before they are due.
    pub(super) fn take_all(&self) -> Vec<(Direction, u64)> {
        self.requests.lock().waiting.drain(..).map(|(_, direction, key)| (direction, key)).collect()
    }

    /// Waits for the next task. Returns `None` once the service is stopped.
    pub(super) fn next(&self) -> Option<Task> {
        let mut requests = self.requests.lock();
        loop {
            if requests.stopped {
                return None;
            }
            if let Some(task) = requests.due(self.visits) {
                // This thread no longer waits for the first request, so another thread has to.
                if !requests.waiting.is_empty() {
                    self.changed.notify_one();
                }
                return Some(task);
            }
            let first = requests.waiting.front().map_or(requests.visit, |first| first.0.min(requests.visit));
            self.changed.wait_until(&mut requests, first);
        }
    }

    /// Stops all threads that wait for tasks.
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
                    // This thread takes no second task before every thread has one.
                    all.wait();
                });
            }
            // All threads should wait by then. If one does not, the test checks less.
            std::thread::sleep(Duration::from_millis(20));
            (0..THREADS as u64).for_each(|key| queue.push(Direction::Out, key));
        });
        assert!(begin.elapsed() < visits / 2, "threads slept until the next visit");
    }
}
