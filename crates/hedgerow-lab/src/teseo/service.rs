//! The service threads: rebalances that writers have asked for, after a delay, and visits of the whole graph (sections 3.3 and 4.2).

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hedgerow_core::Direction;
use parking_lot::{Condvar, Mutex};

use super::shared::Shared;

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
enum Task {
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
    fn next(&self) -> Option<Task> {
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
}

/// Threads that serve until they are stopped.
#[derive(Debug)]
pub(super) struct Service {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

impl Service {
    pub(super) fn start(core: &Arc<Shared>, threads: usize) -> Service {
        let serve = |_| {
            let core = core.clone();
            std::thread::spawn(move || {
                while let Some(task) = core.queue.next() {
                    match task {
                        Task::Rebalance(direction, key) => core.rebalance(direction, key),
                        Task::Visit => core.visit(),
                    }
                }
            })
        };
        Service { queue: core.queue.clone(), threads: (0..threads.max(1)).map(serve).collect() }
    }
}

impl Drop for Service {
    /// Waits for what the threads do just now; what else was asked for is left undone.
    fn drop(&mut self) {
        self.queue.requests.lock().stopped = true;
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}
