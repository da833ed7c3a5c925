//! Tests of `get`, `put` and `del`.

use serde_json::json;

use crate::{Bench, field, hedgerow, program, run};

const PEOPLE: &str =
    "id,name:utf8,age:i64,score:f64,photo:bytes,born:timestamp,alive:bool\n1,Ann,30,,,,\n2,,,,,,\n";

/// A store with weights, a multi label with a property, and a property of each type.
fn load(bench: &Bench) {
    let people = bench.file("people.csv", PEOPLE);
    let edges = bench.file("edges.csv", "src,dst,weight\n1,2,0.5\n2,1,3\n");
    let calls = bench.file("calls.csv", "src,dst,rank,seconds:i64\n1,2,7,31\n1,2,9,\n");
    hedgerow("load @ --vertices @ @ --weighted", &[&bench.store(), &people, &edges]).ok();
    hedgerow("load @ @ --label calls --rank rank --property seconds:i64", &[&bench.store(), &calls]).ok();
}

#[test]
fn a_vertex_is_created_changed_and_removed() {
    let bench = Bench::new();
    load(&bench);
    let call = |command: &str| hedgerow(command, &[&bench.store()]);
    let result = |command: &str| field(&call(&format!("put vertex @ --json {command}")).ok(), "result");
    let missing = call("get vertex @ 5").fails(4);
    assert_eq!(missing, format!("no vertex 5 in {}", bench.store().display()));
    assert_eq!(result("5"), "created");
    assert_eq!(call("get vertex @ 5").ok(), "key: 5\n");
    assert_eq!(result("5"), "unchanged");
    assert_eq!(result("5 --set name=Eve --set age=-9223372036854775808"), "changed");
    // A property that is not named keeps its value.
    assert_eq!(result("5 --set name=Eva"), "changed");
    let expected = "key: 5\n\nproperty\ttype\tvalue\nname\tutf8\tEva\nage\ti64\t-9223372036854775808\n";
    assert_eq!(call("get vertex @ 5").ok(), expected);
    assert_eq!(result("5 --unset name --unset age"), "changed");
    assert_eq!(call("get vertex @ 5 --csv").ok(), "property,type,value\n");
    // The vertex 1 has two edges of the default label and two calls.
    let removed = call("del vertex @ 1 --json").ok();
    assert_eq!((field(&removed, "removed"), field(&removed, "edges_removed")), (json!(true), json!(4)));
    call("get vertex @ 1").fails(4);
    let removed = call("del vertex @ 1 --json").ok();
    assert_eq!((field(&removed, "removed"), field(&removed, "edges_removed")), (json!(false), json!(0)));
    assert_eq!(field(&call("check @ --json").ok(), "sound"), true);
}

#[test]
fn an_edge_is_created_changed_and_removed() {
    let bench = Bench::new();
    load(&bench);
    let call = |command: &str| hedgerow(command, &[&bench.store()]);
    let get = |edge: &str| call(&format!("get edge @ {edge} --csv"));
    let put = |edge: &str| {
        let report = call(&format!("put edge @ {edge} --json")).ok();
        (field(&report, "result").as_str().expect("text").to_owned(), field(&report, "new_vertices"))
    };
    let (created, changed) = ("created".to_owned(), "changed".to_owned());
    assert_eq!(get("1 2").ok(), "property,type,value\nweight,f64,0.5\n");
    assert_eq!(put("1 2 --set weight=0.1"), (changed.clone(), json!(0)));
    assert_eq!(put("1 2 --set weight=0.1").0, "unchanged");
    assert_eq!(get("1 2").ok(), "property,type,value\nweight,f64,0.1\n");
    // A new edge of a weighted store has weight 1, and creates its ends.
    assert_eq!(put("7 8"), (created.clone(), json!(2)));
    assert_eq!(get("7 8").ok(), "property,type,value\nweight,f64,1.0\n");
    assert_eq!(put("1 2 --label calls --rank 9007199254740993 --set seconds=5"), (created, json!(0)));
    assert_eq!(put("1 2 --label calls --rank 7 --unset seconds").0, changed);
    assert_eq!(get("1 2 --label calls --rank 7").ok(), "property,type,value\n");
    let json = call("get edge @ 1 2 --label calls --rank 9007199254740993 --json").ok();
    let expected = "{\"src\":1,\"dst\":2,\"label\":\"calls\",\"rank\":9007199254740993,\
        \"properties\":[{\"property\":\"seconds\",\"type\":\"i64\",\"value\":5}]}\n";
    assert_eq!(json, expected);

    let error = get("1 2 --label calls --rank 8").fails(4);
    assert!(error.contains("no edge from 1 to 2 of label \"calls\" and rank 8"), "{error}");
    assert!(error.ends_with("other edges join these vertices, see --label and --rank"), "{error}");
    assert!(!get("1 7").fails(4).contains("other edges"));
    let del = |edge: &str| field(&call(&format!("del edge @ {edge} --json")).ok(), "removed");
    assert_eq!(
        (del("1 2"), del("1 2"), del("1 2 --label calls --rank 7")),
        (json!(true), json!(false), json!(true))
    );
    assert!(get("1 2").fails(4).contains("other edges join"));
    assert_eq!(field(&call("check @ --json").ok(), "sound"), true);
}

