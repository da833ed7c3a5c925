//! Incoming edges of a directed graph without incoming lists. They are found by reading all outgoing edges,
//! for as many pages at a time as memory has room for.
//!
//! One pass over the graph gathers the incoming edges of some consecutive pages, a *window*. The view keeps
//! one window for each thread. So a kernel that reads the graph in order makes one pass for each window, and
//! not for each list block.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Weak};

use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_pager::budget::Budget;
use hedgerow_pager::budget::taken::{Room, Stop};

use super::windows::{Gathering, Totals, Window, Windows, page_of};
use super::{TieredBlock, TieredView, Waits, take_batch};

/// The divisor of the memory limit that gives the share of all windows together. They may take half of the
/// limit's free room if that is more, or [`BYTES`] without a limit.
const SHARE: u64 = 8;
const BYTES: u64 = 256 << 20;

impl TieredView {
    /// Scans like `scan_lists`, but against the edges.
    pub(super) fn scan_incoming(
        &self,
        subgraphs: Range<SubgraphId>,
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> std::result::Result<(), Stop> {
        let mut window: Option<Arc<Window>> = None;
        for id in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
            let page = id.0 / PAGE as u32;
            // Drops the old window before the next one is made.
            window = window.filter(|window| window.pages.contains(&page));
            let window = match &mut window {
                Some(window) => window,
                none => none.insert(self.window_at(page, Waits::Yes)?),
            };
            if f(id, window.block(id)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Visits like `visit_lists`, but against the edges.
    pub(super) fn visit_incoming(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        waits: Waits,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let (mut frontier, mut batch) = (frontier.into_iter(), Vec::new());
        loop {
            take_batch(&mut frontier, &mut batch);
            let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
            let pages = self.pages_from(page_of(*first), waits)?;
            if !pages.contains(&page_of(*last)) {
                self.visit_far(&batch, waits, &mut f)?;
                continue;
            }
            let window = self.window_at(page_of(*first), waits)?;
            // A kept window may not have all of these pages.
            if !window.pages.contains(&page_of(*last)) {
                drop(window);
                self.visit_far(&batch, waits, &mut f)?;
                continue;
            }
            for &v in &batch {
                let block = window.block(v.subgraph());
                let (run, weights) = block.weighted_neighbors(v.local());
                f(v, run, weights);
            }
        }
    }

    /// Visits vertices of any pages in one pass over the graph, which gathers only edges into these vertices.
    /// If there is no room for all those edges, takes half of the vertices at a time.
    fn visit_far(
        &self,
        batch: &[VertexId],
        waits: Waits,
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let once = batch.chunk_by(|a, b| a == b).count();
        self.in_halves(batch, (once, waits), f, |batch| {
            let mut found = Found::new(&self.core().pager.budget);
            let read = self.for_each_entry(Waits::No, |src, dst, weight| match batch.binary_search(&dst) {
                Ok(_) => found.push((dst, src, weight)),
                Err(_) => ControlFlow::Continue(()),
            });
            found.checked(read)
        })
    }

    /// Calls `f` with each of the sorted vertices and the edges that `find` finds for it. Calls `find` for
    /// all of them, or for half as many each time that there is no room, down to one. `find` keeps memory for
    /// its result, so it must not wait.
    pub(super) fn in_halves(
        &self,
        group: &[VertexId],
        (once, waits): (usize, Waits),
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
        find: impl Fn(&[VertexId]) -> std::result::Result<Found, Stop>,
    ) -> std::result::Result<(), Stop> {
        let mut rest = group;
        let mut most = once;
        while !rest.is_empty() {
            let some: usize = rest.chunk_by(|a, b| a == b).take(most.max(1)).map(<[_]>::len).sum();
            let (some, others) = rest.split_at(some);
            let found = self.with_room(waits, || match find(some) {
                Err(Stop::NoRoom(_)) if some.first() != some.last() => Ok(None),
                found => found.map(Some),
            })?;
            match found {
                Some(mut found) => {
                    give(some, found.edges(), self.is_weighted(), f);
                    rest = others;
                }
                None => most /= 2,
            }
        }
        Ok(())
    }

    /// Returns a window that has the page: a kept one, or a new one that begins with the page. The new one
    /// has fewer pages if there is little room.
    pub(super) fn window_at(&self, page: u32, waits: Waits) -> std::result::Result<Arc<Window>, Stop> {
        if let Some(found) = self.incoming.find(page) {
            return Ok(found);
        }
        // Several threads may make windows at once, without a lock. The oldest window is dropped first.
        self.incoming.make_room(hedgerow_par::threads());
        let mut pages = self.pages_from(page, waits)?;
        let window = self.with_room(waits, || {
            // Drops kept windows once: other threads may keep new ones in the meantime.
            let mut forgets = true;
            loop {
                match self.make_window(pages.clone()) {
                    Err(Stop::NoRoom(_)) if self.halve(&mut pages)? => {}
                    Err(Stop::NoRoom(_)) if std::mem::take(&mut forgets) && self.incoming.forget() => {}
                    window => return window.map(Arc::new),
                }
            }
        })?;
        if self.incoming.keep(window.clone(), hedgerow_par::threads()) {
            let windows: Weak<Windows> = Arc::downgrade(&self.incoming);
            self.core().pager.budget.keep(windows);
        }
        Ok(window)
    }

    /// Halves the range of pages of a window, counting only pages with incoming edges; false if it has fewer
    /// than two of these.
    fn halve(&self, pages: &mut Range<u32>) -> std::result::Result<bool, Stop> {
        let totals = self.totals(Waits::No)?;
        let count = totals.range(pages.clone()).count();
        if count < 2 {
            return Ok(false);
        }
        pages.end = totals.range(pages.clone()).nth(count / 2).map_or(pages.end, |(&page, _)| page);
        Ok(true)
    }

    /// Returns the pages of the window that begins with `page`: as many as there is room for, but always
    /// `page`, however much it takes.
    fn pages_from(&self, page: u32, waits: Waits) -> std::result::Result<Range<u32>, Stop> {
        let threads = hedgerow_par::threads().max(1) as u64;
        let share = |limit: u64| (limit / SHARE).max(self.core().pager.account().room() / 2);
        let room = self.core().pager.memory_limit.map_or(BYTES, share) / threads;
        let weighted = self.is_weighted();
        let mut bytes: u64 = 0;
        let beyond = self.totals(waits)?.range(page..).find(|&(&at, totals)| {
            bytes += totals.bytes(weighted);
            at > page && bytes > room
        });
        Ok(page..beyond.map_or(u32::MAX, |(&at, _)| at))
    }

    /// Returns the number of edges that lead to each page, counted at the first call.
    fn totals(&self, waits: Waits) -> std::result::Result<&BTreeMap<u32, Totals>, Stop> {
        if let Some(totals) = self.incoming.totals.get() {
            return Ok(totals);
        }
        let mut totals = BTreeMap::<u32, Totals>::new();
        self.for_each_entry(waits, |_, dst, _| {
            totals.entry(page_of(dst)).or_default().count(dst.subgraph().index() % PAGE);
            ControlFlow::Continue(())
        })?;
        Ok(self.incoming.totals.get_or_init(|| totals))
    }

    fn make_window(&self, pages: Range<u32>) -> std::result::Result<Window, Stop> {
        let (totals, weighted) = (self.totals(Waits::No)?, self.is_weighted());
        let mut room = Room::new(&self.core().pager.budget);
        room.keep(totals.range(pages.clone()).map(|(_, totals)| totals.bytes(weighted)).sum());
        room.checked(Ok(()))?;
        let mut gathering = Gathering::new(totals.range(pages.clone()), weighted);
        let read = self.for_each_entry(Waits::No, |src, dst, weight| {
            gathering.take(src, dst, weighted.then_some(weight));
            ControlFlow::Continue(())
        });
        read.map_err(|stop| stop.beside(room.bytes()))?;
        Ok(gathering.finish(pages, room))
    }

    /// Calls `f` with source, destination and weight of each entry of an outgoing list, by ascending source,
    /// until it breaks.
    fn for_each_entry(
        &self,
        waits: Waits,
        mut f: impl FnMut(VertexId, VertexId, f64) -> ControlFlow<()>,
    ) -> std::result::Result<(), Stop> {
        self.scan_lists(self.all(), (Direction::Out, waits), |subgraph, block| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                let (list, weights) = block.weighted_neighbors(local);
                for (at, &dst) in list.iter().enumerate() {
                    f(subgraph.vertex(local), dst, weights.get(at).copied().unwrap_or(1.0))?;
                }
            }
            ControlFlow::Continue(())
        })
    }
}

/// Edges that were found for some vertices, as vertex, neighbor and weight, within a reservation.
pub(super) struct Found {
    edges: Vec<(VertexId, VertexId, f64)>,
    room: Room,
}

impl Found {
    pub(super) fn new(budget: &Arc<Budget>) -> Found {
        Found { edges: Vec::new(), room: Room::new(budget) }
    }

