//! Tests of input that does not fit the kinds: the program refuses it, and the message names the kind.

use crate::{Bench, field, hedgerow};

/// Makes a store with the kind user with text keys, the kind page with number keys, and a label from user to
/// page.
fn wiki(bench: &Bench, options: &str) {
    let store = bench.store();
    let (users, pages) = (bench.file("users.csv", "id\nann\n"), bench.file("pages.csv", "id,n:i64\n1,1\n"));
    hedgerow(&format!("load @ --vertices @ --kind user --kind-keys str {options}"), &[&store, &users]).ok();
    hedgerow("load @ --vertices @ --kind page", &[&store, &pages]).ok();
    let edges = bench.file("edited.csv", "user,page\nann,1\n");
    hedgerow(
        "load @ @ --label edited --from user --to page --src-col user --dst-col page",
        &[&store, &edges],
    )
    .ok();
}

#[test]
fn rows_are_refused_by_the_kind_of_their_keys() {
    let bench = Bench::new();
    wiki(&bench, "");
    let store = bench.store();
    let long = format!("{},1\n", "k".repeat(65_537));
    for (content, options, expected) in [
        (
            "id,n:i64\n7,7\nx,7\n",
            "--kind page --vertices",
            ":3: kind page: vertex id \"x\" is not a number from 0 to 18446744073709551615 in column 1",
        ),
        ("id,n:i64\n7,x\n", "--kind page --vertices", ":2: property n is not a whole number"),
        ("1\nx\n", "--kind page --format vertices", ":2: kind page: vertex id \"x\" is not a number"),
        (
            "ann,7\nbob,x\n",
            "--label edited --no-header",
            ":2: kind page: vertex id \"x\" is not a number from 0 to 18446744073709551615 in column 2",
        ),
        (
            "ann,7\nbob,-1\n",
            "--label new --from user --to page --no-header",
            ":2: kind page: vertex id \"-1\" is not a number",
        ),
        (
            "ann,7,edited\nbob,x,edited\n",
            "--label-column 3 --no-header",
            ":2: kind page: vertex id \"x\" is not a number",
        ),
        (
            "1,2,other\nann,7,edited\nann,7,other\n",
            "--label-column 3 --no-header",
            ":3: vertex id \"ann\" is not a number",
        ),
        (
            &long,
            "--label edited --no-header",
            ":1: kind user: vertex key of 65537 bytes is longer than 65536 in column 1",
        ),
    ] {
        let file = bench.file("bad.csv", content);
        let error = hedgerow(&format!("load @ {options} @"), &[&store, &file]).fails(1);
        assert!(error.contains(&format!("bad.csv{expected}")), "{error}");
    }
    let file = bench.file("bad.csv", "ann,7\nbob,x\ncarl,8\n");
    let loaded =
        hedgerow("load @ @ --label edited --no-header --on-error collect --json", &[&store, &file]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "rejected")), (2.into(), 1.into()));
    assert_eq!(field(&loaded, "rejects")[0]["line"], 2);
    assert_eq!(hedgerow("neighbors @ user:ann", &[&store]).ok(), "page\t1\npage\t7\n");
}

#[test]
fn kinds_that_do_not_fit_the_store_are_refused() {
    let bench = Bench::new();
    wiki(&bench, "");
    let store = bench.store();
    let file = bench.file("a.csv", "id\n7\n");
    let before = hedgerow("stats @ --json", &[&store]).ok();
    for (options, status, expected) in [
        (
            "@ --label l --from user --to pgae",
            1,
            "--to: no kind pgae: the kinds are \"\", \"user\", \"page\"",
        ),
        ("@ --label l --from Page --to page", 1, "--from: no kind Page: the kinds are "),
        (
            "@ --label edited --from page --to user",
            1,
            "label edited is defined from and to kinds [\"user\", \"page\"], not ",
        ),
        ("@ --label= --from page --to page", 2, "--from: the default label"),
        ("@ --from page --to page", 2, "--label"),
        ("@ --label l --from page", 2, "--to"),
        ("@ --label l --from-column 1", 2, "--to-column"),
        (
            "@ --label l --from-column 1 --to-column 2 --src-col 1 --dst-col 2",
            1,
            "e.csv:1: no kind 1: the kinds are \"\", \"user\", \"page\" in column 1",
        ),
        (
            "@ --label edited --from-column 1 --to-column 2 --src-col 1 --dst-col 2 --on-error skip",
            1,
            "label edited is defined from and to kinds",
        ),
        ("@ --kind page", 2, "--kind: nothing uses this kind"),
        ("--vertices @ --kind-keys str", 2, "--kind"),
        ("--vertices @ --kind page --kind-keys dense", 2, "dense"),
        (
            "--vertices @ --kind page --kind-keys str",
            1,
            "kind page is defined with u64 keys, not with str keys",
        ),
        (
            "--vertices @ --kind= --kind-keys str",
            1,
            "the default kind is defined with u64 keys, not with str keys",
        ),
    ] {
        let edges = bench.file("e.csv", "1,2\n");
        let path = if options.starts_with('@') { &edges } else { &file };
        let options = options.replace("@ --label", "@ --no-header --label");
        let error = hedgerow(&format!("load @ {options}"), &[&store, path]).fails(status);
        assert!(error.contains(expected), "{options}: {error}");
    }
    for (command, expected) in [
        (
            "export @ --label edited --vertices @",
            "vertices are of kinds \"\", \"user\", \"page\": name one of them with --kind, or export",
        ),
        ("export @ --label edited --vertices @ --kind pgae", "no kind pgae: the kinds are "),
    ] {
        let error = hedgerow(command, &[&store, &bench.path("out")]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.path("out").exists());
    }
    let after = hedgerow("stats @ --json", &[&store]).ok();
    for name in ["vertices", "edges", "timestamp", "kinds"] {
        assert_eq!(field(&before, name), field(&after, name));
    }
    // A failed load leaves no new store.
    let other = bench.path("other");
    let error = hedgerow("load @ --vertices @ --kind k --keys dense", &[&other, &file]).fails(1);
    assert!(error.contains("dense"), "{error}");
    assert!(!other.exists());
}

