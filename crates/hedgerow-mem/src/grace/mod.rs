//! Grace: the memory of a version that was unlinked from its chain is freed only once no walk can be standing on it.
//!
//! Walks are short and very many; unlinking happens once per merge. So a walk pays as little as there is to pay: it
//! writes that it began into a slot of its thread, and that it ended, both plain stores without a fence or a locked
//! instruction. Whoever frees pays the rest, once per batch of versions: a barrier that runs on all threads
//! ([`barrier`]), then a look at all slots ([`walk`]). What a walk that was going on then may stand on waits until that
//! walk has ended ([`retire_list`]). The scheme is that of user-level RCU (Desnoyers, McKenney, Stern, Dagenais, Walpole,
//! *User-Level Implementations of Read-Copy Update*, IEEE TPDS 2012, section 5.3 for the barrier, with a counter per
//! thread instead of a global phase).
//!
//! # Invariants
//! * **G1.** A reference to a version from a [`Link`] is used inside the walk that it was loaded in.
//! * **G2.** A count that a link owned is given back either with the link's owner, to which nobody has a reference then,
//!   or through a retire list, after the grace period.
//! * **G3.** A walk whose begin a scan of the slots does not see loads its links after the barrier that came before the
//!   scan, hence does not see the links as they were before the unlinking. A walk whose begin the scan does see is waited
//!   for. A walk that ended gave up its references before the scan, or the second look, read that it had.
//!
//! A [`GraceCell`] holds any one value by the same rules: it frees what it replaced by itself.
//!
//! No walk waits, and nobody waits for one. Code of the caller does not run inside walks, so that they are short.
#![allow(unsafe_code)]

mod barrier;
mod cell;
mod chain;
mod cooling;
mod life;
mod read_guard;
mod retire_list;

pub use cell::GraceCell;
pub(crate) use chain::{Link, Unlinked};
pub use chain::{NotInMemory, Version};
pub use cooling::{Cooling, CoolingStats};
pub(crate) use cooling::{Kept, KeptHead};
pub(crate) use read_guard::ReadGuard;
pub use retire_list::{RetireList, RetireStats};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::account::{Account, Purpose};

use crate::arena::Arena;

/// What the subgraphs of a store share: where they allocate, and where their versions end. Cloning shares it.
#[derive(Clone)]
pub struct Memory(Arc<Parts>);

struct Parts {
    arena: Arena,
    retire_list: RetireList,
    cooling: Cooling,
}

impl Drop for Parts {
    /// What is cooling ends as everything does: no subgraph is left that it could be linked to.
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
    /// Of the global allocator, with an account of its own.
    fn default() -> Memory {
        Memory::new(Arena::default())
    }
}

impl Memory {
    /// With `arena`, and a retire list of its own.
    pub fn new(arena: Arena) -> Memory {
        let retire_list = RetireList::new(arena.account().clone());
        let cooling = Cooling::new(arena.account().clone());
        Memory(Arc::new(Parts { arena, retire_list, cooling }))
    }

    /// Where main parts and deltas lie.
    #[inline]
    pub fn arena(&self) -> &Arena {
        &self.0.arena
    }

    /// What main parts, deltas, versions and tables of the store are charged to.
    #[inline]
    pub fn account(&self) -> &Arc<Account> {
        self.0.arena.account()
    }

    /// Charges what a version holds outside the arena, as far as it was not charged yet. The retire list takes it off again. Only for the
    /// holder of the latch.
    pub(crate) fn charge(&self, version: &Version) {
        let (held, charged) = (version.heap_bytes(), version.charged.load(Ordering::Relaxed));
        if held > charged {
            version.charged.store(held, Ordering::Relaxed);
            self.account().charge(Purpose::Versions, held - charged);
        }
    }

    /// Which chains are cooling.
    #[inline]
    pub fn cooling(&self) -> &Cooling {
        &self.0.cooling
    }

    /// Retires chains that are cooling, first those that came first, until they have `most` bytes at most; returns how many. They can only be
    /// read from files from then on. Takes no latch. O(chains that are retired).
    pub fn retire_cooled(&self, most: usize) -> usize {
        self.0.retire_cooled(most)
    }

    /// Keeps a chain that was taken out of memory. Its latch is held.
    pub(crate) fn cool(&self, chain: usize, kept: Kept) {
        if let Some(older) = self.0.cooling.keep(chain, kept) {
            self.retire(older);
        }
    }

    /// Has the versions freed of a chain that was taken out of memory, once no walk stands on them.
    pub(crate) fn retire(&self, kept: Kept) {
        self.0.retire(kept);
    }

    /// Where versions wait that were unlinked.
    #[inline]
    pub fn retire_list(&self) -> &RetireList {
        &self.0.retire_list
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
