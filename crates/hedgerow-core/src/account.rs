//! The account of a store's memory: how many bytes it holds, for what, and how many it may hold.
//!
//! Whoever takes memory for a store charges the account where the memory is taken: where a region, a page, a table, a view or a
//! buffer is made or grows. An operation that finds room in what was taken charges nothing. So the sum is known at any time by a few loads, and a
//! commit, or who frees memory, need not walk over the graph to learn it.
//!
//! Counters of one purpose ascend and descend by themselves, without an order among purposes: a total that is read while others
//! charge is one of some moment before or after each of them. Nothing is ever published through an account.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What memory is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum Purpose {
    /// Regions, as far as they are open, and large blocks of the arena: main parts, patches, deltas, and what is free between them.
    Arena,
    /// What versions hold outside the arena: themselves, ranks, and properties.
    Versions,
    /// Tables of subgraphs.
    Tables,
    /// The id map.
    Keys,
    /// Views: chunks, corrections, and lists of their own.
    Views,
    /// Buffers in which records wait to be written to the log.
    Log,
    /// Buffers of a checkpoint.
    Checkpoint,
    /// What is kept of files that were read, and lists that are read from where they are.
    Reads,
    /// What commits and snapshots are ordered by.
    Coordination,
}

impl Purpose {
    /// All purposes, in the order of their numbers.
    pub const ALL: [Purpose; 9] = [
        Purpose::Arena,
        Purpose::Versions,
        Purpose::Tables,
        Purpose::Keys,
        Purpose::Views,
        Purpose::Log,
        Purpose::Checkpoint,
        Purpose::Reads,
        Purpose::Coordination,
    ];
}

/// On a cache line of its own: threads that take memory for different purposes do not meet.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

/// Bytes by purpose, and the most that they may come to. One per store; what takes memory shares it.
#[derive(Debug, Default)]
pub struct Account {
    used: [Counter; Purpose::ALL.len()],
    limit: Option<u64>,
    #[cfg(feature = "planted-faults")]
    watched: Watched,
}

/// The sum of all counters at each charge, and the most that it came to: for tests.
#[cfg(feature = "planted-faults")]
#[derive(Debug, Default)]
struct Watched {
    used: AtomicU64,
    most: AtomicU64,
}

impl Account {
    /// Nothing used yet; `limit` is the most bytes in all, or none.
    pub fn new(limit: Option<u64>) -> Account {
        Account { limit, ..Account::default() }
    }

    /// The most bytes that may be used, if there is a limit.
    #[inline]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Adds bytes that were taken. O(1), one locked instruction.
    #[inline]
    pub fn charge(&self, purpose: Purpose, bytes: usize) {
        self.counter(purpose).fetch_add(bytes as u64, Ordering::Relaxed);
        #[cfg(feature = "planted-faults")]
        {
            let before = self.watched.used.fetch_add(bytes as u64, Ordering::Relaxed);
            self.watched.most.fetch_max(before + bytes as u64, Ordering::Relaxed);
        }
    }

    /// Takes off bytes that were given back: never more than were charged for that purpose. O(1), one locked instruction.
    #[inline]
    pub fn discharge(&self, purpose: Purpose, bytes: usize) {
        let before = self.counter(purpose).fetch_sub(bytes as u64, Ordering::Relaxed);
        debug_assert!(before >= bytes as u64, "{purpose:?}: {bytes} of {before} bytes given back");
        #[cfg(feature = "planted-faults")]
        self.watched.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// The bytes used for one purpose. O(1).
    #[inline]
    pub fn used_for(&self, purpose: Purpose) -> u64 {
        self.counter(purpose).load(Ordering::Relaxed)
    }

    /// The bytes used in all. O(1).
    #[inline]
    pub fn used(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.used_for(purpose)).sum()
    }

    /// How many bytes may still be taken: `u64::MAX` without a limit. O(1).
    #[inline]
    pub fn room(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.used()))
    }

    /// The most bytes that were used at any charge since this was asked before: for tests.
    #[cfg(feature = "planted-faults")]
    pub fn most_used(&self) -> u64 {
        self.watched.most.swap(self.watched.used.load(Ordering::Relaxed), Ordering::Relaxed)
    }

    #[inline]
    fn counter(&self, purpose: Purpose) -> &AtomicU64 {
        &self.used[purpose as usize].0
    }
}

/// Bytes charged to an account until this is dropped. A copy of it charges as many again: it goes with a copy of what they are for.
#[derive(Debug)]
pub struct Charge {
    account: Arc<Account>,
    purpose: Purpose,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes`.
    pub fn new(account: &Arc<Account>, purpose: Purpose, bytes: usize) -> Charge {
        account.charge(purpose, bytes);
        Charge { account: account.clone(), purpose, bytes }
    }

    /// What is charged. O(1).
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The bytes that are charged. O(1).
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges `bytes` in place of what was charged. O(1), without a locked instruction where nothing changes.
    #[inline]
    pub fn set(&mut self, bytes: usize) {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => self.account.charge(self.purpose, more),
            None => self.account.discharge(self.purpose, self.bytes - bytes),
        }
        self.bytes = bytes;
    }
}

impl Clone for Charge {
    fn clone(&self) -> Charge {
        Charge::new(&self.account, self.purpose, self.bytes)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.discharge(self.purpose, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_no_longer_used() {
        let account = Arc::new(Account::new(Some(1000)));
        account.charge(Purpose::Arena, 300);
        let mut charge = Charge::new(&account, Purpose::Views, 200);
        assert_eq!((account.used(), account.room()), (500, 500));
        let copy = charge.clone();
        charge.set(50);
        assert_eq!(account.used_for(Purpose::Views), 250);
        charge.set(600);
        assert_eq!((account.used(), account.room()), (1100, 0), "more than the limit leaves no room");
        drop(charge);
        drop(copy);
        assert_eq!(account.used_for(Purpose::Views), 0);
        account.discharge(Purpose::Arena, 300);
        assert_eq!(account.used(), 0);
    }

    #[test]
    fn purposes_are_numbered_in_their_order() {
        assert!(Purpose::ALL.iter().enumerate().all(|(number, &purpose)| purpose as usize == number));
        assert_eq!(Account::default().room(), u64::MAX);
    }
}
