//! Checks of the lengths of text: a line of a comment or a page has at most 110 columns, a design page has at
//! most 250 lines.

use super::report::{File, Report};

const COLUMNS: usize = 110;
const DESIGN_PAGE_LINES: usize = 250;

/// The pages that are older than the rules for pages (columns, lines, phrases). A change that rewrites a page
/// removes its entry, and no change may add one.
pub(super) const OLD_PAGES: &[&str] = &[];

/// The text on a page that marks lines written by a test. These lines may be as long as their facts require.
const WRITTEN_BY_A_TEST: &str = "A test writes this";
/// The page of past figures, which does not change.
pub(super) const PAST_FIGURES: &str = "docs/benchmarks-history.md";

/// Checks the comments of a Rust file.
pub(super) fn check_comments(file: &File, report: &mut Report) {
    let mut is_fenced = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            is_fenced = false;
            continue;
        };
        check_line(file, (number, line), text.trim_start_matches(['/', '!']), &mut is_fenced, report);
    }
}

/// Checks a page.
pub(super) fn check_page(file: &File, report: &mut Report) {
    let count = file.text.lines().count();
    if file.path.starts_with("docs/design/") && count > DESIGN_PAGE_LINES {
        let message = format!("{count} lines, the limit is {DESIGN_PAGE_LINES}; a page has one subject");
        report.error(file, 1, message);
    }
    if file.text.contains(WRITTEN_BY_A_TEST) {
        return;
    }
    let mut is_fenced = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        check_line(file, (number, line), line, &mut is_fenced, report);
    }
}

/// Checks a line whose text is `text`. Code, rows of tables, headings and pictures are not wrapped. Text
/// without a space, such as a link, is not wrapped either.
fn check_line(file: &File, line: (usize, &str), text: &str, is_fenced: &mut bool, report: &mut Report) {
    let text = text.trim_start();
    let is_fence = text.starts_with("```");
    *is_fenced ^= is_fence;
    let mark = text.split(' ').next().unwrap_or_default();
    let is_mark =
        matches!(mark, "-" | "*" | ">") || mark.strip_suffix('.').is_some_and(|n| n.parse::<u32>().is_ok());
    let rest = if is_mark { text[mark.len()..].trim_start() } else { text };
    let stays = is_fence
        || *is_fenced
        || text.starts_with(['|', '#'])
        || text.starts_with("![")
        || !rest.contains(' ');
    let columns = line.1.chars().count();
    if columns > COLUMNS && !stays {
        report.error(file, line.0, format!("{columns} columns, the limit is {COLUMNS}; wrap the paragraph"));
    }
}
