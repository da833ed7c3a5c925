//! Tests of the three forms of results, for every command that the program lists.

use std::path::Path;
use std::sync::OnceLock;

use hedgerow_kernels::registry::{Absent, KERNELS};
use serde_json::{Value, json};

use crate::{Bench, error, field, hedgerow, run};

const PEOPLE: &str = "id,name:utf8,big:i64,photo:bytes,born:timestamp,ok:bool\n\
    1,\"a, \"\"b\"\"\nc\",9007199254740993,00ff,2024-05-01T12:00:00.000001Z,true\n2,,,,,\n3,\"\",0,,,false\n4,-,,,,\n";

/// A store with weights, a multi label and a property of each type.
fn load(bench: &Bench) {
    let people = bench.file("people.csv", PEOPLE);
    let edges = bench.file("edges.csv", "src,dst,weight\n1,2,0.5\n3,2,1.5\n3,4,2\n");
    let calls = bench.file("calls.csv", "src,dst,rank,text:utf8\n1,2,9007199254740993,\"x,y\"\n1,2,7,\n");
    hedgerow("load @ --vertices @ @ --weighted", &[&bench.store(), &people, &edges]).ok();
    hedgerow("load @ @ --label calls --rank rank --property text:utf8", &[&bench.store(), &calls]).ok();
}

/// Returns the commands that the help of `command` lists.
pub(crate) fn listed(command: &str) -> Vec<String> {
    let help = hedgerow(&format!("{command} --help"), &[]).ok();
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let names =
        list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(|name| format!("{command} {name}").trim().to_owned()).collect()
}

/// Returns all commands that do something: of a command with commands of its own, these.
pub(crate) fn all_commands() -> &'static [String] {
    static ALL: OnceLock<Vec<String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let (mut all, mut left) = (Vec::new(), listed(""));
        while let Some(command) = left.pop() {
            match listed(&command) {
                commands if commands.is_empty() => all.push(command),
                commands => left.extend(commands),
            }
        }
        assert!(all.len() >= 40, "{all:?}");
        all
    })
}

/// Returns the arguments of a call of the command, with `@` for each path; none for an unknown command.
fn arguments(bench: &Bench, command: &str) -> Option<(String, Vec<std::path::PathBuf>)> {
    let (store, new) = (bench.store(), bench.path(&command.replace(' ', "-")));
    // Each form writes into a directory that is not there.
    let _ = std::fs::remove_dir_all(&new);
    let with_new = |arguments: &str| (arguments.to_owned(), vec![store.clone(), new.clone()]);
    let (arguments, paths) = match command {
        "load" => {
            ("@ @ --on-error collect".to_owned(), vec![new, bench.file("bad.csv", "1,2\nx,\"y,\"\n2,3\n")])
        }
        "stats" | "schema" | "check" | "checkpoint" | "compact" => with_new("@"),
        "get vertex" => with_new("@ 1"),
        "get edge" => with_new("@ 1 2 --label calls --rank 7"),
        "put vertex" => with_new("@ 1 --set name=\u{e9}"),
        "put edge" => with_new("@ 1 2 --set weight=0.25"),
        "del vertex" => with_new("@ 4"),
        "del edge" => with_new("@ 3 2"),
        "neighbors" => with_new("@ 1 --properties"),
        "find" => with_new("@ big=9007199254740993 --show name --show photo"),
        "export" => with_new("@ --label calls --properties"),
        "remove-edges" => with_new("@ --label calls --rank-range 100.."),
        "backup" | "salvage" => with_new("@ @"),
        "completions" => ("bash".to_owned(), Vec::new()),
        kernel => {
            let kernel = KERNELS.iter().find(|known| kernel == format!("run {}", known.name))?;
            let needed = kernel.parameters.iter().filter(|parameter| parameter.absent == Absent::Refused);
            with_new(
                &needed
                    .fold("@ --label=".to_owned(), |all, parameter| format!("{all} --{} 1", parameter.name)),
            )
        }
    };
    Some((arguments, paths))
}

/// Returns the objects of JSON lines.
#[track_caller]
fn objects(text: &str) -> Vec<Value> {
    let object = |line: &str| -> Value {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert!(value.is_object(), "{line}");
        value
    };
    text.lines().map(object).collect()
}

/// Returns the header and the records of CSV in which all records have the same number of fields.
#[track_caller]
fn records(text: &str) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).double_quote(true).from_reader(text.as_bytes());
    let record = |record: csv::Result<csv::StringRecord>| -> Vec<String> {
        record.unwrap_or_else(|e| panic!("{e}: {text}")).iter().map(str::to_owned).collect()
    };
    reader.records().map(record).collect()
}

