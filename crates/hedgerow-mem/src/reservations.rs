//! Reservations of memory for reads of data that is not in memory (rule E10 of
//! `docs/design/reservations.md`).
//!
//! If a thread checks an account and then takes memory, another thread may check at the same moment. So these
//! reads take turns: a read checks the account and reserves its memory before the next read checks. Memory of
//! known size is charged in that turn. Memory in an arena, which charges increments of regions and not
//! blocks, is promised until it is taken.
//!
//! A read that finds no room must know whether other reads will give memory back. So each read counts in
//! [`Uses`] while it may have reserved memory.

use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};

/// The lock of the read whose turn it is, and the promised bytes. Each account with a limit has one.
#[derive(Default)]
pub struct Reservations {
    /// A leaf lock: its holder waits for nothing that can wait for memory.
    turn: Mutex<()>,
    promised: AtomicU64,
}

impl Reservations {
    /// Returns the promised bytes. The caller loads them before it reads the account: a promise ends only
    /// after its memory was charged. O(1).
    #[inline]
    pub fn promised(&self) -> u64 {
        // Acquire: a thread that sees a promise end also sees the charge that replaced it.
        self.promised.load(Ordering::Acquire)
    }

    /// Holds the lock of the reservations while it calls `fits` and, if that returns true, `charge`. Returns
    /// the result of `fits`, which reads the promises and then the account. Waits for the lock; neither
    /// closure may wait.
    pub fn take(&self, fits: impl FnOnce() -> bool, charge: impl FnOnce()) -> bool {
        let _turn = self.turn.lock();
        let fits = fits();
        if fits {
            charge();
        }
        fits
    }

    /// Like [`take`](Self::take), but promises the bytes instead of charging them. The caller
    /// [ends](Self::end) each promise once.
    pub fn promise(&self, bytes: u64, fits: impl FnOnce() -> bool) -> bool {
        self.take(fits, || self.promise_unseen(bytes))
    }

    /// Promises bytes without a check, for accounts without a limit. O(1), without a turn.
    pub fn promise_unseen(&self, bytes: u64) {
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Ends promises of `bytes` bytes, once their memory is charged or will not be taken. O(1), without a
    /// turn.
    pub fn end(&self, bytes: u64) {
        self.promised.fetch_sub(bytes, Ordering::Release);
    }
}

/// The reads that may have reserved memory. Each account with a limit has one.
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
        // In this order: a thread that sees no live read also sees that this read has ended. Release: it also
        // sees the memory that was given back.
        self.ended.fetch_add(1, Ordering::Release);
        self.live.fetch_sub(1, Ordering::Release);
    }

    /// Returns how many reads have ended. The caller loads this before it checks the account. O(1).
    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// True if a new check may find more room than a check in a turn that began when `since` reads had
    /// [ended](Self::ended). Other reads may have given memory back meanwhile, or may hold reservations that
    /// they will give back. O(1).
    pub fn may_give_back(&self, since: u64) -> bool {
        self.live.load(Ordering::Acquire) > 0 || self.ended() != since
    }
}
