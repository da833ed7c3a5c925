//! Reads over the edges of all labels, and the label that a kernel reads if it is the only one. `own_writes`
//! and `equivalence` test that these reads, own writes included, agree with a model.

use hedgerow::{
    ArgumentError, CommitError, Comparison, Direction, EdgeDirection, EdgeKey, EdgePattern, EdgeSelection,
    Error, Graph, LabelId, LabelOptions, PropertyType, VertexKey,
};

type Cells = [(&'static str, i64); 0];

fn put(graph: &Graph, label: &str, src: u64, dst: u64, rank: u64) {
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new(label, src, dst).rank(rank), Cells::default()).unwrap();
    tx.commit().unwrap();
}

fn any(src: u64, dst: u64) -> EdgePattern<'static> {
    EdgePattern::between(src, dst)
}

#[test]
fn an_edge_of_any_label_and_rank_is_found() {
    for directed in [true, false] {
        let graph = crate::common::small().directed(directed).in_memory().unwrap();
        graph.define_label("calls", LabelOptions::new().multi(true)).unwrap();
        put(&graph, "calls", 1, 2, 7);
        put(&graph, "calls", 1, 2, 9);
        put(&graph, "knows", 1, 2, 0);
        put(&graph, "", 1, 3, 0);
        for settled in [false, true] {
            if settled {
                graph.settle().unwrap();
            }
            let s = graph.snapshot().unwrap();
            let mut tx = graph.write().unwrap();
            for (edges, expected) in [
                (any(1, 2), true),
                (any(2, 1), !directed),
                (any(1, 4), false),
                (any(2, 3), false),
                (any(1, 2).label("calls"), true),
                (any(1, 2).label("calls").rank(0), false),
                (any(1, 2).label("calls").rank(9), true),
                (any(1, 2).label(""), false),
                (any(1, 3).label(""), true),
                (any(1, 2).rank(0), true),
                (any(1, 2).rank(8), false),
            ] {
                assert_eq!(s.contains_edge(edges).unwrap(), expected, "{edges:?}");
                assert_eq!(tx.contains_edge(edges).unwrap(), expected, "{edges:?} in a transaction");
            }
            let two = VertexKey::from(2);
            let expected = [
                (two.clone(), LabelId(1), 7),
                (two.clone(), LabelId(1), 9),
                (two, LabelId(2), 0),
                (3.into(), LabelId(0), 0),
            ];
            assert_eq!(s.edge_list(1, Direction::Out).unwrap().unwrap(), expected);
            assert_eq!(tx.edge_list(1, Direction::Out).unwrap().unwrap(), expected);
            assert_eq!(s.degree(1, Direction::Out).unwrap(), Some(4));
            assert_eq!(tx.degree(2, Direction::In).unwrap(), Some(3));
            assert_eq!((s.degree(9, Direction::Out).unwrap(), s.edge_count().unwrap()), (None, 4));
            // Own writes: the transaction removes one rank, then all ranks.
            assert!(tx.remove_edge_of(EdgeKey::new("calls", 1, 2).rank(7)).unwrap());
            assert!(tx.contains_edge(any(1, 2).label("calls")).unwrap());
            assert!(tx.remove_edge_of(EdgeKey::new("calls", 1, 2).rank(9)).unwrap());
            assert!(!tx.contains_edge(any(1, 2).label("calls")).unwrap());
            assert!(tx.contains_edge(any(1, 2)).unwrap());
            assert!(tx.remove_vertex(2).unwrap());
            assert!(!tx.contains_edge(any(1, 2)).unwrap());
            tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(1), Cells::default()).unwrap();
            assert!(tx.contains_edge(any(1, 2)).unwrap());
            assert_eq!(tx.degree(1, Direction::Out).unwrap(), Some(2));
            tx.rollback();
        }
    }
}

