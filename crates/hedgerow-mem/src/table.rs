//! The table of subgraphs. It grows without moving its pages, so that readers need no lock.
//!
//! A page may be *stored*: files hold its content, and nothing of it is in memory. It is stored from the
//! opening of the store until it is loaded, and again after it was evicted. A page is loaded whole: a thread
//! that finds it in the table finds all its content from the files, or marks in place of chains that are only
//! in files. No commit changes a stored page.

use hedgerow_core::account::Purpose;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicUsize, Ordering};
use hedgerow_core::{Direction, SubgraphId, Timestamp};

use crate::arena::Arena;
use crate::grace::{Evicted, Found, Hold, Memory, Places};
use crate::subgraph::{Latched, STAMPS, Subgraph};
use crate::version::NotInMemory;

mod page;

pub use crate::subgraph::PAGE;
pub use page::SubgraphPage;

/// The number of pages up to the largest vertex id.
const PAGES: usize = 1 << 20;

/// A page that only files hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// A timestamp at or after the last operation on the page.
    pub since: Timestamp,
    /// True if the page was in memory before. Then readers of older states may exist, which must not take its
    /// chains as files have them, nor chains without an image as empty.
    pub was_loaded: bool,
}

/// The content of the place of a page. Each decision uses one look, since a page may be loaded and evicted
/// again between two looks.
pub enum PageLook<'a> {
    /// Nothing was ever written on the page.
    Absent,
    /// Only files hold the page.
    Stored(Stored),
    /// The page is in memory.
    Loaded(&'a SubgraphPage),
}