#[test]
fn a_directory_that_disagrees_about_kinds_is_refused() {
    type Change = fn(&mut serde_json::Value);
    let changes: &[(Change, &str)] = &[
        (|s| s["version"] = 4.into(), "version: expected 1 to 3, which this program knows, found 4"),
        (|s| s["kinds"] = 7.into(), "schema.json: kinds: expected a list, found 7"),
        (
            |s| s["kinds"][0]["name"] = "".into(),
            "kinds[0].name: expected a name that no other kind has, found \"\"",
        ),
        (
            |s| s["kinds"][1]["name"] = "user".into(),
            "kinds[1].name: expected a name that no other kind has, found \"user\"",
        ),
        (
            |s| s["kinds"][0]["keys"] = "dense".into(),
            "kinds[0].keys: expected \"u64\" or \"str\", found \"dense\"",
        ),
        (
            |s| s["kinds"][0]["keys"] = "u64".into(),
            "vertices-1-user.csv:2: kind user: vertex id \"ann\" is not a number",
        ),
        (|s| s["kinds"][1]["rows"] = 2.into(), "vertices-2-page.csv: the number of rows is 1, "),
        (
            |s| s["labels"][1]["ends"] = "user".into(),
            "labels[1].ends: expected null or the names of two kinds, found \"user\"",
        ),
        (
            |s| s["labels"][1]["ends"][1] = "pgae".into(),
            "labels[1].ends: expected null or the names of two kinds, found [\"user\",\"pgae\"]",
        ),
        (
            |s| s["labels"][1]["ends"] = serde_json::Value::Null,
            "edges-1-edited.csv: the header is \"src,dst\", ",
        ),
        (
            |s| s["labels"][0]["ends"] = vec!["user", "user"].into(),
            "labels[0].ends: expected null for the default label",
        ),
        (
            |s| s["labels"][1].as_object_mut().map(|label| label.remove("ends")).map_or((), drop),
            "labels[1].ends: expected null or",
        ),
    ];
    let bench = Bench::new();
    wiki(&bench, "");
    let (directory, other) = (bench.path("directory"), bench.path("other"));
    hedgerow("export @ @", &[&bench.store(), &directory]).ok();
    let path = directory.join("schema.json");
    let sound = std::fs::read_to_string(&path).expect("text");
    for (change, expected) in changes {
        let mut schema = serde_json::from_str(&sound).expect("JSON");
        change(&mut schema);
        std::fs::write(&path, schema.to_string()).expect("written");
        let error = hedgerow("load @ @", &[&other, &directory]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!other.exists());
    }
    std::fs::write(&path, &sound).expect("written");
    let error = hedgerow("load @ @ --kind user", &[&other, &directory]).fails(2);
    assert!(error.contains("--kind does not apply to a directory: its schema.json"), "{error}");
    // A label with kinds refuses edges from a directory that defines the label without kinds.
    hedgerow("load @ @", &[&other, &directory]).ok();
    let mut schema: serde_json::Value = serde_json::from_str(&sound).expect("JSON");
    schema["labels"][1]["ends"] = serde_json::Value::Null;
    std::fs::write(&path, schema.to_string()).expect("written");
    std::fs::write(directory.join("edges-1-edited.csv"), "src,dst,src_kind,dst_kind\n1,1,,\n")
        .expect("written");
    let error = hedgerow("load @ @", &[&other, &directory]).fails(1);
    assert!(
        error.contains(
            "label edited is defined from and to kinds [\"user\", \"page\"], not without kinds of its ends"
        ),
        "{error}"
    );
    std::fs::write(directory.join("edges-1-edited.csv"), "src,dst,src_kind,dst_kind\nann,1,user,pgae\n")
        .expect("written");
    let error = hedgerow("load @ @", &[&bench.path("new"), &directory]).fails(1);
    assert!(
        error.contains(
            "edges-1-edited.csv:2: no kind pgae: the kinds are \"\", \"user\", \"page\" in column 4"
        ),
        "{error}"
    );
    // The kinds of the store must have the key types that the directory states.
    let numbers = bench.path("numbers");
    hedgerow("load @ --vertices @ --kind user", &[&numbers, &bench.file("n.csv", "id\n1\n")]).ok();
    let error = hedgerow("load @ @", &[&numbers, &directory]).fails(1);
    assert!(error.contains("kind user is defined with u64 keys, not with str keys"), "{error}");
}
