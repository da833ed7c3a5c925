//! The conclusions of salvage after lost commits, and the places where salvage and backup refuse to write.
#![allow(clippy::disallowed_methods, reason = "tests move directories")]

use hedgerow::{
    ArgumentError, Direction, EdgeKey, Error, Graph, KeyKind, KindId, LabelOptions, SalvageReport, Value,
    VertexKey, WriteTxn,
};
use hedgerow_testkit::{ModelConfig, SimFs, vertex_key};

use crate::common::records::records;
use crate::tools::salvaged;

/// The operations of a transaction, on numbered keys.
type Operations<'a> = &'a dyn Fn(&mut WriteTxn, &dyn Fn(u64) -> VertexKey);

fn plain_key(keys: KeyKind, n: u64) -> VertexKey {
    vertex_key(ModelConfig { directed: true, weighted: false, keys, rich: false }, n)
}

/// Makes a store with some transactions, damages the record of one of them, and returns the result of
/// salvage.
fn salvaged_without(keys: KeyKind, lost: usize, commits: &[Operations<'_>]) -> (SalvageReport, Graph) {
    let disk = SimFs::new();
    let graph = crate::common::small().keys(keys).background_settling(false).open_on(disk.handle()).unwrap();
    let key = |n| plain_key(keys, n);
    let mut last = 0;
    for (i, operations) in commits.iter().enumerate() {
        let mut tx = graph.write().unwrap();
        operations(&mut tx, &key);
        let ts = tx.commit().unwrap().0;
        last = if i == lost { ts } else { last };
    }
    graph.close().unwrap();
    let files = disk.files();
    let record = records(&files).into_iter().find(|record| record.ts == last).unwrap();
    disk.corrupt(&record.file, record.bytes.end as u64 - 9, 1);
    let (report, graph) = salvaged(&disk);
    assert_eq!(report.lost_commits, 1, "{report}");
    assert!(report.losses.contains(&format!("commit {last} is lost")), "{report}");
    (report, graph)
}

#[test]
fn later_commits_show_what_lost_ones_did() {
    for keys in [KeyKind::Dense, KeyKind::U64, KeyKind::Str] {
        let key = |n| plain_key(keys, n);
        // The lost commit removed a vertex, and the later insertion of its key shows this. Its earlier edges
        // do not come back.
        let (report, graph) = salvaged_without(
            keys,
            1,
            &[
                &|tx, key| {
                    [(1, 2), (1, 3), (4, 5)].iter().for_each(|e| tx.put_edge((&key(e.0), &key(e.1))).unwrap())
                },
                &|tx, key| assert!(tx.remove_vertex(&key(1)).unwrap()),
                &|tx, key| tx.put_edge((&key(1), &key(4))).unwrap(),
            ],
        );
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.neighbors(&key(1), Direction::Out).unwrap(), Some(vec![key(4)]), "{report}");
        assert_eq!((report.vertices, report.edges, report.lost_edges), (5, 2, 0), "{keys:?}: {report}");
        // Only the edge 4 to 5 is doubtful. The doubtful vertices are those that the last commit does not
        // name.
        assert_eq!((report.doubtful_edges, report.doubtful_vertices), (1, 3), "{keys:?}: {report}");
        assert!(report.losses.iter().any(|loss| loss.contains("that lost commits removed")), "{report}");

        // The lost commit removed an edge, and a later commit removed its end: the edge does not bring the
        // end back.
        let (report, graph) = salvaged_without(
            keys,
            1,
            &[
                &|tx, key| tx.put_edge((&key(1), &key(2))).unwrap(),
                &|tx, key| assert!(tx.remove_edge((&key(1), &key(2))).unwrap()),
                &|tx, key| assert!(tx.remove_vertex(&key(1)).unwrap()),
                &|tx, key| tx.put_edge((&key(2), &key(3))).unwrap(),
            ],
        );
        let snapshot = graph.snapshot().unwrap();
        assert!(
            !snapshot.contains_vertex(&key(1)).unwrap()
                && snapshot.contains_edge((&key(2), &key(3))).unwrap(),
            "{report}"
        );
        assert_eq!((report.vertices, report.edges, report.doubtful_edges), (2, 1, 0), "{keys:?}: {report}");
        assert_eq!(report.doubtful_vertices, 0, "{keys:?}: {report}");

        // The lost commit inserted a vertex: if its key is lost, its edges are lost too.
        let (report, _) = salvaged_without(
            keys,
            1,
            &[
                &|tx, key| tx.put_edge((&key(1), &key(2))).unwrap(),
                &|tx, key| assert!(tx.insert_vertex(&key(7)).unwrap()),
                &|tx, key| tx.put_edge((&key(7), &key(2))).unwrap(),
            ],
        );
        let dense = u64::from(keys == KeyKind::Dense);
        assert_eq!((report.vertices, report.edges), (2 + dense, 1 + dense), "{keys:?}: {report}");
        assert_eq!(report.lost_edges, 1 - dense, "{keys:?}: {report}");
    }
}

