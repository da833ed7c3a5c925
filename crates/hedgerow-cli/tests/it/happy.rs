//! Tests of every command on tiny graphs.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::json;

use crate::{Bench, field, hedgerow, names, program};

fn gz(text: &str) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("compressed");
    gz.finish().expect("compressed")
}

#[test]
fn every_format_gives_the_same_graph() {
    let zst = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("compressed");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a.csv", b"src,dst,weight\n1,2,0.5\n2,3,4\n".into(), "--weighted"),
        ("a.csv", b"1,2,0.5\n2,3,4\n".into(), "--weight-col 3"),
        ("a.csv", b"w,who,whom\n0.5,1,2\n4,2,3\n".into(), "--src-col who --dst-col whom --weight-col w"),
        ("a.tsv", b"from\tto\tw\n1\t2\t0.5\n2\t3\t4\n".into(), "--weighted"),
        ("a.txt", b"# SNAP\n1 2 0.5\n2\t3\t4\n".into(), "--format snap --weighted"),
        ("a.txt", b"1 2 99 0.5\n2 3 98 4\n".into(), "--format snap --time-col 3 --weight-col 4"),
        ("a.txt.gz", gz("1 2 0.5\n2 3 4\n"), "--weight-col 3"),
        ("a.txt.zst", zst("1 2 0.5\n2 3 4\n"), "--weight-col 3"),
        ("a.wel", b"1 2 0.5\n2 3 4\n".into(), ""),
        ("a.e", b"1 2 0.5\n2 3 4\n".into(), "--weighted"),
        ("a.gr", b"c x\np sp 3 2\na 1 2 0.5\na 2 3 4\n".into(), "--weighted"),
    ];
    for (name, content, options) in cases {
        for keys in ["u64", "str", "dense"] {
            let bench = Bench::new();
            let file = bench.file(name, &content);
            let loaded =
                hedgerow(&format!("load @ @ --json --keys {keys} {options}"), &[&bench.store(), &file]).ok();
            assert_eq!(field(&loaded, "rows"), 2, "{name} {options}: {loaded}");
            assert_eq!(
                hedgerow("export @", &[&bench.store()]).ok(),
                "src,dst,weight\n1,2,0.5\n2,3,4\n",
                "{name} {options}"
            );
        }
    }
}

#[test]
fn backup_compact_and_salvage() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n3,4\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let exported = hedgerow("export @", &[&bench.store()]).ok();
    let [copy, saved] = ["copy", "saved"].map(|name| bench.path(name));
    let done = hedgerow("backup @ @ --json", &[&bench.store(), &copy]).ok();
    assert_eq!(field(&done, "vertices"), 4, "{done}");
    assert_eq!(hedgerow("export @", &[&copy]).ok(), exported);
    hedgerow("compact @", &[&bench.store()]).ok();
    let report = hedgerow("salvage @ @ --json", &[&bench.store(), &saved]).ok();
    assert_eq!(field(&report, "whole"), true, "{report}");
    assert_eq!(hedgerow("export @", &[&saved]).ok(), exported);
    let within = bench.path("within");
    let limited = hedgerow("salvage @ @ --memory-limit 16MiB --json", &[&bench.store(), &within]).ok();
    assert_eq!(limited, report);
    let refused =
        hedgerow("salvage @ @ --memory-limit 1MiB", &[&bench.store(), &bench.path("less")]).fails(1);
    assert!(refused.contains("16"), "{refused}");
}

#[test]
fn a_load_gives_a_new_store_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n");
    let of = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let refused = hedgerow("load @ @ --mode 750", &[&bench.store(), &file]).fails(1);
    assert!(refused.contains("0o750") && !bench.store().exists(), "{refused}");
    hedgerow("load @ @ --mode 6x0", &[&bench.store(), &file]).fails(2);
    hedgerow("load @ @ --mode 640", &[&bench.store(), &file]).ok();
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let modes: Vec<u32> = names(&bench.store()).iter().map(|name| of(&bench.store().join(name))).collect();
    assert!(of(&bench.store()) == 0o750 && modes.iter().all(|&mode| mode == 0o640), "{modes:?}");
}

