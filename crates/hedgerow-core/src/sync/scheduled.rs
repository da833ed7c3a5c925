//! The controlled scheduler's locks under the interface of the real ones. [`ArcCell`](super::ArcCell) stays
//! the real one: a thread is never preempted inside the library, only before and after a call of it.

use super::Ordering;

/// A lock.
#[derive(Debug)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

/// A held lock. The inner guard is `None` only inside [`Condvar::wait`].
pub struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

impl<T> std::ops::Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("held")
    }
}

impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("held")
    }
}

impl<T> Mutex<T> {
    /// Returns a lock around `value`.
    pub fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    /// Takes the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|guard| MutexGuard(Some(guard)))
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

/// A condition variable.
#[derive(Default)]
pub struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    /// Returns a condition variable without waiters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for a notification; releases the lock meanwhile.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let inner = guard.0.take().expect("held");
        guard.0 = Some(self.0.wait(inner).unwrap_or_else(std::sync::PoisonError::into_inner));
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

/// Does nothing: the scheduler runs all accesses in one order.
pub fn fence(_: Ordering) {}

/// Lets another thread run, in a loop that waits for one.
pub fn yield_now() {
    shuttle::thread::yield_now();
}
