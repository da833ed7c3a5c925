//! Versions that wait for a snapshot to close, and their reclamation after that (rule R6).
//!
//! A closed snapshot leaves its versions to the thread in the background. A commit that is published reclaims
//! the versions that waited for its publication.

use hedgerow_core::sync::{Ordering, fence};
use hedgerow_mem::{Hold, Latched, Pin, Subgraph, VersionPins};

use crate::order::pending::Reasons;
use crate::pager::Pager;
use crate::tables::PartitionKey;

impl Pager {
    /// Records that versions of `chain` wait for `pins`. Takes a lock if there are any; the caller may hold
    /// latches.
    #[inline]
    pub fn keep(&self, chain: impl Into<PartitionKey>, pins: VersionPins) {
        if !pins.is_empty() {
            let chain = chain.into();
            pins.into_iter().for_each(|pin| self.keep_for(chain, pin));
        }
    }

    /// Records that a version of `chain` waits for `pin`.
    #[cold]
    pub fn keep_for(&self, chain: PartitionKey, pin: Pin) {
        self.pending.add(chain, pin, &self.order.readers);
    }

    /// Evicts all that can be evicted; if `cools`, leaves it cooling. Returns the number of subgraphs in
    /// memory and in files.
    #[cfg(feature = "planted-faults")]
    pub fn evict_all(&self, cools: bool) -> u64 {
        if cools {
            self.cool_all();
        } else {
            self.evict_until(|| false);
        }
        self.tables().map(|(_, table)| table.possible().count() as u64).sum()
    }

    /// Reclaims versions that snapshots of a closed store released, since neither the thread nor a commit
    /// does. Commits that fail may still hold latches. Their subgraphs are left for the next snapshot that
    /// closes, or for the last step of closing.
    pub fn reclaim_for_the_closed(&self) {
        fence(Ordering::SeqCst);
        let mut left = Vec::new();
        self.reclaim_unlatched(&mut left, false);
        left.into_iter().for_each(|(chain, gone)| self.keep_for(chain, gone));
    }

    /// Passes the released pins to reclamation. Waits for latches; never called in a forked child, whose
    /// parent's other threads never release theirs.
    pub fn reclaim(&self, reasons: Reasons) {
        for (chain, gone) in self.pending.take_due(&self.order.clock, &self.order.readers, reasons) {
            let hold = self.hold_of(chain.label);
            if let Some(entry) = self.entry(chain, &hold) {
                self.reclaim_chain(chain, gone, &mut entry.latch_for_upkeep());
            }
        }
    }

    /// Passes all released pins to reclamation, which checks the versions pinned by them again. Pins whose
    /// subgraphs are latched stay in `left` for the next call, in the order of their chains. Waits for no
    /// latch; if `patient`, for the latch of one subgraph.
    pub fn reclaim_unlatched(&self, left: &mut Vec<(PartitionKey, Pin)>, mut patient: bool) {
        if self.pending.is_due(self.order.clock.published(), &self.order.readers, Reasons::All) {
            left.extend(self.pending.take_due(&self.order.clock, &self.order.readers, Reasons::All));
            left.sort_by_key(|(chain, _)| chain.order());
        }
        // If a panic leaves pins here, the next turn handles them.
        let mut rest = Rest { due: std::mem::take(left), latched: Vec::new(), left };
        while let Some(&(chain, _)) = rest.due.last() {
            let of_chain = rest.due.iter().rev().take_while(|(other, _)| *other == chain).count();
            let reasons = rest.due.split_off(rest.due.len() - of_chain);
            let hold = self.hold_of(chain.label);
            let Some(entry) = self.entry(chain, &hold) else { continue };
            let latched = if std::mem::take(&mut patient) {
                Some(entry.latch_for_upkeep())
            } else {
                entry.try_latch_for_upkeep()
            };
            match latched {
                Some(mut latched) => {
                    reasons.iter().for_each(|&(_, gone)| self.reclaim_chain(chain, gone, &mut latched));
                }
                None => rest.latched.extend(reasons),
            }
        }
    }

    fn entry<'a>(&'a self, chain: PartitionKey, hold: &'a Hold) -> Option<&'a Subgraph> {
        self.table(chain.label).and_then(|table| table.get(chain.subgraph, hold))
    }

    fn reclaim_chain(&self, chain: PartitionKey, gone: Pin, latched: &mut Latched<'_>) {
        let horizon = self.order.horizon();
        self.keep(chain, latched.reclaim(chain.direction, gone, &horizon));
    }
}

/// The pins that a call of [`Pager::reclaim_unlatched`] has not passed on yet. Its drop puts them back, also
/// in a panic.
struct Rest<'a> {
    due: Vec<(PartitionKey, Pin)>,
    latched: Vec<(PartitionKey, Pin)>,
    left: &'a mut Vec<(PartitionKey, Pin)>,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.left.append(&mut self.due);
        self.left.extend(self.latched.drain(..).rev());
    }
}