/// Salvage reports damage without loss, and does not count it as a loss. A reported loss names its label.
#[test]
fn the_status_of_a_salvage_says_whether_something_was_lost() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n3,4\n");
    hedgerow("load @ @ --label calls", &[&bench.store(), &file]).ok();
    let segment = names(&bench.store()).into_iter().find(|name| name.ends_with(".csr")).unwrap();
    let segment = bench.store().join(segment);
    let sound = std::fs::read(&segment).unwrap();
    let (mut harmless, mut lossy) = (0, 0);
    for at in (0..sound.len()).step_by(sound.len() / 16) {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        std::fs::write(&segment, damaged).unwrap();
        let ran = hedgerow("salvage @ @ --json", &[&bench.store(), &bench.path(&format!("saved-{at}"))]);
        let whole = ran.status == Some(0);
        assert!(whole || ran.status == Some(3), "{ran:?}");
        assert_eq!(
            (field(&ran.out, "whole"), field(&ran.out, "sound")),
            (whole.into(), false.into()),
            "{ran:?}"
        );
        let says = |finding: &str| ran.out.contains(&format!("{{\"finding\":\"{finding}\""));
        assert!(says("lost") != whole && (says("lost") || says("damaged")), "{ran:?}");
        assert!(!ran.out.contains("label 1"), "{ran:?}");
        *(if whole { &mut harmless } else { &mut lossy }) += 1;
    }
    assert!(harmless > 1 && lossy > 1, "{harmless} and {lossy}");
}

#[test]
fn no_copy_goes_into_the_store_itself() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let before = names(&bench.store());
    for inside in ["store", "store/copy", "store/../store/copy"] {
        for command in ["backup @ @", "salvage @ @"] {
            let refused = hedgerow(command, &[&bench.store(), &bench.path(inside)]).fails(1);
            assert!(refused.contains("or below it"), "{refused}");
        }
    }
    assert_eq!(names(&bench.store()), before);
}

#[test]
fn a_graphalytics_graph_by_its_properties() {
    let bench = Bench::new();
    bench.file("g.v", "1\n2\n3\n9\n");
    bench.file("g.e", "1 2 0.5\n2 3 1\n");
    let properties = bench.file(
        "g.properties",
        "graph.g.vertex-file = g.v\ngraph.g.edge-file = g.e\ngraph.g.directed = false\n\
         graph.g.edge-properties.names = weight\n",
    );
    hedgerow("load @ @", &[&bench.store(), &properties]).ok();
    let stats = hedgerow("stats @ --json", &[&bench.store()]).ok();
    for (name, value) in
        [("vertices", json!(4)), ("edges", json!(2)), ("directed", json!(false)), ("weighted", json!(true))]
    {
        assert_eq!(field(&stats, name), value, "{name}");
    }
    assert_eq!(hedgerow("neighbors @ 2 --weights", &[&bench.store()]).ok(), "1\t0.5\n3\t1.0\n");
    assert_eq!(hedgerow("neighbors @ 9", &[&bench.store()]).ok(), "");
    // The same files are loaded separately into a second store, with an explicit direction.
    let other = bench.path("other");
    hedgerow("load @ @ @ --undirected --weighted", &[&other, &bench.path("g.v"), &bench.path("g.e")]).ok();
    assert_eq!(hedgerow("export @", &[&other]).ok(), hedgerow("export @", &[&bench.store()]).ok());
}

#[test]
fn repeated_edges_and_several_transactions() {
    for (repeat, expected) in [("last", "1,2,-3"), ("first", "1,2,1"), ("sum", "1,2,0")] {
        for batch in [0, 1, 2, 10] {
            let bench = Bench::new();
            let file = bench.file("a.wel", "1 2 1\n1 2 2\n1 2 -3\n");
            let command = format!("load @ @ --json --repeat {repeat} --batch {batch} --durability sync");
            let loaded = hedgerow(&command, &[&bench.store(), &file]).ok();
            let transactions = if batch == 0 { 1 } else { 3usize.div_ceil(batch) };
            assert_eq!(field(&loaded, "transactions"), transactions);
            assert_eq!((field(&loaded, "new_edges"), field(&loaded, "new_vertices")), (json!(1), json!(2)));
            let exported = hedgerow("export @", &[&bench.store()]).ok();
            assert_eq!(exported, format!("src,dst,weight\n{expected}\n"), "{repeat} {batch}");
        }
    }
}

