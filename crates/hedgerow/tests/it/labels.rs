//! Long because each test reads one graph with labels in all ways. Labels, ranks and properties: the results
//! of each call, in memory and after each way of reopening.

use hedgerow::Error::Argument;
use hedgerow::{
    ArgumentError, CommitError, Direction, EdgeKey, EdgeSelection, Error, Graph, LabelOptions, OpenError,
    PropertyType, Value, VertexKey,
};
use hedgerow_testkit::SimFs;

fn knows(src: u64, dst: u64) -> EdgeKey<'static> {
    EdgeKey::new("knows", src, dst)
}

fn key(n: u64) -> VertexKey {
    n.into()
}

fn fill(graph: &Graph) {
    graph
        .define_label("calls", LabelOptions::new().multi(true).property("seconds", PropertyType::I64))
        .unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge((1, 2)).unwrap();
    tx.put_edge_with(knows(1, 2), [("since", Value::from(2001)), ("how", "school".into())]).unwrap();
    tx.put_edge_with(knows(2, 1), [("since", 2002)]).unwrap();
    for rank in [9, 3, 7] {
        tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(rank), [("seconds", rank as i64)]).unwrap();
    }
    tx.put_edge_with(EdgeKey::new("calls", 3, 3), [("seconds", 1)]).unwrap();
    tx.put_vertex_with(1, [("name", Value::from("Ann")), ("age", 30.into())]).unwrap();
    tx.put_vertex_with(7, [("name", "Bob")]).unwrap();
    tx.commit().unwrap();
}

fn expect(graph: &Graph) {
    let s = graph.snapshot().unwrap();
    let directed = graph.config().directed;
    assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (4, if directed { 7 } else { 6 }));
    let count = |label| s.edge_count_of(label).unwrap();
    assert_eq!((count(""), count("knows"), count("calls")), (1, if directed { 2 } else { 1 }, 4));
    let calls = s.schema().find_label("calls").unwrap().id();
    let expected = [(key(2), calls, 3), (key(2), calls, 7), (key(2), calls, 9)];
    assert_eq!(s.edge_list(1, ("calls", Direction::Out)).unwrap().unwrap(), expected);
    assert_eq!(
        s.edge_list(2, ("calls", Direction::In)).unwrap().unwrap(),
        expected.map(|(_, label, r)| (key(1), label, r))
    );
    assert_eq!(s.degree(3, ("calls", Direction::Out)).unwrap(), Some(1));
    assert_eq!(s.degree(7, ("knows", Direction::Out)).unwrap(), Some(0));
    assert_eq!(s.degree(8, ("knows", Direction::Out)).unwrap(), None);
    let since = if directed { 2001 } else { 2002 };
    assert_eq!(s.edge_property(knows(1, 2), "since").unwrap(), Some(Value::from(since)));
    assert_eq!(s.edge_property(knows(2, 1), "how").unwrap(), Some(Value::Null));
    assert_eq!(s.edge_property(knows(1, 3), "since").unwrap(), None);
    let calls = s.edges(2, ("calls", Direction::In)).unwrap().unwrap();
    assert_eq!(calls[1].properties, [("seconds".into(), Value::I64(7))]);
    assert_eq!(s.vertex_property(1, "age").unwrap(), Some(Value::I64(30)));
    assert_eq!(s.vertex_property(2, "age").unwrap(), Some(Value::Null));
    assert_eq!(s.vertex_property(9, "age").unwrap(), None);
    assert!(matches!(s.edge_count_of("likes"), Err(Argument(ArgumentError::NoSuchLabel { .. }))));
    let view = s.view("calls").unwrap();
    use hedgerow::Topology;
    assert_eq!((view.vertex_count(), view.edge_count()), (4, 4));
    let report = graph.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
}

fn is_too_large<T>(result: hedgerow::Result<T>) -> bool {
    matches!(result, Err(Argument(ArgumentError::TooLarge { .. })))
}

