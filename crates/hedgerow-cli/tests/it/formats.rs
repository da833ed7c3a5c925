//! Tests of the layouts of published networks: which columns become what, and what is refused.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Bench, field, hedgerow};

fn notes(loaded: &str) -> Vec<String> {
    let notes = field(loaded, "notes");
    let text = |note: &Value| note["note"].as_str().expect("text").to_owned();
    notes.as_array().expect("a list").iter().map(text).collect()
}

fn export(store: &Path, options: &str) -> String {
    hedgerow(&format!("export @ --properties {options}"), &[store]).ok()
}

#[test]
fn a_konect_network_keeps_weights_and_times() {
    let bench = Bench::new();
    // The first line determines the layout, not the name of the file.
    let rows = "% asym signed\n% 3 3 3\n1 2 -1 1082040961\n2 3 10 1082155839\n1 2 4 1082414391\n";
    let file = bench.file("out.epinions", rows);
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &file]).ok();
    assert_eq!(
        notes(&loaded),
        [
            "a Konect network, asym signed; column 3 has the weights; column 4 is property time, seconds since 1970",
            "an edge that occurs again replaces the one before; --label NAME --multi keeps all of them",
            "2 lines are left out as comments; --comment none makes rows of them",
        ]
    );
    assert_eq!(field(&loaded, "repeated_edges"), json!(1));
    let last = "src,dst,weight,time:timestamp\n1,2,4,2004-04-19T22:39:51Z\n2,3,10,2004-04-16T22:50:39Z\n";
    assert_eq!(export(&bench.store(), ""), last);
    // As edges of a multi label none is lost, with counted ranks or with the time as rank.
    let all = bench.path("all");
    let loaded = hedgerow("load @ @ --label trust --multi --json", &[&all, &file]).ok();
    assert_eq!((field(&loaded, "new_edges"), notes(&loaded).len()), (json!(3), 2));
    let counted = export(&all, "--label trust");
    assert!(counted.starts_with("src,dst,rank,"), "{counted}");
    assert!(counted.contains("1,2,0,") && counted.contains("1,2,2,"), "{counted}");
    let ranked = bench.path("ranked");
    hedgerow("load @ @ --label trust --rank 4", &[&ranked, &file]).ok();
    assert_eq!(
        export(&ranked, "--label trust"),
        "src,dst,rank,weight:f64\n1,2,1082040961,-1\n1,2,1082414391,4\n2,3,1082155839,10\n"
    );
    // If an option names properties, the options name all properties.
    let named = bench.path("named");
    let loaded = hedgerow("load @ @ --property stars:i64=3 --json", &[&named, &file]).ok();
    assert!(notes(&loaded).contains(&"column 4 is left out; --property NAME:TYPE=4 keeps it".to_owned()));
    assert_eq!(export(&named, ""), "src,dst,stars:i64\n1,2,4\n2,3,10\n");
}

#[test]
fn the_first_line_of_a_konect_network_states_directions_and_weights() {
    let bench = Bench::new();
    let load = |name: &str, text: &str, options: &str| {
        let (store, file) = (bench.path(name), bench.file("out.net", text));
        let loaded = hedgerow(&format!("load @ @ --json {options}"), &[&store, &file]).ok();
        let stats = hedgerow("stats @ --json", &[&store]).ok();
        ([field(&stats, "directed"), field(&stats, "weighted")], notes(&loaded))
    };
    let (found, told) = load("sym", "% sym unweighted\n1 2\n", "");
    assert_eq!((found, told[0].as_str()), ([json!(false), json!(false)], "a Konect network, sym unweighted"));
    // A column without a meaning, and one with the numbers of parallel edges.
    let (found, told) = load("three", "%  sym  unweighted\n1\t2\t1\n", "--format konect");
    assert_eq!(found, [json!(false), json!(false)]);
    assert!(told.contains(&"column 3 is left out; --property NAME:TYPE=3 keeps it".to_owned()), "{told:?}");
    assert_eq!(load("many", "% asym positive\n1 2 7\n", "").0, [json!(true), json!(true)]);
    assert_eq!(load("plain", "% asym positive\n1 2\n", "").0, [json!(true), json!(false)]);
    // Both sets of a bipartite network have the numbers from 1.
    let two = "--label likes --kind item --from= --to item";
    assert_eq!(load("two", "% bip weighted\n1 1 0.5\n", two).0[0], json!(true));
    assert_eq!(field(&hedgerow("stats @ --json", &[&bench.path("two")]).ok(), "vertices"), json!(2));
}

