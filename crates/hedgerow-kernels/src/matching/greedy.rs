//! A matching to which no edge can be added, in one pass.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology};

use crate::KernelError;
use crate::NO_VERTEX;
use crate::cancel::Cancel;

/// Pairs each vertex without a mate, in the order of ids, with its least neighbour without one. In a directed
/// graph each edge is read from one end. That is enough: one of its ends has a mate after that.
pub(super) fn maximal<G: Topology>(g: &G, cancel: &Cancel) -> Result<Vec<u32>, KernelError<G::Error>> {
    let mut mates = vec![NO_VERTEX; g.vertex_bound()];
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let direction = if g.is_stored(Direction::Out) { Direction::Out } else { Direction::In };
    let all = SubgraphId(0)..SubgraphId(g.vertex_bound().div_ceil(SUBGRAPH_VERTICES) as u32);
    let scanned = g.scan(all, direction, |subgraph, block| {
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let u = subgraph.vertex(local);
            if mates.get(u.index()) != Some(&NO_VERTEX) {
                continue;
            }
            let mut mate = NO_VERTEX;
            let _goes_on = block.for_each_run(local, |run| {
                // Each run is in order, but the runs of a list are not in order among each other.
                let mut is_found = false;
                meter.parts(run, |part| {
                    let mut free = part.iter().filter(|&&v| v != u && mates[v.index()] == NO_VERTEX);
                    if let Some(v) = free.next().filter(|_| !is_found) {
                        (mate, is_found) = (mate.min(v.0), true);
                    }
                });
                ControlFlow::Continue(())
            });
            if mate != NO_VERTEX {
                mates[u.index()] = mate;
                mates[mate as usize] = u.0;
            }
        }
        if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    scanned.map_err(KernelError::Topology)?;
    cancel.check()?;
    Ok(mates)
}
