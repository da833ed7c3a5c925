//! Checks of manifests: every dependency comes from the workspace, and every crate inherits the lints.

use super::report::{File, Report};

/// Checks the manifest of every crate.
pub(super) fn check(files: &[File], report: &mut Report) {
    for file in files.iter().filter(|f| is_member(&f.path)) {
        check_dependencies(file, report);
        if !inherits_lints(&file.text) {
            report.error(
                file,
                1,
                "no `[lints] workspace = true`; the lints are stated once, in the root manifest",
            );
        }
    }
}

fn is_member(path: &str) -> bool {
    let in_workspace = path.starts_with("crates/") || path.starts_with("lab/hedgerow-");
    path == "xtask/Cargo.toml" || (in_workspace && path.ends_with("/Cargo.toml"))
}

fn inherits_lints(manifest: &str) -> bool {
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[lints]" && line.replace(' ', "") == "workspace=true" {
            return true;
        }
    }
    false
}

/// The section of a manifest to which a line belongs.
enum Section {
    /// `[dependencies]` and similar sections, with one dependency per line.
    List {
        of_tests: bool,
    },
    /// `[dependencies.NAME]`, in which the following lines are keys of one dependency. It records whether
    /// `workspace = true` is among them.
    One {
        name: String,
        line: usize,
        from_workspace: bool,
    },
    Other,
}

fn check_dependencies(file: &File, report: &mut Report) {
    let mut section = Section::Other;
    for (number, line) in (1..).zip(file.text.lines().map(str::trim)) {
        if let Some(header) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            close(&section, file, report);
            section = open(header, number);
            continue;
        }
        match &mut section {
            Section::List { of_tests } => {
                if let Some((name, value)) = line.split_once('=')
                    && !line.starts_with('#')
                    && !states_workspace(name, value)
                    && !(*of_tests && is_path_alone(value))
                {
                    refuse(name.trim(), number, file, report);
                }
            }
            Section::One { from_workspace, .. } => {
                *from_workspace |= line.replace(' ', "") == "workspace=true"
            }
            Section::Other => {}
        }
    }
    close(&section, file, report);
}

fn open(header: &str, line: usize) -> Section {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let last = header.rsplit('.').next().unwrap_or(header);
    if KINDS.contains(&last) {
        return Section::List { of_tests: last == "dev-dependencies" };
    }
    let parent = header.rsplit_once('.').map_or("", |(parent, _)| parent);
    if KINDS.contains(&parent.rsplit('.').next().unwrap_or(parent)) {
        return Section::One { name: last.to_owned(), line, from_workspace: false };
    }
    Section::Other
}

fn close(section: &Section, file: &File, report: &mut Report) {
    if let Section::One { name, line, from_workspace: false } = section {
        refuse(name, *line, file, report);
    }
}

/// True for `name.workspace = true` and `name = { workspace = true, ... }`.
fn states_workspace(name: &str, value: &str) -> bool {
    (name.trim().ends_with(".workspace") && value.trim() == "true")
        || value.replace(' ', "").contains("workspace=true")
}

/// True for `{ path = "../NAME" }`. Cargo omits a test dependency of this form from a published manifest, in
/// which it would form a cycle.
fn is_path_alone(value: &str) -> bool {
    let value = value.replace(' ', "");
    value.starts_with("{path=\"../") && value.ends_with("\"}") && !value.contains(',')
}

fn refuse(name: &str, line: usize, file: &File, report: &mut Report) {
    report.error(
        file,
        line,
        format!(
            "dependency `{name}` is not from the workspace; state it in the root manifest and inherit it"
        ),
    );
}
