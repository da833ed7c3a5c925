//! The command lines of the README, and those of the guide about kinds, run as printed.

use super::*;

#[test]
fn the_commands_of_the_readme_run_as_printed() {
    let readme = include_str!("../../../../README.md");
    let (_, section) = readme.split_once("## Command line\n").expect("the section");
    let commands = section.split("```sh\n").nth(1).and_then(|rest| rest.split("```\n").next());
    let commands = commands.expect("commands");
    assert!(commands.lines().count() >= 3);
    let built = format!("'{}'", env!("CARGO_BIN_EXE_hedgerow"));
    let commands = commands.replace("cargo run --release -p hedgerow-cli --", &built);
    let bench = Bench::new();
    let mut shell = Command::new("sh");
    let ran =
        shell.args(["-eux", "-c", &commands]).current_dir(bench.folder.path()).output().expect("sh runs");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    let says = |words: &[&str]| out.lines().any(|line| line.split_whitespace().eq(words.iter().copied()));
    assert!(says(&["new", "edges:", "4"]) && says(&["algorithm:", "pagerank"]), "{out}");
}

/// The section gives files as blocks of text after their names, and calls with what they print, of loads nothing.
#[test]
fn the_commands_of_the_guide_about_kinds_print_what_it_shows() {
    let guide = include_str!("../../../../docs/guide/cli.md");
    let (_, section) = guide.split_once("### Kinds of vertices\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("a section behind it");
    let section = section.split("\n### ").next().expect("a first part");
    let bench = Bench::new();
    let mut files = 0;
    for (before, block) in section.split("```\n").filter_map(|part| part.split_once("```text\n")) {
        let name = before.rsplit('`').nth(1).expect("a name before the block");
        bench.file(name, block);
        files += 1;
    }
    let console = section.split("```console\n").skip(1).filter_map(|part| part.split("```\n").next());
    let (mut calls, mut shown) = (0, 0);
    for call in console.flat_map(|block| block.split("$ hedgerow ").skip(1)) {
        let (command, expected) = call.split_once('\n').expect("a line");
        let mut shell = Command::new("sh");
        shell.arg("-euc").arg(format!("'{}' {command}", env!("CARGO_BIN_EXE_hedgerow")));
        let ran = shell.current_dir(bench.folder.path()).output().expect("sh runs");
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.success(), !expected.starts_with("error: "), "{command}: {out}{err}");
        let printed = if ran.status.success() { out } else { err };
        assert!(
            command.starts_with("load ") && expected.is_empty() || printed == expected,
            "{command}: {printed}"
        );
        calls += 1;
        shown += usize::from(!expected.is_empty());
    }
    assert!(
        files >= 2 && calls >= 8 && shown >= 5,
        "{files} files, {calls} calls, {shown} of them with output"
    );
}