#[test]
fn a_second_load_adds_to_the_store() {
    let bench = Bench::new();
    let first = bench.file("a.csv", "1,2\n2,3\n");
    let second = bench.file("b.csv", "2,3\n3,1\n");
    hedgerow("load @ @ --undirected", &[&bench.store(), &first]).ok();
    hedgerow("checkpoint @", &[&bench.store()]).ok();
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &second]).ok();
    assert_eq!((field(&loaded, "new_edges"), field(&loaded, "edges")), (json!(1), json!(3)));
    assert_eq!(hedgerow("neighbors @ 3", &[&bench.store()]).ok(), "1\n2\n");
    assert_eq!(
        hedgerow("check @ --json", &[&bench.store()]).ok(),
        "{\"sound\":true,\"vertices\":3,\"edges\":3,\"problems\":[]}\n"
    );
}

#[test]
fn results_of_the_algorithms() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "a,b\nb,c\nd,c\n\"x,1\",y\n");
    hedgerow("load @ @ --keys str --no-header", &[&bench.store(), &file]).ok();
    let store = bench.store();
    let bfs = hedgerow("run bfs @ --source a --out -", &[&store]).ok();
    assert_eq!(bfs, "a 0\nb 1\nc 2\nd -1\nx,1 -1\ny -1\n");
    let bfs = hedgerow("run bfs @ --source c --in --out - --graphalytics --csv", &[&store]).ok();
    let far = i64::MAX;
    assert_eq!(bfs, format!("key,value\na,2\nb,1\nc,0\nd,1\n\"x,1\",{far}\ny,{far}\n"));
    let out = bench.path("out.txt");
    hedgerow("run wcc @ --out @", &[&store, &out]).ok();
    assert_eq!(std::fs::read_to_string(&out).expect("written"), "a a\nb a\nc a\nd a\nx,1 x,1\ny x,1\n");
    let summary = hedgerow("run wcc @ --threads 1 --json --out @", &[&store, &out]).ok();
    assert_eq!(field(&summary, "components"), 2);
    let largest = json!([{"component": "a", "vertices": 4}, {"component": "x,1", "vertices": 2}]);
    assert_eq!(field(&summary, "largest"), largest);
    let lines = std::fs::read_to_string(&out).expect("written");
    assert_eq!(lines.lines().last(), Some("{\"key\":\"y\",\"value\":\"x,1\"}"));
    let top = hedgerow("run pagerank @ --iterations 0 --top 2 --csv", &[&store]).ok();
    assert_eq!(top, "key,score\na,0.16666666666666666\nb,0.16666666666666666\n");
    let summary = hedgerow("run bfs @ --source a", &[&store]).ok();
    assert!(
        summary.contains("reached:      3\ndepth:        2\n\nhops\tvertices\n0\t1\n1\t1\n2\t1\n"),
        "{summary}"
    );
    assert_eq!(bench.names(), ["a.csv", "out.txt", "store"]);
}

