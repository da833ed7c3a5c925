//! The reasons for which the limit has no room.

use hedgerow_catalog::error::Shortage;
use hedgerow_core::Timestamp;
use hedgerow_core::account::Purpose;

use crate::budget::{For, Lacks, Need, buffers, slack};
use crate::pager::Pager;
use crate::pager::pages::places;

impl Pager {
    /// Returns the reasons why there is no room for `needed` bytes. O(pages + changed subgraphs).
    #[cold]
    pub fn shortage(&self, needed: u64, what: For) -> Shortage {
        self.shortage_of(&Need::new(what, needed).with_block(needed))
    }

    /// Returns the reasons why there is no room for a need. O(pages + changed subgraphs).
    #[cold]
    pub(crate) fn shortage_of(&self, need: &Need) -> Shortage {
        let needed = need.bytes;
        let limit = self.memory_limit.unwrap_or(u64::MAX);
        let (account, budget) = (self.account(), &self.budget);
        let of = |purpose| account.used_for(purpose);
        let reserve = if self.has_files { buffers(limit) } else { 0 };
        let buffered = reserve.max(of(Purpose::Log) + of(Purpose::Checkpoint));
        let fixed = of(Purpose::Tables) + of(Purpose::Keys) + of(Purpose::Coordination) + buffered;
        let held = budget.held(limit);
        let dirty = self.dirty_bytes().min(held.saturating_sub(fixed));
        let pinned = held.saturating_sub(fixed).saturating_sub(dirty);
        let mut shortage = Shortage::new(needed, limit, dirty, pinned, fixed, slack(limit));
        if needed <= shortage.available()
            && let Lacks::Pages(_) = budget.lacks(limit, need)
        {
            // No gap is large enough, and no gap has a whole memory page.
            shortage.fixed += self.subgraphs.arena().stats().free() as u64;
        }
        shortage
    }

    /// Returns the bytes of chains that changed after the last checkpoint, so that they must stay in memory.
    fn dirty_bytes(&self) -> u64 {
        let clean = self.eviction.clean().unwrap_or(Timestamp::ZERO);
        let mut bytes = self.inboxes.bytes() as u64;
        for (label, table) in self.tables() {
            // The stamps of a page are adjacent, so that pages without changes cost little.
            let hold = table.hold();
            for (_, page) in table.pages(&hold) {
                for subgraph in places(page.changed_after(clean)).filter_map(|place| page.get(place)) {
                    for &direction in self.directions_of(label) {
                        bytes += subgraph.versions(direction).first().map_or(0, |head| head.bytes() as u64);
                    }
                }
            }
        }
        bytes
    }
}
