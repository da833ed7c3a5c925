//! Compares tiered views with other reads of the same snapshot.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hedgerow::{Block, Direction, Snapshot, TieredView, Topology, VertexId, WeightedTopology};
use hedgerow_core::SubgraphId;

/// The source, the destination and the bits of the weight, for each entry of a list.
type Entries = Vec<(u32, u32, u64)>;

/// Checks that the tiered views of all labels have the same edges as scans of the snapshot. The views come
/// first, because the scans load evicted pages into memory.
///
/// # Errors
/// A description of the first difference.
pub(crate) fn agrees(snapshot: &Snapshot) -> Result<(), String> {
    let schema = snapshot.schema();
    let mut by_page = Vec::new();
    for label in schema.labels() {
        let view = TieredView::new(snapshot, label.id()).map_err(|e| e.to_string())?;
        by_page.push((label.id(), entries(&view)?));
    }
    for (label, (edge_count, mut found)) in by_page {
        let mut expected = Vec::new();
        let row = |e: hedgerow::EdgeRow<'_>| expected.push((e.src().0, e.dst().0, e.weight().to_bits()));
        snapshot.for_each_edge(label, row).map_err(|e| e.to_string())?;
        expected.sort_unstable();
        found.sort_unstable();
        let same = found == expected && edge_count == expected.len() as u64;
        let counted = snapshot.edge_count_of(label).map_err(|e| e.to_string())?;
        if !same || counted != edge_count {
            return Err(format!("by the page, {label:?} has {edge_count} edges {found:?}, not {expected:?}"));
        }
    }
    Ok(())
}

/// Returns the number of edges, and the edges of a tiered scan. First checks that the other reads of the view
/// agree with one another.
fn entries(view: &TieredView) -> Result<(u64, Entries), String> {
    let vertices: Vec<VertexId> = view.vertices().collect();
    if vertices.len() != view.vertex_count() || !vertices.iter().all(|&v| view.contains(v)) {
        return Err(format!("{} vertices, {vertices:?}", view.vertex_count()));
    }
    let [out, mut into] = [Direction::Out, Direction::In].map(|direction| lists(view, &vertices, direction));
    let out = out?;
    let turned = into.as_mut().map_err(|e| e.clone())?;
    turned.iter_mut().filter(|_| view.is_directed()).for_each(|(a, b, _)| std::mem::swap(a, b));
    turned.sort_unstable();
    let mut sorted = out.clone();
    sorted.sort_unstable();
    if sorted != *turned {
        return Err(format!("outgoing {sorted:?}, incoming {turned:?}"));
    }
    let mut edges = Entries::new();
    let each = |a: VertexId, b: VertexId, weight: f64| {
        edges.push((a.0, b.0, weight.to_bits()));
        ControlFlow::Continue(())
    };
    view.try_for_each_edge(each).map_err(|e| e.to_string())?;
    Ok((view.edge_count(), edges))
}

/// Returns the lists of all vertices in a direction, and checks that scans and visits agree about them.
fn lists(view: &TieredView, vertices: &[VertexId], direction: Direction) -> Result<Entries, String> {
    let mut visited = Entries::new();
    let each = |v: VertexId, run: &[VertexId], weights: &[f64]| {
        let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0).to_bits();
        visited.extend(run.iter().enumerate().map(|(at, u)| (v.0, u.0, weight(at))));
    };
    view.visit_weighted(vertices.iter().rev().copied(), direction, each).map_err(|e| e.to_string())?;
    let mut scanned = Vec::new();
    // Ids may be far apart.
    for subgraph in vertices.iter().map(|v| v.subgraph()).collect::<BTreeSet<_>>() {
        let next = SubgraphId(subgraph.0 + 1);
        let scan = view.scan(subgraph..next, direction, |id, block| {
            for v in vertices.iter().filter(|v| v.subgraph() == id) {
                let _goes_on = block.for_each_run(v.local(), |run| {
                    scanned.extend(run.iter().map(|u| (v.0, u.0)));
                    ControlFlow::Continue(())
                });
            }
            ControlFlow::Continue(())
        });
        scan.map_err(|e| e.to_string())?;
    }
    visited.sort_unstable();
    scanned.sort_unstable();
    if scanned != visited.iter().map(|&(a, b, _)| (a, b)).collect::<Vec<_>>() {
        return Err(format!("scanned {scanned:?}, visited {visited:?}"));
    }
    Ok(visited)
}
