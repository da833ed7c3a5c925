//! What reads of what is not in memory reserve of a memory limit before they take it (rule E10 of `docs/design/protocol.md`).
//!
//! Whoever looks at an account and takes memory afterwards may find that others looked at the same moment. So these reads take turns: one
//! looks, and what it is about to take counts before the next one looks. Memory of known size is charged in that turn. What goes into an
//! arena, which charges pieces of regions and not blocks, is promised until it is there.
//!
//! A read that finds no room has to know whether others will give some back. So each read counts as one of the [`Uses`] of the memory for as
//! long as it may have reserved some.

use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};

/// Whose turn it is to look, and the bytes that are promised. One per account with a limit.
#[derive(Default)]
pub struct Reservations {
    /// A leaf: who has it waits for nothing that can wait for memory.
    turn: Mutex<()>,
    promised: AtomicU64,
}

impl Reservations {
    /// The bytes that are promised. To be loaded before the account: what was promised is charged before the promise ends. O(1).
    #[inline]
    pub fn promised(&self) -> u64 {
        // Acquire: who finds a promise gone finds what was charged in its place.
        self.promised.load(Ordering::Acquire)
    }

    /// Charges what fits, in one turn: `charge` is called if `fits` says so, which looks at what is promised and then at the account.
    /// Returns what it said. Waits for others that have a turn; both closures must wait for nothing.
    pub fn take(&self, fits: impl FnOnce() -> bool, charge: impl FnOnce()) -> bool {
        let _turn = self.turn.lock();
        let fits = fits();
        if fits {
            charge();
        }
        fits
    }

    /// As [`take`](Self::take), and promises the bytes in place of charging them. Each is to be [ended](Self::end) once.
    pub fn promise(&self, bytes: u64, fits: impl FnOnce() -> bool) -> bool {
        self.take(fits, || self.promise_unseen(bytes))
    }

    /// Promises bytes without a look, as where there is no limit. O(1), without a turn.
    pub fn promise_unseen(&self, bytes: u64) {
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Ends promises of so many bytes, once what they were for is charged, or not to come. O(1), without a turn.
    pub fn end(&self, bytes: u64) {
        self.promised.fetch_sub(bytes, Ordering::Release);
    }
}

/// Which reads may have reserved memory. One per account with a limit.
///
/// A read begins its use before it reserves, and ends it after it has given everything back.
#[derive(Default)]
pub struct Uses {
    live: AtomicU64,
    ended: AtomicU64,
}

impl Uses {
    /// A read begins, which may reserve memory in a turn after this. Each is to be [ended](Self::end) once. O(1).
    pub fn begin(&self) {
        // Whoever sees in a turn of its own what this one reserves in a turn sees that it has begun.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// A read has given back all that it had reserved. O(1).
    pub fn end(&self) {
        // In this order: who finds that no read is left finds that one has ended. Release: and what it gave back.
        self.ended.fetch_add(1, Ordering::Release);
        self.live.fetch_sub(1, Ordering::Release);
    }

    /// How many have ended. To be loaded before the account is looked at. O(1).
    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether another look may find more room than one that began when `since` had [ended](Self::ended) and was made in a turn: others may have
    /// reserved some that they will give back, or have given it back meanwhile. O(1).
    pub fn may_give_back(&self, since: u64) -> bool {
        self.live.load(Ordering::Acquire) > 0 || self.ended() != since
    }
}
