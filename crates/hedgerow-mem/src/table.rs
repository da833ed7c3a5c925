//! The table of subgraphs. It grows without moving its pages, so that readers need no lock.
//!
//! A page may be *stored*: files hold its content, and memory has nothing of it. A page that files hold is
//! stored from the opening of the store until a thread loads it, and again after its eviction. A page is
//! loaded as a whole: all its subgraphs come into the table at once. Each of its chains then has the content
//! from files, or a mark that its content is only in files. No commit changes a stored page.

use hedgerow_core::account::Purpose;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::{AtomicUsize, Ordering};
use hedgerow_core::{Direction, SubgraphId, Timestamp};

use crate::arena::Arena;
use crate::grace::{Found, Hold, Memory, Places};
use crate::subgraph::{Home, Latched, STAMPS, Subgraph};
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
    /// True if the page was in memory before. Then readers of older states may exist. These readers must
    /// neither use the chains of the page as files have them, nor treat chains without an image as empty.
    pub was_loaded: bool,
}

/// The content of the place of a page. A decision must use one look, not two: between two looks the page may
/// be loaded and evicted again.
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

    /// True if both looks found the same content: the same page in memory, the same stored page, or no page.
    pub fn is_same(&self, other: &PageLook<'_>) -> bool {
        match (self, other) {
            (PageLook::Absent, PageLook::Absent) => true,
            (PageLook::Stored(one), PageLook::Stored(other)) => one == other,
            (PageLook::Loaded(one), PageLook::Loaded(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }
}

/// The subgraphs of one label, by id. The table makes a page when one of its subgraphs is first used. A
/// single vertex id, far from all other ids, costs a page and a table chunk of the array of places.
///
/// A table is *lasting* if its pages never leave memory: then calls may pass [`Hold::none`]. Only tables that
/// [`evictable`](Self::evictable) made are not lasting.
///
/// The subgraphs of a table allocate from one [`Memory`]. Several tables may share a `Memory`.
pub struct SubgraphTable {
    memory: Memory,
    weighted: bool,
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

    /// Makes a lasting table. `stored` has the numbers of the pages that files hold, and the timestamp of
    /// their content. No page is loaded.
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
        SubgraphTable { memory, weighted: false, pages, stored, since, unloaded }
    }

    /// Makes a table whose edges have weights, if `weighted`. Called before the table has a page.
    #[must_use]
    pub fn with_weights(mut self, weighted: bool) -> SubgraphTable {
        self.weighted = weighted;
        self
    }

    /// Makes a page of `count` empty subgraphs, which is not in the table yet. `count` is between one and
    /// [`PAGE`].
    pub fn new_page(&self, count: usize) -> SubgraphPage {
        SubgraphPage::new(self.home(Timestamp::ZERO), count)
    }

    /// Makes a page that replaces the evicted page `stored` and is not in the table yet. All its chains are
    /// marked as not in memory. This includes chains without an image: readers of older states must not treat
    /// them as empty.
    pub fn marked_page(&self, stored: Stored, directions: &[Direction]) -> SubgraphPage {
        SubgraphPage::marked(self.home(stored.since), directions)
    }

    fn home(&self, since: Timestamp) -> Home {
        Home::new(self.memory.clone(), self.weighted, since)
    }

    /// Returns the memory of the subgraphs: the arena, and the list of unlinked versions.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the arena of the subgraphs.
    pub fn arena(&self) -> &Arena {
        self.memory.arena()
    }

    /// Returns a hold for this table: an empty one if the table is lasting.
    #[inline]
    pub fn hold(&self) -> Hold {
        self.pages.hold()
    }

    /// Returns the subgraph if its page is in memory; `None` if the page is absent or stored.
    /// [`find`](Self::find) distinguishes these two cases.
    ///
    /// # Panics
    /// If the hold is empty and the table is not lasting. All functions with a parameter `hold` panic in this
    /// case.
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
            Found::Evicted(since) => PageLook::Stored(Stored { since, was_loaded: true }),
            Found::Absent if self.was_stored(number) => {
                PageLook::Stored(Stored { since: self.since, was_loaded: false })
            }
            Found::Absent => PageLook::Absent,
        }
    }

    /// True if files held the page when the table was made. If this is true, and a load of the page's word
    /// returned zero, the page was stored at the moment of that load. The number of stored pages does not
    /// show this: another thread may load the page after that moment, and then the number falls.
    fn was_stored(&self, number: usize) -> bool {
        self.stored.binary_search_by(|&page| (page as usize).cmp(&number)).is_ok()
    }

    /// Returns the subgraph. Makes its page if the page is absent.
    ///
    /// # Errors
    /// [`NotInMemory`] if the page is stored: a new page would hide the content in files.
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
            PageLook::Absent => _ = self.put(number, None, self.new_page(STAMPS)),
        }
        Ok(())
    }

    /// Puts a loaded page into the table. The caller found the place in the state `stored`, and `page` has
    /// the content from files, or marks. Returns true if the page was put. If the place has changed
    /// meanwhile, it stays as it is: for example, if another thread has loaded the page.
    pub fn load(&self, number: usize, stored: Stored, page: SubgraphPage) -> bool {
        let before = stored.was_loaded.then_some(stored.since);
        let put = self.put(number, before, page);
        if put {
            // Release: if a thread reads from this number that all pages are loaded, it finds the pages.
            self.unloaded.fetch_sub(1, Ordering::Release);
        }
        put
    }

    fn put(&self, number: usize, before: Option<Timestamp>, page: SubgraphPage) -> bool {
        let charge = |bytes| self.memory.account().charge(Purpose::Tables, bytes);
        let put = self.pages.put(number, before, page, charge);
        if put {
            charge(SubgraphPage::bytes());
        }
        put
    }

    /// Evicts a page if none of its chains is in memory or cooling, and `is_free` returns true. Tries all
    /// latches of the page, waits for none, and holds them meanwhile. `is_free` gets the greatest stamp of
    /// the page, and must return false if a subgraph of the page is pinned.
    ///
    /// If the page was evicted, returns the number of its subgraphs that were marked as not in memory before.
    /// A later call of [`free_pages`](Self::free_pages) frees the memory of the page. The table must not be
    /// lasting. O(64).
    ///
    /// This is rule P6 of `docs/design/pages.md`. From now on all chains of the page have the mark, for each
    /// thread that still has the page. No chain is linked or loaded into the page again.
    pub fn evict_page(
        &self,
        number: usize,
        (page, directions): (&SubgraphPage, &[Direction]),
        is_free: impl FnOnce(Timestamp) -> bool,
    ) -> Option<u64> {
        // Tested before the latches are taken: for a page with content, to take them would be in vain.
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
        // Counted before the page leaves. So if a thread reads that all pages are loaded, it finds the pages.
        self.unloaded.fetch_add(1, Ordering::AcqRel);
        let evicted = self.pages.evict(number, page, since);
        if !evicted {
            self.unloaded.fetch_sub(1, Ordering::Release);
        }
        evicted.then_some(marked)
    }

    /// Frees the evicted pages that no hold keeps; returns true if no evicted page is left. Runs a barrier if
    /// pages were evicted since the last call.
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
            Some(since) => Some(Stored { since, was_loaded: true }),
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

    /// Returns the numbers of all pages that are not absent, ascending, in one pass. If another thread loads
    /// or evicts a page meanwhile, the result still has the number of this page. O(pages).
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

    /// Returns the ids of all subgraphs whose pages are in memory, ascending. O(pages), however large the
    /// largest id is.
    pub fn existing(&self) -> impl Iterator<Item = SubgraphId> {
        ids(self.pages.indices().filter(|&number| self.pages.is_in_memory(number)))
    }

    /// Returns the ids of all subgraphs whose pages are not absent, ascending, in one pass. O(pages).
    pub fn possible(&self) -> impl Iterator<Item = SubgraphId> {
        ids(self.numbers())
    }

    /// Returns the bytes of the array of places, of the pages in memory, and of the list of stored pages.
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
