//! A barrier of two unequal halves: the frequent side pays nothing, the rare side pays for both.
//!
//! *Frequent*: store, [`light`], load. *Rare*: store, [`heavy`], load. At least one of the loads sees the
//! other side's store, as if both sides had a sequentially consistent fence in the middle. The system may be
//! able to run a full barrier on all threads of the process (Linux: `membarrier`, "private expedited"). Then
//! that barrier is the heavy half, and the light half only keeps the compiler from reordering. Otherwise both
//! halves are sequentially consistent fences.

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

/// Runs the rare half. False if the barrier did not take place because the system is short of memory. Then
/// the caller may conclude nothing. Takes some microseconds and interrupts the processors that run this
/// process.
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
        /// The answer of the system. Several threads may ask at once and get the same answer. No thread waits
        /// for another: that takes milliseconds, and a child that is forked meanwhile would lack the other
        /// thread.
        static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
        match ANSWER.load(Ordering::Relaxed) {
            UNKNOWN => {
                let answer = if ask() { AVAILABLE } else { MISSING };
                // If the threads get different answers, which Linux does not give, the first answer is used
                // by all.
                let first = ANSWER.compare_exchange(UNKNOWN, answer, Ordering::Relaxed, Ordering::Relaxed);
                first.err().unwrap_or(answer) == AVAILABLE
            }
            answer => answer == AVAILABLE,
        }
    }

    /// Asks the system for the barrier. The call does not exist before Linux 4.14, and a sandbox may forbid
    /// it.
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
