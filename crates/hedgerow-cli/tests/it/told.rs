//! Tests of the rows and values that a load leaves out, changes or meets twice. The load counts them and
//! names the option that keeps them.

use serde_json::json;

use crate::{Bench, field, hedgerow};

/// Returns the notes of a load, without their file.
fn notes(loaded: &str) -> Vec<String> {
    let notes = field(loaded, "notes");
    let note = |note: &serde_json::Value| note["note"].as_str().expect("text").to_owned();
    notes.as_array().expect("a list").iter().map(note).collect()
}

#[test]
fn comments_are_counted_and_keys_may_begin_so() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "# title\nsrc,dst\n1,2\n% more\n2,3\n");
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &file]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "comments")), (json!(2), json!(2)));
    assert_eq!(notes(&loaded), ["2 lines are left out as comments; --comment none makes rows of them"]);

    let rows = [("#rust", "#python"), ("#rust", "go"), ("%20", "space"), ("go", "#python"), ("c#", "#go")];
    let lines: Vec<String> = rows.iter().map(|(a, b)| format!("{a},{b}\n")).collect();
    let tags = bench.file("tags.csv", format!("a,b\n{}", lines.concat()));
    // A line with as many columns as the rows may be a comment or a row.
    let error = hedgerow("load @ @ --keys str --header", &[&bench.path("tags"), &tags]).fails(1);
    let expected = "tags.csv:2: the line begins with '#' and has 2 columns as the rows have: it is a comment or a row; \
                    say which by --comment # or --comment none";
    assert!(error.ends_with(expected), "{error}");
    let command = "load @ @ --keys str --header --on-error collect --json";
    let loaded = hedgerow(command, &[&bench.path("collected"), &tags]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "rejected")), (json!(2), json!(3)));
    let command = "load @ @ --keys str --header --comment # --json";
    let loaded = hedgerow(command, &[&bench.path("hash"), &tags]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "comments")), (json!(3), json!(2)));
    let all = |store: &std::path::Path| {
        let mut exported: Vec<String> =
            hedgerow("export @", &[store]).ok().replace('"', "").lines().skip(1).map(str::to_owned).collect();
        exported.sort();
        exported
    };
    let mut expected: Vec<String> = rows.iter().map(|(a, b)| format!("{a},{b}")).collect();
    expected.sort();
    let store = bench.path("none");
    let loaded = hedgerow("load @ @ --keys str --header --comment none --json", &[&store, &tags]).ok();
    assert_eq!((all(&store), field(&loaded, "comments")), (expected.clone(), json!(0)));
    // In quotes, they are always keys. An export writes them in quotes.
    let quoted: String = rows.iter().map(|(a, b)| format!("\"{a}\",\"{b}\"\n")).collect();
    let (store, again) = (bench.path("quoted"), bench.path("again"));
    let file = bench.file("quoted.csv", format!("a,b\n{quoted}"));
    hedgerow("load @ @ --keys str --header", &[&store, &file]).ok();
    assert_eq!(all(&store), expected);
    let out = bench.path("out.csv");
    hedgerow("export @ --out @", &[&store, &out]).ok();
    hedgerow("load @ @ --keys str --header", &[&again, &out]).ok();
    assert_eq!(all(&again), expected);
    let ids = bench.file("ids.v", "#a\nb\n%c\n");
    let loaded = hedgerow("load @ @ --keys str --json", &[&bench.path("v"), &ids]).ok();
    assert_eq!((field(&loaded, "vertices"), field(&loaded, "comments")), (json!(2), json!(1)));
    let loaded = hedgerow("load @ @ --keys str --comment none --json", &[&bench.path("w"), &ids]).ok();
    assert_eq!(field(&loaded, "vertices"), 3);
}

