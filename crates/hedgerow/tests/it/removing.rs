//! Removal of edges by a condition, in batches: with concurrent writers, and with early ends. Also reads that
//! require ranks.

use std::cell::Cell;

use hedgerow::{
    ArgumentError, Comparison, Direction, EdgeKey, EdgeLimit, EdgeSelection, Error, FindOptions, Graph,
    KindId, LabelOptions, Lent, RemoveOptions, StateError, Value,
};

/// Makes edges from 0 to 1..=6, each with its number as a property, and as its rank in a `multi` label.
fn graph(multi: bool) -> Graph {
    let graph = Graph::in_memory().unwrap();
    graph.define_label("saw", LabelOptions::new().multi(multi)).unwrap();
    let mut tx = graph.write().unwrap();
    for to in 1..=6u64 {
        let edge = EdgeKey::new("saw", 0, to).rank(if multi { to } else { 0 });
        tx.put_edge_with(edge, [("ms", to as i64)]).unwrap();
    }
    tx.commit().unwrap();
    graph
}

fn left(graph: &Graph) -> Vec<u64> {
    let found = graph.snapshot().unwrap().edge_list(0, ("saw", Direction::Out)).unwrap().unwrap_or_default();
    found.into_iter().map(|(key, ..)| key.to_string().parse().unwrap()).collect()
}

#[test]
fn an_edge_that_is_changed_meanwhile_is_looked_at_again() {
    for multi in [false, true] {
        let graph = graph(multi);
        let (polls, other) = (Cell::new(0), graph.clone());
        // The other writer commits after the batch took its snapshot, and before the batch looks for edges.
        let meanwhile = || {
            polls.set(polls.get() + 1);
            if polls.get() == 1 {
                let edge = EdgeKey::new("saw", 0, 2).rank(if multi { 2 } else { 0 });
                assert!(other.update_edge(edge, [("ms", 99)]).unwrap());
            }
            false
        };
        let few = EdgeSelection::of("saw").filter("ms", Comparison::Less, 4i64);
        let removed = graph.remove_edges_where(&few, RemoveOptions::new().until(&meanwhile)).unwrap();
        assert_eq!((removed, left(&graph)), (2, vec![2, 4, 5, 6]));
    }
}

#[test]
fn a_call_that_is_ended_keeps_the_batches_before() {
    let graph = graph(true);
    let polls = Cell::new(0);
    let until = || {
        polls.set(polls.get() + 1);
        polls.get() == 3
    };
    let ended =
        graph.remove_edges_where(&EdgeSelection::of("saw"), RemoveOptions::new().batch(2).until(&until));
    assert!(matches!(ended, Err(Error::State(StateError::Cancelled))), "{ended:?}");
    assert_eq!(left(&graph), [5, 6]);
    assert_eq!(
        graph.remove_edges_where(&EdgeSelection::of("saw"), RemoveOptions::new().batch(0)).unwrap(),
        2
    );
    let unknown = graph.remove_edges_where(&EdgeSelection::of("sew"), RemoveOptions::new());
    assert!(matches!(unknown, Err(Error::Argument(ArgumentError::NoSuchLabel { .. }))), "{unknown:?}");
}

#[test]
fn an_undirected_edge_is_removed_once() {
    let graph = hedgerow::Options::new().directed(false).in_memory().unwrap();
    graph.insert_edges([(1, 0), (0, 2), (2, 2), (2, 1)]).unwrap();
    let removed = graph.remove_edges_where(&EdgeSelection::of(""), RemoveOptions::new().batch(1)).unwrap();
    assert_eq!((removed, graph.snapshot().unwrap().edge_count().unwrap()), (4, 0));
}

#[test]
fn edges_without_ranks_have_no_newest() {
    let graph = graph(false);
    let snapshot = graph.snapshot().unwrap();
    let newest = snapshot.first_edges(0, ("saw", Direction::Out), EdgeLimit::newest(2));
    let lent = Lent::new(&snapshot).newest_edges(0, ("saw", Direction::Out), 2, |_| ());
    for refused in [newest.map(drop), lent.map(drop)] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("label \"saw\" is not multi"), "{message}");
    }
    let first = snapshot.first_edges(0, &EdgeSelection::of("saw"), EdgeLimit::first(2)).unwrap().unwrap();
    assert_eq!(
        first.found.iter().map(|edge| edge.properties[0].1.clone()).collect::<Vec<_>>(),
        [Value::I64(1), Value::I64(2)]
    );
    assert!(first.more);
}

#[test]
fn a_search_for_vertices_ends_when_it_is_told() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    for key in 0..40_000u64 {
        tx.put_vertex_with(key, [("name", "x")]).unwrap();
    }
    tx.commit().unwrap();
    let (snapshot, polls) = (graph.snapshot().unwrap(), Cell::new(0));
    let until = || {
        polls.set(polls.get() + 1);
        polls.get() == 2
    };
    let wanted = [("name", Value::from("y"))];
    let ended =
        snapshot.scan_vertices().unwrap().find(KindId::DEFAULT, &wanted, FindOptions::new().until(&until));
    assert!(matches!(ended, Err(Error::State(StateError::Cancelled))), "{ended:?}");
    assert!(
        snapshot
            .scan_vertices()
            .unwrap()
            .find(KindId::DEFAULT, &wanted, FindOptions::new())
            .unwrap()
            .found
            .is_empty()
    );
}
