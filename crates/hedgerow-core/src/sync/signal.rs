//! A place to sleep until another thread says that something happened.

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
            // Woken, interrupted or moved on meanwhile: the caller looks in every case.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, seen, None);
        }

        pub(super) fn wake(&self, most: u32) {
            // Fails for no word that is mapped.
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

/// A counter that threads wait to move on. Whoever wants to sleep reads it, looks whether there is reason to, and sleeps
/// only while it stands where it was: so no advance in between is missed. Sleepers may wake without reason.
///
/// Unlike a condition variable it makes no sleeper take a lock when it wakes, and wakes all of them in one system call.
#[derive(Default)]
pub struct Signal(word::Word);

impl Signal {
    /// Where the counter stands, modulo 2^32.
    pub fn now(&self) -> u32 {
        self.0.now()
    }

    /// Moves the counter on. Wakes nobody yet: those who sleep are woken by [`wake_all`](Self::wake_all) or
    /// [`wake_one`](Self::wake_one), which may come after a lock was released.
    pub fn advance(&self) {
        self.0.advance();
    }

    /// Sleeps unless the counter has moved on from `seen`. May return without reason.
    pub fn sleep(&self, seen: u32) {
        self.0.sleep(seen);
    }

    /// Wakes everybody who sleeps.
    pub fn wake_all(&self) {
        self.0.wake(u32::MAX >> 1);
    }

    /// Wakes one of those who sleep, if there are any.
    pub fn wake_one(&self) {
        self.0.wake(1);
    }
}
