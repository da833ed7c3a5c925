//! Compressed rows of a label that is not in memory. Its lists are read twice, first for their lengths and
//! then for their content, so that only the copy takes memory.

use std::ops::ControlFlow;

use hedgerow_catalog::error::Result;
use hedgerow_core::{
    Block, Direction, KeyColumn, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId,
    WeightedTopology,
};

use super::rows::{Room, rows_of};
use crate::read::tiered::TieredView;
use crate::state::csr_cache::Csr;

/// Copies the edges of a view into rows of `vertices`, which are all vertices of the view. Works on the
/// calling thread.
///
/// # Errors
/// The errors of every read of a file.
pub(super) fn copy(
    view: &TieredView,
    direction: Direction,
    vertices: Vec<VertexId>,
    keys: KeyColumn,
) -> Result<Csr> {
    let rows = rows_of(&vertices, view.vertex_bound());
    let row = |v: VertexId| rows.as_ref().map_or(v.0, |rows| rows.get(v.index()).copied().unwrap_or(0));
    let mut offsets = vec![0_i64; vertices.len() + 1];
    for_each_list(view, direction, |v, list, _| {
        if let Some(end) = offsets.get_mut(row(v) as usize + 1) {
            *end = list.len() as i64;
        }
    })?;
    for at in 1..offsets.len() {
        offsets[at] += offsets[at - 1];
    }
    let edges = offsets.last().map_or(0, |&end| end as usize);
    let mut room = Room::new(vertices, edges, view.has_weights());
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for_each_list(view, direction, |v, list, weights| {
        let start = offsets.get(row(v) as usize).map_or(edges, |&start| start as usize);
        let weighed = list.iter().enumerate();
        entries.clear();
        entries.extend(weighed.map(|(at, &u)| (row(u), weights.get(at).copied().unwrap_or(1.0))));
        // Parallel edges keep their order.
        entries.sort_by_key(|&(row, _)| row);
        let targets = room.targets.get_mut(start..).unwrap_or_default();
        targets.iter_mut().zip(&entries).for_each(|(place, entry)| *place = entry.0);
        let weights = room.weights.get_mut(start..).unwrap_or_default();
        weights.iter_mut().zip(&entries).for_each(|(place, entry)| *place = entry.1);
    })?;
    room.offsets = offsets;
    Ok(room.finish(keys, view.has_weights()))
}

/// Calls `f` with each vertex that has neighbors, ascending, with its list and the weights of the list.
fn for_each_list(
    view: &TieredView,
    direction: Direction,
    mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
) -> Result<()> {
    let all = SubgraphId(0)..SubgraphId(view.vertex_bound().div_ceil(SUBGRAPH_VERTICES) as u32);
    view.scan(all, direction, |subgraph, block| {
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            if block.degree(local) > 0 {
                let (list, weights) = block.weighted_neighbors(local);
                f(subgraph.vertex(local), list, weights);
            }
        }
        ControlFlow::Continue(())
    })
}
