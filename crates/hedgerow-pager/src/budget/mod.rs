//! The budget: the one place that decides whether memory may be taken within the limit
//! (`docs/design/budget.md`).
//!
//! A call takes memory from the budget ([`Taken`](taken::Taken)) before it uses the memory, and states the
//! purpose ([`For`]). If there is no room it holds nothing, makes room or waits for it
//! ([`room`](crate::pager::room)), and tries again.

pub mod taken;

use std::sync::{Arc, Weak};

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use hedgerow_mem::{Arena, Takings};

/// The share of the limit that stays free: small reads use it, and it absorbs errors of estimates.
const SLACK: u64 = 20;
/// The share of the slack up to which a need counts as small: small reads may use all of the slack, and small
/// merges of commits fit it without being taken from the budget.
pub const SMALL: u64 = 8;
/// The share of the limit that a thread without room frees in addition to its need.
pub(crate) const EVICTED_AHEAD: u64 = 32;
/// The reserve for the buffers of the log and of a checkpoint: these bytes, or this share of a small limit.
const BUFFERS: (u64, u64) = (4 << 20, 8);

/// The purpose of memory, by precedence: a later one leaves more of the limit free for the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum For {
    /// Lists and keys that a call reads from files and drops soon.
    Read,
    /// A commit: its operations and merges, and the chains that it loads.
    Commit,
    /// A chain or page that a read loads for later reads.
    Load,
    /// Data that only makes calls faster: views, kept windows, settled lists.
    Speed,
}

/// A need for room.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub(crate) what: For,
    pub(crate) bytes: u64,
    /// The bytes that the call has afterwards, with those that it has taken before.
    whole: u64,
    /// The bytes that gaps of the arena may not serve: one allocation, or several that are freed together.
    block: u64,
    /// True if the memory is in the arena.
    in_arena: bool,
}

impl Need {
    /// Makes the need for `bytes` bytes. Commits and loads take them in the arena, in small blocks.
    pub fn new(what: For, bytes: u64) -> Need {
        let in_arena = matches!(what, For::Commit | For::Load);
        Need { what, bytes, whole: bytes, block: if in_arena { 0 } else { bytes }, in_arena }
    }

    /// Sets the bytes that may be needed in one allocation.
    pub fn with_block(self, block: u64) -> Need {
        Need { block, ..self }
    }

    /// Adds bytes to the need.
    pub(crate) fn and(self, more: u64) -> Need {
        Need { bytes: self.bytes.saturating_add(more), ..self }
    }

    /// Moves the memory into the arena.
    pub fn in_arena(self) -> Need {
        Need { in_arena: true, block: 0, ..self }
    }

    /// Returns the bytes of the limit that stay free after the need is met.
    fn leaves(&self, limit: u64) -> u64 {
        let slack = if faults::is_on(PlantedFault::SlackIgnored) { 0 } else { slack(limit) };
        match self.what {
            For::Read if is_small(limit, self.whole) => 0,
            For::Read => slack / 2,
            For::Commit | For::Load => slack,
            For::Speed => 3 * slack,
        }
    }
}

/// The lack of memory for a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacks {
    Nothing,
    /// These bytes, which gaps of the arena have: memory pages inside gaps can be returned to the system.
    Pages(u64),
    Room,
}

/// The place in line of the call that waits for memory. The call has it until it has read.
pub(crate) struct Line<'c> {
    is_waited_for: &'c AtomicBool,
    _first: MutexGuard<'c, ()>,
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.is_waited_for.store(false, Ordering::Relaxed);
    }
}

/// Returns the bytes of the limit that only small reads take.
pub fn slack(limit: u64) -> u64 {
    limit / SLACK
}

/// True if the slack absorbs `bytes` bytes.
pub fn is_small(limit: u64, bytes: u64) -> bool {
    bytes <= slack(limit) / SMALL
}

/// Returns the reserve for the buffers of the log and of a checkpoint.
pub(crate) fn buffers(limit: u64) -> u64 {
    BUFFERS.0.min(limit / BUFFERS.1)
}

/// A holder of data that was read from files and is kept for later reads. The pager takes the memory back
/// after eviction found no room.
pub trait KeptForReads: Send + Sync {
    /// Gives the memory up; returns true if there was some. Takes no lock that is held during a search for
    /// memory.
    fn give_up(&self) -> bool;
}

/// The memory limit of a store, and the memory that its calls have taken.
pub struct Budget {
    limit: Option<u64>,
    account: Arc<Account>,
    /// The arena of the store's lists. Its gaps are charged already, and have room for more lists.
    arena: Arena,
    has_files: bool,
    owner: OwnerProcess,
    /// The memory that calls have taken, and the calls that have it.
    pub takings: Takings,
    /// Held by the call that waits for memory, until it has read.
    line: Mutex<()>,
    is_waited_for: AtomicBool,
    kept: Mutex<Vec<Weak<dyn KeptForReads>>>,
}

