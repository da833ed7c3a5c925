//! Tests of directories in the form of an export: their content is loaded again, and content that does not
//! fit is refused.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::{Bench, field, hedgerow};

const VERTICES: &str =
    "id,name:utf8,born:timestamp\nann,\"A\nB\",5\n\" b \",\"\",\n\"#c\",,-1\n\"\",,\nNULL,NULL,\n";
const EDGES: &str = "src,dst,weight,how:utf8\nann,\" b \",0.5,x\n\"#c\",\"\",inf,\n";
const KNOWS: &str = "src,dst,rank,since:i64\nann,\"#c\",7,1\nann,\"#c\",9,\nNULL,ann,0,-2\n";

fn schema() -> serde_json::Value {
    json!({
        "format": "hedgerow-export", "version": 1, "directed": true, "keys": "str", "weighted": true, "reverse": false,
        "vertices": {"file": "vertices.csv", "rows": 5, "properties": [
            {"name": "name", "type": "utf8"}, {"name": "born", "type": "timestamp"}]},
        "labels": [
            {"name": "", "multi": false, "file": "edges.csv", "rows": 2, "properties": [{"name": "how", "type": "utf8"}]},
            {"name": "likes", "multi": false, "file": "edges-1-likes.csv", "rows": 0, "properties": []},
            {"name": "knows/x", "multi": true, "file": "edges-2-knows_x.csv", "rows": 3,
                "properties": [{"name": "since", "type": "i64"}]}],
    })
}

fn write(bench: &Bench, schema: &serde_json::Value) -> PathBuf {
    let directory = bench.path("export");
    std::fs::create_dir_all(&directory).expect("created");
    for (name, content) in [
        ("vertices.csv", VERTICES),
        ("edges.csv", EDGES),
        ("edges-1-likes.csv", "src,dst\n"),
        ("edges-2-knows_x.csv", KNOWS),
        ("schema.json", &schema.to_string()),
    ] {
        std::fs::write(directory.join(name), content).expect("written");
    }
    directory
}

/// Returns the exports of a store into single files.
fn all(store: &Path) -> Vec<String> {
    let vertices = store.with_extension("vertices");
    let mut all = vec![hedgerow("schema @ --csv", &[store]).ok()];
    for label in ["", "knows/x", "likes"] {
        let command = ["export", "@", "--properties", "--vertices", "@", "--label"].join(" ");
        let mut call = crate::program();
        call.args(["export", "--properties", "--vertices"])
            .arg(&vertices)
            .arg(store)
            .args(["--label", label]);
        let ran = call.output().unwrap_or_else(|why| panic!("{command}: {why}"));
        assert!(ran.status.success(), "{ran:?}");
        all.push(String::from_utf8(ran.stdout).expect("text"));
    }
    all.push(std::fs::read_to_string(&vertices).expect("written"));
    all
}

#[test]
fn everything_comes_back() {
    let bench = Bench::new();
    let directory = write(&bench, &schema());
    let loaded = hedgerow("load @ @ --json --batch 2", &[&bench.store(), &directory]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "edges")), (json!(10), json!(5)));
    assert_eq!(field(&loaded, "keys"), "str");
    let stats = hedgerow("stats @ --json", &[&bench.store()]).ok();
    assert_eq!((field(&stats, "weighted"), field(&stats, "vertices")), (json!(true), json!(5)));
    let labels = "kind,label,property,type\nlabel,\"\",,\nedge property,\"\",how,utf8\nlabel,likes,,\n\
        multi label,knows/x,,\nedge property,knows/x,since,i64\nvertex property,,name,utf8\n\
        vertex property,,born,timestamp\n";
    // Numbers in a column of times are microseconds here, because earlier versions wrote them. The export
    // writes dates.
    let vertices = VERTICES.replace(",5\n", ",1970-01-01T00:00:00.000005Z\n");
    let vertices = vertices.replace(",-1\n", ",1969-12-31T23:59:59.999999Z\n");
    let expected = [labels, EDGES, KNOWS, "src,dst\n", &vertices];
    assert_eq!(all(&bench.store()), expected);
    // A second load changes nothing. A store with other options refuses the directory.
    let again = hedgerow("load @ @ --json", &[&bench.store(), &directory]).ok();
    assert_eq!((field(&again, "new_edges"), field(&again, "new_vertices")), (json!(0), json!(0)));
    assert_eq!(all(&bench.store()), expected);
    let other = bench.path("other");
    let file = bench.file("a.csv", "1,2,3\n");
    for options in ["", "--keys str", "--keys str --weight-col 3"] {
        hedgerow(&format!("load @ @ {options}"), &[&other, &file]).ok();
        let error = hedgerow("load @ @", &[&other, &directory]).fails(1);
        assert!(error.contains("it cannot be opened"), "{error}");
        std::fs::remove_dir_all(&other).expect("removed");
    }
}

