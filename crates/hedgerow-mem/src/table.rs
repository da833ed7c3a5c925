//! The table of subgraphs. It grows without moving its pages, so that readers need no lock.
//!
//! A page may be *stored*: files hold its content, and nothing of it is in memory until it is loaded. A page
//! is loaded whole, at most once: a thread that finds it in the table finds all its content from the files.
//! Before that no commit has changed the page, and the table does not show its content.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::Purpose;
use hedgerow_core::growing::Growing;
use hedgerow_core::{SubgraphId, Timestamp};

use crate::arena::Arena;
use crate::grace::Memory;
use crate::subgraph::{Home, Stamp, Subgraph};
use crate::version::NotInMemory;

pub use crate::subgraph::PAGE;

/// The number of pages up to the largest vertex id.
const PAGES: usize = 1 << 20;

type Page = OnceLock<SubgraphPage>;

/// Consecutive subgraphs and the data that they share; [`PAGE`] subgraphs in a table.
pub struct SubgraphPage {
    /// The subgraphs, one or more.
    subgraphs: Box<[Subgraph]>,
    /// The same as in the subgraphs, so that a read of the stamps touches no header.
    home: Arc<Home>,
}

impl SubgraphPage {
    /// Makes a page of `count` empty subgraphs, between one and [`PAGE`], that allocate from `memory`.
    pub fn new(memory: Memory, count: usize) -> SubgraphPage {
        let home = Arc::new(Home::new(memory));
        let subgraphs = (0..count.max(1)).map(|place| Subgraph::at(home.clone(), place)).collect();
        SubgraphPage { subgraphs, home }
    }