#[test]
fn distances_and_triangles() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "src,dst,weight\n1,2,5\n1,3,1.5\n3,2,2\n2,4,0\n5,1,1\n");
    hedgerow("load @ @ --weighted", &[&bench.store(), &file]).ok();
    let store = bench.store();
    let full = hedgerow("run sssp @ --source 1 --out -", &[&store]).ok();
    assert_eq!(full, "1 0e0\n2 3.5e0\n3 1.5e0\n4 3.5e0\n5 inf\n");
    let against = hedgerow("run sssp @ --source 4 --in --out - --graphalytics --delta 0.1", &[&store]).ok();
    assert_eq!(against, "1 3.5e0\n2 0e0\n3 2e0\n4 0e0\n5 4.5e0\n");
    let summary = hedgerow("run sssp @ --source 1 --top 2 --json", &[&store]).ok();
    assert_eq!((field(&summary, "reached"), field(&summary, "distance")), (json!(4), json!(3.5)));
    let farthest = json!([{"key": 2, "distance": 3.5}, {"key": 4, "distance": 3.5}]);
    assert_eq!(field(&summary, "farthest"), farthest);
    let triangles = hedgerow("run tc @ --threads 2 --json", &[&store]).ok();
    assert_eq!(field(&triangles, "triangles"), 1);
    let limited = hedgerow("run sssp @ --source 1 --out - --memory-limit 64MiB", &[&store]).ok();
    assert_eq!(limited, full);
    let error = hedgerow("run tc @ --memory-limit 1000", &[&store]).fails(1);
    assert!(error.contains("at least 16777216 are needed"), "{error}");
    let checked = hedgerow("check @ --memory-limit 64MiB", &[&store]).ok();
    assert_eq!(checked, hedgerow("check @", &[&store]).ok());
    assert_eq!(hedgerow("check @ --memory-limit 1000", &[&store]).fails(1), error);

    let negative = bench.file("b.csv", "src,dst,weight\n4,5,-2\n");
    hedgerow("load @ @ --weighted", &[&store, &negative]).ok();
    let error = hedgerow("run sssp @ --source 1", &[&store]).fails(1);
    assert!(error.contains("the edge between 4 and 5 weighs -2, expected 0 or more"), "{error}");
}

#[test]
fn an_export_can_be_loaded_again() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "\"a,\"\"1\",\"#b\"\nc d,e\n");
    let vertices = bench.file("a.v", "alone one\n");
    hedgerow("load @ @ @ --keys str --no-header", &[&bench.store(), &file, &vertices]).ok();
    for format in ["csv", "tsv"] {
        let (edges, keys) = (bench.path(&format!("out.{format}")), bench.path("out.v"));
        let command = format!("export @ --format {format} --out @ --vertices @");
        let report = hedgerow(&command, &[&bench.store(), &edges, &keys]).ok();
        assert_eq!(report, "edges:    2\nvertices: 5\n");
        let again = bench.path(format);
        hedgerow("load @ @ @ --keys str", &[&again, &keys, &edges]).ok();
        // The file of keys has the order of the vertex ids, so the vertices get the same ids, and the edges
        // have the same order.
        assert_eq!(hedgerow("export @", &[&again]).ok(), hedgerow("export @", &[&bench.store()]).ok());
        assert_eq!(field(&hedgerow("stats @ --json", &[&again]).ok(), "vertices"), 5);
    }
    assert!(bench.names().iter().all(|name| !name.ends_with(".partial")));
}

#[test]
fn reading_commands_change_nothing() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    let content = || {
        let files = crate::names(&bench.store());
        let bytes: Vec<Vec<u8>> =
            files.iter().map(|name| std::fs::read(bench.store().join(name)).expect("readable")).collect();
        (files, bytes)
    };
    let before = content();
    for command in [
        "stats @",
        "neighbors @ 1",
        "run bfs @ --source 1",
        "run pagerank @",
        "run sssp @ --source 1",
        "run tc @",
        "run wcc @",
        "check @",
        "export @",
    ] {
        hedgerow(command, &[&bench.store()]).ok();
        assert!(before == content(), "{command} changed the store");
    }
}

#[test]
fn a_reader_that_goes_early_is_no_failure() {
    let bench = Bench::new();
    let rows: String = (0..60_000).map(|i| format!("{i},{}\n", i + 1)).collect();
    let file = bench.file("a.csv", rows);
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    for command in ["export", "run"] {
        let mut call = program();
        match command {
            "run" => call.args(["run", "bfs", "--source", "0", "--out", "-"]).arg(bench.store()),
            command => call.arg(command).arg(bench.store()),
        };
        let mut child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut first = String::new();
        let mut out = BufReader::with_capacity(64, child.stdout.take().expect("piped"));
        out.read_line(&mut first).expect("a line");
        drop(out);
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), b"".as_slice()), "{command}");
        assert!(!first.is_empty());
    }
}

#[test]
fn help_and_version() {
    assert!(hedgerow("--version", &[]).ok().starts_with("hedgerow "));
    assert!(hedgerow("--help", &[]).ok().contains("checkpoint"));
    assert!(hedgerow("load --help", &[]).ok().contains("--on-error"));
}
