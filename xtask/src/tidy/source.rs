//! Rust source: where `unsafe` may stand, module summaries, and words that must not stay.

use super::lexer::{code_only, line_of, word_positions};
use super::report::{File, Report};

/// The crates that may hold `unsafe`, and the modules in which. A new one comes with its reason in `docs/design/`.
const UNSAFE_MODULES: &[(&str, &[&str])] = &[
    ("hedgerow-core", &["fork", "simd", "sync"]),
    ("hedgerow-mem", &["arena", "delta", "grace"]),
    ("hedgerow-python", &["memory"]),
    ("hedgerow-rivals", &["lmdb"]),
];
/// Crates that reach files through `Vfs` alone.
const NO_FILES: &[&str] = &[
    "hedgerow",
    "hedgerow-engine",
    "hedgerow-core",
    "hedgerow-kernels",
    "hedgerow-log",
    "hedgerow-mem",
    "hedgerow-tier",
    "hedgerow-txn",
];
/// Crates that never read a clock: timestamps come in as arguments, so their tests are deterministic.
const NO_CLOCK: &[&str] = &["hedgerow-core", "hedgerow-mem", "hedgerow-tier", "hedgerow-kernels"];

/// Unfinished or left-over code, as it looks in code.
const BANNED_CODE: &[(&str, &str)] = &[
    ("todo!", "finish it or leave it out"),
    ("unimplemented!", "finish it or leave it out"),
    ("dbg!", "remove it"),
    ("#[ignore", "a test runs or goes; long ones belong to `make test-deep`"),
];
/// Unfinished work, as comments announce it. Spelt in halves, so that this file passes its own check.
const BANNED_COMMENTS: &[&str] = &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X:")];

/// Checks every Rust file of the crates.
pub(super) fn check(files: &[File], report: &mut Report) {
    for file in files.iter().filter(|f| f.has_extension("rs")) {
        let Some(place) = Place::of(&file.path) else { continue };
        let code = code_only(&file.text);
        check_unsafe(file, &place, &code, report);
        check_summary(file, &place, report);
        check_banned(file, &code, report);
        check_boundaries(file, &place, &code, report);
    }
}

/// Where a Rust file stands in the workspace.
pub(super) struct Place<'a> {
    pub(super) krate: &'a str,
    /// The path inside `src`; none for tests, examples and benches.
    pub(super) in_src: Option<&'a str>,
}

impl<'a> Place<'a> {
    pub(super) fn of(path: &'a str) -> Option<Place<'a>> {
        let (krate, inside) = match path.strip_prefix("crates/").or_else(|| path.strip_prefix("lab/")) {
            Some(rest) => rest.split_once('/')?,
            None => ("xtask", path.strip_prefix("xtask/")?),
        };
        Some(Place { krate, in_src: inside.strip_prefix("src/") })
    }

    fn is_root(&self) -> bool {
        matches!(self.in_src, Some("lib.rs" | "main.rs"))
            || self.in_src.is_some_and(|p| p.starts_with("bin/"))
    }

    pub(super) fn is_test(&self) -> bool {
        self.in_src
            .is_none_or(|p| p.ends_with("tests.rs") || p.ends_with("testing.rs") || p.contains("tests/"))
    }

    /// The first module of the path: `delta` for `delta.rs` and for `delta/scan.rs`.
    fn module(&self) -> &'a str {
        let path = self.in_src.unwrap_or_default();
        let first = path.split('/').next().unwrap_or(path);
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn unsafe_modules(&self) -> &'static [&'static str] {
        UNSAFE_MODULES.iter().find(|(krate, _)| *krate == self.krate).map_or(&[], |(_, modules)| modules)
    }
}

fn check_unsafe(file: &File, place: &Place<'_>, code: &str, report: &mut Report) {
    let modules = place.unsafe_modules();
    if place.is_root() {
        let wanted = if modules.is_empty() { "#![forbid(unsafe_code)]" } else { "#![deny(unsafe_code)]" };
        if !code.contains(wanted) && !code.contains("#![forbid(unsafe_code)]") {
            report.error(file, 1, format!("the crate root does not say `{wanted}`"));
        }
    }
    let mut blocks = 0;
    let mut uses = 0;
    for at in word_positions(code, "unsafe") {
        uses += 1;
        blocks += usize::from(code[at + "unsafe".len()..].trim_start().starts_with('{'));
        if !modules.contains(&place.module()) && place.in_src.is_some() {
            let permitted =
                UNSAFE_MODULES.iter().map(|(krate, modules)| format!("{krate}: {}", modules.join(", ")));
            let permitted = permitted.collect::<Vec<_>>().join("; ");
            let message = format!("`unsafe` may occur only in {permitted}; move it there or do without");
            report.error(file, line_of(code, at), message);
        }
    }
    if uses > 0 {
        report.unsafe_blocks.push((file.path.clone(), blocks));
    }
}

fn check_summary(file: &File, place: &Place<'_>, report: &mut Report) {
    let needs_summary = !place.is_test() || file.path.ends_with("/main.rs");
    let mut lines = file.text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("#!["));
    let first = lines.next().unwrap_or_default();
    if needs_summary && !first.starts_with("//! ") {
        report.error(file, 1, "the file does not begin with a `//!` summary; say in a line what it is for");
    } else if place.in_src.is_some() && first == "//! Placeholder." {
        report.error(file, 1, "the file is a placeholder; fill it or remove it");
    }
}

fn check_banned(file: &File, code: &str, report: &mut Report) {
    for (word, advice) in BANNED_CODE {
        for (at, _) in code.match_indices(word) {
            report.error(file, line_of(code, at), format!("`{word}`: {advice}"));
        }
    }
    for word in BANNED_COMMENTS {
        for (at, _) in file.text.match_indices(word) {
            report.error(
                file,
                line_of(&file.text, at),
                format!("`{word}`: do it, or open an issue and say nothing here"),
            );
        }
    }
    for (at, _) in code.match_indices("fn ").filter(|(at, _)| has_prose_spelling(code, *at)) {
        report.error(file, line_of(code, at), "the API says `neighbors`; prose may say neighbours");
    }
}

fn has_prose_spelling(code: &str, fn_at: usize) -> bool {
    let name = code[fn_at + 3..].split(|c: char| !c.is_alphanumeric() && c != '_').next();
    name.is_some_and(|name| name.contains("neighbour"))
}

fn check_boundaries(file: &File, place: &Place<'_>, code: &str, report: &mut Report) {
    if place.is_test() {
        return;
    }
    if NO_FILES.contains(&place.krate) {
        for needle in ["std::fs", "fs::File", "OpenOptions"] {
            if let Some(at) = code.find(needle) {
                let message =
                    format!("`{needle}`: this crate reaches files through `hedgerow_io::Vfs` alone");
                report.error(file, line_of(code, at), message);
            }
        }
    }
    if NO_CLOCK.contains(&place.krate) {
        for needle in ["Instant::now", "SystemTime::now"] {
            if let Some(at) = code.find(needle) {
                let message = format!("`{needle}`: this crate reads no clock; take the time as an argument");
                report.error(file, line_of(code, at), message);
            }
        }
    }
}
