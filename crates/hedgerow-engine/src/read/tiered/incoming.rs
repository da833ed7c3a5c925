//! Incoming edges of a directed graph that keeps none: found by reading all outgoing ones, for as many pages at a time as there is room for.
//!
//! A pass over the graph gathers the edges into a *window* of pages. Windows are kept, one for each thread, so that a kernel that goes over the
//! graph in order makes one pass for each of them, and not for each block that it asks for.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;

use super::lists::{Lists, Page};
use super::{BATCH, TieredBlock, TieredView};
use crate::error::Result;

/// All windows together have this share of the memory limit, or so many bytes without one.
const SHARE: u64 = 8;
const BYTES: u64 = 256 << 20;
/// What an edge takes while it is gathered, in a vector that grows, and its weight.
const EDGE_BYTES: u64 = 24;
const WEIGHT_BYTES: u64 = 24;

/// The windows that are kept.
#[derive(Default)]
pub(super) struct Windows {
    /// How many edges lead to the vertices of each page, of those to which some lead.
    totals: OnceLock<BTreeMap<u32, u64>>,
    /// The one asked for last at the end.
    kept: Mutex<Vec<Arc<Window>>>,
}

/// The edges into some pages.
struct Window {
    pages: Range<u32>,
    /// Those to which edges lead, ascending.
    lists: Vec<(u32, Page)>,
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

fn page_of(v: VertexId) -> u32 {
    v.subgraph().0 / PAGE as u32
}

impl Window {
    fn block(&self, id: SubgraphId) -> TieredBlock<'_> {
        let page = id.0 / PAGE as u32;
        let found = self.lists.binary_search_by_key(&page, |(page, _)| *page).ok();
        let lists = found.and_then(|at| self.lists.get(at)?.1.get(id.index() % PAGE));
        TieredBlock(lists)
    }
}

