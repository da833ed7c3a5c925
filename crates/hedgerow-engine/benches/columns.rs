//! Benchmarks of reads in columns: compressed rows against a copy of the same arrays, lists of neighbors
//! against a loop over the keys, and all keys against a look-up of each key.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use hedgerow_engine::{
    CsrOptions, Direction, Graph, KeyKind, MissingVertex, Options, RowOrder, Snapshot, VertexKey,
};

const VERTICES: u64 = 1 << 19;
const EDGES: u64 = VERTICES * 16;
/// The number of vertices in one call. The call reads their neighbors.
const KEYS: u64 = 1 << 17;

fn main() {
    divan::main();
}

fn key(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the key of a random vertex, by the steps of SplitMix64.
fn random(n: u64) -> u64 {
    let n = key(n);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    key((n ^ n >> 31) % VERTICES)
}

/// Returns a settled graph with keys.
fn graph(weighted: bool) -> Graph {
    let graph = Options::new().weighted(weighted).keys(KeyKind::U64).in_memory().expect("a graph in memory");
    for from in (0..EDGES).step_by(1 << 20) {
        let edges = (from..from + (1 << 20)).map(|n| (random(n * 2), random(n * 2 + 1)));
        let mut tx = graph.write().expect("an open graph");
        match weighted {
            true => tx.put_edges(edges.map(|(src, dst)| (src, dst, 0.5))).expect("valid edges"),
            false => tx.put_edges(edges).expect("valid edges"),
        }
        tx.commit().expect("nothing else is committed");
    }
    graph.settle().expect("an open graph");
    graph
}

fn csr(bencher: Bencher<'_, '_>, weighted: bool, order: RowOrder) {
    let graph = graph(weighted);
    let snapshot = graph.snapshot().expect("an open graph");
    let copy = || snapshot.csr("", CsrOptions::new().order(order)).expect("all is in memory");
    let first = copy();
    let edge = if weighted { 12 } else { 4 };
    let bytes = first.targets.len() * edge + first.vertices.len() * 20;
    drop(first);
    bencher.counter(BytesCount::new(bytes)).bench_local(copy);
}

#[divan::bench(args = [false, true], sample_count = 20)]
fn csr_by_id(bencher: Bencher<'_, '_>, weighted: bool) {
    csr(bencher, weighted, RowOrder::Id);
}

#[divan::bench(args = [false, true], sample_count = 10)]
fn csr_by_key(bencher: Bencher<'_, '_>, weighted: bool) {
    csr(bencher, weighted, RowOrder::Key);
}

/// Copies the arrays of compressed rows into new memory with one thread.
#[divan::bench(args = [false, true], sample_count = 20)]
fn csr_memory_copy(bencher: Bencher<'_, '_>, weighted: bool) {
    let csr = graph(weighted).snapshot().and_then(|s| s.csr("", CsrOptions::new())).expect("an open graph");
    let edge = if weighted { 12 } else { 4 };
    let bytes = csr.targets.len() * edge + csr.vertices.len() * 20;
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        (
            csr.vertices.clone(),
            csr.keys.clone(),
            csr.offsets.clone(),
            csr.targets.clone(),
            csr.weights.clone(),
        )
    });
}

/// Returns the keys of the vertices that a benchmark reads, spread over all vertices.
fn keys(snapshot: &Snapshot) -> Vec<u64> {
    let keys = (0..KEYS).map(random);
    keys.filter(|&key| snapshot.contains_vertex(key).expect("all is in memory")).collect()
}

fn lists(bencher: Bencher<'_, '_>, read: impl Fn(&Snapshot, &[u64]) -> usize) {
    let graph = graph(false);
    let snapshot = graph.snapshot().expect("an open graph");
    let keys = keys(&snapshot);
    bencher.counter(ItemsCount::new(keys.len())).bench_local(|| read(&snapshot, &keys));
}

#[divan::bench(sample_count = 20)]
fn neighbors_in_one_call(bencher: Bencher<'_, '_>) {
    lists(bencher, |snapshot, keys| {
        let lists = snapshot.neighbor_lists(keys, ("", Direction::Out), MissingVertex::Refuse);
        lists.expect("the keys are there").neighbors.len()
    });
}

/// Reads as a program does that needs keys: one list for each vertex.
#[divan::bench(sample_count = 20)]
fn neighbors_in_a_loop(bencher: Bencher<'_, '_>) {
    lists(bencher, |snapshot, keys| {
        snapshot.default_label().set_views_by_reads(false);
        let mut all: Vec<VertexKey> = Vec::new();
        for &key in keys {
            let list = snapshot.neighbors(key, Direction::Out).expect("all is in memory");
            all.extend(list.expect("the key is there"));
        }
        all.len()
    });
}

/// Reads as a program does that needs only vertex ids, in the order of the store.
#[divan::bench(sample_count = 20)]
fn neighbor_ids_in_a_loop(bencher: Bencher<'_, '_>) {
    lists(bencher, |snapshot, keys| {
        snapshot.default_label().set_views_by_reads(false);
        let mut all = Vec::new();
        for &key in keys {
            let id = snapshot.vertex_id(key).expect("all is in memory").expect("the key is there");
            snapshot
                .default_label()
                .for_each_neighbor(id, Direction::Out, |v, _| all.push(v))
                .expect("all is in memory");
        }
        all.len()
    });
}

/// Reads vertex ids in slices, as the store has them.
#[divan::bench(sample_count = 20)]
fn neighbor_slices_in_a_loop(bencher: Bencher<'_, '_>) {
    lists(bencher, |snapshot, keys| {
        snapshot.default_label().set_views_by_reads(false);
        let mut all = Vec::new();
        for &key in keys {
            let id = snapshot.vertex_id(key).expect("all is in memory").expect("the key is there");
            let read = snapshot
                .default_label()
                .visit_neighbors(id, Direction::Out, |run, _| all.extend_from_slice(run));
            read.expect("all is in memory");
        }
        all.len()
    });
}

fn all_keys(bencher: Bencher<'_, '_>, read: impl Fn(&Snapshot) -> usize) {
    let graph = graph(false);
    let snapshot = graph.snapshot().expect("an open graph");
    bencher.counter(ItemsCount::new(snapshot.vertex_count())).bench_local(|| read(&snapshot));
}

#[divan::bench(sample_count = 20)]
fn keys_in_one_call(bencher: Bencher<'_, '_>) {
    all_keys(bencher, |snapshot| {
        snapshot.scan_vertices().expect("a scan").keys().expect("all is in memory").1.len()
    });
}

#[divan::bench(sample_count = 20)]
fn keys_in_a_loop(bencher: Bencher<'_, '_>) {
    all_keys(bencher, |snapshot| {
        let all: Result<Vec<_>, _> = snapshot.vertices().expect("all is in memory").collect();
        all.expect("all is in memory").len()
    });
}
