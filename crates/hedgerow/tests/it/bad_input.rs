//! Mistakes of a caller: each returns a typed error and leaves no partial change.

use hedgerow::{
    ArgumentError, CommitError, Direction, EdgeKey, Error, Graph, KeyKind, LabelOptions, OpenError, Options,
    PropertyType, StateError, Value,
};
use hedgerow_testkit::SimFs;

fn is_invalid<T>(result: hedgerow::Result<T>) -> bool {
    matches!(result, Err(Error::Argument(ArgumentError::Invalid(_))))
}

#[test]
fn ids_out_of_range_and_of_the_wrong_type() {
    let dense = Options::new().keys(KeyKind::Dense).in_memory().unwrap();
    let last = u64::from(u32::MAX) - 1;
    for id in [last + 1, 1 << 32, u64::MAX] {
        let mut tx = dense.write().unwrap();
        assert!(is_invalid(tx.put_edge((0, id))) && is_invalid(tx.insert_vertex(id)), "{id}");
        assert!(is_invalid(tx.remove_edge((id, 0))) && is_invalid(tx.neighbors(id, Direction::Out)));
        assert!(tx.operation_count() == 0 && is_invalid(dense.insert_edge((id, 0))));
        let s = dense.snapshot().unwrap();
        assert!(
            !s.contains_vertex(id).unwrap()
                && s.degree(id, Direction::In).unwrap().is_none()
                && s.default_label().weight_between(0, id).unwrap().is_none()
        );
    }
    let text = Options::new().keys(KeyKind::Str).in_memory().unwrap();
    assert!(is_invalid(text.insert_edge((1, 2))) && is_invalid(text.write().unwrap().insert_vertex(7)));
    let long = "x".repeat(64 * 1024);
    assert!(text.insert_edge((&long, "y")).unwrap());
    assert!(matches!(
        text.insert_edge((&(long + "x"), "y")),
        Err(Error::Argument(ArgumentError::TooLarge { .. }))
    ));
    let numbers = Graph::in_memory().unwrap();
    assert!(
        is_invalid(numbers.insert_edge(("a", "b")))
            && is_invalid(numbers.write().unwrap().put_edge((1, "b")))
    );
    assert_eq!(
        (numbers.snapshot().unwrap().vertex_count(), text.snapshot().unwrap().edge_count().unwrap()),
        (0, 1)
    );
}

#[test]
fn weights_that_are_none() {
    let graph = Options::new().weighted(true).in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    assert!(is_invalid(tx.put_edge((1, 2, f64::NAN))) && is_invalid(tx.insert_edge((1, 2, -f64::NAN))));
    assert!(tx.operation_count() == 0);
    tx.put_edge((1, 2, f64::NEG_INFINITY)).unwrap();
    tx.commit().unwrap();
    assert_eq!(
        graph.snapshot().unwrap().default_label().weight_between(1, 2).unwrap(),
        Some(f64::NEG_INFINITY)
    );
    // The stored weight is no property that a program can define, or change with the others.
    assert!(is_invalid(graph.define_edge_property("", "weight", PropertyType::F64)));
    assert!(is_invalid(graph.update_edge((1, 2), [("weight", 0.5)])));
    assert!(is_invalid(graph.write().unwrap().update_edge((1, 2), [("weight", Value::Null)])));
    graph.put_edge_with((1, 2), [("weight", 0.5)]).unwrap();
    graph.put_edge_with(EdgeKey::new("likes", 1, 2), [("weight", 4)]).unwrap();
    graph.update_edge(EdgeKey::new("likes", 1, 2), [("weight", 5)]).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.edge_properties((1, 2)).unwrap().unwrap()[0].1, Value::F64(0.5));
    assert!(snapshot.schema().label("").unwrap().properties().is_empty());
    let plain = Graph::in_memory().unwrap();
    let mut tx = plain.write().unwrap();
    assert!(is_invalid(tx.put_edge((1, 2, 1.0))) && is_invalid(tx.insert_edge((1, 2, 1.0))));
    assert!(tx.operation_count() == 0 && tx.commit().is_ok());
}

#[test]
fn a_batch_of_labelled_edges_with_a_wrong_one_adds_none() {
    let graph = Options::new().weighted(true).in_memory().unwrap();
    graph.define_label("calls", LabelOptions::new().multi(true)).unwrap();
    let (knows, call) = (EdgeKey::new("knows", 1, 2), EdgeKey::new("calls", 1, 2).rank(7));
    let mut tx = graph.write().unwrap();
    tx.put_edge((5, 6)).unwrap();
    assert!(is_invalid(tx.put_edges([call, knows, EdgeKey::new("knows", 2, 3).rank(4)])));
    let missing = EdgeKey::new("none of this name", 1, 2);
    assert!(matches!(
        tx.remove_edges([call, missing]),
        Err(Error::Argument(ArgumentError::NoSuchLabel { .. }))
    ));
    assert_eq!(tx.operation_count(), 1);
    tx.put_edges([call, knows, EdgeKey::new("", 1, 2)]).unwrap();
    tx.insert_edges([(1, 2, 0.5), (1, 3, 0.25)]).unwrap();
    tx.remove_edges([knows]).unwrap();
    assert_eq!(tx.edge_list(1, Direction::Out).unwrap().unwrap().len(), 3);
    tx.commit().unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert!(snapshot.contains_edge(call).unwrap() && !snapshot.contains_edge(knows).unwrap());
    let weights =
        [(1, 2), (1, 3), (5, 6)].map(|(a, b)| snapshot.default_label().weight_between(a, b).unwrap());
    assert_eq!(weights, [Some(1.0), Some(0.25), Some(1.0)]);
    let mut tx = graph.write().unwrap();
    assert!(!tx.insert_edge(call).unwrap() && tx.insert_edge(knows).unwrap());
    assert!(tx.remove_edge(knows).unwrap() && !tx.remove_edge(call.rank(8)).unwrap());
    assert!(tx.remove_edge(call).unwrap() && !tx.contains_edge(call).unwrap());
    tx.commit().unwrap();
    assert!(!graph.snapshot().unwrap().contains_edge(call).unwrap());
    assert!(
        graph.put_edge(call).unwrap()
            && graph.remove_edge(call).unwrap()
            && !graph.remove_edge(call).unwrap()
    );
    assert!(graph.remove_edge(missing).is_err());
    // No edge of the default label has a rank, so none of these removals finds one.
    let ranked = EdgeKey::new("", 1, 2).rank(3);
    let mut tx = graph.write().unwrap();
    tx.remove_edges([ranked]).unwrap();
    tx.commit().unwrap();
    assert!(!graph.write().unwrap().remove_edge(ranked).unwrap() && !graph.remove_edge(ranked).unwrap());
    assert!(graph.snapshot().unwrap().contains_edge(EdgeKey::new("", 1, 2)).unwrap());
}

