//! The life of a version, for the model checkers.

/// A record of the end of a version. It is empty in a real build. Under a model checker it finds uses of a
/// version after its end, and uses that are not ordered before the end.
#[derive(Default)]
pub(crate) struct Life {
    #[cfg(feature = "model-checking")]
    ended: std::sync::atomic::AtomicBool,
    #[cfg(feature = "loom")]
    uses: Uses,
}

/// A cell whose accesses the checker compares: uses are reads, the end is a write.
#[cfg(feature = "loom")]
struct Uses(loom::cell::UnsafeCell<()>);

#[cfg(feature = "loom")]
impl Default for Uses {
    fn default() -> Self {
        Uses(loom::cell::UnsafeCell::new(()))
    }
}

#[cfg(feature = "loom")]
// SAFETY: nothing is in it; the checker reports accesses that are not ordered.
unsafe impl Sync for Uses {}

impl Life {
    /// Notes a use.
    #[inline]
    pub(crate) fn touch(&self) {
        #[cfg(feature = "model-checking")]
        assert!(!self.ended.load(std::sync::atomic::Ordering::Relaxed), "a version is used after its end");
        #[cfg(feature = "loom")]
        self.uses.0.with(|_| ());
    }

    /// Notes the end.
    #[cfg(feature = "model-checking")]
    pub(crate) fn end(&self) {
        self.ended.store(true, std::sync::atomic::Ordering::Relaxed);
        #[cfg(feature = "loom")]
        self.uses.0.with_mut(|_| ());
    }
}
