//! Memory that reads by the page have reserved, in use or kept for those to come, and who waits for more.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use hedgerow_core::account::Charge;
use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_mem::Uses;

/// What is kept to be quicker, and can be given up at any time.
pub(crate) trait KeptForReads: Send + Sync {
    /// Lets go of it; whether there was some. Takes no lock that is held while memory is looked for.
    fn give_up(&self) -> bool;
}

/// What reads of a store have reserved, and who waits for more.
pub(crate) struct MemoryPool {
    pub(super) uses: Arc<Uses>,
    /// Held by who is in line.
    line: Mutex<()>,
    is_waited_for: AtomicBool,
    pub(super) pool: Mutex<Pool>,
    /// How many views by the page there are. Without one nothing is kept.
    pub(super) views: AtomicU64,
    pub(super) kept: Mutex<Vec<Weak<dyn KeptForReads>>>,
}

/// What reads by the page have reserved.
pub(super) struct Pool {
    pub(super) charge: Charge,
    /// How much of it nobody uses.
    pub(super) free: u64,
}

/// Counts as one that may have reserved memory, until this is dropped: after what it has reserved.
pub(crate) struct InUse(Arc<Uses>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The place in line of who waits for memory, until it has read.
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
    /// Charges what is reserved to `charge`, which has nothing yet.
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

    /// A read begins that may reserve memory.
    pub(crate) fn begin(&self) -> InUse {
        self.uses.begin();
        InUse(self.uses.clone())
    }

    /// Whether somebody waits for memory.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.is_waited_for.load(Ordering::Relaxed)
    }

    /// Remembers what may be given up for reads, and for commits.
    pub(crate) fn keep(&self, kept: Weak<dyn KeptForReads>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push(kept);
    }

    /// The place in line, if nobody has it.
    pub(super) fn first_in_line(&self) -> Option<Line<'_>> {
        let first = self.line.try_lock()?;
        self.is_waited_for.store(true, Ordering::Relaxed);
        Some(Line { is_waited_for: &self.is_waited_for, _first: first })
    }
}

thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });

/// A call of this thread that lends memory to code of callers, until this is dropped.
pub(crate) struct Lends(PhantomData<*const ()>);

impl Lends {
    pub(crate) fn begin() -> Lends {
        CALLS.set(CALLS.get() + 1);
        Lends(PhantomData)
    }

    /// How many such calls this thread is in.
    pub(crate) fn depth() -> u32 {
        CALLS.get()
    }
}

impl Drop for Lends {
    fn drop(&mut self) {
        CALLS.set(CALLS.get() - 1);
    }
}
