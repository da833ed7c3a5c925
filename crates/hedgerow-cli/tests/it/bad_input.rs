//! Tests of bad input: the error names the file, the line or the argument, and a failed load leaves nothing
//! partial.

use std::path::Path;

use hedgerow::Graph;
use hedgerow::io::checksum::checksum64;
use hedgerow::io::{FORMAT_MAJOR, HEADER_BYTES};
use serde_json::json;

use crate::{Bench, field, hedgerow, names};

/// Makes a store with one edge.
fn store_with_an_edge(bench: &Bench) {
    let file = bench.file("first.csv", "1,2\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    std::fs::remove_file(file).expect("removed");
}

fn edges(store: &Path) -> serde_json::Value {
    field(&hedgerow("stats @ --json", &[store]).ok(), "edges")
}

#[test]
fn a_malformed_row_raises_and_leaves_nothing() {
    for (name, content, options, expected) in [
        ("a.csv", "1,2\n3\n", "", ":2: the row has 1 columns, the first row in line 1 has 2"),
        ("a.csv", "1\n", "", ":1: no column 2 for the destination, the row has 1 columns"),
        ("a.csv", "1,2\n3,x\n", "", ":2: vertex id \"x\" is not a number"),
        ("a.csv", "1,2\n-3,4\n", "", ":2: vertex id \"-3\" is not a number"),
        ("a.csv", "1,2\n,4\n", "", ":2: empty source"),
        ("a.csv", "1,2\n\"3,4\n", "", ":2: a quoted field that begins here does not end"),
        ("a.csv", "1,2\n\"3\"4,5\n", "", ":2: text follows the closing quote of a field"),
        ("a.csv", "1,2\n3,4294967295\n", "--keys dense", ":2: vertex id 4294967295 is out of range"),
        ("a.csv", "1,2\n18446744073709551616,1\n", "", ":2: vertex id \"18446744073709551616\""),
        ("a.wel", "1 2 1\n3 4 NaN\n", "", ":2: weight is not a number: \"NaN\""),
        ("a.wel", "1 2 1\n3 4 x\n", "", ":2: weight is not a number: \"x\""),
        ("a.wel", "1 2 1\n3 4 inf\n", "--repeat sum", ":2: weight inf cannot be added"),
        ("a.csv", "src,dst\n1,2\n", "--weighted", ":2: no weight; --weight-col says"),
        ("a.txt", "1 2 5\n3 4 x\n", "--format temporal", ":2: time is not a number: \"x\""),
        ("a.v", "1\nx\n", "", ":2: vertex id \"x\" is not a number"),
        ("a.csv", "src,dst\n1,2\n", "--src-col who", ": no column named \"who\" in the header"),
    ] {
        let bench = Bench::new();
        let file = bench.file(name, content);
        // The same holds if a valid file of more than one transaction comes first.
        let good = bench.file("good.e", "5 6 1\n7 8 1\n");
        for files in [vec![&file], vec![&good, &file]] {
            let marks = " @".repeat(files.len());
            let store = bench.store();
            let mut paths: Vec<&Path> = vec![&store];
            paths.extend(files.iter().map(|path| path.as_path()));
            if options.contains("--src-col") && files.len() == 2 {
                continue;
            }
            let error = hedgerow(&format!("load @{marks} --batch 1 {options}"), &paths).fails(1);
            assert!(error.contains(&format!("{name}{expected}")), "{error}");
            assert!(!store.exists(), "{error}: the store is there");
        }
    }
}

#[test]
fn a_failed_load_leaves_an_existing_store_as_it_was() {
    let bench = Bench::new();
    store_with_an_edge(&bench);
    let bad = bench.file("bad.csv", "5,6\n7,8\n9\n");
    let error = hedgerow("load @ @ --batch 1", &[&bench.store(), &bad]).fails(1);
    assert!(error.contains("bad.csv:3: "), "{error}");
    assert_eq!(edges(&bench.store()), 1);
    let error = hedgerow("load @ @ --undirected", &[&bench.store(), &bad]).fails(1);
    assert_eq!(error, "the graph was created directed: it cannot be opened undirected");
    assert_eq!(edges(&bench.store()), 1);
    // An empty directory remains, and remains empty.
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).expect("created");
    hedgerow("load @ @", &[&empty, &bad]).fails(1);
    assert_eq!(names(&empty), [""; 0]);
}

