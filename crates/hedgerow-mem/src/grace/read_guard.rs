//! Walks and holds in progress, by thread.

use std::marker::PhantomData;

use hedgerow_core::sync::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use super::barrier;

/// The state of a thread's walks and holds, on cache lines of its own.
#[repr(align(128))]
pub(super) struct Slot {
    /// Counts begins and ends of walks: odd during a walk.
    state: AtomicU64,
    /// The number of present [holds](super::Hold) in the lower half; in the upper half, how often that number
    /// fell to zero.
    pub(super) held: AtomicU64,
    /// True if a thread has the slot.
    taken: AtomicBool,
    /// True if the slot is given back at the end of its walk, because the thread's local storage is
    /// destroyed. Only its thread reads it, so the model checkers need not watch it.
    passing: std::sync::atomic::AtomicBool,
    /// True if the light half of the barrier is free.
    pub(super) asymmetric: bool,
    /// The slot that was made before this one; slots are never freed.
    before: *const Slot,
}

// SAFETY: `before` is written before the slot is published and never changes; all else is atomic.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

/// Number of bits of [`Slot::held`] that count present holds.
const COUNT: u32 = 32;

/// Returns the number of present holds in a value of [`Slot::held`].
#[inline]
pub(super) fn count(held: u64) -> u64 {
    held & ((1 << COUNT) - 1)
}

/// Returns how often that number fell to zero.
#[inline]
pub(super) fn turn(held: u64) -> u64 {
    held >> COUNT
}

/// Returns the value after the end of all holds.
pub(super) fn ended(held: u64) -> u64 {
    if count(held) == 0 { held } else { turn(held).wrapping_add(1) << COUNT }
}

/// Returns the value of a word of a slot, for the thread that has the slot.
#[inline]
pub(super) fn own(word: &AtomicU64) -> u64 {
    // No other thread writes the word, so the checker need not explore orders.
    #[cfg(feature = "loom")]
    // SAFETY: only the thread that has the slot writes it, and the checker verifies that.
    return unsafe { word.unsync_load() };
    #[cfg(not(feature = "loom"))]
    return word.load(Ordering::Relaxed);
}

impl Slot {
    /// Gives the slot back after its last use, if the thread's local storage is destroyed.
    #[inline]
    pub(super) fn pass_on(&self) {
        if self.passing.load(std::sync::atomic::Ordering::Relaxed) {
            self.taken.store(false, Ordering::Release);
        }
    }
}

/// All slots of the process. Their number is the greatest number of threads that had walks at the same time.
struct Slots {
    newest: AtomicPtr<Slot>,
}

#[cfg(not(feature = "model-checking"))]
static SLOTS: Slots = Slots { newest: AtomicPtr::new(std::ptr::null_mut()) };

#[cfg(feature = "model-checking")]
hedgerow_core::sync::lazy_static! {
    static ref SLOTS: Slots = Slots { newest: AtomicPtr::new(std::ptr::null_mut()) };
}

