//! A place to sleep until another thread reports an event.

#[cfg(all(target_os = "linux", not(feature = "model-checking")))]
mod word {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::thread::futex;

    /// A counter in the one word that the kernel compares.
    #[derive(Debug, Default)]
    pub(super) struct Word(AtomicU32);

    impl Word {
        pub(super) fn now(&self) -> u32 {
            self.0.load(Ordering::SeqCst)
        }

        pub(super) fn advance(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }

        pub(super) fn sleep(&self, seen: u32) {
            // The thread was woken or interrupted, or the counter advanced before: the caller looks in every
            // case.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, seen, None);
        }

        pub(super) fn wake(&self, most: u32) {
            // The call fails for no mapped word.
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, most);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(feature = "model-checking"))))]
mod word {
    use crate::sync::{Condvar, Mutex};

    /// A counter under a lock.
    #[derive(Default)]
    pub(super) struct Word {
        count: Mutex<u32>,
        moved: Condvar,
    }

    impl Word {
        pub(super) fn now(&self) -> u32 {
            *self.count.lock()
        }

        pub(super) fn advance(&self) {
            let mut count = self.count.lock();
            *count = count.wrapping_add(1);
        }

        pub(super) fn sleep(&self, seen: u32) {
            let mut count = self.count.lock();
            if *count == seen {
                self.moved.wait(&mut count);
            }
        }

        pub(super) fn wake(&self, most: u32) {
            let count = self.count.lock();
            if most == 1 {
                self.moved.notify_one();
            } else {
                self.moved.notify_all();
            }
            drop(count);
        }
    }
}

/// A counter on whose advance threads wait. A thread that may sleep reads the counter, looks whether it has a
/// reason to sleep, and sleeps only while the counter has the value that it read. So it misses no advance in
/// between. Sleepers may wake without reason.
///
/// Unlike a condition variable it makes no sleeper take a lock when it wakes, and it wakes all sleepers in
/// one system call.
#[derive(Default)]
pub struct Signal(word::Word);

impl Signal {
    /// Returns the value of the counter, modulo 2^32.
    pub fn now(&self) -> u32 {
        self.0.now()
    }

    /// Advances the counter. Wakes no sleeper yet: [`wake_all`](Self::wake_all) or
    /// [`wake_one`](Self::wake_one) does, possibly after the caller released a lock.
    pub fn advance(&self) {
        self.0.advance();
    }

    /// Sleeps unless the counter has advanced from `seen`. May return without reason.
    pub fn sleep(&self, seen: u32) {
        self.0.sleep(seen);
    }

    /// Wakes all sleepers.
    pub fn wake_all(&self) {
        self.0.wake(u32::MAX >> 1);
    }

    /// Wakes one sleeper, if there is one.
    pub fn wake_one(&self) {
        self.0.wake(1);
    }
}
