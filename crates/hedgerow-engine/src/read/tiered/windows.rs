//! The edges into some pages, in memory: windows that are kept, and how they are gathered.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::Account;
use hedgerow_core::sync::Mutex;
use hedgerow_core::{LocalVertex, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;

use super::lists::{Lists, Page, TieredBlock};

/// The windows that are kept.
#[derive(Default)]
pub(super) struct Windows {
    /// How many edges lead to the vertices of each page, of those to which some lead.
    pub(super) totals: OnceLock<BTreeMap<u32, u64>>,
    /// The one asked for last at the end.
    kept: Mutex<Vec<Arc<Window>>>,
}

impl Windows {
    /// One that is kept and has the page.
    pub(super) fn find(&self, page: u32) -> Option<Arc<Window>> {
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|window| window.pages.contains(&page))?;
        let found = kept.remove(at);
        kept.push(found.clone());
        Some(found)
    }

    /// Lets go of the one that was asked for longest ago, if `most` are kept.
    pub(super) fn make_room(&self, most: usize) {
        let mut kept = self.kept.lock();
        let oldest = (kept.len() >= most).then(|| kept.remove(0));
        drop(kept); // before the window, which is large
        drop(oldest);
    }

    /// Keeps a window, and no more than `most`: several threads may have found room for theirs.
    pub(super) fn keep(&self, window: Arc<Window>, most: usize) {
        let mut kept = self.kept.lock();
        kept.push(window);
        let more = kept.len().saturating_sub(most.max(1));
        let oldest: Vec<Arc<Window>> = kept.drain(..more).collect();
        drop(kept); // before the windows, which are large
        drop(oldest);
    }
}

/// The edges into some pages.
pub(super) struct Window {
    pub(super) pages: Range<u32>,
    /// Those to which edges lead, ascending.
    lists: Vec<(u32, Page)>,
}

impl Window {
    pub(super) fn block(&self, id: SubgraphId) -> TieredBlock<'_> {
        let page = id.0 / PAGE as u32;
        let found = self.lists.binary_search_by_key(&page, |(page, _)| *page).ok();
        let lists = found.and_then(|at| self.lists.get(at)?.1.get(id.index() % PAGE));
        TieredBlock(lists)
    }
}

/// A window while its edges are met.
pub(super) struct Gathering {
    /// The pages to which edges lead, ascending, and their edges.
    numbers: Vec<u32>,
    gathered: Vec<Gathered>,
}

/// Edges into the subgraphs of a page, as they are met, each with its weight where they have some.
struct Gathered {
    edges: [Vec<(LocalVertex, VertexId)>; PAGE],
    weights: [Vec<f64>; PAGE],
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered { edges: [const { Vec::new() }; PAGE], weights: [const { Vec::new() }; PAGE] }
    }
}

/// The page of a vertex.
pub(super) fn page_of(v: VertexId) -> u32 {
    v.subgraph().0 / PAGE as u32
}

impl Gathering {
    /// Of the pages to which edges lead.
    pub(super) fn new(numbers: Vec<u32>) -> Gathering {
        let gathered = std::iter::repeat_with(Gathered::default).take(numbers.len()).collect();
        Gathering { numbers, gathered }
    }

    /// Takes an edge, if it leads to one of the pages.
    #[inline]
    pub(super) fn take(&mut self, src: VertexId, dst: VertexId, weight: Option<f64>) {
        let Ok(at) = self.numbers.binary_search(&page_of(dst)) else { return };
        let (place, Some(page)) = (dst.subgraph().index() % PAGE, self.gathered.get_mut(at)) else { return };
        page.edges[place].push((dst.local(), src));
        page.weights[place].extend(weight);
    }

    /// The window of the edges that were taken.
    pub(super) fn finish(self, pages: Range<u32>, account: &Arc<Account>) -> Window {
        let mut lists = Vec::with_capacity(self.numbers.len());
        for (number, of_page) in self.numbers.into_iter().zip(self.gathered) {
            let mut page = Page::new(account, PAGE);
            for (place, (edges, weights)) in of_page.edges.into_iter().zip(of_page.weights).enumerate() {
                page.add(place, Lists::of_edges(&edges, &weights));
            }
            lists.push((number, page));
        }
        Window { pages, lists }
    }
}