/// The report names each lost image by its label.
#[test]
fn losses_name_labels() {
    let disk = SimFs::new();
    let graph = crate::common::small().background_settling(false).open_on(disk.handle()).unwrap();
    graph.define_label("calls", LabelOptions::new()).unwrap();
    graph.define_vertex_property(KindId::DEFAULT, "age", hedgerow::PropertyType::I64).unwrap();
    let mut tx = graph.write().unwrap();
    for v in 0..500u64 {
        tx.put_edge((v, v + 1)).unwrap();
        tx.put_edge_with(EdgeKey::new("calls", v, v + 2), [("", Value::I64(0)); 0]).unwrap();
        tx.put_vertex_with(v, [("age", Value::I64(v as i64))]).unwrap();
    }
    tx.commit().unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    let name = disk.files().into_keys().find(|name| name.ends_with(".csr")).unwrap();
    let mut told = Vec::new();
    for at in (0..disk.files()[&name].len() as u64).step_by(64) {
        let damaged = SimFs::from_files(&disk.files());
        damaged.corrupt(&name, at, 1);
        let (report, _) = salvaged(&damaged);
        assert!(!report.is_sound() && report.is_whole() == (report.lost_subgraphs == 0), "{at}: {report}");
        told.extend(report.losses);
    }
    for what in ["of label \"calls\": ", "of the properties of vertices: "] {
        assert!(told.iter().any(|loss| loss.contains(what)), "{what}");
    }
    let unnamed = told.iter().find(|loss| loss.contains("label ") && !loss.contains("label \"calls\""));
    assert_eq!(unnamed, None);
}

/// Salvage names a label by its number if the definition is lost, and later labels by their names.
#[test]
fn a_lost_definition_costs_a_name() {
    let disk = SimFs::new();
    let graph = crate::common::small().background_settling(false).open_on(disk.handle()).unwrap();
    for label in ["first", "second"] {
        graph.define_label(label, LabelOptions::new().multi(label == "first")).unwrap();
    }
    let mut tx = graph.write().unwrap();
    for (label, rank) in [("first", 5), ("second", 0)] {
        tx.put_edge_with(EdgeKey::new(label, 1u64, 2u64).rank(rank), [("size", Value::I64(3))]).unwrap();
    }
    tx.commit().unwrap();
    graph.close().unwrap();
    let record = records(&disk.files()).remove(0);
    disk.corrupt(&record.file, record.bytes.start as u64 + 3, 1);
    let (report, graph) = salvaged(&disk);
    assert!(report.losses.iter().any(|loss| loss.contains("\"label-1\"")), "{report}");
    let snapshot = graph.snapshot().unwrap();
    for (label, rank) in [("label-1", 5), ("second", 0)] {
        let edge = EdgeKey::new(label, 1u64, 2u64).rank(rank);
        assert_eq!(snapshot.edge_property(edge, "size").unwrap(), Some(Value::I64(3)), "{label}: {report}");
    }
}

#[test]
fn nothing_is_written_into_the_store_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for link in ["link", "deeper"] {
        let target = if link == "link" { path("store") } else { path("store/sub") };
        std::os::unix::fs::symlink(target, path(link)).unwrap();
    }
    Graph::open(path("store")).unwrap().insert_edge((1u64, 2u64)).unwrap();
    std::fs::create_dir(path("store/sub")).unwrap();
    let inside = [
        "store",
        "store/copy",
        "store/sub",
        "store/sub/copy",
        "link",
        "link/copy",
        "deeper/copy",
        "store/../link/a",
    ];
    for read_only in [false, true] {
        let graph = crate::common::small().read_only(read_only).open(path("link")).unwrap();
        // The store recognizes its directory by identity, not by name.
        std::fs::rename(path("store"), path("moved")).unwrap();
        assert!(matches!(graph.backup(path("moved/copy")), Err(Error::Argument(ArgumentError::Invalid(_)))));
        std::fs::rename(path("moved"), path("store")).unwrap();
        for name in inside {
            let refused = graph.backup(path(name)).map_err(|error| error.to_string());
            assert!(refused.as_ref().is_err_and(|e| e.contains("or below it")), "{name}: {refused:?}");
        }
        graph.backup(path(&format!("beside-{read_only}"))).unwrap();
        graph.close().unwrap();
    }
    for name in inside {
        let refused = hedgerow::salvage(path("store"), path(name)).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|e| e.contains("or below it")), "{name}: {refused:?}");
    }
    hedgerow::salvage(path("store"), path("saved")).unwrap();
    assert!(std::fs::read_dir(path("store/sub")).unwrap().next().is_none());
}
