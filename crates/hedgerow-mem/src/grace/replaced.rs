//! Values that were replaced. Each is kept until no reader can have it any more.

use super::barrier;
use super::life::Life;
use super::read_guard::Ongoing;

/// A value, and the record of its life that the model checkers use.
pub(super) struct Kept<T> {
    pub(super) value: T,
    pub(super) life: Life,
}

impl<T> Kept<T> {
    pub(super) fn boxed(value: T) -> *mut Kept<T> {
        Box::into_raw(Box::new(Kept { value, life: Life::default() }))
    }
}

/// A value that was taken out of its place. Readers may still have it.
pub(super) struct Owned<T>(*mut Kept<T>);

// SAFETY: an owned box. It is stored as a pointer, because readers may still have its value.
unsafe impl<T: Send> Send for Owned<T> {}

impl<T> Owned<T> {
    /// Takes over a value that was made by [`Kept::boxed`] and that no other owner has.
    pub(super) fn new(value: *mut Kept<T>) -> Owned<T> {
        Owned(value)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `Box::into_raw` made the pointer, and no other owner has it. A caller drops an `Owned` only
        // after no reader can have its value any more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The replaced values that are kept because readers may have them.
pub(super) struct Replaced<T> {
    /// Values that were replaced after the last barrier.
    fresh: Vec<Owned<T>>,
    waiting: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>,
    #[cfg(feature = "model-checking")]
    buried: Vec<Owned<T>>,
}

impl<T> Default for Replaced<T> {
    fn default() -> Self {
        Replaced {
            fresh: Vec::new(),
            waiting: Vec::new(),
            #[cfg(feature = "model-checking")]
            buried: Vec::new(),
        }
    }
}

impl<T> Replaced<T> {
    /// Adds a value.
    pub(super) fn push(&mut self, value: Owned<T>) {
        self.fresh.push(value);
    }

    /// Runs a barrier if values were added since the last one. Drops the values that no reader can have any
    /// more, and returns their number. `ongoing` returns the readers in progress.
    pub(super) fn advance(&mut self, ongoing: impl FnOnce() -> Vec<Ongoing>) -> usize {
        if !self.fresh.is_empty() && barrier::heavy() {
            let fresh = std::mem::take(&mut self.fresh);
            self.waiting.push((fresh, ongoing()));
        }
        let (over, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(_, readers)| readers.iter().all(Ongoing::has_ended));
        self.waiting = waiting;
        self.drop_all(over)
    }

    #[cfg(not(feature = "model-checking"))]
    fn drop_all(&mut self, over: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>) -> usize {
        over.into_iter().map(|(values, _)| values.len()).sum()
    }

    /// Notes for the model checkers that the lives of the values have ended. The memory of the values stays
    /// until the model is done. So a checker finds a reader that still reads such a value.
    #[cfg(feature = "model-checking")]
    fn drop_all(&mut self, over: Vec<(Vec<Owned<T>>, Vec<Ongoing>)>) -> usize {
        let before = self.buried.len();
        for owned in over.into_iter().flat_map(|(owned, _)| owned) {
            // SAFETY: owned, and not freed yet.
            unsafe { &*owned.0 }.life.end();
            self.buried.push(owned);
        }
        self.buried.len() - before
    }
}
