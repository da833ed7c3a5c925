//! Tests of the checks of prose, with one fault planted at a time: phrases, long lines, long pages, subjects
//! of commits.

use std::process::Command;

use super::{Report, Tables, Tree, check, finds};
use crate::tidy::subjects;

const PATH: &str = "crates/hedgerow-mem/src/words.rs";

/// Plants `text` below the summary of a module and expects one error that contains `expected`.
#[track_caller]
fn found(name: &str, text: &str, expected: &str) {
    finds(name, PATH, &format!("//! Sound.\n{text}"), expected);
}

#[track_caller]
fn is_sound(name: &str, path: &str, text: &str) {
    let tree = Tree::sound(name);
    tree.write(path, text);
    assert_eq!(tree.report().errors, Vec::<String>::new(), "{text}");
}

/// Returns a text of `characters` characters with spaces in it.
fn long(characters: usize) -> String {
    "word ".repeat(characters).chars().take(characters - 1).chain(['.']).collect()
}

#[test]
fn summaries_that_begin_with_a_preposition_are_found() {
    found("words-of", "fn f() {}\n/// Of a commit.\nfn g() {}\n", "begins with `Of`");
    found("words-below", "#[cfg(test)]\nmod tests;\n/// From here.\nfn g() {}\n", "begins with `From`");
    found("words-in", "/// In the log.\nfn g() {}\n", "begins with `In`");
    is_sound("words-inner", PATH, "//! Sound.\n/// Inner things.\n/// From here.\nfn f() {}\n");
}

#[test]
fn phrases_without_an_actor_are_found() {
    found("phrase", "// A reader lets go of it.\nfn f() {}\n", "words.rs:2: `lets go of` hides");
    found("phrase-lines", "fn f() {\n    // It works (by\n    // itself).\n}\n", "words.rs:3: `by itself`");
    found("phrase-text", "const A: &str = \"a rank is said \\\n    to be\";\n", "words.rs:2: `is said to`");
    let page = "# Index\n\n[a page](design/page.md), held\nagainst [the map](../ARCHITECTURE.md)\n";
    finds("phrase-page", "docs/README.md", page, "README.md:3: `held against`");
    let sound =
        "//! Sound: said by. Itself.\n// Go of let, nearby itself, by itselfs.\nfn by(itself: u8) {}\n";
    is_sound(
        "phrase-none",
        PATH,
        &format!("{sound}#[cfg(test)]\nmod tests {{\n// By hand, by itself.\n}}\n"),
    );
}

#[test]
fn long_lines_of_comments_are_found() {
    for (name, mark) in [("wrap-doc", "/// "), ("wrap-plain", "    // "), ("wrap-list", "// - ")] {
        found(name, &format!("{mark}{}\nfn f() {{}}\n", long(111 - mark.len())), "words.rs:2: 111 columns");
    }
    let line = long(111);
    found("wrap-behind", &format!("// ```\n// ```\n// {line}\nfn f() {{}}\n"), "114 columns");
    let tree = Tree::sound("wrap-fuzz");
    tree.write("fuzz/targets/a.rs", &format!("// {line}\n"));
    assert!(tree.only_error().starts_with("fuzz/targets/a.rs:1: 114 columns"));
    let fits = long(104);
    let link = "x".repeat(120);
    is_sound(
        "wrap-whole",
        PATH,
        &format!(
            "//! é {fits}\n// | {line} |\n// # {line}\n// ```\n// {line}\n// ```\n// - <{link}>\nfn f() {{}}\n"
        ),
    );
}

#[test]
fn long_lines_of_pages_are_found() {
    let page = |line: &str| format!("# Page\n\n{line}\n");
    let path = "docs/guide.md";
    finds("page-wrap", path, &page(&long(111)), "guide.md:3: 111 columns, the limit is 110");
    finds("page-item", path, &page(&format!("12. {}", long(107))), "guide.md:3: 111 columns");
    finds("page-code", path, &page(&format!("`a` {}", long(107))), "guide.md:3: 111 columns");
    let fence = format!("```\n{}\n```", long(200));
    let link = format!("- [a](https://example.org/{})", "x".repeat(120));
    for (at, line) in [long(110), fence, link, format!("| {} |", long(200))].iter().enumerate() {
        is_sound(&format!("page-whole-{at}"), path, &page(line));
    }
    is_sound("page-written", path, &page(&format!("A test writes this page from it.\n\n{}", long(200))));
    is_sound("page-past", "docs/benchmarks-history.md", &page(&format!("It is by itself.\n{}", long(200))));
}

#[test]
fn a_design_page_has_a_limit_and_old_pages_have_none() {
    const PAGE: &str = "docs/design/page.md";
    finds("page-lines", PAGE, &"A line.\n".repeat(251), "page.md:1: 251 lines, the limit is 250");
    is_sound("page-fits", PAGE, &"A line.\n".repeat(250));
    is_sound("page-guide", "docs/guide.md", &"A line.\n".repeat(251));
    let tree = Tree::sound("page-old");
    tree.write(PAGE, &format!("By itself.\n\n{}\n", long(200)).repeat(100));
    assert!(!tree.report().errors.is_empty());
    let tables = Tables { old_pages: &[PAGE], ..Tables::default() };
    let report = check(&tree.root, tables).unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(report.errors, Vec::<String>::new());
}

#[test]
fn subjects_have_a_form_and_a_length() {
    let longest = format!("docs: {}", "a".repeat(66));
    for sound in
        ["tests: leave edges", "docs, site-hooks: record 3 sizes", "commit path: re-read A", &longest]
    {
        assert_eq!(subjects::fault(sound), None, "{sound}");
    }
    let fault = |subject: &str| subjects::fault(subject).unwrap_or_default();
    assert!(fault(&format!("{longest}a")).starts_with("73 characters, the limit is 72"));
    for refused in [
        "Leave edges",
        "tests leave edges",
        "Tests: leave edges",
        "tests: Leave edges",
        "tests:leave",
        ": a",
        "a: ",
    ] {
        assert!(fault(refused).starts_with("the form is `area: verb object`"), "{refused}");
    }
}

#[test]
fn commits_after_the_rule_keep_it() {
    let tree = Tree::sound("commits");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(&tree.root).output();
        let output = output.unwrap_or_else(|error| panic!("git: {error}"));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let commit = |subject: &str| git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
    let report = |since: &str| {
        let mut report = Report::default();
        subjects::check(&tree.root, since, &mut report);
        report
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    commit("An old subject");
    let since = git(&["rev-parse", "HEAD"]);
    commit("tests: keep the rule");
    git(&["checkout", "--quiet", "-b", "side"]);
    commit("tests: keep it here too");
    git(&["checkout", "--quiet", "main"]);
    git(&["merge", "--quiet", "--no-ff", "-m", "Merge of the side", "side"]);
    let sound = report(&since);
    assert!(sound.errors.is_empty() && sound.skipped.is_empty(), "{sound:?}");
    commit("Breaks the rule");
    let found = report(&since).errors;
    assert!(found.len() == 1 && found[0].contains("`Breaks the rule`: the form is"), "{found:?}");

    let absent = report(&"0123".repeat(10));
    assert!(absent.errors.is_empty() && absent.skipped.len() == 1, "{absent:?}");
    assert!(
        absent.skipped[0].starts_with("subjects of commits since 012301230123 (git log: fatal"),
        "{absent:?}"
    );
}