#[test]
fn what_is_left_out_is_told() {
    let bench = Bench::new();
    let old = bench.path("old");
    hedgerow("load @ @", &[&old, &bench.file("one.csv", "8,9\n")]).ok();
    hedgerow("load @ @ --weight-col 3", &[&bench.path("weighted"), &bench.file("w.csv", "8,9,1\n")]).ok();
    for (name, content, store, options, expected) in [
        (
            "t.txt",
            "1 2 1448928000\n",
            "t",
            "--format temporal",
            &["times in column 3 are left out; --property NAME:timestamp_s=3 keeps them"][..],
        ),
        (
            "s.txt",
            "1 2 7\n",
            "s",
            "--format snap",
            &["column 3 is left out; --property NAME:TYPE=3 keeps it"],
        ),
        (
            "c.csv",
            "src,dst,a,b,c,d,e,f\n1,2,3,4,5,6,7,8\n",
            "c",
            "--property b:i64",
            &["columns 3 (a), 5 (c), 6 (d), 7 (e), 8 (f) are left out; --property NAME:TYPE=3 keeps it"],
        ),
        (
            "a.e",
            "1 2 0.5\n",
            "old",
            "",
            &["weights in column 3 are left out, the store has none; --property NAME:f64=3 keeps them"],
        ),
        ("a.e", "1 2\n", "weighted", "", &["1 row has no weight and gets 1"]),
        ("p.csv", "src,dst\n1,2\n", "p", "", &[]),
        (
            "d.gr",
            "p sp 3 3\na 1 2 5\na 2 3 6\n",
            "weighted",
            "",
            &["the problem line says 3 arcs, the file has 2"],
        ),
        (
            "k.csv",
            "from,to\n00501,10001\n501,10002\n007,7\n+7,8\n0,1\n",
            "k",
            "",
            &[
                "3 keys are written with leading zeros or a plus sign and read as numbers, the first 00501; --keys str keeps them apart",
            ],
        ),
        ("k.csv", "from,to\n00501,10001\n501,10002\n", "str", "--keys str --header", &[]),
        (
            "b.csv",
            "from,to\nx ,x\n y,y\n\"z \",z\n",
            "b",
            "--keys str --header",
            &["2 rows have blanks around a key, which are left out; quotes keep them"],
        ),
        (
            "i.v",
            "1 2.5\n2\n",
            "v",
            "",
            &["1 line has more behind the key, which is left out; --vertices reads properties"],
        ),
    ] {
        let file = bench.file(name, content);
        let loaded = hedgerow(&format!("load @ @ --json {options}"), &[&bench.path(store), &file]).ok();
        let expected: Vec<String> = expected.iter().map(|&note| note.to_owned()).collect();
        assert_eq!(notes(&loaded), expected, "{name} {options}");
    }
}

#[test]
fn rows_that_repeat_an_edge_are_counted() {
    let bench = Bench::new();
    let routes = "src,dst,airline\n1,2,AA\n1,2,DL\n1,2,WS\n2,1,AA\n";
    let file = bench.file("a.csv", routes);
    let count =
        |loaded: &str| ["new_edges", "repeated_edges", "existing_edges"].map(|name| field(loaded, name));
    for (options, expected) in [
        ("--label route --property airline:utf8", [2, 2, 0]),
        ("--label route --property airline:utf8 --undirected", [1, 3, 0]),
        ("--label route --property airline:utf8 --multi", [4, 0, 0]),
        ("--label-column airline", [4, 0, 0]),
        ("", [2, 2, 0]),
        ("--batch 1 --repeat first", [2, 2, 0]),
    ] {
        let store = bench.path("new");
        let loaded = hedgerow(&format!("load @ @ --json {options}"), &[&store, &file]).ok();
        assert_eq!(count(&loaded), expected.map(|n| json!(n)), "{options}");
        // A second load of the file meets existing edges.
        let again = options.replace("--undirected", "");
        let loaded = hedgerow(&format!("load @ @ --json {again}"), &[&store, &file]).ok();
        let expected = if options.contains("multi") { [4, 0, 0] } else { [0, 0, 4] };
        assert_eq!(count(&loaded), expected.map(|n| json!(n)), "{options}, again");
        std::fs::remove_dir_all(&store).expect("removed");
    }
    // Some rows of a file are new, some are repeated, and some edges already exist.
    hedgerow("load @ @", &[&bench.store(), &bench.file("b.csv", "1,2\n5,6\n")]).ok();
    let more = bench.file("c.csv", "1,2\n2,3\n2,3\n7,8\n");
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &more]).ok();
    assert_eq!(count(&loaded), [json!(2), json!(1), json!(1)]);
    let text = hedgerow("load @ @", &[&bench.store(), &more]).ok();
    assert!(text.contains("repeated edges:  0\nexisting edges:  4\n"), "{text}");
}

#[test]
fn rows_that_repeat_a_vertex_are_counted() {
    let bench = Bench::new();
    let people = bench.file("p.csv", "id,n:i64\n1,1\n2,2\n1,3\n");
    let edges = bench.file("e.csv", "1,9\n9,2\n");
    let loaded = hedgerow("load @ --vertices @ @ --json", &[&bench.store(), &people, &edges]).ok();
    let count = |loaded: &str| {
        ["new_vertices", "repeated_vertices", "existing_vertices"].map(|name| field(loaded, name))
    };
    assert_eq!(count(&loaded), [json!(3), json!(1), json!(0)]);
    let loaded = hedgerow("load @ --vertices @ --json", &[&bench.store(), &people]).ok();
    assert_eq!(count(&loaded), [json!(0), json!(0), json!(3)]);
}
