//! Tests of files as other programs write them: one command loads each of them, and the store has the same
//! content.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use hedgerow::{Graph, Options};
use serde_json::json;

use crate::{Bench, Ran, field, hedgerow, program, run};

fn gz(text: &str) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("compressed");
    gz.finish().expect("compressed")
}

fn zst(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).expect("compressed")
}

/// Loads with the content of `input` as standard input.
fn load_from(input: &Path, command: &str, paths: &[&Path]) -> Ran {
    let mut call = program();
    call.stdin(File::open(input).expect("there"));
    run(call, command, paths)
}

/// Returns every edge of every label as `label: SRC -> DST #RANK PROPERTIES`, sorted.
fn edges(store: &Path) -> Vec<String> {
    let graph: Graph = Options::new().create(false).read_only(true).open(store).expect("opens");
    let snapshot = graph.snapshot().expect("open");
    let mut names = vec![String::new(); 1 << 10];
    for (id, key) in snapshot.vertices().unwrap().map(Result::unwrap) {
        names[id.0 as usize] = key.to_string();
    }
    let mut lines = Vec::new();
    for label in snapshot.schema().labels() {
        let each = |edge: hedgerow::EdgeRow<'_>| {
            let values: Vec<String> =
                label.properties().iter().map(|p| format!("{}={}", p.name(), edge.get(p.id()))).collect();
            let (src, dst) = (&names[edge.src().0 as usize], &names[edge.dst().0 as usize]);
            let rank = if label.is_multi() { format!(" #{}", edge.rank()) } else { String::new() };
            lines.push(
                format!("{}: {src} -> {dst}{rank} {}", label.name(), values.join(" ")).trim().to_owned(),
            );
        };
        snapshot.for_each_edge(&**label.name(), each).expect("a label");
    }
    lines.sort();
    lines
}

struct Case {
    what: &'static str,
    file: &'static str,
    content: Vec<u8>,
    command: &'static str,
    expected: Vec<String>,
}

fn case(
    what: &'static str,
    file: &'static str,
    content: impl Into<Vec<u8>>,
    command: &'static str,
    expected: &[&str],
) -> Case {
    Case {
        what,
        file,
        content: content.into(),
        command,
        expected: expected.iter().map(|&line| line.to_owned()).collect(),
    }
}

