//! The maximum memory during work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hedgerow::Graph;

use hedgerow_report::resident_bytes;

const EVERY: Duration = Duration::from_millis(1);

/// The maximum memory since the value was made.
#[derive(Default)]
pub(super) struct Peak {
    told: AtomicU64,
    resident: AtomicU64,
    in_kernel: AtomicBool,
    done: AtomicBool,
}

impl Peak {
    /// Runs `work` while another thread reads the memory.
    pub(super) fn beside<T>(&self, store: &Graph, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !self.done.load(Ordering::Relaxed) {
                    self.look(store);
                    std::thread::sleep(EVERY);
                }
            });
            let done = work();
            self.done.store(true, Ordering::Relaxed);
            done
        })
    }

    fn look(&self, store: &Graph) {
        self.told.fetch_max(store.memory_bytes(), Ordering::Relaxed);
        // The arrays of kernels do not belong to the store.
        if !self.in_kernel.load(Ordering::Relaxed) {
            self.resident.fetch_max(resident_bytes().unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// Notes that kernels run from now on.
    pub(super) fn kernels_begin(&self) {
        self.in_kernel.store(true, Ordering::Relaxed);
    }

    /// Returns the maximum of the store's account, in bytes.
    pub(super) fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// Returns the maximum of the resident bytes of the process before kernels began.
    pub(super) fn resident(&self) -> u64 {
        self.resident.load(Ordering::Relaxed)
    }
}
