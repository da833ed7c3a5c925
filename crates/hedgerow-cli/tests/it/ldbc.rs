//! Tests of LDBC's files, whose names and first lines state kinds, labels and properties.

use std::path::Path;

use hedgerow_workload::data;
use serde_json::json;

use crate::{Bench, field, hedgerow};

/// Writes a small network.
fn network(folder: &Path) {
    std::fs::create_dir_all(folder.join("static")).expect("made");
    std::fs::create_dir_all(folder.join("dynamic")).expect("made");
    for (name, text) in [
        ("static/place_0_0.csv", "id|name|type\n7|India|country\n"),
        (
            "dynamic/person_0_0.csv",
            "id|firstName|birthday|creationDate\n933|Mahinda|1989-12-03|2010-02-14T15:32:10.447+0000\n10|#Jo|558921600000|1284620040602\n",
        ),
        ("dynamic/person_knows_person_0_0.csv", "Person.id|Person.id|creationDate\n933|10|1278777892244\n"),
        ("dynamic/person_isLocatedIn_place_0_0.csv", "Person.id|Place.id\n933|7\n"),
        ("dynamic/comment_isLocatedIn_place_0_0.csv", "Comment.id|Place.id\n933|7\n"),
        ("dynamic/person_workAt_organisation_0_0.csv", "Person.id|Organisation.id|workFrom\n10|2|2009\n"),
        ("dynamic/person_email_emailaddress_0_0.csv", "Person.id|email\n10|jo@example.org\n"),
        ("README.txt", "a network\n"),
    ] {
        std::fs::write(folder.join(name), text).expect("written");
    }
}

#[test]
fn names_and_first_lines_state_kinds_labels_and_properties() {
    let bench = Bench::new();
    let folder = bench.path("network");
    network(&folder);
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &folder]).ok();
    // The comment and the organisation have no files of their own.
    for (name, count) in [("rows", 7), ("new_vertices", 5), ("new_edges", 4), ("rejected", 0)] {
        assert_eq!(field(&loaded, name), json!(count), "{name}: {loaded}");
    }
    let notes = field(&loaded, "notes").to_string();
    for note in [
        "vertices of kind person, properties firstName:utf8, birthday:timestamp, creationDate:timestamp",
        "edges knows from kind person to kind person, properties creationDate:timestamp",
        "README.txt is left out: its name is none of LDBC's",
        "emailaddress_0_0.csv is left out: column 2 has values and no ids of vertices",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let schema = hedgerow("schema @ --json", &[&bench.store()]).ok();
    assert!(schema.contains("isLocatedIn") && schema.contains("workFrom"), "{schema}");
    let knows = hedgerow("export @ --label knows --properties", &[&bench.store()]).ok();
    assert_eq!(knows, "src,dst,creationDate:timestamp\n933,10,2010-07-10T16:04:52.244Z\n");
    // One number names a person and a comment; the label of both is one.
    let located = hedgerow("export @ --label isLocatedIn", &[&bench.store()]).ok();
    let lines: Vec<&str> = located.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.contains(&"933,7,person,place") && lines.contains(&"933,7,comment,place"), "{located}");
    // Again, and file by file: all is there already.
    let again = hedgerow("load @ @ --json", &[&bench.store(), &folder]).ok();
    assert_eq!([field(&again, "new_edges"), field(&again, "existing_edges")], [json!(0), json!(4)]);
    let file = folder.join("dynamic/person_knows_person_0_0.csv");
    let one = hedgerow("load @ @ --format ldbc --json", &[&bench.store(), &file]).ok();
    assert_eq!([field(&one, "rows"), field(&one, "existing_edges")], [json!(1), json!(1)]);
}

#[test]
fn files_that_do_not_fit_their_names_are_refused() {
    let bench = Bench::new();
    for (name, text, expected) in [
        ("person_0_0.csv", "key|name\n1|a\n", "person_0_0.csv:1: column 1 is \"key\", expected id"),
        ("person_0_0.csv", "", "person_0_0.csv: no header"),
        ("person_0_0.csv", "id|a|a\n", ":1: column 3 is \"a\", expected a name that no other column has"),
        ("person_0_0.csv", "id|name\nx|a\n", ":2: kind person: vertex id \"x\" is not a number"),
        ("person_0_0.csv", "id|name\n1\n", ":2: the row has 1 columns, the header in line 1 has 2"),
        ("post_0_0.csv", "id|length\n1|long\n", ":2: property length is not a whole number"),
        ("post_0_0.csv", "id|creationDate\n1|soon\n", ":2: property creationDate is not"),
        ("a_knows_b_0_0.csv", "B.id|A.id\n1|2\n", ":1: column 1 is \"B.id\", expected a.id"),
        ("a_knows_b_0_0.csv", "A.id|C.id\n1|2\n", ":1: column 2 is \"C.id\", expected b.id"),
        ("a_knows_b_0_0.csv", "A.id|B.id\n1|\n", ":2: empty destination"),
    ] {
        let file = bench.file(name, text);
        let error = hedgerow("load @ @ --format ldbc", &[&bench.store(), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    let (store, file) = (bench.store(), bench.file("a.csv", "id\n1\n"));
    let error = hedgerow("load @ @ --format ldbc", &[&store, &file]).fails(1);
    assert!(error.contains("its name is neither like person_0_0.csv"), "{error}");
    let folder = bench.path("network");
    network(&folder);
    let error = hedgerow("load @ @ --label x", &[&store, &folder]).fails(2);
    assert!(error.contains("--label does not apply to LDBC's files"), "{error}");
    std::fs::create_dir(bench.path("empty")).expect("made");
    let error = hedgerow("load @ @ --format ldbc", &[&store, &bench.path("empty")]).fails(1);
    assert!(error.contains("no file has a name such as person_0_0.csv"), "{error}");
    // Malformed rows may be left out.
    std::fs::write(folder.join("static/tag_0_0.csv"), "id|name\nx|a\n5|b\n").expect("written");
    let loaded = hedgerow("load @ @ --on-error skip --json", &[&store, &folder]).ok();
    assert_eq!([field(&loaded, "rows"), field(&loaded, "rejected")], [json!(8), json!(1)]);
}

#[test]
fn published_networks_are_loaded_whole() {
    let tiny = data::require_data("ldbc/snb-interactive-tiny", "a load of a network of LDBC");
    let Some(tiny) = tiny.expect("the data") else { return };
    let bench = Bench::new();
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &tiny.join("vanilla")]).ok();
    for (name, count) in [("new_vertices", 34_735), ("rejected", 0)] {
        assert_eq!(field(&loaded, name), json!(count), "{name}");
    }
    let count = |name| field(&loaded, name).as_u64().expect("a number");
    assert_eq!(count("new_edges") + count("repeated_edges"), 70_842);
}
