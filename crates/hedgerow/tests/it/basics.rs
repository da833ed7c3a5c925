//! The data model and transactions, on small graphs.

use crate::common::weights::Weights;
use hedgerow::{ArgumentError, Direction, Error, Graph, KeyKind, OpenError, Options, StateError, VertexKey};

fn numbers(keys: Option<Vec<VertexKey>>) -> Vec<u64> {
    let number = |k: VertexKey| match k {
        VertexKey::U64(n) => n,
        key => panic!("{key}"),
    };
    keys.unwrap_or_default().into_iter().map(number).collect()
}

#[test]
fn directed_edges_have_two_sides() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge((7, 3)).unwrap();
    tx.put_edge((7, 1)).unwrap();
    tx.put_edge((2, 7)).unwrap();
    tx.put_edge((7, 7)).unwrap();
    let ts = tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!(s.timestamp(), ts);
    assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (4, 4));
    assert_eq!(numbers(s.neighbors(7, Direction::Out).unwrap()), [1, 3, 7]);
    assert_eq!(numbers(s.neighbors(7, Direction::In).unwrap()), [2, 7]);
    assert_eq!(s.degree(3, Direction::In).unwrap(), Some(1));
    assert_eq!(s.degree(99, Direction::In).unwrap(), None);
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn undirected_edges_are_the_same_from_both_ends() {
    let graph = Options::new().directed(false).weighted(true).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge((5, 1, 0.5)).unwrap();
    tx.put_edge((5, 5, 2.0)).unwrap();
    assert!(!tx.insert_edge((1, 5)).unwrap());
    tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (2, 2));
    assert_eq!(s.default_label().weight_between(1, 5).unwrap(), Some(0.5));
    assert_eq!(s.degree(5, Direction::Out).unwrap(), Some(2));
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn removing_a_vertex_takes_its_edges_and_an_old_snapshot_keeps_them() {
    let graph = Graph::in_memory().unwrap();
    for (a, b) in [(1, 2), (2, 3), (3, 1), (2, 2), (500, 2)] {
        graph.insert_edge((a, b)).unwrap();
    }
    let before = graph.snapshot().unwrap();
    let mut tx = graph.write().unwrap();
    assert!(tx.remove_vertex(2).unwrap());
    assert!(!tx.contains_edge((1, 2)).unwrap());
    assert!(!tx.remove_vertex(77).unwrap());
    tx.commit().unwrap();
    let after = graph.snapshot().unwrap();
    assert_eq!((after.vertex_count(), after.edge_count().unwrap()), (3, 1));
    assert!(!after.contains_vertex(2).unwrap());
    assert_eq!((before.vertex_count(), before.edge_count().unwrap()), (4, 5));
    assert_eq!(numbers(before.neighbors(2, Direction::In).unwrap()), [1, 2, 500]);
    assert!(graph.check().unwrap().is_ok());
    let mut tx = graph.write().unwrap();
    tx.put_edge((2, 9)).unwrap();
    tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!(numbers(s.neighbors(2, Direction::Out).unwrap()), [9]);
    assert_eq!(numbers(before.neighbors(2, Direction::Out).unwrap()), [2, 3]);
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn a_key_can_change_its_vertex_within_one_transaction() {
    for keys in [KeyKind::U64, KeyKind::Dense] {
        let graph = Options::new().keys(keys).in_memory().unwrap();
        graph.insert_edge((1, 2)).unwrap();
        graph.insert_edge((3, 1)).unwrap();
        let mut tx = graph.write().unwrap();
        tx.put_edge((1, 4)).unwrap();
        tx.remove_vertex(1).unwrap();
        tx.put_edge((1, 5)).unwrap();
        assert_eq!(numbers(tx.neighbors(1, Direction::Out).unwrap()), [5]);
        assert_eq!(numbers(tx.neighbors(1, Direction::In).unwrap()), [0u64; 0]);
        tx.commit().unwrap();
        let s = graph.snapshot().unwrap();
        assert_eq!(numbers(s.neighbors(1, Direction::Out).unwrap()), [5], "{keys:?}");
        assert_eq!(s.edge_count().unwrap(), 1);
        assert_eq!(s.vertex_count(), 5);
        assert!(graph.check().unwrap().is_ok());
    }
}

#[test]
fn string_keys() {
    let graph = Options::new().keys(KeyKind::Str).in_memory().unwrap();
    graph.insert_edge(("alice", "bob")).unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!(s.neighbors("alice", Direction::Out).unwrap(), Some(vec![VertexKey::from("bob")]));
    assert!(matches!(graph.insert_edge((1, 2)), Err(Error::Argument(ArgumentError::Invalid(_)))));
}

#[test]
fn a_read_that_changed_is_a_conflict_and_a_blind_write_is_not() {
    let graph = Options::new().weighted(true).in_memory().unwrap();
    let mut a = graph.write().unwrap();
    assert!(a.weight(1, 2).unwrap().is_none());
    a.put_edge((1, 2, 1.0)).unwrap();
    let mut b = graph.write().unwrap();
    b.put_edge((1, 2, 5.0)).unwrap();
    b.commit().unwrap();
    assert!(a.commit().unwrap_err().is_conflict());
    assert_eq!(graph.snapshot().unwrap().default_label().weight_between(1, 2).unwrap(), Some(5.0));
    let (_, ts) = graph
        .transact(3, |tx| {
            let w = tx.weight(1, 2)?.unwrap_or(0.0);
            tx.put_edge((1, 2, w + 1.0))
        })
        .unwrap();
    assert_eq!(graph.snapshot().unwrap().default_label().weight_between(1, 2).unwrap(), Some(6.0));
    assert_eq!(graph.published_ts(), ts);
}

#[test]
fn a_durable_store_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let open = || Options::new().weighted(true).open(&path);
    let graph = open().unwrap();
    assert!(matches!(open(), Err(Error::Open(OpenError::Locked { .. }))));
    for i in 0..100u64 {
        let mut tx = graph.write().unwrap();
        tx.put_edge((i, i * 7 % 100, i as f64)).unwrap();
        tx.commit().unwrap();
    }
    graph.checkpoint().unwrap();
    let mut tx = graph.write().unwrap();
    tx.remove_vertex(3).unwrap();
    tx.put_edge((1000, 1, 0.25)).unwrap();
    let ts = tx.commit().unwrap();
    let expected = graph.snapshot().unwrap();
    graph.close().unwrap();
    assert!(matches!(graph.snapshot(), Err(Error::State(StateError::Closed))));
    for _ in 0..2 {
        let graph = open().unwrap();
        assert_eq!(graph.published_ts(), ts);
        let s = graph.snapshot().unwrap();
        assert_eq!(
            (s.vertex_count(), s.edge_count().unwrap()),
            (expected.vertex_count(), expected.edge_count().unwrap())
        );
        for key in 0..1001u64 {
            let lists = |s: &hedgerow::Snapshot| {
                (
                    s.default_label().weighted_neighbors(key, Direction::Out).unwrap(),
                    s.default_label().weighted_neighbors(key, Direction::In).unwrap(),
                )
            };
            assert_eq!(lists(&s), lists(&expected), "vertex {key}");
        }
        let report = graph.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }
}

/// A program may import all names: the names of the standard library keep their meaning.
#[test]
fn all_names_can_be_imported_beside_those_of_the_standard_library() {
    mod program {
        use hedgerow::*;

        pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
            let graph = Graph::in_memory()?;
            let inserted: Result<bool> = graph.insert_edge((1, 2));
            let parsed: Result<u32, std::num::ParseIntError> = "7".parse();
            assert!(inserted? && parsed? == 7);
            Ok(())
        }
    }
    program::main().unwrap();
}