    /// Adds an edge; breaks if there is no room for it.
    pub(super) fn push(&mut self, edge: (VertexId, VertexId, f64)) -> ControlFlow<()> {
        if self.edges.len() == self.edges.capacity() {
            let most = (2 * self.edges.len()).max(64);
            // For a moment both the old and the new buffer exist; later, the buffer of the sort or the list
            // of one vertex.
            let each = size_of::<(VertexId, VertexId, f64)>() * 3;
            if self.room.lacking().is_some() || !self.room.keep((most * each / 2) as u64) {
                return ControlFlow::Break(());
            }
            self.edges.reserve_exact(most - self.edges.len());
        }
        self.edges.push(edge);
        ControlFlow::Continue(())
    }

    /// Returns these edges if all were `read`; fails if there was no room for them or for the read.
    pub(super) fn checked(self, read: std::result::Result<(), Stop>) -> std::result::Result<Found, Stop> {
        self.room.checked(Ok(()))?;
        read.map_err(|stop| stop.beside(self.room.bytes()))?;
        Ok(self)
    }

    fn edges(&mut self) -> &mut [(VertexId, VertexId, f64)] {
        &mut self.edges
    }
}

/// Calls `f` with each vertex of a batch, and its edges. `found` has the vertex, neighbor and weight of each
/// edge, in any order.
fn give(
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