#[test]
fn removing_what_is_not_there_is_an_answer() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    assert!(!tx.remove_edge((1, 2)).unwrap() && !tx.remove_vertex(1).unwrap());
    tx.commit().unwrap();
    assert!(!graph.remove_edge((1, 2)).unwrap());
    assert_eq!(graph.published_ts().0, 0);
}

#[test]
fn endpoints_that_do_not_exist() {
    let graph = Graph::in_memory().unwrap();
    let mut tx = graph.write().unwrap();
    tx.create_endpoints(false).unwrap();
    tx.insert_vertex(1).unwrap();
    assert!(is_invalid(tx.create_endpoints(true)));
    tx.put_edge((1, 2)).unwrap();
    assert!(matches!(tx.commit(), Err(Error::Commit(CommitError::NoSuchVertex { .. }))));
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0, "nothing partial");
}

#[test]
fn use_after_close() {
    let disk = SimFs::new();
    let graph = Options::new().open_on(disk.handle()).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_edge((3, 4)).unwrap();
    let other = graph.clone();
    graph.close().unwrap();
    assert!(matches!(tx.commit(), Err(Error::State(StateError::Closed))));
    assert!(matches!(other.write().err(), Some(Error::State(StateError::Closed))));
    assert!(matches!(other.snapshot().err(), Some(Error::State(StateError::Closed))));
    assert!(matches!(other.insert_edge((5, 6)), Err(Error::State(StateError::Closed))));
    assert!(matches!(other.checkpoint(), Err(Error::State(StateError::Closed))));
    assert!(
        matches!(other.flush(), Err(Error::State(StateError::Closed)))
            && matches!(other.settle(), Err(Error::State(StateError::Closed)))
    );
    assert!(
        matches!(other.check(), Err(Error::State(StateError::Closed)))
            && matches!(other.stats(), Err(Error::State(StateError::Closed)))
    );
    assert!(other.close().is_ok(), "closing twice is no error");
    assert_eq!(snapshot.edge_count().unwrap(), 1);
    drop((graph, other));
    let again = Options::new().open_on(disk.handle()).unwrap();
    assert_eq!(again.snapshot().unwrap().edge_count().unwrap(), 1, "the transaction was not applied");
}

#[test]
fn a_store_opened_for_reading_only() {
    let disk = SimFs::new();
    let read_only = || Options::new().read_only(true).open_on(disk.handle());
    assert!(matches!(read_only().err(), Some(Error::Open(OpenError::NotAStore { .. }))));
    let graph = Options::new().open_on(disk.handle()).unwrap();
    graph.insert_edge((1, 2)).unwrap();
    graph.close().unwrap();
    let before = disk.files();
    let reader = read_only().unwrap();
    assert!(matches!(reader.write().err(), Some(Error::State(StateError::ReadOnly))));
    assert!(matches!(reader.insert_edge((1, 3)), Err(Error::State(StateError::ReadOnly))));
    assert!(matches!(reader.remove_edge((1, 2)), Err(Error::State(StateError::ReadOnly))));
    assert!(matches!(reader.checkpoint(), Err(Error::State(StateError::ReadOnly))));
    assert_eq!(reader.snapshot().unwrap().edge_count().unwrap(), 1);
    assert!(reader.check().unwrap().is_ok());
    reader.close().unwrap();
    assert_eq!(disk.files(), before, "nothing was written");
    assert!(is_invalid(Options::new().read_only(true).in_memory()));
}

#[test]
fn options_that_disagree_with_the_store() {
    let disk = SimFs::new();
    let made = Options::new().directed(false).weighted(true).keys(KeyKind::Str);
    made.open_on(disk.handle()).unwrap().insert_edge(("a", "b")).unwrap();
    for (wrong, message) in [
        (Options::new().directed(true), "created undirected: it cannot be opened directed"),
        (Options::new().weighted(false), "created weighted: it cannot be opened without weights"),
        (Options::new().keys(KeyKind::U64), "created with str keys: it cannot be opened with u64 keys"),
        (
            Options::new().keys(KeyKind::Dense).directed(true),
            "created undirected, with str keys: it cannot be opened directed, with dense keys",
        ),
    ] {
        let error = wrong.open_on(disk.handle()).err();
        assert!(matches!(error, Some(Error::Open(OpenError::ConfigMismatch { .. }))));
        assert_eq!(error.map(|error| error.to_string()), Some(format!("the graph was {message}")));
    }
    let graph = Options::new().open_on(disk.handle()).unwrap();
    assert!(graph.config().weighted && !graph.config().directed);
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), 1);
}
