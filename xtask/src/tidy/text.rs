//! Checks of text for readers: no path of a particular machine, no dead link, no design page without a link
//! to it, and no sentence of the contract that names a missing test.

use std::collections::HashSet;
use std::path::Path;

use super::report::{File, Report};

/// The folders of particular machines. They are written in halves, so that this file passes its own check.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/t", "mp/")];
/// The folder outside the repository that no text may name. The next constant is its one permitted path.
const OUTSIDE: &str = concat!("../sha", "red/");
const OUTSIDE_PERMITTED: &str = concat!("../sha", "red/data");

/// The index pages: at least one of them must link to each design page.
const INDEXES: &[&str] = &["docs/README.md", "docs/design/README.md", "ARCHITECTURE.md"];

/// Checks pages and all other text.
pub(super) fn check(root: &Path, files: &[File], report: &mut Report) {
    for file in files {
        check_paths(file, report);
        check_pages(file, files, report);
        if file.has_extension("md") {
            check_links(root, file, report);
            check_whitespace(file, report);
        }
    }
    check_design_index(files, report);
    check_contract(files, report);
}

fn check_paths(file: &File, report: &mut Report) {
    for path in MACHINE_PATHS {
        for (at, _) in file.text.match_indices(path).filter(|(at, _)| begins_path(&file.text, *at)) {
            let message = format!("`{path}` is a folder of some machine; name a path inside the repository");
            report.error_at(file, at, message);
        }
    }
    for (at, _) in file.text.match_indices(OUTSIDE) {
        if !file.text[at..].starts_with(OUTSIDE_PERMITTED) {
            let message = format!("only `{OUTSIDE_PERMITTED}` may be named outside the repository");
            report.error_at(file, at, message);
        }
    }
}

/// True if a path begins at `at`. A folder inside a longer path, such as `work` in `target/work`, begins no
/// path.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ')' | '}'))
}

/// Checks that the repository has every page that code or prose names, by its whole path or by the end of it.
fn check_pages(file: &File, files: &[File], report: &mut Report) {
    for (at, _) in file.text.match_indices(".md") {
        let after = file.text[at + ".md".len()..].chars().next();
        let before =
            file.text[..at].trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/'));
        let page = &file.text[before.len()..at];
        // Another check covers links. A bare extension, a longer word, or an example of these checks is not a
        // page.
        let linked = file.has_extension("md") && before.trim_end_matches(['.', '/']).ends_with("](");
        if linked
            || page.is_empty()
            || after.is_some_and(char::is_alphanumeric)
            || file.path.starts_with("xtask/")
        {
            continue;
        }
        let page = format!("{page}.md");
        let page = page.trim_start_matches('/');
        let known =
            |f: &File| f.path.strip_suffix(page).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        if !files.iter().any(known) {
            report.error_at(file, at, format!("there is no page `{page}`; name one of this repository"));
        }
    }
}

fn check_whitespace(file: &File, report: &mut Report) {
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.ends_with([' ', '\t']) {
            report.error(file, number, "blanks at the end of the line; remove them");
        }
    }
}

/// Returns the targets of the inline links of a page, with their positions. Leaves out code blocks and
/// addresses.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for (at, _) in line.match_indices("](") {
                let target = &line[at + 2..];
                let Some(end) = target.find(')') else { continue };
                found.push((start + at, &target[..end]));
            }
        }
        start += line.len();
    }
    found.retain(|(_, target)| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
    found
}

fn check_links(root: &Path, file: &File, report: &mut Report) {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    for (at, target) in links(&file.text) {
        let path = target.split('#').next().unwrap_or(target);
        if !root.join(folder).join(path).exists() {
            report.error_at(file, at, format!("dead link `{target}`; mend it or remove it"));
        }
    }
}

fn check_design_index(files: &[File], report: &mut Report) {
    let indexes: Vec<&File> = files.iter().filter(|f| INDEXES.contains(&f.path.as_str())).collect();
    for page in files.iter().filter(|f| f.path.starts_with("docs/design/") && f.path.ends_with(".md")) {
        let linked = INDEXES.contains(&page.path.as_str())
            || indexes
                .iter()
                .any(|index| links(&index.text).iter().any(|(_, l)| resolves(&index.path, l, &page.path)));
        if !linked {
            report.error(page, 1, format!("no link leads here; link it from one of {}", INDEXES.join(", ")));
        }
    }
}

/// True if the relative link `target` on page `from` leads to `to`. `from` is at most two folders deep.
fn resolves(from: &str, target: &str, to: &str) -> bool {
    let target = target.split('#').next().unwrap_or(target);
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    match target.strip_prefix("../") {
        Some(rest) => folder.rsplit_once('/').map_or(rest.to_owned(), |(up, _)| format!("{up}/{rest}")) == to,
        None if folder.is_empty() => target == to,
        None => format!("{folder}/{target}") == to,
    }
}

/// Checks that every `test NAME` (with the name in backticks) in the contract names an existing test
/// function.
fn check_contract(files: &[File], report: &mut Report) {
    let Some(contract) = files.iter().find(|f| f.path == "docs/contract.md") else { return };
    let functions = functions(files);
    for (at, _) in contract.text.match_indices("test `") {
        let name = contract.text[at + "test `".len()..].split('`').next().unwrap_or_default();
        let function = name.rsplit("::").next().unwrap_or(name);
        if !functions.contains(function) {
            let message = format!("test `{name}` does not exist; a sentence without a test is to be deleted");
            report.error_at(contract, at, message);
        }
    }
}

/// Returns the words between `fn` or `def` and the next parenthesis, which are the names of all functions
/// without type parameters.
fn functions(files: &[File]) -> HashSet<&str> {
    let mut names = HashSet::new();
    for file in files.iter().filter(|f| f.has_extension("rs") || f.has_extension("py")) {
        for keyword in ["fn ", "def "] {
            let after = file.text.match_indices(keyword).map(|(at, _)| &file.text[at + keyword.len()..]);
            names.extend(after.filter_map(|rest| rest.find('(').map(|end| &rest[..end])));
        }
    }
    names
}
