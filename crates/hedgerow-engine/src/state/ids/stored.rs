//! Keys that segments hold and memory need not know. Who finds nothing in memory asks the segments, and has memory know what they say
//! (`state::pages::StoredKeys`, `state::keys`); the rules K1 to K6 are in `docs/design/larger-than-memory.md`.

use hedgerow_core::Timestamp;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Ordering};

/// One look-up in segments takes about as long as reading so many keys page by page.
const KEYS_OF_A_LOOK: u64 = 128;

/// The keys that segments held when the store was opened, and that memory did not read then.
#[derive(Default)]
pub(crate) struct Stored {
    /// How many there were; 0 where all keys are in memory.
    keys: u64,
    /// Since when what segments say of an id is so of which memory knows nothing: the checkpoint that the store was opened from.
    since: Timestamp,
    /// How often segments were asked for a key.
    asked: AtomicU64,
    /// Whether memory knows all keys by now.
    all_known: AtomicBool,
}

impl Stored {
    /// So many keys, as of `since`.
    pub(crate) fn new(keys: u64, since: Timestamp) -> Stored {
        Stored { keys, since, ..Stored::default() }
    }

    /// Whether there are any. It never changes, so that a look-up that found nothing need not be ordered with whoever reads the last keys.
    #[inline]
    pub(crate) fn are_there(&self) -> bool {
        self.keys > 0
    }

    /// How many there were when the store was opened.
    pub(crate) fn count(&self) -> u64 {
        self.keys
    }

    /// Since when they name their vertices, as far as readers can see.
    pub(crate) fn since(&self) -> Timestamp {
        self.since
    }

    /// Whether memory knows all of them: what it did not know before is to be looked up again.
    pub(crate) fn all_known(&self) -> bool {
        !self.are_there() || self.all_known.load(Ordering::Acquire)
    }

    /// Says that memory knows all of them.
    pub(crate) fn note_all_known(&self) {
        self.all_known.store(true, Ordering::Release);
    }

    /// Counts a look in segments; whether reading all keys costs no more than those since the last time that it did.
    pub(crate) fn note_look(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let is_due = asked.saturating_mul(KEYS_OF_A_LOOK) >= self.keys;
        if is_due {
            self.asked.store(0, Ordering::Relaxed);
        }
        is_due
    }
}
