//! The table of subgraphs: grows without moving, so that readers need no lock.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use hedgerow_core::SubgraphId;
use hedgerow_core::account::Purpose;
use hedgerow_core::growing::Growing;

use crate::arena::Arena;
use crate::grace::Memory;
use crate::subgraph::{Home, Stamp, Subgraph};

pub use crate::subgraph::PAGE;

/// Pages up to the largest vertex id.
const PAGES: usize = 1 << 20;

type Page = OnceLock<SubgraphPage>;

/// Consecutive subgraphs, and what they share: [`PAGE`] of them in a table.
pub struct SubgraphPage {
    /// At least one.
    subgraphs: Box<[Subgraph]>,
    /// Here too, so that a look at the stamps meets no header.
    home: Arc<Home>,
}

impl SubgraphPage {
    /// `count` empty subgraphs, between one and [`PAGE`], that allocate from `memory`.
    pub fn new(memory: Memory, count: usize) -> SubgraphPage {
        let home = Arc::new(Home::new(memory));
        let subgraphs = (0..count.max(1)).map(|place| Subgraph::at(home.clone(), place)).collect();
        SubgraphPage { subgraphs, home }
    }

    /// The [stamps](Subgraph::stamp) of all its subgraphs, which lie side by side.
    #[inline]
    pub fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.home.stamps().take(self.subgraphs.len())
    }

    /// The places of subgraphs whose stamps are after `bound`, and how often all were settled, each modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        self.home.look(bound)
    }

    /// Starts loading the stamps.
    #[inline]
    pub(crate) fn prefetch_stamps(&self) {
        self.home.prefetch();
    }

    fn bytes() -> usize {
        size_of::<Home>() + PAGE * size_of::<Subgraph>()
    }
}

impl Deref for SubgraphPage {
    type Target = [Subgraph];

    #[inline]
    fn deref(&self) -> &[Subgraph] {
        &self.subgraphs
    }
}

/// All subgraphs of a graph, by id. Pages are allocated at first use and never move; a vertex far away costs a page and
/// a chunk of the directory of pages.
///
/// The subgraphs of a table share their memory; tables may share one too.
pub struct SubgraphTable {
    memory: Memory,
    pages: Growing<Page, PAGES>,
}

impl Default for SubgraphTable {
    /// A table with memory of its own.
    fn default() -> Self {
        SubgraphTable::new(Memory::new(Arena::new()))
    }
}

impl SubgraphTable {
    /// An empty table whose subgraphs allocate from `memory`.
    pub fn new(memory: Memory) -> SubgraphTable {
        SubgraphTable { memory, pages: Growing::default() }
    }

    /// Where the subgraphs allocate, and where their versions end.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where the subgraphs allocate.
    pub fn arena(&self) -> &Arena {
        self.memory.arena()
    }

    /// The subgraph, if its page exists.
    #[inline]
    pub fn get(&self, id: SubgraphId) -> Option<&Subgraph> {
        self.pages.get(id.index() / PAGE)?.get()?.get(id.index() % PAGE)
    }

    /// The subgraph; its page is allocated if need be.
    #[inline]
    pub fn get_or_create(&self, id: SubgraphId) -> &Subgraph {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        let page = self.pages.get_or_create(id.index() / PAGE, charge);
        let new = || {
            charge(SubgraphPage::bytes());
            SubgraphPage::new(self.memory.clone(), PAGE)
        };
        &page.get_or_init(new)[id.index() % PAGE]
    }

    /// The subgraphs from `page * 64` on, if their page exists.
    #[inline]
    pub fn page(&self, page: usize) -> Option<&SubgraphPage> {
        self.pages.get(page)?.get()
    }

    /// The ids of all subgraphs whose pages exist, ascending. O(existing pages), whatever the largest id is.
    pub fn existing(&self) -> impl Iterator<Item = SubgraphId> {
        let pages = self.pages.chunks().flat_map(|(first, pages)| {
            pages.iter().enumerate().filter(|(_, page)| page.get().is_some()).map(move |(i, _)| first + i)
        });
        pages.flat_map(|page| (page * PAGE..(page + 1) * PAGE).map(|id| SubgraphId(id as u32)))
    }

    /// The bytes of directory and pages themselves.
    pub fn bytes(&self) -> usize {
        let pages = self.pages.chunks().flat_map(|(_, pages)| pages);
        let allocated = pages.filter(|page| page.get().is_some()).count();
        self.pages.bytes() + allocated * SubgraphPage::bytes()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_far_id_costs_a_page_not_a_table() {
        let table = SubgraphTable::default();
        assert!(table.get(SubgraphId(u32::MAX >> 6)).is_none());
        table.get_or_create(SubgraphId(u32::MAX >> 6));
        assert!(table.get(SubgraphId(u32::MAX >> 6)).is_some());
        assert!(table.bytes() < 256 << 10, "{}", table.bytes());
        table.get_or_create(SubgraphId(3));
        let existing: Vec<u32> = table.existing().map(|id| id.0).collect();
        assert_eq!(existing.len(), 2 * PAGE);
        assert_eq!((existing[0], existing[2 * PAGE - 1]), (0, u32::MAX >> 6));
    }
}
