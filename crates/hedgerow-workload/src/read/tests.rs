//! Tests of every format with a tiny file, and of the error and line of each malformed row.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{
    Column, Delimiter, EdgeFormat, EdgeReader, Graphalytics, Header, ImporterRole, Lines, ReadError,
    RowError, importer_columns, read_expected, read_vertices,
};
use crate::require_data;

mod matrix_market;
mod records;
mod sniff;
mod time;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }
}

type OwnedRow = (u64, String, String, Option<f64>, Option<i64>);

/// Returns all rows, and the lines and errors of malformed rows.
fn read_as(
    name: &str,
    bytes: impl AsRef<[u8]>,
    format: &EdgeFormat,
) -> (Vec<OwnedRow>, Vec<(u64, RowError)>) {
    let files = Files::new();
    all_rows(EdgeReader::open(&files.write(name, bytes), format).expect("opens"))
}

fn all_rows(mut reader: EdgeReader) -> (Vec<OwnedRow>, Vec<(u64, RowError)>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    while let Some(row) = reader.next_row() {
        match row {
            Ok(r) => rows.push((r.line, r.src.to_owned(), r.dst.to_owned(), r.weight, r.time)),
            Err(ReadError::Row { line, reason, .. }) => errors.push((line, reason)),
            Err(other) => panic!("{other}"),
        }
    }
    (rows, errors)
}

fn read(name: &str, text: &str) -> (Vec<OwnedRow>, Vec<(u64, RowError)>) {
    let format = EdgeFormat::of_path(&PathBuf::from(name));
    read_as(name, text, &format)
}

fn row(line: u64, src: &str, dst: &str, weight: Option<f64>, time: Option<i64>) -> OwnedRow {
    (line, src.to_owned(), dst.to_owned(), weight, time)
}

#[test]
fn every_format() {
    let plain = vec![row(2, "1", "2", None, None), row(3, "3", "4", None, None)];
    for (name, text) in [
        ("a.txt", "# comment\n1 2\n3\t4\n"),
        ("a.txt", "% other comment\n1 2 99\n  3 4   98"),
        ("a.csv", "src,dst\n1,2\n3,4\n"),
        ("a.csv", "\u{feff}Source,Target\r\n1,2\r\n3,4\r\n"),
        ("a.tsv", "from\tto\n1\t2\n3\t4\n"),
        ("a.txt", "source;target\n1;2\n3;4\n"),
        ("a.gr", "p tw 4 2\n1 2\n3 4\n"),
    ] {
        assert_eq!(read(name, text), (plain.clone(), vec![]), "{name}: {text}");
    }
    let weighted = vec![row(2, "1", "2", Some(0.5), None), row(3, "3", "4", Some(7.0), None)];
    for (name, text) in [
        ("a.wel", "#\n1 2 0.5\n3 4 7\n"),
        ("a.el", "#\n1 2 0.5\n3 4 7\n"),
        ("a.e", "#\n1 2 5e-1\n3 4 7.0\n"),
        ("a.gr", "p sp 4 2\na 1 2 0.5\na 3 4 7\n"),
        ("a.csv", "weight,dst,src\n0.5,2,1\n7,4,3\n"),
    ] {
        assert_eq!(read(name, text), (weighted.clone(), vec![]), "{name}: {text}");
    }
    let (rows, _) = read("a.csv", "time,from,to,w\n12.75,1,2,3\n");
    assert_eq!(rows, [row(2, "1", "2", Some(3.0), Some(12))]);
    let (rows, _) = read_as("a.txt", "1 2 -5\n", &EdgeFormat::temporal());
    assert_eq!(rows, [row(1, "1", "2", None, Some(-5))]);
}

#[test]
fn columns_by_choice() {
    let named = EdgeFormat {
        src: Some(Column::Name("who".to_owned())),
        dst: Some(Column::Name("WHOM".to_owned())),
        weight: Some(Column::Index(3)),
        ..EdgeFormat::csv()
    };
    let (rows, errors) = read_as("a.csv", "x,whom,who,n\n_,b,a,2\n", &named);
    assert_eq!((rows, errors), (vec![row(2, "a", "b", Some(2.0), None)], vec![]));
    let files = Files::new();
    let mut reader = EdgeReader::open(&files.write("b.csv", "x,y\n1,2\n"), &named).expect("opens");
    let error = reader.next_row().expect("an error").expect_err("no such column");
    assert!(matches!(&error, ReadError::Column { column, .. } if column == "who") && !error.is_row());
    let skipping = EdgeFormat { skip_lines: 1, header: Header::No, ..EdgeFormat::csv() };
    let (rows, _) = read_as("a.csv", "82168,948464,d,graph\n1,1\n", &skipping);
    assert_eq!(rows, [row(2, "1", "1", None, None)]);
    let auto = EdgeFormat { delimiter: Delimiter::Auto, ..EdgeFormat::default() };
    assert_eq!(read_as("noname", "a\tb c\n", &auto).0, [row(1, "a", "b c", None, None)]);
}

