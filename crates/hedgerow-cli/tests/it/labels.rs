//! Tests of labels, ranks and properties in every command.

use std::path::Path;

use serde_json::json;

use crate::{Bench, field, hedgerow};

const PEOPLE: &str = "id,name:utf8,age:i64,born:timestamp,photo:bytes,alive:bool,score:f64\n\
    1,Ann,30,2023-11-14T22:13:20Z,00ff,true,0.5\n\
    2,\"Bob, \"\"B\"\"\",,,,false,-inf\n\
    3,\"\",7,1969-12-31T23:59:59.999999Z,,1,1\n";
const CALLS: &str = "from,to,time,seconds\n1,2,100,30\n1,2,101,45\n2,3,100,\n1,2,100,31\n";

/// Loads vertices with properties, calls with ranks, friends with a weight each, and plain edges.
fn load(bench: &Bench, options: &str) -> String {
    let store = bench.store();
    let people = bench.file("people.csv", PEOPLE);
    let calls = bench.file("calls.csv", CALLS);
    let friends = bench.file("friends.csv", "a,b,km,how\n1,2,1.5,school\n2,3,0.25,\n");
    let plain = bench.file("plain.csv", "3,1\n");
    let loaded = hedgerow(&format!("load @ --vertices @ {options} --json"), &[&store, &people]).ok();
    let command = "load @ @ --label calls --rank time --property seconds:i64 --json";
    let calls = hedgerow(command, &[&store, &calls]).ok();
    assert_eq!((field(&calls, "rows"), field(&calls, "new_edges")), (json!(4), json!(3)));
    let command = "load @ @ --label friend --src-col a --dst-col b --weight-col km --property how:utf8";
    hedgerow(command, &[&store, &friends]).ok();
    hedgerow("load @ @", &[&store, &plain]).ok();
    loaded
}

#[test]
fn what_was_loaded_is_printed() {
    for options in ["", "--undirected", "--keys str", "--keys dense"] {
        let bench = Bench::new();
        let loaded = load(&bench, options);
        assert_eq!((field(&loaded, "rows"), field(&loaded, "edges")), (json!(3), json!(0)));
        let store = bench.store();
        assert_eq!(hedgerow("neighbors @ 1 --label calls", &[&store]).ok(), "2\n2\n");
        assert_eq!(hedgerow("neighbors @ 1 --label calls --ranks", &[&store]).ok(), "2\t100\n2\t101\n");
        let incoming = hedgerow("neighbors @ 2 --in --label friend --properties --json", &[&store]).ok();
        let first = &field(&incoming, "neighbors")[0];
        assert_eq!(first["rank"], 0);
        assert_eq!(first["properties"], json!({"weight": 1.5, "how": "school"}));
        // If rows name the same edge, the last one wins.
        let outgoing = hedgerow("neighbors @ 1 --label calls --properties", &[&store]).ok();
        assert_eq!(outgoing, "2\t100\t{\"seconds\":31}\n2\t101\t{\"seconds\":45}\n");
        // Without a label, the output has the edges of all labels, one line each.
        let all = hedgerow("neighbors @ 2 --in --ranks --csv", &[&store]).ok();
        let undirected = if options == "--undirected" { "3,calls,100\n3,friend,0\n" } else { "" };
        assert_eq!(all, format!("key,label,rank\n1,calls,100\n1,calls,101\n1,friend,0\n{undirected}"));
        let all = hedgerow("neighbors @ 3 --json", &[&store]).ok();
        assert_eq!(field(&all, "neighbors")[0]["label"], "");
        let all = hedgerow("neighbors @ 1 --properties --json", &[&store]).ok();
        let first = &field(&all, "neighbors")[0];
        assert_eq!((&first["label"], &first["properties"]), (&json!("calls"), &json!({"seconds": 31})));

        let stats = hedgerow("stats @ --json", &[&store]).ok();
        assert_eq!(field(&stats, "edges"), 6);
        let calls = json!({"label": "calls", "edges": 3, "multi": true, "properties": "seconds:i64"});
        assert_eq!(field(&stats, "labels")[1], calls);
        assert_eq!(field(&stats, "labels")[2]["properties"], "how:utf8 weight:f64");
        let schema = hedgerow("schema @ --csv", &[&store]).ok();
        let expected = "kind,label,property,type\nlabel,\"\",,\nmulti label,calls,,\n\
            edge property,calls,seconds,i64\nlabel,friend,,\nedge property,friend,how,utf8\n\
            edge property,friend,weight,f64\nvertex property,,name,utf8\nvertex property,,age,i64\n\
            vertex property,,born,timestamp\nvertex property,,photo,bytes\nvertex property,,alive,bool\n\
            vertex property,,score,f64\n";
        assert_eq!(schema, expected);
        assert_eq!(field(&hedgerow("check @ --json", &[&store]).ok(), "sound"), true);
    }
}

