//! Tests of records of one line and of several lines, against a writer of the same form.

use std::io::Cursor;
use std::path::Path;

use super::super::records::Records;
use super::super::{Comment, Delimiter, EdgeFormat, EdgeReader, Lines, ReadError, RowError, sniff};
use super::{at, read_as, row};
use crate::rng::Rng;

fn exact() -> EdgeFormat {
    EdgeFormat { delimiter: Delimiter::Byte(b','), exact: true, ..EdgeFormat::default() }
}

fn records(text: &str, format: &EdgeFormat) -> Records {
    Records::of(Lines::of(Path::new("a.csv"), Cursor::new(text.to_owned().into_bytes())), format)
}

/// Returns all records with their first lines. An empty field without quotes is `None`.
fn all(text: &str) -> Vec<(u64, Vec<Option<String>>)> {
    let mut records = records(text, &exact());
    let mut all = Vec::new();
    while records.advance().unwrap_or_else(|why| panic!("{why}: {text:?}")) {
        let field = |f: &super::super::fields::Field| {
            let text = f.of(records.text());
            (f.quoted || !text.is_empty()).then(|| text.to_owned())
        };
        all.push((records.line(), records.fields().iter().map(field).collect()));
    }
    all
}

#[test]
fn what_was_written_comes_back() {
    const PIECES: [&str; 14] =
        ["a", "\"", ",", "\n", "\r\n", "\r", " ", "#", "%", ";", "\t", "é", "\u{feff}", "\"\""];
    let mut rng = Rng::new(7);
    for _ in 0..3000 {
        let (rows, width) = (1 + rng.below(4), 2 + rng.below(3));
        let (mut text, mut expected, mut line) = (String::new(), Vec::new(), 1);
        for _ in 0..rows {
            let mut fields = Vec::new();
            let begin = line;
            for column in 0..width {
                let field: String =
                    (0..rng.below(5)).map(|_| PIECES[rng.below(PIECES.len() as u64) as usize]).collect();
                let special = field.contains(['"', ',', '\n', '\r']);
                // A byte order mark at the beginning of a file is not part of its content.
                let mark = text.is_empty() && field.starts_with('\u{feff}');
                let null = field.is_empty() && rng.below(2) == 0;
                line += field.matches('\n').count() as u64;
                text += if column > 0 { "," } else { "" };
                if !null && (special || mark || field.is_empty() || rng.below(3) == 0) {
                    text += &format!("\"{}\"", field.replace('"', "\"\""));
                } else {
                    text += &field;
                }
                fields.push((!null).then_some(field));
            }
            text += ["\n", "\r\n"][rng.below(2) as usize];
            line += 1;
            expected.push((begin, fields));
        }
        if rng.below(4) == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        assert_eq!(all(&text), expected, "{text:?}");
    }
}

#[test]
fn quotes_that_do_not_close_end_the_file() {
    const LIMIT: usize = 1 << 12;
    let far = format!("a,b\n\"c\n{}", "x\n".repeat(LIMIT / 2 + 2));
    let limited = |text: &str| {
        let lines = Lines::of(Path::new("a.csv"), Cursor::new(text.to_owned().into_bytes()));
        Records::of(lines.limited(LIMIT), &exact())
    };
    for text in ["a,b\n\"c,d\ne,f\n", "a,b\n\"c,d", far.as_str()] {
        let mut records = limited(text);
        assert!(records.advance().expect("the first record"));
        let error = records.advance().expect_err("not closed");
        let reason = RowError::Unclosed { limit: LIMIT };
        assert!(
            matches!(&error, ReadError::Record { line: 2, reason: found, .. } if *found == reason),
            "{error}"
        );
        assert!(!error.is_row() && !records.advance().expect("the end"));
    }
    let long = format!("\"{}\n{}\",b\n", "x".repeat(LIMIT - 20), "y".repeat(10));
    let mut records = limited(&long);
    assert!(records.advance().expect("within the limit") && !records.advance().expect("the end"));
}

#[test]
fn rows_of_another_width_are_malformed() {
    let (rows, errors) = read_as("a.csv", "# c\nsrc,dst\n1,2\n3\n4,5,6\n7,8\n", &EdgeFormat::csv());
    assert_eq!(rows, [row(3, "1", "2", None, None), row(6, "7", "8", None, None)]);
    let width = |found| RowError::Width { found, expected: 2, first: 2, header: true };
    assert_eq!(errors, [(4, width(1)), (5, width(3))]);
    assert_eq!(width(3).to_string(), "the row has 3 columns, the header in line 2 has 2");
}

