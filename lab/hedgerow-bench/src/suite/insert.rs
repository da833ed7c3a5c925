//! The suite `insert`: random single-edge transactions and batches into a store without files, by one writer
//! and by more. It also measures memory per edge and the latency of a commit.

use hedgerow_subjects::Engine;
use std::time::Instant;

use super::load::{self, Mode};
use super::memory;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;
use hedgerow_report::figures::percentile;

/// The batch sizes in edges of the graph; an undirected edge is two directed edges.
const BATCHES: [usize; 5] = [10, 1_000, 10_000, 100_000, 1_000_000];

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if work.options.has(Engine::Csr) {
        build(work, recorder)?;
    }
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    if work.options.wants("bytes_per_edge") {
        bytes(work, recorder)?;
    }
    rates(work, recorder)?;
    if work.options.wants("commit_latency") {
        latencies(work, recorder)?;
    }
    Ok(())
}

fn directed_edges(work: &Work<'_>) -> f64 {
    work.graph.edges.len() as f64 * work.per_edge
}

/// Measures the reference: all edges are known at once, and sorted into a CSR.
fn build(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let threads = work.options.threads();
    let mut rates = Vec::new();
    let mut bytes = 0;
    for _ in 0..work.options.repeat() {
        let begun = Instant::now();
        bytes = work.csr()?.bytes();
        rates.push(directed_edges(work) / begun.elapsed().as_secs_f64());
    }
    recorder.add("csr", Metric { name: "build.edges_per_s", unit: "edges/s", threads }, &rates, None)?;
    let per_edge = [bytes as f64 / directed_edges(work)];
    for name in ["bytes_per_edge.loaded", "bytes_per_edge.settled"] {
        recorder.add("csr", Metric { name, unit: "bytes", threads }, &per_edge, Some(&per_edge))?;
    }
    Ok(())
}

/// Records memory, by the system's figure for a fresh process and by the store's own accounts.
fn bytes(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let csr = [work.csr()?.bytes() as f64 / directed_edges(work)];
    for (name, total) in memory::measure(work)? {
        let metric = Metric { name: &name, unit: "bytes", threads: 1 };
        recorder.add("hedgerow", metric, &[total / directed_edges(work)], Some(&csr))?;
    }
    Ok(())
}

fn rates(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let writers = |mode| -> Vec<usize> {
        match mode {
            Mode::Single | Mode::Pipelined | Mode::SingleWithProperty => {
                (1..=work.options.threads()).collect()
            }
            // Batches run with one writer, and with all writers.
            Mode::Batch(_) | Mode::BatchWithProperty(_) if work.options.threads() > 1 => {
                vec![1, work.options.threads()]
            }
            Mode::Batch(_) | Mode::BatchWithProperty(_) => vec![1],
        }
    };
    let singles = [Mode::Single, Mode::Pipelined, Mode::SingleWithProperty];
    let batches = BATCHES.map(|size| [Mode::Batch(size), Mode::BatchWithProperty(size)]);
    for mode in singles.into_iter().chain(batches.into_iter().flatten()) {
        let name = match mode {
            Mode::SingleWithProperty => "single_with_property.edges_per_s".to_owned(),
            Mode::BatchWithProperty(size) => format!("batch_{size}_with_property.edges_per_s"),
            Mode::Single => "single.edges_per_s".to_owned(),
            Mode::Pipelined => "pipelined.edges_per_s".to_owned(),
            Mode::Batch(size) => format!("batch_{size}.edges_per_s"),
        };
        if !work.options.wants(&name) {
            continue;
        }
        let writers = writers(mode);
        let mut measured = vec![Vec::new(); writers.len()];
        // The numbers of writers take turns, so that a slow period of the machine affects all of them.
        for _ in 0..work.options.repeat() {
            for (writers, measured) in writers.iter().zip(&mut measured) {
                measured.push(rate(work, mode, *writers)?);
            }
        }
        for (&threads, measured) in writers.iter().zip(&measured) {
            recorder.add("hedgerow", Metric { name: &name, unit: "edges/s", threads }, measured, None)?;
        }
    }
    Ok(())
}

fn rate(work: &Work<'_>, mode: Mode, writers: usize) -> Result<f64> {
    let store = load::empty_store(work.graph.directed, work.graph.vertices)?;
    let seconds = load::write(&store, &work.graph, mode, writers)?;
    let (found, expected) = (store.snapshot()?.edge_count()?, work.graph.edges.len() as u64);
    if found > expected || (found < expected && !work.graph.in_time_order && work.graph.keys.is_none()) {
        return Err(format!("{found} edges in the store after {expected} were written").into());
    }
    Ok(directed_edges(work) / seconds)
}

/// Measures the latency of each commit of one writer. It includes the two readings of the clock.
fn latencies(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    let store = load::empty_store(work.graph.directed, work.graph.vertices)?;
    let mut taken: Vec<u32> = Vec::with_capacity(work.graph.edges.len());
    for &(u, v) in &work.graph.edges {
        let begun = Instant::now();
        store.insert_edge((u64::from(u), u64::from(v)))?;
        taken.push(u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX));
    }
    taken.sort_unstable();
    for (name, p) in [("p50", 0.5), ("p99", 0.99), ("p999", 0.999)] {
        let name = format!("commit_latency.{name}");
        let metric = Metric { name: &name, unit: "s", threads: 1 };
        recorder.add("hedgerow", metric, &[percentile(&taken, p) * 1e-9], None)?;
    }
    Ok(())
}
