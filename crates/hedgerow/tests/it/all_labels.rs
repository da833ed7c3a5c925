//! Reads over the edges of all labels, and the label that a kernel reads if it is the only one. `own_writes`
//! and `equivalence` test that these reads, own writes included, agree with a model.

use hedgerow::{
    ArgumentError, CommitError, Comparison, Condition, Direction, EdgeDirection, EdgeKey, EdgeLimit,
    EdgePattern, EdgeSelection, Error, Graph, KeyKind, LabelId, LabelOptions, MissingVertex, PropertyType,
    VertexKey,
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
            assert!(tx.remove_edge(EdgeKey::new("calls", 1, 2).rank(7)).unwrap());
            assert!(tx.contains_edge(any(1, 2).label("calls")).unwrap());
            assert!(tx.remove_edge(EdgeKey::new("calls", 1, 2).rank(9)).unwrap());
            assert!(!tx.contains_edge(any(1, 2).label("calls")).unwrap());
            assert!(tx.contains_edge(any(1, 2)).unwrap());
            assert!(tx.remove_vertex(2).unwrap());
            assert!(!tx.contains_edge(any(1, 2)).unwrap());
            tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(1), Cells::default()).unwrap();
            assert!(tx.contains_edge(any(1, 2)).unwrap());
            assert_eq!(tx.degree(1, Direction::Out).unwrap(), Some(2));
            drop(tx);
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
    assert!(tx.remove_edge((1, 2)).unwrap() && tx.remove_vertex(500).unwrap());
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
    let update = |graph: &Graph| {
        let edge = EdgeKey::new("plain", 6, 1);
        assert!(graph.update_edge(edge, [("amount", 500)]).unwrap());
    };
    let null = || EdgeSelection::of_labels(["pays", "plain"]).filter_by("amount", Condition::Null);
    let any_large = || EdgeSelection::all().filter("amount", Comparison::Greater, 100);
    let cases: [(EdgeSelection<'static>, usize, Change, bool); 12] = [
        // A label that lacks the property gets it.
        (any_large(), 1, Box::new(put("plain", 1, 9, 500)), true),
        (null().direction(EdgeDirection::In), 1, Box::new(update), true),
        (null().direction(EdgeDirection::In), 1, Box::new(put("owes", 1, 9, 5)), false),
        (large(), 1, Box::new(put("pays", 1, 3, 500)), true), // begins to meet the condition
        (large(), 1, Box::new(put("pays", 1, 2, 50)), true),  // ceases to meet it
        (large(), 1, Box::new(put("pays", 1, 4, 500)), true), // appears
        (large(), 1, Box::new(put("owes", 1, 3, 500)), false), // another label
        (large(), 1, Box::new(put("pays", 70, 71, 500)), false), // elsewhere
        (both(), 3, Box::new(put("owes", 9, 1, 1)), true),    // an incoming edge
        (both(), 3, Box::new(put("owes", 1, 9, 1)), true),
        (both(), 3, Box::new(put("other", 1, 9, 1)), false),
        (EdgeSelection::all().direction(EdgeDirection::Both), 4, Box::new(put("later", 9, 1, 1)), true),
    ];
    for (at, (selection, degree, change, conflicts)) in cases.into_iter().enumerate() {
        let graph = Graph::in_memory().unwrap();
        for label in ["pays", "owes", "other"] {
            graph.define_label(label, LabelOptions::new()).unwrap();
            graph.define_edge_property(label, "amount", PropertyType::I64).unwrap();
        }
        graph.define_label("plain", LabelOptions::new()).unwrap();
        put("pays", 1, 2, 200)(&graph);
        put("pays", 1, 3, 20)(&graph);
        put("owes", 5, 1, 7)(&graph);
        graph.put_edge_with(EdgeKey::new("plain", 6, 1), none()).unwrap();
        let mut tx = graph.write().unwrap();
        assert_eq!(tx.degree(1, &selection).unwrap(), Some(degree), "case {at}");
        tx.put_edge((800, 801)).unwrap();
        change(&graph);
        match tx.commit() {
            Err(Error::Commit(CommitError::Conflict { .. })) if conflicts => {}
            Ok(_) if !conflicts => {}
            other => panic!("case {at}: {other:?}"),
        }
    }
}

