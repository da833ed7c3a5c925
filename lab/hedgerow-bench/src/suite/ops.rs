//! The suite `ops`: point reads, scans and two-hop reads on a snapshot, compared with the same reads on a
//! CSR, in turns. It also measures the opening of snapshots and views, and one hub compared with edges spread
//! evenly.
//!
//! Point reads of the engine `hedgerow-view` use a snapshot with an existing view. Point reads of `hedgerow`
//! use a snapshot whose reads make no view. Point reads of `hedgerow-user` are a loop of [`LOOP`] times as
//! many reads on a new snapshot, with default options, in a store that keeps no view. If these reads make the
//! view, this is part of the time. `has_edges_hit` and `has_edges_miss` search for the same edges in calls of
//! 1,024. On the CSR they use the same loop, which prefetches. Reads are measured right after ingestion
//! (`has_edge_hit.per_s`) and settled (`has_edge_hit_settled.per_s`). A ratio is of rates: 1 is as fast as
//! the CSR, less is slower.

use std::hint::black_box;
use std::time::Instant;

use hedgerow::{Direction, Graph, Resident, Snapshot, Topology, VertexId};
use hedgerow_core::{InterpolationHint, for_each_contained};
use hedgerow_subjects::Engine;
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use super::work::Work;
use super::{load, selections, views};
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use hedgerow_report::figures::percentile;

/// The number of passes over all reads in a loop on a new snapshot.
const LOOP: u64 = 8;
/// The number of edges in one call of batch reads.
const BATCH: usize = 1 << 10;
/// The number of sources of two-hop reads; in `FOLLOWED`, the number of neighbours to follow from each.
pub(super) const SOURCES: usize = 256;
pub(super) const FOLLOWED: usize = 64;
const OPENINGS: usize = 100_000;
/// The maximum number of neighbours of the hub.
const HUB: usize = 1_000_000;

/// The inputs of the reads, drawn once for all engines.
pub(super) struct Questions {
    pub(super) hits: Vec<(VertexId, VertexId)>,
    pub(super) misses: Vec<(VertexId, VertexId)>,
    pub(super) vertices: Vec<VertexId>,
    bound: u32,
}

/// A kind of read.
type Read<G> = fn(&G, &Questions) -> Result<(u64, u64)>;

/// The reads: a name, a read of a snapshot, and a read of the CSR. Each read returns the number of items, and
/// a sum on which both must agree.
const READS_OF: [(&str, Read<Snapshot>, Read<Csr>); 8] = [
    ("has_edge_hit", |s, q| edges_of_snapshot(s, &q.hits), |c, q| Ok(edges_of_csr(c, &q.hits))),
    ("has_edge_miss", |s, q| edges_of_snapshot(s, &q.misses), |c, q| Ok(edges_of_csr(c, &q.misses))),
    ("has_edges_hit", |s, q| batches_of_snapshot(s, &q.hits), |c, q| Ok(batches_of_csr(c, &q.hits))),
    ("has_edges_miss", |s, q| batches_of_snapshot(s, &q.misses), |c, q| Ok(batches_of_csr(c, &q.misses))),
    (
        "degree",
        |s, q| {
            let mut sum = 0;
            for &v in &q.vertices {
                sum += s.default_label().degree(v, Direction::Out)? as u64;
            }
            Ok((q.vertices.len() as u64, sum))
        },
        |c, q| {
            let degree = |&v: &VertexId| c.degree(v, Direction::Out) as u64;
            Ok((q.vertices.len() as u64, q.vertices.iter().map(degree).sum()))
        },
    ),
    ("scan_sequential", |s, q| scan_in_order(s, q.bound), |c, q| Ok(scan_csr(c, (0..q.bound).map(VertexId)))),
    (
        "scan_random",
        |s, q| scan_snapshot(s, q.vertices.iter().copied()),
        |c, q| Ok(scan_csr(c, q.vertices.iter().copied())),
    ),
    ("two_hop", |s, q| two_hops_of_snapshot(s, q), |c, q| Ok(two_hops_of_csr(c, q))),
];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let csr = work.csr()?;
    let questions = Questions::draw(work, &csr);
    if !work.options.has(Engine::Hedgerow) {
        return reads(work, None, &csr, &questions, "", recorder);
    }
    let store = load::store_for(&work.graph)?;
    work.distinct_edges().iter().try_for_each(|edge| load::insert_one(&store, work, edge))?;
    reads(work, Some(&store), &csr, &questions, "", recorder)?;
    openings(&store, recorder)?;
    views::measure(work, &store, false, recorder)?;
    store.settle()?;
    reads(work, Some(&store), &csr, &questions, "_settled", recorder)?;
    views::measure(work, &store, true, recorder)?;
    drop(store);
    selections::run(work, recorder)?;
    hub(work, recorder)
}

