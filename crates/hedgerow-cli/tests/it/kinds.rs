//! Tests of kinds of vertices in every command: tables with equal keys, joined by edges.

mod graphs;
mod refused;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::{Bench, field, hedgerow, names};

const CUSTOMERS: u64 = 9;
const EMPLOYEES: u64 = 5;
const PRODUCTS: u64 = 11;
const ORDERS: u64 = 30;

fn customer_of(order: u64) -> u64 {
    1 + order * 7 % (CUSTOMERS - 1)
}

fn employee_of(order: u64) -> u64 {
    1 + order * 3 % EMPLOYEES
}

fn shipper_of(order: u64) -> u64 {
    1 + order % 3
}

/// Returns the products of an order, each with its rank.
fn lines_of(order: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..order % 4).map(move |line| (1 + (order + line * line) % PRODUCTS, line))
}

fn table(header: &str, rows: impl IntoIterator<Item = String>) -> String {
    rows.into_iter().fold(header.to_owned() + "\n", |text, row| text + &row + "\n")
}

/// Loads the tables of a business: five kinds with keys from 1 on, and five labels. The keys of shippers are
/// texts.
fn load(bench: &Bench) {
    let store = bench.store();
    let vertices = [
        ("customer", "u64", "name:utf8", (1..=CUSTOMERS).map(|n| format!("{n},C {n}")).collect::<Vec<_>>()),
        (
            "employee",
            "u64",
            "name:utf8,boss:bool",
            (1..=EMPLOYEES).map(|n| format!("{n},E {n},{}", n == 1)).collect(),
        ),
        ("product", "u64", "name:i64", (1..=PRODUCTS).map(|n| format!("{n},{}", n * 100)).collect()),
        ("order", "u64", "placed:timestamp_us", (1..=ORDERS).map(|n| format!("{n},{}", n * 1000)).collect()),
        ("shipper", "str", "name:utf8", vec!["1,One".to_owned(), "2,\"\"".to_owned(), "3,".to_owned()]),
    ];
    for (kind, keys, header, rows) in vertices {
        let file = bench.file(&format!("{kind}.csv"), table(&format!("id,{header}"), rows));
        hedgerow(&format!("load @ --vertices @ --kind {kind} --kind-keys {keys}"), &[&store, &file]).ok();
    }
    let orders =
        (1..=ORDERS).map(|n| format!("{n},{},{},{},{}.5", customer_of(n), employee_of(n), shipper_of(n), n));
    let orders = bench.file("orders.csv", table("id,customer,employee,shipper,freight", orders));
    let lines =
        (1..=ORDERS).flat_map(|n| lines_of(n).map(move |(p, line)| format!("{n},{p},{line},{}", line + 1)));
    let lines = bench.file("lines.csv", table("order,product,line,quantity", lines));
    let bosses = bench.file("bosses.csv", table("who,boss", (2..=EMPLOYEES).map(|n| format!("{n},1"))));
    for (file, options) in [
        (&orders, "--label placed --from customer --to order --src-col customer --dst-col id"),
        (&orders, "--label took --from employee --to order --src-col employee --dst-col id"),
        (
            &orders,
            "--label ships --from shipper --to order --src-col shipper --dst-col id --property freight:f64",
        ),
        (&lines, "--label holds --from order --to product --rank line --property quantity:i64"),
        (&bosses, "--label reports --from employee --to employee"),
    ] {
        hedgerow(&format!("load @ @ {options}"), &[&store, file]).ok();
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the content of a directory by the names of its files.
fn content_of(directory: &Path) -> Vec<(String, String)> {
    names(directory).into_iter().map(|name| (name.clone(), text(&directory.join(&name)))).collect()
}

#[test]
fn tables_with_small_keys_do_not_collide() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let stats = hedgerow("stats @ --json", &[&store]).ok();
    let kind = |name: &str, vertices: u64, keys: &str, properties: &str| json!({"kind": name, "vertices": vertices, "keys": keys, "properties": properties});
    let expected = [
        kind("", 0, "u64", ""),
        kind("customer", CUSTOMERS, "u64", "name:utf8"),
        kind("employee", EMPLOYEES, "u64", "name:utf8 boss:bool"),
        kind("product", PRODUCTS, "u64", "name:i64"),
        kind("order", ORDERS, "u64", "placed:timestamp"),
        kind("shipper", 3, "str", "name:utf8"),
    ];
    assert_eq!(field(&stats, "kinds"), json!(expected));
    assert!(
        hedgerow("stats @", &[&store])
            .ok()
            .contains("\n\nkind\tvertices\tkeys\tproperties\n\t0\tu64\t\ncustomer\t9\t")
    );
    // Joins: the orders of a customer, and the employee of an order.
    for customer in 1..=CUSTOMERS {
        let orders = (1..=ORDERS).filter(|n| customer_of(*n) == customer);
        let rows = table("kind,key,label", orders.clone().map(|n| format!("order,{n},placed")));
        assert_eq!(hedgerow(&format!("neighbors @ customer:{customer} --csv"), &[&store]).ok(), rows);
        // The label determines that a plain key is the key of a customer.
        let rows: Vec<Value> = orders.map(|n| json!({"kind": "order", "key": n})).collect();
        let found = hedgerow(&format!("neighbors @ {customer} --label placed --json"), &[&store]).ok();
        assert_eq!(field(&found, "neighbors"), json!(rows));
    }
    for order in (1..=ORDERS).step_by(3) {
        let found = hedgerow(&format!("neighbors @ order:{order} --in --csv"), &[&store]).ok();
        let [c, e, s] = [customer_of(order), employee_of(order), shipper_of(order)];
        let mut rows =
            [format!("customer,{c},placed"), format!("employee,{e},took"), format!("shipper,{s},ships")];
        let mut found: Vec<&str> = found.lines().skip(1).collect();
        rows.sort();
        found.sort_unstable();
        assert_eq!(found, rows);
        let command = format!("neighbors @ order:{order} --label holds --properties");
        let mut lines: Vec<_> = lines_of(order).collect();
        lines.sort_unstable();
        let line = |(product, line): (u64, u64)| {
            format!("product\t{product}\t{line}\t{{\"quantity\":{}}}\n", line + 1)
        };
        assert_eq!(hedgerow(&command, &[&store]).ok(), lines.into_iter().map(line).collect::<String>());
    }
}

#[test]
fn results_of_algorithms_name_kinds() {
    let bench = Bench::new();
    load(&bench);
    let store = bench.store();
    let bfs = |options: &str| hedgerow(&format!("run bfs @ --label reports {options}"), &[&store]).ok();
    let result = bfs("--source employee:3 --out -");
    let lines: Vec<&str> = result.lines().collect();
    assert_eq!(lines.len() as u64, EMPLOYEES, "the label says that its edges join employees");
    let reached: Vec<&str> = lines.into_iter().filter(|line| !line.ends_with(" -1")).collect();
    assert_eq!(reached, ["employee:1 1", "employee:3 0"]);
    let result = bfs("--source employee:3 --out - --csv");
    assert!(result.starts_with("kind,key,value\nemployee,1,1\n") && !result.contains("shipper"), "{result}");
    assert_eq!(field(&bfs("--source employee:3 --json"), "source"), "employee:3");
    let ranks = hedgerow("run pagerank @ --label reports --top 1 --json", &[&store]).ok();
    let top = &field(&ranks, "top")[0];
    assert_eq!((&top["kind"], &top["key"]), (&json!("employee"), &json!(1)));
    let paths = hedgerow("run sssp @ --label reports --source employee:2 --csv", &[&store]).ok();
    assert_eq!(paths, "kind,key,distance\nemployee,1,1.0\nemployee,2,0.0\n");
    let parts = hedgerow("run wcc @ --label reports --top 1 --json", &[&store]).ok();
    assert_eq!(field(&parts, "largest"), json!([{"component": "employee:1", "vertices": EMPLOYEES}]));
    let parts = hedgerow("run wcc @ --label reports --out -", &[&store]).ok();
    assert!(parts.contains("\nemployee:5 employee:1\n") && !parts.contains("order:5"), "{parts}");
}

#[test]
fn a_directory_with_kinds_comes_back_equal() {
    let bench = Bench::new();
    load(&bench);
    let (store, first) = (bench.store(), bench.path("first"));
    // A kind without vertices, and edges of a label without kinds. Some edges are between vertices of the
    // default kind.
    let none = bench.file("none.csv", "id,n:i64\n");
    hedgerow("load @ --vertices @ --kind no/ne --kind-keys str", &[&store, &none]).ok();
    let plain = bench.file("plain.csv", "src,dst,n\n1,2,5\n");
    hedgerow("load @ @ --label plain --multi --property n:i64", &[&store, &plain]).ok();
    hedgerow("load @ @", &[&store, &plain]).ok();
    hedgerow("export @ @", &[&store, &first]).ok();
    let content = content_of(&first);
    let files: Vec<&str> = content.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "edges-1-placed.csv",
        "edges-2-took.csv",
        "edges-3-ships.csv",
        "edges-4-holds.csv",
        "edges-5-reports.csv",
        "edges-6-plain.csv",
        "edges.csv",
        "schema.json",
        "vertices-1-customer.csv",
        "vertices-2-employee.csv",
        "vertices-3-product.csv",
        "vertices-4-order.csv",
        "vertices-5-shipper.csv",
        "vertices-6-no_ne.csv",
        "vertices.csv",
    ];
    assert_eq!(files, expected);
    assert_eq!(text(&first.join("vertices-5-shipper.csv")), "id,name:utf8\n1,One\n2,\"\"\n3,\n");
    assert_eq!(text(&first.join("vertices-6-no_ne.csv")), "id,n:i64\n");
    assert_eq!(text(&first.join("edges-6-plain.csv")), "src,dst,src_kind,dst_kind,rank,n:i64\n1,2,,,0,5\n");
    assert!(text(&first.join("edges-3-ships.csv")).starts_with("src,dst,freight:f64\n"));
    let schema: Value = serde_json::from_str(&text(&first.join("schema.json"))).expect("JSON");
    assert_eq!((&schema["version"], &schema["vertices"]["rows"]), (&json!(2), &json!(2)));
    let expected = json!({"name": "shipper", "keys": "str", "file": "vertices-5-shipper.csv", "rows": 3,
        "properties": [{"name": "name", "type": "utf8"}]});
    assert_eq!(schema["kinds"][4], expected);
    let ends = |label: usize| &schema["labels"][label]["ends"];
    assert_eq!((ends(3), ends(6)), (&json!(["shipper", "order"]), &Value::Null));

    // The directory is loaded into a new store, and into stores that already have one of the kinds. Their
    // kinds are in another order.
    for before in ["", "--kind shipper --kind-keys str", "--kind order"] {
        let (other, again) = (bench.path("other"), bench.path("again"));
        if !before.is_empty() {
            let empty = bench.file("empty.csv", "id\n");
            hedgerow(&format!("load @ --vertices @ {before}"), &[&other, &empty]).ok();
        }
        hedgerow("load @ @", &[&other, &first]).ok();
        let again_loaded = hedgerow("load @ @ --json", &[&other, &first]).ok();
        assert_eq!(
            (field(&again_loaded, "new_vertices"), field(&again_loaded, "new_edges")),
            (json!(0), json!(0))
        );
        hedgerow("check @", &[&other]).ok();
        hedgerow("export @ @", &[&other, &again]).ok();
        if before.is_empty() {
            assert_eq!(content_of(&again), content);
            let schema = |store: &Path| hedgerow("schema @ --csv", &[store]).ok();
            assert_eq!(schema(&other), schema(&store));
        } else {
            let rows = |files: Vec<(String, String)>| {
                let mut rows: Vec<String> =
                    files.into_iter().filter(|(name, _)| name != "schema.json").map(|file| file.1).collect();
                rows.sort();
                rows
            };
            assert_eq!(rows(content_of(&again)), rows(content.clone()), "{before}");
        }
        for directory in [&other, &again] {
            std::fs::remove_dir_all(directory).expect("removed");
        }
    }
}