impl Budget {
    /// Makes the budget of a store with this limit, if it has one, whose lists are in `arena`.
    pub fn new(limit: Option<u64>, arena: &Arena, has_files: bool) -> Arc<Budget> {
        Arc::new(Budget {
            limit,
            account: arena.account().clone(),
            arena: arena.clone(),
            has_files,
            owner: OwnerProcess::current(),
            takings: Takings::default(),
            line: Mutex::default(),
            is_waited_for: AtomicBool::new(false),
            kept: Mutex::default(),
        })
    }

    /// Returns the bytes that are used, promised, or set aside for buffers of the log and of a checkpoint.
    /// O(1).
    #[inline]
    pub fn total(&self, limit: u64) -> u64 {
        // The promises first: they end after their memory was charged.
        let promised = self.takings.promised();
        let (used, buffered) = (self.account.used(), self.buffered());
        let buffers = if self.has_files { buffers(limit).saturating_sub(buffered) } else { 0 };
        promised + used + buffers
    }

    fn buffered(&self) -> u64 {
        self.account.used_for(Purpose::Checkpoint) + self.account.used_for(Purpose::Log)
    }

    /// True if the reserve for buffers of the log and of a checkpoint has no room for `more` bytes.
    pub(crate) fn exceed_reserve(&self, limit: u64, more: u64) -> bool {
        self.buffered().saturating_add(more) > buffers(limit)
    }

    /// Like [`total`](Self::total), but without the free memory of the arena. O(regions).
    pub(crate) fn held(&self, limit: u64) -> u64 {
        self.total(limit).saturating_sub(self.arena.stats().free() as u64)
    }

    /// True if the limit has room for the need now. O(1); O(regions) if gaps of the arena serve it.
    #[inline]
    pub fn fits(&self, need: &Need) -> bool {
        self.limit.is_none_or(|limit| self.lacks(limit, need) == Lacks::Nothing)
    }

    /// Like [`fits`](Self::fits), but returns memory pages inside gaps of the arena to the system if that
    /// suffices, and some more, so that the next calls find room. O(free blocks) then.
    pub(crate) fn fits_returning(&self, need: &Need) -> bool {
        let Some(limit) = self.limit else { return true };
        match self.lacks(limit, need) {
            Lacks::Nothing => true,
            Lacks::Room => false,
            Lacks::Pages(bytes) => {
                let bytes = bytes.saturating_add(limit / EVICTED_AHEAD);
                self.arena.return_pages(usize::try_from(bytes).unwrap_or(usize::MAX));
                self.fits(need)
            }
        }
    }

    pub(crate) fn lacks(&self, limit: u64, need: &Need) -> Lacks {
        let (total, leaves) = (self.total(limit), need.leaves(limit));
        let after = total.saturating_add(need.bytes).saturating_add(leaves);
        if after <= limit {
            return Lacks::Nothing;
        }
        if after.saturating_sub(self.arena.stats().free() as u64) > limit {
            return Lacks::Room;
        }
        // Gaps of the arena were charged before, so lists that fit them take no more memory. The arena opens
        // regions for lists that fit no gap.
        let opens = need.block.saturating_add(leaves / 2);
        let opened = if need.in_arena { total.saturating_add(opens) } else { after };
        if opened <= limit { Lacks::Nothing } else { Lacks::Pages(opened - limit) }
    }

    /// Registers a holder of memory that may be given up for reads, and for commits.
    pub fn keep(&self, kept: Weak<dyn KeptForReads>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push(kept);
    }

    /// Gives up memory that is kept for later reads; returns true if there was some. The caller must hold
    /// nothing.
    pub(crate) fn give_up_kept(&self) -> bool {
        let kept: Vec<_> = self.kept.lock().iter().filter_map(Weak::upgrade).collect();
        kept.iter().fold(false, |gave, kept| kept.give_up() | gave)
    }

    /// True if a call waits for memory.
    pub fn is_waited_for(&self) -> bool {
        self.is_waited_for.load(Ordering::Relaxed)
    }

    /// Waits behind the call in line, and takes its place.
    pub(crate) fn stand_in_line(&self) -> Line<'_> {
        let first: MutexGuard<'_, ()> = self.line.lock();
        self.is_waited_for.store(true, Ordering::Relaxed);
        Line { is_waited_for: &self.is_waited_for, _first: first }
    }

    /// Waits until no call is in line, before a call that reads much begins. The caller holds nothing.
    pub fn wait_behind_line(&self) {
        if self.is_waited_for() && self.owner.is_current() {
            drop(self.line.lock());
        }
    }
}