impl TieredView {
    /// As `scan_lists`, against the edges.
    pub(super) fn scan_incoming(
        &self,
        subgraphs: Range<SubgraphId>,
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut window: Option<Arc<Window>> = None;
        for id in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
            let page = id.0 / PAGE as u32;
            let window = match &window {
                Some(window) if window.pages.contains(&page) => window,
                _ => window.insert(self.window_at(page)?),
            };
            if f(id, window.block(id)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// As `visit_lists`, against the edges.
    pub(super) fn visit_incoming(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<()> {
        let (mut frontier, mut batch) = (frontier.into_iter(), Vec::new());
        loop {
            batch.clear();
            batch.extend(frontier.by_ref().take(BATCH));
            batch.sort_unstable();
            let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
            let pages = self.pages_from(page_of(*first))?;
            if !pages.contains(&page_of(*last)) {
                self.visit_far(&batch, &mut f)?;
                continue;
            }
            let window = self.window_at(page_of(*first))?;
            // One that was kept may begin before, and end before.
            if !window.pages.contains(&page_of(*last)) {
                self.visit_far(&batch, &mut f)?;
                continue;
            }
            for &v in &batch {
                let block = window.block(v.subgraph());
                let (run, weights) = block.weighted_neighbors(v.local());
                f(v, run, weights);
            }
        }
    }

    /// Visits vertices anywhere, in one pass over the graph for the edges into them alone.
    fn visit_far(&self, batch: &[VertexId], f: &mut impl FnMut(VertexId, &[VertexId], &[f64])) -> Result<()> {
        let weighted = self.is_weighted();
        let mut found: Vec<(VertexId, VertexId, f64)> = Vec::new();
        let mut charge = Charge::new(self.core().account(), Purpose::Views, 0);
        self.for_each_entry(|src, dst, weight| {
            if batch.binary_search(&dst).is_ok() {
                found.push((dst, src, weight));
                charge.set(found.capacity() * size_of::<(VertexId, VertexId, f64)>());
            }
        })?;
        // Stable: parallel edges keep their order.
        found.sort_by_key(|&(dst, src, _)| (dst, src));
        let (mut sources, mut weights) = (Vec::new(), Vec::new());
        for &v in batch {
            let first = found.partition_point(|(dst, ..)| *dst < v);
            let into = found.get(first..).unwrap_or(&[]).iter().take_while(|(dst, ..)| *dst == v);
            sources.clear();
            weights.clear();
            for &(_, src, weight) in into {
                sources.push(src);
                weights.extend(weighted.then_some(weight));
            }
            f(v, &sources, &weights);
        }
        Ok(())
    }

    /// A window that has the page: one that is kept, or the one that begins with it, made now.
    fn window_at(&self, page: u32) -> Result<Arc<Window>> {
        let found = {
            let mut kept = self.incoming.kept.lock();
            let at = kept.iter().position(|window| window.pages.contains(&page));
            at.map(|at| kept.remove(at)).inspect(|window| kept.push(window.clone()))
        };
        if let Some(found) = found {
            return Ok(found);
        }
        // Without the lock: threads make windows side by side. The oldest goes first, so that there never are more.
        let oldest = {
            let mut kept = self.incoming.kept.lock();
            (kept.len() >= hedgerow_par::threads()).then(|| kept.remove(0))
        };
        drop(oldest);
        let window = Arc::new(self.make_window(self.pages_from(page)?)?);
        self.incoming.kept.lock().push(window.clone());
        Ok(window)
    }

    /// The pages of the window that begins with `page`: as many as there is room for, and that one whatever it takes.
    fn pages_from(&self, page: u32) -> Result<Range<u32>> {
        let threads = hedgerow_par::threads().max(1) as u64;
        let room = self.core().memory_limit.map_or(BYTES, |limit| limit / SHARE) / threads;
        let each = EDGE_BYTES + if self.is_weighted() { WEIGHT_BYTES } else { 0 };
        let mut bytes = 0;
        let beyond = self.totals()?.range(page..).find(|&(&at, &edges)| {
            bytes += edges * each;
            at > page && bytes > room
        });
        Ok(page..beyond.map_or(u32::MAX, |(&at, _)| at))
    }

    /// How many edges lead to each page, counted at the first call.
    fn totals(&self) -> Result<&BTreeMap<u32, u64>> {
        if let Some(totals) = self.incoming.totals.get() {
            return Ok(totals);
        }
        let mut totals = BTreeMap::new();
        self.for_each_entry(|_, dst, _| *totals.entry(page_of(dst)).or_insert(0) += 1)?;
        Ok(self.incoming.totals.get_or_init(|| totals))
    }

    fn make_window(&self, pages: Range<u32>) -> Result<Window> {
        let (totals, weighted, account) = (self.totals()?, self.is_weighted(), self.core().account());
        let edges: u64 = totals.range(pages.clone()).map(|(_, edges)| edges).sum();
        let each = EDGE_BYTES + if weighted { WEIGHT_BYTES } else { 0 };
        let gathering = Charge::new(account, Purpose::Views, (edges * each) as usize);
        let numbers: Vec<u32> = totals.range(pages.clone()).map(|(&page, _)| page).collect();
        let mut gathered: Vec<Gathered> =
            std::iter::repeat_with(Gathered::default).take(numbers.len()).collect();
        self.for_each_entry(|src, dst, weight| {
            let Ok(at) = numbers.binary_search(&page_of(dst)) else { return };
            let (place, Some(page)) = (dst.subgraph().index() % PAGE, gathered.get_mut(at)) else { return };
            page.edges[place].push((dst.local(), src));
            if weighted {
                page.weights[place].push(weight);
            }
        })?;
        let mut lists = Vec::with_capacity(numbers.len());
        for (number, of_page) in numbers.into_iter().zip(gathered) {
            let mut page = Page::new(account, PAGE);
            for (place, (edges, weights)) in of_page.edges.into_iter().zip(of_page.weights).enumerate() {
                page.put(place, Lists::of_edges(&edges, &weights));
            }
            lists.push((number, page));
        }
        drop(gathering);
        Ok(Window { pages, lists })
    }

    /// Calls `f` with source, destination and weight of each entry of an outgoing list, by ascending source.
    fn for_each_entry(&self, mut f: impl FnMut(VertexId, VertexId, f64)) -> Result<()> {
        self.scan_lists(self.all(), Direction::Out, |subgraph, block| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                let (list, weights) = block.weighted_neighbors(local);
                for (at, &dst) in list.iter().enumerate() {
                    f(subgraph.vertex(local), dst, weights.get(at).copied().unwrap_or(1.0));
                }
            }
            ControlFlow::Continue(())
        })
    }
}
