//! Random edges into a store within a quarter of its memory. The first four fifths of the edges are loaded
//! before, without a limit; then the rest comes in commits of one size, each size into a store of its own.
//! The time includes the checkpoint at the end, so nothing is left for later.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use hedgerow::io::{CountingFs, RealFs};
use hedgerow::{LEAST_MEMORY_LIMIT, Options};
use hedgerow_workload::rng::Rng;

use super::super::load;
use super::super::recovery::stores::Place;
use super::super::work::Work;
use super::peak::Peak;
use super::store::{BATCH, LEAST_SHARE, options};
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The sizes of commits, each with the greatest number of edges to insert.
const SIZES: [(usize, usize); 4] = [(100_000, usize::MAX), (1_000, 1_000_000), (100, 400_000), (1, 100_000)];

/// An edge without its order of ends.
fn unordered((u, v): (u32, u32)) -> (u32, u32) {
    (u.min(v), u.max(v))
}

/// Returns the edges of the graph, each once, without loops, in random order.
fn shuffled(work: &Work<'_>) -> Vec<(u32, u32)> {
    let edge = |&edge: &(u32, u32)| if work.graph.directed { edge } else { unordered(edge) };
    let edges: HashSet<(u32, u32)> = work.graph.edges.iter().map(edge).filter(|(u, v)| u != v).collect();
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    let mut rng = Rng::new(23);
    for at in (1..edges.len()).rev() {
        edges.swap(at, rng.below(at as u64 + 1) as usize);
    }
    edges
}

/// Measures each size of commits.
pub(super) fn measure(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let threads = work.options.threads();
    let edges = shuffled(work);
    let (loaded, rest) = edges.split_at(edges.len() / 5 * 4);
    for (size, most) in SIZES {
        let (mut rates, mut peaks, mut written) = (Vec::new(), Vec::new(), Vec::new());
        let (mut middle, mut late) = (Vec::new(), Vec::new());
        for _ in 0..work.options.repeat() {
            let place = Place::new(&work.options.dir, "disk-ingest")?;
            let whole = fill(work, loaded, &place.0)?;
            let limit = (whole * LEAST_SHARE / 100).max(LEAST_MEMORY_LIMIT);
            let some = &rest[..rest.len().min(most)];
            let done = insert(work, (some, size), &place.0, limit)?;
            rates.push(some.len() as f64 / done.seconds);
            peaks.push(done.peak / limit as f64);
            written.push(done.bytes / some.len() as f64);
            middle.push(done.share(50));
            late.push(done.share(99));
        }
        for (metric, unit, values) in [
            ("edges_per_s", "edges/s", rates),
            ("budget.peak_ratio", "x", peaks),
            ("written_per_edge", "bytes", written),
            ("commit.p50", "s", middle),
            ("commit.p99", "s", late),
        ] {
            let name = format!("ingest.commits_of_{size}.{metric}.within_{LEAST_SHARE}");
            recorder.add("hedgerow", Metric { name: &name, unit, threads }, &values, None)?;
        }
    }
    Ok(())
}

/// Makes the store with the first edges. Returns its bytes once all of it is in memory.
fn fill(work: &Work<'_>, edges: &[(u32, u32)], path: &Path) -> Result<u64> {
    let store = options(work).open(path)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    edges.chunks(BATCH).try_for_each(|batch| load::put_batch(&store, batch))?;
    store.compact()?;
    store.settle()?;
    let whole = store.memory_bytes();
    store.close()?;
    Ok(whole)
}

/// What an ingestion took.
struct Ingested {
    seconds: f64,
    /// The maximum of the account.
    peak: f64,
    /// The bytes written.
    bytes: f64,
    /// The seconds of each commit, ascending.
    commits: Vec<f64>,
}

impl Ingested {
    /// Returns the time that this share of the commits, in percent, does not exceed.
    fn share(&self, percent: usize) -> f64 {
        let last = self.commits.len().saturating_sub(1);
        self.commits.get(last * percent / 100).copied().unwrap_or(0.0)
    }
}

/// Inserts edges in commits of a size.
fn insert(
    work: &Work<'_>,
    (edges, size): (&[(u32, u32)], usize),
    path: &Path,
    limit: u64,
) -> Result<Ingested> {
    let fs = CountingFs::new(Arc::new(RealFs::open_dir(path)?));
    let counters = fs.counters();
    let limited: Options = options(work).memory_limit(limit);
    let store = limited.open_on(Arc::new(fs))?;
    let before = store.snapshot()?.edge_count()?;
    let (peak, begun) = (Peak::default(), Instant::now());
    let mut commits = Vec::new();
    peak.beside(&store, || -> Result<()> {
        for batch in edges.chunks(size) {
            let commit = Instant::now();
            load::put_batch(&store, batch)?;
            commits.push(commit.elapsed().as_secs_f64());
        }
        store.checkpoint()?;
        Ok(())
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let inserted = store.snapshot()?.edge_count()? - before;
    store.close()?;
    if inserted != edges.len() as u64 {
        return Err(format!("{inserted} edges were inserted, and not {}", edges.len()).into());
    }
    commits.sort_unstable_by(f64::total_cmp);
    let bytes = counters.written_bytes.load(Relaxed) as f64;
    Ok(Ingested { seconds, peak: peak.told() as f64, bytes, commits })
}