#[test]
fn what_is_exported_can_be_loaded_again() {
    let bench = Bench::new();
    load(&bench, "");
    let (store, other) = (bench.store(), bench.path("other"));
    for separator in ["csv", "tsv"] {
        let export = |store: &std::path::Path, name: &str| {
            let people = bench.path(&format!("{name}-people.{separator}"));
            let command = format!("export @ --label calls --properties --format {separator} --vertices @");
            let calls = hedgerow(&command, &[store, &people]).ok();
            let command = format!("export @ --label friend --properties --format {separator}");
            let friends = hedgerow(&command, &[store]).ok();
            (calls, friends, std::fs::read_to_string(people).expect("text"))
        };
        let (calls, friends, people) = export(&store, "a");
        if separator == "csv" {
            assert_eq!(calls, "src,dst,rank,seconds:i64\n1,2,100,31\n1,2,101,45\n2,3,100,\n");
            assert_eq!(friends, "src,dst,how:utf8,weight:f64\n1,2,school,1.5\n2,3,,0.25\n");
            let expected = PEOPLE.replace(",1,1\n", ",true,1\n");
            assert_eq!(people, expected);
        }
        let calls_file = bench.file(&format!("b-calls.{separator}"), &calls);
        let friends_file = bench.file(&format!("b-friends.{separator}"), &friends);
        let people_file = bench.path(&format!("a-people.{separator}"));
        hedgerow("load @ --vertices @", &[&other, &people_file]).ok();
        let command = "load @ @ --label calls --rank rank --property seconds:i64";
        hedgerow(command, &[&other, &calls_file]).ok();
        let command = "load @ @ --label friend --property how:utf8 --property weight:f64";
        hedgerow(command, &[&other, &friends_file]).ok();
        assert_eq!(export(&other, "b"), (calls, friends, people));
    }
    // An export without properties, and the default label with some properties.
    assert_eq!(
        hedgerow("export @ --label calls", &[&store]).ok(),
        "src,dst,rank\n1,2,100\n1,2,101\n2,3,100\n"
    );
    let marks = bench.file("marks.csv", "1,2,0.5,x\n");
    let weighted = bench.path("weighted");
    hedgerow("load @ @ --weight-col 3 --property note:utf8=4", &[&weighted, &marks]).ok();
    assert_eq!(hedgerow("export @ --properties", &[&weighted]).ok(), "src,dst,weight,note:utf8\n1,2,0.5,x\n");
}

