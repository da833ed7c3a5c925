//! A place for a counted reference.

use std::sync::Arc;

use hedgerow_core::sync::Mutex;

/// Holds a counted reference or none, behind a lock that is held while a pointer is copied: every commit
/// stores four of them, and the stores of a cell without locks, which look at what each thread reads, took a
/// third of the time of a run of single insertions.
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

    /// Replaces what is held. What was there is given up after the lock.
    #[inline]
    pub(super) fn store(&self, value: Option<Arc<T>>) {
        let before = std::mem::replace(&mut *self.0.lock(), value);
        drop(before);
    }
}
