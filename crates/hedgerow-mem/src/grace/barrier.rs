//! A barrier of two unequal halves: the frequent side pays nothing, the rare side pays for both.
//!
//! *Frequent*: store, [`light`], load. *Rare*: store, [`heavy`], load. At least one of the loads sees the other side's
//! store, as if both sides had a sequentially consistent fence in the middle. Where the system can run a full barrier on
//! all threads of the process (Linux: `membarrier`, "private expedited"), that is the heavy half, and the light one only
//! keeps the compiler from reordering; otherwise both are such fences.

use hedgerow_core::sync::{Ordering, fence};

/// Whether the light half is free. The same for the life of the process; asked once per thread.
pub(super) fn is_asymmetric() -> bool {
    system::is_available()
}

/// The frequent half. `asymmetric` is what [`is_asymmetric`] says.
#[inline]
pub(super) fn light(asymmetric: bool) {
    if asymmetric {
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The rare half. Says whether it took place: the system may be short of memory, and then nothing may be concluded.
/// Some microseconds; it interrupts the processors that run this process.
#[must_use]
pub(super) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    !is_asymmetric() || system::barrier()
}

#[cfg(all(target_os = "linux", not(any(feature = "model-checking", miri))))]
mod system {
    use std::sync::atomic::{AtomicU8, Ordering};

    use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

    pub(super) fn is_available() -> bool {
        const UNKNOWN: u8 = 0;
        const MISSING: u8 = 1;
        const AVAILABLE: u8 = 2;
        /// Several threads may ask the system, and hear the same. None waits for another: that takes milliseconds, and in
        /// a child that is forked meanwhile the other thread would be missing.
        static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
        match ANSWER.load(Ordering::Relaxed) {
            UNKNOWN => {
                let answer = if ask() { AVAILABLE } else { MISSING };
                // Should they hear different answers, which Linux does not give, the first one holds for all.
                let first = ANSWER.compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed);
                first.err().unwrap_or(answer) == AVAILABLE
            }
            answer => answer == AVAILABLE,
        }
    }

    /// Before Linux 4.14, and where a sandbox forbids the call, it is missing.
    fn ask() -> bool {
        membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
            && barrier()
    }

    pub(super) fn barrier() -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(feature = "model-checking", miri)))))]
mod system {
    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn barrier() -> bool {
        true
    }
}
