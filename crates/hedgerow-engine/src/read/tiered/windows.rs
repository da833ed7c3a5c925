//! The edges into some pages, in memory: how windows of them are gathered and kept.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{AtomicBool, Mutex, Ordering};
use hedgerow_core::{LocalVertex, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_pager::budget::KeptForReads;
use hedgerow_pager::budget::taken::Room;

use super::lists::{Lists, Page, TieredBlock};

/// The kept windows of a view.
#[derive(Default)]
pub(super) struct Windows {
    /// The number of edges into each page; pages without such edges have no entry.
    pub(super) totals: OnceLock<BTreeMap<u32, Totals>>,
    /// The kept windows; the most recently used one is last.
    kept: Mutex<Vec<Arc<Window>>>,
    /// True if the budget knows these windows, and so can free them.
    is_known: AtomicBool,
}

impl Windows {
    /// Returns a kept window that has the page.
    pub(super) fn find(&self, page: u32) -> Option<Arc<Window>> {
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|window| window.pages.contains(&page))?;
        let found = kept.remove(at);
        kept.push(found.clone());
        Some(found)
    }

    /// Drops the least recently used window, if `most` are kept.
    pub(super) fn make_room(&self, most: usize) {
        let mut kept = self.kept.lock();
        let oldest = (kept.len() >= most).then(|| kept.remove(0));
        drop(kept); // before the window, which is large
        drop(oldest);
    }

    /// Drops all windows; true if there were some.
    pub(super) fn forget(&self) -> bool {
        let kept = std::mem::take(&mut *self.kept.lock());
        !kept.is_empty()
    }

    /// Keeps a window, and drops the oldest ones beyond `most`, since several threads may have found room at
    /// once. True if it is the first window of this view.
    pub(super) fn keep(&self, window: Arc<Window>, most: usize) -> bool {
        let mut kept = self.kept.lock();
        kept.push(window);
        let more = kept.len().saturating_sub(most.max(1));
        let oldest: Vec<Arc<Window>> = kept.drain(..more).collect();
        drop(kept); // before the windows, which are large
        drop(oldest);
        !self.is_known.swap(true, Ordering::Relaxed)
    }
}

impl KeptForReads for Windows {
    fn give_up(&self) -> bool {
        self.forget()
    }
}

/// The number of edges into each subgraph of a page.
#[derive(Clone, Copy)]
pub(super) struct Totals([u32; PAGE]);

impl Default for Totals {
    fn default() -> Totals {
        Totals([0; PAGE])
    }
}

impl Totals {
    pub(super) fn count(&mut self, place: usize) {
        self.0[place] = self.0[place].saturating_add(1);
    }

    pub(super) fn sum(&self) -> u64 {
        self.0.iter().map(|&edges| u64::from(edges)).sum()
    }

    /// Returns the most bytes that a window takes for this page: all its edges as they were found, and the
    /// lists of one subgraph, which take no more than its edges.
    pub(super) fn bytes(&self, weighted: bool) -> u64 {
        let each = size_of::<(LocalVertex, VertexId)>() + if weighted { size_of::<f64>() } else { 0 };
        let largest = self.0.iter().copied().max().unwrap_or(0);
        (self.sum() + u64::from(largest)) * each as u64 + page_bytes()
    }
}

/// The edges into some pages.
pub(super) struct Window {
    pub(super) pages: Range<u32>,
    /// The pages with incoming edges, ascending, with their lists.
    lists: Vec<(u32, Page)>,
    room: Room,
}

impl Window {
    /// Returns the bytes that are reserved for the window.
    pub(super) fn reserved(&self) -> u64 {
        self.room.bytes()
    }

    pub(super) fn block(&self, id: SubgraphId) -> TieredBlock<'_> {
        let page = id.0 / PAGE as u32;
        let found = self.lists.binary_search_by_key(&page, |(page, _)| *page).ok();
        let lists = found.and_then(|at| self.lists.get(at)?.1.get(id.index() % PAGE));
        TieredBlock(lists)
    }
}

/// A window in the making, while its edges are collected.
pub(super) struct Gathering {
    /// The pages with incoming edges, ascending, and these edges.
    numbers: Vec<u32>,
    gathered: Vec<Gathered>,
}

/// The edges into the subgraphs of a page, in the order in which they are found, each with its weight if
/// edges have weights.
struct Gathered {
    edges: [Vec<(LocalVertex, VertexId)>; PAGE],
    weights: [Vec<f64>; PAGE],
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered { edges: [const { Vec::new() }; PAGE], weights: [const { Vec::new() }; PAGE] }
    }
}

/// Returns the most bytes that a page of a window takes in addition to its edges, both as gathered edges and
/// as lists.
fn page_bytes() -> u64 {
    size_of::<Gathered>() as u64 + Page::bytes_of(PAGE)
}

/// Returns the page of a vertex.
pub(super) fn page_of(v: VertexId) -> u32 {
    v.subgraph().0 / PAGE as u32
}

impl Gathering {
    /// Returns a gathering for the pages that have incoming edges, with room for all of these edges.
    pub(super) fn new<'t>(totals: impl Iterator<Item = (&'t u32, &'t Totals)>, weighted: bool) -> Gathering {
        let room_for = |totals: &Totals| {
            let mut page = Gathered::default();
            for (place, &edges) in totals.0.iter().enumerate() {
                page.edges[place].reserve_exact(edges as usize);
                page.weights[place].reserve_exact(if weighted { edges as usize } else { 0 });
            }
            page
        };
        let (numbers, gathered) = totals.map(|(&page, totals)| (page, room_for(totals))).unzip();
        Gathering { numbers, gathered }
    }

    /// Adds an edge, if it leads to one of the pages.
    #[inline]
    pub(super) fn take(&mut self, src: VertexId, dst: VertexId, weight: Option<f64>) {
        let Ok(at) = self.numbers.binary_search(&page_of(dst)) else { return };
        let (place, Some(page)) = (dst.subgraph().index() % PAGE, self.gathered.get_mut(at)) else { return };
        page.edges[place].push((dst.local(), src));
        page.weights[place].extend(weight);
    }

    /// Returns the window of the gathered edges; `room` is the memory for it.
    pub(super) fn finish(self, pages: Range<u32>, mut room: Room) -> Window {
        let mut lists = Vec::with_capacity(self.numbers.len());
        for (number, of_page) in self.numbers.into_iter().zip(self.gathered) {
            let mut page = Page::new(PAGE);
            for (place, (edges, weights)) in of_page.edges.into_iter().zip(of_page.weights).enumerate() {
                page.add(place, Lists::of_edges(&edges, &weights));
            }
            lists.push((number, page));
        }
        room.keep(lists.iter().map(|(_, page)| page.bytes() as u64).sum());
        Window { pages, lists, room }
    }
}
