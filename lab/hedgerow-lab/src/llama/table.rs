//! The large multiversioned array: records in pages behind an indirection table. A new version copies the
//! table.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::record::Record;

type Page = Arc<[Record]>;

/// The division of ids into pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paging {
    /// The logarithm of the number of ids in a page.
    bits: u32,
}

impl Paging {
    /// Returns a paging with about `page` ids in a page. No subgraph is in two pages.
    pub(super) fn of(page: usize) -> Paging {
        Paging { bits: page.clamp(SUBGRAPH_VERTICES, 1 << 16).next_power_of_two().trailing_zeros() }
    }

    /// Returns the number of ids in a page.
    #[inline]
    pub(super) fn len(self) -> usize {
        1 << self.bits
    }

    #[inline]
    pub(super) fn page_of(self, v: VertexId) -> usize {
        v.index() >> self.bits
    }

    #[inline]
    pub(super) fn place_in_page(self, v: VertexId) -> usize {
        v.index() & (self.len() - 1)
    }
}

/// The vertex table of one snapshot in one direction. A clone copies the indirection table and shares all
/// pages.
#[derive(Clone, Debug)]
pub(super) struct Table {
    indirection: Vec<Page>,
    /// The empty page, which all page numbers without an existing vertex share.
    empty: Page,
    paging: Paging,
}

impl Table {
    pub(super) fn new(paging: Paging) -> Table {
        Table { indirection: Vec::new(), empty: vec![Record::default(); paging.len()].into(), paging }
    }

    /// Makes room for ids below a bound.
    pub(super) fn cover(&mut self, bound: usize) {
        let pages = bound.div_ceil(self.paging.len());
        if pages > self.indirection.len() {
            self.indirection.resize(pages, self.empty.clone());
        }
    }

    #[inline]
    pub(super) fn get(&self, v: VertexId) -> Option<&Record> {
        self.indirection.get(self.paging.page_of(v))?.get(self.paging.place_in_page(v))
    }

    /// Returns the records of a subgraph; none if the subgraph has no page.
    #[inline]
    pub(super) fn subgraph(&self, subgraph: SubgraphId) -> &[Record] {
        let first = subgraph.vertex(LocalVertex(0));
        match self.indirection.get(self.paging.page_of(first)) {
            Some(page) => &page[self.paging.place_in_page(first)..][..SUBGRAPH_VERTICES],
            None => &[],
        }
    }

    /// Returns a page for writing. Copies it if another version shares it.
    pub(super) fn page_mut(&mut self, page: usize) -> &mut [Record] {
        Arc::make_mut(&mut self.indirection[page])
    }

    /// Releases a page in which no vertex exists.
    pub(super) fn give_back(&mut self, page: usize) {
        self.indirection[page] = self.empty.clone();
    }

    /// Returns the number of bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        let page = size_of::<Record>() * self.paging.len();
        let pages = self.indirection.iter().filter(|page| !Arc::ptr_eq(page, &self.empty)).count();
        let counts = 2 * size_of::<usize>();
        self.indirection.capacity() * size_of::<Page>() + (pages + 1) * (page + counts)
    }
}
