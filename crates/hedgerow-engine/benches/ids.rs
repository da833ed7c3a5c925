//! Benchmarks of the id map as reads and commits use it: looking up keys that exist or not, and binding new
//! ones.
//!
//! A look-up that finds a key also checks whether the vertex exists. A dense graph has no id map, so its
//! benchmark measures the cost of this check.

use divan::Bencher;
use divan::counter::ItemsCount;
use hedgerow_engine::{Graph, KeyKind, Options, VertexKey};

/// The numbers of keys of a graph. With the first one the id map fits in a cache, with the second one it does
/// not.
const KEYS: [u64; 2] = [1 << 12, 1 << 18];
/// The number of keys that one sample looks up. If the map does not fit in a cache, the data that they touch
/// does not fit either.
const LOOK_UPS: u64 = 1 << 16;
/// The number of keys of one transaction.
const NEW_KEYS: u64 = 1024;

fn main() {
    divan::main();
}

/// Returns the `n`th key of a kind. Only even keys are in the graph.
fn key(kind: KeyKind, n: u64) -> VertexKey {
    match kind {
        KeyKind::Dense => VertexKey::U64(n / 2 + n % 2 * (1 << 31)),
        KeyKind::U64 => VertexKey::U64(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        KeyKind::Str => VertexKey::from(format!("vertex {n:09}").as_str()),
    }
}

/// Returns a graph in memory with `count` vertices.
fn graph(kind: KeyKind, count: u64) -> Graph {
    let graph = Options::new().keys(kind).in_memory().expect("a graph in memory");
    let keys: Vec<VertexKey> = (0..count).map(|n| key(kind, n * 2)).collect();
    insert(&graph, &keys);
    graph
}

/// Inserts vertices with these keys in one transaction.
fn insert(graph: &Graph, keys: &[VertexKey]) {
    let mut tx = graph.write().expect("an open graph");
    for key in keys {
        assert!(tx.insert_vertex(key).expect("a key of the kind of the graph"), "the key is new");
    }
    tx.commit().expect("nothing else is committed");
}

/// Looks up keys that are spread over the keys of the graph (`odd` is 0), or between them (1).
fn look_up(bencher: Bencher<'_, '_>, kind: KeyKind, count: u64, odd: u64) {
    let graph = graph(kind, count);
    let snapshot = graph.snapshot().expect("an open graph");
    snapshot.default_label().set_views_by_reads(false);
    let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count * 2 + odd;
    let keys: Vec<VertexKey> = (0..LOOK_UPS).map(|n| key(kind, spread(n))).collect();
    let found = |key: &&VertexKey| snapshot.contains_vertex(*key).expect("all is in memory");
    assert_eq!(keys.iter().filter(found).count() as u64, LOOK_UPS * (1 - odd));
    bencher.counter(ItemsCount::new(LOOK_UPS)).bench_local(|| keys.iter().filter(found).count());
}

#[divan::bench(args = KEYS)]
fn look_up_hit_u64(bencher: Bencher<'_, '_>, keys: u64) {
    look_up(bencher, KeyKind::U64, keys, 0);
}

#[divan::bench(args = KEYS)]
fn look_up_hit_string(bencher: Bencher<'_, '_>, keys: u64) {
    look_up(bencher, KeyKind::Str, keys, 0);
}

#[divan::bench(args = KEYS)]
fn look_up_hit_dense(bencher: Bencher<'_, '_>, keys: u64) {
    look_up(bencher, KeyKind::Dense, keys, 0);
}

#[divan::bench(args = KEYS)]
fn look_up_miss_u64(bencher: Bencher<'_, '_>, keys: u64) {
    look_up(bencher, KeyKind::U64, keys, 1);
}

#[divan::bench(args = KEYS)]
fn look_up_miss_string(bencher: Bencher<'_, '_>, keys: u64) {
    look_up(bencher, KeyKind::Str, keys, 1);
}

/// Measures a transaction that inserts vertices with new keys into a graph with `KEYS[1]` keys.
fn bind(bencher: Bencher<'_, '_>, kind: KeyKind) {
    let graph = graph(kind, KEYS[1]);
    let mut next = KEYS[1];
    let new_keys = || {
        let keys: Vec<VertexKey> = (next..next + NEW_KEYS).map(|n| key(kind, n * 2)).collect();
        next += NEW_KEYS;
        keys
    };
    bencher
        .counter(ItemsCount::new(NEW_KEYS))
        .with_inputs(new_keys)
        .bench_local_refs(|keys| insert(&graph, keys));
}

#[divan::bench]
fn insert_u64(bencher: Bencher<'_, '_>) {
    bind(bencher, KeyKind::U64);
}

#[divan::bench]
fn insert_string(bencher: Bencher<'_, '_>) {
    bind(bencher, KeyKind::Str);
}

#[divan::bench]
fn insert_dense(bencher: Bencher<'_, '_>) {
    bind(bencher, KeyKind::Dense);
}