#[test]
fn a_cut_file_leaves_nothing_under_any_rule() {
    let rows: String = (0..50_000).map(|i| format!("{i} {}\n", i * 7 % 50_000)).collect();
    let whole = zstd::encode_all(rows.as_bytes(), 1).expect("compressed");
    for rule in ["raise", "skip", "collect"] {
        let bench = Bench::new();
        let cut = bench.file("cut.txt.zst", &whole[..whole.len() - 7]);
        let error = hedgerow(&format!("load @ @ --on-error {rule}"), &[&bench.store(), &cut]).fails(1);
        assert!(error.contains("cut.txt.zst:"), "{error}");
        assert_eq!(bench.names(), ["cut.txt.zst"]);
    }
}

/// A limit on the size of files has the effect of a full disk for one process.
#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n");
    let limited = |store: &Path| {
        let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
        let mut call = std::process::Command::new("sh");
        call.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hedgerow"), "load"]).arg(store).arg(&file);
        call.output().expect("a shell")
    };
    let ended = limited(&bench.store());
    let error = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
    assert_eq!(bench.names(), ["a.csv"]);
    // With an existing store, the store does not change.
    store_with_an_edge(&bench);
    let ended = limited(&bench.store());
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(edges(&bench.store()), 1);
}

#[test]
fn malformed_rows_can_be_left_out() {
    let content = "1,2\nx,2\n3\n4,5\n";
    for (rule, described) in [("skip", 1), ("collect", 2)] {
        let bench = Bench::new();
        let file = bench.file("a.csv", content);
        let command = format!("load @ @ --on-error {rule}");
        let ran = hedgerow(&command, &[&bench.store(), &file]);
        let shown = file.display();
        assert!(ran.err.starts_with(&format!("rejected: {shown}:2: vertex id \"x\"")), "{ran:?}");
        let second = if described == 2 {
            format!("rejected: {shown}:3: the row has 1 columns")
        } else {
            "rejected: 1 more".into()
        };
        assert!(ran.err.lines().nth(1).is_some_and(|line| line.starts_with(&second)), "{ran:?}");
        assert!(ran.ok().contains("rows:            2\nrejected:        2\n"));
        let again = bench.path("again");
        let loaded = hedgerow(&format!("{command} --json"), &[&again, &file]).ok();
        let rejects = field(&loaded, "rejects");
        assert_eq!(rejects.as_array().map(Vec::len), Some(described));
        assert_eq!(rejects[0]["line"], json!(2));
        assert_eq!(hedgerow("export @", &[&again]).ok(), "src,dst\n1,2\n4,5\n");
    }
}

#[test]
fn places_without_a_store() {
    let bench = Bench::new();
    let empty = bench.path("empty");
    std::fs::create_dir(&empty).expect("created");
    let foreign = bench.path("foreign");
    std::fs::create_dir(&foreign).expect("created");
    std::fs::write(foreign.join("photo.jpg"), "x").expect("written");
    let file = bench.file("file.csv", "1,2\n");
    let commands = [
        "stats @",
        "neighbors @ 1",
        "run wcc @",
        "check @",
        "export @",
        "checkpoint @",
        "run bfs @ --source 1",
    ];
    for command in commands {
        for (path, reason) in [
            (&bench.store(), "no such directory"),
            (&empty, "it is empty"),
            (&foreign, "photo.jpg"),
            (&file, "not a directory"),
        ] {
            let error = hedgerow(command, &[path]).fails(1);
            let start = format!("{} is not a store: ", path.display());
            assert!(error.starts_with(&start) && error.contains(reason), "{command}: {error}");
        }
    }
    for path in [&foreign, &file] {
        assert!(hedgerow("load @ @", &[path, &file]).fails(1).contains("is not a store"));
    }
    assert_eq!(bench.names(), ["empty", "file.csv", "foreign"]);
    assert_eq!((names(&empty).len(), names(&foreign)), (0, vec!["photo.jpg".to_owned()]));
}

