//! Logs of updates over a checkpoint. One log updates one range of ids; the first of its updates loads their
//! pages. One log updates edges all over the graph. One has as many of these updates as a limit of a quarter
//! of the graph has room for without a checkpoint, and is replayed within that limit.

use std::path::Path;
use std::time::Instant;

use hedgerow::{CommitError, Error, Graph, LEAST_MEMORY_LIMIT};

use super::super::work::Work;
use super::stores::{open, open_with, reopen_once};
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of operations in a transaction.
const BATCH: usize = 1_000;
/// The number of operations in a transaction within the limit, so that it touches a small part of the graph.
const SMALL_BATCH: usize = 10;
/// The maximum number of operations in a log, approximately.
const OPERATIONS: usize = 4_000_000;
/// The share of ids that bounds the range: its edges have both ends below it. In a graph with random ids
/// these are a hundredth of all edges.
const RANGE: f64 = 0.1;
/// The memory of the graph divided by this number is the limit.
const SHARE: u64 = 4;

type Edges<'a> = &'a [(u32, u32)];

/// Measures with the store at `path`, which has an empty log. The store has the same edges afterwards.
pub(super) fn measure(work: &Work<'_>, path: &Path, recorder: &mut Recorder) -> Result<()> {
    let edges = &work.graph.edges;
    if work.options.wants("updates_in_range") {
        let below = (work.graph.vertices as f64 * RANGE) as u32;
        let chosen: Vec<(u32, u32)> =
            edges.iter().copied().filter(|&(u, v)| u < below && v < below).collect();
        log_of("updates_in_range", work, path, &chosen, recorder)?;
    }
    if work.options.wants("updates") {
        log_of("updates", work, path, &edges[..edges.len() / 8], recorder)?;
    }
    if work.options.wants("updates_within_25") {
        within_limit(work, path, recorder)?;
    }
    Ok(())
}

/// Updates `edges` again and again, and opens the store with the log of these updates, without a limit.
fn log_of(name: &str, work: &Work<'_>, path: &Path, edges: Edges<'_>, recorder: &mut Recorder) -> Result<()> {
    if edges.is_empty() {
        return Ok(());
    }
    let store = open(work, path)?;
    let mut operations = 0;
    while operations < OPERATIONS.min(16 * edges.len()) {
        for batch in edges.chunks(BATCH) {
            operations += update(&store, batch)?;
        }
    }
    let expected = store.snapshot()?.edge_count()?;
    store.close()?;
    let mut rates = Vec::new();
    for _ in 0..work.options.repeat() {
        let seconds = reopen_once(work, path, expected)?;
        rates.push(operations as f64 / seconds);
    }
    let (name, threads) = (format!("{name}.operations_per_s"), work.options.threads());
    recorder.add("hedgerow", Metric { name: &name, unit: "operations/s", threads }, &rates, None)?;
    empty_the_log(work, path)
}

/// Removes the edges and inserts them again, in two transactions. Returns the number of operations.
fn update(store: &Graph, edges: Edges<'_>) -> hedgerow::Result<usize> {
    let ends = || edges.iter().map(|&(u, v)| (u64::from(u), u64::from(v)));
    let mut tx = store.write()?;
    ends().try_for_each(|(u, v)| tx.remove_edge((u, v)).map(drop))?;
    tx.commit()?;
    let mut tx = store.write()?;
    tx.put_edges(ends())?;
    tx.commit()?;
    Ok(2 * edges.len())
}

fn empty_the_log(work: &Work<'_>, path: &Path) -> Result<()> {
    let store = open(work, path)?;
    store.checkpoint()?;
    Ok(store.close()?)
}

/// Returns the bytes of the store with everything in memory, without its view.
fn bytes_in_memory(work: &Work<'_>, path: &Path) -> Result<u64> {
    let store = open(work, path)?;
    store.snapshot()?.default_label().view()?;
    let stats = store.stats()?;
    store.close()?;
    Ok(stats.memory_bytes() - stats.view_bytes)
}

/// Updates edges all over the graph within the limit until a commit would need a checkpoint. Then opens the
/// store within the limit.
fn within_limit(work: &Work<'_>, path: &Path, recorder: &mut Recorder) -> Result<()> {
    let limit = (bytes_in_memory(work, path)? / SHARE).max(LEAST_MEMORY_LIMIT);
    let store = open_with(work, path, Some(limit))?;
    let mut operations = 0;
    for batch in work.graph.edges.chunks(SMALL_BATCH) {
        match update(&store, batch) {
            Ok(done) => operations += done,
            Err(Error::Commit(CommitError::MemoryLimit { .. })) => break,
            Err(error) => return Err(error.into()),
        }
        if operations >= OPERATIONS {
            break;
        }
    }
    let expected = store.snapshot()?.edge_count()?;
    store.close()?;
    let (mut rates, mut told) = (Vec::new(), Vec::new());
    for _ in 0..work.options.repeat() {
        let begun = Instant::now();
        let store = open_with(work, path, Some(limit))?;
        let edges = store.snapshot()?.edge_count()?;
        rates.push(operations as f64 / begun.elapsed().as_secs_f64());
        told.push(store.memory_bytes() as f64 / limit as f64);
        store.close()?;
        if edges != expected {
            return Err(format!("{edges} edges after reopening, {expected} before").into());
        }
    }
    let threads = work.options.threads();
    let mut add = |name: &str, unit: &str, measured: &[f64]| {
        recorder.add("hedgerow", Metric { name, unit, threads }, measured, None)
    };
    add("updates_within_25.operations_per_s", "operations/s", &rates)?;
    add("updates_within_25.operations", "operations", &[operations as f64])?;
    add("updates_within_25.memory_by_limit", "x", &told)?;
    empty_the_log(work, path)
}
