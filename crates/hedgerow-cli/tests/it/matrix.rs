//! Tests of Matrix Market files: entries are edges, values are weights, and a symmetric file leaves out half
//! of them.

use std::path::Path;

use serde_json::json;

use crate::{Bench, field, hedgerow};

const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 0.5\n3 1 0.25\n";
const PATTERN: &str = "%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n3 1\n4 2\n5 5\n";
const GENERAL: &str = "%%MatrixMarket matrix coordinate integer general\n4 4 3\n1 2 5\n2 3 7\n4 1 -1\n";

fn export(store: &Path) -> String {
    hedgerow("export @", &[store]).ok()
}

#[test]
fn entries_are_edges_with_weights() {
    let bench = Bench::new();
    // The first line determines the format, not the name of the file. The keys are the ids of the file.
    for (name, options) in [("m.mtx", ""), ("m.txt", ""), ("m", "--format mtx"), ("m.mtx", "--weight-col 3")]
    {
        let (store, file) = (bench.path("general"), bench.file(name, GENERAL));
        let loaded = hedgerow(&format!("load @ @ --json {options}"), &[&store, &file]).ok();
        assert_eq!((field(&loaded, "rows"), field(&loaded, "notes")), (json!(3), json!([])));
        assert_eq!(export(&store), "src,dst,weight\n1,2,5\n2,3,7\n4,1,-1\n");
        std::fs::remove_dir_all(&store).expect("removed");
    }
    let file = bench.file("m.mtx", GENERAL);
    hedgerow("load @ @ --label flow", &[&bench.store(), &file]).ok();
    let exported = hedgerow("export @ --label flow --properties", &[&bench.store()]).ok();
    assert_eq!(exported, "src,dst,weight:f64\n1,2,5\n2,3,7\n4,1,-1\n");
    let (empty, file) = (
        bench.path("empty"),
        bench.file("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 1\n1 2\n"),
    );
    let loaded = hedgerow("load @ @ --json", &[&empty, &file]).ok();
    let note = "3 of the vertices of the matrix have no entry and are not loaded";
    assert_eq!(field(&loaded, "notes")[0]["note"], note);
    // If `--skip` leaves out the first lines, the other rows are an edge list.
    let skipped = bench.path("skipped");
    let file = bench.file("p.mtx", PATTERN);
    hedgerow("load @ @ --undirected --skip 2", &[&skipped, &file]).ok();
    assert_eq!(export(&skipped), "src,dst\n1,2\n1,3\n2,4\n5,5\n");
}

#[test]
fn a_symmetric_matrix_says_how_it_was_loaded() {
    let bench = Bench::new();
    let file = bench.file("m.mtx", SYMMETRIC);
    // A new store has edges without direction, unless an option states otherwise.
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &file]).ok();
    assert_eq!(
        field(&loaded, "notes")[0]["note"],
        "a symmetric matrix: each entry is an edge without a direction"
    );
    assert_eq!(export(&bench.store()), "src,dst,weight\n1,2,0.5\n1,3,0.25\n");
    assert_eq!(field(&hedgerow("stats @ --json", &[&bench.store()]).ok(), "directed"), false);

    let directed = bench.path("directed");
    let ran = hedgerow("load @ @ --directed", &[&directed, &file]);
    let what = "a symmetric matrix: each entry off the diagonal is loaded in both directions";
    assert_eq!(ran.err, format!("note: {}: {what}\n", file.display()));
    ran.ok();
    let both = "src,dst,weight\n1,2,0.5\n1,3,0.25\n2,1,0.5\n3,1,0.25\n";
    assert_eq!(export(&directed), both);
    // The same holds for an existing directed store without further options.
    let pattern = bench.file("p.mtx", PATTERN);
    let old = bench.path("old");
    hedgerow("load @ @", &[&old, &bench.file("one.csv", "1,2\n")]).ok();
    hedgerow("load @ @", &[&old, &pattern]).ok();
    assert_eq!(export(&old), "src,dst\n1,2\n1,3\n2,1\n2,4\n3,1\n4,2\n5,5\n");

    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 0.5\n";
    let (file, turned) = (bench.file("s.mtx", skew), bench.path("turned"));
    hedgerow("load @ @", &[&turned, &file]).ok();
    assert_eq!(export(&turned), "src,dst,weight\n1,2,-0.5\n2,1,0.5\n");
}

#[test]
fn what_a_matrix_cannot_be_is_refused() {
    let bench = Bench::new();
    let begin = "%%MatrixMarket matrix coordinate";
    for (content, options, status, expected) in [
        ("1 2\n2 3\n", "", 1, "m.mtx: no Matrix Market file: it does not begin with %%MatrixMarket"),
        (GENERAL, "--format snap", 1, "m.mtx: begins as a Matrix Market file does; say --format mtx"),
        (GENERAL, "--src-col 2", 2, "--src-col: a Matrix Market file has rows, columns and values"),
        (GENERAL, "--header", 2, "--header: a Matrix Market file"),
        (GENERAL, "--weight-col 1", 2, "--weight-col: the values of a matrix are in column 3"),
        (PATTERN, "--weighted", 2, "--weighted: a pattern matrix has no values"),
        (&format!("{begin} complex general\n1 1 0\n"), "", 1, "m.mtx:1: field \"complex\" is not supported"),
        (
            &format!("{begin} real general\n2 2 2\n1 2 1\n"),
            "--on-error skip",
            1,
            "states 2 entries, but the file has 1",
        ),
        (&format!("{begin} real general\n2 2 1\n0 1 1\n"), "", 1, "m.mtx:3: row \"0\" is not from 1 to 2"),
        (
            &format!("{begin} pattern general\n2 3 1\n1 3\n"),
            "",
            1,
            "give them two kinds by --label NAME --from",
        ),
        (
            &format!("{begin} real skew-symmetric\n2 2 1\n2 1 1\n"),
            "--undirected",
            1,
            "a skew-symmetric matrix has the opposite weight in the other direction",
        ),
    ] {
        let file = bench.file("m.mtx", content);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(status);
        assert!(error.contains(expected), "{options}: {error}");
        assert!(!bench.store().exists());
    }
    // Two files disagree about the direction of a new store.
    let (general, symmetric) = (bench.file("g.mtx", GENERAL), bench.file("s.mtx", SYMMETRIC));
    let error = hedgerow("load @ @ @", &[&bench.store(), &general, &symmetric]).fails(2);
    assert!(error.contains("say --directed or --undirected"), "{error}");
}

#[test]
fn rows_and_columns_may_be_of_two_kinds() {
    let bench = Bench::new();
    let file = bench.file("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 2\n");
    let people = bench.file("p.csv", "id\n1\n2\n");
    hedgerow("load @ --vertices @ --kind person", &[&bench.store(), &people]).ok();
    let command = "load @ @ --label likes --kind film --from person --to film";
    hedgerow(command, &[&bench.store(), &file]).ok();
    let films = hedgerow("neighbors @ person:1", &[&bench.store()]).ok();
    assert_eq!(films, "film\t3\n");
    let exported = hedgerow("export @ --label likes", &[&bench.store()]).ok();
    assert_eq!(exported, "src,dst\n1,3\n2,2\n");
}
