//! Tests of the command line as users see it: the built program, its output and its exit status.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "tests write input files and damage stores")]

mod bad_input;
mod completions;
mod directory;
mod element;
mod encodings;
mod exports;
mod formats;
mod forms;
mod graphml;
mod happy;
mod import;
mod importer;
mod interrupted;
mod kinds;
mod labels;
mod ldbc;
mod limits;
mod matrix;
mod pairs;
mod parts;
mod published;
mod readme;
mod sets;
mod structure;
mod tables;
mod times;
mod told;
mod weights;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder for one test, with a store in it at `store`.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path("store")
    }

    /// Writes an input file and returns its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("written");
        path
    }

    /// Returns the names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("text")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The result of one call of the program.
#[derive(Debug)]
struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    /// Returns the standard output of a call that must succeed.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.out
    }

    /// Returns the one line on standard error of a call that must fail with `status` and print no result.
    #[track_caller]
    fn fails(self, status: i32) -> String {
        assert_eq!((self.status, self.out.as_str()), (Some(status), ""), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        self.err.trim_end().strip_prefix("error: ").unwrap_or_else(|| panic!("{}", self.err)).to_owned()
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow"));
    command.stdin(std::process::Stdio::null());
    command
}

/// Runs the program. `command` is split at blanks, and each word `@` is replaced by the next one of `paths`.
fn hedgerow(command: &str, paths: &[&Path]) -> Ran {
    run(program(), command, paths)
}

/// Like [`hedgerow`], but the caller prepares `call`, for example its standard input.
fn run(mut call: Command, command: &str, paths: &[&Path]) -> Ran {
    let mut paths = paths.iter();
    for word in command.split_whitespace() {
        match word {
            "@" => call.arg(paths.next().expect("a path for every @")),
            word => call.arg(word),
        };
    }
    let Output { status, stdout, stderr } = call.output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { status: status.code(), out: text(stdout), err: text(stderr) }
}

/// Returns one field of a JSON result.
fn field(json: &str, name: &str) -> serde_json::Value {
    let object: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"));
    object.get(name).unwrap_or_else(|| panic!("no {name} in {json}")).clone()
}

/// Returns the message of an error that was printed as JSON.
#[track_caller]
fn error(json: &str) -> String {
    field(json, "error").as_str().expect("a message").to_owned()
}
