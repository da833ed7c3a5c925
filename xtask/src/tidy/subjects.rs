//! Subjects of commits: `area: verb object`, in at most 72 characters.

use std::path::Path;
use std::process::Command;

use super::report::Report;

/// The last commit before the rule.
pub(super) const SINCE: &str = "3de13c0abab25a03b11b993c96d23b78e3a55b61";
const CHARACTERS: usize = 72;

/// Checks the subjects of the commits that HEAD has and `since` has not, except those of merges.
/// Without git or without `since`, as in a source archive or a shallow clone, the report says that it skipped
/// them.
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

/// Returns what is wrong with the subject of a commit; none if nothing is.
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
