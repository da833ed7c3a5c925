//! Whole lists of vertices, however they are stored.

use std::cell::Cell;
use std::ops::ControlFlow;

use hedgerow_core::{Direction, Topology, VertexId};

use crate::KernelError;
use crate::cancel::Cancel;

/// Calls `f` with the neighbours of each vertex, ascending and each once, until it breaks. No vertex may be given twice.
pub(crate) fn for_each_list<G: Topology>(
    g: &G,
    vertices: impl IntoIterator<Item = VertexId>,
    direction: Direction,
    cancel: &Cancel,
    mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
) -> Result<(), KernelError<G::Error>> {
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let (mut list, mut last, is_over) = (Vec::new(), None, Cell::new(false));
    let mut end = |of: Option<VertexId>, list: &mut Vec<VertexId>| {
        let Some(of) = of.filter(|_| !is_over.get()) else { return };
        // Runs are in order, but not one after another.
        if !list.is_sorted_by(|a, b| a < b) {
            list.sort_unstable();
            list.dedup();
        }
        is_over.set(f(of, list).is_break());
        list.clear();
    };
    let frontier = vertices.into_iter().take_while(|_| !is_over.get());
    let visited = g.visit(frontier, direction, |v, run| {
        if last != Some(v) {
            end(last, &mut list);
            last = Some(v);
        }
        meter.parts(run, |part| list.extend_from_slice(part));
        is_over.set(is_over.get() || meter.is_over());
    });
    visited.map_err(KernelError::Topology)?;
    cancel.check()?;
    end(last, &mut list);
    Ok(())
}

/// Calls `f` with the neighbours of every vertex of the graph.
pub(crate) fn for_each_list_of_all<G: Topology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
    f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
) -> Result<(), KernelError<G::Error>> {
    for_each_list(g, (0..g.vertex_bound() as u32).map(VertexId), direction, cancel, f)
}