#[test]
fn everything_reads_back_before_and_after_reopening() {
    for directed in [true, false] {
        let graph = crate::common::small().directed(directed).in_memory().unwrap();
        fill(&graph);
        expect(&graph);
        graph.settle().unwrap();
        expect(&graph);

        let disk = SimFs::new();
        let open = || crate::common::small().directed(directed).open_on(disk.handle()).unwrap();
        let graph = open();
        fill(&graph);
        graph.close().unwrap();
        let graph = open();
        expect(&graph);
        graph.checkpoint().unwrap();
        graph.close().unwrap();
        let graph = open();
        expect(&graph);
        let schema = graph.schema();
        assert_eq!(schema.label("calls").unwrap().properties()[0].property_type(), PropertyType::I64);
        assert_eq!(schema.vertex_properties().len(), 2);
    }
}

#[test]
fn updates_merge_and_removals_take_everything_along() {
    for directed in [true, false] {
        let graph = crate::common::small().directed(directed).in_memory().unwrap();
        fill(&graph);
        assert!(graph.update_edge(knows(1, 2), [("how", Value::Null), ("trust", 0.5.into())]).unwrap());
        assert!(!graph.update_edge(knows(1, 7), [("trust", 0.5)]).unwrap());
        let mut tx = graph.write().unwrap();
        assert!(tx.update_edge(knows(1, 2), [("trust", 0.75)]).unwrap());
        assert_eq!(tx.edge_property(knows(1, 2), "trust").unwrap(), Some(0.75.into()));
        assert!(tx.update_vertex(1, [("age", 31)]).unwrap());
        assert!(!tx.update_vertex(100, [("age", 31)]).unwrap());
        assert_eq!(tx.vertex_property(1, "name").unwrap(), Some("Ann".into()));
        assert_eq!(tx.vertex_property(1, "age").unwrap(), Some(31.into()));
        tx.commit().unwrap();
        let s = graph.snapshot().unwrap();
        let found = s.edge_properties(knows(1, 2)).unwrap().unwrap();
        let since = if directed { 2001 } else { 2002 };
        assert_eq!(found, [("since".into(), Value::I64(since)), ("trust".into(), Value::F64(0.75))]);

        let mut tx = graph.write().unwrap();
        assert!(tx.remove_vertex(1).unwrap());
        assert_eq!(tx.vertex_properties(1).unwrap(), None);
        assert!(!tx.contains_edge(knows(1, 2)).unwrap());
        tx.put_edge_with(knows(1, 2), [("trust", 1.0)]).unwrap();
        assert_eq!(tx.edge_list(2, ("calls", Direction::In)).unwrap(), Some(vec![]));
        tx.commit().unwrap();
        let s = graph.snapshot().unwrap();
        assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (4, 2));
        assert_eq!(s.vertex_properties(1).unwrap().unwrap(), []);
        assert_eq!(s.edge_properties(knows(1, 2)).unwrap().unwrap(), [("trust".into(), Value::F64(1.0))]);
        assert!(graph.check().unwrap().is_ok());
    }
}

