//! Tests of `hedgerow completions`.

use std::io::Write;
use std::process::Command;

use crate::forms::{all_commands, listed};
use crate::{Bench, hedgerow};

/// Returns the long options that the help of a command shows.
fn options(command: &str) -> Vec<String> {
    let help = hedgerow(&format!("{command} --help"), &[]).ok();
    let words = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let option = |line: &str| {
        line.split([' ', ','])
            .find(|word| word.starts_with("--"))
            .map(|word| word.trim_end_matches('.').to_owned())
    };
    words.filter_map(option).collect()
}

#[test]
fn scripts_have_every_command_and_option() {
    let [bash, zsh, fish] =
        ["bash", "zsh", "fish"].map(|shell| hedgerow(&format!("completions {shell}"), &[]).ok());
    for command in all_commands() {
        let name = command.rsplit(' ').next().expect("a name");
        for (shell, script) in [("bash", &bash), ("zsh", &zsh), ("fish", &fish)] {
            assert!(script.contains(name), "{shell} lacks {command}");
        }
        let options = options(command);
        assert!(options.len() >= 3, "{command}: {options:?}");
        for option in options {
            assert!(bash.contains(&option) && zsh.contains(&option), "{command} {option}");
            let long = option.trim_start_matches('-');
            assert!(fish.contains(&format!("-l {long}")), "fish lacks {command} {option}");
        }
    }
    let refused = hedgerow("completions tcsh", &[]).fails(2);
    assert!(refused.contains("possible values: bash, zsh, fish"), "{refused}");
}

/// Bash loads the script. For each command it offers the commands and all options.
#[test]
fn bash_completes() {
    if Command::new("bash").arg("--version").output().is_err() {
        // Bypasses the capture of the test harness, like the message about absent data.
        let _ = writeln!(std::io::stderr(), "skipped: completions in bash (there is no bash)");
        return;
    }
    let bench = Bench::new();
    let script = bench.file("hedgerow.bash", hedgerow("completions bash", &[]).ok());
    let mut calls = format!("source '{}'\n", script.display());
    let mut expected = Vec::new();
    let mut ask = |command: &str, word: &str, offered: Vec<String>| {
        let words: Vec<&str> = command.split_whitespace().chain([word]).collect();
        calls += &format!(
            "COMP_WORDS=(hedgerow {}) COMP_CWORD={} COMPREPLY=()\n_hedgerow hedgerow '{word}' ''\n\
             echo \" ${{COMPREPLY[*]}} \"\n",
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len(),
        );
        expected.push((command.to_owned(), offered));
    };
    let names = |command: &str| -> Vec<String> {
        listed(command).iter().filter_map(|all| all.rsplit(' ').next()).map(str::to_owned).collect()
    };
    for command in ["", "get", "put", "del", "run"] {
        ask(command, "", names(command));
    }
    for command in all_commands() {
        ask(command, "--", options(command));
    }
    let ran = Command::new("bash").args(["--norc", "-ec", &calls]).output().expect("bash runs");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && err.is_empty(), "{err}");
    assert_eq!(out.lines().count(), expected.len(), "{out}");
    for (line, (command, offered)) in out.lines().zip(expected) {
        assert!(!offered.is_empty(), "{command}");
        let lacks = offered.iter().find(|word| !line.contains(&format!(" {word} ")));
        assert!(lacks.is_none(), "{command} lacks {lacks:?}: {line}");
    }
}
