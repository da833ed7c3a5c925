//! Locks whose whole state is one word, on which the kernel lets threads sleep.
//!
//! Locks with a table of sleepers per process, like the locks of `parking_lot`, do not work in a forked
//! child. A thread of the parent may have locked that table at the fork, and it keeps entries of threads that
//! the child lacks. The locks of this module work in a child for every store that the child opens.
//!
//! The algorithm is from U. Drepper, *Futexes Are Tricky* (2011), section "Mutex, Take 2".

use std::sync::atomic::{AtomicU32, Ordering};

use lock_api::{GuardSend, RawMutex};
use rustix::thread::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// The lock is held, and a thread may sleep until it is free.
const AWAITED: u32 = 2;

/// The number of polls of the lock before a thread sleeps. With ten times as many polls, two writers were a
/// fifth slower. A polling thread does not yield the processor (`sched_yield`): among a hundred computing
/// threads it would run again only a tenth of a second later. A sleeper that is woken runs at once.
const LOOKS: u32 = 100;

/// A lock on a word.
#[derive(Debug)]
pub struct RawLock(AtomicU32);

/// A lock. A guard may be dropped by another thread than the one that took the lock.
pub type Mutex<T> = lock_api::Mutex<RawLock, T>;
/// A held lock.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawLock, T>;

// SAFETY: a thread takes the lock by changing the word from `FREE`, and releases it by storing `FREE`. The
// first acquires, the second releases.
unsafe impl RawMutex for RawLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "how the trait makes a lock")]
    const INIT: RawLock = RawLock(AtomicU32::new(FREE));

    type GuardMarker = GuardSend;

    #[inline]
    fn lock(&self) {
        if self.0.compare_exchange_weak(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.lock_held();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == AWAITED {
            wake(&self.0, 1);
        }
    }

    fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != FREE
    }
}

impl RawLock {
    #[cold]
    fn lock_held(&self) {
        if self.look_often() == FREE && self.try_lock() {
            return;
        }
        // A thread that has slept cannot know whether other threads still sleep, so it marks the lock as
        // awaited.
        while self.0.swap(AWAITED, Ordering::Acquire) != FREE {
            sleep(&self.0, AWAITED);
            self.look_often();
        }
    }

    /// Polls the word until it is not `HELD` any more, at most [`LOOKS`] times, and returns its last value.
    fn look_often(&self) -> u32 {
        let mut state = self.0.load(Ordering::Relaxed);
        for _ in 0..LOOKS {
            if state != HELD {
                break;
            }
            std::hint::spin_loop();
            state = self.0.load(Ordering::Relaxed);
        }
        state
    }
}

/// A condition variable: threads sleep on it until the holder of a lock has changed the state for which they
/// wait.
#[derive(Debug, Default)]
pub struct Condvar {
    /// The number of notifications.
    count: AtomicU32,
    sleepers: AtomicU32,
}

impl Condvar {
    /// Makes a condition variable without sleepers.
    pub const fn new() -> Condvar {
        Condvar { count: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }

    /// Releases the lock, sleeps until a notification, and takes the lock again. May return without a
    /// notification.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        // The sleeper registers under the lock, before it reads the count: a later notifier sees the sleeper,
        // or the sleeper sees the notification.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let seen = self.count.load(Ordering::SeqCst);
        MutexGuard::unlocked(guard, || sleep(&self.count, seen));
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes one sleeper.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all sleepers.
    pub fn notify_all(&self) {
        self.notify(i32::MAX as u32);
    }

    #[inline]
    fn notify(&self, most: u32) {
        self.count.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            wake(&self.count, most);
        }
    }
}

/// Sleeps while `word` has the value `seen`. May also return early, after a signal, so the caller must check
/// again.
fn sleep(word: &AtomicU32, seen: u32) {
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, None);
}

#[cold]
fn wake(word: &AtomicU32, most: u32) {
    // The call cannot fail for a mapped word, and a word that was unmapped meanwhile has no sleeper.
    let _ = futex::wake(word, futex::Flags::PRIVATE, most);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Condvar, Mutex};

    #[test]
    fn counts_under_a_lock_are_right() {
        let count = Mutex::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for i in 0..20_000 {
                        let mut guard = count.lock();
                        let before = *guard;
                        if i % 512 == 0 {
                            std::thread::yield_now();
                        }
                        *guard = before + 1;
                    }
                });
            }
        });
        assert_eq!(*count.lock(), 160_000);
        let held = count.lock();
        assert!(count.try_lock().is_none());
        drop(held);
        assert!(count.try_lock().is_some());
    }

    #[test]
    fn every_item_of_a_queue_is_taken_once() {
        let (queue, changed) = (Mutex::new((Vec::new(), false)), Condvar::new());
        let taken = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let mut guard = queue.lock();
                        while guard.0.is_empty() && !guard.1 {
                            changed.wait(&mut guard);
                        }
                        let Some(item) = guard.0.pop() else { return };
                        drop(guard);
                        taken.lock().push(item);
                    }
                });
            }
            for item in 0..5_000 {
                queue.lock().0.push(item);
                changed.notify_one();
                if item % 1000 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            queue.lock().1 = true;
            changed.notify_all();
        });
        let mut taken = taken.into_inner();
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..5_000));
    }

    #[test]
    fn a_guard_is_dropped_by_another_thread() {
        let lock = Mutex::new(1);
        let guard = lock.lock();
        std::thread::scope(|scope| _ = scope.spawn(move || drop(guard)));
        assert!(lock.try_lock().is_some());
    }
}