fn cases() -> Vec<Case> {
    let plain = "1,2\n2,3\n";
    let plain_edges = [": 1 -> 2", ": 2 -> 3"];
    let labels: String = ('a'..='z').map(|label| format!("{label},x{label},y\n")).collect();
    let labelled = ('a'..='z').map(|label| format!("{label}: x{label} -> y")).collect();
    let mut cases = vec![
        case(
            "a header with unknown names and string keys",
            "orders.csv",
            "orderID,customerID\n10248,VINET\n10249,TOMSP\n",
            "--keys str",
            &[": 10248 -> VINET", ": 10249 -> TOMSP"],
        ),
        case(
            "a header that nothing tells",
            "friends.csv",
            "name,friend\nann,bob\n",
            "--keys str --header",
            &[": ann -> bob"],
        ),
        case(
            "semicolons",
            "a.csv",
            "from;to;how, if at all\n1;2;a, b\n2;3;\n",
            "--property how:utf8=3",
            &[": 1 -> 2 how=a, b", ": 2 -> 3 how=null"],
        ),
        case("vertical bars", "a.txt", "1|2\n2|3\n", "", &plain_edges),
        case("another delimiter", "a.csv", "1~2\n2~3\n", "--delimiter ~", &plain_edges),
        case(
            "lines before the table",
            "a.csv",
            "Report of 2024, draft\n\n1,2\n2,3\n",
            "--skip 2",
            &plain_edges,
        ),
        case(
            "three forms of null",
            "a.csv",
            "from,to,n\n1,2,\\N\n1,3,\n1,4,NULL\n1,5,7\n",
            "--null \\N --null NULL --property n:i64",
            &[": 1 -> 2 n=null", ": 1 -> 3 n=null", ": 1 -> 4 n=null", ": 1 -> 5 n=7"],
        ),
        case(
            "dates and times with zones",
            "a.csv",
            "from,to,date\n1,2,1970-01-02\n1,3,1970-01-02T02:00:00+02:00\n1,4,1970-01-01 00:00:01.5Z\n1,5,1448928000000005\n",
            "--property date:timestamp",
            &[
                ": 1 -> 2 date=86400000000",
                ": 1 -> 3 date=86400000000",
                ": 1 -> 4 date=1500000",
                ": 1 -> 5 date=1448928000000005",
            ],
        ),
        case(
            "quoted line breaks",
            "a.csv",
            "from,to,note\nx,\"y\nz\",\"p\r\nq\"\"\"\n\"b, c\",x,\"\"\n",
            "--keys str --property note:utf8",
            &[": b, c -> x note=", ": x -> y\nz note=p\r\nq\""],
        ),
        case(
            "parallel edges",
            "a.csv",
            "from,to,seconds\n1,2,5\n1,2,5\n1,2,6\n",
            "--label calls --multi --property seconds:i64",
            &["calls: 1 -> 2 #0 seconds=5", "calls: 1 -> 2 #1 seconds=5", "calls: 1 -> 2 #2 seconds=6"],
        ),
        case(
            "labels, ranks and properties in columns",
            "a.csv",
            "kind,from,to,at,n\ncall,1,2,10,5\nmail,1,2,10,\ncall,1,2,11,6\n",
            "--label-column kind --src-col from --dst-col to --rank at --property n:i64",
            &["call: 1 -> 2 #10 n=5", "call: 1 -> 2 #11 n=6", "mail: 1 -> 2 #10 n=null"],
        ),
        case("gzip by its name", "a.csv.gz", gz(plain), "", &plain_edges),
        case("gzip by its content", "a.csv", gz(plain), "", &plain_edges),
        case("zstd by its name", "a.csv.zst", zst(plain), "", &plain_edges),
        case("zstd by its content", "a", zst(plain), "", &plain_edges),
    ];
    cases.push(Case {
        what: "26 labels in a column",
        file: "a.csv",
        content: format!("kind,from,to\n{labels}").into(),
        command: "--keys str --label-column kind",
        expected: labelled,
    });
    cases
}

#[test]
fn files_of_others_load_with_one_command() {
    for Case { what, file, content, command, expected } in cases() {
        let bench = Bench::new();
        let path = bench.file(file, &content);
        let (store, again) = (bench.store(), bench.path("again"));
        let loaded = hedgerow(&format!("load @ @ {command} --json"), &[&store, &path]);
        assert_eq!(loaded.err, "", "{what}: {loaded:?}");
        assert_eq!(field(&loaded.ok(), "rows"), expected.len(), "{what}");
        assert_eq!(edges(&store), expected, "{what}");
        // The same file from standard input. Only the content shows the format.
        load_from(&path, &format!("load @ - {command}"), &[&again]).ok();
        assert_eq!(edges(&again), expected, "{what}, from standard input");
        assert_eq!(field(&hedgerow("check @ --json", &[&again]).ok(), "sound"), true);
    }
}