#[test]
fn a_store_that_is_open_elsewhere() {
    let bench = Bench::new();
    store_with_an_edge(&bench);
    let file = bench.file("a.csv", "1,2\n");
    let holder = Graph::open(bench.store()).expect("opens");
    let held = format!("is locked: process {} has it open", std::process::id());
    for command in ["stats @", "check @", "export @", "checkpoint @", "run wcc @", "neighbors @ 1"] {
        assert!(hedgerow(command, &[&bench.store()]).fails(1).ends_with(&held));
    }
    assert!(hedgerow("load @ @", &[&bench.store(), &file]).fails(1).contains("is locked"));
    holder.close().expect("closes");
    hedgerow("stats @", &[&bench.store()]).ok();
    // A reader shares the lock with other readers, and excludes writers.
    let reader = hedgerow::Options::new().read_only(true).open(bench.store()).expect("opens");
    for command in ["stats @", "check @", "export @", "run wcc @", "neighbors @ 1"] {
        hedgerow(command, &[&bench.store()]).ok();
    }
    for (command, paths) in
        [("checkpoint @", vec![bench.store()]), ("load @ @", vec![bench.store(), file.clone()])]
    {
        let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let error = hedgerow(command, &paths).fails(1);
        assert!(error.ends_with("is locked: another process has it open for reading"), "{error}");
    }
    drop(reader);
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
}

#[test]
fn a_damaged_file_is_named_and_found_by_check() {
    for extension in ["wal", "csr"] {
        let bench = Bench::new();
        let rows: String = (0..500).map(|i| format!("{i},{}\n", i * 7 % 500)).collect();
        let file = bench.file("a.csv", rows);
        let left = if extension == "wal" { "--no-checkpoint" } else { "" };
        hedgerow(&format!("load @ @ --batch 100 {left}"), &[&bench.store(), &file]).ok();
        let name = names(&bench.store()).into_iter().find(|name| name.ends_with(extension)).expect("there");
        let path = bench.store().join(&name);
        let mut bytes = std::fs::read(&path).expect("readable");
        // In the log, the damage is within the first record. The next record shows that this is not a torn
        // end.
        let at = if extension == "wal" { 300 } else { bytes.len() / 2 };
        bytes[at] ^= 0x10;
        std::fs::write(&path, &bytes).expect("written");
        for command in ["stats @", "export @", "run pagerank @", "checkpoint @"] {
            let error = hedgerow(command, &[&bench.store()]).fails(1);
            assert!(error.contains(&name), "{command}: {error}");
        }
        let checked = hedgerow("check @ --json", &[&bench.store()]);
        assert_eq!(
            (checked.status, checked.err.as_str()),
            (Some(3), "{\"error\":\"the check found problems\",\"group\":\"problems\",\"status\":3}\n")
        );
        assert_eq!(field(&checked.out, "sound"), json!(false));
        assert!(field(&checked.out, "problems")[0]["problem"].as_str().is_some_and(|p| p.contains(&name)));
        assert_eq!(std::fs::read(&path).expect("readable"), bytes, "it was changed");
    }
}

