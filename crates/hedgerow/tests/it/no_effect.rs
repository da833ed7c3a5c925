//! An operation without effect takes no memory, however far apart its ids are.

use hedgerow::{CommitError, EdgeKey, Error, Graph, Isolation, KeyKind};
use hedgerow_testkit::sim_fs::SplitMix64;

/// The number of operations of each kind.
const EACH: usize = 400;

/// Returns the bytes of all data by vertex id or by key.
fn kept(graph: &Graph) -> (u64, u64) {
    let stats = graph.stats().unwrap();
    (stats.table_bytes, stats.id_map_bytes)
}

fn far(rng: &mut SplitMix64) -> u64 {
    10_000 + rng.below(4_000_000_000)
}

fn pairs(rng: &mut SplitMix64) -> Vec<(u64, u64)> {
    (0..5).map(|_| (far(rng), far(rng))).collect()
}

fn store(keys: KeyKind, isolation: Isolation, directed: bool, reverse: bool) -> Graph {
    let options = crate::common::small().keys(keys).isolation(isolation).directed(directed).reverse(reverse);
    let graph = options.background_settling(false).in_memory().unwrap();
    graph.insert_edge((0, 1)).unwrap();
    graph.transact(0, |tx| tx.put_edge_with(EdgeKey::new("knows", 0, 1), [("since", 1i64)])).unwrap();
    graph.transact(0, |tx| tx.update_vertex(0, [("age", 1i64)])).unwrap();
    // A label without an edge.
    graph.define_label("likes", hedgerow::LabelOptions::new().multi(true)).unwrap();
    graph
}

fn stores() -> Vec<Graph> {
    let mut all = Vec::new();
    for keys in [KeyKind::Dense, KeyKind::U64] {
        for isolation in [Isolation::Serializable, Isolation::Snapshot] {
            for (directed, reverse) in [(true, true), (true, false), (false, true)] {
                all.push(store(keys, isolation, directed, reverse));
            }
        }
    }
    all
}

fn single(graph: &Graph, rng: &mut SplitMix64) {
    assert!(!graph.remove_edge((far(rng), far(rng))).unwrap());
    assert!(!graph.remove_edge((0, far(rng))).unwrap());
    for label in ["", "knows", "likes"] {
        assert!(!graph.remove_edge(EdgeKey::new(label, far(rng), 1)).unwrap());
        assert!(!graph.update_edge(EdgeKey::new("knows", far(rng), far(rng)), [("since", 2i64)]).unwrap());
    }
}

fn pipeline(graph: &Graph, rng: &mut SplitMix64) {
    let mut pipeline = graph.pipeline(|ack| assert_eq!(ack.result.unwrap().edges, 0)).unwrap();
    for (src, dst) in pairs(rng) {
        pipeline.remove_edge(src, dst).unwrap();
        pipeline.remove_edge(1, dst).unwrap();
    }
    pipeline.flush().unwrap();
}

fn transaction(graph: &Graph, rng: &mut SplitMix64) {
    let mut tx = graph.write().unwrap();
    tx.remove_edges(pairs(rng)).unwrap();
    tx.commit().unwrap();
    // Together with an operation that has an effect.
    let mut tx = graph.write().unwrap();
    tx.remove_edges(pairs(rng)).unwrap();
    tx.put_edges([(1u64, 0u64)]).unwrap();
    tx.commit().unwrap();
    let mut tx = graph.write().unwrap();
    assert!(!tx.remove_vertex(far(rng)).unwrap());
    assert!(!tx.update_vertex(far(rng), [("age", 1i64)]).unwrap());
    assert!(!tx.remove_edge(EdgeKey::new("likes", far(rng), 1).rank(3)).unwrap());
    tx.remove_edges(pairs(rng)).unwrap();
    assert!(tx.remove_edge((1, 0)).unwrap());
    tx.commit().unwrap();
    // The transaction removes the vertex again before the commit.
    let mut tx = graph.write().unwrap();
    let v = far(rng);
    tx.put_edge_with(EdgeKey::new("likes", v, v), [("often", 1i64)]).unwrap();
    assert!(tx.remove_vertex(v).unwrap());
    tx.commit().unwrap();
}

/// Makes transactions that fail or are rolled back.
fn failing(graph: &Graph, rng: &mut SplitMix64) {
    let (a, b) = (far(rng), far(rng));
    let without = |fill: &dyn Fn(&mut hedgerow::WriteTxn)| {
        let mut tx = graph.write().unwrap();
        tx.create_endpoints(false).unwrap();
        fill(&mut tx);
        assert!(matches!(tx.commit(), Err(Error::Commit(CommitError::NoSuchVertex { .. }))));
    };
    without(&|tx| tx.put_edge((a, b)).unwrap());
    without(&|tx| tx.insert_edges([(0, b), (a, 1)]).unwrap());
    without(&|tx| tx.put_edge_with(EdgeKey::new("likes", 0, b), [("often", 1i64)]).unwrap());
    let mut tx = graph.write().unwrap();
    tx.put_edges([(a, b)]).unwrap();
    drop(tx);
    let mut refused = graph.write().unwrap();
    let exists = refused.contains_edge((1, 1)).unwrap();
    refused.put_edges([(a, b)]).unwrap();
    refused.put_edge_with(EdgeKey::new("knows", a, b), [("since", 1i64)]).unwrap();
    refused.put_edge((1, 1)).unwrap();
    if exists {
        graph.remove_edge((1, 1)).unwrap();
    } else {
        graph.put_edge((1, 1)).unwrap();
    }
    assert!(matches!(refused.commit(), Err(Error::Commit(CommitError::Conflict { .. }))));
}

type Kind = (&'static str, fn(&Graph, &mut SplitMix64));

const KINDS: [Kind; 4] =
    [("single", single), ("pipeline", pipeline), ("transaction", transaction), ("failing", failing)];

#[test]
fn operations_without_effect_take_no_memory() {
    for (n, graph) in stores().iter().enumerate() {
        let mut rng = SplitMix64::new(n as u64);
        for (what, act) in KINDS {
            act(graph, &mut rng);
            graph.settle().unwrap();
            let before = kept(graph);
            (0..EACH).for_each(|_| act(graph, &mut rng));
            graph.settle().unwrap();
            assert_eq!(kept(graph), before, "store {n}, {what}");
        }
        assert!(graph.check().unwrap().is_ok());
    }
}

/// Operations with an effect make the pages that they need, also together with removals of missing edges.
#[test]
fn operations_with_effect_reach_far_ids() {
    for graph in stores() {
        let mut tx = graph.write().unwrap();
        tx.remove_edges([(7_000_000u64, 8_000_000u64), (9_000_000, 1)]).unwrap();
        tx.put_edges([(7_000_000, 9_000_000), (9_000_000, 8_000_000)]).unwrap();
        tx.put_edge_with(EdgeKey::new("likes", 7_000_000, 8_000_000), [("often", 1i64)]).unwrap();
        tx.remove_edges([(9_000_000, 8_000_000)]).unwrap();
        tx.commit().unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert!(
            snapshot.contains_edge((7_000_000, 9_000_000)).unwrap()
                && !snapshot.contains_edge((9_000_000, 8_000_000)).unwrap()
        );
        assert!(snapshot.contains_edge(EdgeKey::new("likes", 7_000_000, 8_000_000)).unwrap());
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count().unwrap()), (5, 4));
        graph.transact(0, |tx| tx.remove_vertex(8_000_000)).unwrap();
        assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 3);
        assert!(graph.check().unwrap().is_ok());
    }
}
