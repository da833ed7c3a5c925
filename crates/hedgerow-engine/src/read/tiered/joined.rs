//! Views by the page of chosen edges: how they are visited and counted, and lists that are along edges and against them.

use std::ops::{ControlFlow, Range};

use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::{Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;
use rayon::prelude::*;

use super::incoming::give;
use super::lists::Lists;
use super::taken::Side;
use super::windows::page_of;
use super::{TieredBlock, TieredView, mask_of, of_page, take_batch};
use crate::error::Result;

/// Subgraphs of which a visit reads the chosen edges at once; a part of a page.
const AT_ONCE: u32 = 16;
const _: () = assert!((PAGE as u32).is_multiple_of(AT_ONCE));

impl TieredView {
    /// How many edges are chosen; those of an undirected store once.
    pub(super) fn count_taken(&self) -> Result<u64> {
        if self.core().config.directed && self.taken.is_all() {
            return Ok(self.taken.entries());
        }
        let pages = (0..self.all().end.0.div_ceil(PAGE as u32)).into_par_iter().with_min_len(1);
        let counted: Vec<Result<(u64, u64)>> = hedgerow_par::map(pages, |page| {
            let (mut entries, mut loops) = (0, 0);
            let all = of_page(page, &self.all());
            self.scan_lists(SubgraphId(all.start)..SubgraphId(all.end), Direction::Out, |id, block| {
                for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                    let (list, v) = (block.weighted_neighbors(local).0, id.vertex(local));
                    entries += list.len() as u64;
                    loops += list.iter().filter(|&&u| u == v).count() as u64;
                }
                ControlFlow::Continue(())
            })?;
            Ok((entries, loops))
        });
        let (mut entries, mut loops) = (0, 0);
        for of_page in counted {
            let (more, more_loops) = of_page?;
            (entries, loops) = (entries + more, loops + more_loops);
        }
        Ok(self.taken.edges_of(entries, loops))
    }

    /// Visits vertices of one page, which are sorted, where other edges are chosen than those of a label as they are.
    pub(super) fn visit_taken(
        &self,
        group: &[VertexId],
        direction: Direction,
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<()> {
        let part = |v: &VertexId| v.subgraph().0 / AT_ONCE;
        for group in group.chunk_by(|a, b| part(a) == part(b)) {
            let Some(one) = group.first() else { continue };
            let range = part(one) * AT_ONCE..(part(one) + 1) * AT_ONCE;
            let wanted =
                group.iter().fold(0, |mask, v| mask | mask_of(&(v.subgraph().0..v.subgraph().0 + 1)));
            let lists = self.read_lists(page_of(*one), &range, wanted, direction)?;
            for &v in group {
                let block = TieredBlock(lists.get((v.subgraph().0 - range.start) as usize));
                let (run, weights) = block.weighted_neighbors(v.local());
                f(v, run, weights);
            }
        }
        Ok(())
    }

    /// As `scan_lists`, along the edges and against them.
    pub(super) fn scan_joined(
        &self,
        subgraphs: Range<SubgraphId>,
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let pages = subgraphs.start.0 / PAGE as u32..subgraphs.end.0.div_ceil(PAGE as u32);
        for page in pages {
            let range = of_page(page, &subgraphs);
            let along = match self.vertices.has_page(page) {
                true => Some(self.read_lists(page, &range, mask_of(&range), Direction::Out)?),
                false => None,
            };
            let mut is_over = false;
            let join = |id: SubgraphId, against: TieredBlock<'_>| {
                let at = (id.0 - range.start) as usize;
                let along = TieredBlock(along.as_ref().and_then(|lists| lists.get(at)));
                let joined = Lists::merged(along, against, |local, u| u != id.vertex(local));
                let _charge = Charge::new(self.core().account(), Purpose::Views, joined.bytes());
                let flow = f(id, TieredBlock(Some(&joined)));
                is_over = flow.is_break();
                flow
            };
            let all = SubgraphId(range.start)..SubgraphId(range.end);
            match self.taken.against() {
                Side::Stored(direction) => self.scan_lists(all, direction, join)?,
                _ => self.scan_incoming(all, join)?,
            }
            if is_over {
                break;
            }
        }
        Ok(())
    }

    /// As `visit_lists`, along the edges and against them.
    pub(super) fn visit_joined(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<()> {
        let (mut frontier, mut batch) = (frontier.into_iter(), Vec::new());
        // Those that are searched are found for all of a batch at once: a pass over the graph each time.
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

    /// Visits vertices, which are sorted, along the edges and against them. Their edges are in memory meanwhile.
    fn visit_both(
        &self,
        group: &[VertexId],
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<()> {
        let mut once = group.to_vec();
        once.dedup();
        let mut found: Vec<(VertexId, VertexId, f64)> = Vec::new();
        let mut charge = Charge::new(self.core().account(), Purpose::Views, 0);
        let mut take = |v: VertexId, run: &[VertexId], weights: &[f64], loops: bool| {
            let edges = run.iter().enumerate().filter(|(_, u)| loops || **u != v);
            found.extend(edges.map(|(at, &u)| (v, u, weights.get(at).copied().unwrap_or(1.0))));
            charge.set(found.capacity() * size_of::<(VertexId, VertexId, f64)>());
        };
        let vertices = || once.iter().copied();
        self.visit_lists(vertices(), Direction::Out, |v, run, weights| take(v, run, weights, true))?;
        let against = |v: VertexId, run: &[VertexId], weights: &[f64]| take(v, run, weights, false);
        match self.taken.against() {
            Side::Stored(direction) => self.visit_lists(vertices(), direction, against)?,
            _ => self.visit_incoming(vertices(), against)?,
        }
        give(group, &mut found, self.is_weighted(), f);
        Ok(())
    }
}