/// Edges of the default label and of another one join vertices of any kinds. Some keys look like keys with a
/// kind.
#[test]
fn labels_without_kinds_join_any() {
    let bench = Bench::new();
    let directory = bench.path("directory");
    std::fs::create_dir(&directory).expect("created");
    for (name, content) in [
        ("vertices.csv", "id\n:x\na:1\n\"\"\n"),
        ("a.csv", "id\n1\n2\n"),
        ("b.csv", "id\n1\nb:1\n"),
        ("edges.csv", "src,dst,src_kind,dst_kind,weight\n:x,1,,a,0.5\na:1,2,,a,2\n1,1,a,b,3\n"),
        ("l.csv", "src,dst,src_kind,dst_kind,rank,n:i64\n1,b:1,a,b,7,\n1,b:1,b,b,9,3\n"),
        (
            "schema.json",
            r#"{"format": "hedgerow-export", "version": 2, "directed": true, "keys": "str", "weighted": true, "reverse": true,
            "vertices": {"file": "vertices.csv", "rows": 3, "properties": []},
            "kinds": [{"name": "a", "keys": "u64", "file": "a.csv", "rows": 2, "properties": []},
                {"name": "b", "keys": "str", "file": "b.csv", "rows": 2, "properties": []}],
            "labels": [{"name": "", "multi": false, "ends": null, "file": "edges.csv", "rows": 3, "properties": []},
                {"name": "l", "multi": true, "ends": null, "file": "l.csv", "rows": 2,
                    "properties": [{"name": "n", "type": "i64"}]}]}"#,
        ),
    ] {
        std::fs::write(directory.join(name), content).expect("written");
    }
    let (store, out) = (bench.store(), bench.path("out"));
    hedgerow("load @ @", &[&store, &directory]).ok();
    hedgerow("export @ @", &[&store, &out]).ok();
    for (name, written) in [
        ("vertices.csv", "vertices.csv"),
        ("a.csv", "vertices-1-a.csv"),
        ("edges.csv", "edges.csv"),
        ("l.csv", "edges-1-l.csv"),
    ] {
        assert_eq!(text(&out.join(written)), text(&directory.join(name)), "{name}");
    }
    // The vertex that an argument names.
    for (key, expected) in [
        ("a:1", "kind,key,weight\nb,1,3.0\n"),
        (":a:1", "kind,key,weight\na,2,2.0\n"),
        ("::x", "kind,key,weight\na,1,0.5\n"),
        ("b:1", "kind,key,weight\n"),
        (":", "kind,key,weight\n"),
    ] {
        let found = hedgerow(&format!("neighbors @ {key} --weights --csv --label="), &[&store]).ok();
        assert_eq!(found, expected, "{key}");
    }
    assert_eq!(hedgerow("neighbors @ b:b:1 --in --ranks --label l", &[&store]).ok(), "a\t1\t7\nb\t1\t9\n");
    let error = hedgerow("neighbors @ a:7", &[&store]).fails(1);
    assert!(error.starts_with("KEY: no vertex a:7 in "), "{error}");
    let error = hedgerow("neighbors @ c:7", &[&store]).fails(1);
    assert!(error.starts_with("KEY: no vertex :c:7 in "), "{error}");
    let error = hedgerow("neighbors @ a:b", &[&store]).fails(2);
    assert!(error.starts_with("KEY: kind a: vertex id \"b\" is not a number"), "{error}");
    let error = hedgerow("run bfs @ --label l --source a:b", &[&store]).fails(2);
    assert!(error.starts_with("--source: kind a: vertex id \"b\""), "{error}");
    // The files are loaded one at a time.
    let (one, bs) = (bench.path("one"), bench.file("bs.csv", "id\n1\nb:1\n"));
    hedgerow("load @ --vertices @ --kind b --keys str --kind-keys str", &[&one, &bs]).ok();
    hedgerow("load @ --vertices @ --kind a", &[&one, &directory.join("a.csv")]).ok();
    let command =
        "load @ @ --label l --rank rank --property n:i64 --from-column src_kind --to-column dst_kind";
    hedgerow(command, &[&one, &directory.join("l.csv")]).ok();
    let edges = |store: &Path| hedgerow("export @ --label l --properties", &[store]).ok();
    assert_eq!(edges(&one).lines().collect::<BTreeSet<_>>(), edges(&store).lines().collect());
    // The vertices of one kind are exported at a time.
    for (kind, expected) in [("a", "1\n2\n"), ("b", "1\nb:1\n")] {
        let file = bench.path(kind);
        let edges =
            hedgerow(&format!("export @ --label l --vertices @ --kind {kind}"), &[&store, &file]).ok();
        assert_eq!(edges, "src,dst,src_kind,dst_kind,rank\n1,b:1,a,b,7\n1,b:1,b,b,9\n");
        assert_eq!(text(&file), expected);
    }
    let file = bench.path("rows");
    hedgerow("export @ --label l --vertices @ --kind= --properties", &[&store, &file]).ok();
    assert_eq!(text(&file), "id\n:x\na:1\n\"\"\n");
}

