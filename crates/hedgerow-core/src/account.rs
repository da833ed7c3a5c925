//! The account of a store's memory: how many bytes it uses, for which purpose, and how many it may use.
//!
//! Code that takes memory for a store charges the account when it makes or grows a region, a page, a table, a
//! view or a buffer. An operation that uses memory already taken charges nothing. So a few loads give the sum
//! at any time, and no thread has to count by a pass over the graph.
//!
//! The counters of the purposes change independently, without an order among them. A total that is read while
//! other threads charge may include or lack each of their charges. No thread relies on the account to see
//! data of another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The purpose for which memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum Purpose {
    /// The open parts of regions, and the large blocks, of the arena: main parts, patches, deltas, and the
    /// free space between them.
    Arena,
    /// Memory of versions outside the arena: the versions themselves, ranks, and properties.
    Versions,
    /// Tables of subgraphs.
    Tables,
    /// The tables of vertex keys.
    Keys,
    /// Views: chunks, corrections, and lists that only views have.
    Views,
    /// Buffers in which records wait to be written to the log.
    Log,
    /// Buffers of a checkpoint.
    Checkpoint,
    /// Read caches of files, and lists that are read without being loaded.
    Reads,
    /// Structures that order commits and snapshots.
    Coordination,
    /// Operations on chains that are not in memory.
    Inboxes,
}

impl Purpose {
    /// All purposes, in the order of their numbers.
    pub const ALL: [Purpose; 10] = [
        Purpose::Arena,
        Purpose::Versions,
        Purpose::Tables,
        Purpose::Keys,
        Purpose::Views,
        Purpose::Log,
        Purpose::Checkpoint,
        Purpose::Reads,
        Purpose::Coordination,
        Purpose::Inboxes,
    ];
}

/// A counter on its own cache line, so that threads that take memory for different purposes do not contend.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

/// Bytes used by purpose, and their limit. A store has one account, which all its modules share.
#[derive(Debug, Default)]
pub struct Account {
    used: [Counter; Purpose::ALL.len()],
    limit: Option<u64>,
    #[cfg(feature = "planted-faults")]
    watched: Watched,
}

/// The sum of all counters after the last charge, and its maximum: for tests.
#[cfg(feature = "planted-faults")]
#[derive(Debug, Default)]
struct Watched {
    used: AtomicU64,
    most: AtomicU64,
}

impl Account {
    /// Makes an account with nothing used; `limit` is the most bytes of all purposes together, if there is a
    /// limit.
    pub fn new(limit: Option<u64>) -> Account {
        Account { limit, ..Account::default() }
    }

    /// Returns the most bytes that may be used, if there is a limit.
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

    /// Subtracts bytes that were given back, which must not be more than were charged for that purpose. O(1),
    /// one locked instruction.
    #[inline]
    pub fn discharge(&self, purpose: Purpose, bytes: usize) {
        let before = self.counter(purpose).fetch_sub(bytes as u64, Ordering::Relaxed);
        debug_assert!(before >= bytes as u64, "{purpose:?}: {bytes} of {before} bytes given back");
        #[cfg(feature = "planted-faults")]
        self.watched.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the bytes used for one purpose. O(1).
    #[inline]
    pub fn used_for(&self, purpose: Purpose) -> u64 {
        self.counter(purpose).load(Ordering::Relaxed)
    }

    /// Returns the bytes used for all purposes. O(1).
    #[inline]
    pub fn used(&self) -> u64 {
        Purpose::ALL.iter().map(|&purpose| self.used_for(purpose)).sum()
    }

    /// Returns how many bytes may still be taken: `u64::MAX` without a limit. O(1).
    #[inline]
    pub fn room(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.used()))
    }

    /// Returns the most bytes that were used at any charge after the last call of this: for tests.
    #[cfg(feature = "planted-faults")]
    pub fn most_used(&self) -> u64 {
        self.watched.most.swap(self.watched.used.load(Ordering::Relaxed), Ordering::Relaxed)
    }

    #[inline]
    fn counter(&self, purpose: Purpose) -> &AtomicU64 {
        &self.used[purpose as usize].0
    }
}

/// Bytes charged to an account until this is dropped. A clone charges the same bytes again, because it
/// belongs to a copy of the memory.
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

    /// Returns the charged account. O(1).
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Returns the bytes that are charged. O(1).
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Charges `bytes` instead of the former charge. O(1), without a locked instruction if the number does
    /// not change.
    #[inline]
    pub fn set(&mut self, bytes: usize) {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => self.account.charge(self.purpose, more),
            None => self.account.discharge(self.purpose, self.bytes - bytes),
        }
        self.bytes = bytes;
    }

    /// Leaves the bytes charged: the caller knows who discharges them.
    pub fn keep(mut self) {
        self.bytes = 0;
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