#[test]
fn what_does_not_fit_the_schema_is_refused() {
    let graph = crate::common::small().weighted(true).in_memory().unwrap();
    fill(&graph);
    let mut tx = graph.write().unwrap();
    let error = tx.put_edge_with(knows(1, 2), [("since", "yesterday")]).unwrap_err();
    assert_eq!(error.to_string(), "property since has type i64, but the value has type utf8");
    assert!(matches!(
        tx.put_edge_with(knows(1, 2).rank(1), [("a", 1)]),
        Err(Argument(ArgumentError::Invalid(_)))
    ));
    assert!(matches!(
        tx.update_edge(EdgeKey::new("likes", 1, 2), [("a", 1)]),
        Err(Argument(ArgumentError::NoSuchLabel { .. }))
    ));
    let long = "x".repeat(256);
    assert!(is_too_large(tx.put_edge_with(knows(1, 2), [(&long, 1)])));
    assert!(is_too_large(tx.put_edge_with(EdgeKey::new(&long, 1, 2), [("a", 1)])));
    assert!(matches!(tx.put_edge_with(knows(1, 2), [("", 1)]), Err(Argument(ArgumentError::Invalid(_)))));
    let huge = Value::Bytes(vec![0; (16 << 20) + 1].into());
    assert!(is_too_large(tx.put_edge_with(knows(1, 2), [("b", huge)])));
    drop(tx);
    let conflict = graph.define_label("knows", LabelOptions::new().multi(true));
    assert!(matches!(conflict, Err(Argument(ArgumentError::SchemaConflict { .. }))));
    assert!(matches!(
        graph.define_label("calls", LabelOptions::new()),
        Err(Argument(ArgumentError::SchemaConflict { .. }))
    ));
    let mut tx = graph.write().unwrap();
    tx.put_edge_with(EdgeKey::new("", 5, 6), [("weight", Value::from(2.5)), ("note", "w".into())]).unwrap();
    assert!(matches!(
        tx.put_edge_with(EdgeKey::new("", 5, 6), [("weight", 1)]),
        Err(Argument(ArgumentError::PropertyType { .. }))
    ));
    tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!(s.default_label().weight_between(5, 6).unwrap(), Some(2.5));
    let found = s.edge_properties(EdgeKey::new("", 5, 6)).unwrap().unwrap();
    assert_eq!(found, [("weight".into(), Value::F64(2.5)), ("note".into(), Value::from("w"))]);
    // A plain write to the same edge replaces all of the edge.
    let mut tx = graph.write().unwrap();
    tx.put_edge((5, 6, 3.0)).unwrap();
    tx.commit().unwrap();
    let found = graph.snapshot().unwrap().edge_properties(EdgeKey::new("", 5, 6)).unwrap().unwrap();
    assert_eq!(found, [("weight".into(), Value::F64(3.0))]);
}

#[test]
fn a_property_weighs_the_edges_of_a_view() {
    use hedgerow::Topology;
    for (directed, reverse) in [(true, true), (true, false), (false, true)] {
        let graph = crate::common::small().directed(directed).reverse(reverse).in_memory().unwrap();
        fill(&graph);
        for settled in [false, true] {
            if settled {
                graph.settle().unwrap();
            }
            // The older snapshot must not see a later change.
            let s = graph.snapshot().unwrap();
            assert!(
                graph.update_edge(EdgeKey::new("calls", 1, 2).rank(7), [("seconds", Value::Null)]).unwrap()
            );
            let later = graph.snapshot().unwrap();
            let mut tx = graph.write().unwrap();
            assert!(tx.update_edge(EdgeKey::new("calls", 1, 2).rank(7), [("seconds", 7)]).unwrap());
            tx.commit().unwrap();
            for (s, expected) in [(&s, [3.0, 7.0, 9.0]), (&later, [3.0, -1.0, 9.0])] {
                let view = s.view(&EdgeSelection::of("calls").weighted_by("seconds", Some(-1.0))).unwrap();
                assert_eq!(view.edge_count(), 4);
                for (at, direction) in [(1u64, Direction::Out), (2, Direction::In)] {
                    let mut found = Vec::new();
                    let id = s.vertex_id(at).unwrap().unwrap();
                    let block = view.weighted_block(id.subgraph(), direction);
                    block.weighted_neighbors(id.local()).for_each_sorted(|_, w| found.push(w));
                    assert_eq!(found, expected, "{directed} {reverse} {direction:?}");
                }
            }
        }
        let s = graph.snapshot().unwrap();
        assert!(matches!(
            s.view(&EdgeSelection::of("knows").weighted_by("how", Some(1.0))),
            Err(Argument(ArgumentError::Invalid(_)))
        ));
        assert_eq!(
            s.view(&EdgeSelection::of("knows").weighted_by("nothing", Some(2.5))).unwrap().edge_count(),
            if directed { 2 } else { 1 }
        );
    }
}

