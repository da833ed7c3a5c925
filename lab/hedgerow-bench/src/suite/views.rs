//! The cost of a view: from scratch, and made from the previous view after 1,000 single-edge commits.

use std::time::Instant;

use hedgerow::{Graph, Topology};
use hedgerow_workload::rng::Rng;

use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of commits between two views.
const COMMITS: usize = 1000;
/// The inverse of the share of subgraphs for confined commits.
const CONFINED: u64 = 100;
/// The number of vertices of a subgraph.
const SUBGRAPH: u64 = 64;

/// Measures the seconds of a full build and of refreshes, in turns. With `settled`, the store settles before
/// each; otherwise deltas are everywhere. Removes the inserted edges again.
pub(super) fn measure(work: &Work<'_>, store: &Graph, settled: bool, recorder: &mut Recorder) -> Result<()> {
    let suffix = if settled { "" } else { "_unsettled" };
    if !work.options.wants("view") {
        return Ok(());
    }
    let mut rng = Rng::new(11);
    let (mut all, mut few) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for round in 0..=work.options.repeat() {
        for (confined, times) in [(false, &mut all), (true, &mut few)] {
            // The refresh and the build take turns, each right after as many commits, which leave the caches
            // cold.
            for refresh in [true, false] {
                if settled {
                    store.settle()?;
                }
                store.forget_views();
                store.snapshot()?.default_label().view()?;
                let inserted = insert(store, work.graph.vertices as u64, confined, &mut rng)?;
                if !refresh {
                    store.forget_views();
                }
                let seconds = seconds_of_view(store)?;
                inserted.iter().try_for_each(|&(u, v)| store.remove_edge((u, v)).map(drop))?;
                // The first round warms up.
                if round > 0 {
                    let kept = if refresh { &mut times.1 } else { &mut times.0 };
                    kept.push(seconds);
                }
            }
        }
    }
    let threads = work.options.threads();
    for (name, full, measured) in [
        ("view_full", None, &all.0),
        ("view_refresh_1000", Some(&all.0), &all.1),
        ("view_refresh_1000_confined", Some(&few.0), &few.1),
    ] {
        let name = format!("{name}{suffix}.seconds");
        let metric = Metric { name: &name, unit: "s", threads };
        recorder.add_beside("hedgerow", metric, measured, full.map(|f| ("view_full", f.as_slice())))?;
    }
    Ok(())
}

/// Inserts random new edges, each in its own transaction. With `confined`, inserts only between vertices of a
/// share of the subgraphs.
fn insert(store: &Graph, vertices: u64, confined: bool, rng: &mut Rng) -> Result<Vec<(u64, u64)>> {
    let subgraphs = vertices.div_ceil(SUBGRAPH);
    let (some, step) = if confined { (subgraphs.div_ceil(CONFINED), CONFINED) } else { (subgraphs, 1) };
    let mut draw = || {
        let subgraph = rng.below(some) * step;
        (subgraph * SUBGRAPH + rng.below(SUBGRAPH)).min(vertices - 1)
    };
    let mut inserted = Vec::with_capacity(COMMITS);
    for _ in 0..COMMITS {
        let (u, v) = (draw(), draw());
        if store.insert_edge((u, v))? {
            inserted.push((u, v));
        }
    }
    Ok(inserted)
}

fn seconds_of_view(store: &Graph) -> Result<f64> {
    let snapshot = store.snapshot()?;
    let begun = Instant::now();
    std::hint::black_box(snapshot.default_label().view()?.vertex_count());
    Ok(begun.elapsed().as_secs_f64())
}
