//! The cost of a view of selected edges, compared with the plain view of all edges. The views have the edges
//! of two labels, half of the edges by a property, and both directions in one. Each view is made from
//! scratch, with its incoming side, and requested a second time.

use std::hint::black_box;
use std::time::Instant;

use hedgerow::{
    Comparison, Direction, EdgeDirection, EdgeSelection, Graph, Resident, Topology, VertexId, View,
};
use hedgerow_workload::rng::Rng;
use rayon::prelude::*;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of edges in one transaction.
const BATCH: usize = 4096;
/// The label of all edges.
const ALL: &str = "all";
/// The labels that have half of the edges each.
const HALVES: [&str; 2] = ["first", "second"];
/// The property of each edge, a number below 1,000.
const PROPERTY: &str = "since";
/// The number of vertices whose lists one task copies.
const COPIED: usize = 4096;

/// Measures the seconds of each view from scratch, with deltas and settled.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.wants("selection") {
        return Ok(());
    }
    let store = store(work)?;
    for state in ["unsettled", "settled"] {
        if state == "settled" {
            store.settle()?;
        }
        measure(work, &store, state, recorder)?;
    }
    Ok(())
}

/// Makes a store with all edges twice: in one label, and divided between two labels.
fn store(work: &Work<'_>) -> Result<Graph> {
    let store = load::empty_store(work.graph.directed, work.graph.vertices)?;
    let mut rng = Rng::new(17);
    for batch in work.distinct_edges().chunks(BATCH) {
        let mut halves = [Vec::new(), Vec::new()];
        let mut all = Vec::new();
        for &(u, v) in batch {
            let row = (u64::from(u), u64::from(v), [rng.below(1000) as i64]);
            halves[rng.below(2) as usize].push(row);
            all.push(row);
        }
        let mut tx = store.write()?;
        tx.put_edges_with(ALL, &[PROPERTY], all)?;
        for (label, rows) in HALVES.into_iter().zip(halves) {
            tx.put_edges_with(label, &[PROPERTY], rows)?;
        }
        tx.commit()?;
    }
    Ok(store)
}

fn measure(work: &Work<'_>, store: &Graph, state: &str, recorder: &mut Recorder) -> Result<()> {
    let half = |selection: EdgeSelection<'static>| selection.filter(PROPERTY, Comparison::Less, 500);
    let views = [
        ("plain", EdgeSelection::of(ALL)),
        ("labels", EdgeSelection::of_labels(HALVES)),
        ("filter", half(EdgeSelection::of(ALL))),
        ("labels_filter", half(EdgeSelection::of_labels(HALVES))),
        ("both", EdgeSelection::of(ALL).direction(EdgeDirection::Both)),
    ];
    let mut times: Vec<(String, Vec<f64>)> = Vec::new();
    let mut add = |name: &str, seconds: f64| match times.iter_mut().find(|(found, _)| found == name) {
        Some((_, values)) => values.push(seconds),
        None => times.push((name.to_owned(), vec![seconds])),
    };
    // The first round warms up.
    for round in 0..=work.options.repeat() {
        for (name, selection) in &views {
            if *name == "both" && !work.graph.directed {
                continue;
            }
            store.forget_views();
            let snapshot = store.snapshot()?;
            let ask = || {
                let begun = Instant::now();
                let view = snapshot.view(selection)?;
                black_box(view.degree(VertexId(0), Direction::In));
                Ok::<_, hedgerow::Error>((view, begun.elapsed().as_secs_f64()))
            };
            let ((view, first), (_, again)) = (ask()?, ask()?);
            if round == 0 {
                continue;
            }
            add(name, first);
            if *name == "plain" {
                add("copy", copy(&view));
            } else {
                add(&format!("{name}_again"), again);
            }
        }
    }
    let threads = work.options.threads();
    let plain = times.iter().find(|(name, _)| name == "plain").map(|(_, values)| values.clone());
    for (name, values) in &times {
        let name = format!("selection_{name}.{state}");
        let beside = plain.as_ref().map(|plain| ("plain", plain.as_slice()));
        recorder.add_beside("hedgerow", Metric { name: &name, unit: "s", threads }, values, beside)?;
    }
    Ok(())
}

/// Measures the seconds of a parallel copy of all lists: the minimum cost of a view that shares no lists.
fn copy(view: &View) -> f64 {
    let begun = Instant::now();
    let directions: &[Direction] =
        if view.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
    for &direction in directions {
        let copies: Vec<Vec<VertexId>> = (0..view.vertex_bound().div_ceil(COPIED))
            .into_par_iter()
            .map(|part| {
                let vertices = (part * COPIED..((part + 1) * COPIED).min(view.vertex_bound()))
                    .map(|v| VertexId(v as u32));
                let mut list = Vec::with_capacity(vertices.clone().map(|v| view.degree(v, direction)).sum());
                vertices.for_each(|v| {
                    view.neighbors(v, direction).for_each_run(|run| list.extend_from_slice(run))
                });
                list
            })
            .collect();
        black_box(copies.len());
    }
    begun.elapsed().as_secs_f64()
}