    /// Returns the [stamps](Subgraph::stamp) of all its subgraphs, which are adjacent.
    #[inline]
    pub fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.home.stamps().take(self.subgraphs.len())
    }

    /// Returns a mask of the subgraphs with an operation after `t`.
    #[inline]
    pub fn changed_after(&self, t: Timestamp) -> u64 {
        self.home.look(Stamp::last_of(t)).0
    }

    /// Returns a mask of the subgraphs whose stamps are after `bound`, and the sum of all counts of
    /// settlings, each count modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        self.home.look(bound)
    }

    /// Prefetches the stamps.
    #[inline]
    pub(crate) fn prefetch_stamps(&self) {
        self.home.prefetch();
    }

    /// Returns the bytes of a page of a table. O(1).
    pub fn bytes() -> usize {
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

/// All subgraphs of a graph, by id. Pages are allocated at first use and never move; an isolated vertex id
/// costs a page and a chunk of the directory of pages.
///
/// The subgraphs of a table share one memory; several tables may share one too.
pub struct SubgraphTable {
    memory: Memory,
    pages: Growing<Page, PAGES>,
    /// The pages that files hold, ascending.
    stored: Box<[u32]>,
    /// The number of stored pages that are not loaded yet.
    unloaded: AtomicUsize,
}

impl Default for SubgraphTable {
    /// Makes a table with memory of its own.
    fn default() -> Self {
        SubgraphTable::new(Memory::new(Arena::new()))
    }
}

impl SubgraphTable {
    /// Makes an empty table whose subgraphs allocate from `memory`.
    pub fn new(memory: Memory) -> SubgraphTable {
        SubgraphTable::with_stored(memory, Vec::new())
    }

    /// Makes a table whose pages `stored` are in files, none of them loaded.
    pub fn with_stored(memory: Memory, mut stored: Vec<u32>) -> SubgraphTable {
        stored.sort_unstable();
        stored.dedup();
        let unloaded = AtomicUsize::new(stored.len());
        memory.account().charge(Purpose::Tables, size_of_val(&*stored));
        SubgraphTable { memory, pages: Growing::default(), stored: stored.into_boxed_slice(), unloaded }
    }

    /// Returns the memory of the subgraphs: the arena, and the list of unlinked versions.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the arena of the subgraphs.
    pub fn arena(&self) -> &Arena {
        self.memory.arena()
    }

    /// Returns the subgraph, if its page is in memory. `None` also if its page is stored and not loaded;
    /// [`find`](Self::find) distinguishes the two cases.
    #[inline]
    pub fn get(&self, id: SubgraphId) -> Option<&Subgraph> {
        self.pages.get(id.index() / PAGE)?.get()?.get(id.index() % PAGE)
    }

    /// Returns the subgraph; `None` if nothing was ever written on its page.
    ///
    /// # Errors
    /// [`NotInMemory`] if the page is stored and not loaded.
    #[inline]
    pub fn find(&self, id: SubgraphId) -> Result<Option<&Subgraph>, NotInMemory> {
        match self.get(id) {
            Some(subgraph) => Ok(Some(subgraph)),
            None => self.absent(id),
        }
    }

    #[cold]
    fn absent(&self, id: SubgraphId) -> Result<Option<&Subgraph>, NotInMemory> {
        match self.is_unloaded(id.index() / PAGE) {
            true => Err(NotInMemory),
            // Another thread may have loaded the page by now.
            false => Ok(self.get(id)),
        }
    }

    /// Returns the subgraph. Allocates its page if it has none.
    ///
    /// # Panics
    /// If the page is stored and not loaded: a new page would hide its content in files.
    #[inline]
    pub fn get_or_create(&self, id: SubgraphId) -> &Subgraph {
        let number = id.index() / PAGE;
        let new = || {
            assert!(
                self.stored.binary_search(&(number as u32)).is_err(),
                "a stored page is loaded, not made"
            );
            SubgraphPage::new(self.memory.clone(), PAGE)
        };
        &self.page_or(number, new)[id.index() % PAGE]
    }

    /// Puts a stored page, with all its content from files, into the table. If the page was loaded before,
    /// that one stays.
    pub fn load(&self, number: usize, page: SubgraphPage) -> &SubgraphPage {
        let mut fresh = false;
        let page = self.page_or(number, || {
            fresh = true;
            page
        });
        if fresh {
            // Release: a thread that reads that all pages are loaded finds them.
            self.unloaded.fetch_sub(1, Ordering::Release);
        }
        page
    }

    fn page_or(&self, number: usize, new: impl FnOnce() -> SubgraphPage) -> &SubgraphPage {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        self.pages.get_or_create(number, charge).get_or_init(|| {
            let page = new();
            charge(SubgraphPage::bytes());
            page
        })
    }

    /// True if a page is stored and not loaded yet. O(log stored pages).
    pub fn is_unloaded(&self, number: usize) -> bool {
        let stored = || self.stored.binary_search_by(|&page| (page as usize).cmp(&number)).is_ok();
        !self.all_loaded() && self.page(number).is_none() && stored()
    }

    /// True if all stored pages were loaded. O(1).
    #[inline]
    pub fn all_loaded(&self) -> bool {
        self.unloaded.load(Ordering::Acquire) == 0
    }

    /// Returns the numbers of the pages that are stored and not loaded, ascending. O(stored pages).
    pub fn unloaded(&self) -> impl Iterator<Item = usize> {
        let stored = if self.all_loaded() { &[][..] } else { &self.stored };
        stored.iter().map(|&page| page as usize).filter(|&page| self.page(page).is_none())
    }

    /// Returns the subgraphs from `page * 64` on, if their page is in memory.
    #[inline]
    pub fn page(&self, page: usize) -> Option<&SubgraphPage> {
        self.pages.get(page)?.get()
    }

    /// Returns the pages that are in memory, ascending, each with its number. O(these pages).
    pub fn pages(&self) -> impl Iterator<Item = (usize, &SubgraphPage)> {
        let numbered = self.pages.chunks().flat_map(|(first, pages)| (first..).zip(pages));
        numbered.filter_map(|(number, page)| Some((number, page.get()?)))
    }

    /// Returns the ids of all subgraphs whose pages are in memory, ascending. O(pages in memory), also if the
    /// largest id is far larger.
    pub fn existing(&self) -> impl Iterator<Item = SubgraphId> {
        let pages = self.pages.chunks().flat_map(|(first, pages)| {
            pages.iter().enumerate().filter(|(_, page)| page.get().is_some()).map(move |(i, _)| first + i)
        });
        pages.flat_map(|page| (page * PAGE..(page + 1) * PAGE).map(|id| SubgraphId(id as u32)))
    }

    /// Returns the ids of all subgraphs whose pages are in memory or stored, ascending. O(these pages). If
    /// some are not loaded, it takes memory for the numbers of all of them.
    pub fn possible(&self) -> impl Iterator<Item = SubgraphId> {
        // Unloaded pages first, so that a page that is loaded meanwhile is found at least once.
        let mut numbers: Vec<usize> = self.unloaded().collect();
        if !numbers.is_empty() {
            numbers.extend(self.existing().map(|id| id.index() / PAGE));
            numbers.sort_unstable();
            numbers.dedup();
        }
        let existing = numbers.is_empty().then(|| self.existing());
        let of_page = |page: usize| (page * PAGE..(page + 1) * PAGE).map(|id| SubgraphId(id as u32));
        existing.into_iter().flatten().chain(numbers.into_iter().flat_map(of_page))
    }

    /// Returns the bytes of directory and pages themselves.
    pub fn bytes(&self) -> usize {
        let pages = self.pages.chunks().flat_map(|(_, pages)| pages);
        let allocated = pages.filter(|page| page.get().is_some()).count();
        self.pages.bytes() + allocated * SubgraphPage::bytes() + size_of_val(&*self.stored)
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

    /// A stored page is neither empty nor created again. It is not in memory until it is loaded, which
    /// happens once.
    #[test]
    fn a_stored_page_is_not_in_memory_until_it_is_loaded() {
        let table = SubgraphTable::with_stored(Memory::default(), vec![9, 2, 2]);
        let of = |page: usize| SubgraphId((page * PAGE) as u32);
        assert!(!table.all_loaded() && table.unloaded().eq([2, 9]));
        assert!(matches!(table.find(of(2)), Err(NotInMemory)) && table.get(of(2)).is_none());
        assert!(matches!(table.find(of(3)), Ok(None)));
        table.get_or_create(of(3));
        assert!(table.existing().count() == PAGE && table.possible().count() == 3 * PAGE);
        let page = || SubgraphPage::new(Memory::default(), PAGE);
        let first = std::ptr::from_ref(table.load(2, page()));
        assert!(std::ptr::eq(first, table.load(2, page())), "the first one stays");
        assert!(matches!(table.find(of(2)), Ok(Some(_))) && table.unloaded().eq([9]));
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| _ = table.get_or_create(of(9))));
        assert!(made.is_err() && table.is_unloaded(9));
        table.load(9, page());
        assert!(table.all_loaded() && table.possible().map(|id| id.0).is_sorted());
    }
}
