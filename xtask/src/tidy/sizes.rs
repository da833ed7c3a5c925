//! Checks of the sizes of files and functions. A long one must state its reason. A list has the files that
//! were already long when this rule was made.

use super::report::{File, Report};
use super::tokens::{Token, text};

/// The maximum number of lines of a file that states no reason for its length.
const FILE_LINES: usize = 400;
/// The maximum number of lines of a file with any reason.
const FILE_LIMIT_LINES: usize = 800;
/// The maximum number of lines of a function that states no reason for its length.
const FUNCTION_LINES: usize = 70;
/// The beginning of a reason.
const REASON: &str = "Long because";

/// The files that were already long when the rule was made, with their numbers of lines at that time. The
/// list is a ratchet: a change that splits a file removes its entry, and no change may add one.
pub(super) const LONG_FILES: &[(&str, usize)] = &[
    ("crates/hedgerow-log/src/record.rs", 417),
    ("crates/hedgerow-mem/src/arena/shard.rs", 501),
    ("crates/hedgerow-python/src/database.rs", 573),
    ("crates/hedgerow-python/src/snapshot.rs", 682),
    ("crates/hedgerow-python/src/transaction.rs", 734),
    ("crates/hedgerow-tier/src/manifest/tests.rs", 402),
    ("crates/hedgerow-engine/src/commit/txn.rs", 539),
    ("crates/hedgerow/tests/fork/main.rs", 584),
    ("crates/hedgerow/tests/isolation/suite.rs", 436),
];

/// Checks that the files in `long` exist.
pub(super) fn check_list(files: &[File], long: &[(&str, usize)], report: &mut Report) {
    for (path, _) in long {
        if !files.iter().any(|file| file.path == *path) {
            report.errors.push(format!("{path}: there is no such file; remove it from {HERE}"));
        }
    }
}

const HERE: &str = "LONG_FILES (xtask/src/tidy/sizes.rs)";

/// Checks the size of a Rust file. `long` is `LONG_FILES`.
pub(super) fn check_file(file: &File, long: &[(&str, usize)], report: &mut Report) {
    let lines = file.text.lines().count();
    let is_long = lines > FILE_LINES;
    let says_why = file.text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains(REASON));
    if lines > FILE_LIMIT_LINES {
        report.error(file, 1, format!("{lines} lines, the limit is {FILE_LIMIT_LINES}; split it by concept"));
        return;
    }
    match long.iter().find(|(path, _)| *path == file.path) {
        Some(_) if !is_long || says_why => {
            let state = if is_long { "says why it is long" } else { "is not long" };
            report.error(file, 1, format!("the file {state}; remove it from {HERE}"));
        }
        Some(&(_, before)) if lines > before + before / 10 => {
            let message =
                format!("{lines} lines, which were {before}; split it by concept, as it may not grow");
            report.error(file, 1, message);
        }
        None if is_long && !says_why => {
            let message = format!(
                "{lines} lines; split it by concept, or say in its `//!` summary \"{REASON} ...\" (limit {FILE_LINES})"
            );
            report.error(file, 1, message);
        }
        _ => {}
    }
}

/// Checks the sizes of the functions of a Rust file.
pub(super) fn check_functions(file: &File, tokens: &[Token], report: &mut Report) {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    // A function pointer type, as in `x: fn(u32)`, has no name after its keyword.
    let is_function =
        |at: &usize| text(tokens, *at) == "fn" && tokens.get(at + 1).is_some_and(Token::is_word);
    for at in (0..tokens.len()).filter(is_function) {
        let Some((open, close)) = body(tokens, at) else { continue };
        let (first, body, last) = (tokens[at].line(), tokens[open].line(), tokens[close].line());
        if last - first < FUNCTION_LINES {
            continue;
        }
        if !says_why(&lines, first, body) {
            let message = format!(
                "a function of {} lines; tell it in steps, or say above it \"// {REASON} ...\" (limit {FUNCTION_LINES})",
                last - first + 1
            );
            report.error(file, first, message);
        }
    }
}

/// Returns the positions of the braces of the function at `at`, or `None` if there is a `;` before them.
fn body(tokens: &[Token], mut at: usize) -> Option<(usize, usize)> {
    while !matches!(text(tokens, at), "{" | ";" | "}") {
        at += tokens.get(at)?.length;
    }
    (tokens[at].text == "{").then(|| (at, at + tokens[at].length - 1))
}

/// True if a reason is in the comments and attributes above line `first`, or in the first line of the body,
/// which is line `body`.
fn says_why(lines: &[&str], first: usize, body: usize) -> bool {
    let is_reason = |line: &&str| line.starts_with("//") && line.contains(REASON);
    let above = lines[..first - 1].iter().rev().take_while(|l| l.starts_with("//") || l.starts_with("#["));
    above.chain(lines.get(body)).any(is_reason)
}