/// A transaction that goes on after its condition was refused, because no label has the property, depends on
/// that. In a graph without incoming lists a read of incoming edges depends on the whole graph, also if it
/// reads no list.
#[test]
fn a_read_of_chosen_edges_that_finds_no_list_depends_on_the_graph() {
    let graph = Graph::in_memory().unwrap();
    put(&graph, "pays", 1, 2, 0);
    let mut tx = graph.write().unwrap();
    let large = EdgeSelection::of("pays").filter("amount", Comparison::Greater, 100);
    assert!(tx.degree(1, &large).is_err());
    tx.put_edge((800, 801)).unwrap();
    graph.put_edge_with(EdgeKey::new("pays", 1, 3), [("amount", 500)]).unwrap();
    assert!(tx.commit().unwrap_err().is_conflict());

    let graph = crate::common::small().reverse(false).in_memory().unwrap();
    put(&graph, "", 2, 1, 0);
    let mut tx = graph.write().unwrap();
    let ranked = EdgeSelection::all().ranks(5..).direction(EdgeDirection::In);
    assert_eq!(tx.degree(1, &ranked).unwrap(), Some(0));
    tx.put_edge((800, 801)).unwrap();
    graph.define_label("later", LabelOptions::new().multi(true)).unwrap();
    put(&graph, "later", 2, 1, 7);
    assert!(tx.commit().unwrap_err().is_conflict());
}

/// A condition that makes no sense is refused, whether the vertex exists or not. Kinds that labels state
/// apply to keys of every call.
#[test]
fn a_selection_means_the_same_at_a_missing_vertex_and_for_keys_of_kinds() {
    let graph = Graph::in_memory().unwrap();
    let (user, page) =
        (graph.define_kind("user", KeyKind::U64).unwrap(), graph.define_kind("page", KeyKind::U64).unwrap());
    graph.define_label("edited", LabelOptions::new().ends(user, page)).unwrap();
    graph.put_edge_with(EdgeKey::new("edited", 1, 7), none()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let nonsense = EdgeSelection::of("edited").filter("nope", Comparison::Equal, 1);
    for key in [1, 99] {
        assert!(snapshot.degree(key, &nonsense).is_err() && snapshot.edges(key, &nonsense).is_err());
        assert!(
            snapshot.first_edges(key, &nonsense, EdgeLimit::first(1)).is_err()
                && snapshot.degrees(&[key], &nonsense, MissingVertex::Empty).is_err()
        );
    }
    let pairs = [(1u64, 7u64), (7, 1)];
    let found = |selection: &EdgeSelection<'_>| snapshot.contains_edges(&pairs, selection).unwrap();
    assert_eq!(snapshot.contains_edges(&pairs, "edited").unwrap(), [true, false]);
    let twice = EdgeSelection::of_labels(["edited", "edited"]);
    assert_eq!(found(&twice), [true, false]);
    let both = |a, b| snapshot.contains_edges(&[(a, b)], ("edited", EdgeDirection::Both)).unwrap();
    assert_eq!(both(user.key(1), page.key(7)), [true]);
    assert_eq!(both(page.key(7), user.key(1)), [true]);
    assert_eq!(both(page.key(7), user.key(2)), [false]);
    let mut edges = snapshot.expand(&[8u64, 1], "edited", MissingVertex::Empty).unwrap();
    let mut counts = Vec::new();
    loop {
        let mut count = 0;
        if !edges.next_vertex(|_| count += 1).unwrap() {
            break;
        }
        counts.push(count);
    }
    assert_eq!(counts, [0, 1]);
}

fn none() -> [(&'static str, i64); 0] {
    []
}