/// Returns the error for `reason` in the field at `column`, counted from 0.
fn at(column: usize, reason: RowError) -> RowError {
    RowError::InColumn { column, reason: Box::new(reason) }
}

#[test]
fn quoted_fields() {
    let (rows, errors) = read("a.csv", "\"a,1\",\"say \"\"b\"\"\"\n\"x\"y,1\n\" c \",d\"\n\"\",e\n");
    let expected = [row(1, "a,1", "say \"b\"", None, None), row(3, " c ", "d\"", None, None)];
    assert_eq!(rows, expected);
    assert_eq!(errors, [(2, RowError::Quote), (4, at(0, RowError::Empty { what: "source" }))]);
}

#[test]
fn headers_of_an_importer_name_columns_in_any_order() {
    for header in [
        ":START_ID,:END_ID,since:INT",
        "a:START_ID(Person) , b:END_ID(Person),:TYPE",
        "source:string,:start_id,:End_Id",
    ] {
        let turned: Vec<&str> = header.split(',').rev().collect();
        for names in [header.to_owned(), turned.join(",")] {
            let at = |role: &str| {
                names.split(',').position(|name| name.to_lowercase().contains(role)).expect("there")
            };
            let mut fields = ["x", "x", "x"];
            (fields[at("start_id")], fields[at("end_id")]) = ("1", "2");
            let (rows, errors) = read("a.csv", &format!("{names}\n{}\n", fields.join(",")));
            assert_eq!((rows, errors), (vec![row(2, "1", "2", None, None)], vec![]), "{names}");
        }
    }
    let names = ["id:ID(Person)", "name", "age:INT", ":LABEL", ":IGNORE"].map(str::to_owned);
    let columns = importer_columns(&names).expect("an importer's header");
    let roles: Vec<&ImporterRole> = columns.iter().map(|column| &column.role).collect();
    let property = |kind: &str| ImporterRole::Property(kind.to_owned());
    let expected =
        [ImporterRole::Id, property(""), property("int"), ImporterRole::Label, ImporterRole::Ignore];
    assert_eq!(roles, expected.iter().collect::<Vec<_>>());
    assert_eq!((columns[0].name.as_str(), columns[0].space.as_deref()), ("id", Some("Person")));
    for other in [["src", "dst"], [":START_ID", "x"], ["a:i64", "b"]] {
        assert_eq!(importer_columns(&other.map(str::to_owned)), None);
    }
}

#[test]
fn weights_are_never_rounded_whole_numbers() {
    let weight = |text: &str| read_as("a.wel", format!("1 2 {text}\n"), &EdgeFormat::weighted_edge_list());
    for (text, expected) in [
        ("9007199254740992", 9_007_199_254_740_992.0),
        ("-9007199254740994", -9_007_199_254_740_994.0),
        ("32000000000000000000", 3.2e19),
        ("000000000000000000005", 5.0),
        ("0.1", 0.1),
        ("9007199254740993.5", 9_007_199_254_740_994.0),
        ("-inf", f64::NEG_INFINITY),
    ] {
        assert_eq!(weight(text).0, [row(1, "1", "2", Some(expected), None)], "{text}");
    }
    for text in ["9007199254740993", "-9223372036854775807", "9007199254740993.0", "1e999", "-1e400"] {
        let rounded = RowError::Rounded { what: "weight", text: text.to_owned() };
        assert_eq!(weight(text).1, [(1, at(2, rounded))], "{text}");
    }
}

#[test]
fn malformed_rows_are_named_and_passed() {
    let mut text = b"1 2 3\n1\n1 2 nan\n1 2 x\n\xff\xfe 2 3\n".to_vec();
    const LIMIT: usize = 100;
    text.extend(std::iter::repeat_n(b'7', LIMIT + 1));
    text.extend(b"\n4 5 6\n");
    let lines = Lines::of(Path::new("a.wel"), std::io::Cursor::new(text)).limited(LIMIT);
    let (rows, errors) = all_rows(EdgeReader::of(lines, &EdgeFormat::weighted_edge_list()));
    assert_eq!(rows, [row(1, "1", "2", Some(3.0), None), row(7, "4", "5", Some(6.0), None)]);
    let not_a_number = |text: &str| at(2, RowError::NotANumber { what: "weight", text: text.to_owned() });
    let missing = RowError::MissingColumn { what: "destination", column: 1, found: 1 };
    let expected = [
        (2, missing),
        (3, not_a_number("nan")),
        (4, not_a_number("x")),
        (5, RowError::NotUtf8),
        (6, RowError::TooLong { limit: LIMIT }),
    ];
    assert_eq!(errors, expected);
}

