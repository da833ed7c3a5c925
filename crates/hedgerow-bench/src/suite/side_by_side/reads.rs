//! Reads of single edges and lists on snapshots of any kind.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use hedgerow_core::{
    Block, Capability, Direction, DynamicGraph, GraphSnapshot, LocalVertex, Resident, SubgraphId, VertexId,
};

use super::super::ops::{FOLLOWED, Questions, SOURCES};
use super::super::work::Work;
use super::measured::Measured;
use crate::failure::Result;

const OPENINGS: usize = 100;

/// How many neighbours scans read, and the sums of their ids: the same on each engine. In order, at random, of two hops.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums([(usize, u64); 3]);

/// All reads on one snapshot, once.
pub(super) fn all<G: DynamicGraph>(
    work: &Work<'_>,
    engine: &G,
    name: &'static str,
    questions: &Questions,
    measured: &mut Measured,
) -> Result<Sums> {
    let snapshot = engine.snapshot()?;
    let mut note = |metric: &str, begun: Instant, read: usize| {
        let rate = read as f64 / begun.elapsed().as_secs_f64();
        measured.add(name, format!("{metric}.per_s"), "1/s", 1, rate);
    };
    for (metric, edges, expected) in
        [("has_edge_hit", &questions.hits, questions.hits.len()), ("has_edge_miss", &questions.misses, 0)]
    {
        let begun = Instant::now();
        let found = edges.iter().filter(|edge| snapshot.search_edge(edge.0, edge.1).is_some()).count();
        note(metric, begun, edges.len());
        if found != expected {
            return Err(format!("{name}: {metric} finds {found} of {expected}").into());
        }
    }
    let begun = Instant::now();
    let degrees: usize = questions.vertices.iter().map(|&v| snapshot.degree(v, Direction::Out)).sum();
    note("degree", begun, questions.vertices.len());
    let begun = Instant::now();
    let in_order = scan(work, &snapshot)?;
    note("scan_sequential", begun, in_order.0);
    let begun = Instant::now();
    let random = visit(&snapshot, questions.vertices.iter().copied())?;
    note("scan_random", begun, random.0);
    if random.0 != degrees {
        return Err(format!("{name}: lists of {} neighbours, degrees of {degrees}", random.0).into());
    }
    let begun = Instant::now();
    let two_hops = two_hops(&snapshot, questions)?;
    note("two_hop", begun, two_hops.0);
    let seconds = openings(engine, &snapshot, questions)?;
    measured.add(name, "snapshot_open.mean", "s", 1, seconds / OPENINGS as f64);
    Ok(Sums([in_order, random, two_hops]))
}

/// The seconds that openings take, each after a change where the engine takes updates: without one an engine may give the last snapshot again.
fn openings<G: DynamicGraph>(engine: &G, snapshot: &G::Snapshot, questions: &Questions) -> Result<f64> {
    let changed = questions.hits.first().filter(|_| !G::LACKS.contains(&Capability::Updates));
    let mut seconds = 0.0;
    for _ in 0..OPENINGS {
        if let Some(&(src, dst)) = changed {
            let weight = snapshot.search_edge(src, dst).unwrap_or(1.0);
            engine.remove_edge(src, dst)?;
            engine.insert_edge(src, dst, weight)?;
        }
        let begun = Instant::now();
        drop(black_box(engine.snapshot()?));
        seconds += begun.elapsed().as_secs_f64();
    }
    Ok(seconds)
}

/// What a read does with a neighbour, so that it reads it.
fn sum(run: &[VertexId]) -> u64 {
    run.iter().map(|v| u64::from(v.0)).sum()
}

/// All lists in order, block by block.
fn scan<S: GraphSnapshot>(work: &Work<'_>, snapshot: &S) -> Result<(usize, u64)> {
    let (mut read, mut total) = (0, 0u64);
    let end = SubgraphId(work.graph.vertices.div_ceil(64) as u32);
    snapshot.scan(SubgraphId(0)..end, Direction::Out, |_, block| {
        for local in (0..64).map(LocalVertex) {
            let _ = block.for_each_run(local, |run| {
                read += run.len();
                total = total.wrapping_add(sum(run));
                ControlFlow::Continue(())
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok((read, black_box(total)))
}

/// The lists of these vertices.
fn visit<S: GraphSnapshot>(
    snapshot: &S,
    vertices: impl IntoIterator<Item = VertexId>,
) -> Result<(usize, u64)> {
    let (mut read, mut total) = (0, 0u64);
    snapshot.visit(vertices, Direction::Out, |_, run| {
        read += run.len();
        total = total.wrapping_add(sum(run));
    })?;
    Ok((read, black_box(total)))
}

fn two_hops<S: GraphSnapshot>(snapshot: &S, questions: &Questions) -> Result<(usize, u64)> {
    let (mut read, mut total) = (0, 0u64);
    let mut first = Vec::new();
    for &v in questions.vertices.iter().take(SOURCES) {
        first.clear();
        snapshot.visit([v], Direction::Out, |_, run| first.extend_from_slice(run))?;
        // The same are followed on every engine.
        first.sort_unstable();
        let (further, sum) = visit(snapshot, first.iter().copied().take(FOLLOWED))?;
        read += first.len() + further;
        total = total.wrapping_add(sum);
    }
    Ok((read, total))
}
