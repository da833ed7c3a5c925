//! A signal on which threads sleep until another thread reports an event.

#[cfg(all(target_os = "linux", not(feature = "model-checking")))]
mod word {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::thread::futex;

    /// A counter in one word, which the kernel compares.
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
            // The thread was woken or interrupted, or the counter had advanced before: the caller checks in
            // every case.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, seen, None);
        }

        pub(super) fn wake(&self, most: u32) {
            // The call cannot fail for a mapped word.
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

/// A counter; threads wait until it advances. A thread reads the counter, checks whether it must wait, and
/// then sleeps only while the counter has the value that it read. So it misses no advance in between.
/// Sleepers may wake without reason.
///
/// Unlike with a condition variable, a woken sleeper takes no lock, and one system call wakes all sleepers.
#[derive(Default)]
pub struct Signal(word::Word);

impl Signal {
    /// Returns the value of the counter, modulo 2^32.
    pub fn now(&self) -> u32 {
        self.0.now()
    }

    /// Advances the counter. Wakes no sleeper yet: the caller does that by [`wake_all`](Self::wake_all) or
    /// [`wake_one`](Self::wake_one), possibly after it released a lock.
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
