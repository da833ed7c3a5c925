//! Tests that run the command lines of the README, the guide and the page on operations as printed.

use super::*;

const README: &str = include_str!("../../../../README.md");
const GUIDE: &str = include_str!("../../../../docs/guide/cli.md");
const OPERATIONS: &str = include_str!("../../../../docs/operations.md");

/// Returns the parts of a page between fences of this language.
pub(crate) fn blocks<'a>(page: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let fence = format!("```{language}\n");
    let parts: Vec<&str> = page.split(fence.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split("```\n").next())
}

/// Runs shell commands in the folder, with the built program as `hedgerow`. Returns whether they succeeded,
/// and both outputs in their order.
pub(crate) fn shell(bench: &Bench, commands: &str) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_hedgerow"));
    let folder = program.parent().expect("the folder of the program").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-euc", &format!("exec 2>&1\n{commands}")]).env("PATH", path);
    let ran = shell.current_dir(bench.folder.path()).output().expect("sh runs");
    (ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn the_commands_of_the_readme_run_as_printed() {
    let (_, section) = README.split_once("## Command line\n").expect("the section");
    let commands = blocks(section, "sh").next().expect("commands");
    assert!(commands.lines().count() >= 3);
    let commands = commands.replace("cargo run --release -p hedgerow-cli --", "hedgerow");
    let (succeeded, out) = shell(&Bench::new(), &commands);
    assert!(succeeded, "{out}");
    let says = |words: &[&str]| out.lines().any(|line| line.split_whitespace().eq(words.iter().copied()));
    assert!(says(&["new", "edges:", "4"]) && says(&["algorithm:", "pagerank"]), "{out}");
}

#[test]
fn the_commands_of_the_page_on_operations_run_as_printed() {
    let bench = Bench::new();
    bench.file("links.csv", "1,2\n2,3\n");
    let (succeeded, out) = shell(&bench, "hedgerow load links.hedgerow links.csv");
    assert!(succeeded, "{out}");
    let mut calls = 0;
    for commands in blocks(OPERATIONS, "sh") {
        let (succeeded, out) = shell(&bench, commands);
        assert!(succeeded, "{commands}: {out}");
        calls += 1;
    }
    assert!(calls >= 4, "{calls} blocks");
}

/// The title of a section of the guide, the files that it needs with their content, and the commands that run
/// before the commands of the section.
type Given = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const GIVEN: &[Given] = &[
    ("A short tour", &[], &[]),
    ("One vertex or one edge", &[], &[]),
    (
        "What a load detects",
        &[
            ("orders.csv", "orderID,customerID\n10248,VINET\n"),
            ("people.csv", "name,friend\nann,bob\n"),
            ("stops.csv", "a\nb\nc\n1;2\n"),
            ("flights.csv", "from,to,stops\n1,2,\\N\n2,3,4\n"),
            ("relations.csv", "src,dst,kind\na,b,is\n"),
            ("calls.csv", "src,dst,at\n1,2,2024-05-01\n1,2,2024-05-02\n"),
            ("edges", "1 2\n2 3\n"),
        ],
        &["gzip relations.csv edges"],
    ),
    (
        "Labels, ranks and properties",
        &[
            ("people.csv", "id,name\n1,Ann\n2,Bob\n"),
            ("calls.csv", "src,dst,time,seconds\n1,2,100,31\n1,2,101,45\n"),
            ("roads.csv", "src,dst,miles:f64\n1,2,3.5\n"),
        ],
        &["hedgerow load roads roads.csv --label road --property miles:f64"],
    ),
    ("Kinds of vertices", &[], &[]),
    ("Malformed rows and failures", &[("bad.csv", "1,2\nx,3\n2,3\n3,4\n")], &[]),
    (
        "Exporting",
        &[("calls.csv", "src,dst,rank\n1,2,100\n1,2,101\n")],
        &["hedgerow load calls calls.csv --label calls --rank rank"],
    ),
];

/// A section gives files as blocks of text after their names, and calls with their output. A load without a
/// shown output may print any output.
#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let (mut calls, mut shown, mut other) = (0, 0, String::new());
    for section in GUIDE.split("\n## ").flat_map(|part| part.split("\n### ")).skip(1) {
        let (title, text) = section.split_once('\n').expect("a title");
        let Some((_, files, commands)) = GIVEN.iter().find(|(name, ..)| *name == title) else {
            assert_eq!(blocks(text, "console").count(), 0, "commands of {title:?}, which no test runs");
            continue;
        };
        let bench = Bench::new();
        for (name, content) in *files {
            bench.file(name, content);
        }
        for (before, block) in text.split("```\n").filter_map(|part| part.split_once("```text\n")) {
            let name = before.rsplit('`').nth(1).filter(|name| name.ends_with(".csv"));
            name.map(|name| bench.file(name, block));
        }
        for command in *commands {
            let (succeeded, out) = shell(&bench, command);
            assert!(succeeded, "{title}: {command}: {out}");
        }
        for call in blocks(text, "console").flat_map(|block| block.split("$ ").skip(1)) {
            let (command, expected) = call.split_once('\n').expect("a line");
            let (succeeded, out) = shell(&bench, command);
            let is_shown = !expected.is_empty() || !command.contains(" load ");
            let (out, expected) = (timeless(&out), timeless(expected));
            let is_as_shown = match expected.strip_suffix("...\n") {
                Some(begin) => out.starts_with(begin),
                None => out == expected,
            };
            if succeeded == expected.starts_with("error: ") || is_shown && !is_as_shown {
                other += &format!("{title}: {command}:\n{out}and not\n{expected}");
            }
            calls += 1;
            shown += usize::from(is_shown);
        }
    }
    assert!(other.is_empty(), "{other}");
    assert!(calls >= 30 && shown >= 20, "{calls} calls, {shown} of them with output");
}

/// Leaves out measured times, which differ from run to run.
fn timeless(output: &str) -> String {
    let line = |line: &str| {
        let measured = ["seconds:", "rows per second:", "milliseconds:"];
        if let Some(name) = measured.iter().find(|name| line.starts_with(**name)) {
            return format!("{name}\n");
        }
        match line.split_once("\"milliseconds\":") {
            Some((before, after)) => {
                let rest = after.split_once(',').map_or("", |(_, rest)| rest);
                format!("{before}{rest}\n")
            }
            None => format!("{line}\n"),
        }
    };
    output.lines().map(line).collect()
}