#[test]
fn nulls_are_no_keys() {
    let format = EdgeFormat { nulls: vec!["\\N".to_owned(), "NULL".to_owned()], ..EdgeFormat::csv() };
    let (rows, errors) = read_as("a.csv", "src,dst\n\\N,b\na, NULL\n\"NULL\",b\n,b\n", &format);
    assert_eq!(rows, [row(4, "NULL", "b", None, None)]);
    let null = |what, text: &str| RowError::Null { what, text: text.to_owned() };
    let empty = RowError::Empty { what: "source" };
    let expected =
        [(2, at(0, null("source", "\\N"))), (3, at(1, null("destination", "NULL"))), (5, at(0, empty))];
    assert_eq!(errors, expected);
}

/// Returns all records as text, and the errors with their lines.
fn lenient(text: &str, format: &EdgeFormat) -> (Vec<Vec<String>>, Vec<(u64, RowError)>) {
    let (mut records, mut all, mut faults) = (records(text, format), Vec::new(), Vec::new());
    loop {
        match records.advance() {
            Ok(false) => return (all, faults),
            Ok(true) => {
                let field = |f: &super::super::fields::Field| f.of(records.text()).to_owned();
                all.push(records.fields().iter().map(field).collect());
            }
            Err(ReadError::Row { line, reason, .. }) => faults.push((line, reason)),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn blanks_before_a_quote_are_no_part_of_the_field() {
    for (text, expected) in [
        ("a, \"b\"\n", ["a", "b"]),
        (" \"a\",\t \"b, \"\"c\"\"\"\n", ["a", "b, \"c\""]),
        ("a,  \"b\nc\"\n", ["a", "b\nc"]),
        ("\"a\", b\n", ["a", " b"]),
        ("a\" , \"b\"\n", ["a\" ", "b"]),
    ] {
        let expected: Vec<String> = expected.map(str::to_owned).to_vec();
        assert_eq!(lenient(text, &EdgeFormat::csv()), (vec![expected], vec![]), "{text}");
    }
    // In the files of an export, such blanks belong to the field. Tabs between fields are not blanks.
    assert_eq!(lenient("a, \"b\"\n", &exact()).0, [["a", " \"b\""]]);
    assert_eq!(lenient("a\t \t\"b\"\n", &EdgeFormat::tsv()).0, [["a", " ", "b"]]);
    let between = RowError::QuoteBetweenBlanks { text: "\"b".to_owned() };
    assert_eq!(
        lenient("1 2\na \"b c\"\n", &EdgeFormat::snap()),
        (vec![vec!["1".into(), "2".into()]], vec![(2, between)])
    );
}

#[test]
fn carriage_returns_within_a_line_are_refused() {
    let fault = |line| vec![(line, RowError::CarriageReturn)];
    for format in [EdgeFormat::csv(), EdgeFormat::snap(), EdgeFormat::default(), exact()] {
        let (rows, faults) = lenient("a,b\r1,2\r3,4\r", &format);
        assert_eq!((rows.len(), faults), (0, fault(1)), "{format:?}");
    }
    assert_eq!(lenient("# c\r1,2\r3,4\n5,6\n", &EdgeFormat::csv()).1, fault(1));
    assert_eq!(lenient("a,\"b\"\nx\ry,\"z\"\n", &EdgeFormat::csv()).1, fault(2));
    // At the end of a line and within quotes, carriage returns are legal.
    assert_eq!(lenient("a,b\r\n", &EdgeFormat::csv()).0, [["a", "b"]]);
    assert_eq!(lenient("\"a\rb\",c\r\n", &EdgeFormat::csv()).0, [["a\rb", "c"]]);
    let long = format!("1,2\r{}\n3,4\n", "5,6\r".repeat(50));
    let lines = Lines::of(Path::new("a"), Cursor::new(long.into_bytes())).limited(100);
    let mut reader = EdgeReader::of(lines, &EdgeFormat::csv());
    let error = reader.next_row().expect("a row").expect_err("too long").to_string();
    assert!(error.starts_with("a:1: the line contains a carriage return"), "{error}");
}

#[test]
fn other_encodings_are_refused_by_the_first_bytes() {
    let wide = |big: bool| -> Vec<u8> {
        "src,dst\n".encode_utf16().flat_map(|c| if big { c.to_be_bytes() } else { c.to_le_bytes() }).collect()
    };
    for bytes in [
        wide(false),
        wide(true),
        [&b"\xFF\xFE"[..], &wide(false)].concat(),
        [&b"\xFE\xFF"[..], &wide(true)].concat(),
    ] {
        let lines = || Lines::of(Path::new("a.csv"), Cursor::new(bytes.clone()));
        let error = lines().advance().expect_err("not UTF-8");
        assert!(matches!(error, ReadError::Encoding { .. }) && !error.is_row(), "{error}");
        assert!(error.to_string().contains("a.csv: in UTF-16 or UTF-32; convert it to UTF-8"), "{error}");
        assert!(sniff(lines(), &EdgeFormat::default(), false).is_err());
        let mut lines = lines();
        assert!(lines.advance().is_err() && !lines.advance().expect("the end"));
    }
}

#[test]
fn comments_are_counted_and_doubted() {
    let text = "# a\nsrc,dst\n\n#rust,go\n%20,x\n# a, b, c\nann,bob\n";
    let count = |format: &EdgeFormat| {
        let mut records = records(text, format);
        while let Ok(true) | Err(ReadError::Row { .. }) = records.advance() {}
        records.comments()
    };
    assert_eq!((count(&EdgeFormat::csv()), lenient(text, &EdgeFormat::csv()).0.len()), (4, 2));
    let doubted = EdgeFormat { comment: Comment::Doubted, ..EdgeFormat::csv() };
    let fault = |start| RowError::CommentOrRow { start, fields: 2 };
    assert_eq!((count(&doubted), lenient(text, &doubted).1), (2, vec![(4, fault('#')), (5, fault('%'))]));
    assert!(fault('#').to_string().ends_with("say which by --comment # or --comment none"));
    let none = EdgeFormat { comment: Comment::None, ..EdgeFormat::csv() };
    assert_eq!((count(&none), lenient(text, &none).0.len()), (0, 6));
    let hash = EdgeFormat { comment: Comment::Byte(b'#'), ..EdgeFormat::csv() };
    assert_eq!(
        (count(&hash), lenient(text, &hash).0),
        (3, [["src", "dst"], ["%20", "x"], ["ann", "bob"]].map(|r| r.map(str::to_owned).to_vec()).to_vec())
    );
    // In a DIMACS file, the problem line does not count as a comment.
    let mut dimacs = records("c x\np sp 2 1\na 1 2 5\n", &EdgeFormat::dimacs());
    assert!(dimacs.advance().expect("a row") && dimacs.comments() == 1);
    assert_eq!(dimacs.other_arcs(), None);
    assert!(!dimacs.advance().expect("the end"));
    let mut cut = records("p sp 4 3\na 1 2 5\na 2 3 7\n", &EdgeFormat::dimacs());
    while cut.advance().expect("a row") {}
    assert_eq!(cut.other_arcs(), Some((3, 2)));
}

#[test]
fn nothing_panics_and_lines_only_grow() {
    const PIECES: [&[u8]; 16] = [
        b"1",
        b"x",
        b"\"",
        b"\"\"",
        b",",
        b";",
        b"\t",
        b" ",
        b"\n",
        b"\r\n",
        b"#",
        b"a ",
        b"\xEF\xBB\xBF",
        b"\xFF",
        b"1,2\n",
        b"2024-01-01",
    ];
    let mut rng = Rng::new(11);
    let (mut rows, mut malformed) = (0, 0);
    for round in 0..6000 {
        let bytes: Vec<u8> = (0..rng.below(30))
            .flat_map(|_| PIECES[rng.below(PIECES.len() as u64) as usize])
            .copied()
            .collect();
        let matrix = EdgeFormat { both_ways: true, ..EdgeFormat::matrix_market() };
        let formats = [
            EdgeFormat::csv(),
            EdgeFormat::default(),
            EdgeFormat::dimacs(),
            EdgeFormat::temporal(),
            exact(),
            matrix,
        ];
        let mut format = formats[round % formats.len()].clone();
        format.skip_lines = rng.below(2);
        let lines = || Lines::of(Path::new("a"), Cursor::new(bytes.clone()));
        let _ = sniff(lines(), &format, round % 2 == 0);
        let (mut reader, mut last) = (EdgeReader::of(lines(), &format), 0);
        while let Some(row) = reader.next_row() {
            let line = match row {
                Ok(row) => {
                    rows += 1;
                    row.line
                }
                Err(ReadError::Matrix { .. }) => break,
                Err(ReadError::Row { line, .. } | ReadError::Record { line, .. }) => {
                    malformed += 1;
                    line
                }
                Err(other) => panic!("{other}"),
            };
            assert!(line > last, "{bytes:?}");
            last = line;
        }
    }
    assert!(rows > 1000 && malformed > 1000, "{rows} rows, {malformed} malformed");
}
