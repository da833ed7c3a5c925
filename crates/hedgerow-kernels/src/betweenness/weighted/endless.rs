//! The search for an edge of a cycle that makes no path longer.

use std::collections::HashSet;

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use super::distances::Distances;
use crate::KernelError;
use crate::cancel::Cancel;
use crate::sssp::visit_edges;

/// Returns the error that names an edge of a cycle among the `open` vertices. An edge on a shortest path
/// leads to each of these from another one. The nearest open vertex (of several the one with the least id) is
/// on a cycle, or behind a cycle at the same distance. The function walks back from it, each time to the
/// least predecessor, until it is on a cycle: the same one in every call.
pub(super) fn find<G: WeightedTopology>(
    g: &G,
    distance: Distances<'_>,
    open: impl Fn(VertexId) -> bool,
    cancel: &Cancel,
) -> KernelError<G::Error> {
    let all = (0..distance.0.len() as u32).map(VertexId).filter(|&v| open(v));
    let Some(mut at) = all.min_by(|a, b| distance.0[a.index()].total_cmp(&distance.0[b.index()])) else {
        return KernelError::Cancelled;
    };
    let Some(mut meter) = cancel.meter() else { return KernelError::Cancelled };
    let mut met = HashSet::new();
    loop {
        let mut before: Option<(VertexId, f64)> = None;
        let visited = visit_edges(g, [at], Direction::In, &mut meter, |_, u, weight| {
            let is_less = before.is_none_or(|(least, _)| u < least);
            if is_less && open(u) && distance.is_on_path(u, at, weight) {
                before = Some((u, weight));
            }
        });
        match (visited, before) {
            (Err(error), _) => return KernelError::Topology(error),
            (Ok(()), Some((from, weight))) if !met.insert(from) => {
                return KernelError::Endless { from, to: at, weight };
            }
            (Ok(()), Some((from, _))) => at = from,
            // The search was cancelled, and a list was not read to its end.
            (Ok(()), None) => return KernelError::Cancelled,
        }
    }
}
