//! The rate at which the edges of a graph in memory become record batches, by one thread and by two.
//!
//! `cargo bench -p hedgerow-arrow --bench stream [EDGES]`: EDGES random edges (8,000,000 if none are named)
//! between 2^20 vertices, undirected, with number keys. Each thread takes parts of the graph.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hedgerow::{EdgeSelection, Options, Snapshot};
use hedgerow_arrow::{EdgeBatches, TableOptions};

const VERTICES: u64 = 1 << 20;
/// The number of edges in a transaction.
const BATCH: u64 = 1 << 16;
/// The number of parts for each thread.
const PARTS: usize = 4;

fn main() {
    let edges = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(8_000_000);
    let graph = Options::new().directed(false).in_memory().expect("a graph in memory");
    let mut state = 7_u64;
    let mut next = || {
        // A generator of numbers by multiplication, as good as this needs.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % VERTICES
    };
    for begin in (0..edges).step_by(BATCH as usize) {
        let mut tx = graph.write().expect("a transaction");
        tx.put_edges((begin..edges.min(begin + BATCH)).map(|_| (next(), next()))).expect("put");
        tx.commit().expect("committed");
    }
    graph.settle().expect("settled");
    let snapshot = graph.snapshot().expect("a snapshot");
    for threads in [1, 1, 1, 2, 2, 2] {
        let start = Instant::now();
        let rows = pull(&snapshot, threads);
        let rate = rows as f64 / start.elapsed().as_secs_f64() / 1e6;
        println!("{threads} threads: {rows} rows, {rate:.1} million rows a second");
    }
}

/// Makes the batches of all edges, and returns the number of rows.
fn pull(snapshot: &Snapshot, threads: usize) -> usize {
    let parts = snapshot.partitions(threads * PARTS).expect("parts");
    let (next, all) = (AtomicUsize::new(0), EdgeSelection::of(""));
    let pull = || {
        let mut rows = 0;
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let options = TableOptions::new().within(part.clone());
            let batches = EdgeBatches::new(snapshot, &all, &options).expect("a table");
            rows += batches.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>();
        }
        rows
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(pull)).collect();
        started.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}