#[test]
fn undirected_and_dense() {
    let bench = Bench::new();
    for (keys, directed) in [("dense", false), ("u64", true)] {
        let schema = json!({
            "format": "hedgerow-export", "version": 1, "directed": directed, "keys": keys, "weighted": false,
            "reverse": true, "vertices": {"file": "v.csv", "rows": 3, "properties": []},
            "labels": [{"name": "", "multi": false, "file": "e.csv", "rows": 1, "properties": []}],
        });
        let directory = write(&bench, &schema);
        std::fs::write(directory.join("v.csv"), "id\n0\n1\n2\n").expect("written");
        std::fs::write(directory.join("e.csv"), "src,dst\n0,1\n").expect("written");
        let store = bench.path(keys);
        hedgerow("load @ @", &[&store, &directory]).ok();
        let stats = hedgerow("stats @ --json", &[&store]).ok();
        assert_eq!((field(&stats, "vertices"), field(&stats, "directed")), (json!(3), json!(directed)));
        assert_eq!((field(&stats, "edges"), field(&stats, "keys")), (json!(1), json!(keys)));
    }
}

#[test]
fn a_schema_that_disagrees_is_refused() {
    type Change = fn(&mut serde_json::Value);
    let changes: &[(Change, &str)] = &[
        (|s| s["format"] = json!("csv"), "schema.json: format: expected \"hedgerow-export\", found \"csv\""),
        (
            |s| s["version"] = json!(4),
            "schema.json: version: expected 1 to 3, which this program knows, found 4",
        ),
        (
            |s| s["keys"] = json!("int"),
            "schema.json: keys: expected \"u64\", \"str\" or \"dense\", found \"int\"",
        ),
        (|s| s["directed"] = json!(1), "schema.json: directed: expected true or false, found 1"),
        (|s| s["labels"] = json!([]), "schema.json: labels: expected at least the default label"),
        (|s| s["labels"][0]["name"] = json!("x"), "schema.json: labels[0].name: expected \"\""),
        (|s| s["labels"][1]["name"] = json!("knows/x"), "labels: expected one label named \"knows/x\""),
        (|s| s["labels"][2]["rows"] = json!(4), "edges-2-knows_x.csv: the number of rows is 3, "),
        (
            |s| s["labels"][2]["multi"] = json!(false),
            "edges-2-knows_x.csv: the header is \"src,dst,rank,since:i64\", ",
        ),
        (|s| s["labels"][1]["file"] = json!("none.csv"), "none.csv: no such file, and "),
        (
            |s| s["labels"][1]["file"] = json!("../a.csv"),
            "labels[1].file: expected the name of a file in the same",
        ),
        (
            |s| s["vertices"]["properties"][0]["type"] = json!("int"),
            "vertices.properties[0].type: expected bool, i64",
        ),
        (
            |s| s["vertices"]["properties"][1]["name"] = json!("name"),
            "expected a name that no other property has",
        ),
        (|s| s["vertices"]["properties"][1]["type"] = json!("i64"), "vertices.csv: the header is "),
        (|s| s["keys"] = json!("u64"), "vertices.csv:2: vertex id \"ann\" is not a number"),
        (|s| *s = json!([]), "schema.json: format: expected a text, found nothing"),
    ];
    for (change, expected) in changes {
        let bench = Bench::new();
        let mut schema = schema();
        change(&mut schema);
        let directory = write(&bench, &schema);
        let error = hedgerow("load @ @", &[&bench.store(), &directory]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    let bench = Bench::new();
    let directory = write(&bench, &schema());
    let error = hedgerow("load @ @ --keys str", &[&bench.store(), &directory]).fails(2);
    assert!(error.contains("--keys does not apply to a directory: its schema.json"), "{error}");
    std::fs::write(directory.join("edges.csv"), "").expect("written");
    let error = hedgerow("load @ @", &[&bench.store(), &directory]).fails(1);
    assert!(error.contains("edges.csv: the header is \"\", "), "{error}");
    std::fs::write(directory.join("schema.json"), "{").expect("written");
    let error = hedgerow("load @ @", &[&bench.store(), &directory]).fails(1);
    assert!(error.contains("schema.json: no JSON: "), "{error}");
    std::fs::remove_file(directory.join("schema.json")).expect("removed");
    let error = hedgerow("load @ @", &[&bench.store(), &directory]).fails(1);
    assert!(error.contains("schema.json: ") && error.contains("one that an export wrote"), "{error}");
    assert!(!bench.store().exists());
}
