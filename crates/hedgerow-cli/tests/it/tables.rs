//! Tests of files of Parquet and Arrow: what is exported comes back, and what does not fit is refused.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use hedgerow_arrow::files::{FileFormat, TableWriter};
use serde_json::json;

use crate::{Bench, field, hedgerow, names};

const FORMATS: [&str; 2] = ["parquet", "arrow"];

/// Writes a table with these columns.
fn table(bench: &Bench, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).expect("columns of one length");
    let (path, format) = (bench.path(name), format_of(name));
    let file = File::create(&path).expect("created");
    let mut writer = TableWriter::new(file, format, &batch.schema()).expect("begun");
    writer.write(&batch).expect("written");
    writer.finish().expect("finished");
    path
}

fn format_of(name: &str) -> FileFormat {
    if name.ends_with("parquet") { FileFormat::Parquet } else { FileFormat::Arrow }
}

fn numbers(numbers: &[u64]) -> ArrayRef {
    Arc::new(UInt64Array::from(numbers.to_vec()))
}

fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

/// Returns the files of an export as text.
pub(crate) fn exported(bench: &Bench, store: &Path) -> Vec<(String, String)> {
    let directory = bench.path("as-text");
    let _ = std::fs::remove_dir_all(&directory);
    hedgerow("export @ @", &[store, &directory]).ok();
    let read = |name: String| (name.clone(), std::fs::read_to_string(directory.join(&name)).expect("text"));
    names(&directory).into_iter().map(read).collect()
}

/// Loads a store with kinds, labels and properties of all types, some with the names of columns.
pub(crate) fn rich(bench: &Bench) -> PathBuf {
    let store = bench.store();
    let vertices = bench.file(
        "v.csv",
        "id,id:utf8,born:timestamp,raw:bytes,ok:bool\n1,\"a\nb\",1969-12-31T23:59:59.999999Z,00ff,true\n2,\"\",,,false\n",
    );
    let pages = bench.file("p.csv", "id,views:i64\n\"x y\",5\n7,-9\n");
    let links = bench.file("l.csv", "src,dst,n,f\n1,x y,1,0.5\n2,7,2,inf\n1,7,,\n");
    let mixed = bench.file("m.csv", "src,dst,rank,a,b\n1,2,7,,\n7,1,0,page,\nx y,7,1,page,page\n");
    let plain = bench.file("e.csv", "src,dst,src\n1,2,x\n2,2,\n");
    hedgerow("load @ @ --vertices @ --property src:utf8=3", &[&store, &plain, &vertices]).ok();
    hedgerow("load @ --vertices @ --kind page --kind-keys str", &[&store, &pages]).ok();
    let ends = ["--label", "visits", "--from", "", "--to", "page", "--property", "rank:i64=n"];
    let mut call = crate::program();
    call.arg("load").arg(&store).arg(&links).args(ends).args(["--property", "weight:f64=f"]);
    crate::run(call, "", &[]).ok();
    let kinds = "--from-column a --to-column b --rank rank";
    hedgerow(&format!("load @ @ --label mixed {kinds}"), &[&store, &mixed]).ok();
    store
}

#[test]
fn a_directory_of_tables_gives_an_equal_store() {
    let bench = Bench::new();
    let store = rich(&bench);
    let expected = exported(&bench, &store);
    for format in FORMATS {
        let directory = bench.path(format);
        hedgerow(&format!("export @ @ --format {format}"), &[&store, &directory]).ok();
        let files = names(&directory);
        assert!(files.iter().all(|name| name == "schema.json" || name.ends_with(format)), "{files:?}");
        let other = bench.path(&format!("of-{format}"));
        hedgerow("load @ @", &[&other, &directory]).ok();
        assert_eq!(exported(&bench, &other), expected, "{format}");
        hedgerow("check @", &[&other]).ok();
        // A second load changes nothing.
        let again = hedgerow("load @ @ --json", &[&other, &directory]).ok();
        assert_eq!((field(&again, "new_edges"), field(&again, "new_vertices")), (json!(0), json!(0)));
    }
}