impl Slots {
    fn iter(&'static self) -> impl Iterator<Item = &'static Slot> {
        let mut next = self.newest.load(Ordering::Acquire).cast_const();
        std::iter::from_fn(move || {
            // SAFETY: null, or a slot, which is never freed.
            let slot = unsafe { next.as_ref() }?;
            next = slot.before;
            Some(slot)
        })
    }

    /// Returns a slot for this thread: a slot that another thread gave back, or a new one.
    fn claim(&'static self) -> &'static Slot {
        let take = |slot: &&Slot| {
            !slot.taken.load(Ordering::Relaxed)
                && slot.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        if let Some(slot) = self.iter().find(take) {
            return slot;
        }
        forked::prepare();
        let mut before = self.newest.load(Ordering::Acquire);
        let slot = Box::into_raw(Box::new(Slot {
            state: AtomicU64::new(0),
            held: AtomicU64::new(0),
            taken: AtomicBool::new(true),
            passing: std::sync::atomic::AtomicBool::new(false),
            asymmetric: barrier::is_asymmetric(),
            before,
        }));
        // Sequentially consistent, like all of claiming: a scan after the barrier sees the slot, or the walk
        // begins after the scan.
        while let Err(now) = self.newest.compare_exchange(before, slot, Ordering::SeqCst, Ordering::Acquire) {
            before = now;
            // SAFETY: the slot is not published yet.
            unsafe { (*slot).before = before };
        }
        // SAFETY: published, and never freed.
        unsafe { &*slot }
    }
}

/// The handler of forked children. A child has one thread, so walks and holds that other threads had begun at
/// the fork never end in the child. Without this handler the child would free no version of its own stores.
#[cfg(not(feature = "model-checking"))]
mod forked {
    use std::sync::atomic::AtomicBool;

    use super::{Ordering, SLOTS, local};

    /// Registers the handler of forked children. Each call but the first costs one load.
    pub(super) fn prepare() {
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        hedgerow_core::fork::on_child(&REGISTERED, in_child);
    }

    /// Ends the walks and holds of the threads that the child does not have, and gives back their slots.
    /// Loads and stores atomics only.
    fn in_child() {
        let own = local::kept().map(std::ptr::from_ref);
        for slot in SLOTS.iter().filter(|&slot| Some(std::ptr::from_ref(slot)) != own) {
            let state = slot.state.load(Ordering::Relaxed);
            slot.state.store(state + state % 2, Ordering::Relaxed);
            let held = slot.held.load(Ordering::Relaxed);
            slot.held.store(super::ended(held), Ordering::Relaxed);
            slot.taken.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(feature = "model-checking")]
mod forked {
    pub(super) fn prepare() {}
}

pub(super) mod local {
    //! The slot of this thread.

    use std::cell::Cell;

    use hedgerow_core::sync::{Ordering, thread_local};

    use super::{SLOTS, Slot};

    #[cfg(not(feature = "model-checking"))]
    thread_local! {
        /// The slot, separate from the value whose drop gives it back, so that an access is one load.
        static SLOT: Cell<Option<&'static Slot>> = const { Cell::new(None) };
        static GIVER: GiveBack = const { GiveBack };
    }

    #[cfg(feature = "model-checking")]
    thread_local! {
        static SLOT: Cell<Option<&'static Slot>> = Cell::new(None);
        static GIVER: GiveBack = GiveBack;
    }

    struct GiveBack;

    impl Drop for GiveBack {
        fn drop(&mut self) {
            if let Ok(Some(slot)) = SLOT.try_with(Cell::take) {
                slot.taken.store(false, Ordering::Release);
            }
        }
    }

    #[inline]
    pub(in super::super) fn slot() -> &'static Slot {
        match SLOT.try_with(Cell::get) {
            Ok(Some(slot)) => slot,
            _ => claim(),
        }
    }

    /// Returns the slot of this thread, if the thread had a walk.
    #[cfg(not(feature = "model-checking"))]
    pub(super) fn kept() -> Option<&'static Slot> {
        SLOT.try_with(Cell::get).ok().flatten()
    }

    #[cold]
    fn claim() -> &'static Slot {
        let slot = SLOTS.claim();
        let kept = GIVER.try_with(|_| ()).is_ok() && SLOT.try_with(|cell| cell.set(Some(slot))).is_ok();
        slot.passing.store(!kept, std::sync::atomic::Ordering::Relaxed);
        slot
    }
}

/// A walk in progress. A version that is loaded from a link during the walk stays alive until the guard is
/// dropped. Costs two plain stores.
///
/// Walks may be nested; only the outermost one counts. Versions that any thread unlinks during a walk may
/// have to wait for it. So keep a walk to one read of the engine, and run no user code in it.
pub(crate) struct ReadGuard {
    /// `None` in a walk inside another walk.
    slot: Option<&'static Slot>,
    /// The marker that keeps the guard on its thread.
    thread: PhantomData<*const ()>,
}

impl ReadGuard {
    /// Begins a walk.
    #[inline]
    pub(crate) fn begin() -> ReadGuard {
        let slot = local::slot();
        let state = own(&slot.state);
        let outermost = state.is_multiple_of(2);
        if outermost {
            // Release: a thread that sees the beginning of this walk knows that the reads of the previous
            // walk are done.
            slot.state.store(state + 1, Ordering::Release);
            barrier::light(slot.asymmetric);
        }
        ReadGuard { slot: outermost.then_some(slot), thread: PhantomData }
    }
}

impl Drop for ReadGuard {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let state = own(&slot.state);
            // Release: the reads of the walk are before its end.
            slot.state.store(state + 1, Ordering::Release);
            slot.pass_on();
        }
    }
}

/// A walk, or the holds of a thread, that a scan found in progress.
pub(super) struct Ongoing {
    slot: &'static Slot,
    of: Of,
    state: u64,
}

#[derive(Clone, Copy)]
enum Of {
    Walk,
    Holds,
}

impl Ongoing {
    /// True if that walk, or all of these holds, have ended by now. Then their reads are done.
    pub(super) fn has_ended(&self) -> bool {
        match self.of {
            Of::Walk => self.slot.state.load(Ordering::Acquire) != self.state,
            Of::Holds => turn(self.slot.held.load(Ordering::Acquire)) != self.state,
        }
    }
}

/// Returns the walks in progress. After a [`barrier::heavy`], all other walks see every store that was made
/// before that barrier.
pub(super) fn ongoing() -> Vec<Ongoing> {
    let state =
        |slot: &'static Slot| Ongoing { slot, of: Of::Walk, state: slot.state.load(Ordering::Acquire) };
    SLOTS.iter().map(state).filter(|walk| walk.state % 2 == 1).collect()
}

/// Like [`ongoing`], but for holds.
pub(super) fn ongoing_holds() -> Vec<Ongoing> {
    let held = |slot: &'static Slot| {
        let held = slot.held.load(Ordering::Acquire);
        let state = turn(held);
        (count(held) > 0).then_some(Ongoing { slot, of: Of::Holds, state })
    };
    SLOTS.iter().filter_map(held).collect()
}

/// Returns the number of slots.
#[cfg(all(test, not(feature = "model-checking")))]
pub(super) fn slots() -> usize {
    SLOTS.iter().count()
}