#[test]
fn konect_networks_that_cannot_be_loaded_are_refused() {
    let bench = Bench::new();
    for (text, options, status, expected) in [
        ("% bip unweighted\n1 1\n", "", 1, "out.net: a bipartite network: equal numbers"),
        ("% asym dynamic\n1 2 -1 5\n", "", 1, "out.net: a dynamic network: column 3 says"),
        ("1 2\n", "--format konect", 1, "out.net: no Konect network: its first line is not"),
        ("% asym heavy\n1 2\n", "--format konect", 1, "out.net: no Konect network"),
        ("% sym unweighted\n1 2\n", "--header", 2, "--header: a Konect network has"),
        ("% sym unweighted\n1 2\n", "--src-col 2", 2, "--src-col: a Konect network has"),
        ("% asym weighted\n1 2 x\n", "", 1, "out.net:2: weight is not a number: \"x\" in column 3"),
        ("% asym weighted\n1 2 1\n1 2\n", "", 1, "out.net:3: no column 3 for the weight"),
        ("% asym positive\n1 2 1 9\n1 2 1\n", "", 1, "out.net:3: no column 4 for the property"),
        ("% asym positive\n1 2 1 soon\n", "", 1, "out.net:2: property time is not"),
        ("% asym positive\n1 -2 1\n", "", 1, "out.net:2: vertex id \"-2\" is not a number"),
    ] {
        let file = bench.file("out.net", text);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(status);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    // The weights have no place in a store without them.
    hedgerow("load @ @", &[&bench.store(), &bench.file("a.csv", "1,2\n")]).ok();
    let file = bench.file("out.net", "% asym weighted\n1 2 3\n");
    assert!(hedgerow("load @ @", &[&bench.store(), &file]).fails(1).contains("weighted"));
}

#[test]
fn relationships_of_autonomous_systems_are_properties() {
    let bench = Bench::new();
    let text = "# source:topology|BGP\n# input clique: 174 209\n1|11537|0\n174|2914|-1\n";
    let file = bench.file("20240101.as-rel.txt", text);
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &file]).ok();
    let told = "relationships of autonomous systems, -1 from provider to customer and 0 between peers; column 3 is property \
                rel; each row is one edge, in the direction of the row";
    assert_eq!(notes(&loaded)[0], told);
    assert_eq!(export(&bench.store(), ""), "src,dst,rel:i64\n1,11537,0\n174,2914,-1\n");
    // The second form also has the source of each relationship; under another name an option says the layout.
    let (second, file) = (bench.path("second"), bench.file("asn.txt", "1|2|-1|bgp\n2|3|0|mlp\n"));
    hedgerow("load @ @ --format as-rel", &[&second, &file]).ok();
    assert_eq!(export(&second, ""), "src,dst,rel:i64,source:utf8\n1,2,-1,bgp\n2,3,0,mlp\n");
    let labels = bench.path("labels");
    hedgerow("load @ @ --format as-rel --label-column 3", &[&labels, &file]).ok();
    assert_eq!(export(&labels, "--label=-1"), "src,dst,source:utf8\n1,2,bgp\n");
    for (text, options, status, expected) in [
        ("1|2|peer\n", "", 1, ":1: property rel is not a whole number"),
        ("1|2|0\n1|3\n", "", 1, ":2: the row has 2 columns, the first row in line 1 has 3"),
        ("x|2|0\n", "", 1, ":1: vertex id \"x\" is not a number"),
        ("1|2|0\n", "--delimiter ,", 2, "--delimiter: a file of AS relationships has"),
        ("1|2|0\n", "--weighted", 2, "--weighted: a file of AS relationships has"),
    ] {
        let (store, file) = (bench.path("none"), bench.file("bad.as-rel2.txt", text));
        let error = hedgerow(&format!("load @ @ {options}"), &[&store, &file]).fails(status);
        assert!(error.contains(expected), "{error}");
        assert!(!store.exists());
    }
    let undirected = bench.path("undirected");
    hedgerow("load @ @ --undirected", &[&undirected, &bench.file("a.csv", "1,2\n")]).ok();
    let error = hedgerow("load @ @ --format as-rel", &[&undirected, &file]).fails(1);
    assert!(error.contains("directed"), "{error}");
}
