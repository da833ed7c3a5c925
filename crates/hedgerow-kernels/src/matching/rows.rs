//! A copy of a bipartite graph: the neighbours of each vertex of the first side.

use std::ops::ControlFlow;

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::lists::for_each_list_of_all;

/// Rows of neighbours; the rows of vertices of the second side are empty.
pub(super) struct Rows {
    /// The beginning of each row, and the end of the last one.
    pub(super) starts: Vec<usize>,
    pub(super) targets: Vec<u32>,
}

impl Rows {
    pub(super) fn of<G: Topology>(
        g: &G,
        first_side: &[bool],
        cancel: &Cancel,
    ) -> Result<Rows, KernelError<G::Error>> {
        let mut starts = vec![0usize; g.vertex_bound() + 1];
        for_each_edge(g, first_side, cancel, |u, _| starts[u.index() + 1] += 1)?;
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut targets = vec![0; end];
        // Each row is filled backwards: its entry in `starts` moves from the end of the row to its beginning.
        for_each_edge(g, first_side, cancel, |u, v| {
            let place = &mut starts[u.index() + 1];
            *place -= 1;
            targets[*place] = v.0;
        })?;
        starts.remove(0);
        starts.push(end);
        let mut rows = Rows { starts, targets };
        for u in 0..g.vertex_bound() {
            let row = rows.starts[u]..rows.starts[u + 1];
            rows.targets[row].sort_unstable();
        }
        Ok(rows)
    }

    /// Returns the number of ids.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the neighbours of a vertex of the first side.
    pub(super) fn row(&self, u: u32) -> &[u32] {
        &self.targets[self.starts[u as usize]..self.starts[u as usize + 1]]
    }
}

/// Calls `f` with each edge, its end on the first side first.
fn for_each_edge<G: Topology>(
    g: &G,
    first_side: &[bool],
    cancel: &Cancel,
    mut f: impl FnMut(VertexId, VertexId),
) -> Result<(), KernelError<G::Error>> {
    let direction = if g.is_stored(Direction::Out) { Direction::Out } else { Direction::In };
    for_each_list_of_all(g, direction, cancel, |u, list| {
        match first_side[u.index()] {
            true => list.iter().for_each(|&v| f(u, v)),
            // An undirected edge is in the lists of both ends.
            false if g.is_directed() => list.iter().for_each(|&v| f(v, u)),
            false => {}
        }
        ControlFlow::Continue(())
    })
}
