//! The table of subgraphs: grows without moving, so that readers need no lock.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use hedgerow_core::{SubgraphId, Timestamp};

use crate::arena::Arena;
use crate::subgraph::{Home, Subgraph};

/// Subgraphs per page: 4096 vertices.
pub const PAGE: usize = 64;
/// The first directory chunk holds this many pages; each further one as many as all before it.
const FIRST_CHUNK: usize = 64;
/// Directory chunks up to the largest vertex id.
const CHUNKS: usize = 15;

type Page = OnceLock<SubgraphPage>;

/// Consecutive subgraphs, and what they share: [`PAGE`] of them in a table.
pub struct SubgraphPage {
    /// At least one: what they share is found through the first, so that the directory is no larger for it.
    subgraphs: Box<[Subgraph]>,
}

impl SubgraphPage {
    /// `count` empty subgraphs, between one and [`PAGE`], that allocate from `arena`.
    pub fn new(arena: Arena, count: usize) -> SubgraphPage {
        let home = Arc::new(Home::new(arena));
        let subgraphs = (0..count.max(1)).map(|place| Subgraph::at(home.clone(), place)).collect();
        SubgraphPage { subgraphs }
    }

    /// The [stamps](Subgraph::stamp) of all its subgraphs, which lie side by side.
    #[inline]
    pub fn stamps(&self) -> impl Iterator<Item = (Timestamp, u8)> {
        self.subgraphs[0].home().stamps().take(self.subgraphs.len())
    }

    /// Starts loading what leads to the stamps.
    #[inline]
    pub(crate) fn warm_first(&self) {
        self.subgraphs[0].warm_header();
    }

    /// Starts loading the stamps; what leads to them should be here.
    #[inline]
    pub(crate) fn warm_stamps(&self) {
        self.subgraphs[0].home().warm();
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

/// All subgraphs of a graph, by id. Pages are allocated at first use and never move; the directory of pages grows by
/// chunks of doubling size.
///
/// The subgraphs of a table share an arena; tables may share one too.
pub struct SubgraphTable {
    arena: Arena,
    chunks: [OnceLock<Box<[Page]>>; CHUNKS],
}

/// Directory chunk, page in the chunk, and size of the chunk in pages.
#[inline]
fn locate(id: SubgraphId) -> (usize, usize, usize) {
    let n = id.index() / PAGE + FIRST_CHUNK;
    let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST_CHUNK.trailing_zeros() as usize;
    let size = FIRST_CHUNK << chunk;
    (chunk, n - size, size)
}

impl Default for SubgraphTable {
    /// A table with an arena of its own.
    fn default() -> Self {
        SubgraphTable::new(Arena::new())
    }
}

impl SubgraphTable {
    /// An empty table whose subgraphs allocate from `arena`.
    pub fn new(arena: Arena) -> SubgraphTable {
        SubgraphTable { arena, chunks: Default::default() }
    }

    /// Where the subgraphs allocate.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The subgraph, if its page exists.
    #[inline]
    pub fn get(&self, id: SubgraphId) -> Option<&Subgraph> {
        let (chunk, page, _) = locate(id);
        self.chunks.get(chunk)?.get()?.get(page)?.get()?.get(id.index() % PAGE)
    }

    /// The subgraph; its page is allocated if need be.
    #[inline]
    pub fn get_or_create(&self, id: SubgraphId) -> &Subgraph {
        let (chunk, page, size) = locate(id);
        let pages = self.chunks[chunk].get_or_init(|| (0..size).map(|_| Page::new()).collect());
        &pages[page].get_or_init(|| SubgraphPage::new(self.arena.clone(), PAGE))[id.index() % PAGE]
    }

    /// The subgraphs from `page * 64` on, if their page exists.
    #[inline]
    pub fn page(&self, page: usize) -> Option<&SubgraphPage> {
        let (chunk, page, _) = locate(SubgraphId((page * PAGE) as u32));
        self.chunks.get(chunk)?.get()?.get(page)?.get()
    }

    /// The bytes of directory and pages themselves.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().filter_map(OnceLock::get);
        let of_chunk = |pages: &[Page]| {
            let allocated = pages.iter().filter(|p| p.get().is_some()).count();
            size_of_val(pages) + allocated * SubgraphPage::bytes()
        };
        chunks.map(|pages| of_chunk(pages)).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for page in 0..10_000u32 {
            let (chunk, place, size) = locate(SubgraphId(page * PAGE as u32));
            assert_eq!((chunk, place), expected);
            expected.1 += 1;
            if expected.1 == size {
                expected = (expected.0 + 1, 0);
            }
        }
        let (chunk, place, size) = locate(SubgraphId(u32::MAX >> 6));
        assert!(chunk < CHUNKS && place < size);
    }

    #[test]
    fn a_far_id_costs_a_page_not_a_table() {
        let table = SubgraphTable::default();
        assert!(table.get(SubgraphId(u32::MAX >> 6)).is_none());
        table.get_or_create(SubgraphId(u32::MAX >> 6));
        assert!(table.get(SubgraphId(u32::MAX >> 6)).is_some());
        assert!(table.bytes() < 32 << 20);
    }
}
