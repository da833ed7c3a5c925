//! Tests of GraphML: typed data of nodes and edges, and elements that a graph of this store cannot have.

use hedgerow_workload::data;
use serde_json::json;

use crate::{Bench, field, hedgerow};

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="n" for="node" attr.name="name" attr.type="string"/>
<key id="age" for="node" attr.name="age" attr.type="int"><default>7</default></key>
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<key id="kind" for="edge" attr.name="kind" attr.type="string"/>
"#;

/// Returns a file with these elements in its graph.
fn file(elements: &str) -> String {
    format!("{HEAD}<graph edgedefault=\"directed\">\n{elements}</graph>\n</graphml>\n")
}

const ELEMENTS: &str = r#"<node id="1"><data key="n">A &amp; B&#33;</data><data key="age">30</data></node>
<!-- a comment -->
<node id="2"><desc>no data</desc></node>
<edge id="e0" source="1" target="2"><data key="w">0.5</data><data key="kind"><![CDATA[<knows>]]></data></edge>
<edge source="2" target="3" directed="true"/>
"#;

#[test]
fn data_are_properties_with_their_types() {
    let bench = Bench::new();
    let path = bench.file("a.graphml", file(ELEMENTS));
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &path]).ok();
    for (name, count) in [("rows", 4), ("new_vertices", 3), ("new_edges", 2), ("rejected", 0)] {
        assert_eq!(field(&loaded, name), json!(count), "{name}");
    }
    assert!(loaded.contains("attributes are left out: id of edge"), "{loaded}");
    let export =
        |options: &str| hedgerow(&format!("export @ --properties {options}"), &[&bench.store()]).ok();
    assert_eq!(export(""), "src,dst,weight:f64,kind:utf8\n1,2,0.5,<knows>\n2,3,,\n");
    let found = hedgerow("find @ --json age=7", &[&bench.store()]).ok();
    assert!(found.contains('2'), "{found}");
    assert!(hedgerow("find @ --json name=A&B", &[&bench.store()]).status == Some(0));
    // A key may name labels or weights, under any name of the file.
    let (labels, path) =
        (bench.path("labels"), bench.file("a.xml", file(&ELEMENTS.replace("target=\"3\"", "target=\"3\" "))));
    let one = path.clone();
    let error = hedgerow("load @ @ --label-column kind", &[&labels, &one]).fails(1);
    assert!(error.contains("a.xml:12: no label"), "{error}");
    let loaded =
        hedgerow("load @ @ --label-column kind --weighted --on-error skip --json", &[&labels, &one]).ok();
    assert_eq!([field(&loaded, "new_edges"), field(&loaded, "rejected")], [json!(1), json!(1)]);
    let exported = hedgerow("export @ --label <knows> --properties", &[&labels]).ok();
    assert_eq!(exported, "src,dst,weight:f64\n1,2,0.5\n");
    // An existing store is checked first, and has the direction of the file.
    let again = hedgerow("load @ @ --json", &[&bench.store(), &path]).ok();
    assert_eq!([field(&again, "existing_edges"), field(&again, "existing_vertices")], [json!(2), json!(2)]);
    let undirected = bench.file(
        "u.graphml",
        file(ELEMENTS).replace("\"directed\"", "\"undirected\"").replace("directed=\"true\"", ""),
    );
    assert!(hedgerow("load @ @", &[&bench.store(), &undirected]).fails(1).contains("directed"));
    let other = bench.path("undirected");
    hedgerow("load @ @", &[&other, &undirected]).ok();
    assert_eq!(field(&hedgerow("stats @ --json", &[&other]).ok(), "directed"), json!(false));
}

