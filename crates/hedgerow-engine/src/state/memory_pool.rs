//! The memory that reads by the page have reserved, in use or kept for later reads, and the reads that wait
//! for more memory.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use hedgerow_core::account::Charge;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_mem::Uses;

/// A holder of memory that is kept only for speed, and can be given up at any time.
pub(crate) trait KeptForReads: Send + Sync {
    /// Gives the memory up; returns true if there was some. Takes no lock that is held during a search for
    /// memory.
    fn give_up(&self) -> bool;
}

/// The memory that reads of a store have reserved, and the read that waits for more memory.
pub(crate) struct MemoryPool {
    pub(super) uses: Arc<Uses>,
    /// Held by the read that is in line.
    line: Mutex<()>,
    is_waited_for: AtomicBool,
    pub(super) pool: Mutex<Pool>,
    /// The number of views by the page. If it is 0, no memory is kept.
    pub(super) views: AtomicU64,
    pub(super) kept: Mutex<Vec<Weak<dyn KeptForReads>>>,
}

/// The memory that reads by the page have reserved.
pub(super) struct Pool {
    pub(super) charge: Charge,
    /// The bytes of it that are not in use.
    pub(super) free: u64,
}

/// The mark of a read that may have reserved memory. It is dropped after the read's reservations.
pub(crate) struct InUse(Arc<Uses>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The place in line of the read that waits for memory. The read has it until it has read.
pub(crate) struct Line<'c> {
    is_waited_for: &'c AtomicBool,
    _first: MutexGuard<'c, ()>,
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.is_waited_for.store(false, Ordering::Relaxed);
    }
}

impl MemoryPool {
    /// Makes a pool that charges reservations to `charge`, which is empty.
    pub(crate) fn new(charge: Charge) -> MemoryPool {
        let pool = Pool { charge, free: 0 };
        MemoryPool {
            uses: Arc::default(),
            line: Mutex::default(),
            is_waited_for: AtomicBool::new(false),
            pool: Mutex::new(pool),
            views: AtomicU64::new(0),
            kept: Mutex::default(),
        }
    }

    /// Begins a read that may reserve memory.
    pub(crate) fn begin(&self) -> InUse {
        self.uses.begin();
        InUse(self.uses.clone())
    }

    /// True if a read waits for memory.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.is_waited_for.load(Ordering::Relaxed)
    }

    /// Registers a holder of memory that may be given up for reads, and for commits.
    pub(crate) fn keep(&self, kept: Weak<dyn KeptForReads>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push(kept);
    }

    /// Takes the place in line, if it is free.
    pub(super) fn first_in_line(&self) -> Option<Line<'_>> {
        let first = self.line.try_lock()?;
        self.is_waited_for.store(true, Ordering::Relaxed);
        Some(Line { is_waited_for: &self.is_waited_for, _first: first })
    }
}

thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });

/// The mark of a call on this thread that lends memory to code of callers, until it is dropped.
pub(crate) struct Lends(PhantomData<*const ()>);

impl Lends {
    pub(crate) fn begin() -> Lends {
        CALLS.set(CALLS.get() + 1);
        Lends(PhantomData)
    }

    /// Returns the number of such calls in progress on this thread.
    pub(crate) fn depth() -> u32 {
        CALLS.get()
    }
}

impl Drop for Lends {
    fn drop(&mut self) {
        CALLS.set(CALLS.get() - 1);
    }
}
