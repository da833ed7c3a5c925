//! Raises the version of all crates in every place that states it: the manifests of both workspaces, the
//! versions that published crates require of each other, and the lock files.

use std::fs;
use std::path::Path;
use std::process::Command;

#[cfg(test)]
mod tests;

/// The manifests that state the version. Each belongs to a workspace with a lock file.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "lab/Cargo.toml"];
/// The manifests of the workspaces whose lock files state the version.
const LOCKED: [&str; 3] = ["Cargo.toml", "lab/Cargo.toml", "fuzz/Cargo.toml"];

/// Sets the version to `to`.
pub(crate) fn set(root: &Path, to: &str) -> Result<(), String> {
    if !is_version(to) {
        return Err(format!(
            "`{to}` is no version; one is three numbers, as 0.2.0, and may end as in 0.2.0-rc.1"
        ));
    }
    for manifest in MANIFESTS {
        let path = root.join(manifest);
        let text = fs::read_to_string(&path).map_err(|e| format!("{manifest}: {e}"))?;
        let raised =
            raised(&text, to).ok_or_else(|| format!("{manifest}: [workspace.package] has no version"))?;
        fs::write(&path, raised).map_err(|e| format!("{manifest}: {e}"))?;
    }
    for manifest in LOCKED {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let update = ["update", "--quiet", "--workspace", "--manifest-path", manifest];
        let status = Command::new(cargo).args(update).current_dir(root).status();
        let status = status.map_err(|e| format!("cannot run cargo update: {e}"))?;
        if !status.success() {
            return Err(format!("cargo {}: {status}", update.join(" ")));
        }
    }
    println!("version {to}; next: its heading in CHANGELOG.md");
    Ok(())
}

fn is_version(text: &str) -> bool {
    let (numbers, rest) = text.split_once('-').map_or((text, None), |(numbers, rest)| (numbers, Some(rest)));
    let numbers: Vec<&str> = numbers.split('.').collect();
    let is_number = |n: &&str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    let is_word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    numbers.len() == 3 && numbers.iter().all(is_number) && rest.is_none_or(is_word)
}

/// Returns the manifest with the version `to` for the workspace, and for each crate that it requires by its
/// path. Returns `None` if the workspace states no version.
fn raised(manifest: &str, to: &str) -> Option<String> {
    let (mut section, mut is_raised) = ("", false);
    let mut raised = String::new();
    for line in manifest.split_inclusive('\n') {
        if line.starts_with('[') {
            section = line.trim();
        }
        if section == "[workspace.package]" && line.starts_with("version = ") {
            is_raised = true;
            raised.push_str(&format!("version = \"{to}\"\n"));
        } else if let Some((before, rest)) = line.split_once(REQUIRED).filter(|_| line.contains("path = ")) {
            raised.push_str(&format!("{before}{REQUIRED}{to}{}", &rest[rest.find('"')?..]));
        } else {
            raised.push_str(line);
        }
    }
    is_raised.then_some(raised)
}

/// The start of a required version. It requires exactly this version, because crates of the store are
/// compatible only with crates of the same version.
const REQUIRED: &str = "version = \"=";