#[test]
fn elements_without_a_place_in_the_store_are_refused_with_their_line() {
    let bench = Bench::new();
    let bomb = "<!DOCTYPE g [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n";
    let node = |text: &str| file(&format!("<node id=\"1\">{text}</node>\n"));
    for (content, expected) in [
        (
            file("<node id=\"1\"><graph edgedefault=\"directed\"/></node>\n"),
            ":8: a graph inside of a node or an edge",
        ),
        (file("<hyperedge/>\n"), ":8: a hyperedge: an edge has two ends"),
        (file("<node id=\"1\"><port name=\"p\"/></node>\n"), ":8: port: a node has no ports"),
        (file("<edge source=\"1\" target=\"2\" sourceport=\"p\"/>\n"), ":8: sourceport: a node has no ports"),
        (file("<edge source=\"1\"/>\n"), ":8: edge without target"),
        (file("<node/>\n"), ":8: node without id"),
        (
            file("<edge source=\"1\" target=\"2\" directed=\"false\"/>\n"),
            ":8: directed=\"false\" in a graph with directed edges",
        ),
        (node("<data key=\"x\">1</data>"), ":8: data of key \"x\", which is not declared before graph"),
        (node("<data key=\"w\">1</data>"), ":8: data of key \"w\", which is not for nodes"),
        (node("<data key=\"age\">old</data>"), ":8: property age is not a whole number"),
        (node("<data key=\"n\">a</data>\n<data key=\"n\">b</data>"), ":8: two data of key \"n\""),
        (node("<data key=\"n\"><b>a</b></data>"), ":8: elements in data of key \"n\""),
        (node("<data key=\"n\">&b;</data>"), ":8: entity &b; is not expanded"),
        (file("<node id=\"x\"/>\n"), ":8: id: vertex id \"x\" is not a number"),
        (file("text\n"), ":9: text between elements"),
        (file("<node id=\"1\">\n"), ":9: no XML: "),
        (file("").replace("</graph>", ""), ":9: no XML: "),
        (HEAD.to_owned(), ":7: no GraphML: the file has no element graph"),
        (file("").replace("directed", "sideways"), ":7: graph: edgedefault is neither"),
        (file("").replace("\"int\"", "\"date\""), ":4: key \"age\": attr.type is \"date\""),
        (file("").replace("UTF-8", "ISO-8859-1"), ":1: encoding iso-8859-1; convert the file to UTF-8"),
        (
            file("").replace("</graph>", "</graph><graph edgedefault=\"directed\"/>"),
            ":8: a second graph after the graph",
        ),
        (file("").replace("id=\"age\"", "id=\"n\""), "key \"n\" is declared twice"),
        (file("").replace("\"age\" attr", "\"name\" attr"), "two keys are property \"name\""),
        ("<html></html>\n".to_owned(), ":1: no GraphML: the first element is html"),
        ("no XML\n".to_owned(), "no GraphML"),
        (
            node("<data key=\"n\">&b;</data>").replace("<graphml", &format!("{bomb}<graphml")),
            "entity &b; is not expanded",
        ),
    ] {
        let path = bench.file("a.graphml", &content);
        let error = hedgerow("load @ @", &[&bench.store(), &path]).fails(1);
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!bench.store().exists());
    }
    // Bytes that are no text, and a file that was cut off at any place.
    let whole = file(ELEMENTS);
    for end in (0..whole.len() - 12).step_by(29) {
        let path = bench.file("a.graphml", &whole[..end]);
        hedgerow("load @ @", &[&bench.store(), &path]).fails(1);
    }
    let path = bench.file("a.graphml", [whole.as_bytes(), b"\xff\xfe"].concat());
    hedgerow("load @ @", &[&bench.store(), &path]).fails(1);
    for (options, expected) in [
        ("--delimiter ,", "--delimiter: GraphML has elements"),
        ("--src-col 1", "--src-col: GraphML has elements"),
        ("--label-column 3", "--label-column: GraphML has no columns; name a key"),
    ] {
        let path = bench.file("a.graphml", &whole);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &path]).fails(2);
        assert!(error.contains(expected), "{error}");
    }
    let error =
        hedgerow("load @ @ --rank since --label l", &[&bench.store(), &bench.file("a.graphml", &whole)])
            .fails(1);
    assert!(error.contains("--rank: no key of edges is named since"), "{error}");
}

#[test]
fn a_published_file_is_loaded_whole() {
    let name = "property/air-routes/air-routes-small.graphml.zst";
    let Some(path) = data::require_data(name, "a load of GraphML").expect("the data") else { return };
    let bench = Bench::new();
    let loaded = hedgerow("load @ @ --label-column labelE --json", &[&bench.store(), &path]).ok();
    assert_eq!(field(&loaded, "rejected"), json!(0));
    let schema = hedgerow("schema @ --json", &[&bench.store()]).ok();
    assert!(schema.contains("\"route\"") && schema.contains("dist"), "{schema}");
    assert!(field(&loaded, "new_edges").as_u64() > Some(100), "{loaded}");
}

#[test]
fn nodes_and_the_ends_of_edges_are_the_same_vertices() {
    let bench = Bench::new();
    let path = bench.file("a.graphml", file(ELEMENTS));
    let (store, options) = (bench.store(), "--label knows --from person --to person");
    hedgerow(&format!("load @ @ {options} --kind person"), &[&store, &path]).ok();
    assert_eq!(hedgerow("neighbors @ person:1 --csv", &[&store]).ok().lines().count(), 2);
    let found = hedgerow("find @ --kind person --json age=30", &[&store]).ok();
    assert_eq!(field(&found, "vertices").as_array().map(Vec::len), Some(1), "{found}");
    // The label states the kinds now. Nodes of the default kind would be other vertices.
    for options in ["--label knows", options] {
        let error = hedgerow(&format!("load @ @ {options}"), &[&store, &path]).fails(1);
        assert!(error.contains("join vertices of other kinds than the nodes of the file"), "{error}");
    }
}

#[test]
fn what_other_layouts_refuse_is_refused_here_too() {
    let bench = Bench::new();
    let refused = |elements: &str, options: &str, why: &str| {
        let path = bench.file("a.graphml", file(elements));
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &path]).fails(1);
        assert!(error.contains(why), "{error}");
    };
    let weight = "<edge source=\"1\" target=\"2\"><data key=\"w\">9007199254740993</data></edge>";
    refused(weight, "--weighted", "9007199254740993");
    refused("<node id=\"\"/>", "--keys str", "id is empty");
    refused("<node id=\"1\"><![CDATA[x]]></node>", "", "text outside of data");
    let empty = file("<node id=\"1\"/>").replace("<default>7</default>", "").replace(
        "attr.name=\"name\" attr.type=\"string\"/>",
        "attr.name=\"name\" attr.type=\"string\"><default/></key>",
    );
    let path = bench.file("empty.graphml", empty);
    hedgerow("load @ @", &[&bench.store(), &path]).ok();
    let found = hedgerow("get vertex @ 1 --csv", &[&bench.store()]).ok();
    assert!(found.contains("name,utf8,\"\""), "{found}");
}
