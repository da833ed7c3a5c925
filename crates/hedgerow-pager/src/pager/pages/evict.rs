//! Eviction under a memory limit: of chains that files hold in the same state (rules E1 to E4, E9 of
//! `docs/design/eviction.md`), and of pages without chains in memory (rule P6 of `docs/design/pages.md`).

use std::time::Duration;

use hedgerow_core::account::Purpose;
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{Horizon, Latched, Subgraph, SubgraphTable};
use hedgerow_tier::{ImageId, PageId};

use crate::eviction::page_versions::UnkeptHorizon;
use crate::pager::Pager;

/// The number of chains, or of pages, that are evicted before the account is checked again.
const AT_ONCE: usize = 32;
/// The greatest number of waits for walks that may still read evicted chains, and the length of each wait.
const MOST_WAITS: usize = 100;
const WAIT: Duration = Duration::from_micros(100);

/// The divisor of resident memory: the quotient is the greatest memory of cooling chains.
const COOLING: usize = 10;

/// The last page that eviction considered. The next eviction begins with it.
type Hand = Option<PageId>;

impl Pager {
    /// Evicts chains, and pages without chains, until `is_enough` returns true or nothing else can be
    /// evicted. Returns the number of subgraphs whose chains were evicted. Goes through the tables page by
    /// page, from the last considered page on. Evicted chains are cooling before they are retired. If this
    /// pass is not enough, retires all cooling chains, and then evicts the pages that have no chains in
    /// memory any more.
    ///
    /// One thread evicts at a time; other threads wait. Tries latches, and holds the latches of one page at a
    /// time. O(subgraphs), and O(log chains that are cooling) for each subgraph.
    pub fn evict_until(&self, is_enough: impl Fn() -> bool) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        self.fold_inboxes();
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

    /// Drops the operations of inboxes that segments have by now, unless a reader without a page version
    /// needs the state before them (N3).
    pub fn fold_inboxes(&self) {
        if self.inboxes.are_none() {
            return;
        }
        let (sources, horizon) = (self.pages.sources(), self.horizon_of_eviction());
        let published = horizon.published();
        self.inboxes
            .fold(&sources, |last| last <= published && horizon.pin_in(Timestamp::ZERO, last).is_none());
    }

    /// True if a subgraph of a page has an inbox.
    fn has_inbox_on(&self, id: PageId) -> bool {
        let first = id.page as usize * PAGE;
        let image = |place| ImageId { label: id.label, subgraph: SubgraphId((first + place) as u32) };
        !self.inboxes.are_none() && (0..PAGE).any(|place| self.inboxes.has(image(place)))
    }

    /// Goes through all pages, and evicts those without chains in memory, until `is_enough` returns true.
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

    /// Evicts a page if none of its chains is in memory, and no commit has pinned one of them (rule P6).
    /// Returns true if the page was evicted. Pages of the default label stay: they record which vertices
    /// exist, in about a byte for each vertex.
    fn evict_page(&self, table: &SubgraphTable, id: PageId) -> bool {
        if id.label == LabelId::DEFAULT {
            return false;
        }
        let hold = table.hold();
        let number = id.page as usize;
        let Some(page) = table.page(number, &hold) else { return false };
        let is_free = |since: Timestamp| {
            // Operations that files lack are in an inbox.
            if self.has_inbox_on(id) {
                return false;
            }
            debug_assert!(since <= self.pages.sources().as_of(), "{since:?}");
            // Noted under the latches, like the eviction of a chain (rule E3).
            self.eviction.note_happens();
            !self.eviction.is_page_pinned(id)
        };
        let marked = table.evict_page(number, (page, self.directions_of(id.label)), is_free);
        marked.inspect(|&marked| self.eviction.note_page_gone(marked)).is_some()
    }

    /// Evicts all chains that can be evicted, and leaves them cooling; returns the number of their subgraphs.
    /// For tests: the memory of these chains is not freed. Pages without chains in memory are evicted too.
    pub fn cool_all(&self) -> usize {
        let Some(clean) = self.eviction.clean() else { return 0 };
        let mut hand = self.eviction.hand();
        self.cool_until(&mut hand, clean, || usize::MAX, || false)
    }

    /// Makes the first pass of [`evict_until`](Self::evict_until). Leaves up to `most` bytes cooling.
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
            // Evicted if an earlier round evicted all chains of the page, and no thread has needed them
            // since.
            pages_left += usize::from(self.evict_page(table, page));
            for place in 0..PAGE {
                let id = SubgraphId((page.page as usize * PAGE + place) as u32);
                // The hold ends before `free_evicted` is called, which frees only pages that no hold keeps.
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

    /// Returns all pages that are not absent, ascending, each with its table.
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

    /// Links the chains of a cooling subgraph again (rule E9); returns true if this call linked them. The
    /// caller holds no latch. O(log chains that are cooling); never waits.
    pub(crate) fn relink(&self, subgraph: &Subgraph) -> bool {
        // In a forked child, threads that the child does not have may hold the locks for ever.
        if self.is_forked() || !subgraph.is_cooling() {
            return false;
        }
        let back = subgraph.try_latch_for_upkeep().is_some_and(|mut latched| latched.relink());
        if back {
            self.eviction.note_back();
        }
        back
    }

    /// Like `relink`, but for a commit that has the latch.
    pub fn relink_latched(&self, latched: &mut Latched<'_>) -> bool {
        let back = latched.relink();
        if back {
            self.eviction.note_back();
        }
        back
    }

    fn evict(&self, id: (LabelId, SubgraphId), subgraph: &Subgraph, clean: Timestamp) -> bool {
        let Some(mut latched) = subgraph.try_latch_for_upkeep() else { return false };
        let evicted = !self.eviction.is_pinned(id) && latched.evict_clean(clean, &self.horizon_of_eviction());
        if evicted {
            // Noted under the latch (rule E3).
            self.eviction.note_gone();
        }
        evicted
    }

    /// Returns the horizon for eviction: the readers without a page version. These readers keep chains in
    /// memory even if files hold the chains in the same state (rule E2). The caller holds the latch.
    fn horizon_of_eviction(&self) -> UnkeptHorizon<'_> {
        UnkeptHorizon::new(self.order.horizon(), &self.eviction.page_versions)
    }

    /// Drops the page versions that no reader needs any more.
    pub fn drop_page_versions(&self) {
        self.eviction.page_versions.drop_unread(self.order.clock.published(), &self.order.readers);
    }

    /// Frees evicted chains and pages. Waits for a short time for walks that may still read the chains: on a
    /// busy machine the thread of such a walk may not be running. Does not wait for holds, since a hold may
    /// last long.
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
