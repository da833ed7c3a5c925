//! The large multiversioned array: records in pages behind an indirection table, which a new version copies.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::record::Record;

type Page = Arc<[Record]>;

/// How ids are divided into pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paging {
    /// The logarithm of the ids in a page.
    bits: u32,
}

impl Paging {
    /// With pages of about so many ids: no subgraph lies in two.
    pub(super) fn of(page: usize) -> Paging {
        Paging { bits: page.clamp(SUBGRAPH_VERTICES, 1 << 16).next_power_of_two().trailing_zeros() }
    }

    /// The ids in a page.
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

/// The vertex table of one snapshot in one direction. A clone is a copy of the indirection table, and shares
/// all pages.
#[derive(Clone, Debug)]
pub(super) struct Table {
    indirection: Vec<Page>,
    /// Stands for all pages of which no vertex exists.
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

    /// The records of a subgraph; none where it has no page.
    #[inline]
    pub(super) fn subgraph(&self, subgraph: SubgraphId) -> &[Record] {
        let first = subgraph.vertex(LocalVertex(0));
        match self.indirection.get(self.paging.page_of(first)) {
            Some(page) => &page[self.paging.place_in_page(first)..][..SUBGRAPH_VERTICES],
            None => &[],
        }
    }

    /// A page for writing: a copy, if another version has it too.
    pub(super) fn page_mut(&mut self, page: usize) -> &mut [Record] {
        Arc::make_mut(&mut self.indirection[page])
    }

    /// Gives up a page of which no vertex exists.
    pub(super) fn give_back(&mut self, page: usize) {
        self.indirection[page] = self.empty.clone();
    }

    /// The bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        let page = size_of::<Record>() * self.paging.len();
        let pages = self.indirection.iter().filter(|page| !Arc::ptr_eq(page, &self.empty)).count();
        let counts = 2 * size_of::<usize>();
        self.indirection.capacity() * size_of::<Page>() + (pages + 1) * (page + counts)
    }
}