#[test]
fn a_graph_without_incoming_edges_finds_them_and_removes_them_with_the_vertex() {
    use hedgerow::Resident;
    let disk = SimFs::new();
    let open = |reverse| crate::common::small().reverse(reverse).open_on(disk.handle());
    let graph = open(false).unwrap();
    fill(&graph);
    expect(&graph);
    assert!(!graph.config().reverse);
    // Vertices far away, so that sources are in other subgraphs.
    let mut tx = graph.write().unwrap();
    for i in 0..300 {
        tx.put_edge((1000 + i, 2)).unwrap();
    }
    tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!(s.degree(2, ("", Direction::In)).unwrap(), Some(301));
    assert_eq!(
        s.default_label().view().unwrap().degree(s.vertex_id(2).unwrap().unwrap(), Direction::In),
        301
    );
    let mut tx = graph.write().unwrap();
    assert_eq!(tx.degree(2, ("", Direction::In)).unwrap(), Some(301));
    graph.insert_edge((5000, 5001)).unwrap();
    tx.put_edge((3, 4)).unwrap();
    assert!(tx.commit().unwrap_err().is_conflict(), "incoming edges were searched for in the whole graph");
    let mut tx = graph.write().unwrap();
    assert!(tx.remove_vertex(2).unwrap());
    tx.commit().unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (305, 2));
    assert!(graph.check().unwrap().is_ok());
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    assert!(matches!(open(true), Err(Error::Open(OpenError::ConfigMismatch { .. }))));
    let graph = open(false).unwrap();
    let s = graph.snapshot().unwrap();
    assert_eq!((s.vertex_count(), s.edge_count().unwrap()), (305, 2));
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn a_transaction_that_reads_everything_may_name_a_new_label() {
    let graph = Graph::in_memory().unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let mut tx = graph.write().unwrap();
    assert_eq!(tx.snapshot().unwrap().edge_count().unwrap(), 1);
    tx.put_edge_with(knows(1, 2), [("since", 1)]).unwrap();
    tx.commit().unwrap();
    // Another commit concurrent with the definitions is a conflict.
    let mut tx = graph.write().unwrap();
    assert_eq!(tx.snapshot().unwrap().edge_count().unwrap(), 2);
    graph.insert_edge((2, 3)).unwrap();
    tx.put_edge_with(EdgeKey::new("likes", 1, 2), [("since", 1)]).unwrap();
    assert!(tx.commit().unwrap_err().is_conflict());
}

#[test]
fn each_kind_of_read_is_validated() {
    type Read = fn(&mut hedgerow::WriteTxn);
    let reads: [(&str, Read); 7] = [
        ("edge", |tx| assert!(tx.contains_edge(knows(1, 2)).unwrap())),
        ("properties", |tx| assert!(tx.edge_properties(knows(1, 2)).unwrap().is_some())),
        ("list", |tx| assert!(tx.edge_list(1, ("knows", Direction::Out)).unwrap().is_some())),
        ("other end", |tx| assert!(tx.edge_list(2, ("knows", Direction::In)).unwrap().is_some())),
        ("vertex", |tx| assert!(tx.vertex_properties(1).unwrap().is_some())),
        ("absent edge", |tx| assert!(!tx.contains_edge(EdgeKey::new("calls", 1, 7)).unwrap())),
        ("absent label", |tx| assert!(tx.contains_edge(EdgeKey::new("likes", 1, 2)).is_err())),
    ];
    type Write = fn(&mut hedgerow::WriteTxn);
    let writes: [(&str, Write, &[&str]); 6] = [
        (
            "property",
            |tx| assert!(tx.update_edge(knows(1, 2), [("since", 1)]).unwrap()),
            &["edge", "properties", "list"],
        ),
        (
            "removal",
            |tx| assert!(tx.remove_edge(knows(1, 2)).unwrap()),
            &["edge", "properties", "list", "other end"],
        ),
        ("vertex property", |tx| assert!(tx.update_vertex(1, [("age", 1)]).unwrap()), &["vertex"]),
        (
            "new edge",
            |tx| tx.put_edge_with(EdgeKey::new("calls", 1, 7).rank(3), [("seconds", 1)]).unwrap(),
            &["absent edge"],
        ),
        (
            "new label",
            |tx| tx.put_edge_with(EdgeKey::new("likes", 1, 2), [("a", 1)]).unwrap(),
            &["absent label"],
        ),
        ("elsewhere", |tx| tx.put_edge_with(knows(100, 200), [("since", 1)]).unwrap(), &[]),
    ];
    for settled in [false, true] {
        for (read, reads) in &reads {
            for (write, writes, conflicts) in &writes {
                let graph = Graph::in_memory().unwrap();
                fill(&graph);
                if settled {
                    graph.settle().unwrap();
                }
                let mut tx = graph.write().unwrap();
                reads(&mut tx);
                tx.put_edge((50, 51)).unwrap();
                let mut other = graph.write().unwrap();
                writes(&mut other);
                other.commit().unwrap();
                let conflict = tx.commit().is_err_and(|e| e.is_conflict());
                assert_eq!(conflict, conflicts.contains(read), "{read} against {write}, settled: {settled}");
            }
        }
    }
}

