//! The service threads. They make the rebalances that writers have requested, after a delay. They also visit
//! the whole graph (sections 3.3 and 4.2).

use std::sync::Arc;
use std::thread::JoinHandle;

use super::queue::{Queue, Task};
use super::shared::Shared;

/// The service threads, which work until they are stopped.
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
    /// Waits for the current tasks of the threads. The remaining requests are left undone.
    fn drop(&mut self) {
        self.queue.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has already reported its panic.
            let _ = thread.join();
        }
    }
}