/// An undirected edge is stored in either order of its ends. Files have the order of the kinds of its label.
#[test]
fn undirected_edges_are_written_as_their_label_says() {
    let bench = Bench::new();
    let (store, first, again) = (bench.store(), bench.path("first"), bench.path("again"));
    let pages = bench.file("pages.csv", "id\n1\n2\n");
    let users = bench.file("users.csv", "id\n7\n8\n");
    let edges = bench.file("edges.csv", "7,2\n8,1\n8,2\n");
    hedgerow("load @ --vertices @ --kind page --undirected", &[&store, &pages]).ok();
    hedgerow("load @ --vertices @ --kind user --kind-keys str", &[&store, &users]).ok();
    hedgerow("load @ @ --label edited --from user --to page --no-header", &[&store, &edges]).ok();
    hedgerow("export @ @", &[&store, &first]).ok();
    let rows = |directory: &Path| {
        let text = text(&directory.join("edges-1-edited.csv"));
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    assert_eq!(rows(&first), ["7,2", "8,1", "8,2", "src,dst"]);
    assert_eq!(hedgerow("neighbors @ user:7", &[&store]).ok(), "page\t2\n");
    let other = bench.path("other");
    hedgerow("load @ @", &[&other, &first]).ok();
    hedgerow("export @ @", &[&other, &again]).ok();
    assert_eq!(rows(&again), rows(&first));
    assert_eq!(hedgerow("neighbors @ user:7", &[&other]).ok(), "page\t2\n");
}

#[test]
fn the_schema_tells_kinds() {
    let bench = Bench::new();
    let (store, file) = (bench.store(), bench.file("a.csv", "id,n:i64\n1,5\n"));
    hedgerow("load @ --vertices @", &[&store, &file]).ok();
    assert_eq!(
        hedgerow("schema @ --csv", &[&store]).ok(),
        "kind,label,property,type\nlabel,\"\",,\nvertex property,,n,i64\n"
    );
    hedgerow("load @ --vertices @ --kind a", &[&store, &file]).ok();
    let edges = bench.file("e.csv", "1,2,7\n");
    hedgerow("load @ @ --label l --from a --to= --property x:i64=3 --no-header", &[&store, &edges]).ok();
    let expected = "kind,label,property,type,vertex_kind,from,to\nlabel,\"\",,,,,\nlabel,l,,,,a,\"\"\n\
        edge property,l,x,i64,,,\nvertex kind,,,u64,\"\",,\nvertex property,,n,i64,\"\",,\n\
        vertex kind,,,u64,a,,\nvertex property,,n,i64,a,,\n";
    assert_eq!(hedgerow("schema @ --csv", &[&store]).ok(), expected);
    assert_eq!(hedgerow("neighbors @ a:1 --csv", &[&store]).ok(), "kind,key\n\"\",2\n");
}
