//! Checks of the subjects of commits: `area: verb object`, in at most 72 characters.

use std::path::Path;
use std::process::Command;

use super::report::Report;

/// The last commit before this rule was made.
pub(super) const SINCE: &str = "3de13c0abab25a03b11b993c96d23b78e3a55b61";
const CHARACTERS: usize = 72;

/// Checks the subjects of all commits from `since` (excluded) to HEAD, except merges. In a source archive or
/// a shallow clone, git or `since` is absent. The report then lists the check as skipped.
pub(super) fn check(root: &Path, since: &str, report: &mut Report) {
    let range = format!("{since}..HEAD");
    let arguments = ["log", "--no-merges", "--format=%h %s", &range, "--"];
    let log = match Command::new("git").args(arguments).current_dir(root).output() {
        Ok(log) if log.status.success() => String::from_utf8_lossy(&log.stdout).into_owned(),
        failed => {
            let reason = failed.map_or_else(
                |e| e.to_string(),
                |log| String::from_utf8_lossy(&log.stderr).lines().next().unwrap_or_default().to_owned(),
            );
            return report.skipped.push(format!("subjects of commits since {since:.12} (git log: {reason})"));
        }
    };
    for (commit, subject) in log.lines().filter_map(|line| line.split_once(' ')) {
        if let Some(fault) = fault(subject) {
            report.errors.push(format!("commit {commit}: `{subject}`: {fault}"));
        }
    }
}

/// Returns the fault of the subject of a commit, or `None` if the subject is right.
pub(super) fn fault(subject: &str) -> Option<String> {
    let count = subject.chars().count();
    if count > CHARACTERS {
        return Some(format!("{count} characters, the limit is {CHARACTERS}; the body says why"));
    }
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let is_area = |area: &str| area.split(' ').all(|word| is_word(word.strip_suffix(',').unwrap_or(word)));
    let is_sound = subject
        .split_once(": ")
        .is_some_and(|(area, rest)| is_area(area) && is_word(rest.split(' ').next().unwrap_or_default()));
    (!is_sound).then(|| "the form is `area: verb object`, area and verb in lower case".to_owned())
}
