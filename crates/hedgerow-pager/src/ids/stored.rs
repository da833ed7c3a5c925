//! Keys that are in segments and may be unknown to memory. A look-up that finds nothing in memory searches
//! the segments, and memory learns the result ([`StoredKeys`](crate::pager::pages::StoredKeys),
//! [`keys`](crate::pager::keys)); the rules K1 to K6 are in `docs/design/stored-keys.md`.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Ordering};

/// The number of keys that are read page by page in about the time of one look-up in segments.
const KEYS_OF_A_LOOK: u64 = 128;

/// The keys that were in segments when the store was opened, and that the opening did not read.
#[derive(Default)]
pub struct Stored {
    /// The number of keys at the opening; 0 if all keys are in memory.
    keys: u64,
    /// The begin of the bindings in segments of ids that memory does not know: the checkpoint that the store
    /// was opened from.
    since: Timestamp,
    /// The number of look-ups in segments.
    asked: AtomicU64,
    /// The number of vertices whose keys calls asked for.
    requested: AtomicU64,
    /// True if memory knows all keys by now.
    all_known: AtomicBool,
}

impl Stored {
    /// Makes the state for `keys` keys, as of `since`.
    pub fn new(keys: u64, since: Timestamp) -> Stored {
        Stored { keys, since, ..Stored::default() }
    }

    /// True if there are such keys. The result never changes, so that a look-up without a result need not be
    /// ordered with the thread that reads the last keys.
    #[inline]
    pub fn are_there(&self) -> bool {
        self.keys > 0
    }

    /// Returns the number of such keys when the store was opened.
    pub fn count(&self) -> u64 {
        self.keys
    }

    /// Returns the timestamp from which they name their vertices, for all readers.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// True if memory knows all of them by now: then a key that it did not know must be looked up again.
    pub fn all_known(&self) -> bool {
        !self.are_there() || self.all_known.load(Ordering::Acquire)
    }

    /// Records that memory knows all of them.
    pub(crate) fn note_all_known(&self) {
        self.all_known.store(true, Ordering::Release);
    }

    /// Counts vertices whose keys a call asks for. True if all calls have asked for an eighth of all keys
    /// since the last time that this returned true: then reading the rest at once costs less than checking
    /// for each vertex whether its key is known.
    pub fn note_requested(&self, vertices: u64) -> bool {
        let requested = self.requested.fetch_add(vertices, Ordering::Relaxed).saturating_add(vertices);
        let is_due = requested >= self.keys / 8;
        if is_due {
            self.requested.store(0, Ordering::Relaxed);
        }
        is_due
    }

    /// Counts a look-up in segments. True if reading all keys would cost no more than the look-ups since the
    /// last time that this returned true.
    pub fn note_look(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let is_due = asked.saturating_mul(KEYS_OF_A_LOOK) >= self.keys;
        if is_due {
            self.asked.store(0, Ordering::Relaxed);
        }
        is_due
    }
}
