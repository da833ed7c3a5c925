//! Eviction of chains that files hold unchanged, when the limit leaves no room (rules E1 to E4, E9 of
//! `docs/design/eviction.md`).

use std::time::Duration;

use hedgerow_core::account::Purpose;
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::{Subgraph, SubgraphTable};

use crate::state::page_versions::UnkeptHorizon;
use crate::state::store::Core;

/// The number of chains that are evicted before the account is checked again.
const AT_ONCE: usize = 32;
/// The greatest number of waits for walks that may stand on evicted chains, and their length.
const MOST_WAITS: usize = 100;
const WAIT: Duration = Duration::from_micros(100);

/// The share of resident memory that may be cooling.
const COOLING: usize = 10;

/// The last subgraph that eviction considered.
type Hand = Option<(LabelId, SubgraphId)>;

impl Core {
    /// Evicts chains until `is_enough`, or no other chain can be evicted; returns the number of subgraphs.
    /// Goes through the tables in order, from the last considered subgraph on. Chains cool before they are
    /// retired; if that is not enough, all cooling chains are retired too. One thread evicts at a time,
    /// others wait. Tries latches, and holds one at a time. O(subgraphs), and O(log chains that are cooling)
    /// for each.
    pub(crate) fn evict_until(&self, is_enough: impl Fn() -> bool) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        let mut hand = self.eviction.hand();
        let evicted = self.cool_until(&mut hand, clean, || self.most_cooling(), &is_enough);
        // Cooling chains may be needed again soon, but the memory is needed now.
        if !is_enough() && self.subgraphs.memory().retire_cooled(0) > 0 {
            self.free_evicted();
        }
        evicted
    }

    /// Evicts all that can be evicted, and leaves it cooling; returns the number of subgraphs. For tests: it
    /// frees no memory.
    pub(crate) fn cool_all(&self) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        let mut hand = self.eviction.hand();
        self.cool_until(&mut hand, clean, || usize::MAX, || false)
    }

    /// Like [`evict_until`](Self::evict_until), but leaves up to `most` bytes cooling.
    fn cool_until(
        &self,
        hand: &mut Hand,
        clean: Timestamp,
        most: impl Fn() -> usize,
        is_enough: impl Fn() -> bool,
    ) -> usize {
        let memory = self.subgraphs.memory();
        let last = *hand;
        let all = || {
            let of_table = |(label, table)| SubgraphTable::existing(table).map(move |id| (label, table, id));
            self.tables().flat_map(of_table)
        };
        let is_before = |(label, _, id): &(LabelId, &SubgraphTable, SubgraphId)| Some((*label, *id)) <= last;
        let (mut evicted, mut done) = (0, is_enough());
        // An iterator and not a list: for a large graph a list would take memory that is not charged.
        for (label, table, id) in all().skip_while(is_before).chain(all().take_while(is_before)) {
            if done {
                break;
            }
            *hand = Some((label, id));
            if table
                .get(id)
                .is_some_and(|subgraph| subgraph.is_resident() && self.evict((label, id), subgraph, clean))
            {
                evicted += 1;
                if evicted % AT_ONCE == 0 && memory.retire_cooled(most()) > 0 {
                    self.free_evicted();
                    done = is_enough();
                }
            }
        }
        if memory.retire_cooled(most()) > 0 {
            self.free_evicted();
        }
        evicted
    }

    /// Returns the greatest number of bytes that may be cooling.
    fn most_cooling(&self) -> usize {
        let account = self.account();
        let resident = account.used_for(Purpose::Arena) + account.used_for(Purpose::Versions);
        resident as usize / COOLING
    }

    /// Links a cooling subgraph again (rule E9); returns true if it is in memory afterwards. Never called
    /// with a latch. O(log chains that are cooling); never waits.
    pub(super) fn relink(&self, subgraph: &Subgraph) -> bool {
        // In a forked child the locks may never be released.
        if self.is_forked() || !subgraph.is_cooling() {
            return false;
        }
        let back = subgraph.try_latch_for_upkeep().is_some_and(|mut latched| latched.relink());
        if back {
            self.eviction.note_back();
        }
        back
    }

    fn evict(&self, id: (LabelId, SubgraphId), subgraph: &Subgraph, clean: Timestamp) -> bool {
        let Some(mut latched) = subgraph.try_latch_for_upkeep() else { return false };
        let evicted = !self.eviction.is_pinned(id) && latched.evict_clean(clean, &self.horizon_of_eviction());
        if evicted {
            // Under the latch (rule E3).
            self.eviction.note_gone();
        }
        evicted
    }

    /// Returns the readers that keep chains in memory although files hold them unchanged (rule E2). The
    /// caller holds the latch.
    fn horizon_of_eviction(&self) -> UnkeptHorizon<'_> {
        UnkeptHorizon::new(self.horizon(), &self.eviction.page_versions)
    }

    /// Drops the page versions that no reader holds any more.
    pub(crate) fn drop_page_versions(&self) {
        self.eviction.page_versions.drop_unread(self.clock.published(), &self.readers);
    }

    /// Frees evicted chains. Waits shortly for walks that may stand on them: on a busy machine the thread of
    /// such a walk may not be running.
    fn free_evicted(&self) {
        let memory = self.subgraphs.memory();
        for _ in 0..MOST_WAITS {
            memory.retire_list().drain();
            if memory.retire_list().stats().versions == 0 {
                break;
            }
            std::thread::sleep(WAIT);
        }
        memory.arena().trim();
    }
}
