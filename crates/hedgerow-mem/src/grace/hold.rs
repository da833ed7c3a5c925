//! Holds: references to pages of tables that last longer than a walk.

use std::marker::PhantomData;

use hedgerow_core::sync::Ordering;

use super::barrier;
use super::read_guard::{Slot, count, ended, local, own};

/// A hold on the pages of tables: a page that is found with it stays in memory until it is dropped, also if
/// the page is evicted from its table meanwhile.
///
/// A hold may last longer than a walk, and its holder may take latches: only pages wait for holds, and
/// versions wait for walks. A thread has no hold while it waits for memory, since it may wait for a page that
/// its own hold keeps. Costs two plain stores; none if it is [empty](Hold::empty). Several threads may use a
/// hold that the thread which began it keeps.
pub struct Hold {
    /// `None` if the hold is empty.
    slot: Option<&'static Slot>,
    /// The marker that keeps the hold on its thread.
    thread: PhantomData<*const ()>,
}

// SAFETY: a shared hold only proves that pages stay in memory. The thread that began the hold ends it, after
// all borrows of it. A thread that got the borrow got it after the begin, so it sees the words of pages that
// the beginning thread would see (G3).
unsafe impl Sync for Hold {}

impl Hold {
    /// Begins a hold.
    #[inline]
    pub fn begin() -> Hold {
        let slot = local::slot();
        let held = own(&slot.held);
        // Release: a thread that sees the begin knows that the reads under earlier holds are done.
        slot.held.store(held + 1, Ordering::Release);
        if count(held) == 0 {
            barrier::light(slot.asymmetric);
        }
        Hold { slot: Some(slot), thread: PhantomData }
    }

    /// Returns an empty hold, for tables whose pages stay in memory.
    #[inline]
    pub fn empty() -> Hold {
        Hold { slot: None, thread: PhantomData }
    }

    /// Like [`empty`](Self::empty), but one that lives for ever.
    #[inline]
    pub fn none() -> &'static Hold {
        static NONE: Hold = Hold { slot: None, thread: PhantomData };
        &NONE
    }

    /// True if the hold keeps pages that may be evicted.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.slot.is_some()
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        let Some(slot) = self.slot else { return };
        let held = own(&slot.held);
        // Release: the reads under the hold are before its end. Holds of a thread end in any order, so the
        // turn changes when the last one ends.
        slot.held.store(if count(held) == 1 { ended(held) } else { held - 1 }, Ordering::Release);
        slot.pass_on();
    }
}