/// A vertex with enough neighbors for patches of its main part, before and after settling.
#[test]
fn weights_of_a_hub_are_those_of_its_edges() {
    use hedgerow::Resident;
    let graph = crate::common::small().directed(false).in_memory().unwrap();
    let put = |range: std::ops::Range<u64>| {
        for i in range {
            graph.insert_edge((0, i)).unwrap();
        }
    };
    put(1..400);
    graph.settle().unwrap();
    put(400..420);
    for _ in 0..3 {
        let s = graph.snapshot().unwrap();
        let view = s.view(&EdgeSelection::of("").weighted_by("nothing", Some(0.5))).unwrap();
        let hub = s.vertex_id(0).unwrap().unwrap();
        let mut found = Vec::new();
        let block = view.weighted_block(hub.subgraph(), Direction::Out);
        block.weighted_neighbors(hub.local()).for_each_sorted(|v, w| found.push((v, w)));
        let expected: Vec<_> = s
            .default_label()
            .view()
            .unwrap()
            .neighbors(hub, Direction::Out)
            .iter()
            .map(|v| (v, 0.5))
            .collect();
        assert_eq!((found.len(), found.is_sorted_by(|a, b| a.0 < b.0)), (419, true));
        assert_eq!(found.len(), expected.len());
        graph.settle().unwrap();
    }
}

/// Without incoming lists, only the source of an edge has the edge. The removal finds edges to a vertex even
/// if no vertex near it has an edge of the label.
#[test]
fn a_removed_vertex_takes_the_labelled_edges_to_it_along_also_without_incoming_lists() {
    let graph = crate::common::small().keys(hedgerow::KeyKind::Dense).reverse(false).in_memory().unwrap();
    let none: [(&str, i64); 0] = [];
    let edge = || EdgeKey::new("knows", 0, 5_003);
    graph.transact(0, |tx| tx.put_edge_with(edge(), none)).unwrap();
    graph.transact(0, |tx| tx.remove_vertex(5_003)).unwrap();
    graph.transact(0, |tx| tx.insert_vertex(5_003)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!((snapshot.edge_count().unwrap(), snapshot.contains_edge(edge()).unwrap()), (0, false));
    assert!(graph.check().unwrap().is_ok());
}

/// A null for a property that is not defined yet still removes a value that an earlier commit sets.
#[test]
fn a_null_for_a_property_that_is_defined_meanwhile_is_a_conflict() {
    for (other, conflicts) in [(1u64, true), (2, false)] {
        let graph = Graph::in_memory().unwrap();
        let mut tx = graph.write().unwrap();
        tx.put_edge((1, 2)).unwrap();
        tx.commit().unwrap();
        let mut tx = graph.write().unwrap();
        let cells = [("age", Value::Null), ("name", "Ann".into())];
        assert!(tx.update_vertex(1, cells).unwrap());
        let mut first = graph.write().unwrap();
        assert!(first.update_vertex(other, [("age", 30)]).unwrap());
        first.commit().unwrap();
        assert!(tx.update_vertex(2, [("age", 31)]).unwrap());
        match tx.commit() {
            Err(Error::Commit(CommitError::Conflict { .. })) if conflicts => {}
            Ok(_) if !conflicts => {
                assert_eq!(graph.snapshot().unwrap().vertex_property(2, "age").unwrap(), Some(31.into()))
            }
            other => panic!("{other:?}"),
        }
    }
}
