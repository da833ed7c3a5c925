//! The table of subgraphs: grows without moving, so that readers need no lock.
//!
//! A page may be *stored*: files hold what is on it, and memory nothing until it is loaded. It is loaded whole, at most once: who
//! finds it in the table finds everything that was in the files. Until then nothing of it has changed, and nobody can tell from the
//! table what it holds.

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

    /// The places of subgraphs to which something was applied after `t`, a bit for each.
    #[inline]
    pub fn changed_after(&self, t: Timestamp) -> u64 {
        self.home.look(Stamp::last_of(t)).0
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

    /// The bytes of a page of a table. O(1).
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

/// All subgraphs of a graph, by id. Pages are allocated at first use and never move; a vertex far away costs a page and
/// a chunk of the directory of pages.
///
/// The subgraphs of a table share their memory; tables may share one too.
pub struct SubgraphTable {
    memory: Memory,
    pages: Growing<Page, PAGES>,
    /// The pages that files hold, ascending.
    stored: Box<[u32]>,
    /// How many of them were not loaded yet.
    unloaded: AtomicUsize,
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
        SubgraphTable::with_stored(memory, Vec::new())
    }

    /// A table of which files hold the pages `stored`, none of them loaded.
    pub fn with_stored(memory: Memory, mut stored: Vec<u32>) -> SubgraphTable {
        stored.sort_unstable();
        stored.dedup();
        let unloaded = AtomicUsize::new(stored.len());
        memory.account().charge(Purpose::Tables, size_of_val(&*stored));
        SubgraphTable { memory, pages: Growing::default(), stored: stored.into_boxed_slice(), unloaded }
    }

    /// Where the subgraphs allocate, and where their versions end.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Where the subgraphs allocate.
    pub fn arena(&self) -> &Arena {
        self.memory.arena()
    }

    /// The subgraph, if its page is in memory: one on a page that is stored and not loaded is not found. Where that makes a
    /// difference [`find`](Self::find) is to be called.
    #[inline]
    pub fn get(&self, id: SubgraphId) -> Option<&Subgraph> {
        self.pages.get(id.index() / PAGE)?.get()?.get(id.index() % PAGE)
    }

    /// The subgraph; `None` where nothing was ever written on its page.
    ///
    /// # Errors
    /// [`NotInMemory`] where the page is stored and not loaded.
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
            // It may have come since.
            false => Ok(self.get(id)),
        }
    }

    /// The subgraph; its page is allocated if need be.
    ///
    /// # Panics
    /// If the page is stored and not loaded: what files hold of it would be hidden.
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

    /// Puts a page that was stored in its place, with everything that files hold of it. One that was loaded before stays.
    pub fn load(&self, number: usize, page: SubgraphPage) -> &SubgraphPage {
        let mut fresh = false;
        let page = self.page_or(number, || {
            fresh = true;
            page
        });
        if fresh {
            // Release: who reads that all are loaded finds them.
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

    /// Whether a page is stored and was not loaded yet. O(log stored pages).
    pub fn is_unloaded(&self, number: usize) -> bool {
        let stored = || self.stored.binary_search_by(|&page| (page as usize).cmp(&number)).is_ok();
        !self.all_loaded() && self.page(number).is_none() && stored()
    }

    /// Whether no page is stored that was not loaded. O(1).
    #[inline]
    pub fn all_loaded(&self) -> bool {
        self.unloaded.load(Ordering::Acquire) == 0
    }

    /// The numbers of the pages that are stored and not loaded, ascending. O(stored pages).
    pub fn unloaded(&self) -> impl Iterator<Item = usize> {
        let stored = if self.all_loaded() { &[][..] } else { &self.stored };
        stored.iter().map(|&page| page as usize).filter(|&page| self.page(page).is_none())
    }

    /// The subgraphs from `page * 64` on, if their page is in memory.
    #[inline]
    pub fn page(&self, page: usize) -> Option<&SubgraphPage> {
        self.pages.get(page)?.get()
    }

    /// The pages that are in memory, ascending, each with its number. O(these pages).
    pub fn pages(&self) -> impl Iterator<Item = (usize, &SubgraphPage)> {
        let numbered = self.pages.chunks().flat_map(|(first, pages)| (first..).zip(pages));
        numbered.filter_map(|(number, page)| Some((number, page.get()?)))
    }

    /// The ids of all subgraphs whose pages are in memory, ascending. O(these pages), whatever the largest id is.
    pub fn existing(&self) -> impl Iterator<Item = SubgraphId> {
        let pages = self.pages.chunks().flat_map(|(first, pages)| {
            pages.iter().enumerate().filter(|(_, page)| page.get().is_some()).map(move |(i, _)| first + i)
        });
        pages.flat_map(|page| (page * PAGE..(page + 1) * PAGE).map(|id| SubgraphId(id as u32)))
    }

    /// The ids of all subgraphs whose pages are in memory or stored, ascending. O(these pages), and memory for the numbers of
    /// those that are not loaded.
    pub fn possible(&self) -> impl Iterator<Item = SubgraphId> {
        // Those that are not loaded first: what is loaded meanwhile is met once at least.
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

    /// The bytes of directory and pages themselves.
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

    /// A stored page is neither empty nor made anew: it is not in memory until it is loaded, and only once.
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
