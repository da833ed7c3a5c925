//! The command lines of the README, run as printed.

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