impl Questions {
    pub(super) fn draw(work: &Work<'_>, csr: &Csr) -> Questions {
        let mut rng = Rng::new(3);
        let edges = &work.graph.edges;
        let mut edge = || edges[rng.below(edges.len() as u64) as usize];
        let reads = work.reads();
        let hits = (0..reads).map(|_| edge()).map(|(u, v)| (VertexId(u), VertexId(v))).collect();
        // The sources of misses are drawn like the sources of hits, so that both search lists of similar
        // length.
        let mut misses = Vec::with_capacity(reads);
        let mut tries = 0;
        while misses.len() < reads && tries < 4 * reads {
            tries += 1;
            let (u, v) = (VertexId(edge().0), VertexId(edge().1));
            if !csr.neighbors(u, Direction::Out).contains(v) {
                misses.push((u, v));
            }
        }
        let bound = work.graph.vertices as u32;
        let vertices = (0..reads).map(|_| VertexId(rng.below(u64::from(bound)) as u32)).collect();
        Questions { hits, misses, vertices, bound }
    }
}

fn edges_of_snapshot(snapshot: &Snapshot, edges: &[(VertexId, VertexId)]) -> Result<(u64, u64)> {
    let mut found = 0;
    for &(u, v) in edges {
        found += u64::from(snapshot.default_label().contains_edge(u, v)?);
    }
    Ok((edges.len() as u64, found))
}

fn edges_of_csr(csr: &Csr, edges: &[(VertexId, VertexId)]) -> (u64, u64) {
    let list = |u: VertexId| csr.neighbors(u, Direction::Out).main;
    let found = edges.iter().filter(|(u, v)| list(*u).binary_search(v).is_ok()).count();
    (edges.len() as u64, found as u64)
}

/// Searches for the edges in batches, each in one call.
fn batches_of_snapshot(snapshot: &Snapshot, edges: &[(VertexId, VertexId)]) -> Result<(u64, u64)> {
    let mut found = 0;
    let mut keys = Vec::with_capacity(BATCH);
    for batch in edges.chunks(BATCH) {
        keys.clear();
        keys.extend(batch.iter().map(|(u, v)| (u64::from(u.0), u64::from(v.0))));
        let batch = snapshot.contains_edges(&keys, "")?;
        found += batch.iter().map(|&found| u64::from(found)).sum::<u64>();
    }
    Ok((edges.len() as u64, found))
}

/// Searches for the edges in the same batches, with the same loop over them.
fn batches_of_csr(csr: &Csr, edges: &[(VertexId, VertexId)]) -> (u64, u64) {
    let hint = InterpolationHint::over(csr.vertex_bound() as u32);
    let mut found = 0;
    let mut ends = Vec::with_capacity(BATCH);
    for batch in edges.chunks(BATCH) {
        ends.clear();
        ends.extend(batch.iter().copied().map(Some));
        for_each_contained(csr, &ends, hint, |_| found += 1);
    }
    (edges.len() as u64, found)
}

