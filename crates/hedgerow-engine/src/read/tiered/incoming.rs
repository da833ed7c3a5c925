//! Incoming edges of a directed graph that keeps none: found by reading all outgoing ones, for as many pages at a time as there is room for.
//!
//! A pass over the graph gathers the edges into a *window* of pages. Windows are kept, one for each thread, so that a kernel that goes over the
//! graph in order makes one pass for each of them, and not for each block that it asks for.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;

use super::windows::{Gathering, Window, page_of};
use super::{TieredBlock, TieredView, take_batch};
use crate::error::Result;

/// All windows together have this share of the memory limit, and half of what is left of it, or so many bytes without one.
const SHARE: u64 = 8;
const BYTES: u64 = 256 << 20;
/// What an edge takes while it is gathered, in a vector that grows, and its weight.
const EDGE_BYTES: u64 = 16;
const WEIGHT_BYTES: u64 = 16;

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
            take_batch(&mut frontier, &mut batch);
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
        give(batch, &mut found, weighted, f);
        Ok(())
    }

    /// A window that has the page: one that is kept, or the one that begins with it, made now.
    fn window_at(&self, page: u32) -> Result<Arc<Window>> {
        if let Some(found) = self.incoming.find(page) {
            return Ok(found);
        }
        // Threads make windows side by side, and hold no lock for it. The oldest goes first.
        self.incoming.make_room(hedgerow_par::threads());
        let window = Arc::new(self.make_window(self.pages_from(page)?)?);
        self.incoming.keep(window.clone(), hedgerow_par::threads());
        Ok(window)
    }

    /// The pages of the window that begins with `page`: as many as there is room for, and that one whatever it takes.
    fn pages_from(&self, page: u32) -> Result<Range<u32>> {
        let threads = hedgerow_par::threads().max(1) as u64;
        let share = |limit: u64| (limit / SHARE).max(self.core().account().room() / 2);
        let room = self.core().memory_limit.map_or(BYTES, share) / threads;
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
        let charge = Charge::new(account, Purpose::Views, (edges * each) as usize);
        let mut gathering = Gathering::new(totals.range(pages.clone()).map(|(&page, _)| page).collect());
        self.for_each_entry(|src, dst, weight| gathering.take(src, dst, weighted.then_some(weight)))?;
        let window = gathering.finish(pages, account);
        drop(charge);
        Ok(window)
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

/// Calls `f` with each vertex of a batch, and what was found of it: vertex, neighbor and weight of each edge, in any order.
pub(super) fn give(
    batch: &[VertexId],
    found: &mut [(VertexId, VertexId, f64)],
    weighted: bool,
    f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
) {
    // Stable: parallel edges keep their order.
    found.sort_by_key(|&(v, neighbor, _)| (v, neighbor));
    let (mut neighbors, mut weights) = (Vec::new(), Vec::new());
    for &v in batch {
        let first = found.partition_point(|(of, ..)| *of < v);
        neighbors.clear();
        weights.clear();
        for &(_, neighbor, weight) in found.iter().skip(first).take_while(|(of, ..)| *of == v) {
            neighbors.push(neighbor);
            weights.extend(weighted.then_some(weight));
        }
        f(v, &neighbors, &weights);
    }
}
