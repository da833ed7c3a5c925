//! Holds: references to pages of tables that last longer than a walk.

use std::marker::PhantomData;

use hedgerow_core::sync::Ordering;

use super::barrier;
use super::read_guard::{Slot, count, ended, local, own};

/// A mark of a thread that keeps pages of tables in memory. If a caller finds a page with a hold, the page
/// stays in memory until the hold is dropped, even if another thread evicts the page from its table
/// meanwhile.
///
/// A hold may last longer than a walk, and a thread that has a hold may take latches: only pages wait for
/// holds, and only versions wait for walks. A thread must not wait for memory while it has a hold: it may
/// wait for a page that its own hold keeps. A hold costs two plain stores; an [empty](Hold::empty) hold costs
/// none. The thread that begins a hold also ends it. Other threads may use the hold in between, by reference.
pub struct Hold {
    /// `None` if the hold is empty.
    slot: Option<&'static Slot>,
    /// The marker that keeps the hold on its thread: the type is not `Send`.
    thread: PhantomData<*const ()>,
}

// SAFETY: a shared hold only proves that pages stay in memory. The thread that began the hold also ends it,
// after all borrows of the hold. Another thread gets its borrow after the hold began. So that thread sees at
// least the words of places that the first thread would see (G3).
unsafe impl Sync for Hold {}

impl Hold {
    /// Begins a hold.
    #[inline]
    pub fn begin() -> Hold {
        let slot = local::slot();
        let held = own(&slot.held);
        // Release: if another thread sees that this hold began, the reads under earlier holds are done.
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

    /// Returns a reference to an empty hold that is never dropped.
    #[inline]
    pub fn none() -> &'static Hold {
        static NONE: Hold = Hold { slot: None, thread: PhantomData };
        &NONE
    }

    /// True if the hold is not empty: then it keeps evicted pages in memory.
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
        // Release: if another thread sees that this hold ended, the reads under the hold are done. The holds
        // of a thread may end in any order. So the turn changes only when the last of them ends.
        slot.held.store(if count(held) == 1 { ended(held) } else { held - 1 }, Ordering::Release);
        slot.pass_on();
    }
}
