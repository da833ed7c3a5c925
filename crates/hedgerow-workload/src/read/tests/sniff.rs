//! Tests of sniffing: the properties that a sample of a file shows, and properties that it cannot show.

use std::io::Cursor;
use std::path::Path;

use super::super::{Column, Delimiter, EdgeFormat, Header, Lines, ReadError, sniff};

const COMMA: Delimiter = Delimiter::Byte(b',');
const SEMICOLON: Delimiter = Delimiter::Byte(b';');

/// Returns the delimiter, whether the text has a header, and the number of columns.
fn found(text: &str, format: &EdgeFormat, numbers: bool) -> Result<(Delimiter, bool, usize), ReadError> {
    let lines = Lines::of(Path::new("a.csv"), Cursor::new(text.to_owned().into_bytes()));
    let found = sniff(lines, format, numbers)?.expect("a record");
    Ok((found.delimiter, found.header, found.first.len()))
}

#[test]
fn delimiters_and_headers() {
    let open = EdgeFormat::default();
    for (text, numbers, expected) in [
        // The keys are numbers.
        ("1,2\n3,4\n", true, (COMMA, false, 2)),
        ("1;2\n3;4\n", true, (SEMICOLON, false, 2)),
        ("1|2|x\n3|4|y\n", true, (Delimiter::Byte(b'|'), false, 3)),
        ("1\t2\n3\t4\n", true, (Delimiter::Byte(b'\t'), false, 2)),
        ("1 2\n3\t4\n", true, (Delimiter::Whitespace, false, 2)),
        ("1 2 0,5\n3 4 0,5\n", true, (Delimiter::Whitespace, false, 3)),
        ("orderID,customerID\n10248,5\n", true, (COMMA, true, 2)),
        ("who;whom;how, if\n1;2;x\n3;4;y, z\n", true, (SEMICOLON, true, 3)),
        // A few different rows do not change the answer for the majority. The reader reports them later.
        ("1,2\n3\n", true, (COMMA, false, 2)),
        ("a title\n1,2\n3,4\n5,6\n", true, (COMMA, true, 1)),
        // The first row has a malformed key, but is no header.
        ("a,b\nc,d\n", true, (COMMA, false, 2)),
        ("a,2\n3,4\n", true, (COMMA, false, 2)),
        ("a,b\n", true, (COMMA, false, 2)),
        // The keys are texts.
        ("orderID,customerID\n10248,VINET\n10249,TOMSP\n", false, (COMMA, true, 2)),
        ("name,friend,since\nann,bob,2020-01-01\nbob,cid,\n", false, (COMMA, true, 3)),
        ("name,friend,close\nann,bob,true\n", false, (COMMA, true, 3)),
        ("ann,bob,0.5\nbob,cid,7\n", false, (COMMA, false, 3)),
        ("ann,bob,0.5\n", false, (COMMA, false, 3)),
        ("Source;Target\nann;bob\n", false, (SEMICOLON, true, 2)),
        ("\"ann, the\",bob,1\n\"b\nc\",\"d,e\",2\n", false, (COMMA, false, 3)),
        ("x y,2020-01-01 10:00\nz a,2021-01-01 11:00\n", false, (COMMA, false, 2)),
        // Comments and empty lines are not records.
        ("# a;b;c\n\nann;bob;1\n", false, (SEMICOLON, false, 3)),
    ] {
        assert_eq!(found(text, &open, numbers).expect("told"), expected, "{text}");
    }
    let named = EdgeFormat { src: Some(Column::Name("x".into())), ..EdgeFormat::default() };
    assert_eq!(found("x,y\na,b\n", &named, false).expect("told"), (COMMA, true, 2));
    // The first column has labels, so it is no key.
    let labelled = EdgeFormat { extra: vec![Column::Index(0)], ..EdgeFormat::default() };
    assert_eq!(found("x,y,z\na,1,2\n", &labelled, true).expect("told"), (COMMA, true, 3));
    let said = EdgeFormat { header: Header::No, ..EdgeFormat::csv() };
    assert_eq!(found("x;y,a\n", &said, false).expect("told"), (COMMA, false, 2));
    let nulls = EdgeFormat { nulls: vec!["NULL".into()], ..EdgeFormat::default() };
    assert_eq!(found("a,b,n\nx,y,NULL\nz,a,3\n", &nulls, false).expect("told"), (COMMA, true, 3));
    let empty = Lines::of(Path::new("a.csv"), Cursor::new(b"# nothing\n".to_vec()));
    assert_eq!(sniff(empty, &open, false).expect("readable"), None);
}

#[test]
fn what_is_ambiguous_is_refused_with_the_row() {
    let open = EdgeFormat::default();
    for (text, expected) in [
        (
            "ann,bob\nbob,cid\n",
            "a.csv:1: cannot tell whether \"ann,bob\" is a header: its fields and the fields below them are all text",
        ),
        ("ann,bob\n", "whether \"ann,bob\" is a header"),
        ("# c\na,7,n\nb,8,9\n", "some of its fields have the type of the fields below them, and some do not"),
        (
            "a,1;b\nc,2;d\n",
            "a.csv:1: cannot tell what separates the fields of \"a,1;b\": it could be comma or semicolon",
        ),
    ] {
        let error = found(text, &open, false).expect_err("ambiguous").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_sample_is_bounded() {
    // The end of the sample cuts a record in two. Sniffing ignores this record.
    let mut text = "a,b,1\n".repeat(998);
    text += "c,d,\"x\ny\ny\",1\n";
    text += &"zzzz;z;z;z\n".repeat(2000);
    assert_eq!(found(&text, &EdgeFormat::default(), false).expect("told"), (COMMA, false, 3));
}
