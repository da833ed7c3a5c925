//! The reasons why a build can only be a rehearsal of a release.

use std::fs;
use std::path::Path;

use super::release::{Release, broken, output};

/// The sentences, on any page, that a release makes wrong.
const BEFORE_RELEASES: [&str; 3] =
    ["There is no release yet", "which a release tag freezes", "until a release freezes it"];
/// The page that quotes those sentences.
const EXCEPT: &str = "releasing.md";

/// Returns the reasons. There are none if the build can be a release.
pub(super) fn reasons(release: &Release) -> Result<Vec<String>, String> {
    let (root, version) = (&release.root, &release.version);
    let mut reasons = Vec::new();
    if !output("git", root, &["status", "--porcelain"])?.is_empty() {
        reasons.push("files are changed or not committed; commit them".to_owned());
    }
    if !output("git", root, &["tag", "--points-at", "HEAD"])?.lines().any(|tag| tag == format!("v{version}"))
    {
        reasons.push(format!("the commit has no tag v{version}; `git tag -a v{version}`"));
    }
    for folder in ["", "docs", "docs/format", "docs/start"] {
        let folder = root.join(folder);
        for entry in fs::read_dir(&folder).map_err(|e| broken(&folder, &e))? {
            let path = entry.map_err(|e| broken(&folder, &e))?.path();
            let name = path.strip_prefix(root).unwrap_or(&path);
            if path.extension().is_some_and(|e| e == "md") && !path.ends_with(EXCEPT) {
                let text = fs::read_to_string(&path).map_err(|e| broken(&path, &e))?;
                reasons.extend(of_page(name, &text, version));
            }
        }
    }
    reasons.sort();
    Ok(reasons)
}

/// Returns the reasons on one page: sentences that the release of `version` makes wrong, or a missing
/// heading.
pub(super) fn of_page(name: &Path, text: &str, version: &str) -> Vec<String> {
    // A sentence may continue on the next line.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = BEFORE_RELEASES.iter().filter(|sentence| words.contains(**sentence));
    let mut reasons: Vec<String> =
        found.map(|sentence| format!("{}: says \"{sentence}\"; change it", name.display())).collect();
    if name.ends_with("CHANGELOG.md") && !text.lines().any(|line| is_heading(line, version)) {
        reasons.push(format!("{}: has no heading `## {version}, YYYY-MM-DD`; write it", name.display()));
    }
    reasons
}

/// True for `## VERSION, YYYY-MM-DD`.
fn is_heading(line: &str, version: &str) -> bool {
    let date = line.strip_prefix("## ").and_then(|rest| rest.strip_prefix(version)?.strip_prefix(", "));
    let digits = |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    date.is_some_and(|date| match date.split('-').collect::<Vec<_>>()[..] {
        [year, month, day] => digits(year, 4) && digits(month, 2) && digits(day, 2),
        _ => false,
    })
}