#[test]
fn a_value_of_16_mib_comes_back() {
    let bench = Bench::new();
    let name = "n".repeat(16 << 20);
    let vertices = bench.file("v.csv", format!("id,name:utf8\n1,{name}\n2,\n"));
    hedgerow("load @ --vertices @", &[&bench.store(), &vertices]).ok();
    for format in FORMATS {
        let (directory, other) = (bench.path(format), bench.path("other"));
        hedgerow(&format!("export @ @ --format {format}"), &[&bench.store(), &directory]).ok();
        hedgerow("load @ @", &[&other, &directory]).ok();
        assert!(exported(&bench, &other).iter().any(|(_, text)| text.contains(&name)), "{format}");
        std::fs::remove_dir_all(&other).expect("removed");
    }
}

#[test]
fn one_table_is_exported_and_loaded() {
    let bench = Bench::new();
    let edges = bench.file("e.csv", "src,dst,weight\n5,6,0.5\n6,5,2\n6,7,1\n");
    hedgerow("load @ @ --weighted", &[&bench.store(), &edges]).ok();
    for format in FORMATS {
        let (file, vertices) = (bench.path(&format!("e.{format}")), bench.path(&format!("v.{format}")));
        hedgerow(
            &format!("export @ --format {format} --out @ --vertices @"),
            &[&bench.store(), &file, &vertices],
        )
        .ok();
        let other = bench.path("other");
        let ran = hedgerow("load @ @ --vertices @ --weighted", &[&other, &file, &vertices]);
        assert!(ran.err.contains("a table with keys in src, dst, weight in weight\n"), "{ran:?}");
        ran.ok();
        assert_eq!(exported(&bench, &other), exported(&bench, &bench.store()), "{format}");
        std::fs::remove_dir_all(&other).expect("removed");
        // Without weights, the column becomes a property.
        let ran = hedgerow("load @ @", &[&other, &file]);
        assert!(ran.err.contains("properties weight\n"), "{ran:?}");
        let schema = hedgerow("schema @ --csv", &[&other]).ok();
        assert!(schema.contains("edge property,\"\",weight,f64"), "{schema}");
        std::fs::remove_dir_all(&other).expect("removed");
    }
    let dir = bench.path("dir");
    let error = hedgerow("export @ @ --format tsv", &[&bench.store(), &dir]).fails(2);
    assert!(error.starts_with("--format tsv"), "{error}");
    assert!(!dir.exists());
}

