//! Atomics, locks and the shared-pointer cell behind one switch, so that the code that runs is the code that
//! is checked. They are the real ones, with the feature `loom` the model checker's, and with `shuttle` the
//! controlled scheduler's. The model checker explores small protocols under weak memory, exhaustively. The
//! scheduler explores whole transactions under sequential consistency, at random.

use std::sync::Arc;

#[cfg(all(target_os = "linux", not(feature = "model-checking")))]
#[allow(unsafe_code)]
mod lock;
#[cfg(feature = "shuttle")]
mod scheduled;
mod signal;

pub use signal::Signal;

#[cfg(feature = "shuttle")]
pub use scheduled::{Condvar, Mutex, MutexGuard, fence, yield_now};
#[cfg(feature = "shuttle")]
pub use shuttle::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
#[cfg(feature = "shuttle")]
pub use shuttle::{lazy_static, thread_local};

#[cfg(not(feature = "model-checking"))]
pub use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(not(feature = "model-checking"))]
pub use std::thread_local;

#[cfg(feature = "loom")]
pub use loom::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
#[cfg(feature = "loom")]
pub use loom::{lazy_static, thread_local};

#[cfg(all(target_os = "linux", not(feature = "model-checking")))]
pub use lock::{Condvar, Mutex, MutexGuard};

#[cfg(all(not(target_os = "linux"), not(feature = "model-checking")))]
pub use parking_lot::{Condvar, Mutex, MutexGuard};

#[cfg(feature = "loom")]
pub use model::{Condvar, Mutex, MutexGuard};

/// Lets another thread run, in a loop that waits for one.
#[cfg(not(feature = "model-checking"))]
pub fn yield_now() {
    std::thread::yield_now();
}

/// Lets another thread run, in a loop that waits for one.
#[cfg(feature = "loom")]
pub fn yield_now() {
    loom::thread::yield_now();
}

/// A cell with an `Option<Arc<T>>`, read without locks and replaced atomically.
///
/// A load returns a protected pointer: its target stays alive until the guard is dropped, even if the cell is
/// overwritten meanwhile. Loads are lock-free; under the model checker a small lock replaces the library.
pub struct ArcCell<T> {
    #[cfg(not(feature = "loom"))]
    inner: arc_swap::ArcSwapOption<T>,
    #[cfg(feature = "loom")]
    inner: Mutex<Option<Arc<T>>>,
}

/// A loaded pointer of an [`ArcCell`].
#[cfg(not(feature = "loom"))]
pub type ArcGuard<T> = arc_swap::Guard<Option<Arc<T>>>;

/// A loaded pointer of an [`ArcCell`].
#[cfg(feature = "loom")]
pub type ArcGuard<T> = Box<Option<Arc<T>>>;

impl<T> ArcCell<T> {
    /// Returns a cell with `value`.
    pub fn new(value: Option<Arc<T>>) -> Self {
        #[cfg(not(feature = "loom"))]
        let inner = arc_swap::ArcSwapOption::new(value);
        #[cfg(feature = "loom")]
        let inner = Mutex::new(value);
        ArcCell { inner }
    }

    /// Returns the current value, protected until the guard is dropped. Keep a guard for one operation, not
    /// for a whole analysis.
    #[inline]
    pub fn load(&self) -> ArcGuard<T> {
        #[cfg(not(feature = "loom"))]
        return self.inner.load();
        #[cfg(feature = "loom")]
        return Box::new(self.inner.lock().clone());
    }

    /// Returns the current value as an owned reference.
    #[inline]
    pub fn load_full(&self) -> Option<Arc<T>> {
        #[cfg(not(feature = "loom"))]
        return self.inner.load_full();
        #[cfg(feature = "loom")]
        return self.inner.lock().clone();
    }

    /// Replaces the value.
    pub fn store(&self, value: Option<Arc<T>>) {
        #[cfg(not(feature = "loom"))]
        self.inner.store(value);
        #[cfg(feature = "loom")]
        {
            *self.inner.lock() = value;
        }
    }
}

impl<T> Default for ArcCell<T> {
    fn default() -> Self {
        ArcCell::new(None)
    }
}

#[cfg(feature = "loom")]
mod model {
    //! The model checker's locks under the interface of the real ones.

    use super::{AtomicBool, Ordering};

    /// A lock. The checker's own `try_lock` blocks if another thread gets the lock first, unlike a real one.
    /// So a flag decides which thread holds the lock; the checker's inner lock is only for the value and the
    /// condition variables.
    pub struct Mutex<T> {
        held: AtomicBool,
        inner: loom::sync::Mutex<T>,
    }

    /// A held lock. The inner guard is `None` only inside [`Condvar::wait`] and during the drop.
    pub struct MutexGuard<'a, T> {
        lock: &'a Mutex<T>,
        inner: Option<loom::sync::MutexGuard<'a, T>>,
    }

    impl<T> std::ops::Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.inner.as_ref().expect("held")
        }
    }

    impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.inner.as_mut().expect("held")
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            drop(self.inner.take());
            self.lock.held.store(false, Ordering::Release);
        }
    }

    impl<T> Mutex<T> {
        /// Returns a lock around `value`.
        pub fn new(value: T) -> Self {
            Mutex { held: AtomicBool::new(false), inner: loom::sync::Mutex::new(value) }
        }

        /// Returns the locked value.
        pub fn into_inner(self) -> T {
            self.inner.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
        }

        /// Takes the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            loop {
                if let Some(guard) = self.try_lock() {
                    return guard;
                }
                super::yield_now();
            }
        }

        /// Takes the lock if it is free.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
            let inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Some(MutexGuard { lock: self, inner: Some(inner) })
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Mutex::new(T::default())
        }
    }

    /// A condition variable.
    pub struct Condvar(loom::sync::Condvar);

    impl Default for Condvar {
        fn default() -> Self {
            Condvar(loom::sync::Condvar::new())
        }
    }

    impl Condvar {
        /// Returns a condition variable without waiters.
        pub fn new() -> Self {
            Self::default()
        }

        /// Waits for a notification; releases the lock meanwhile.
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let inner = guard.inner.take().expect("held");
            // A notifier that takes the flag now still has to wait for the inner lock, which `wait` releases
            // atomically.
            guard.lock.held.store(false, Ordering::Release);
            drop(self.0.wait(inner).unwrap_or_else(std::sync::PoisonError::into_inner));
            let mut again = guard.lock.lock();
            guard.inner = again.inner.take();
            std::mem::forget(again);
        }

        /// Wakes all waiters.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }

        /// Wakes one waiter.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }
    }
}
