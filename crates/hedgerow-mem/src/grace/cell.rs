//! A value that is read in walks and replaced as a whole.

use hedgerow_core::sync::{AtomicPtr, Mutex, Ordering};

use super::life::Life;
use super::read_guard::{Ongoing, ReadGuard};
use super::{barrier, read_guard};

/// A value, or none yet, that any thread reads without locks. It is replaced as a whole, and the old value is
/// freed once no walk can be reading it (invariant G2).
pub struct GraceCell<T> {
    to: AtomicPtr<Kept<T>>,
    replaced: Mutex<Replaced<T>>,
}

struct Kept<T> {
    value: T,
    /// The record for the model checkers.
    life: Life,
}

/// The replaced values that wait for walks to end.
struct Replaced<T> {
    /// Replaced values after which no barrier has run yet.
    fresh: Vec<Owned<T>>,
    waiting: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>,
    #[cfg(feature = "model-checking")]
    buried: Vec<Owned<T>>,
}

/// A value that is no longer the cell's.
struct Owned<T>(*mut Kept<T>);

// SAFETY: an owned box, under a pointer because walks may still read it.
unsafe impl<T: Send> Send for Owned<T> {}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw`, owned here alone; the caller that drops it made sure that no walk
        // reads it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

// SAFETY: readers of several threads get `&T`, and the value may be dropped by any thread.
unsafe impl<T: Send + Sync> Sync for GraceCell<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for GraceCell<T> {}

impl<T> Default for GraceCell<T> {
    fn default() -> Self {
        let replaced = Replaced {
            fresh: Vec::new(),
            waiting: Vec::new(),
            #[cfg(feature = "model-checking")]
            buried: Vec::new(),
        };
        GraceCell { to: AtomicPtr::new(std::ptr::null_mut()), replaced: Mutex::new(replaced) }
    }
}

impl<T: Send + Sync> GraceCell<T> {
    /// Calls `f` with the value, if there is one yet. `f` runs inside a walk, so it must be short and must
    /// not run code of the user. Takes no lock and no locked instruction.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let walk = ReadGuard::begin();
        self.load(&walk).map(f)
    }

    /// Returns the value, if there is one yet, for a walk that reads several cells.
    #[inline]
    pub(crate) fn load<'a>(&'a self, _walk: &'a ReadGuard) -> Option<&'a T> {
        // SAFETY: null, or a value that was the cell's when it was read, in a walk that began before and ends
        // after `'a`. It is freed after that walk (G2), or with the cell, which is borrowed for `'a`. A walk
        // inside another one is a local of a function that the outer one called, or of its block. So the
        // outer walk, which counts, ends after it.
        let kept = unsafe { self.to.load(Ordering::Acquire).as_ref() }?;
        kept.life.touch();
        Some(&kept.value)
    }

    /// Replaces the value. Only one thread at a time may call it. Takes some microseconds for the barrier,
    /// and the time to drop old values.
    pub fn replace(&self, value: T) {
        let next = Box::into_raw(Box::new(Kept { value, life: Life::default() }));
        let before = self.to.swap(next, Ordering::AcqRel);
        if before.is_null() {
            return;
        }
        let mut replaced = self.replaced.lock();
        replaced.fresh.push(Owned(before));
        if barrier::heavy() {
            let fresh = std::mem::take(&mut replaced.fresh);
            replaced.waiting.push((fresh, read_guard::ongoing()));
        }
        let (over, waiting) = std::mem::take(&mut replaced.waiting)
            .into_iter()
            .partition(|(_, walks)| walks.iter().all(Ongoing::has_ended));
        replaced.waiting = waiting;
        replaced.let_go(over);
    }
}

impl<T> Replaced<T> {
    #[cfg(not(feature = "model-checking"))]
    fn let_go(&mut self, over: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>) {
        drop(over);
    }

    /// Notes the end of the values, for the model checkers. The memory stays until the model is done, so that
    /// the checker finds a walk that still reads it.
    #[cfg(feature = "model-checking")]
    fn let_go(&mut self, over: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>) {
        for owned in over.into_iter().flat_map(|(owned, _)| owned) {
            // SAFETY: owned, and not freed yet.
            unsafe { &*owned.0 }.life.end();
            self.buried.push(owned);
        }
    }
}

impl<T> Drop for GraceCell<T> {
    fn drop(&mut self) {
        let last = self.to.load(Ordering::Relaxed);
        if !last.is_null() {
            // The cell is owned here alone: no walk reads its value.
            drop(Owned(last));
        }
    }
}
