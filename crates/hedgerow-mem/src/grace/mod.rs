//! Grace: the memory of a version that was unlinked from its chain is freed only when no walk can be reading
//! it.
//!
//! Walks are short and very many; unlinking happens once per merge. So a walk must be cheap. It records its
//! begin and its end in a slot of its thread: two plain stores without a fence or a locked instruction. The
//! thread that frees versions does the rest, once per batch: a barrier that runs on all threads
//! ([`barrier`]), then a scan of all slots ([`read_guard`]). Versions that a present walk may be reading wait
//! until that walk has ended ([`retire_list`]).
//!
//! The scheme is user-level RCU (Desnoyers, McKenney, Stern, Dagenais, Walpole, *User-Level Implementations
//! of Read-Copy Update*, IEEE TPDS 2012, section 5.3 for the barrier). It has a counter per thread instead of
//! a global phase.
//!
//! # Invariants
//! * **G1.** A reference to a version that was loaded from a [`Link`] is used only inside the walk that
//!   loaded it.
//! * **G2.** A reference count that a link owned is given back in one of two ways. It is given back with the
//!   link's owner, when no thread has a reference to the owner, or through a retire list, after the grace
//!   period.
//! * **G3.** If a scan of the slots does not see the begin of a walk, that walk loads its links after the
//!   barrier before the scan. So the walk does not see the links as they were before the unlinking. If the
//!   scan does see the begin, the versions wait for that walk. A walk has given up its references before the
//!   scan, or a later check, sees that it has ended.
//!
//! A [`GraceCell`] has any one value by the same rules, and frees the values that it replaced. Pages of
//! tables wait for [holds](Hold) in place of walks, which may last longer.
//!
//! No walk waits, and no thread waits for a walk. No user code runs inside walks, so that they are short.
#![allow(unsafe_code)]

mod barrier;
mod cell;
mod chain;
mod cooling;
mod hold;
mod life;
mod places;
mod read_guard;
mod replaced;
mod retire_list;

pub use cell::GraceCell;
pub(crate) use chain::{Link, Unlinked};
pub use chain::{NotInMemory, Version};
pub use cooling::{Cooling, CoolingStats};
pub(crate) use cooling::{Kept, KeptHead};
pub use hold::Hold;
pub(crate) use places::{Found, Places};
pub(crate) use read_guard::ReadGuard;
pub use retire_list::{RetireList, RetireStats};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::account::{Account, Charge, Purpose};

use crate::arena::Arena;

/// The memory of a store's subgraphs: the arena, the retire list and the cooling chains. Cloning shares it.
#[derive(Clone)]
pub struct Memory(Arc<Parts>);

struct Parts {
    arena: Arena,
    retire_list: RetireList,
    cooling: Cooling,
}

impl Drop for Parts {
    /// Retires the cooling chains: the subgraphs to which they could be linked are gone.
    fn drop(&mut self) {
        self.retire_cooled(0);
    }
}

impl Parts {
    fn retire(&self, kept: Kept) {
        kept.into_unlinked().for_each(|version| self.retire_list.take(version));
    }

    fn retire_cooled(&self, most: usize) -> usize {
        let first = || self.cooling.take_first_beyond(most);
        std::iter::from_fn(first).map(|kept| self.retire(kept)).count()
    }
}

impl Default for Memory {
    /// Uses the global allocator, and has an account of its own.
    fn default() -> Memory {
        Memory::new(Arena::default())
    }
}

impl Memory {
    /// Makes a memory with `arena`, and with a retire list of its own.
    pub fn new(arena: Arena) -> Memory {
        let retire_list = RetireList::new(arena.account().clone());
        let cooling = Cooling::new(arena.account().clone());
        Memory(Arc::new(Parts { arena, retire_list, cooling }))
    }

    /// Returns the arena of main parts and deltas.
    #[inline]
    pub fn arena(&self) -> &Arena {
        &self.0.arena
    }

    /// Returns the account that pays for main parts, deltas, versions and tables of the store.
    #[inline]
    pub fn account(&self) -> &Arc<Account> {
        self.0.arena.account()
    }

    /// Charges those bytes of a version outside the arena that were not charged yet. The retire list
    /// discharges them. Only for the holder of the latch.
    pub(crate) fn charge(&self, version: &Version) {
        let (held, charged) = (version.heap_bytes(), version.charged.load(Ordering::Relaxed));
        if held > charged {
            version.charged.store(held, Ordering::Relaxed);
            self.account().charge(Purpose::Versions, held - charged);
        }
    }

    /// Charges the bytes of a version outside the arena, before it is linked. If it is linked, the charge is
    /// kept, and the retire list discharges it.
    pub(crate) fn charge_unlinked(&self, version: &Version) -> Charge {
        let held = version.heap_bytes();
        version.charged.store(held, Ordering::Relaxed);
        Charge::new(self.account(), Purpose::Versions, held)
    }

    /// Returns the cooling chains.
    #[inline]
    pub fn cooling(&self) -> &Cooling {
        &self.0.cooling
    }

    /// Retires cooling chains, oldest first, until they have at most `most` bytes. Returns how many it
    /// retired. From then on reads need files for them. Takes no latch. O(chains that are retired).
    pub fn retire_cooled(&self, most: usize) -> usize {
        self.0.retire_cooled(most)
    }

    /// Keeps a chain that was taken out of memory. The caller holds its latch.
    pub(crate) fn cool(&self, chain: usize, kept: Kept) {
        if let Some(older) = self.0.cooling.keep(chain, kept) {
            self.retire(older);
        }
    }

    /// Retires the versions of a chain that was taken out of memory: they are freed when no walk can be
    /// reading them any more.
    pub(crate) fn retire(&self, kept: Kept) {
        self.0.retire(kept);
    }

    /// Returns the list of unlinked versions that wait for walks.
    #[inline]
    pub fn retire_list(&self) -> &RetireList {
        &self.0.retire_list
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