#[test]
fn labels_come_in_the_order_of_their_first_rows() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "2,b,1\n1,a,2\n3,b,3\n4,c,4\n");
    let columns = "--src-col 1 --dst-col 3 --label-column 2";
    hedgerow(&format!("load @ @ {columns}"), &[&bench.store(), &file]).ok();
    let schema = hedgerow("schema @ --csv", &[&bench.store()]).ok();
    assert_eq!(schema, "kind,label,property,type\nlabel,\"\",,\nlabel,b,,\nlabel,a,,\nlabel,c,,\n");
    // Without positions, the keys are the first two columns without another meaning.
    let (first, second) = (bench.path("first"), bench.path("second"));
    hedgerow("load @ @ --label-column 2", &[&first, &file]).ok();
    assert_eq!(edges(&first), edges(&bench.store()));
    hedgerow("load @ @ --label-column 2 --src-col 3", &[&second, &file]).ok();
    assert_eq!(edges(&second), ["a: 2 -> 1", "b: 1 -> 2", "b: 3 -> 3", "c: 4 -> 4"]);
    let ranked = bench.path("ranked");
    hedgerow(&format!("load @ @ {columns} --multi"), &[&ranked, &file]).ok();
    hedgerow(&format!("load @ @ {columns} --multi"), &[&ranked, &file]).ok();
    assert_eq!(field(&hedgerow("stats @ --json", &[&ranked]).ok(), "edges"), 8);
    for (content, expected) in [
        ("1,a,2\n1,,2\n", ":2: no label in column 2"),
        ("1,a,2\n1,\"\",2\n", ":2: no label in column 2"),
        (&format!("1,{},2\n", "l".repeat(256)), ":1: label of 256 bytes is longer than 255 in column 2"),
    ] {
        let file = bench.file("bad.csv", content);
        let error = hedgerow(&format!("load @ @ {columns}"), &[&bench.path("new"), &file]).fails(1);
        assert!(error.contains(expected), "{error}");
    }
    let file = bench.file("many.csv", (0..65_536).map(|i| format!("1,l{i},2\n")).collect::<String>());
    let error = hedgerow(&format!("load @ @ {columns}"), &[&bench.path("new"), &file]).fails(1);
    assert!(
        error.contains("many.csv:65535: label \"l65534\" is beyond the limit of 65534 labels"),
        "{error}"
    );
}

#[test]
fn what_was_sniffed_is_said() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "from;to;n\n1;2;3\n");
    let ran = hedgerow("load @ @", &[&bench.store(), &file]);
    assert_eq!(
        ran.err,
        format!(
            "read {0}: 3 columns between semicolons, header: from, to, n\n\
             note: {0}: column 3 (n) is left out; --property NAME:TYPE=3 keeps it\n",
            file.display()
        )
    );
    let plain = bench.file("b.csv", "5,6\n");
    let ran = hedgerow("load @ @ --json", &[&bench.store(), &plain]);
    let expected =
        json!([{"file": plain.display().to_string(), "delimiter": ",", "columns": 2, "header": null}]);
    assert_eq!((ran.err.as_str(), field(&ran.out, "files")), ("", expected));
    // The load prints no note about a form that the name of the file or the options already state.
    let said = bench.file("c.e", "5 6\n");
    assert_eq!(hedgerow("load @ @", &[&bench.store(), &said]).err, "");
    let ran = hedgerow("load @ @ --delimiter , --no-header", &[&bench.store(), &plain]);
    assert_eq!(ran.err, "");
}

#[test]
fn what_is_ambiguous_is_refused_with_the_row() {
    for (name, content, options, status, expected) in [
        (
            "a.csv",
            "name,friend\nann,bob\n",
            "--keys str",
            1,
            "a.csv:1: cannot tell whether \"name,friend\" is a header: its fields and the fields below them are all text; say --header or --no-header",
        ),
        (
            "a.txt",
            "name friend\nann bob\n",
            "--keys str",
            1,
            "a.txt:1: cannot tell whether \"name friend\" is a header",
        ),
        ("a.csv", "x;y\n", "--keys str", 1, "whether \"x;y\" is a header"),
        (
            "a.csv",
            "a,1;b\nc,2;d\n",
            "--keys str",
            1,
            "a.csv:1: cannot tell what separates the fields of \"a,1;b\": it could be comma or semicolon; say --delimiter",
        ),
        (
            "a.csv",
            "36692,183831,u,graph\n1,2\n3,4\n",
            "",
            1,
            "a.csv:2: the row has 2 columns, the first row in line 1 has 4",
        ),
        ("a.csv", "from,to\n1,2,3\n", "", 1, "a.csv:2: the row has 3 columns, the header in line 1 has 2"),
        (
            "a.csv",
            "a,b\n1,2\n",
            "--no-header",
            1,
            "a.csv:1: vertex id \"a\" is not a number from 0 to 18446744073709551615 (--keys str takes texts) in column 1",
        ),
        ("a.csv", "1,2\n1,NULL\n", "--null NULL", 1, "a.csv:2: destination is null: \"NULL\" in column 2"),
        ("fake.gz", "1,2\n", "", 1, "fake.gz: not a gzip file, though its name says so"),
        ("a.csv", "1,2\n", "--header --no-header", 2, "cannot be used with"),
        (
            "a.csv",
            "1,2\n",
            "--src-col who --no-header",
            2,
            "--no-header: give columns by position, not by name",
        ),
        ("a.csv", "1,2\n", "--delimiter ab", 2, "one ASCII character that is no letter or digit"),
        ("a.csv", "1,2\n", "--delimiter \"", 2, "a quote or a line break cannot separate fields"),
        ("a.csv", "1,2\n", "--label l --label-column 2", 2, "cannot be used with"),
        ("a.csv", "1,2\n", "--vertices - -", 2, "standard input can be read once"),
    ] {
        let bench = Bench::new();
        let file = bench.file(name, content);
        let error = hedgerow(&format!("load @ @ {options}"), &[&bench.store(), &file]).fails(status);
        assert!(error.contains(expected), "{error}");
        assert!(!bench.store().exists());
    }
    // An error about an early end names the file, under every rule.
    let bench = Bench::new();
    let rows: String = (0..5000).map(|i| format!("{i},{}\n", i * 7 % 5000)).collect();
    for (name, bytes) in [("cut.csv.gz", gz(&rows)), ("cut.csv.zst", zst(&rows))] {
        let cut = bench.file(name, &bytes[..bytes.len() / 2]);
        let error = hedgerow("load @ @ --on-error skip", &[&bench.store(), &cut]).fails(1);
        assert!(error.contains(&format!("{name}:")), "{error}");
    }
}

