//! The memory that the calls of a store have taken within its limit (rule B1 of `docs/design/budget.md`).
//!
//! If a thread checks an account and then takes memory, another thread may check at the same moment. So calls
//! take turns: one checks the account and takes its memory before the next one checks. Memory of known size
//! is charged in that turn. Memory in an arena, which charges increments of regions and not blocks, is
//! promised until the arena has charged it.
//!
//! A call that finds no room must know whether others will give memory back. So each call counts as a holder
//! while it may have taken memory.

use hedgerow_core::sync::{AtomicU64, Mutex, Ordering};

/// The lock of the call whose turn it is, the promised bytes, and the number of holders. Each account with a
/// limit has one.
#[derive(Default)]
pub struct Takings {
    /// A leaf lock: its holder waits for nothing that can wait for memory.
    turn: Mutex<()>,
    promised: AtomicU64,
    holders: AtomicU64,
    ended: AtomicU64,
}

impl Takings {
    /// Returns the promised bytes. The caller loads them before it reads the account: a promise ends only
    /// after its memory was charged. O(1).
    #[inline]
    pub fn promised(&self) -> u64 {
        // Acquire: a thread that sees a promise end also sees the charge that replaced it.
        self.promised.load(Ordering::Acquire)
    }

    /// Holds the turn while it calls `fits` and, if that returns true, `take`, which charges or
    /// [promises](Self::promise) the memory. Returns the result of `fits`, which reads the promises and then
    /// the account. Waits for the turn; neither closure may wait.
    pub fn take(&self, fits: impl FnOnce() -> bool, take: impl FnOnce()) -> bool {
        let _turn = self.turn.lock();
        let fits = fits();
        if fits {
            take();
        }
        fits
    }

    /// Promises bytes. The caller [ends](Self::end_promise) each promise once. O(1), without a turn.
    pub fn promise(&self, bytes: u64) {
        self.promised.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Ends promises of `bytes` bytes, once their memory is charged or will not be taken. O(1), without a
    /// turn.
    pub fn end_promise(&self, bytes: u64) {
        self.promised.fetch_sub(bytes, Ordering::Release);
    }

    /// Counts a call that may take memory, in a turn after this call. The caller [ends](Self::end) it once.
    /// O(1).
    pub fn begin(&self) {
        // A thread that sees, in a turn, the memory that this call took in its turn also sees this increment.
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a call that has given back all that it had taken. O(1).
    pub fn end(&self) {
        // In this order: a thread that sees no holder also sees that this one has ended. Release: it also
        // sees the memory that was given back.
        self.ended.fetch_add(1, Ordering::Release);
        self.holders.fetch_sub(1, Ordering::Release);
    }

    /// Counts the return of memory by a call that was no holder. O(1).
    pub fn returned(&self) {
        // Release, as in `end`.
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// Returns how many holders have ended, and how many other calls have returned memory. The caller loads
    /// this before it checks the account. O(1).
    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// True if a new check may find more room than a check in a turn that began when `since` holders had
    /// [ended](Self::ended). Others may have given memory back meanwhile, or may hold some that they will
    /// give back. O(1).
    pub fn may_give_back(&self, since: u64) -> bool {
        self.holders.load(Ordering::Acquire) > 0 || self.ended() != since
    }
}