#[test]
fn algorithms_on_one_label() {
    let bench = Bench::new();
    load(&bench, "");
    let store = bench.store();
    let bfs = |label: &str| hedgerow(&format!("run bfs @ --source 1 --out - {label}"), &[&store]).ok();
    let default = crate::program()
        .args(["run", "bfs", "--source", "1", "--out", "-", "--label", ""])
        .arg(&store)
        .output();
    assert_eq!(String::from_utf8_lossy(&default.expect("the program runs").stdout), "1 0\n2 -1\n3 -1\n");
    assert_eq!(bfs("--label calls"), "1 0\n2 1\n3 2\n");
    let sssp = |more: &str| {
        hedgerow(&format!("run sssp @ --source 1 --label friend --out - {more}"), &[&store]).ok()
    };
    assert_eq!(sssp(""), "1 0e0\n2 1.5e0\n3 1.75e0\n", "the property `weight` is what an edge weighs");
    assert_eq!(sssp("--weight weight"), "1 0e0\n2 1.5e0\n3 1.75e0\n");
    let tc = hedgerow("run tc @ --label calls --json", &[&store]).ok();
    assert_eq!(
        (field(&tc, "label"), field(&tc, "edges"), field(&tc, "triangles")),
        (json!("calls"), json!(3), json!(0))
    );
    for (command, expected) in [
        ("run bfs @ --source 1 --label likes", "no label likes: the labels are \"\", \"calls\", \"friend\""),
        ("run tc @ --where minutes>1", "has a property minutes"),
        (
            "export @",
            "name one of them with --label, or export all of them into a directory: hedgerow export STORE DIR",
        ),
        ("run sssp @ --source 1 --label calls --weight x", "--weight: label \"calls\" has no property x"),
        ("run sssp @ --source 1 --label friend --weight how", "--weight: property how is of type utf8"),
        (
            "run sssp @ --source 1 --label calls --weight seconds",
            "--weight: the edge from 2 to 3 has no value of",
        ),
        ("neighbors @ 1 --label likes", "no label likes"),
        ("export @ --label likes", "no label likes"),
    ] {
        let error = hedgerow(command, &[&store]).fails(1);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn edges_are_chosen_by_labels_ranks_values_and_direction() {
    let bench = Bench::new();
    load(&bench, "");
    let store = bench.store();
    let ok = |command: &str| hedgerow(command, &[&store]).ok();
    assert_eq!(
        ok("neighbors @ 1 --label calls --label friend --csv"),
        "key,label\n2,calls\n2,calls\n2,friend\n"
    );
    assert_eq!(ok("neighbors @ 2 --direction both --label friend --csv"), "key\n1\n3\n");
    assert_eq!(ok("neighbors @ 1 --label calls --rank-range 101.. --ranks --csv"), "key,rank\n2,101\n");
    assert_eq!(ok("neighbors @ 1 --label calls --where seconds<=31 --ranks --csv"), "key,rank\n2,100\n");
    let bfs = |more: &str| ok(&format!("run bfs @ --out - {more}"));
    assert_eq!(bfs("--source 1 --label calls --label friend"), "1 0\n2 1\n3 2\n");
    assert_eq!(bfs("--source 1 --label calls --where seconds>40"), "1 0\n2 1\n3 -1\n");
    assert_eq!(bfs("--source 3 --label friend --direction both"), "1 2\n2 1\n3 0\n");
    assert_eq!(bfs("--source 3 --label friend --direction in"), bfs("--source 3 --label friend --in"));
    assert_eq!(bfs("--source 1 --label calls --rank-range ..100"), "1 0\n2 -1\n3 -1\n");
    assert_eq!(bfs("--source 2 --where how=school"), "1 -1\n2 0\n3 -1\n");
    let tc = ok("run tc @ --label calls --label friend --json");
    assert_eq!((field(&tc, "label"), field(&tc, "edges")), (json!("calls, friend"), json!(5)));
    for (command, expected) in [
        ("run bfs @ --source 1 --in --direction out", "cannot be used with"),
        ("run bfs @ --source 1 --direction up", "out, in or both is needed"),
        ("run tc @ --where seconds", "as in since>2020"),
        ("run tc @ --where seconds>x", "--where: property seconds is not a whole number"),
        ("run tc @ --rank-range 7", "FIRST..STOP is needed"),
        ("neighbors @ 1 --label friend --weights --direction both", "only edges of the default label"),
    ] {
        let error = hedgerow(command, &[&store]).fails(2);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn conditions_are_of_many_forms_and_must_all_be_met() {
    let bench = Bench::new();
    load(&bench, "");
    let store = bench.store();
    let calls = |conditions: &[&str]| {
        let mut command = "neighbors @ 1 --label calls --ranks --csv".to_owned();
        let mut words: Vec<&Path> = vec![&store];
        for condition in conditions {
            command.push_str(" --where @");
            words.push(Path::new(condition));
        }
        hedgerow(&command, &words)
    };
    // Vertex 1 has two calls, one of 31 seconds and one of 45.
    let ranks = |conditions: &[&str]| calls(conditions).ok().replace("2,", "").replace('\n', " ");
    for (conditions, expected) in [
        (&["seconds>=31", "seconds<45"][..], "100 "),
        (&["seconds<45", "seconds>31"], ""),
        (&["seconds in 45, 30"], "101 "),
        (&["seconds in [31, \"45\"]", "seconds!=45"], "100 "),
        (&["seconds is null"], ""),
        (&["seconds is not null"], "100 101 "),
        (&["\"seconds\" > 31"], "101 "),
    ] {
        assert_eq!(ranks(conditions), format!("key,rank {expected}"), "{conditions:?}");
    }
    let friends = |condition: &str| {
        let command = "run bfs @ --source 1 --label friend --where @ --out -";
        hedgerow(command, &[&store, Path::new(condition)]).ok()
    };
    assert_eq!(friends("how prefix sch"), "1 0\n2 1\n3 -1\n");
    assert_eq!(friends("how prefix chool"), "1 0\n2 -1\n3 -1\n");
    assert_eq!(friends("how in home,school"), friends("how in [\"a,b\", \"school\"]"));
    let null = hedgerow("neighbors @ 2 --label friend --where @", &[&store, Path::new("how is null")]).ok();
    assert_eq!(null, "3\n");
    for (condition, code, expected) in [
        (
            "seconds between 1 and 2",
            2,
            "a range is two conditions: --where 'seconds>=LOW' --where 'seconds<HIGH'",
        ),
        ("seconds not in 1,2", 2, "write --where 'seconds!=VALUE' for each value"),
        ("seconds in", 2, "or 'op in A,D'"),
        ("seconds in x", 2, "property seconds is not a whole number"),
        ("seconds in [1", 2, "is no list of values in JSON"),
        ("seconds in [null]", 2, "null is no value"),
        ("seconds in []", 1, "property seconds is compared with an empty list"),
        ("seconds is 3", 2, "'seconds is null', or 'seconds==VALUE'"),
        (
            "seconds prefix 3",
            1,
            "property seconds of label \"calls\" is of type i64, and texts and bytes alone have a prefix",
        ),
        ("second is null", 1, "label \"calls\" has no property second: the properties are \"seconds\""),
        (">3", 2, "as in since>2020"),
    ] {
        let error = calls(&[condition]).fails(code);
        assert!(error.contains(expected), "{condition}: {error}");
    }
}

#[test]
fn ranks_are_counted_on() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n1,2\n1,3\n");
    for loads in 1..3 {
        hedgerow("load @ @ --label l --multi", &[&bench.store(), &file]).ok();
        let stats = hedgerow("stats @ --json", &[&bench.store()]).ok();
        assert_eq!(field(&stats, "edges"), 3 * loads);
    }
    assert_eq!(
        hedgerow("neighbors @ 1 --label l --ranks --csv", &[&bench.store()]).ok(),
        "key,rank\n2,0\n2,1\n2,3\n2,4\n3,2\n3,5\n"
    );
}

#[test]
fn malformed_values_name_file_and_line() {
    for (content, options, expected) in [
        ("a,b,c\n1,2,x\n", "--label l --property c:i64", "a.csv:2: property c is not a whole number"),
        ("1,2,x\n", "--property c:f64=3", "a.csv:1: property c is not a number (f64): \"x\" in column 3"),
        (
            "1,2,2\n",
            "--property c:bool=3",
            "a.csv:1: property c is not true or false (bool): \"2\" in column 3",
        ),
        ("1,2,abc\n", "--property c:bytes=3", "a.csv:1: property c is not bytes"),
        (
            "1,2,01.02.2024\n",
            "--property c:timestamp=3",
            "a.csv:1: property c is not a whole number of microseconds",
        ),
        (
            "1,2,5\n1,2\n",
            "--property c:i64=3",
            "a.csv:2: the row has 2 columns, the first row in line 1 has 3",
        ),
        ("1,2\n1,2\n", "--property c:i64=3", "a.csv:1: no column 3 for the property, the row has 2 columns"),
        ("1,2,-5\n", "--label l --rank 3", "a.csv:1: rank \"-5\" is not a number from 0"),
        ("1,2,\n", "--label l --rank 3", "a.csv:1: rank \"\" is not a number from 0"),
        ("src,dst\n1,2\n", "--property c:i64", "a.csv: no column named \"c\" in the header"),
    ] {
        let bench = Bench::new();
        let file = bench.file("a.csv", content);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    for (content, expected) in [
        ("", "people.csv: no header"),
        ("id,name,\n1,x,y\n", "people.csv: header: column 3 has no name"),
        ("1,x\n2,y\n", "people.csv: header: the first row names no columns"),
        ("id,name:text\n1,x\n", "people.csv: header: \"name:text\" has no known type"),
        ("id,age:i64\n1,2\nx,3\n", "people.csv:3: vertex id \"x\" is not a number"),
        ("id,age:i64\n1,2\n2,3.5\n", "people.csv:3: property age is not a whole number"),
        ("id,age:i64\n1\n", "people.csv:2: the row has 1 columns, the header in line 1 has 2"),
    ] {
        let bench = Bench::new();
        let file = bench.file("people.csv", content);
        let error = hedgerow("load @ --vertices @", &[&bench.store(), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    for (options, expected) in [
        ("--property c", "\"c\" has no type"),
        ("--property c:int", "\"c:int\" has no known type"),
        ("--property :i64", "\":i64\" has no name"),
        ("--property c:i64=0", "columns count from 1"),
        ("--rank 3", "--label"),
        ("--weighted --repeat sum --label l", "--repeat sum: not with --label"),
    ] {
        let bench = Bench::new();
        let file = bench.file("a.csv", "1,2,3\n");
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(2);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_store_that_has_it_otherwise_refuses_before_the_first_row() {
    let bench = Bench::new();
    load(&bench, "");
    let store = bench.store();
    let file = bench.file("more.csv", "src,dst,seconds,how\n8,9,1,x\n");
    let before = hedgerow("stats @ --json", &[&store]).ok();
    for (options, expected) in [
        ("--label calls --property seconds:f64", "property seconds has type i64, but the value has type f64"),
        ("--label friend --multi", "label friend is defined with multi=false, not with multi=true"),
    ] {
        let error = hedgerow(&format!("load @ @ {options}"), &[&store, &file]).fails(1);
        assert!(error.contains(expected), "{error}");
    }
    let people = bench.file("more-people.csv", "id,age:f64\n8,1\n");
    let error = hedgerow("load @ --vertices @", &[&store, &people]).fails(1);
    assert!(error.contains("property age has type i64"), "{error}");
    let after = hedgerow("stats @ --json", &[&store]).ok();
    for name in ["vertices", "edges", "timestamp"] {
        assert_eq!(field(&before, name), field(&after, name));
    }
    // With this rule, a bad row leaves out only that row.
    let people = bench.file("some.csv", "id,age:i64\n8,1\n9,x\n10,\n");
    let loaded = hedgerow("load @ --vertices @ --on-error collect --json", &[&store, &people]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "rejected")), (json!(2), json!(1)));
}
