//! An open snapshot in a quarter of the memory that the graph needs. A tenth of the edges changes, and
//! kernels return the same results as before.

use std::time::Duration;

use hedgerow::{
    CommitError, Durability, EdgeKey, Error, Graph, KernelView, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions,
    Options, PropertyType, Snapshot, VertexId,
};
use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::{self, Outcome};
use hedgerow_testkit::SimFs;

use crate::common;

const VERTICES: u64 = 1 << 14;
const DEGREE: u64 = 7;
const EDGES: u64 = VERTICES * DEGREE;
/// The number of edges of a transaction; their properties need less than a quarter of the limit.
const BATCH: u64 = 1_792;
/// The length of a text in bytes. With it, few edges need much memory.
const TEXT: usize = 640;

fn options() -> Options {
    common::small().keys(KeyKind::Dense).directed(true).durability(Durability::Manual)
}

/// Returns edge number `i`; no two edges are equal. The ends are near each other, so a range of sources is a
/// range of a few subgraphs.
fn edge(i: u64) -> (u64, u64) {
    let (v, turn) = (i / DEGREE, i % DEGREE);
    (v, (v + 1 + turn * 29 + v % 5) % VERTICES)
}

/// Makes a closed store with all edges in one segment; also returns the bytes of memory that the whole graph
/// needs.
fn store() -> (SimFs, u64) {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    graph.define_label("calls", LabelOptions::new().property("note", PropertyType::Utf8)).unwrap();
    for batch in 0..EDGES / BATCH {
        let mut tx = graph.write().unwrap();
        (batch * BATCH..(batch + 1) * BATCH).for_each(|i| put(&mut tx, edge(i), i));
        tx.commit().unwrap();
    }
    graph.compact().unwrap();
    graph.settle().unwrap();
    let whole = graph.stats().unwrap().memory_bytes();
    graph.close().unwrap();
    (disk, whole)
}

fn put(tx: &mut hedgerow::WriteTxn, (a, b): (u64, u64), i: u64) {
    let note = format!("{i:0TEXT$}");
    tx.put_edge_with(EdgeKey::new("calls", a, b), [("note", note.as_str())]).unwrap();
}

/// Returns the results of kernels on a snapshot, and the number of its edges.
fn answers(snapshot: &Snapshot) -> (Vec<Outcome>, u64) {
    let KernelView::Tiered(view) = KernelView::new(snapshot, "calls").unwrap() else {
        panic!("the graph fits the limit");
    };
    let run = |name: &str| {
        let mut arguments = registry::find(name).unwrap().arguments();
        if name == "bfs" {
            arguments.set("source", VertexId(1)).unwrap();
        }
        hedgerow_analytics::run_by_page(&arguments, &view, &Cancel::new()).unwrap()
    };
    (["bfs", "wcc", "pagerank"].map(run).into(), snapshot.edge_count_of("calls").unwrap())
}

fn agree(found: &(Vec<Outcome>, u64), expected: &(Vec<Outcome>, u64)) {
    assert_eq!(found.1, expected.1, "edges");
    for (found, expected) in found.0.iter().zip(&expected.0) {
        // The kernels add scores in another order.
        assert!(found.agrees_with(expected, 1e-12), "{:?}", expected.kind());
    }
}

/// Removes the edges of a tenth of the vertices, and inserts other edges for half of them.
fn change(graph: &Graph) {
    let tenth: Vec<u64> = (EDGES / 2..EDGES / 2 + EDGES / 10).collect();
    for (batch, edges) in tenth.chunks(200).enumerate() {
        let write = || {
            graph.transact(3, |tx| {
                for &i in edges {
                    let (a, b) = edge(i);
                    assert!(tx.remove_edge(EdgeKey::new("calls", a, b))?);
                    if batch % 2 == 0 {
                        put(tx, (a, (a + 300 + i % DEGREE) % VERTICES), i);
                    }
                }
                Ok(())
            })
        };
        // The transaction treats data that was evicted between a read and its commit as changed.
        while let Err(error) = write() {
            assert!(matches!(error, Error::Commit(CommitError::Conflict { .. })), "{error}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn kernels_on_a_held_snapshot_say_what_they_said_while_a_tenth_of_the_edges_changes() {
    let (disk, whole) = store();
    assert!(whole >= 4 * LEAST_MEMORY_LIMIT, "{whole} bytes in memory");
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let before = answers(&snapshot);
    assert_eq!(before.1, EDGES);
    change(&graph);
    agree(&answers(&snapshot), &before);
    let now = graph.snapshot().unwrap();
    let after = answers(&now);
    assert!(after.1 < EDGES);
    // The change must affect the results of a kernel.
    assert!(after.0.iter().zip(&before.0).any(|(now, before)| !now.agrees_with(before, 1e-6)));
    drop(now);
    graph.checkpoint().unwrap();
    // The store may have evicted everything before, to make room.
    graph.internals().evict().unwrap();
    agree(&answers(&snapshot), &before);
    let used = graph.stats().unwrap().memory_bytes();
    assert!(used <= LEAST_MEMORY_LIMIT, "{used} bytes");
    drop(snapshot);
    assert!(graph.check().unwrap().is_ok());
}