#[test]
fn a_load_ends_with_a_checkpoint() {
    let bench = Bench::new();
    let (first, second) = (bench.file("a.csv", "1,2\n2,3\n"), bench.file("b.csv", "4,5\n"));
    let has = |extension: &str| {
        crate::names(&bench.store()).iter().filter(|name| name.ends_with(extension)).count()
    };
    let loaded = hedgerow("load @ @ --json --no-checkpoint", &[&bench.store(), &first]).ok();
    assert_eq!((field(&loaded, "segment_bytes"), has("csr")), (json!(null), 0));
    let loaded = hedgerow("load @ @ --json", &[&bench.store(), &second]).ok();
    assert!(field(&loaded, "segment_bytes").as_u64() > Some(0), "{loaded}");
    assert_eq!(has("csr"), 1);
    assert_eq!(edges(&bench.store()), [": 1 -> 2", ": 2 -> 3", ": 4 -> 5"]);
    // The log has no data left that the next checkpoint would write.
    let written = hedgerow("checkpoint @ --json", &[&bench.store()]).ok();
    assert_eq!(field(&written, "segment_bytes"), 0);
}

#[test]
fn an_export_with_line_breaks_loads_again() {
    let bench = Bench::new();
    let people = bench.file("people.csv", "id;note:utf8\n\"x\ny\";\"line 1\nline 2, \"\"q\"\"\"\n\" z \";\n");
    let file = bench.file("a.csv", "src,dst,note\n\"x\ny\",\" z \",\"p\r\nq\"\n\"#c\",d,\n");
    let (store, again) = (bench.store(), bench.path("again"));
    hedgerow("load @ --vertices @ @ --keys str --property note:utf8", &[&store, &people, &file]).ok();
    let export = |store: &Path, name: &str| {
        let (vertices, edges) = (bench.path(&format!("{name}-v.csv")), bench.path(&format!("{name}-e.csv")));
        hedgerow("export @ --properties --vertices @ --out @", &[store, &vertices, &edges]).ok();
        (vertices, edges)
    };
    let (vertices, written) = export(&store, "a");
    let command = "load @ --vertices @ @ --keys str --property note:utf8";
    hedgerow(command, &[&again, &vertices, &written]).ok();
    let (vertices_again, written_again) = export(&again, "b");
    let text = |path: &Path| std::fs::read_to_string(path).expect("written");
    assert_eq!((text(&vertices), text(&written)), (text(&vertices_again), text(&written_again)));
    assert!(text(&vertices).contains("\"line 1\nline 2, \"\"q\"\"\""));
    assert_eq!(edges(&again), edges(&store));
    assert_eq!(edges(&store).len(), 2);
}
