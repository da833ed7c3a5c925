//! Reservations of memory for reads of data that is not in memory (rule E10 of
//! `docs/design/reservations.md`).
//!
//! If a thread looks at an account and takes memory afterwards, another thread may look at the same moment.
//! So these reads take turns: one looks, and the memory that it is about to take counts before the next one
//! looks. Memory of known size is charged in that turn. Memory in an arena, which charges increments of
//! regions and not blocks, is promised until it is taken.
//!
//! A read that finds no room has to know whether other reads will give some back. So each read counts as one
//! of the [`Uses`] of the memory for as long as it may have reserved some.

use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};

/// The lock of the read whose turn it is, and the promised bytes. One per account with a limit.
#[derive(Default)]
pub struct Reservations {
    /// A leaf lock: its holder waits for nothing that can wait for memory.
    turn: Mutex<()>,
    promised: AtomicU64,
}

impl Reservations {
    /// Returns the promised bytes. The caller loads them before the account: a promise ends only after its
    /// memory was charged. O(1).
    #[inline]
    pub fn promised(&self) -> u64 {
        // Acquire: a thread that sees a promise end also sees the charge in its place.
        self.promised.load(Ordering::Acquire)
    }

    /// Charges memory in one turn if it fits. `fits` looks at the promises and then at the account; `charge`
    /// is called if it returns true. Returns the result of `fits`. Waits for other turns; both closures must
    /// not wait.
    pub fn take(&self, fits: impl FnOnce() -> bool, charge: impl FnOnce()) -> bool {
        let _turn = self.turn.lock();
        let fits = fits();
        if fits {
            charge();
        }
        fits
    }

    /// Like [`take`](Self::take), but promises the bytes in place of charging them. The caller
    /// [ends](Self::end) each promise once.
    pub fn promise(&self, bytes: u64, fits: impl FnOnce() -> bool) -> bool {
        self.take(fits, || self.promise_unseen(bytes))
    }

    /// Promises bytes without a look, for accounts without a limit. O(1), without a turn.
    pub fn promise_unseen(&self, bytes: u64) {
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Ends promises of `bytes` bytes, once their memory is charged or will not be taken. O(1), without a
    /// turn.
    pub fn end(&self, bytes: u64) {
        self.promised.fetch_sub(bytes, Ordering::Release);
    }
}

/// The reads that may have reserved memory. One per account with a limit.
///
/// A read begins its use before it reserves, and ends it after it has given everything back.
#[derive(Default)]
pub struct Uses {
    live: AtomicU64,
    ended: AtomicU64,
}

impl Uses {
    /// Counts a read that may reserve memory, in a turn after this call. The caller [ends](Self::end) it
    /// once. O(1).
    pub fn begin(&self) {
        // A thread that sees, in a turn, the reservation that this read made in its turn also sees this
        // increment.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a read that has given back all that it had reserved. O(1).
    pub fn end(&self) {
        // In this order: a thread that sees no read left also sees that one has ended. Release: it also sees
        // the memory that was given back.
        self.ended.fetch_add(1, Ordering::Release);
        self.live.fetch_sub(1, Ordering::Release);
    }

    /// Returns how many reads have ended. The caller loads this before it looks at the account. O(1).
    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// True if another look may find more room than one in a turn that began when `since` reads had
    /// [ended](Self::ended). Other reads may hold reservations that they will give back, or may have given
    /// some back meanwhile. O(1).
    pub fn may_give_back(&self, since: u64) -> bool {
        self.live.load(Ordering::Acquire) > 0 || self.ended() != since
    }
}
