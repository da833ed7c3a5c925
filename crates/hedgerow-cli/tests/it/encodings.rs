//! Tests of files in other encodings, with other line ends, and with quotes after blanks: the program reads
//! them correctly, or refuses them and names the reason.

use crate::{Bench, hedgerow};

fn utf16(text: &str, big: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|c| if big { c.to_be_bytes() } else { c.to_le_bytes() }).collect()
}

#[test]
fn other_encodings_are_refused() {
    let bench = Bench::new();
    let text = "Source,Target\nJosé,Ann\nAnn,Bob\n";
    for rule in ["raise", "skip", "collect"] {
        for (name, bytes) in [
            ("le.csv", utf16(text, false)),
            ("be.csv", utf16(text, true)),
            ("marked.csv", utf16(&format!("\u{feff}{text}"), false)),
            ("edges.txt", utf16("1 2\n3 4\n", false)),
            ("ids.v", utf16("1\n2\n", false)),
        ] {
            let file = bench.file(name, bytes);
            let command = format!("load @ @ --keys str --on-error {rule}");
            let error = hedgerow(&command, &[&bench.store(), &file]).fails(1);
            assert!(error.contains(&format!("{name}: in UTF-16 or UTF-32; convert it to UTF-8")), "{error}");
            assert!(!bench.store().exists());
        }
    }
    let latin = bench.file("latin1.csv", b"Source,Target\nJos\xe9,Ann\nAnn,Bob\n");
    let error = hedgerow("load @ @ --keys str --header", &[&bench.store(), &latin]).fails(1);
    assert!(error.contains("latin1.csv:2: not UTF-8; convert the file"), "{error}");
}

#[test]
fn lone_carriage_returns_are_refused() {
    let bench = Bench::new();
    for (name, content, options) in [
        ("numbers.csv", "src,dst\r1,2\r2,3\r", ""),
        ("texts.csv", "ann,bob\rbob,cem\rcem,dan\r", "--keys str --no-header"),
        ("header.csv", "src,dst,w\rann,bob,1\rbob,cem,2\r", "--keys str"),
        ("comment.csv", "# c\r1,2\r2,3\r", ""),
        ("blanks.txt", "1 2\r3 4\r5 6\r", ""),
        ("blanks.snap", "1 2\r3 4\r5 6\r", "--format snap"),
        ("ids.v", "1\r2\r3\r", ""),
    ] {
        let file = bench.file(name, content);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(1);
        let expected = format!("{name}:1: the line contains a carriage return");
        assert!(error.contains(&expected) && error.contains("convert the file"), "{error}");
        assert!(!bench.store().exists());
    }
    let file = bench.file("dos.csv", "src,dst\r\n1,2\r\n2,3\r\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    assert_eq!(hedgerow("export @", &[&bench.store()]).ok(), "src,dst\n1,2\n2,3\n");
}

#[test]
fn a_blank_before_a_quote_makes_no_other_key() {
    let bench = Bench::new();
    let quoted = "\u{feff}\"Source\", \"Target\", \"Kind\"\r\n\"Ann B\", \"Cem, D\", \"x\"\r\n\"Cem, D\",  \"Ann B\", x\r\n";
    let file = bench.file("quoted.csv", quoted);
    hedgerow("load @ @ --keys str --label-column Kind", &[&bench.store(), &file]).ok();
    let exported = hedgerow("export @ --label x", &[&bench.store()]).ok();
    assert_eq!(exported, "src,dst\nAnn B,\"Cem, D\"\n\"Cem, D\",Ann B\n");
    let notes = bench.file("notes.csv", "Source,Target,Note\n1,2, \"a, b\"\n2,3, \"c\"\n");
    let store = bench.path("notes");
    hedgerow("load @ @ --property note:utf8=Note", &[&store, &notes]).ok();
    let exported = hedgerow("export @ --properties", &[&store]).ok();
    assert_eq!(exported, "src,dst,note:utf8\n1,2,\"a, b\"\n2,3,c\n");
    // If blanks separate the fields, a field cannot be quoted.
    let blanks = bench.file("r.txt", "\"ann b\" \"bob\"\n\"bob\" \"ann b\"\n");
    let command = "load @ @ --keys str --format snap";
    let error = hedgerow(command, &[&bench.path("r"), &blanks]).fails(1);
    assert!(error.contains("r.txt:1: the field \"\\\"ann\" begins with a quote"), "{error}");
}
