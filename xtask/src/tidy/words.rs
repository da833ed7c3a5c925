//! Checks of the words of comments: a summary begins with a verb or a noun, and a sentence names its actor.

use super::report::{File, Place, Report};

/// The words with which no summary of a doc comment may begin, because they begin a clause without its noun.
const FIRST: &[&str] = &[
    "What", "Whether", "Where", "Who", "Whoever", "Nobody", "So many", "How", "Why", "When", "Which", "That",
    "If", "Of", "From", "With", "Without", "By", "To", "For", "In", "On", "At", "Under", "Against",
];
/// The words that stand for a noun which the sentence omits.
const WITHOUT_NOUN: &[&str] = &["whoever", "nobody"];
/// The phrases that hide their actor or their verb, as lists of words, each with better words.
const PHRASES: &[(&[&str], &str)] = &[
    (&["let", "go", "of"], "release, drop, unpin"),
    (&["lets", "go", "of"], "releases, drops, unpins"),
    (&["letting", "go", "of"], "releasing, dropping, unpinning"),
    (&["is", "told", "of"], "is notified of, receives"),
    (&["are", "told", "of"], "are notified of, receive"),
    (&["is", "said", "to"], "name what says so"),
    (&["are", "said", "to"], "name what says so"),
    (&["are", "had"], "the verb that is meant"),
    (&["stands", "beside"], "is stored with, is next to"),
    (&["stand", "beside"], "are stored with, are next to"),
    (&["by", "itself"], "alone, unprompted"),
    (&["by", "themselves"], "alone, unprompted"),
    (&["held", "against"], "compared with, limited by"),
];
/// The marks of comments, and the mark at the end of a literal's line.
const MARKS: &[&str] = &["//", "///", "//!", "\\", ">"];
/// The beginnings of the line before a module of unit tests.
const TESTS: &[&str] = &["#[cfg(test)]", "#[cfg(all(test"];

/// Checks the comments of a Rust file of the product, except its unit tests.
pub(super) fn check(file: &File, place: &Place<'_>, report: &mut Report) {
    if place.is_test() || file.path.starts_with("lab/") {
        return;
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let end = lines.windows(2).position(begin_tests).unwrap_or(lines.len());
    check_phrases(file, lines[..end].iter().copied(), report);
    let (mut above, mut is_safety) = ("", false);
    for (number, line) in (1..).zip(&lines[..end]) {
        let line = line.trim_start();
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

/// True if these lines begin a module of unit tests within the file.
fn begin_tests(lines: &[&str]) -> bool {
    let is_attribute = TESTS.iter().any(|tests| lines[0].trim_start().starts_with(tests));
    is_attribute && lines[1].contains("mod ") && lines[1].ends_with('{')
}

fn begins_with(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}

/// Checks a page for the phrases.
pub(super) fn check_page(file: &File, report: &mut Report) {
    check_phrases(file, file.text.lines(), report);
}

/// Reports each of `PHRASES` in `lines`, in comments and literals. A phrase may continue on the next line.
fn check_phrases<'a>(file: &File, lines: impl Iterator<Item = &'a str>, report: &mut Report) {
    let words = (1..).zip(lines).flat_map(|(n, line)| line.split_whitespace().map(move |word| (n, word)));
    let words: Vec<(usize, &str)> = words.filter(|(_, word)| !MARKS.contains(word)).collect();
    let is_sign = |c: char| !c.is_alphabetic();
    for (phrase, better) in PHRASES {
        let Some((last, before)) = phrase.split_last() else { continue };
        for found in words.windows(phrase.len()) {
            let (first, end) = (found[0].1, found[before.len()].1);
            let is_phrase = first.trim_start_matches(is_sign) == before[0]
                && end.trim_end_matches(is_sign) == *last
                && (1..before.len()).all(|at| found[at].1 == before[at]);
            if is_phrase {
                let message = format!("`{}` hides who does what; better: {better}", phrase.join(" "));
                report.error(file, found[0].0, message);
            }
        }
    }
}
