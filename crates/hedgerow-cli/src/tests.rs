//! Tests of the parts that need no store.

use clap::CommandFactory;
use hedgerow::{KeyKind, VertexKeyRef};
use hedgerow_export::text::quoted;
use serde_json::json;

use crate::Cli;
use crate::output::{Report, Style, number};
use crate::size;
use hedgerow_load::keys::parse;

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn keys_are_checked_against_their_type() {
    assert_eq!(parse(KeyKind::U64, "18446744073709551615"), Ok(VertexKeyRef::U64(u64::MAX)));
    assert_eq!(parse(KeyKind::Str, "-1"), Ok(VertexKeyRef::Str("-1")));
    assert_eq!(parse(KeyKind::Dense, "4294967294"), Ok(VertexKeyRef::U64(4_294_967_294)));
    let wrong = |kind, text: &str| parse(kind, text).map(|key| key.to_string()).expect_err("malformed");
    assert!(wrong(KeyKind::Dense, "4294967295").contains("out of range"));
    assert!(wrong(KeyKind::U64, "-1").contains("\"-1\" is not a number"));
    assert!(wrong(KeyKind::U64, "18446744073709551616").contains("not a number"));
    assert!(wrong(KeyKind::Str, &"k".repeat(65_537)).contains("longer than 65536"));
}

#[test]
fn fields_are_quoted_where_they_would_be_misread() {
    for (text, expected) in [
        ("a b", "a b"),
        ("a,b", "\"a,b\""),
        ("\"", "\"\"\"\""),
        ("#a", "\"#a\""),
        ("", "\"\""),
        (" a", "\" a\""),
    ] {
        assert_eq!(quoted(text, b','), expected);
    }
    assert_eq!(quoted("a,b", b'\t'), "a,b");
}

#[test]
fn one_report_in_three_styles() {
    let rows = vec![vec!["a,\"b".into(), number(0.5)], vec!["c".into(), number(f64::INFINITY)]];
    let report = Report::default().field("sound", true).field("log_bytes", 7).rows("t", &["k", "v"], rows);
    let print = |style| {
        let mut bytes = Vec::new();
        report.write(style, &mut bytes).expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    };
    assert_eq!(print(Style::Text), "sound:     yes\nlog bytes: 7\n\nk\tv\na,\"b\t0.5\nc\tinf\n");
    assert_eq!(print(Style::Csv), "k,v\n\"a,\"\"b\",0.5\nc,inf\n");
    let parsed: serde_json::Value = serde_json::from_str(&print(Style::Json)).expect("json");
    let expected =
        json!({"sound": true, "log_bytes": 7, "t": [{"k": "a,\"b", "v": 0.5}, {"k": "c", "v": "inf"}]});
    assert_eq!(parsed, expected);
}

#[test]
fn sizes_have_a_unit_as_text_and_are_exact_elsewhere() {
    let shown =
        [0, 1023, 1024, 1536, 10_189, 10_239, 1_048_063, 1_048_064, 1 << 30, u64::MAX].map(size::shown);
    let expected = [
        "0 B", "1023 B", "1.0 KiB", "1.5 KiB", "10 KiB", "10 KiB", "1023 KiB", "1.0 MiB", "1.0 GiB", "16 EiB",
    ];
    assert_eq!(shown, expected);
    let print = |style| {
        let mut bytes = Vec::new();
        Report::default().bytes("log_bytes", 1536).write(style, &mut bytes).expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    };
    assert_eq!(print(Style::Text), "log bytes: 1.5 KiB\n");
    assert_eq!(print(Style::Json), "{\"log_bytes\":1536}\n");
    assert_eq!(print(Style::Csv), "field,value\nlog_bytes,1536\n");
}

#[test]
fn details_are_json_in_one_field_of_csv() {
    let rows = vec![vec!["a\tb".into(), serde_json::Value::Null], vec![true.into(), json!([1, "x"])]];
    let report = Report::default().field("label", "").field("more", true).details("t", &["k", "v"], rows);
    let print = |style| {
        let mut bytes = Vec::new();
        report.write(style, &mut bytes).expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    };
    assert_eq!(print(Style::Text), "label: \"\"\nmore:  yes\n\nk\tv\na\tb\t-\ntrue\t1 x\n");
    let expected = "field,value\nlabel,\"\"\nmore,true\n\
        t,\"[{\"\"k\"\":\"\"a\\tb\"\",\"\"v\"\":null},{\"\"k\"\":true,\"\"v\"\":[1,\"\"x\"\"]}]\"\n";
    assert_eq!(print(Style::Csv), expected);
    let parsed: serde_json::Value = serde_json::from_str(&print(Style::Json)).expect("json");
    let table = json!([{"k": "a\tb", "v": null}, {"k": true, "v": [1, "x"]}]);
    assert_eq!(parsed, json!({"label": "", "more": true, "t": table}));
}
