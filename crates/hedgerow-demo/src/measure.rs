//! Measurements on the live store at the end of the stream, compared with a plain CSR of the same graph with
//! the same ids.

use std::time::Instant;

use hedgerow::{Direction, Graph, Resident, Snapshot, Topology, VertexId};
use hedgerow_kernels::{BfsConfig, PageRankConfig, bfs, pagerank, wcc};
use hedgerow_workload::{Csr, CsrOptions};

use hedgerow_report::failure::{Failure, Result};
use hedgerow_report::figures::{median, percentile};

const ROUNDS: usize = 3;
const SNAPSHOTS: usize = 10_000;

type Figures = Vec<(String, f64, String)>;

/// Measures the opening of snapshots, kernels in comparison with the CSR, and memory.
pub(crate) fn live(graph: &Graph) -> Result<Figures> {
    let mut figures = Figures::new();
    let mut add =
        |name: &str, value: f64, unit: &str| figures.push((name.to_owned(), value, unit.to_owned()));
    let mut opened = Vec::with_capacity(SNAPSHOTS);
    for _ in 0..SNAPSHOTS {
        let begun = Instant::now();
        let snapshot = graph.snapshot()?;
        opened.push(begun.elapsed().as_nanos() as u32);
        drop(snapshot);
    }
    opened.sort_unstable();
    add("snapshot_open.p50", percentile(&opened, 0.5) * 1e-9, "s");
    let stats = graph.stats()?;
    let edges = stats.edges.max(1) as f64;
    add("bytes_per_edge", stats.memory_bytes() as f64 / edges, "bytes");
    add("topology_bytes_per_edge", (stats.main_bytes + stats.delta_bytes) as f64 / edges, "bytes");
    add("delta_entries", stats.delta_entries as f64, "entries");
    let snapshot = graph.snapshot()?;
    let begun = Instant::now();
    let view = snapshot.default_label().view()?;
    add("view.seconds", begun.elapsed().as_secs_f64(), "s");
    let csr = csr_of(&snapshot)?;
    add("csr_bytes_per_edge", csr.bytes() as f64 / edges, "bytes");
    let source = (0..view.vertex_bound() as u32).map(VertexId).max_by_key(|&v| csr.degree(v, Direction::Out));
    let Some(source) = source else { return Ok(figures) };
    for (name, store_s, csr_s) in kernels(view, &csr, source)? {
        add(&format!("{name}.seconds"), store_s, "s");
        add(&format!("{name}.csr_seconds"), csr_s, "s");
    }
    Ok(figures)
}

/// Returns a CSR with the ids of the snapshot, so that both have the same locality.
///
/// # Errors
/// The errors of the snapshot's reads.
pub fn csr_of(snapshot: &Snapshot) -> Result<Csr> {
    let view = snapshot.default_label().view()?;
    let bound = view.vertex_bound();
    let live = (0..bound as u32).map(|v| view.contains(VertexId(v))).collect();
    let mut edges = Vec::with_capacity(snapshot.edge_count()? as usize);
    snapshot.default_label().for_each_edge(|src, dst, _| edges.push((src.0, dst.0)))?;
    Ok(Csr::from_edges(
        bound,
        &edges,
        &CsrOptions { directed: true, live: Some(live), ..CsrOptions::default() },
    )?)
}

/// Measures kernels alternately on both graphs. Returns name, median seconds on the store and on the CSR.
fn kernels<A: Topology, B: Topology>(
    a: &A,
    b: &B,
    source: VertexId,
) -> Result<Vec<(&'static str, f64, f64)>> {
    let ranks = PageRankConfig { iterations: 10, ..PageRankConfig::default() };
    let mut times = vec![("bfs", Vec::new(), Vec::new()), ("pagerank", Vec::new(), Vec::new())];
    times.push(("wcc", Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        times[0].1.push(timed(|| bfs(a, source, &BfsConfig::default()))?);
        times[0].2.push(timed(|| bfs(b, source, &BfsConfig::default()))?);
        times[1].1.push(timed(|| pagerank(a, &ranks))?);
        times[1].2.push(timed(|| pagerank(b, &ranks))?);
        times[2].1.push(timed(|| wcc(a))?);
        times[2].2.push(timed(|| wcc(b))?);
    }
    Ok(times.into_iter().map(|(name, a, b)| (name, median(&a), median(&b))).collect())
}

fn timed<T, E: Into<Failure>>(f: impl FnOnce() -> std::result::Result<T, E>) -> Result<f64> {
    let begun = Instant::now();
    let kept = f().map_err(Into::into)?;
    let seconds = begun.elapsed().as_secs_f64();
    drop(kept);
    Ok(seconds)
}