#[test]
fn a_line_of_exactly_the_limit_is_read() {
    const LIMIT: usize = 1 << 20;
    let files = Files::new();
    let mut text = vec![b'7'; LIMIT];
    text.extend(b"\nend");
    let mut lines = Lines::open(&files.write("long", text)).expect("opens").limited(LIMIT);
    assert!(lines.advance().expect("fits"));
    assert_eq!(lines.text().len(), LIMIT);
    assert!(lines.advance().expect("fits") && lines.text() == "end" && lines.line() == 2);
    assert!(!lines.advance().expect("ended") && !lines.advance().expect("ended"));
}

#[test]
fn compressed_files() {
    let text = "1 2\n".repeat(1000);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("compressed");
    let gz = gz.finish().expect("compressed");
    let zst = zstd::encode_all(text.as_bytes(), 1).expect("compressed");
    for (name, bytes) in [("a.txt.gz", &gz), ("a.txt.zst", &zst)] {
        let (rows, errors) = read_as(name, bytes, &EdgeFormat::of_path(&PathBuf::from(name)));
        assert_eq!((rows.len(), errors.len()), (1000, 0), "{name}");
        let files = Files::new();
        let cut = files.write(name, &bytes[..bytes.len() - 5]);
        let mut reader = EdgeReader::open(&cut, &EdgeFormat::snap()).expect("opens");
        let mut last = None;
        while let Some(row) = reader.next_row() {
            last = Some(row.map(|r| r.line));
        }
        let error = last.expect("rows").expect_err("a cut file must not pass for a whole one");
        assert!(matches!(error, ReadError::Io { .. }) && !error.is_row(), "{error}");
        let progress = reader.progress();
        assert!(progress.read() <= progress.total() && progress.total() == bytes.len() as u64 - 5);
    }
    let files = Files::new();
    // The content decides about compression, not the name. A name that disagrees with the content is an
    // error.
    let mut lines = Lines::open(&files.write("a.txt", &gz)).expect("opens");
    assert!(lines.advance().expect("text") && lines.text() == "1 2");
    for (name, bytes) in
        [("plain.gz", &b"1 2\n"[..]), ("plain.zst", b"1 2\n"), ("empty.gz", b""), ("cut.zst", b"\x28\xb5")]
    {
        let error = Lines::open(&files.write(name, bytes)).err().expect("not compressed").to_string();
        assert!(error.contains(name) && error.contains("file, though its name says so"), "{error}");
    }
    assert!(matches!(Lines::open(&PathBuf::from("absent.txt")), Err(ReadError::Open { .. })));
}

#[test]
fn graphalytics_files() {
    let files = Files::new();
    let text = "# c\ngraph.g.vertex-file = g.v\ngraph.g.edge-file = g.v\ngraph.g.directed = true\n\
        graph.g.edge-properties.names = weight\ngraph.g.algorithms = bfs, PR\ngraph.g.bfs.source-vertex = 7\n";
    let path = files.write("g.properties", text);
    files.write("g.e", "1 2 0.5\n");
    files.write("g.v.zst", zstd::encode_all(&b"1\n2 x\n"[..], 1).expect("compressed"));
    let graph = Graphalytics::open(&path).expect("readable");
    assert!(graph.directed && graph.weighted && graph.name == "g");
    assert_eq!(graph.algorithms(), ["bfs", "pr"]);
    assert_eq!(graph.required::<u64>("bfs.source-vertex").expect("there"), 7);
    assert!(graph.required::<u64>("directed").is_err() && graph.required::<u64>("absent").is_err());
    assert_eq!(read_vertices(&graph.vertex_file).expect("readable"), [1, 2]);
    assert!(graph.edge_file.ends_with("g.e"), "the vertex file named twice");
    let results = files.write("g-SSSP", "1 0.5\n2 infinity\n");
    assert_eq!(read_expected::<f64>(&results).expect("readable"), [(1, 0.5), (2, f64::INFINITY)]);
    let error = read_expected::<u64>(&results).expect_err("no integers").to_string();
    assert!(error.ends_with("g-SSSP:1: value is not a number: \"0.5\""), "{error}");
    let lacking = files.write("h.properties", "graph.h.vertex-file = h.v\n");
    let error = Graphalytics::open(&lacking).expect_err("not said whether directed").to_string();
    assert!(error.ends_with("h.properties: property directed: absent"), "{error}");
}

#[test]
fn counts_of_real_files() {
    for (name, rows) in [
        ("static/law-cnr-2000/cnr-2000.txt.zst", 3_216_152),
        ("static/dimacs9-road-NY/NY.gr.zst", 365_050),
        ("static/dimacs9-rome99/rome99.gr", 8_870),
        ("temporal/snap-soc-sign-bitcoin-otc/edges.csv.zst", 35_592),
    ] {
        let Some(path) = require_data(name, "row counts").expect("data") else { continue };
        let mut reader = EdgeReader::open(&path, &EdgeFormat::of_path(&path)).expect("opens");
        let mut count = 0;
        while let Some(row) = reader.next_row() {
            row.expect("well-formed");
            count += 1;
        }
        assert_eq!(count, rows, "{name}");
    }
}