#[test]
fn columns_of_other_programs_come_in() {
    let bench = Bench::new();
    let cities: DictionaryArray<Int32Type> = [Some("Rom"), None, Some("Ulm")].into_iter().collect();
    let times = TimestampNanosecondArray::from(vec![Some(1_001), Some(2_000), None]);
    let columns: [(&str, ArrayRef); 5] = [
        ("from", texts(&["a", "b", ""])),
        ("note", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        ("to", texts(&["b", "c", "a"])),
        ("city", Arc::new(cities)),
        ("when", Arc::new(times)),
    ];
    for name in ["t.parquet", "t.arrow"] {
        let file = table(&bench, name, &columns);
        let store = bench.path("store");
        let ran = hedgerow("load @ @ --keys str --json", &[&store, &file]).ok();
        let notes = field(&ran, "notes").to_string();
        assert!(notes.contains("keys in from, to, properties note, city, when"), "{notes}");
        assert!(notes.contains("1 time is cut to microseconds"), "{notes}");
        let out = hedgerow("export @ --properties", &[&store]).ok();
        let times = ["1970-01-01T00:00:00.000001Z", "1970-01-01T00:00:00.000002Z"];
        let expected = format!(
            "src,dst,note:i64,city:utf8,when:timestamp\na,b,1,Rom,{}\nb,c,,,{}\n\"\",a,3,Ulm,\n",
            times[0], times[1]
        );
        assert_eq!(out, expected, "{name}");
        std::fs::remove_dir_all(&store).expect("removed");
        // The options name the ends and the properties; the report names what is left out.
        let ran = hedgerow(
            "load @ @ --keys str --src-col to --dst-col 1 --label knows --property n:i64=note",
            &[&store, &file],
        );
        assert!(
            ran.err.contains("keys in to, from, properties n from note; left out: city, when"),
            "{ran:?}"
        );
        let out = hedgerow("export @ --properties --label knows", &[&store]).ok();
        assert_eq!(out.lines().next(), Some("src,dst,n:i64"));
        std::fs::remove_dir_all(&store).expect("removed");
    }
}

#[test]
fn rows_that_do_not_fit_are_malformed() {
    let bench = Bench::new();
    let columns: [(&str, ArrayRef); 3] = [
        ("src", Arc::new(Int64Array::from(vec![Some(1), Some(-1), None, Some(4), Some(5)]))),
        ("dst", numbers(&[2, 2, 2, 2, 2])),
        ("weight", Arc::new(Float64Array::from(vec![Some(1.0), Some(1.0), Some(1.0), None, Some(f64::NAN)]))),
    ];
    for name in ["t.parquet", "t.arrow"] {
        let file = table(&bench, name, &columns);
        let error = hedgerow("load @ @ --weighted", &[&bench.store(), &file]).fails(1);
        assert!(error.ends_with(&format!("{name}:2: column src has a negative key")), "{error}");
        assert!(!bench.store().exists());
        let ran = hedgerow("load @ @ --weighted --on-error collect --json", &[&bench.store(), &file]).ok();
        assert_eq!((field(&ran, "rows"), field(&ran, "rejected")), (json!(1), json!(4)));
        let rejects = field(&ran, "rejects").to_string();
        for why in ["column src has no key", "column weight has no weight", "column weight is NaN"] {
            assert!(rejects.contains(why), "{rejects}");
        }
        std::fs::remove_dir_all(bench.store()).expect("removed");
    }
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    let date: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let file = table(&bench, "t.parquet", &[("src", numbers(&[1])), ("dst", numbers(&[2])), ("day", date)]);
    let words = table(&bench, "w.arrow", &[("src", texts(&["a"])), ("dst", texts(&["b"]))]);
    let nameless = table(&bench, "n.parquet", &[("a", numbers(&[1])), ("b", numbers(&[2]))]);
    let twice = [("src", numbers(&[1])), ("dst", numbers(&[2])), ("x", numbers(&[1])), ("x", numbers(&[1]))];
    let twice = table(&bench, "x.arrow", &twice);
    let csv = bench.file("e.csv", "1,2\n");
    for (command, path, status, why) in [
        (
            "load @ @",
            &file,
            1,
            "t.parquet: column day: no property has the type Date32; convert it, or name the properties to load by --property",
        ),
        (
            "load @ @ --property day:timestamp",
            &file,
            1,
            "column day: Date32 is no timestamp for property day",
        ),
        ("load @ @ --property d:i64=4", &file, 1, "no column 4; the columns are src, dst, day"),
        (
            "load @ @ --src-col day",
            &file,
            1,
            "column day has the type Date32, but the keys are whole numbers",
        ),
        (
            "load @ @ --weighted",
            &file,
            1,
            "no column named weight; --weight-col says which one has the weights",
        ),
        (
            "load @ @",
            &words,
            1,
            "w.arrow: column src has the type Utf8, but the keys are whole numbers (--keys str takes texts)",
        ),
        ("load @ @", &nameless, 1, "no column has a usual name of an end: --src-col names it; columns: a, b"),
        ("load @ @ --src-col a", &nameless, 1, "--dst-col names it"),
        ("load @ @ --src-col c --dst-col b", &nameless, 1, "no column named c; the columns are a, b"),
        ("load @ @", &twice, 1, "two columns are property \"x\""),
        ("load @ @ --header", &file, 2, "--header: a file of Parquet or Arrow has columns"),
        ("load @ @ --delimiter ;", &words, 2, "--delimiter: a file"),
    ] {
        let error = hedgerow(command, &[&bench.store(), path]).fails(status);
        assert!(error.contains(why), "{command}: {error}");
        assert!(!bench.store().exists(), "{command}");
    }
    // A stated format wins: then the file is text.
    let error = hedgerow("load @ @ --format csv", &[&bench.store(), &file]).fails(1);
    assert!(error.contains("t.parquet:1"), "{error}");
    let costs = [
        ("src", numbers(&[1, 1])),
        ("dst", numbers(&[2, 2])),
        ("weight", numbers(&[1, 2])),
        ("cost", numbers(&[5, 7])),
    ];
    let costs = table(&bench, "c.parquet", &costs);
    for (command, status, why) in [
        ("load @ @ --weight-col cost", 1, "c.parquet: two columns are property weight"),
        ("load @ @ --property n:i64=weight --property n:i64=cost", 1, "two columns are property n"),
        ("load @ @ --weighted --repeat sum", 2, "--repeat sum: not with properties"),
        ("load @ @ --src-col dst", 1, "column dst would be both ends"),
        ("load @ @ --property cost:timestamp_s", 2, "--property cost: a column of times states its unit"),
        (
            "load @ @ --label-column cost",
            1,
            "c.parquet: column cost: has the type UInt64, but texts are needed",
        ),
    ] {
        let error = hedgerow(command, &[&bench.store(), &costs]).fails(status);
        assert!(error.contains(why), "{command}: {error}");
        assert!(!bench.store().exists(), "{command}");
    }
    // A file that ends too early, or whose content is damaged.
    for whole in [&file, &words] {
        let bytes = std::fs::read(whole).expect("read");
        let cut = bench.file("cut", &bytes[..bytes.len() - 5]);
        let error = hedgerow("load @ @", &[&bench.store(), &cut]).fails(1);
        assert!(error.contains("cut: "), "{error}");
        let mut other = bytes.clone();
        other[8..bytes.len() / 2].fill(0xff);
        let other = bench.file("other", other);
        let error = hedgerow("load @ @ --keys str", &[&bench.store(), &other]);
        assert!(error.status == Some(1) && error.err.lines().count() == 1, "{error:?}");
    }
    let directory = bench.path("dir");
    hedgerow("load @ @", &[&bench.store(), &csv]).ok();
    hedgerow("export @ @ --format parquet", &[&bench.store(), &directory]).ok();
    let other = bench.path("other-store");
    std::fs::copy(&nameless, directory.join("edges.parquet")).expect("copied");
    let error = hedgerow("load @ @", &[&other, &directory]).fails(1);
    assert!(error.contains("edges.parquet: the header is \"a,b\""), "{error}");
    std::fs::remove_file(directory.join("edges.parquet")).expect("removed");
    let error = hedgerow("load @ @", &[&other, &directory]).fails(1);
    assert!(error.contains("no such file"), "{error}");
    assert!(!other.exists());
}

/// The ends of a label may have keys of two types, and a label or a kind may be in a column.
#[test]
fn each_end_has_keys_of_its_kind() {
    let bench = Bench::new();
    let store = rich(&bench);
    let (visits, mixed) = (bench.path("visits.parquet"), bench.path("mixed.arrow"));
    let export = "export @ --properties --format";
    hedgerow(&format!("{export} parquet --label visits --out @"), &[&store, &visits]).ok();
    hedgerow(&format!("{export} arrow --label mixed --out @"), &[&store, &mixed]).ok();
    let other = bench.path("other");
    let pages = bench.file("p.csv", "id\n7\n");
    hedgerow("load @ --vertices @ --kind page --kind-keys str", &[&other, &pages]).ok();
    let mut call = crate::program();
    call.arg("load").arg(&other).arg(&visits).args(["--label", "visits", "--from", "", "--to", "page"]);
    assert!(call.output().expect("the program runs").status.success());
    hedgerow(
        "load @ @ --label mixed --from-column src_kind --to-column dst_kind --rank rank",
        &[&other, &mixed],
    )
    .ok();
    for label in ["visits", "mixed"] {
        let rows = |store: &Path| {
            let text = hedgerow(&format!("export @ --properties --label {label}"), &[store]).ok();
            let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
            rows.sort();
            rows
        };
        assert_eq!(rows(&other), rows(&store), "{label}");
    }
    // A number has one spelling, so that no text becomes another key.
    let odd = [
        ("src", texts(&["7", "07", "+7", " 7"])),
        ("dst", texts(&["a", "a", "a", "a"])),
        ("a", texts(&["", "", "", ""])),
        ("b", texts(&["page", "page", "page", "nobody"])),
        ("kind", texts(&["likes", "likes", &"x".repeat(300), ""])),
    ];
    let odd = table(&bench, "odd.parquet", &odd);
    let command = "load @ @ --label-column kind --from-column a --to-column b --on-error collect --json";
    let ran = hedgerow(command, &[&other, &odd]).ok();
    assert_eq!((field(&ran, "rows"), field(&ran, "rejected")), (json!(1), json!(3)));
    let rejects = field(&ran, "rejects").to_string();
    for why in
        ["column src: \\\"07\\\" is no number", "column kind: label of 300 bytes", "column kind: no label"]
    {
        assert!(rejects.contains(why), "{why}: {rejects}");
    }
}

/// A scan passes an undirected edge at its smaller id, which may be a vertex of the second kind.
#[test]
fn ends_of_undirected_edges_have_the_kinds_that_their_label_states() {
    let bench = Bench::new();
    let (users, pages) = (bench.file("u.csv", "id\n5\n6\n"), bench.file("p.csv", "id\n5\n9\n"));
    let edges = bench.file("e.csv", "src,dst\n5,9\n6,5\n");
    // The users, the second kind of the label, get the smaller ids.
    hedgerow("load @ --vertices @ --kind user --undirected", &[&bench.store(), &users]).ok();
    hedgerow("load @ --vertices @ --kind page", &[&bench.store(), &pages]).ok();
    let of = "--label seen --from page --to user --src-col 2 --dst-col 1";
    hedgerow(&format!("load @ @ {of}"), &[&bench.store(), &edges]).ok();
    let expected = exported(&bench, &bench.store());
    for format in FORMATS {
        let (directory, other) = (bench.path(format), bench.path(&format!("of-{format}")));
        hedgerow(&format!("export @ @ --format {format}"), &[&bench.store(), &directory]).ok();
        hedgerow("load @ @", &[&other, &directory]).ok();
        assert_eq!(exported(&bench, &other), expected, "{format}");
    }
}

#[test]
fn an_export_that_fails_leaves_the_old_files() {
    let bench = Bench::new();
    let edges = bench.file("e.csv", "src,dst\n5,6\n");
    hedgerow("load @ @", &[&bench.store(), &edges]).ok();
    let (old, nowhere) = (bench.file("old.parquet", "old"), bench.path("no/where.parquet"));
    let paths: [&Path; 3] = [&bench.store(), &old, &nowhere];
    let error = hedgerow("export @ --format parquet --out @ --vertices @", &paths).fails(1);
    assert!(error.contains("no/where.parquet"), "{error}");
    assert_eq!(std::fs::read_to_string(&old).expect("read"), "old");
    let error = hedgerow("export @ --format arrow --vertices -", &[&bench.store()]).fails(2);
    assert!(error.starts_with("--vertices: standard output takes one table"), "{error}");
    // A weighted store says that a table has no weights.
    let weighted = bench.path("weighted");
    let file = table(&bench, "t.parquet", &[("src", numbers(&[1])), ("dst", numbers(&[2]))]);
    let with = bench.file("w.csv", "src,dst,weight\n1,2,5\n");
    hedgerow("load @ @ --weighted", &[&weighted, &with]).ok();
    let ran = hedgerow("load @ @", &[&weighted, &file]);
    assert!(ran.err.contains("no column has weights, so each row has weight 1"), "{ran:?}");
    ran.ok();
}