fn scan_snapshot(snapshot: &Snapshot, vertices: impl Iterator<Item = VertexId>) -> Result<(u64, u64)> {
    let (mut read, mut sum) = (0, 0);
    for v in vertices {
        snapshot.default_label().visit_neighbors(v, Direction::Out, |run, _| {
            read += run.len() as u64;
            sum += run.iter().map(|u| u64::from(u.0)).sum::<u64>();
        })?;
    }
    Ok((read, sum))
}

fn scan_in_order(snapshot: &Snapshot, bound: u32) -> Result<(u64, u64)> {
    let (mut read, mut sum) = (0, 0);
    let mut cursor = snapshot.default_label().neighbor_cursor(Direction::Out);
    for v in (0..bound).map(VertexId) {
        cursor.visit(v, |run, _| {
            read += run.len() as u64;
            sum += run.iter().map(|u| u64::from(u.0)).sum::<u64>();
        })?;
    }
    Ok((read, sum))
}

fn scan_csr(csr: &Csr, vertices: impl Iterator<Item = VertexId>) -> (u64, u64) {
    let (mut read, mut sum) = (0, 0);
    for v in vertices {
        csr.neighbors(v, Direction::Out).for_each_run(|run| {
            read += run.len() as u64;
            sum += run.iter().map(|u| u64::from(u.0)).sum::<u64>();
        });
    }
    (read, sum)
}

fn two_hops_of_snapshot(snapshot: &Snapshot, questions: &Questions) -> Result<(u64, u64)> {
    let (mut read, mut sum) = (0, 0);
    let mut first = Vec::new();
    for &v in questions.vertices.iter().take(SOURCES) {
        first.clear();
        // The neighbours ascend, so that the same ones are followed as on the CSR.
        snapshot.default_label().for_each_neighbor(v, Direction::Out, |u, _| first.push(u))?;
        let (more, of_them) = scan_snapshot(snapshot, first.iter().copied().take(FOLLOWED))?;
        read += more + first.len() as u64;
        sum += of_them;
    }
    Ok((read, sum))
}

fn two_hops_of_csr(csr: &Csr, questions: &Questions) -> (u64, u64) {
    let (mut read, mut sum) = (0, 0);
    for &v in questions.vertices.iter().take(SOURCES) {
        let first = csr.neighbors(v, Direction::Out).main;
        let (more, of_them) = scan_csr(csr, first.iter().copied().take(FOLLOWED));
        read += more + first.len() as u64;
        sum += of_them;
    }
    (read, sum)
}

fn reads(
    work: &Work<'_>,
    store: Option<&Graph>,
    csr: &Csr,
    questions: &Questions,
    suffix: &str,
    recorder: &mut Recorder,
) -> Result<()> {
    let viewed = store.map(Graph::snapshot).transpose()?;
    if let Some(viewed) = &viewed {
        viewed.default_label().view()?;
    }
    for (name, on_snapshot, on_csr) in READS_OF {
        if !work.options.wants(name) {
            continue;
        }
        let snapshot = store.map(Graph::snapshot).transpose()?;
        snapshot.iter().for_each(|snapshot| snapshot.default_label().set_views_by_reads(false));
        let engines = [("hedgerow", &snapshot), ("hedgerow-view", &viewed)];
        let (mut mine, mut plain) = (vec![Vec::new(); engines.len()], Vec::new());
        let mut looped = Vec::new();
        // The first round warms up both sides, and is not kept.
        for round in 0..=work.options.repeat() {
            let (csr_rate, csr_sum) = rate(|| on_csr(csr, questions))?;
            for ((engine, snapshot), mine) in engines.iter().zip(&mut mine) {
                let Some(snapshot) = snapshot else { continue };
                let (rate, sum) = rate(|| on_snapshot(snapshot, questions))?;
                if sum != csr_sum {
                    let message =
                        format!("{name}: the answers of {engine} sum to {sum}, the CSR's to {csr_sum}");
                    return Err(message.into());
                }
                if round > 0 {
                    mine.push(rate);
                }
            }
            if round > 0 {
                plain.push(csr_rate);
                looped.extend(
                    store.map(|store| loop_on_new(store, on_snapshot, questions, csr_sum)).transpose()?,
                );
            }
        }
        let name = format!("{name}{suffix}.per_s");
        let metric = Metric { name: &name, unit: "1/s", threads: 1 };
        if work.options.has(Engine::Csr) {
            recorder.add("csr", metric, &plain, Some(&plain))?;
        }
        for ((engine, _), mine) in engines.iter().zip(&mine).filter(|(_, mine)| !mine.is_empty()) {
            recorder.add(engine, metric, mine, Some(&plain))?;
        }
        if !looped.is_empty() {
            recorder.add("hedgerow-user", metric, &looped, Some(&plain))?;
        }
    }
    Ok(())
}

