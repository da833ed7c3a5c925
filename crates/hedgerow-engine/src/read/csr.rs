//! Chosen edges as compressed rows, copied from the view in parallel.
//!
//! Rows by vertex id are copied subgraph by subgraph: the lists of 64 vertices are one stretch if they have
//! no corrections. Rows by key are copied list by list.

use std::sync::Arc;

mod by_page;
mod rows;

use hedgerow_core::{
    Direction, KeyColumn, Resident, SubgraphId, Topology, VertexId, WeightedNeighbors, WeightedTopology,
};
use hedgerow_mem::View;
use rayon::prelude::*;

use rows::{Part, Room, by_keys, rows_of};

use crate::read::selection_ref::EdgeSelectionRef;
use crate::read::snapshot::Snapshot;
use crate::read::tiered::{KernelView, TieredView};
use crate::state::chosen_edges::EdgeDirection;
use crate::state::csr_cache::{Csr, CsrKey, CsrOptions, RowOrder};
use hedgerow_catalog::error::Result;

/// The number of subgraphs that one task copies.
const PART: usize = 16;
/// The number of rows that one task copies if they are ordered by key.
const ROWS: usize = 1 << 10;

impl Snapshot {
    /// Returns the vertices and edges of the [view](Self::view) of chosen edges as compressed rows. If labels
    /// state the kinds of their ends, vertices of other kinds have no row. Unless the selection names a
    /// property as weight, edges have the [weights of their labels](crate::EdgeSelection::weighted).
    ///
    /// Copies the [view](Self::view) once, in parallel on the current rayon pool: O(vertices + edges), 4
    /// bytes an edge and 8 more with weights; ordered by key also O(vertices log vertices + edges log
    /// degree). Calls with the same arguments at the same timestamp return the same copy while a caller still
    /// uses it. If the memory limit has no room for the view, the calling thread reads its lists twice [by
    /// the page](TieredView::new). Then only the copy takes memory. The copy belongs to the caller and
    /// is not charged.
    ///
    /// ```
    /// use hedgerow::{CsrOptions, Direction, Graph, KeyColumn, RowOrder};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edge((9, 5))?;
    /// graph.insert_edge((9, 7))?;
    /// let csr = graph.snapshot()?.csr(Direction::Out, CsrOptions::new().order(RowOrder::Key))?;
    /// assert_eq!(csr.keys, KeyColumn::U64(vec![5, 7, 9]));
    /// assert_eq!((&csr.offsets[..], &csr.targets[..]), (&[0, 0, 0, 2][..], &[0, 1][..]));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`](crate::ArgumentError::NoSuchLabel); the errors of
    /// [`view`](Self::view) if edges have no weights to copy;
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn csr<'s>(&self, edges: impl Into<EdgeSelectionRef<'s>>, options: CsrOptions) -> Result<Arc<Csr>> {
        let edges = edges.into();
        let (mut selection, mut options) = (edges.selection().into_owned(), options);
        if let Some((_, EdgeDirection::In)) = edges.whole() {
            // The incoming side of the view of whole labels is made already, or is kept.
            selection = selection.direction(EdgeDirection::Out);
            options.direction = match options.direction {
                Direction::Out => Direction::In,
                Direction::In => Direction::Out,
            };
        }
        let selection = match &options.weight {
            Some(property) => selection.weighted_by(property, None),
            None => selection.weighted(),
        };
        let key = CsrKey { chosen: selection.resolve(self)?, ts: self.timestamp(), options: options.clone() };
        let copies = &self.engine().views.csrs;
        if let Some(copy) = copies.get(&key) {
            return Ok(copy);
        }
        let CsrOptions { direction, order, .. } = options;
        let view = match self.kernel_view(&selection)? {
            KernelView::Resident(view) => view,
            KernelView::Tiered(view) => {
                let copy = self.copy_by_page(&view, direction, order)?;
                return Ok(copies.offer(key, Arc::new(copy)));
            }
        };
        let vertices: Vec<VertexId> = view.vertices().collect();
        let keys = self.vertex_keys(&vertices)?;
        let ascend = keys.is_sorted();
        let copy = match order {
            RowOrder::Key if !ascend => by_key(&view, direction, vertices, &keys),
            _ => by_id(&view, direction, vertices, keys),
        };
        Ok(copies.offer(key, Arc::new(copy)))
    }

    fn copy_by_page(&self, view: &TieredView, direction: Direction, order: RowOrder) -> Result<Csr> {
        let vertices: Vec<VertexId> = view.vertices().collect();
        let keys = self.vertex_keys(&vertices)?;
        let is_sorted = order == RowOrder::Id || keys.is_sorted();
        let (vertices, keys) = if is_sorted { (vertices, keys) } else { by_keys(&vertices, &keys) };
        by_page::copy(view, direction, vertices, keys)
    }
}

