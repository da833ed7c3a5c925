//! The most memory that was seen beside work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hedgerow::Graph;

use hedgerow_report::resident_bytes;

const EVERY: Duration = Duration::from_millis(1);

/// The most that was seen since it was made.
#[derive(Default)]
pub(super) struct Peak {
    told: AtomicU64,
    resident: AtomicU64,
    in_kernel: AtomicBool,
    done: AtomicBool,
}

impl Peak {
    /// Does `work` while another thread looks.
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
        // Arrays of kernels are not the store's.
        if !self.in_kernel.load(Ordering::Relaxed) {
            self.resident.fetch_max(resident_bytes().unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// From now on kernels run.
    pub(super) fn kernels_begin(&self) {
        self.in_kernel.store(true, Ordering::Relaxed);
    }

    /// Bytes that the account of the store told.
    pub(super) fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// Resident bytes of the process, up to where kernels began.
    pub(super) fn resident(&self) -> u64 {
        self.resident.load(Ordering::Relaxed)
    }
}
