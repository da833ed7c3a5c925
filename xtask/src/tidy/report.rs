//! The input of the checks (a file) and their output (a report).

use proc_macro2::{LexError, TokenStream};

/// The findings of the checks.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The errors. Any error fails the run.
    pub(super) errors: Vec<String>,
    /// The checks that this machine cannot make, each with its reason.
    pub(super) skipped: Vec<String>,
    /// The files with `unsafe`, each with its number of blocks.
    pub(super) unsafe_blocks: Vec<(String, usize)>,
    /// The line of each crate, with the numbers of its modules, of the arrows between them, and of cycles.
    pub(super) modules: Vec<String>,
}

impl Report {
    pub(super) fn error(&mut self, file: &File, line: usize, message: impl AsRef<str>) {
        self.errors.push(format!("{}:{line}: {}", file.path, message.as_ref()));
    }

    /// Reports an error at byte `at` of a file.
    pub(super) fn error_at(&mut self, file: &File, at: usize, message: impl AsRef<str>) {
        let line = 1 + file.text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count();
        self.error(file, line, message);
    }
}

/// A text file of the repository.
#[derive(Debug)]
pub(super) struct File {
    /// The path from the root of the repository, with `/` between its parts.
    pub(super) path: String,
    pub(super) text: String,
    /// The tokens of a Rust file of the crates. Every other file has none.
    pub(super) stream: TokenStream,
}

impl File {
    /// Splits the text of a Rust file of the crates into tokens.
    ///
    /// # Errors
    ///
    /// Returns the line of the first character that begins no token, or of a bracket without its partner.
    pub(super) fn new(path: String, text: String) -> Result<File, String> {
        let code = if Place::of(&path).is_some() { text.as_str() } else { "" };
        let stream = code
            .parse()
            .map_err(|error: LexError| format!("{path}:{}: {error}", error.span().start().line))?;
        Ok(File { path, text, stream })
    }

    pub(super) fn has_extension(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, e)| e == extension)
    }
}

/// The position of a Rust file in the workspace.
pub(super) struct Place<'a> {
    pub(super) krate: &'a str,
    /// The path inside `src`, or `None` for tests, examples and benches.
    pub(super) in_src: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// Returns the position of the file at `path`, or `None` for a file outside of the crates or not in Rust.
    pub(super) fn of(path: &'a str) -> Option<Place<'a>> {
        let (krate, inside) = match path.strip_prefix("crates/").or_else(|| path.strip_prefix("lab/")) {
            Some(rest) => rest.split_once('/')?,
            None => ("xtask", path.strip_prefix("xtask/")?),
        };
        path.ends_with(".rs").then_some(Place { krate, in_src: inside.strip_prefix("src/") })
    }

    pub(super) fn is_root(&self) -> bool {
        matches!(self.in_src, Some("lib.rs" | "main.rs"))
            || self.in_src.is_some_and(|p| p.starts_with("bin/"))
    }

    pub(super) fn is_test(&self) -> bool {
        self.in_src
            .is_none_or(|p| p.ends_with("tests.rs") || p.ends_with("testing.rs") || p.contains("tests/"))
    }

    /// Returns the first module of the path: `delta` for `delta.rs` and for `delta/scan.rs`.
    pub(super) fn module(&self) -> &'a str {
        let path = self.in_src.unwrap_or_default();
        let first = path.split('/').next().unwrap_or(path);
        first.strip_suffix(".rs").unwrap_or(first)
    }
}