/// Each value that `get` prints is read back by `put`, in text, CSV and JSON.
#[test]
fn values_come_back() {
    let bench = Bench::new();
    load(&bench);
    let put = |key: &str, set: &str| {
        let mut call = program();
        call.args(["put", "vertex"]).arg(bench.store()).args([key, "--set", set]);
        run(call, "", &[]).ok();
    };
    let rows = || {
        let json = hedgerow("get vertex @ 1 --json", &[&bench.store()]).ok();
        field(&json, "properties").as_array().expect("rows").clone()
    };
    for set in [
        "name=",
        "name= a=b ",
        "name=-",
        "name=\"q\", 'r'",
        "age=9007199254740993",
        "score=0.1",
        "score=inf",
        "score=NaN",
        "score=-0.0",
        "score=1e300",
        "score=5e-324",
        "photo=00ff",
        "photo=",
        "alive=true",
        "alive=false",
        "born=2024-05-01T12:30:00.25Z",
        "born=1969-12-31T23:59:59.999999Z",
        "born=-9223372036854775808",
        "born=9223372036854775807",
    ] {
        put("1", set);
        let (name, _) = set.split_once('=').expect("a value");
        let is_same = |row: &&serde_json::Value| row["property"] == name;
        let first = rows().iter().find(is_same).expect("a value").clone();
        let printed = match &first["value"] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        hedgerow(&format!("put vertex @ 1 --unset {name}"), &[&bench.store()]).ok();
        put("1", &format!("{name}={printed}"));
        assert_eq!(rows().iter().find(is_same), Some(&first), "{set}");
        let csv = hedgerow("get vertex @ 1 --csv", &[&bench.store()]).ok();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let mut values = reader.records().map(|record| record.expect("CSV"));
        let value = values.find(|record| &record[0] == name).expect("a value");
        assert_eq!(&value[2], printed, "{set}");
        if !printed.contains('"') {
            let text = hedgerow("get vertex @ 1", &[&bench.store()]).ok();
            let line = format!("{name}\t{}\t{printed}\n", first["type"].as_str().expect("a type"));
            assert!(text.contains(&line), "{set}: {text}");
        }
    }
}

#[test]
fn kinds_are_named_in_three_ways() {
    let bench = Bench::new();
    let (store, people) = (bench.store(), bench.file("p.csv", "id,name:utf8\na:1,Ann\nann,x\n"));
    let orders = bench.file("o.csv", "src,dst\na:1,1\n");
    hedgerow("load @ --vertices @ --kind person --kind-keys str", &[&store, &people]).ok();
    hedgerow("load @ @ --label placed --kind order --from person --to order", &[&store, &orders]).ok();
    let call = |command: &str| hedgerow(command, &[&store]);
    let expected = "{\"kind\":\"person\",\"key\":\"a:1\",\"properties\":[{\"property\":\"name\",\"type\":\"utf8\",\
        \"value\":\"Ann\"}]}\n";
    for key in ["person:a:1", "a:1 --kind person"] {
        assert_eq!(call(&format!("get vertex @ {key} --json")).ok(), expected, "{key}");
    }
    // The label states the kinds of its ends, whose keys have different types.
    for ends in ["a:1 1", "person:a:1 order:1"] {
        let edge = call(&format!("get edge @ {ends} --label placed --json")).ok();
        assert_eq!((field(&edge, "src_kind"), field(&edge, "dst")), (json!("person"), json!(1)), "{ends}");
    }
    let put = call("put edge @ ann 2 --label placed --json").ok();
    assert_eq!((field(&put, "result"), field(&put, "new_vertices")), (json!("created"), json!(1)));
    assert_eq!(field(&call("del vertex @ order:2 --json").ok(), "edges_removed"), 1);
    for (command, status, says) in [
        ("get vertex @ ann", 2, "KEY: vertex id \"ann\" is not a number"),
        ("get vertex @ ann --kind order", 2, "KEY: kind order: vertex id \"ann\" is not a number"),
        ("get vertex @ ann --kind persn", 1, "did you mean \"person\""),
        (
            "put vertex @ person:ann --set nme=x",
            2,
            "vertices of kind person have no property \"nme\": did you mean",
        ),
        ("put edge @ person:ann person:ann --label placed", 1, "placed"),
        ("get edge @ ann x --label placed", 2, "DST: kind order: vertex id \"x\" is not a number"),
    ] {
        let error = call(command).fails(status);
        assert!(error.contains(says), "{command}: {error}");
    }
}

