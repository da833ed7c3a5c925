//! The service threads: rebalances that writers have requested, after a delay, and visits of the whole graph
//! (sections 3.3 and 4.2).

use std::sync::Arc;
use std::thread::JoinHandle;

use super::queue::{Queue, Task};
use super::shared::Shared;

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
        self.queue.stop();
        for thread in self.threads.drain(..) {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}