impl<'a> PageLook<'a> {
    /// Returns the page, if it is in memory.
    #[inline]
    pub fn loaded(self) -> Option<&'a SubgraphPage> {
        if let PageLook::Loaded(page) = self { Some(page) } else { None }
    }

    /// Returns the page if it is in memory, and `None` if it never had content.
    ///
    /// # Errors
    /// [`NotInMemory`] if only files hold the page.
    pub fn in_memory(self) -> Result<Option<&'a SubgraphPage>, NotInMemory> {
        match self {
            PageLook::Absent => Ok(None),
            PageLook::Stored(_) => Err(NotInMemory),
            PageLook::Loaded(page) => Ok(Some(page)),
        }
    }

    /// True if the other look found the same content: the same page in memory, or the same stored page.
    pub fn is_same(&self, other: &PageLook<'_>) -> bool {
        match (self, other) {
            (PageLook::Absent, PageLook::Absent) => true,
            (PageLook::Stored(one), PageLook::Stored(other)) => one == other,
            (PageLook::Loaded(one), PageLook::Loaded(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }
}

/// All subgraphs of a graph, by id. Pages are allocated at first use; an isolated vertex id costs a page and
/// a chunk of the directory of pages.
///
/// A table is *lasting* unless it was made by [`evictable`](Self::evictable): its pages never leave memory,
/// and calls may pass [`Hold::none`].
///
/// The subgraphs of a table share one memory; several tables may share one too.
pub struct SubgraphTable {
    memory: Memory,
    pages: Places<SubgraphPage, PAGES>,
    /// The pages that files held when the table was made, ascending, and the timestamp of their content.
    stored: Box<[u32]>,
    since: Timestamp,
    /// The number of stored pages.
    unloaded: AtomicUsize,
}

impl Default for SubgraphTable {
    /// Makes a table with memory of its own.
    fn default() -> Self {
        SubgraphTable::new(Memory::new(Arena::new()))
    }
}

impl SubgraphTable {
    /// Makes an empty lasting table whose subgraphs allocate from `memory`.
    pub fn new(memory: Memory) -> SubgraphTable {
        SubgraphTable::with_stored(memory, (Vec::new(), Timestamp::ZERO))
    }

    /// Makes a lasting table whose pages `stored` are in files as of a timestamp, none of them loaded.
    pub fn with_stored(memory: Memory, stored: (Vec<u32>, Timestamp)) -> SubgraphTable {
        SubgraphTable::made(memory, stored, false)
    }

    /// Like [`with_stored`](Self::with_stored), but pages may be [evicted](Self::evict_page).
    pub fn evictable(memory: Memory, stored: (Vec<u32>, Timestamp)) -> SubgraphTable {
        SubgraphTable::made(memory, stored, true)
    }

    fn made(memory: Memory, (mut stored, since): (Vec<u32>, Timestamp), evicts: bool) -> SubgraphTable {
        stored.sort_unstable();
        stored.dedup();
        let unloaded = AtomicUsize::new(stored.len());
        memory.account().charge(Purpose::Tables, size_of_val(&*stored));
        let (pages, stored) = (Places::new(evicts), stored.into_boxed_slice());
        SubgraphTable { memory, pages, stored, since, unloaded }
    }

    /// Returns the memory of the subgraphs: the arena, and the list of unlinked versions.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the arena of the subgraphs.
    pub fn arena(&self) -> &Arena {
        self.memory.arena()
    }

    /// Returns a hold that suffices for this table: an empty one if the table is lasting.
    #[inline]
    pub fn hold(&self) -> Hold {
        self.pages.hold()
    }

    /// Returns the subgraph, if its page is in memory. `None` also if its page is stored;
    /// [`find`](Self::find) distinguishes the two cases.
    ///
    /// # Panics
    /// If the hold is empty and the table is not lasting; this holds for all calls with a hold.
    #[inline]
    pub fn get<'a>(&'a self, id: SubgraphId, hold: &'a Hold) -> Option<&'a Subgraph> {
        match self.pages.get(id.index() / PAGE, hold) {
            Found::InMemory(page) => page.get(id.index() % PAGE),
            _ => None,
        }
    }

    /// Returns the subgraph; `None` if nothing was ever written on its page.
    ///
    /// # Errors
    /// [`NotInMemory`] if the page is stored.
    #[inline]
    pub fn find<'a>(&'a self, id: SubgraphId, hold: &'a Hold) -> Result<Option<&'a Subgraph>, NotInMemory> {
        let page = self.look(id.index() / PAGE, hold).in_memory()?;
        Ok(page.and_then(|page| page.get(id.index() % PAGE)))
    }

    /// Looks at the place of a page. O(log stored pages) if the page is not in memory.
    #[inline]
    pub fn look<'a>(&'a self, number: usize, hold: &'a Hold) -> PageLook<'a> {
        match self.pages.get(number, hold) {
            Found::InMemory(page) => PageLook::Loaded(page),
            Found::Evicted(Evicted { since }) => PageLook::Stored(Stored { since, was_loaded: true }),
            Found::Absent if self.was_stored(number) => {
                PageLook::Stored(Stored { since: self.since, was_loaded: false })
            }
            Found::Absent => PageLook::Absent,
        }
    }

    /// True if files held the page when the table was made. If its word was still zero at one load, the page
    /// was stored at that moment. The number of stored pages proves nothing: it falls when another thread
    /// loads the page after that load of the word.
    fn was_stored(&self, number: usize) -> bool {
        self.stored.binary_search_by(|&page| (page as usize).cmp(&number)).is_ok()
    }

    /// Returns the subgraph. Makes its page if it is absent.
    ///
    /// # Errors
    /// [`NotInMemory`] if the page is stored: a new page would hide its content in files.
    #[inline]
    pub fn get_or_create<'a>(&'a self, id: SubgraphId, hold: &'a Hold) -> Result<&'a Subgraph, NotInMemory> {
        let number = id.index() / PAGE;
        loop {
            if let PageLook::Loaded(page) = self.look(number, hold) {
                return Ok(&page[id.index() % PAGE]);
            }
            self.make(number, hold)?;
        }
    }

    #[cold]
    fn make(&self, number: usize, hold: &Hold) -> Result<(), NotInMemory> {
        match self.look(number, hold) {
            PageLook::Loaded(_) => {}
            PageLook::Stored(_) => return Err(NotInMemory),
            PageLook::Absent => _ = self.put(number, None, SubgraphPage::new(self.memory.clone(), STAMPS)),
        }
        Ok(())
    }

    /// Puts a page that was found `stored`, with its content from files, into the table; true if it was put.
    /// If another thread loaded the page before, that one stays.
    pub fn load(&self, number: usize, stored: Stored, page: SubgraphPage) -> bool {
        let before = stored.was_loaded.then_some(Evicted { since: stored.since });
        let put = self.put(number, before, page);
        if put {
            // Release: a thread that reads that all pages are loaded finds them.
            self.unloaded.fetch_sub(1, Ordering::Release);
        }
        put
    }

    fn put(&self, number: usize, before: Option<Evicted>, page: SubgraphPage) -> bool {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        let put = self.pages.put(number, before, page, charge);
        if put {
            charge(SubgraphPage::bytes());
        }
        put
    }

    /// Evicts a page if none of its chains is in memory or cooling, and nothing on it is pinned: `is_free`
    /// decides by the stamp, with all latches of the page held. Tries these latches, and waits for none.
    /// Returns the number of its subgraphs that were marked as not in memory, if the page was evicted; its
    /// memory is free after [`free_pages`](Self::free_pages). The table must not be lasting. O(64).
    ///
    /// This is rule P6 of `docs/design/pages.md`. From here on the page has the mark in place of all chains,
    /// for each thread that still has it, and no chain of it is linked or loaded again.
    pub fn evict_page(
        &self,
        number: usize,
        (page, directions): (&SubgraphPage, &[Direction]),
        is_free: impl FnOnce(Timestamp) -> bool,
    ) -> Option<u64> {
        // Before the latches, which a page with content would take in vain.
        if !page.iter().all(Subgraph::is_out_of_memory) {
            return None;
        }
        let latches = page.iter().map(Subgraph::try_latch_for_upkeep).collect::<Option<Vec<Latched<'_>>>>();
        let mut latches = latches?;
        let since = latches.iter().map(Latched::last_ts).max().unwrap_or(Timestamp::ZERO);
        let is_empty = |latched: &Latched<'_>| latched.is_out_of_memory() && !latched.is_cooling();
        if !latches.iter().all(is_empty) || !is_free(since) {
            return None;
        }
        let since = if faults::is_on(PlantedFault::EvictedPageUnstamped) { Timestamp::ZERO } else { since };
        let marked = latches.iter().filter(|latched| !latched.is_resident()).count() as u64;
        page.note_left();
        for latched in &mut latches {
            directions.iter().for_each(|&direction| latched.evict(direction));
        }
        // Counted before the page leaves: a thread that reads that all pages are loaded finds them.
        self.unloaded.fetch_add(1, Ordering::AcqRel);
        let evicted = self.pages.evict(number, page, Evicted { since });
        if !evicted {
            self.unloaded.fetch_sub(1, Ordering::Release);
        }
        evicted.then_some(marked)
    }

    /// Frees evicted pages that no hold keeps; true if none is left. Runs a barrier if there is any.
    pub fn free_pages(&self) -> bool {
        if !self.pages.has_retired() {
            return true;
        }
        let freed = self.pages.free();
        self.memory.account().discharge(Purpose::Tables, freed * SubgraphPage::bytes());
        !self.pages.has_retired()
    }

    /// True if a page is stored. O(log stored pages).
    pub fn is_unloaded(&self, number: usize) -> bool {
        self.stored_page(number).is_some()
    }

    /// Returns the facts about a stored page; `None` if the page is in memory or absent. O(log stored pages).
    pub fn stored_page(&self, number: usize) -> Option<Stored> {
        match self.pages.evicted(number) {
            Some(Evicted { since }) => Some(Stored { since, was_loaded: true }),
            None => (self.pages.is_absent(number) && self.was_stored(number))
                .then_some(Stored { since: self.since, was_loaded: false }),
        }
    }

    /// True if nothing was ever written on the page. O(log stored pages).
    pub fn is_absent(&self, number: usize) -> bool {
        self.pages.is_absent(number) && !self.was_stored(number)
    }

    /// True if no page is stored. O(1).
    #[inline]
    pub fn all_loaded(&self) -> bool {
        self.unloaded.load(Ordering::Acquire) == 0
    }

    /// Returns the numbers of the stored pages, ascending. O(pages).
    pub fn unloaded(&self) -> impl Iterator<Item = usize> {
        let any = !self.all_loaded();
        self.numbers().filter(move |&number| any && self.is_unloaded(number))
    }

    /// Returns the page, if it is in memory.
    #[inline]
    pub fn page<'a>(&'a self, number: usize, hold: &'a Hold) -> Option<&'a SubgraphPage> {
        self.look(number, hold).loaded()
    }

    /// Returns the pages that are in memory, ascending, each with its number. O(pages).
    pub fn pages<'a>(&'a self, hold: &'a Hold) -> impl Iterator<Item = (usize, &'a SubgraphPage)> {
        self.pages.indices().filter_map(move |number| Some((number, self.page(number, hold)?)))
    }

    /// Returns the numbers of all pages that are not absent, ascending, in one pass: a page that is loaded or
    /// evicted meanwhile is among them. O(pages).
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        let stored = if self.all_loaded() { &[][..] } else { &self.stored };
        let mut stored = stored.iter().map(|&page| page as usize).peekable();
        let mut other = self.pages.indices().peekable();
        std::iter::from_fn(move || {
            let next = match (stored.peek(), other.peek()) {
                (Some(&one), Some(&two)) => one.min(two),
                (one, two) => *one.or(two)?,
            };
            stored.next_if_eq(&next);
            other.next_if_eq(&next);
            Some(next)
        })
    }

    /// Returns the ids of all subgraphs whose pages are in memory, ascending. O(pages), also if the largest
    /// id is far larger.
    pub fn existing(&self) -> impl Iterator<Item = SubgraphId> {
        ids(self.pages.indices().filter(|&number| self.pages.is_in_memory(number)))
    }

    /// Returns the ids of all subgraphs whose pages are not absent, ascending, in one pass. O(pages).
    pub fn possible(&self) -> impl Iterator<Item = SubgraphId> {
        ids(self.numbers())
    }

    /// Returns the bytes of directory and pages themselves.
    pub fn bytes(&self) -> usize {
        let in_memory = self.existing().count() / PAGE;
        self.pages.bytes() + in_memory * SubgraphPage::bytes() + size_of_val(&*self.stored)
    }
}

fn ids(pages: impl Iterator<Item = usize>) -> impl Iterator<Item = SubgraphId> {
    pages.flat_map(|page| (page * PAGE..(page + 1) * PAGE).map(|id| SubgraphId(id as u32)))
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
