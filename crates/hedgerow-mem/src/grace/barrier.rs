//! A barrier of two unequal halves: the frequent side pays nothing, the rare side pays for both.
//!
//! *Frequent*: store, [`light`], load. *Rare*: store, [`heavy`], load. At least one of the loads sees the
//! other side's store, as if both sides had a sequentially consistent fence in the middle. If the system can
//! run a full barrier on all threads of the process (Linux: `membarrier`, "private expedited"), that is the
//! heavy half, and the light half only keeps the compiler from reordering. Otherwise both are such fences.

use hedgerow_core::sync::{Ordering, fence};

/// True if the light half is free. The answer is the same for the life of the process.
pub(super) fn is_asymmetric() -> bool {
    system::is_available()
}

/// Runs the frequent half. `asymmetric` is the result of [`is_asymmetric`].
#[inline]
pub(super) fn light(asymmetric: bool) {
    if asymmetric {
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Runs the rare half. False if it did not take place, because the system is short of memory: then the caller
/// may conclude nothing. Takes some microseconds and interrupts the processors that run this process.
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
        /// The answer of the system. Several threads may ask at once and get the same one. No thread waits
        /// for another: that takes milliseconds, and in a child that is forked meanwhile the other thread
        /// would be missing.
        static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
        match ANSWER.load(Ordering::Relaxed) {
            UNKNOWN => {
                let answer = if ask() { AVAILABLE } else { MISSING };
                // If they get different answers, which Linux does not give, the first one holds for all.
                let first = ANSWER.compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed);
                first.err().unwrap_or(answer) == AVAILABLE
            }
            answer => answer == AVAILABLE,
        }
    }

    /// Asks the system for the barrier. It is missing before Linux 4.14, and if a sandbox forbids the call.
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
