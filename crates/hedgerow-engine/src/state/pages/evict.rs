//! Eviction of chains that files hold unchanged, when the limit leaves no room (rules E1 to E4, E9 of
//! `docs/design/eviction.md`), and of pages without chains (rule P6 of `docs/design/pages.md`).

use std::time::Duration;

use hedgerow_core::account::Purpose;
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{Subgraph, SubgraphTable};
use hedgerow_tier::PageId;

use crate::state::page_versions::UnkeptHorizon;
use crate::state::store::Core;

/// The number of chains that are evicted before the account is checked again.
const AT_ONCE: usize = 32;
/// The greatest number of waits for walks that may stand on evicted chains, and their length.
const MOST_WAITS: usize = 100;
const WAIT: Duration = Duration::from_micros(100);

/// The share of resident memory that may be cooling.
const COOLING: usize = 10;

/// The last page that eviction considered. The next eviction begins with it.
type Hand = Option<PageId>;

impl Core {
    /// Evicts chains, and pages without chains, until `is_enough`, or nothing else can be evicted; returns
    /// the number of subgraphs. Goes through the tables in order, from the last considered subgraph on.
    /// Chains cool before they are retired; if that is not enough, all cooling chains are retired too, and
    /// then the pages that have no other chains. One thread evicts at a time, others wait. Tries latches, and
    /// holds those of one page at a time. O(subgraphs), and O(log chains that are cooling) for each.
    pub(crate) fn evict_until(&self, is_enough: impl Fn() -> bool) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        let mut hand = self.eviction.hand();
        let evicted = self.cool_until(&mut hand, clean, || self.most_cooling(), &is_enough);
        // Cooling chains may be needed again soon, but the memory is needed now.
        if !is_enough() && self.subgraphs.memory().retire_cooled(0) > 0 {
            self.free_evicted();
        }
        if !is_enough() {
            self.evict_pages(&is_enough);
        }
        evicted
    }

    /// Evicts pages whose chains have left, until `is_enough`.
    fn evict_pages(&self, is_enough: impl Fn() -> bool) {
        let mut evicted = 0;
        for (table, page) in self.all_pages() {
            evicted += usize::from(self.evict_page(table, page));
            if evicted >= AT_ONCE {
                self.free_evicted();
                evicted = 0;
                if is_enough() {
                    return;
                }
            }
        }
        if evicted > 0 {
            self.free_evicted();
        }
    }

    /// Evicts a page if all its chains are out of memory, and no commit has pinned one of them (rule P6).
    /// Pages of the default label stay: they have the existence of vertices, in about a byte for each.
    fn evict_page(&self, table: &SubgraphTable, id: PageId) -> bool {
        if id.label == LabelId::DEFAULT {
            return false;
        }
        let hold = table.hold();
        let number = id.page as usize;
        let Some(page) = table.page(number, &hold) else { return false };
        let is_free = |since: Timestamp| {
            debug_assert!(self.eviction.clean().is_some_and(|clean| since <= clean), "{since:?}");
            // Under the latches, like the eviction of a chain (rule E3).
            self.eviction.note_happens();
            !self.eviction.is_page_pinned(id)
        };
        let marked = table.evict_page(number, (page, self.directions_of(id.label)), is_free);
        marked.inspect(|&marked| self.eviction.note_page_gone(marked)).is_some()
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
        let first = *hand;
        let is_before = |(_, page): &(&SubgraphTable, PageId)| Some(*page) < first;
        // Iterators and not lists: for a large graph a list would take memory that is not charged.
        let pages = self.all_pages().skip_while(is_before).chain(self.all_pages().take_while(is_before));
        let (mut evicted, mut pages_left, mut done) = (0, 0, is_enough());
        for (table, page) in pages {
            if done {
                break;
            }
            *hand = Some(page);
            // The chains of the page left in an earlier round, unless another thread needed them since.
            pages_left += usize::from(self.evict_page(table, page));
            for place in 0..PAGE {
                let id = SubgraphId((page.page as usize * PAGE + place) as u32);
                // A thread that waits for walks and holds has no hold.
                let chain_left = {
                    let hold = table.hold();
                    let Some(subgraph) = table.get(id, &hold) else { break };
                    subgraph.is_resident() && self.evict((page.label, id), subgraph, clean)
                };
                evicted += usize::from(chain_left);
                if chain_left && evicted % AT_ONCE == 0 && memory.retire_cooled(most()) > 0 {
                    self.free_evicted();
                    pages_left = 0;
                    done = is_enough();
                    if done {
                        break;
                    }
                }
            }
            if pages_left >= AT_ONCE {
                self.free_evicted();
                pages_left = 0;
                done = is_enough();
            }
        }
        if memory.retire_cooled(most()) > 0 || pages_left > 0 {
            self.free_evicted();
        }
        evicted
    }

    /// Returns the pages of all tables, ascending.
    fn all_pages(&self) -> impl Iterator<Item = (&SubgraphTable, PageId)> {
        let of_table = |(label, table)| {
            SubgraphTable::numbers(table).map(move |page| (table, PageId { label, page: page as u32 }))
        };
        self.tables().flat_map(of_table)
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

    /// Frees evicted chains and pages. Waits shortly for walks that may stand on chains: on a busy machine
    /// the thread of such a walk may not be running. Does not wait for holds, which may last long.
    fn free_evicted(&self) {
        let memory = self.subgraphs.memory();
        for _ in 0..MOST_WAITS {
            memory.retire_list().drain();
            if memory.retire_list().stats().versions == 0 {
                break;
            }
            std::thread::sleep(WAIT);
        }
        self.labels.free_pages();
        memory.arena().trim();
    }
}
