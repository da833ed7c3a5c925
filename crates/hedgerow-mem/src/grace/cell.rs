//! A value that is read in walks and replaced as a whole.

use hedgerow_core::sync::{AtomicPtr, Mutex, Ordering};

use super::read_guard::{self, ReadGuard};
use super::replaced::{Kept, Owned, Replaced};

/// A value, or none yet, that any thread reads without locks. It is replaced as a whole, and the old value is
/// freed once no walk can be reading it (invariant G2).
pub struct GraceCell<T> {
    to: AtomicPtr<Kept<T>>,
    replaced: Mutex<Replaced<T>>,
}

// SAFETY: readers of several threads get `&T`, and the value may be dropped by any thread.
unsafe impl<T: Send + Sync> Sync for GraceCell<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for GraceCell<T> {}

impl<T> Default for GraceCell<T> {
    fn default() -> Self {
        GraceCell { to: AtomicPtr::new(std::ptr::null_mut()), replaced: Mutex::default() }
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
        let before = self.to.swap(Kept::boxed(value), Ordering::AcqRel);
        if before.is_null() {
            return;
        }
        let mut replaced = self.replaced.lock();
        replaced.push(Owned::new(before));
        replaced.advance(read_guard::ongoing);
    }
}

impl<T> Drop for GraceCell<T> {
    fn drop(&mut self) {
        let last = self.to.load(Ordering::Relaxed);
        if !last.is_null() {
            // The cell is owned here alone: no walk reads its value.
            drop(Owned::new(last));
        }
    }
}
