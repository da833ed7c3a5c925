//! Checks of Rust source: the modules that may contain `unsafe`, the summaries of modules, and words of
//! unfinished work.

use super::report::{File, Place, Report};
use super::tokens::Token;

/// The crates that may contain `unsafe`, with the modules in which they may. A new entry needs a reason in
/// `docs/design/`.
const UNSAFE_MODULES: &[(&str, &[&str])] = &[
    ("hedgerow-core", &["fork", "simd", "sync"]),
    ("hedgerow-mem", &["arena", "delta", "grace"]),
    ("hedgerow-python", &["memory"]),
    ("hedgerow-rivals", &["lmdb"]),
];
/// The crates that access files only through `Vfs`.
const NO_FILES: &[&str] = &[
    "hedgerow",
    "hedgerow-engine",
    "hedgerow-catalog",
    "hedgerow-core",
    "hedgerow-kernels",
    "hedgerow-log",
    "hedgerow-mem",
    "hedgerow-pager",
    "hedgerow-tier",
    "hedgerow-txn",
];
/// The crates that never read a clock. Their callers pass timestamps, so that their tests are deterministic.
const NO_CLOCK: &[&str] =
    &["hedgerow-catalog", "hedgerow-core", "hedgerow-mem", "hedgerow-tier", "hedgerow-kernels"];

/// The tokens of unfinished or left-over code, separated by spaces, each with the objection.
const BANNED_CODE: &[(&str, &str)] = &[
    ("todo !", "finish it or leave it out"),
    ("unimplemented !", "finish it or leave it out"),
    ("dbg !", "remove it"),
    ("# [ ignore", "a test runs or goes; long ones belong to `make test-deep`"),
];
/// The words that announce unfinished work in comments. They are written in halves, so that this file passes
/// its own check.
const BANNED_COMMENTS: &[&str] = &[concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X:")];

/// Checks a Rust file of the crates.
pub(super) fn check(file: &File, place: &Place<'_>, tokens: &[Token], report: &mut Report) {
    check_unsafe(file, place, tokens, report);
    check_summary(file, place, report);
    check_banned(file, tokens, report);
    check_boundaries(file, place, tokens, report);
}

fn check_unsafe(file: &File, place: &Place<'_>, tokens: &[Token], report: &mut Report) {
    let entry = UNSAFE_MODULES.iter().find(|(krate, _)| *krate == place.krate);
    let modules = entry.map_or(&[][..], |(_, modules)| *modules);
    if place.is_root() {
        let says = |level| !lines_of(file, tokens, &format!("# ! [ {level} ( unsafe_code ) ]")).is_empty();
        let wanted = if modules.is_empty() { "forbid" } else { "deny" };
        if !says(wanted) && !says("forbid") {
            report.error(file, 1, format!("the crate root does not say `#![{wanted}(unsafe_code)]`"));
        }
    }
    let uses = lines_of(file, tokens, "unsafe");
    if !uses.is_empty() {
        report.unsafe_blocks.push((file.path.clone(), lines_of(file, tokens, "unsafe {").len()));
    }
    if !modules.contains(&place.module()) && place.in_src.is_some() {
        let permitted =
            UNSAFE_MODULES.iter().map(|(krate, modules)| format!("{krate}: {}", modules.join(", ")));
        let permitted = permitted.collect::<Vec<_>>().join("; ");
        for line in uses {
            let message = format!("`unsafe` may occur only in {permitted}; move it there or do without");
            report.error(file, line, message);
        }
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

fn check_banned(file: &File, tokens: &[Token], report: &mut Report) {
    for (phrase, advice) in BANNED_CODE {
        for line in lines_of(file, tokens, phrase) {
            report.error(file, line, format!("`{}`: {advice}", phrase.replace(' ', "")));
        }
    }
    for word in BANNED_COMMENTS {
        for (at, _) in file.text.match_indices(word) {
            report.error_at(file, at, format!("`{word}`: do it, or open an issue and say nothing here"));
        }
    }
    for pair in tokens.windows(2).filter(|pair| pair[0].text == "fn" && pair[1].text.contains("neighbour")) {
        report.error(file, pair[0].line(), "the API says `neighbors`; prose may say neighbours");
    }
}

fn check_boundaries(file: &File, place: &Place<'_>, tokens: &[Token], report: &mut Report) {
    if place.is_test() {
        return;
    }
    let mut refuse = |phrase: &str, advice: &str| {
        if let Some(&line) = lines_of(file, tokens, phrase).first() {
            report.error(file, line, format!("`{}`: this crate {advice}", phrase.replace(' ', "")));
        }
    };
    if NO_FILES.contains(&place.krate) {
        for phrase in ["std :: fs", "fs :: File", "OpenOptions"] {
            refuse(phrase, "reaches files through `hedgerow_io::Vfs` alone");
        }
    }
    if NO_CLOCK.contains(&place.krate) {
        for phrase in ["Instant :: now", "SystemTime :: now"] {
            refuse(phrase, "reads no clock; take the time as an argument");
        }
    }
}

/// Returns the lines in which `phrase` begins. A phrase is a text of tokens with spaces between them.
fn lines_of(file: &File, tokens: &[Token], phrase: &str) -> Vec<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    // Most files do not contain the words, and a search in the text is faster than comparing tokens.
    if !phrase.iter().all(|word| file.text.contains(word)) {
        return Vec::new();
    }
    let begins = |window: &&[Token]| window.iter().zip(&phrase).all(|(token, text)| token.text == *text);
    tokens.windows(phrase.len()).filter(begins).map(|window| window[0].line()).collect()
}