#[test]
fn the_only_label_is_that_of_all_edges() {
    let graph = Graph::in_memory().unwrap();
    let only = || EdgeSelection::all().only_label(&graph.snapshot().unwrap());
    graph.define_label("unused", LabelOptions::new()).unwrap();
    assert_eq!(only().unwrap(), LabelId::DEFAULT);
    put(&graph, "knows", 1, 2, 0);
    assert_eq!(only().unwrap(), LabelId(2));
    let before = graph.snapshot().unwrap();
    put(&graph, "", 1, 2, 0);
    put(&graph, "likes", 500, 2, 0);
    assert_eq!(EdgeSelection::all().only_label(&before).unwrap(), LabelId(2));
    let Err(Error::Argument(ArgumentError::SeveralLabels { labels })) = only() else {
        panic!("several labels")
    };
    assert_eq!(labels, ["", "knows", "likes"]);
    let message = only().unwrap_err().to_string();
    assert_eq!(message, r#"the edges have 3 labels, "", "knows", "likes": name one of them"#);
    let mut tx = graph.write().unwrap();
    assert!(tx.remove_edge(1, 2).unwrap() && tx.remove_vertex(500).unwrap());
    tx.commit().unwrap();
    assert_eq!(only().unwrap(), LabelId(2));
    assert_eq!(EdgeSelection::all().labels_with_edges(&graph.snapshot().unwrap()).unwrap(), [LabelId(2)]);
    let message = graph.snapshot().unwrap().degree(1, ("like", Direction::Out)).unwrap_err().to_string();
    assert_eq!(message, r#"no label like: the labels are "", "unused", "knows", "likes""#);
}

/// A read of all labels conflicts with a later edge at the same place, even if the label of that edge was not
/// defined at the time of the read.
#[test]
fn a_read_of_all_labels_conflicts_with_an_edge_of_a_label_defined_later() {
    type Read = fn(&mut hedgerow::WriteTxn);
    let reads: [(Read, u64); 3] = [
        (|tx| assert_eq!(tx.degree(1, Direction::Out).unwrap(), Some(1)), 3),
        (|tx| assert_eq!(tx.degree(2, Direction::In).unwrap(), Some(1)), 2),
        (|tx| assert!(!tx.contains_edge(any(1, 9)).unwrap()), 9),
    ];
    for reverse in [true, false] {
        for (at, (read, dst)) in reads.into_iter().enumerate() {
            // The source of the edge that another transaction commits: at the place of the read, elsewhere,
            // or no edge.
            for (src, conflicts) in [(Some(1), true), (Some(70), false), (None, false)] {
                let graph = crate::common::small().reverse(reverse).in_memory().unwrap();
                put(&graph, "", 1, 2, 0);
                put(&graph, "", 8, 9, 0);
                let mut tx = graph.write().unwrap();
                read(&mut tx);
                // A definition never conflicts, in the transaction itself or in another one.
                tx.put_edge_with(EdgeKey::new("own", 200, 201), [("of", 1)]).unwrap();
                match src {
                    Some(src) => put(&graph, "later", src, if conflicts { dst } else { 71 }, 0),
                    None => _ = graph.define_label("later", LabelOptions::new()).unwrap(),
                }
                // A search for incoming edges without reverse lists reads the whole graph.
                let whole = !reverse && at == 1 && src.is_some();
                match tx.commit() {
                    Err(Error::Commit(CommitError::Conflict { .. })) if conflicts || whole => {}
                    Ok(_) if !conflicts && !whole => {}
                    other => panic!("read {at}, edge from {src:?}, reverse {reverse}: {other:?}"),
                }
            }
        }
    }
}

/// A read of chosen edges in a transaction depends on every edge that could be chosen: one that appears, that
/// goes, or whose property begins or ceases to meet the condition. Edges of other labels do not matter.
#[test]
fn a_read_of_chosen_edges_conflicts_with_a_change_of_what_it_chose() {
    let large = || EdgeSelection::of("pays").filter("amount", Comparison::Greater, 100);
    let both = || EdgeSelection::of_labels(["pays", "owes"]).direction(EdgeDirection::Both);
    let put = |label: &'static str, src: u64, dst: u64, amount: i64| {
        move |graph: &Graph| {
            graph.put_edge_with(EdgeKey::new(label, src, dst), [("amount", amount)]).unwrap();
        }
    };
    type Change = Box<dyn Fn(&Graph)>;
    let cases: [(EdgeSelection<'static>, usize, Change, bool); 9] = [
        (large(), 1, Box::new(put("pays", 1, 3, 500)), true), // begins to meet the condition
        (large(), 1, Box::new(put("pays", 1, 2, 50)), true),  // ceases to meet it
        (large(), 1, Box::new(put("pays", 1, 4, 500)), true), // appears
        (large(), 1, Box::new(put("owes", 1, 3, 500)), false), // another label
        (large(), 1, Box::new(put("pays", 70, 71, 500)), false), // elsewhere
        (both(), 3, Box::new(put("owes", 9, 1, 1)), true),    // an incoming edge
        (both(), 3, Box::new(put("owes", 1, 9, 1)), true),
        (both(), 3, Box::new(put("other", 1, 9, 1)), false),
        (EdgeSelection::all().direction(EdgeDirection::Both), 3, Box::new(put("later", 9, 1, 1)), true),
    ];
    for (at, (selection, degree, change, conflicts)) in cases.into_iter().enumerate() {
        let graph = Graph::in_memory().unwrap();
        for label in ["pays", "owes", "other"] {
            graph.define_label(label, LabelOptions::new()).unwrap();
            graph.define_edge_property(label, "amount", PropertyType::I64).unwrap();
        }
        put("pays", 1, 2, 200)(&graph);
        put("pays", 1, 3, 20)(&graph);
        put("owes", 5, 1, 7)(&graph);
        let mut tx = graph.write().unwrap();
        assert_eq!(tx.degree(1, &selection).unwrap(), Some(degree), "case {at}");
        tx.put_edge(800, 801).unwrap();
        change(&graph);
        match tx.commit() {
            Err(Error::Commit(CommitError::Conflict { .. })) if conflicts => {}
            Ok(_) if !conflicts => {}
            other => panic!("case {at}: {other:?}"),
        }
    }
}
