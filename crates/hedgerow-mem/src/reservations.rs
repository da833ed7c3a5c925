//! What reads of what is not in memory reserve of a memory limit before they take it (rule E10 of `docs/design/protocol.md`).
//!
//! Whoever looks at an account and takes memory afterwards may find that others looked at the same moment. So these reads take turns: one
//! looks, and what it is about to take counts before the next one looks. Memory of known size is charged in that turn. What goes into an
//! arena, which charges pieces of regions and not blocks, is promised until it is there.

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
