//! The edges of a vertex that is to be removed, in all labels.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::{Hold, SubgraphTable};

use super::validate::Latches;
use crate::state::store::Engine;

/// Calls `f` with label, source, destination and rank of every applied edge of the vertex `id`, in all
/// labels. Under [`LabelId::VERTICES`] these are its properties. If the vertex's subgraph of a label is not
/// latched yet, `f` gets the vertex itself as both ends.
pub(super) fn for_each_incident(
    engine: &Engine,
    latches: &Latches<'_>,
    id: VertexId,
    mut f: impl FnMut(LabelId, VertexId, VertexId, u64),
) -> Result<()> {
    let hold = engine.pager.hold();
    for (label, table) in engine.pager.tables() {
        // Edges to the vertex are stored at their sources, so the vertex's own subgraph of the label may be
        // untouched.
        if engine.catalog.config.is_one_way() && label != LabelId::VERTICES {
            for_each_source(engine, (table, &hold), id, |src, rank| f(label, src, id, rank))?;
        }
        let Some(latched) = latches.get_of(label, id.subgraph()) else {
            let touched = |subgraph: &hedgerow_mem::Subgraph| {
                [Direction::Out, Direction::In].into_iter().any(|d| !subgraph.is_untouched(d))
            };
            // A subgraph that is not loaded may have edges of the vertex.
            if table.find(id.subgraph(), &hold).map_or(true, |found| found.is_some_and(touched)) {
                f(label, id, id, 0);
            }
            continue;
        };
        for &direction in engine.catalog.directions_of(label) {
            latched.for_each_item(direction, id.local(), |item| {
                let (src, dst) = engine.catalog.placement().ends_of_copy(id, item.dst, direction);
                f(label, src, dst, item.rank);
            });
        }
    }
    Ok(())
}

/// Calls `f` with source and rank of every edge to the vertex `id`, in a graph that keeps no incoming edges.
/// The existence of `id` is latched: a commit of an edge to `id` takes that latch too, so that all edges
/// found are applied, and none is missed. All pages were loaded before.
fn for_each_source(
    engine: &Engine,
    (table, hold): (&SubgraphTable, &Hold),
    id: VertexId,
    mut f: impl FnMut(VertexId, u64),
) -> Result<()> {
    for subgraph in (0..engine.keys.ids.bound.subgraphs()).map(SubgraphId) {
        let Some(entry) = table.find(subgraph, hold)? else { continue };
        entry.read_latest(Direction::Out, |read| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                read.for_each_item_to(local, id, |item| f(subgraph.vertex(local), item.rank));
            }
        })?;
    }
    Ok(())
}