/// The files have a format from before the first release. Each command names the file and both versions, for
/// every kind of file.
#[test]
fn a_store_of_an_old_format_is_refused_by_name() {
    let bench = Bench::new();
    let file = bench.file("a.csv", "1,2\n2,3\n");
    hedgerow("load @ @", &[&bench.store(), &file]).ok();
    for extension in ["man", "csr", "wal"] {
        let name = names(&bench.store()).into_iter().find(|name| name.ends_with(extension)).expect("there");
        let path = bench.store().join(&name);
        let sound = std::fs::read(&path).expect("readable");
        for version in 0..FORMAT_MAJOR {
            let mut old = sound.clone();
            old[10..12].copy_from_slice(&version.to_le_bytes());
            let checksum = checksum64(&old[..HEADER_BYTES - 8]);
            old[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
            std::fs::write(&path, &old).expect("written");
            let expected = format!(
                "{name} has format version {version}, from before the first release; this program reads version {FORMAT_MAJOR}"
            );
            for command in ["stats @", "check @", "checkpoint @"] {
                assert_eq!(hedgerow(command, &[&bench.store()]).fails(1), expected, "{command}");
            }
            assert_eq!(std::fs::read(&path).expect("readable"), old, "it was changed");
        }
        std::fs::write(&path, &sound).expect("written");
    }
    assert_eq!(edges(&bench.store()), json!(2));
}

#[test]
fn wrong_usage() {
    let bench = Bench::new();
    store_with_an_edge(&bench);
    let file = bench.file("a.csv", "1,2\n");
    let (store, new) = (bench.store(), bench.path("new"));
    for (command, paths, expected) in [
        ("load @ @ --format xml", [&new, &file], "invalid value 'xml' for '--format <FORMAT>'"),
        ("load @ @ --on-error hope", [&new, &file], "invalid value 'hope' for '--on-error <ON_ERROR>'"),
        ("load @ @ --keys int", [&new, &file], "invalid value 'int' for '--keys <KEYS>'"),
        ("load @ @ --src-col 0", [&new, &file], "columns count from 1"),
        ("load @ @ --directed --undirected", [&new, &file], "cannot be used with"),
        ("load @ @ --repeat sum", [&new, &file], "--repeat sum: the graph has no weights"),
        ("load @", [&new, &file], "<FILE>..."),
        ("walk @", [&store, &file], "unrecognized subcommand 'walk'"),
        (
            "run",
            [&store, &file],
            "requires a subcommand but one was not provided [subcommands: adamic_adar, betweenness, bfs, ",
        ),
        ("stats @ --csv --js", [&store, &file], "unexpected argument '--js'"),
        ("export @ --csv --format tsv", [&store, &file], "--format: standard output has one form"),
        ("neighbors @ x", [&store, &file], "KEY: vertex id \"x\" is not a number"),
        ("run bfs @", [&store, &file], "--source <KEY>"),
        ("run bfs @ --source x", [&store, &file], "--source: vertex id \"x\" is not a number"),
        ("run pagerank @ --damping 1.5", [&store, &file], "damping must be in 0..=1, found 1.5"),
        ("run pagerank @ --damping NaN", [&store, &file], "damping must be in 0..=1"),
        ("run pagerank @ --tolerance=-1", [&store, &file], "tolerance must be"),
        ("run sssp @ --source x", [&store, &file], "--source: vertex id \"x\" is not a number"),
        ("run sssp @ --source 1 --delta 0", [&store, &file], "delta must be finite and above 0, found 0"),
        ("run tc @ --out x", [&store, &file], "--out"),
        ("run wcc @ --threads 0", [&store, &file], "--threads <N>"),
        ("run wcc @ --memory-limit much", [&store, &file], "a size is a whole number of bytes"),
        ("check @ --memory-limit 1GiBi", [&store, &file], "a size is a whole number of bytes"),
        ("run wcc @ --memory-limit 99999999TiB", [&store, &file], "a size is a whole number of bytes"),
    ] {
        let error = hedgerow(command, &paths.map(|path| path.as_path())).fails(2);
        assert!(error.contains(expected), "{command}: {error}");
    }
    assert!(!new.exists());
}

/// The load commits rows of a new store while it checks later ones. If a row is malformed, it removes the
/// whole store.
#[test]
fn a_malformed_row_behind_many_commits_leaves_no_store() {
    let bench = Bench::new();
    let rows: String = (0..30_000).map(|n| format!("{n} {}\n", n + 1)).collect();
    let file = bench.file("edges.txt", rows + "5 x\n");
    let error = hedgerow("load @ @ --batch 1000", &[&bench.store(), &file]).fails(1);
    assert!(error.contains("edges.txt:30001: vertex id \"x\" is not a number"), "{error}");
    assert_eq!(bench.names(), ["edges.txt"]);
    // A directory that existed before remains, empty.
    std::fs::create_dir(bench.store()).expect("created");
    hedgerow("load @ @ --batch 1000", &[&bench.store(), &file]).fails(1);
    assert_eq!(names(&bench.store()), [""; 0]);
    // An existing store does not change.
    hedgerow("load @ @", &[&bench.store(), &bench.file("one.txt", "1 2\n")]).ok();
    hedgerow("load @ @ --batch 1000", &[&bench.store(), &file]).fails(1);
    let stats = hedgerow("stats @ --json", &[&bench.store()]).ok();
    assert_eq!(field(&stats, "edges"), 1);
    let loaded = hedgerow("load @ @ --on-error skip --json", &[&bench.path("other"), &file]).ok();
    assert_eq!((field(&loaded, "rows"), field(&loaded, "rejected")), (30_000.into(), 1.into()));
}

#[test]
fn a_failed_export_leaves_the_old_file() {
    let bench = Bench::new();
    store_with_an_edge(&bench);
    let (out, nowhere) = (bench.file("out.csv", "old"), bench.path("no/such/file.v"));
    let command = "export @ --out @ --vertices @";
    let error = hedgerow(command, &[&bench.store(), &out, &nowhere]).fails(1);
    assert!(error.starts_with(&format!("writing {}: ", nowhere.display())), "{error}");
    assert_eq!(std::fs::read_to_string(&out).expect("there"), "old");
    assert_eq!(bench.names(), ["out.csv", "store"]);
    // A device is written directly, and still exists after it.
    hedgerow("export @ --out /dev/null", &[&bench.store()]).ok();
    assert!(Path::new("/dev/null").exists());
}

#[test]
fn what_is_not_there() {
    let bench = Bench::new();
    store_with_an_edge(&bench);
    let absent = bench.path("absent.csv");
    let error = hedgerow("load @ @", &[&bench.path("new"), &absent]).fails(1);
    assert!(error.starts_with(&format!("{}: ", absent.display())), "{error}");
    let folder = bench.path("");
    assert!(hedgerow("load @ @", &[&bench.path("new"), &folder]).fails(1).contains("schema.json: "));
    assert!(hedgerow("neighbors @ 77", &[&bench.store()]).fails(1).contains("KEY: no vertex 77 in "));
    assert!(hedgerow("run bfs @ --source 77", &[&bench.store()]).fails(1).contains("--source: no vertex 77"));
    let nowhere = bench.path("no/such/out.txt");
    let error = hedgerow("run wcc @ --out @", &[&bench.store(), &nowhere]).fails(1);
    assert!(error.starts_with(&format!("writing {}: ", nowhere.display())), "{error}");
    assert_eq!(bench.names(), ["store"]);
}

#[test]
fn without_a_command_the_help_is_printed() {
    let bare = crate::program().output().expect("the program runs");
    let help = String::from_utf8(bare.stderr).expect("text");
    assert!(
        help.contains("Usage: hedgerow [OPTIONS] <COMMAND>") && help.contains("Load graph files"),
        "{help}"
    );
    assert_eq!((bare.status.code(), bare.stdout.len()), (Some(2), 0));
}
