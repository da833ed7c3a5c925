//! Kinds of vertices: their own keys, properties and counts, labels with kinds for their ends, and all of
//! this after each way of reopening.

use hedgerow::{
    ArgumentError, CommitError, Direction, Durability, EdgeKey, Error, Graph, KeyKind, KindId, LabelOptions,
    Options, PropertyType, Result, Value, VertexKey, salvage_on,
};
use hedgerow_testkit::SimFs;

const ALL: [KeyKind; 2] = [KeyKind::U64, KeyKind::Str];

/// Makes a graph in which users have texts for keys, and pages have numbers; users edit pages.
fn wiki(options: Options) -> (Graph, KindId, KindId) {
    let graph = options.in_memory().unwrap();
    let (user, page) = define(&graph).unwrap();
    (graph, user, page)
}

fn define(graph: &Graph) -> Result<(KindId, KindId)> {
    let user = graph.define_kind("user", KeyKind::Str)?;
    let page = graph.define_kind("page", KeyKind::U64)?;
    graph
        .define_label("edited", LabelOptions::new().ends(user, page).property("minor", PropertyType::Bool))?;
    Ok((user, page))
}

fn argument(error: Error) -> ArgumentError {
    match error {
        Error::Argument(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn equal_keys_of_several_kinds_name_several_vertices() {
    for keys in ALL {
        let (graph, user, page) = wiki(Options::new().keys(keys));
        let third = graph.define_kind("third", KeyKind::U64).unwrap();
        let (numbers, texts) = ([page.key(7), third.key(7)], [user.key("7"), user.key("")]);
        let mut tx = graph.write().unwrap();
        for key in numbers.into_iter().chain(texts) {
            assert!(tx.insert_vertex(key).unwrap(), "{key}");
            assert!(!tx.insert_vertex(key).unwrap(), "{key}");
        }
        tx.put_edge((page.key(7), third.key(7))).unwrap();
        tx.put_edge((third.key(7), user.key("7"))).unwrap();
        tx.commit().unwrap();

        let now = graph.snapshot().unwrap();
        let count = |kind| now.scan_vertices().unwrap().count_of(kind).unwrap();
        assert_eq!([user, page, third, KindId::DEFAULT].map(count), [2, 1, 1, 0]);
        let out = |key| now.neighbors(key, Direction::Out).unwrap();
        assert_eq!(out(page.key(7)), Some(vec![third.key(7).to_owned()]));
        assert_eq!(out(third.key(7)), Some(vec![user.key("7").to_owned()]));
        assert_eq!(out(user.key("7")), Some(vec![]));
        assert_eq!(out(page.key(8)), None);
        assert!(!now.contains_edge((page.key(7), user.key("7"))).unwrap());

        graph.insert_edge((page.key(7), page.key(8))).unwrap();
        let mut tx = graph.write().unwrap();
        assert!(tx.remove_vertex(page.key(7)).unwrap());
        tx.commit().unwrap();
        let later = graph.snapshot().unwrap();
        assert!(!later.contains_vertex(page.key(7)).unwrap() && later.contains_vertex(third.key(7)).unwrap());
        assert!(now.contains_vertex(page.key(7)).unwrap(), "a snapshot keeps what it saw");
        assert_eq!(graph.check().unwrap().problems, [] as [String; 0]);
    }
}

/// The ids of removed vertices go to vertices of other kinds with similar keys.
#[test]
fn ids_go_from_one_kind_to_another() {
    let graph = Graph::in_memory().unwrap();
    let a = graph.define_kind("a", KeyKind::U64).unwrap();
    let b = graph.define_kind("b", KeyKind::Str).unwrap();
    for round in 0..40u64 {
        let text = (round * 2).to_string();
        let mut tx = graph.write().unwrap();
        for n in 0..70 {
            tx.put_edge((a.key(round), a.key(round * 100 + n))).unwrap();
            tx.put_edge((b.key(text.as_str()), n)).unwrap();
        }
        tx.commit().unwrap();
        let mut tx = graph.write().unwrap();
        for (n, key) in [a.key(round), b.key(text.as_str())]
            .into_iter()
            .chain((0..70).map(|n| a.key(round * 100 + n)))
            .enumerate()
        {
            assert_eq!(tx.remove_vertex(key).unwrap(), n < 2 || key != a.key(round), "{key}");
        }
        tx.commit().unwrap();
        let now = graph.snapshot().unwrap();
        assert_eq!(now.vertex_count(), 70, "round {round}");
        assert_eq!(now.scan_vertices().unwrap().count_of(KindId::DEFAULT).unwrap(), 70);
    }
    assert_eq!(graph.check().unwrap().problems, [] as [String; 0]);
}

#[test]
fn a_label_says_the_kinds_of_its_ends() {
    for directed in [true, false] {
        let (graph, user, page) = wiki(Options::new().directed(directed));
        let edit = |src, dst| graph.put_edge_with(EdgeKey::new("edited", src, dst), [("minor", true)]);
        assert!(edit("ann".into(), 7.into()).unwrap());
        assert!(!edit(user.key("ann"), page.key(7)).unwrap(), "the same edge, said in full");
        let turned = edit(page.key(7), user.key("ann"));
        assert_eq!(turned.is_ok(), !directed, "an undirected edge is the same either way");
        for (src, dst) in
            [(page.key(1), page.key(2)), (user.key("a"), user.key("b")), (user.key("a"), 1.into())]
        {
            let result = edit(src, dst);
            if dst.kind() == KindId::DEFAULT {
                assert!(result.unwrap());
                continue;
            }
            let ArgumentError::EndOfKind { label, .. } = argument(result.unwrap_err()) else { panic!() };
            assert_eq!(&*label, "edited");
        }
        // A number is no key of a user.
        let error = argument(edit(5.into(), 7.into()).unwrap_err());
        assert!(matches!(error, ArgumentError::KeyOfKind { .. }), "{error}");
        assert_eq!(error.to_string(), "kind user is defined with str keys, but the key 5 has another type");

        let now = graph.snapshot().unwrap();
        assert_eq!(now.vertex_count(), 4, "ann, a, 7 and 1");
        let edge = EdgeKey::new("edited", "ann", 7);
        assert!(now.contains_edge(edge).unwrap());
        assert_eq!(now.edge_property(edge, "minor").unwrap(), Some(Value::Bool(true)));
        let of = |key, direction| now.neighbors(key, ("edited", direction));
        if directed {
            assert_eq!(of("ann".into(), Direction::Out).unwrap(), Some(vec![page.key(7).to_owned()]));
            assert_eq!(of(7.into(), Direction::In).unwrap(), Some(vec![user.key("ann").to_owned()]));
        } else {
            assert!(matches!(argument(of(7.into(), Direction::In).unwrap_err()), ArgumentError::Invalid(_)));
        }
        assert_eq!(of(page.key(7), Direction::In).unwrap(), Some(vec![user.key("ann").to_owned()]));
        assert_eq!(now.degree(user.key("ann"), ("edited", Direction::Out)).unwrap(), Some(1));

        let pattern = hedgerow::EdgePattern::between("ann", 7).label("edited");
        assert!(now.contains_edge(pattern).unwrap());
        let mut tx = graph.write().unwrap();
        assert!(tx.contains_edge(pattern).unwrap() && tx.contains_edge(edge).unwrap());
        assert!(tx.update_edge(edge, [("minor", false)]).unwrap());
        assert!(tx.update_edge(EdgeKey::new("edited", "a", 1), [("minor", Value::Null)]).unwrap());
        assert_eq!(tx.edge_list(user.key("ann"), ("edited", Direction::Out)).unwrap().unwrap().len(), 1);
        assert!(!tx.remove_edge(EdgeKey::new("edited", "ann", 8)).unwrap());
        tx.commit().unwrap();
        assert!(graph.remove_edge(edge).unwrap() && !graph.remove_edge(edge).unwrap());
        assert_eq!(graph.check().unwrap().problems, [] as [String; 0]);
    }
}

#[test]
fn properties_are_those_of_a_kind() {
    let (graph, user, page) = wiki(Options::new());
    graph.define_vertex_property(user, "size", PropertyType::Utf8).unwrap();
    let mut tx = graph.write().unwrap();
    tx.put_vertex_with(user.key("ann"), [("size", "tall")]).unwrap();
    tx.put_vertex_with(page.key(7), [("size", 12)]).unwrap();
    tx.put_vertex_with(7, [("size", 0.5)]).unwrap();
    tx.commit().unwrap();
    let schema = graph.schema();
    let types = |kind| schema.vertex_properties_of(kind).map(|p| p.property_type()).collect::<Vec<_>>();
    assert_eq!(types(user), [PropertyType::Utf8]);
    assert_eq!(types(page), [PropertyType::I64]);
    assert_eq!(types(KindId::DEFAULT), [PropertyType::F64]);
    let mut tx = graph.write().unwrap();
    let error = argument(tx.update_vertex(page.key(7), [("size", "wide")]).unwrap_err());
    assert!(matches!(error, ArgumentError::PropertyType { expected: PropertyType::I64, .. }), "{error}");
    assert!(tx.update_vertex(user.key("ann"), [("size", "taller")]).unwrap());
    assert_eq!(tx.vertex_property(user.key("ann"), "size").unwrap(), Some(Value::from("taller")));
    tx.commit().unwrap();
    let now = graph.snapshot().unwrap();
    let size = |key| now.vertex_property(key, "size").unwrap();
    assert_eq!(size(page.key(7)), Some(Value::I64(12)));
    assert_eq!(size(7.into()), Some(Value::F64(0.5)));
    assert_eq!(
        now.vertex_properties(user.key("ann")).unwrap().unwrap(),
        [("size".into(), Value::from("taller"))]
    );
    assert_eq!(size(page.key(8)), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (graph, user, page) = wiki(Options::new());
    let unknown = KindId(9);
    let refused = |result: Result<bool>| argument(result.unwrap_err());
    assert!(matches!(refused(graph.insert_edge((unknown.key(1), 1))), ArgumentError::NoSuchKind { .. }));
    assert!(matches!(refused(graph.insert_edge((page.key("x"), 1))), ArgumentError::KeyOfKind { .. }));
    assert!(matches!(refused(graph.insert_edge((1, user.key(1)))), ArgumentError::KeyOfKind { .. }));
    let long = "x".repeat(64 * 1024 + 1);
    let error = refused(graph.insert_edge((user.key(&long[1..]), user.key(long.as_str()))));
    assert!(matches!(error, ArgumentError::TooLarge { .. }), "{error}");
    assert!(graph.insert_edge((user.key(&long[1..]), user.key(""))).unwrap());
    let mut tx = graph.write().unwrap();
    assert!(tx.insert_vertex(unknown.key(1)).is_err() && tx.put_edges([(page.key(1), user.key(1))]).is_err());
    assert!(tx.operation_count() == 0, "nothing is left of what was refused");

    let conflict = |result: Result<KindId>| argument(result.unwrap_err());
    let error = conflict(graph.define_kind("user", KeyKind::U64));
    assert_eq!(error.to_string(), "kind user is defined with str keys, not with u64 keys");
    assert!(matches!(conflict(graph.define_kind("", KeyKind::U64)), ArgumentError::Invalid(_)));
    assert!(matches!(conflict(graph.define_kind("new", KeyKind::Dense)), ArgumentError::Invalid(_)));
    assert_eq!(graph.define_kind("user", KeyKind::Str).unwrap(), user, "as it is already");
    let ends = |src, dst| graph.define_label("edited", LabelOptions::new().ends(src, dst));
    assert!(matches!(argument(ends(page, user).unwrap_err()), ArgumentError::SchemaConflict { .. }));
    assert!(ends(user, page).is_ok() && graph.define_label("edited", LabelOptions::new()).is_ok());
    let new = graph.define_label("new", LabelOptions::new().ends(user, unknown));
    assert!(matches!(argument(new.unwrap_err()), ArgumentError::NoSuchKind { .. }));
    assert!(graph.schema().find_kind("nobody").is_err());

    let dense = Options::new().keys(KeyKind::Dense).in_memory().unwrap();
    assert!(matches!(conflict(dense.define_kind("user", KeyKind::Str)), ArgumentError::Invalid(_)));
    assert!(dense.insert_edge((page.key(1), 2)).is_err());
}

#[test]
fn a_graph_has_so_many_kinds_and_no_more() {
    let graph = Graph::in_memory().unwrap();
    for n in 1..=254 {
        let kind = graph.define_kind(&format!("kind {n}"), ALL[n % 2]).unwrap();
        assert_eq!(usize::from(kind.0), n);
    }
    let error = argument(graph.define_kind("one more", KeyKind::U64).unwrap_err());
    assert!(matches!(error, ArgumentError::TooLarge { limit: 254, .. }), "{error}");
    let last = KindId(254);
    assert!(graph.insert_edge((last.key(u64::MAX), last.key(0))).unwrap());
    assert!(graph.insert_edge((u64::MAX, 0)).unwrap());
    assert_eq!(graph.snapshot().unwrap().scan_vertices().unwrap().count_of(last).unwrap(), 2);
}

/// Pipelined operations take effect in their order, for keys of all kinds.
#[test]
fn a_pipeline_takes_keys_of_all_kinds() {
    let (graph, user, page) = wiki(Options::new());
    let mut changes = Vec::new();
    let mut pipeline = graph.pipeline(|ack| changes.push((ack.ticket, ack.result.unwrap().edges))).unwrap();
    for _ in 0..3 {
        pipeline.insert_edge(1, 2).unwrap();
        pipeline.insert_edge(page.key(1), user.key("x")).unwrap();
        pipeline.remove_edge(1, 2).unwrap();
        pipeline.insert_edge(page.key(1), 2).unwrap();
        pipeline.remove_edge(page.key(1), user.key("x")).unwrap();
    }
    pipeline.flush().unwrap();
    drop(pipeline);
    let expected = [1, 1, -1, 1, -1, 1, 1, -1, 0, -1, 1, 1, -1, 0, -1];
    assert_eq!(changes, (0..).zip(expected).collect::<Vec<(u64, i64)>>());
}

/// Kinds come back from the log, from a checkpoint, and from both; salvage and backup keep them.
#[test]
fn kinds_last() {
    for (keys, checkpoint) in ALL.into_iter().flat_map(|keys| [(keys, false), (keys, true)]) {
        let disk = SimFs::new();
        let open =
            |disk: &SimFs| Options::new().keys(keys).log_segment_bytes(4096).open_on(disk.handle()).unwrap();
        let graph = open(&disk);
        let (user, page) = define(&graph).unwrap();
        let fill = |graph: &Graph, n: u64| {
            let mut tx = graph.write().unwrap();
            let name = format!("user {n}");
            tx.put_edge_with(EdgeKey::new("edited", name.as_str(), n), [("minor", n.is_multiple_of(2))])
                .unwrap();
            tx.put_vertex_with(user.key(name.as_str()), [("n", Value::I64(n as i64))]).unwrap();
            tx.put_vertex_with(page.key(n), [("n", name.as_str())]).unwrap();
            tx.insert_vertex(page.key(u64::MAX - n)).unwrap();
            match keys {
                KeyKind::Str => tx.put_edge((name.as_str(), page.key(n))).unwrap(),
                _ => tx.put_edge((n, page.key(n))).unwrap(),
            }
            tx.commit().unwrap();
        };
        (0..100).for_each(|n| fill(&graph, n));
        if checkpoint {
            graph.checkpoint().unwrap();
        }
        (100..150).for_each(|n| fill(&graph, n));
        let expected = content(&graph);
        graph.close().unwrap();
        for _ in 0..2 {
            let graph = open(&disk);
            assert_eq!(content(&graph), expected, "{keys:?} {checkpoint}");
            assert_eq!(graph.check().unwrap().problems, [] as [String; 0]);
            assert_eq!(define(&graph).unwrap(), (user, page));
            graph.close().unwrap();
        }
        let into = SimFs::new();
        let report = salvage_on(disk.handle(), into.handle()).unwrap();
        assert!(report.is_whole(), "{report}");
        assert_eq!(content(&open(&into)), expected, "{keys:?} {checkpoint}");
    }
}

/// Returns all vertices with properties, and all edges.
fn content(graph: &Graph) -> Vec<String> {
    let now = graph.snapshot().unwrap();
    let vertices: Vec<VertexKey> = now.vertices().unwrap().map(|vertex| vertex.unwrap().1).collect();
    let mut lines = Vec::new();
    for key in &vertices {
        lines.push(format!("{key:?} {:?}", now.vertex_properties(key).unwrap()));
        lines.push(format!("{key:?} {:?}", now.edge_list(key, Direction::Out).unwrap()));
        lines.push(format!("{key:?} {:?}", now.edges(key, Direction::Out).unwrap()));
    }
    lines.sort();
    lines
}

/// Five tables of a business, each with keys from 0 on; four kinds of edges connect them.
#[test]
fn tables_with_small_keys_do_not_collide() {
    let graph = Graph::in_memory().unwrap();
    let kinds: Vec<KindId> = ["customer", "order", "product", "employee", "supplier"]
        .iter()
        .map(|name| graph.define_kind(name, KeyKind::U64).unwrap())
        .collect();
    let [customer, order, product, employee, supplier] = kinds[..] else { panic!() };
    let labels = [
        ("placed", customer, order),
        ("holds", order, product),
        ("took", employee, order),
        ("makes", supplier, product),
    ];
    for (name, src, dst) in labels {
        graph.define_label(name, LabelOptions::new().ends(src, dst)).unwrap();
    }
    for (i, (name, ..)) in labels.iter().enumerate() {
        let mut tx = graph.write().unwrap();
        for n in 0..50u64 {
            tx.put_edge_with(
                EdgeKey::new(*name, n % (10 + i as u64), n),
                [("quantity", Value::I64(n as i64))],
            )
            .unwrap();
        }
        tx.commit().unwrap();
    }
    let now = graph.snapshot().unwrap();
    let counts =
        kinds.iter().map(|&kind| now.scan_vertices().unwrap().count_of(kind).unwrap()).collect::<Vec<_>>();
    assert_eq!(counts, [10, 50, 50, 12, 13]);
    for (i, (name, src, dst)) in labels.into_iter().enumerate() {
        assert_eq!(now.edge_count_of(name).unwrap(), 50);
        let found = now.neighbors(3, (name, Direction::Out)).unwrap().unwrap();
        let expected: Vec<VertexKey> =
            (0..50).filter(|n| n % (10 + i as u64) == 3).map(|n| dst.key(n).to_owned()).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(now.neighbors(3, (name, Direction::In)).unwrap(), Some(vec![src.key(3).to_owned()]));
    }
}

/// A refused definition leaves nothing: the next kind gets its number, and may have keys of the other type.
#[test]
fn a_kind_that_was_refused_says_nothing_of_the_next_one() {
    let disk = SimFs::new();
    let options = Options::new().durability(Durability::Sync).log_segment_bytes(4096).checkpoint_log_bytes(0);
    let graph = options.open_on(disk.handle()).unwrap();
    disk.set_quota(Some(disk.used_bytes()));
    // Inserts edges until the log is full.
    let last = (0..10_000_u64).find(|n| graph.insert_edge((*n, n + 1)).is_err());
    assert!(last.is_some(), "the log is never full");
    let refused = graph.define_kind(&"n".repeat(200), KeyKind::U64);
    assert!(matches!(refused, Err(Error::Commit(CommitError::DiskFull))), "{refused:?}");
    disk.set_quota(None);
    let text = graph.define_kind("text", KeyKind::Str).unwrap();
    for _ in 0..2 {
        let mut tx = graph.write().unwrap();
        tx.put_edge((text.key("x"), text.key("y"))).unwrap();
        tx.commit().unwrap();
    }
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.scan_vertices().unwrap().count_of(text).unwrap(), 2);
    let x = snapshot.vertex_id(text.key("x")).unwrap().unwrap();
    assert_eq!(snapshot.vertex_key(x).unwrap(), Some(text.key("x").to_owned()));
}