fn by_id(view: &View, direction: Direction, vertices: Vec<VertexId>, keys: KeyColumn) -> Csr {
    let rows = rows_of(&vertices, view.vertex_bound());
    let weighted = view.has_weights();
    let subgraphs = vertices.last().map_or(0, |last| last.subgraph().0 + 1);
    // One thread makes the incoming side if the view has none yet.
    let _ = view.block(SubgraphId(0), direction);
    let starts: Vec<u32> = (0..subgraphs).step_by(PART).collect();
    let edges = hedgerow_par::map(starts.par_iter(), |&start| {
        let of = |subgraph| view.block(SubgraphId(subgraph), direction).edges();
        (start..(start + PART as u32).min(subgraphs)).map(of).sum::<usize>()
    });
    let first_row = |start: u32| vertices.partition_point(|v| v.subgraph().0 < start);
    let counts: Vec<usize> =
        starts.iter().map(|&start| first_row(start + PART as u32) - first_row(start)).collect();
    let mut room = Room::new(vertices, edges.iter().sum(), weighted);
    let parts = room.parts(counts.into_iter().zip(edges));
    hedgerow_par::for_each(parts.into_par_iter(), |part| {
        copy_subgraphs(view, direction, part, rows.as_deref());
    });
    room.finish(keys, weighted)
}

/// Copies the lists of whole subgraphs.
fn copy_subgraphs(view: &View, direction: Direction, part: Part<'_>, rows: Option<&[u32]>) {
    let Part { vertices, mut offsets, first, targets, mut weights } = part;
    let (mut end, mut rest) = (first, &mut *targets);
    for vertices in vertices.chunk_by(|a, b| a.subgraph() == b.subgraph()) {
        let subgraph = vertices[0].subgraph();
        let ends = offsets.split_off_mut(..vertices.len()).unwrap_or_default();
        let block = view.weighted_block(subgraph, direction);
        if let Some((starts, list, of_list)) = block.whole() {
            for (v, place) in vertices.iter().zip(ends) {
                *place = end + i64::from(starts[v.local().index() + 1]);
            }
            end += list.len() as i64;
            put(rest.split_off_mut(..list.len()).unwrap_or_default(), list);
            if !weights.is_empty() {
                put_weights(weights.split_off_mut(..list.len()).unwrap_or_default(), of_list);
            }
            continue;
        }
        for (v, place) in vertices.iter().zip(ends) {
            let list = block.weighted_neighbors(v.local());
            let to = rest.split_off_mut(..list.len()).unwrap_or_default();
            if weights.is_empty() {
                to.iter_mut().zip(list.neighbors).for_each(|(place, u)| *place = u.0);
            } else {
                let of_list = weights.split_off_mut(..list.len()).unwrap_or_default();
                let mut places = to.iter_mut().zip(of_list);
                list.for_each_sorted(|u, weight| {
                    places.next().into_iter().for_each(|place| (*place.0, *place.1) = (u.0, weight));
                });
            }
            end += list.len() as i64;
            *place = end;
        }
    }
    if let Some(rows) = rows {
        targets.iter_mut().for_each(|target| *target = rows[*target as usize]);
    }
}

fn put(to: &mut [u32], list: &[VertexId]) {
    to.iter_mut().zip(list).for_each(|(place, v)| *place = v.0);
}

fn put_weights(to: &mut [f64], weights: &[f64]) {
    match weights.is_empty() {
        true => to.fill(1.0),
        false => to.copy_from_slice(weights),
    }
}

fn by_key(view: &View, direction: Direction, vertices: Vec<VertexId>, keys: &KeyColumn) -> Csr {
    let (vertices, keys) = by_keys(&vertices, keys);
    let rows = rows_of(&vertices, view.vertex_bound());
    let weighted = view.has_weights();
    let _ = view.block(SubgraphId(0), direction);
    let edges = hedgerow_par::map(vertices.par_chunks(ROWS), |part| {
        part.iter().map(|&v| view.degree(v, direction)).sum::<usize>()
    });
    let counts: Vec<usize> = vertices.chunks(ROWS).map(<[VertexId]>::len).collect();
    let mut room = Room::new(vertices, edges.iter().sum(), weighted);
    let parts = room.parts(counts.into_iter().zip(edges));
    hedgerow_par::for_each(parts.into_par_iter(), |part| copy_lists(view, direction, part, rows.as_deref()));
    room.finish(keys, weighted)
}

/// Copies lists one by one, each ordered by row.
fn copy_lists(view: &View, direction: Direction, part: Part<'_>, rows: Option<&[u32]>) {
    let Part { vertices, offsets, first, mut targets, mut weights } = part;
    let mut end = first;
    let mut list: Vec<(u32, f64)> = Vec::new();
    for (&v, place) in vertices.iter().zip(offsets) {
        let neighbors: WeightedNeighbors<'_> = view.weighted_neighbors(v, direction);
        list.clear();
        neighbors.for_each(|u, weight| list.push((rows.map_or(u.0, |rows| rows[u.index()]), weight)));
        // Parallel edges keep their order.
        list.sort_by_key(|&(row, _)| row);
        let to = targets.split_off_mut(..list.len()).unwrap_or_default();
        to.iter_mut().zip(&list).for_each(|(place, &(row, _))| *place = row);
        if !weights.is_empty() {
            let to = weights.split_off_mut(..list.len()).unwrap_or_default();
            to.iter_mut().zip(&list).for_each(|(place, &(_, weight))| *place = weight);
        }
        end += list.len() as i64;
        *place = end;
    }
}
