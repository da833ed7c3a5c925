//! Tests of the names of graphs, and of the graphs that they load.

use std::collections::HashSet;
use std::path::PathBuf;

use hedgerow_core::VertexKey;

use super::{GraphSpec, LoadError};

fn parse(text: &str) -> GraphSpec {
    text.parse().expect("a graph")
}

fn file(path: &str, format: Option<&str>, undirected: bool) -> GraphSpec {
    GraphSpec::File { path: PathBuf::from(path), format: format.map(str::to_owned), undirected }
}

#[test]
fn names_round_trip() {
    assert_eq!(parse("kron:18"), GraphSpec::Kron { scale: 18, edge_factor: 16 });
    assert_eq!(parse("uniform:10:4"), GraphSpec::Uniform { scale: 10, edge_factor: 4 });
    assert_eq!(parse("file:a:b.csv"), file("a:b.csv", None, false));
    assert_eq!(parse("file:x/y.txt:snap:undirected"), file("x/y.txt", Some("snap"), true));
    assert_eq!(parse("file:g.properties:graphalytics"), file("g.properties", Some("graphalytics"), false));
    assert_eq!(
        parse("data:static/law-cnr-2000/"),
        GraphSpec::Data { name: "static/law-cnr-2000".to_owned() }
    );
    for text in ["kron:18", "kron:18:8", "uniform:3", "file:a:b", "file:a:wel:undirected", "data:x/y"] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "kron", "kron:", "kron:x", "kron:32", "kron:5:0", "kron:5:x", "file:", "data:", "tree:5"]
    {
        let error = text.parse::<GraphSpec>().expect_err(text);
        assert_eq!(error.text, text);
        assert!(!error.reason.is_empty());
    }
}

#[test]
fn files_get_dense_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.txt");
    let load = |text: &str| {
        std::fs::write(&path, text).expect("written");
        file(path.to_str().expect("UTF-8"), None, false).load()
    };
    let graph = load("7 5\n5 900\n7 5\n").expect("read").expect("there");
    assert_eq!((graph.vertices, graph.edges.as_slice()), (3, &[(0, 1), (1, 2), (0, 1)][..]));
    assert_eq!(graph.key(2), VertexKey::U64(900));
    let graph = load("7 5\nbob 7\n").expect("read").expect("there");
    assert_eq!(graph.edges, [(0, 1), (2, 0)]);
    let keys = graph.keys.expect("keys");
    assert_eq!(keys, [VertexKey::from("7"), VertexKey::from("5"), VertexKey::from("bob")]);
    let error = load("7 5\n7\n").expect_err("a malformed row").to_string();
    assert!(error.contains("g.txt:2: no column 2 for the destination"), "{error}");
}

#[test]
fn weights_come_with_all_rows_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.e");
    std::fs::write(&path, "1 2 0.5\n2 3\n").expect("written");
    let spec = file(path.to_str().expect("UTF-8"), None, true);
    assert!(matches!(spec.load(), Err(LoadError::MixedWeights { line: 2, .. })));
    std::fs::write(&path, "1 2 0.5\n2 3 4\n").expect("written");
    let graph = spec.load().expect("read").expect("there");
    assert_eq!((graph.weights.as_deref(), graph.directed), (Some(&[0.5, 4.0][..]), false));
}

#[test]
fn data_sets_have_their_published_sizes() {
    for (name, vertices, edges) in [
        ("static/law-cnr-2000", 325_557, 3_216_152),
        ("static/snap-soc-Slashdot0902", 82_168, 948_464),
        ("static/dimacs9-road-NY", 264_346, 365_050),
        ("static/snap-ego-Facebook", 4_039, 88_234),
        ("temporal/snap-sx-mathoverflow", 24_818, 239_978),
        ("expected/graphscope-p2p-Gnutella31", 62_586, 147_892),
    ] {
        let Some(graph) = GraphSpec::Data { name: name.to_owned() }.load().expect("readable") else {
            continue;
        };
        let order = |&(u, v): &(u32, u32)| if graph.directed || u < v { (u, v) } else { (v, u) };
        let distinct: HashSet<(u32, u32)> = graph.edges.iter().map(order).collect();
        assert_eq!((graph.vertices, distinct.len()), (vertices, edges), "{name}");
    }
    let unknown = GraphSpec::Data { name: "static/none".to_owned() }.load();
    assert!(matches!(unknown, Err(LoadError::UnknownData { .. })));
}

#[test]
fn a_symmetric_matrix_has_both_directions_where_edges_have_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.mtx");
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 1 2\n3 3 7\n";
    std::fs::write(&path, text).expect("written");
    let load = |undirected| {
        let graph = file(path.to_str().expect("UTF-8"), None, undirected).load();
        let graph = graph.expect("read").expect("there");
        (graph.edges, graph.weights.expect("weights"))
    };
    // The ids are dense, in the order in which the vertices first appear: 2, 1, 3.
    assert_eq!(load(true), (vec![(0, 1), (2, 1), (2, 2)], vec![0.5, 2.0, 7.0]));
    let both = vec![(0, 1), (1, 0), (2, 1), (1, 2), (2, 2)];
    assert_eq!(load(false), (both, vec![0.5, 0.5, 2.0, 2.0, 7.0]));
}
