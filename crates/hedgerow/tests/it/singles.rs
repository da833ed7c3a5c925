//! Single writes of edges between many vertices.

use std::collections::BTreeSet;

use hedgerow::{Direction, KeyKind, Options, VertexKey};
use hedgerow_testkit::sim_fs::SplitMix64;

/// The number of vertices: so large that one byte of a hash does not distinguish all keys of a bucket.
const VERTICES: u64 = 3_000;
const OPERATIONS: u64 = 6_000;

/// A single operation starts with the vertices that its keys probably name. For some keys this is a wrong
/// vertex.
#[test]
fn an_edge_by_itself_joins_the_vertices_that_it_names() {
    for keys in [KeyKind::Dense, KeyKind::U64, KeyKind::Str] {
        for directed in [true, false] {
            joins(keys, directed);
        }
    }
}

fn joins(keys: KeyKind, directed: bool) {
    let key = |n: u64| match keys {
        KeyKind::Dense => VertexKey::U64(n),
        KeyKind::U64 => VertexKey::U64(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        KeyKind::Str => VertexKey::from(format!("vertex {n}")),
    };
    let graph = Options::new().keys(keys).directed(directed).in_memory().expect("new");
    let mut tx = graph.write().expect("open");
    (0..VERTICES).for_each(|n| assert!(tx.insert_vertex(&key(n)).expect("new")));
    tx.commit().expect("nothing conflicts");
    let mut rng = SplitMix64::new(11);
    let mut edges = BTreeSet::new();
    for _ in 0..OPERATIONS {
        let from = rng.below(VERTICES);
        let (src, dst) = (from, (from + rng.below(3)) % VERTICES);
        let (src, dst) = if rng.eighths(4) { (src, dst) } else { (dst, src) };
        let edge = if directed { (src, dst) } else { (src.min(dst), src.max(dst)) };
        let (changed, expected) = if rng.eighths(5) {
            (graph.insert_edge((&key(src), &key(dst))), edges.insert(edge))
        } else {
            (graph.remove_edge((&key(src), &key(dst))), edges.remove(&edge))
        };
        assert_eq!(changed.expect("both are there"), expected, "{keys:?} {directed}, {src} to {dst}");
    }
    let snapshot = graph.snapshot().expect("open");
    assert_eq!((snapshot.vertex_count(), snapshot.edge_count().unwrap()), (VERTICES, edges.len() as u64));
    for n in 0..VERTICES {
        let found = snapshot.neighbors(&key(n), Direction::Out).unwrap().expect("a vertex");
        let ends = edges.iter().filter_map(|&(a, b)| match (a == n, b == n && !directed) {
            (true, _) => Some(b),
            (_, true) => Some(a),
            _ => None,
        });
        let mut expected: Vec<VertexKey> = ends.map(key).collect();
        expected.sort();
        assert_eq!(found, expected, "{keys:?} {directed}, of {n}");
    }
    assert!(graph.check().expect("open").is_ok());
}
