//! Tests of exports from stores with labels: the choice of a label, and a directory of the whole store.

use std::path::Path;

use hedgerow::{EdgeKey, KeyKind, KindId, LabelOptions, Options, PropertyType, Value};
use serde_json::json;

use crate::{Bench, field, hedgerow, names};

const CALLS: &str = "c/lls:é";

type Cells<'a> = &'a [(&'a str, Value)];

/// Makes a store with calls that have ranks, with friends, and with a weighted edge. Some keys and texts need
/// quotes.
fn fill(bench: &Bench, directed: bool) {
    let options = Options::new().directed(directed).weighted(true).keys(KeyKind::Str);
    let graph = options.open(bench.store()).expect("a new store");
    graph.define_vertex_property(KindId::DEFAULT, "na me", PropertyType::Utf8).expect("a definition");
    graph.define_label(CALLS, LabelOptions::new().multi(true)).expect("a definition");
    let mut tx = graph.write().expect("a transaction");
    let people: [(&str, Cells<'_>); 4] = [
        ("ann", &[("na me", "A, \"n\"\nn".into())]),
        ("bob", &[("na me", "".into()), ("age", (-1).into())]),
        ("#c", &[]),
        (" \n", &[("na me", " x ".into()), ("age", 7.into())]),
    ];
    for (key, cells) in people {
        tx.put_vertex_with(key, cells.iter().cloned()).expect("a vertex");
    }
    let edges: [(EdgeKey<'_>, Cells<'_>); 6] = [
        (EdgeKey::new(CALLS, "ann", "bob").rank(100), &[]),
        (EdgeKey::new(CALLS, "ann", "bob").rank(101), &[("note", "".into())]),
        (EdgeKey::new(CALLS, "bob", "#c").rank(100), &[("note", "# a".into())]),
        (EdgeKey::new("friend", "ann", "bob"), &[]),
        (EdgeKey::new("friend", "bob", "ann"), &[]),
        (EdgeKey::new("", "#c", "ann"), &[("weight", 0.5.into())]),
    ];
    for (edge, cells) in edges {
        tx.put_edge_with(edge, cells.iter().cloned()).expect("an edge");
    }
    tx.commit().expect("a commit");
    graph.close().expect("closed");
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema_of(directory: &Path) -> serde_json::Value {
    serde_json::from_str(&text(&directory.join("schema.json"))).expect("JSON")
}

#[test]
fn a_directory_holds_everything_and_its_schema() {
    for (directed, friends) in [(true, "ann,bob\nbob,ann\n"), (false, "ann,bob\n")] {
        let bench = Bench::new();
        fill(&bench, directed);
        let out = bench.path("out");
        let report = hedgerow("export @ @ --json", &[&bench.store(), &out]).ok();
        let edges = if directed { 6 } else { 5 };
        assert_eq!((field(&report, "vertices"), field(&report, "edges")), (json!(4), json!(edges)));
        let files = ["edges-1-c_lls__.csv", "edges-2-friend.csv", "edges.csv", "schema.json", "vertices.csv"];
        assert_eq!(names(&out), files);
        let people =
            "id,na me:utf8,age:i64\nann,\"A, \"\"n\"\"\nn\",\nbob,\"\",-1\n\"#c\",,\n\" \n\",\" x \",7\n";
        assert_eq!(text(&out.join("vertices.csv")), people);
        let first = if directed { "\"#c\",ann" } else { "ann,\"#c\"" };
        assert_eq!(text(&out.join("edges.csv")), format!("src,dst,weight\n{first},0.5\n"));
        let calls = "src,dst,rank,note:utf8\nann,bob,100,\nann,bob,101,\"\"\nbob,\"#c\",100,\"# a\"\n";
        assert_eq!(text(&out.join("edges-1-c_lls__.csv")), calls);
        assert_eq!(text(&out.join("edges-2-friend.csv")), format!("src,dst\n{friends}"));
        let schema = schema_of(&out);
        let label = |name: &str, multi: bool, file: &str, rows: u64, properties: serde_json::Value| json!({"name": name, "multi": multi, "file": file, "rows": rows, "properties": properties});
        let expected = json!({
            "format": "hedgerow-export",
            "version": 1,
            "directed": directed,
            "keys": "str",
            "weighted": true,
            "reverse": true,
            "vertices": {
                "file": "vertices.csv",
                "rows": 4,
                "properties": [{"name": "na me", "type": "utf8"}, {"name": "age", "type": "i64"}],
            },
            "labels": [
                label("", false, "edges.csv", 1, json!([])),
                label(CALLS, true, files[0], 3, json!([{"name": "note", "type": "utf8"}])),
                label("friend", false, files[1], edges - 4, json!([])),
            ],
        });
        assert_eq!(schema, expected);
    }
    // A store without edges still exports its default label. The export accepts an empty directory.
    let bench = Bench::new();
    let ids = bench.file("ids.v", "3\n");
    hedgerow("load @ @ --keys dense", &[&bench.store(), &ids]).ok();
    let out = bench.path("out");
    std::fs::create_dir(&out).expect("a directory");
    assert_eq!(
        hedgerow("export @ @", &[&bench.store(), &out]).ok(),
        "vertices: 1\nedges:    0\nlabels:   1\n"
    );
    assert_eq!(text(&out.join("edges.csv")), "src,dst\n");
    let schema = schema_of(&out);
    assert_eq!((&schema["keys"], &schema["weighted"]), (&json!("dense"), &json!(false)));
}

/// Returns the content of a directory by the names of its files.
fn content_of(directory: &Path) -> Vec<(String, String)> {
    let content = |name: String| (text(&directory.join(&name)), name);
    names(directory).into_iter().map(content).map(|(content, name)| (name, content)).collect()
}

#[test]
fn what_is_exported_into_a_directory_is_loaded_equal() {
    for directed in [true, false] {
        let bench = Bench::new();
        fill(&bench, directed);
        let (first, again, other) = (bench.path("first"), bench.path("again"), bench.path("other"));
        hedgerow("export @ @", &[&bench.store(), &first]).ok();
        hedgerow("load @ @", &[&other, &first]).ok();
        hedgerow("export @ @", &[&other, &again]).ok();
        assert_eq!(content_of(&again), content_of(&first));
        let schema = |store: &Path| hedgerow("schema @ --csv", &[store]).ok();
        assert_eq!(schema(&other), schema(&bench.store()));
        hedgerow("check @", &[&other]).ok();
    }
}

#[test]
fn a_directory_that_is_in_use_is_left_alone() {
    let bench = Bench::new();
    fill(&bench, true);
    let (store, out) = (bench.store(), bench.path("out"));
    let before = names(&store);
    hedgerow("export @ @", &[&store, &out]).ok();
    let schema = text(&out.join("schema.json"));
    let file = bench.file("file", "x");
    let inside = store.join("out");
    let nowhere = bench.path("no/where");
    for (dir, expected) in [
        (&out, "is not empty: an export goes into a new directory or an empty one"),
        (&store, "is not empty"),
        (&file, "is not a directory"),
        (&inside, "is inside the store"),
        (&nowhere, "No such file or directory"),
    ] {
        let error = hedgerow("export @ @", &[&store, dir]).fails(1);
        assert!(error.contains(expected) && error.contains(&*dir.to_string_lossy()), "{error}");
    }
    assert_eq!((text(&out.join("schema.json")), names(&store)), (schema, before));
    for options in ["--out @ @", "@ --label friend", "@ --properties", "@ --vertices @"] {
        let error = hedgerow(&format!("export @ {options}"), &[&store, &file, &out]).fails(2);
        assert!(error.contains("cannot be used with"), "{error}");
    }
    // Without a store, the export makes no directory.
    let other = bench.path("other");
    hedgerow("export @ @", &[&nowhere, &other]).fails(1);
    assert!(!other.exists());
}

#[test]
fn one_file_holds_one_label() {
    let bench = Bench::new();
    fill(&bench, true);
    let (store, out) = (bench.store(), bench.path("out.csv"));
    let error = hedgerow("export @ --out @", &[&store, &out]).fails(1);
    let expected = "the edges have 3 labels, \"\", \"c/lls:é\", \"friend\": name one of them with --label, or export all of \
                    them into a directory: hedgerow export STORE DIR";
    assert_eq!(error, expected);
    assert!(!out.exists());
    let mut command = crate::program();
    command.arg("export").arg(&store).args(["--label", ""]);
    let output = command.output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "src,dst,weight\n\"#c\",ann,0.5\n");
    // If a store has one label, the commands use it.
    let (one, friends) = (bench.path("one"), bench.file("a.csv", "1,2\n2,3\n"));
    hedgerow("load @ @ --label friend --multi", &[&one, &friends]).ok();
    assert_eq!(hedgerow("export @", &[&one]).ok(), "src,dst,rank\n1,2,0\n2,3,1\n");
    assert_eq!(hedgerow("neighbors @ 2 --ranks", &[&one]).ok(), "3\t1\n");
    assert_eq!(hedgerow("run bfs @ --source 1 --out -", &[&one]).ok(), "1 0\n2 1\n3 2\n");
    for label in ["", "--label friend"] {
        let parts = hedgerow(&format!("run wcc @ --json {label}"), &[&one]).ok();
        assert_eq!(field(&parts, "edges"), 2, "the edges of all labels, or of that one");
    }
}

/// A value may be longer than a line of other files.
#[test]
fn long_values_are_loaded_again() {
    let bench = Bench::new();
    let graph = Options::new().open(bench.store()).expect("a new store");
    let mut tx = graph.write().expect("a transaction");
    let (quotes, bytes) = ("\"\n".repeat(1 << 20), vec![0xA5_u8; 3 << 20]);
    let cells = [("text", Value::from(quotes.as_str())), ("bytes", Value::from(&bytes[..]))];
    tx.put_edge_with(EdgeKey::new("long", 1_u64, 2_u64), cells.iter().cloned()).expect("an edge");
    tx.put_vertex_with(7_u64, cells).expect("a vertex");
    tx.commit().expect("a commit");
    graph.close().expect("closed");
    let (out, again, last) = (bench.path("out"), bench.path("again"), bench.path("last"));
    hedgerow("export @ @", &[&bench.store(), &out]).ok();
    hedgerow("load @ @", &[&again, &out]).ok();
    hedgerow("export @ @", &[&again, &last]).ok();
    assert!(content_of(&out) == content_of(&last));
    let edges = bench.path("edges.csv");
    hedgerow("export @ --label long --properties --out @", &[&bench.store(), &edges]).ok();
    let command = "load @ @ --label long --property text:utf8 --property bytes:bytes";
    hedgerow(command, &[&bench.path("third"), &edges]).ok();
    let exported = hedgerow("export @ --label long --properties", &[&bench.path("third")]).ok();
    assert!(exported == text(&edges));
}

/// A file of keys alone has no quotes.
#[test]
fn keys_that_a_line_cannot_hold_are_refused() {
    let bench = Bench::new();
    for key in [" a", "a\nb", ""] {
        let (store, out, edges) = (bench.store(), bench.path("keys.v"), bench.path("edges.csv"));
        let graph = Options::new().keys(KeyKind::Str).open(&store).expect("a new store");
        let mut tx = graph.write().expect("a transaction");
        tx.insert_vertex(key).expect("a vertex");
        tx.commit().expect("a commit");
        graph.close().expect("closed");
        let error = hedgerow("export @ --out @ --vertices @", &[&store, &edges, &out]).fails(1);
        assert!(error.contains("which a line without quotes does not keep; say --properties"), "{error}");
        assert!(!out.exists() && !edges.exists());
        hedgerow("export @ --out @ --properties --vertices @", &[&store, &edges, &out]).ok();
        if !key.is_empty() {
            let again = bench.path("again");
            hedgerow("load @ --vertices @ --keys str", &[&again, &out]).ok();
            assert_eq!(field(&hedgerow("stats @ --json", &[&again]).ok(), "vertices"), 1);
            std::fs::remove_dir_all(again).expect("removed");
        }
        std::fs::remove_dir_all(&store).expect("removed");
        for file in [out, edges] {
            std::fs::remove_file(file).expect("removed");
        }
    }
}