/// Returns the number of items that a loop on a new snapshot reads in a second; `sum` is the sum of one pass.
fn loop_on_new(store: &Graph, read: Read<Snapshot>, questions: &Questions, sum: u64) -> Result<f64> {
    store.forget_views();
    let snapshot = store.snapshot()?;
    let all = || {
        let mut count = 0;
        for _ in 0..LOOP {
            let (read, found) = read(&snapshot, questions)?;
            if found != sum {
                return Err(format!("a loop of reads sums to {found}, the CSR to {sum}").into());
            }
            count += read;
        }
        Ok((count, sum))
    };
    Ok(rate(all)?.0)
}

/// Returns the number of items that `read` reads in a second, and the sum.
fn rate(read: impl Fn() -> Result<(u64, u64)>) -> Result<(f64, u64)> {
    let begun = Instant::now();
    let (count, sum) = black_box(read())?;
    Ok((count.max(1) as f64 / begun.elapsed().as_secs_f64(), sum))
}

fn openings(store: &Graph, recorder: &mut Recorder) -> Result<()> {
    let mut taken = Vec::with_capacity(OPENINGS);
    for _ in 0..OPENINGS {
        let begun = Instant::now();
        let snapshot = store.snapshot()?;
        taken.push(u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX));
        drop(snapshot);
    }
    taken.sort_unstable();
    for (name, p) in [("snapshot_open.p50", 0.5), ("snapshot_open.p99", 0.99)] {
        let metric = Metric { name, unit: "s", threads: 1 };
        // A reading below the clock's step is 0: the time is then less than a nanosecond.
        recorder.add("hedgerow", metric, &[percentile(&taken, p).max(1.0) * 1e-9], None)?;
    }
    Ok(())
}

/// Measures two writers that insert edges of one hub, compared with two that insert as many edges between
/// random vertices.
fn hub(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.wants("hub") {
        return Ok(());
    }
    let vertices = work.graph.vertices.max(2);
    let degree = HUB.min(vertices - 1);
    let mut rng = Rng::new(5);
    let mut of_hub: Vec<(u32, u32)> = (1..=degree as u32).map(|v| (0, v)).collect();
    hedgerow_workload::shuffle(&mut of_hub, 5);
    let mut draw = || rng.below(vertices as u64) as u32;
    let hint: Vec<(u32, u32)> = (0..degree).map(|_| (draw(), draw())).collect();
    let writers = work.options.threads().min(2);
    let (mut hub, mut uniform) = (Vec::new(), Vec::new());
    for _ in 0..work.options.repeat() {
        for (edges, rates) in [(&of_hub, &mut hub), (&hint, &mut uniform)] {
            let store = load::empty_store(false, vertices)?;
            let seconds = load::write_edges(&store, edges, load::Mode::Single, writers)?;
            rates.push(2.0 * edges.len() as f64 / seconds);
        }
    }
    let metric = |name| Metric { name, unit: "edges/s", threads: writers };
    recorder.add("hedgerow", metric("hub_uniform.edges_per_s"), &uniform, None)?;
    recorder.add_beside("hedgerow", metric("hub.edges_per_s"), &hub, Some(("hub_uniform", &uniform)))
}