/// Nothing is defined or changed by a call that is refused.
#[test]
fn wrong_calls_are_refused() {
    let bench = Bench::new();
    load(&bench);
    let (store, none) = (bench.store(), bench.path("none"));
    let before = hedgerow("schema @ --csv", &[&store]).ok();
    let timestamp = || field(&hedgerow("stats @ --json", &[&store]).ok(), "timestamp");
    let begun = timestamp();
    for (command, path, status, says) in [
        ("del @ 1", &store, 2, "unrecognized subcommand"),
        ("put vertex @ 1 --set name", &store, 2, "--set \"name\": PROPERTY=VALUE is needed"),
        (
            "put vertex @ 1 --set nam=x",
            &store,
            2,
            "--set: vertices have no property \"nam\": did you mean \"name\"?",
        ),
        ("put vertex @ 1 --unset nam", &store, 2, "--unset: vertices have no property \"nam\""),
        ("put vertex @ 1 --set age=x", &store, 2, "--set: property age is not a whole number"),
        ("put vertex @ 1 --set age=", &store, 2, "property age is not"),
        ("put vertex @ 1 --set age=1 --unset age", &store, 2, "--unset: property \"age\" is given twice"),
        ("put vertex @ 1 --set age=1 --set age=1", &store, 2, "--set: property \"age\" is given twice"),
        ("put vertex @ 1 --set photo=0", &store, 2, "pairs of hexadecimal digits"),
        ("put vertex @ 1 --set born=2024-05-01T00:00:00.0000001Z", &store, 2, "finer than microseconds"),
        ("put vertex @ 1 --set born=2024", &store, 2, "within a year of 1970"),
        ("put vertex @ 1 --set score=9007199254740993", &store, 2, "does not fit a 64-bit float"),
        ("put vertex @ x", &store, 2, "KEY: vertex id \"x\" is not a number"),
        ("put vertex @ 1 --kind person", &store, 1, "no kind person"),
        ("put edge @ 1 2 --unset weight", &store, 2, "each edge of the default label has a weight"),
        ("put edge @ 1 2 --set weight=NaN", &store, 1, "weight"),
        ("put edge @ 1 2 --set seconds=1", &store, 2, "edges of label \"\" have no property \"seconds\""),
        ("put edge @ 1 2 --label cals", &store, 1, "did you mean \"calls\""),
        ("put edge @ 1 2 --label calls", &store, 2, "--rank: label \"calls\" is multi"),
        ("put edge @ 1 2 --rank 3", &store, 2, "--rank: label \"\" is not multi"),
        ("get edge @ 1 2 --label calls", &store, 2, "--rank: label \"calls\" is multi"),
        ("del edge @ 1 2 --label calls", &store, 2, "--rank: label \"calls\" is multi"),
        ("get edge @ 1 y", &store, 2, "DST: vertex id \"y\" is not a number"),
        ("get vertex @ 1", &none, 1, "no such directory"),
        ("put vertex @ 1", &none, 1, "no such directory"),
        ("del vertex @ 1", &none, 1, "no such directory"),
        ("put edge @ 1 2", &none, 1, "no such directory"),
    ] {
        let error = hedgerow(command, &[path]).fails(status);
        assert!(error.contains(says), "{command}: {error}");
    }
    assert_eq!((hedgerow("schema @ --csv", &[&store]).ok(), timestamp()), (before, begun));
    assert!(!none.exists());
}