#[test]
fn every_command_prints_json_and_csv() {
    let bench = Bench::new();
    load(&bench);
    for command in all_commands() {
        let missing = || panic!("no call for {command:?}: add one to `arguments`");
        let (given, paths) = arguments(&bench, command).unwrap_or_else(missing);
        let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let ran = hedgerow(&format!("{command} --json {given}"), &paths);
        let found = objects(&ran.out);
        assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{command}: {ran:?}");
        assert!(found.len() == 1 || command == "export" && found.len() == 2, "{command}: {ran:?}");

        let (given, _) = arguments(&bench, command).unwrap_or_else(missing);
        let ran = hedgerow(&format!("{command} --csv {given}"), &paths);
        assert_eq!(ran.status, Some(0), "{command}: {ran:?}");
        let rows = records(&ran.out);
        assert!(rows.first().is_some_and(|header| header.iter().all(|name| !name.is_empty())), "{ran:?}");
        if rows[0] == ["field", "value"] {
            let names: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
            let all = found[0].as_object().expect("an object");
            // A load prints the formats and its notes on standard error, except in JSON.
            let elsewhere = ["files", "notes"].map(str::to_owned);
            let left_out: Vec<&String> = all.keys().filter(|name| !names.contains(&name.as_str())).collect();
            let expected = if command == "load" { elsewhere.iter().collect() } else { Vec::new() };
            assert_eq!(left_out, expected, "{command}");
        }
        let kernel = KERNELS.iter().find(|kernel| *command == format!("run {}", kernel.name));
        if kernel.is_some_and(|kernel| kernel.result.kind.has_rows()) {
            let ran = hedgerow(&format!("{command} --json --out - {given}"), &paths);
            assert_eq!(ran.err, "", "{command}");
            let objects = objects(&ran.out);
            let rows = records(&hedgerow(&format!("{command} --csv --out - {given}"), &paths).ok());
            if let Some(object) = objects.first().and_then(Value::as_object)
                && !rows[0].contains(&"step".to_owned())
            {
                assert_eq!(rows[0], object.keys().cloned().collect::<Vec<_>>(), "{command}");
                assert_eq!(rows.len(), objects.len() + 1, "{command}");
            }
        }
    }
}

/// Numbers beyond 2^53 are exact, bytes are hexadecimal, times are dates; a null is empty in CSV, and an
/// empty text is quoted.
#[test]
fn values_follow_the_rule() {
    let bench = Bench::new();
    load(&bench);
    let shown = "--show name --show big --show photo --show born --show ok";
    let json = hedgerow(&format!("neighbors @ 2 --in --label= --json {shown}"), &[&bench.store()]).ok();
    assert!(json.contains("\"big\":9007199254740993,"), "{json}");
    let first = json!({"key": 1, "name": "a, \"b\"\nc", "big": 9_007_199_254_740_993_i64, "photo": "00ff",
        "born": "2024-05-01T12:00:00.000001Z", "ok": true});
    assert_eq!(field(&json, "neighbors")[0], first);
    let csv = hedgerow(&format!("neighbors @ 2 --in --label= --csv {shown}"), &[&bench.store()]).ok();
    let expected = "key,name,big,photo,born,ok\n\
        1,\"a, \"\"b\"\"\nc\",9007199254740993,00ff,2024-05-01T12:00:00.000001Z,true\n3,\"\",0,,,false\n";
    assert_eq!(csv, expected);
    let edges = hedgerow("export @ --label calls --properties --json", &[&bench.store()]).ok();
    let expected = "{\"src\":1,\"dst\":2,\"rank\":7,\"properties\":{}}\n\
        {\"src\":1,\"dst\":2,\"rank\":9007199254740993,\"properties\":{\"text\":\"x,y\"}}\n";
    assert_eq!(edges, expected);
    let edges = hedgerow("export @ --label= --json", &[&bench.store()]).ok();
    assert_eq!(edges.lines().next(), Some("{\"src\":1,\"dst\":2,\"weight\":0.5}"));
    // A limit that leaves rows out is said, also where the table has no place for it.
    let limited = hedgerow("neighbors @ 2 --in --limit 1 --csv", &[&bench.store()]);
    assert!(limited.err.contains("note: there are more rows"), "{limited:?}");
    assert_eq!(records(&limited.ok()).len(), 2);
}

/// With `--json` an error is an object too, also an error of the arguments themselves.
#[test]
fn errors_are_objects_with_json() {
    let bench = Bench::new();
    load(&bench);
    let (store, none) = (bench.store(), bench.path("none"));
    for (command, store, group, status) in [
        ("get vertex @ 9", &store, "absent", 4),
        ("get edge @ 1 4", &store, "absent", 4),
        ("stats @", &none, "open", 1),
        ("get vertex @ x", &store, "usage", 2),
        ("get edge @ 1 2 --label cals", &store, "argument", 1),
        ("walk @", &store, "usage", 2),
        ("stats @ --csv", &store, "usage", 2),
    ] {
        let ran = hedgerow(&format!("{command} --json"), &[store]);
        assert_eq!((ran.status, ran.out.as_str()), (Some(status), ""), "{ran:?}");
        assert_eq!(objects(&ran.err).len(), 1, "{ran:?}");
        assert_eq!((field(&ran.err, "group"), field(&ran.err, "status")), (json!(group), json!(status)));
        assert!(!error(&ran.err).is_empty());
    }
    // A file that is named like the option asks for no JSON.
    let plain = hedgerow("stats @ -- --json", &[&store]).fails(2);
    assert!(plain.contains("--json"), "{plain}");
    let limited = run(crate::program(), "find @ nme=x", &[&store]).fails(2);
    assert!(limited.contains("did you mean \"name\""), "{limited}");
}
