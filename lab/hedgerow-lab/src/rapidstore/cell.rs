//! A cell for a counted reference.

use std::sync::Arc;

use hedgerow_core::sync::Mutex;

/// A counted reference or none, behind a lock that is held only while a pointer is copied. Every commit
/// stores four of these references. The stores of a cell without locks must check the reads of each thread,
/// and took a third of the time of a run of single insertions.
pub(super) struct ArcLock<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for ArcLock<T> {
    fn default() -> Self {
        ArcLock::new(None)
    }
}

impl<T> ArcLock<T> {
    pub(super) fn new(value: Option<Arc<T>>) -> Self {
        ArcLock(Mutex::new(value))
    }

    #[inline]
    pub(super) fn load(&self) -> Option<Arc<T>> {
        self.0.lock().clone()
    }

    /// Replaces the reference. Frees the old one after the lock is released.
    #[inline]
    pub(super) fn store(&self, value: Option<Arc<T>>) {
        let before = std::mem::replace(&mut *self.0.lock(), value);
        drop(before);
    }
}
