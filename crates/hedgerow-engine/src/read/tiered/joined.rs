//! Views by the page of chosen edges: visits, counts, and lists that join the edges of both directions.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_pager::budget::taken::{Lends, Room, Stop};
use rayon::prelude::*;

use super::incoming::Found;
use super::lists::Lists;
use super::runs::Run;
use super::taken::Side;
use super::windows::{Window, page_of};
use super::{TieredBlock, TieredView, Waits, mask_of, of_page, take_batch};

/// The number of subgraphs of a page whose chosen edges a visit reads at once.
const AT_ONCE: u32 = 16;
const _: () = assert!((PAGE as u32).is_multiple_of(AT_ONCE));

impl TieredView {
    /// Counts the chosen edges; in an undirected store each edge once.
    pub(super) fn count_taken(&self) -> Result<u64> {
        if self.core().catalog.config.directed && self.taken.is_all() {
            return Ok(self.taken.entries());
        }
        let pages = (0..self.all().end.0.div_ceil(PAGE as u32)).into_par_iter().with_min_len(1);
        let counted: Vec<Result<(u64, u64)>> = hedgerow_par::map(pages, |page| {
            let (mut entries, mut loops) = (0, 0);
            let all = of_page(page, &self.all());
            let subgraphs = SubgraphId(all.start)..SubgraphId(all.end);
            let _lends = Lends::begin();
            let scanned = self.scan_lists(subgraphs, (Direction::Out, Waits::Yes), |id, block| {
                for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                    let (list, v) = (block.weighted_neighbors(local).0, id.vertex(local));
                    entries += list.len() as u64;
                    loops += list.iter().filter(|&&u| u == v).count() as u64;
                }
                ControlFlow::Continue(())
            });
            scanned.map_err(|stop| self.core().pager.error_of(stop))?;
            Ok((entries, loops))
        });
        let (mut entries, mut loops) = (0, 0);
        for of_page in counted {
            let (more, more_loops) = of_page?;
            (entries, loops) = (entries + more, loops + more_loops);
        }
        Ok(self.taken.edges_of(entries, loops))
    }

    /// Visits sorted vertices of one page, in a view that does not take all edges of one label unchanged.
    pub(super) fn visit_taken(
        &self,
        group: &[VertexId],
        (direction, waits): (Direction, Waits),
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let (mut rest, mut at_once) = (group, AT_ONCE);
        while let Some(first) = rest.first() {
            let part = |v: &VertexId| v.subgraph().0 / at_once;
            let (some, others) = rest.split_at(rest.partition_point(|v| part(v) == part(first)));
            let range = part(first) * at_once..(part(first) + 1) * at_once;
            let wanted = some.iter().fold(0, |mask, v| mask | mask_of(&(v.subgraph().0..v.subgraph().0 + 1)));
            let run = self.with_room(waits, || {
                match self.read_lists(page_of(*first), &range, wanted, direction) {
                    Err(Stop::NoRoom(_)) if at_once > 1 => Ok(None),
                    run => run.map(Some),
                }
            })?;
            let Some(run) = run else {
                at_once /= 2;
                continue;
            };
            for &v in some {
                let block = TieredBlock(run.lists.get((v.subgraph().0 - range.start) as usize));
                let (run, weights) = block.weighted_neighbors(v.local());
                f(v, run, weights);
            }
            rest = others;
        }
        Ok(())
    }

    /// Scans like `scan_lists`, but along the edges and against them.
    pub(super) fn scan_joined(
        &self,
        subgraphs: Range<SubgraphId>,
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> std::result::Result<(), Stop> {
        let read =
            |page, rest| self.first_half_that_fits(rest, Waits::Yes, |part| self.read_both(page, part));
        self.for_each_run(subgraphs, read, |range, both: Option<&Both>| {
            range.enumerate().map(|(at, id)| (at, SubgraphId(id))).try_for_each(|(at, id)| {
                let lists = both.map(|both| both.joined(at, id));
                f(id, TieredBlock(lists.as_ref()))
            })
        })
    }

    /// Reads the lists of some neighboring subgraphs of a page in both directions, and reserves room to merge
    /// the lists of one subgraph. It must not wait, since it holds the lists of one direction while it reads
    /// those of the other.
    fn read_both(&self, page: u32, range: &Range<u32>) -> std::result::Result<Both, Stop> {
        let read = |direction| self.read_lists(page, range, mask_of(range), direction);
        let against = match self.taken.against() {
            Side::Stored(direction) => Against::Stored(read(direction)?),
            _ => Against::Searched(self.window_at(page, Waits::No)?),
        };
        let along = read(Direction::Out).map_err(|stop| stop.beside(against.bytes()))?;
        let mut both = Both { along, against, merged: Room::new(&self.core().pager.budget) };
        let bytes = |(at, id)| {
            let (along, against) = both.sides(at, SubgraphId(id));
            (along.bytes() + against.bytes()) as u64
        };
        let most = range.clone().enumerate().map(bytes).max().unwrap_or(0);
        both.merged.keep(most);
        let held = both.along.room.bytes() + both.against.bytes();
        both.merged.checked(Ok(())).map_err(|stop| stop.beside(held))?;
        Ok(both)
    }

    /// Visits like `visit_lists`, but along the edges and against them.
    pub(super) fn visit_joined(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let (mut frontier, mut batch) = (frontier.into_iter(), Vec::new());
        // The search for incoming edges is done once for a whole batch, since each search is a pass over the
        // graph.
        let is_searched = self.taken.against() == Side::Searched;
        loop {
            take_batch(&mut frontier, &mut batch);
            if batch.is_empty() {
                return Ok(());
            }
            for group in batch.chunk_by(|a, b| is_searched || page_of(*a) == page_of(*b)) {
                self.visit_both(group, &mut f)?;
            }
        }
    }

    /// Visits sorted vertices, along the edges and against them. All their edges are in memory during the
    /// visit.
    fn visit_both(
        &self,
        group: &[VertexId],
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        self.in_halves(group, (group.len(), Waits::Yes), f, |group| {
            let mut once = group.to_vec();
            once.dedup();
            let mut found = Found::new(&self.core().pager.budget);
            let mut take = |v: VertexId, run: &[VertexId], weights: &[f64], loops: bool| {
                let edges = run.iter().enumerate().filter(|(_, u)| loops || **u != v);
                for (at, &u) in edges {
                    if found.push((v, u, weights.get(at).copied().unwrap_or(1.0))).is_break() {
                        break;
                    }
                }
            };
            let vertices = || once.iter().copied();
            let along = (Direction::Out, Waits::No);
            let mut read = self.visit_lists(vertices(), along, |v, run, weights| take(v, run, weights, true));
            if read.is_ok() {
                let against = |v: VertexId, run: &[VertexId], weights: &[f64]| take(v, run, weights, false);
                read = match self.taken.against() {
                    Side::Stored(direction) => self.visit_lists(vertices(), (direction, Waits::No), against),
                    _ => self.visit_incoming(vertices(), Waits::No, against),
                };
            }
            found.checked(read)
        })
    }
}

/// The lists of neighboring subgraphs in both directions.
struct Both {
    along: Run,
    against: Against,
    /// The room for the merged lists of one subgraph.
    merged: Room,
}

enum Against {
    Stored(Run),
    Searched(Arc<Window>),
}

impl Against {
    /// Returns the bytes that are reserved only for these lists.
    fn bytes(&self) -> u64 {
        match self {
            Against::Stored(run) => run.room.bytes(),
            Against::Searched(window) => window.reserved(),
        }
    }
}

impl Both {
    /// Returns the lists of the subgraph `id`, which is at place `at`, along the edges and against them.
    fn sides(&self, at: usize, id: SubgraphId) -> (TieredBlock<'_>, TieredBlock<'_>) {
        let against = match &self.against {
            Against::Stored(run) => TieredBlock(run.lists.get(at)),
            Against::Searched(window) => window.block(id),
        };
        (TieredBlock(self.along.lists.get(at)), against)
    }

    /// Returns the lists of both directions merged, with each self-loop once.
    fn joined(&self, at: usize, id: SubgraphId) -> Lists {
        let (along, against) = self.sides(at, id);
        Lists::merged(along, against, |local, u| u != id.vertex(local))
    }
}
