//! Words of comments: a summary begins with a verb or a noun, and a sentence names its actor.

use super::report::{File, Place, Report};

/// Words with which the summary of a doc comment does not begin: the reader meets a clause without its noun.
const FIRST: &[&str] = &["What", "Whether", "Where", "Who", "Whoever", "Nobody", "So many"];
/// Words that stand for a noun which the sentence leaves out.
const WITHOUT_NOUN: &[&str] = &["whoever", "nobody"];
/// The beginnings of the line before unit tests.
const TESTS: &[&str] = &["#[cfg(test)]", "#[cfg(all(test"];

/// Checks the comments of a Rust file of the product, up to its unit tests.
pub(super) fn check(file: &File, place: &Place<'_>, report: &mut Report) {
    if place.is_test() || file.path.starts_with("lab/") {
        return;
    }
    let (mut above, mut is_safety) = ("", false);
    for (number, line) in (1..).zip(file.text.lines()) {
        let line = line.trim_start();
        if TESTS.iter().any(|tests| line.starts_with(tests)) {
            return;
        }
        let kind = ["///", "//!"].into_iter().find(|kind| line.starts_with(kind)).unwrap_or_default();
        let text = line.strip_prefix(kind).unwrap_or(line).trim_start();
        if !kind.is_empty()
            && kind != above
            && let Some(word) = FIRST.iter().find(|word| begins_with(text, word))
        {
            let message =
                format!("the summary begins with `{word}`; begin with a verb (`Returns`) or a noun");
            report.error(file, number, message);
        }
        above = kind;
        let Some(comment) = line.strip_prefix("//") else {
            is_safety = false;
            continue;
        };
        is_safety |= comment.contains("SAFETY:");
        let words = || comment.split(|c: char| !c.is_alphabetic());
        if let Some(word) = WITHOUT_NOUN.iter().find(|word| !is_safety && words().any(|w| w == **word)) {
            report.error(
                file,
                number,
                format!("`{word}` stands for a noun that the sentence lacks; name it"),
            );
        }
    }
}

fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}
