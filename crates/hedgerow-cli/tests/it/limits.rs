//! Tests of commands that end at a limit and report it, of `find`, `--show` and `remove-edges`, and of
//! readable sizes.

use serde_json::{Value, json};

use crate::{Bench, error, field, hedgerow};

/// Makes a store of named people and timed calls. Person 1 knows all other people, and they know person 1.
fn load(bench: &Bench) {
    let (store, people) = (
        bench.store(),
        bench.file("people.csv", "id,name:utf8,age:i64\n1,Ann,30\n2,Bob,\n3,\"Cem, C\",30\n4,Ann,41\n"),
    );
    hedgerow("load @ --vertices @", &[&store, &people]).ok();
    let knows = bench.file("knows.csv", "1,2\n2,1\n1,3\n3,1\n1,4\n4,1\n2,3\n");
    hedgerow("load @ @", &[&store, &knows]).ok();
    let calls =
        bench.file("calls.csv", "from,to,time,seconds\n1,2,100,30\n1,2,101,45\n2,3,103,\n1,3,102,5\n");
    hedgerow("load @ @ --label calls --rank time --property seconds:i64", &[&store, &calls]).ok();
}

#[test]
fn limits_are_told() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let cycles = |more: &str| {
        hedgerow(&format!("run cycles @ --source 1 --label= --length 2 --json {more}"), &[&store]).ok()
    };
    let told = |json: &str| [field(json, "paths"), field(json, "more")];
    assert_eq!(told(&cycles("--limit 2")), [json!(2), json!(true)]);
    assert!(!cycles("--limit 2").contains("count"));
    let counted = cycles("--limit 2 --count");
    assert_eq!((told(&counted), field(&counted, "count")), ([json!(2), json!(true)], json!(3)));
    assert_eq!(told(&cycles("--limit 3")), [json!(3), json!(false)]);
    let first = |limit: u32| {
        let first = hedgerow(&format!("neighbors @ 1 --label= --json --limit {limit}"), &[&store]).ok();
        (field(&first, "neighbors").as_array().map(Vec::len), field(&first, "more"))
    };
    assert_eq!(
        [first(0), first(2), first(3)],
        [(Some(0), json!(true)), (Some(2), json!(true)), (Some(3), json!(false))]
    );
}

#[test]
fn vertices_are_found_by_their_properties() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let find = |what: &str| hedgerow(&format!("find @ --json {what}"), &[&store]);
    let found = find("name=Ann").ok();
    assert_eq!(
        (field(&found, "vertices"), field(&found, "more")),
        (json!([{"key": 1}, {"key": 4}]), json!(false))
    );
    let found = find("name=Ann --limit 1 --show age").ok();
    assert_eq!(
        (field(&found, "vertices"), field(&found, "more")),
        (json!([{"key": 1, "age": 30}]), json!(true))
    );
    assert_eq!(field(&find("age=30 name=Ann").ok(), "found"), 1);
    assert_eq!(field(&find("age=").ok(), "vertices"), json!([{"key": 2}]));
    let refused = |what: &str| error(&find(what).err);
    assert!(refused("nmae=Ann").contains("did you mean \"name\""), "{}", refused("nmae=Ann"));
    assert!(refused("age=old").contains("property age is not"), "{}", refused("age=old"));
    assert!(refused("name").contains("PROPERTY=VALUE"), "{}", refused("name"));
}

#[test]
fn properties_of_vertices_are_columns() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let run = |command: &str| hedgerow(command, &[&store]);
    assert_eq!(
        run("neighbors @ 1 --label= --show name --show age").ok(),
        "2\tBob\t-\n3\tCem, C\t30\n4\tAnn\t41\n"
    );
    assert_eq!(
        run("neighbors @ 4 --label= --weights --csv --show name").ok(),
        "key,weight,name\n1,1.0,Ann\n"
    );
    let top = run("run pagerank @ --label= --top 1 --json --show name").ok();
    assert_eq!(field(&top, "top")[0]["name"], "Ann");
    let path = run("run path @ --label= --source 4 --target 3 --json --show name").ok();
    let first = &field(&path, "first")[0];
    assert_eq!((&first["path"], &first["name"]), (&json!([4, 1, 3]), &json!(["Ann", "Ann", "Cem, C"])));
    let pairs = run("run jaccard @ --label= --sources 1 --csv --show name").ok();
    assert!(pairs.starts_with("from,to,score,from_name,to_name\n"), "{pairs}");
    let all = run("run bfs @ --label= --source 2 --out - --csv --show name").ok();
    assert_eq!(all, "key,value,name\n1,1,Ann\n2,0,Bob\n3,1,\"Cem, C\"\n4,2,Ann\n");
    let refused = |command: &str| run(command).err;
    assert!(refused("neighbors @ 1 --show nmae").contains("did you mean \"name\""));
    assert!(refused("run pagerank @ --show nmae").contains("did you mean \"name\""));
    assert!(refused("run bfs @ --source 1 --show name").contains("names none; --out FILE has all"));
    assert!(
        refused("run path @ --source 4 --target 3 --out - --show name")
            .contains("with --csv or --json alone")
    );
}

#[test]
fn edges_are_removed_by_a_condition() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let run = |what: &str| hedgerow(&format!("remove-edges @ --json {what}"), &[&store]);
    for (what, says) in [
        ("--rank-range ..9", "--label is needed"),
        ("--label calls", "a condition is needed"),
        ("--label calls --rank-range ..9 --direction in", "whatever the direction"),
        ("--label cals --rank-range ..9", "did you mean \"calls\""),
    ] {
        let refused = error(&run(what).err);
        assert!(refused.contains(says), "{what}: {refused}");
    }
    let removed = run("--label calls --where seconds<40 --batch 1").ok();
    assert_eq!((field(&removed, "removed"), field(&removed, "edges")), (json!(2), json!(9)));
    assert_eq!(field(&run("--label calls --rank-range ..102").ok(), "removed"), 1);
    assert_eq!(field(&run("--label calls --rank-range ..").ok(), "removed"), 1);
}

#[test]
fn bytes_have_a_unit_as_text_and_are_exact_elsewhere() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let (text, json) = (hedgerow("stats @", &[&store]).ok(), hedgerow("stats @ --json", &[&store]).ok());
    let csv = hedgerow("stats @ --csv", &[&store]).ok();
    let exact = field(&json, "segment_bytes");
    assert!(matches!(exact, Value::Number(_)) && csv.contains(&format!("segment_bytes,{exact}\n")), "{csv}");
    let limit = text.lines().find(|line| line.starts_with("memory limit:")).expect("a memory limit");
    assert!(limit.ends_with("iB"), "{limit}");
}
