//! Edges with long properties within a limit: the store estimates the memory for a load from the bytes in the
//! files, not from the number of edges.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::{CountingFs, IoCounters};
use hedgerow::{
    Durability, EdgeKey, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions, Options, PropertyType,
    StorageError,
};
use hedgerow_testkit::SimFs;

use crate::common;

/// The number of vertices of a page.
const PAGE: u64 = 4096;
const PAGES: u64 = 14;
/// The number of edges of a page, and the bytes of the text of an edge. The texts of a page take less than an
/// eighth of the limit, so that the store loads the page whole.
const EDGES: u64 = 128;
const TEXT: usize = 13_000;

fn options() -> Options {
    let options = common::small().keys(KeyKind::Dense).directed(true).durability(Durability::Manual);
    options.background_settling(false).checkpoint_log_bytes(0)
}

fn put(graph: &Graph, a: u64, b: u64) {
    let note = format!("{a:0TEXT$}");
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new("calls", a, b), [("note", note.as_str())]).unwrap();
    tx.commit().unwrap();
}

/// Makes a store with some edges on each page; their properties take more than the limit.
fn store() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    graph.define_label("calls", LabelOptions::new().property("note", PropertyType::Utf8)).unwrap();
    for page in 0..PAGES {
        (0..EDGES).for_each(|i| put(&graph, page * PAGE + i * 32, page * PAGE + i));
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

fn open(disk: &SimFs, limit: Option<u64>) -> (Graph, Arc<IoCounters>) {
    let fs = CountingFs::new(SimFs::from_files(&disk.files()).handle());
    let counters = fs.counters().clone();
    let options = limit.into_iter().fold(options(), Options::memory_limit);
    (options.open_on(Arc::new(fs)).unwrap(), counters)
}

#[test]
fn pages_of_long_properties_are_read_once_and_labels_that_do_not_fit_are_not_read() {
    let disk = store();
    let limit = LEAST_MEMORY_LIMIT;
    let reads_of_writes = |limit: Option<u64>| {
        let (graph, counters) = open(&disk, limit);
        let before = counters.read_bytes.load(Relaxed);
        // Each write loads its page; from the ninth write on, the store has to evict other pages.
        (0..PAGES).for_each(|page| put(&graph, page * PAGE, page * PAGE + 7));
        if let Some(limit) = limit {
            let most = graph.internals().most_memory_used();
            assert!(most <= limit, "{most} bytes at a time");
        }
        counters.read_bytes.load(Relaxed) - before
    };
    let (free, limited) = (reads_of_writes(None), reads_of_writes(Some(limit)));
    assert!(limited <= free + free / 16, "{limited} bytes are read within the limit, {free} without");

    let (graph, counters) = open(&disk, Some(limit));
    let before = counters.read_bytes.load(Relaxed);
    let refused = graph.snapshot().unwrap().view("calls").map(drop);
    let Err(Error::Storage(StorageError::MemoryLimit(shortage))) = refused else { panic!("{refused:?}") };
    let needed = shortage.needed;
    let properties = PAGES * EDGES * TEXT as u64;
    assert!(needed >= properties && needed < properties + properties / 8, "{needed} bytes for {properties}");
    let read = counters.read_bytes.load(Relaxed) - before;
    assert!(read < properties / 16, "{read} bytes are read of a label that does not fit");
}
