//! Checks of the repository that neither the compiler nor clippy makes. Every failure names its place and a
//! remedy.

mod arrows;
mod costs;
mod manifest;
mod modules;
mod published;
mod report;
mod sizes;
mod source;
mod subjects;
mod text;
mod tokens;
mod words;
mod wrap;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata;
use report::{File, Place, Report};

/// The permitted exceptions of the checks, in addition to the table of crates.
#[derive(Debug, Clone, Copy, Default)]
struct Tables {
    known_cycles: &'static [modules::known::KnownCycle],
    rooms: &'static [modules::known::Rooms],
    long_files: &'static [(&'static str, usize)],
    old_pages: &'static [&'static str],
}

const TABLES: Tables = Tables {
    known_cycles: modules::known::KNOWN_CYCLES,
    rooms: modules::known::ROOMS,
    long_files: sizes::LONG_FILES,
    old_pages: wrap::OLD_PAGES,
};

/// Runs every check on the repository at `root`, and prints the findings.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut report = check(root, TABLES)?;
    subjects::check(root, subjects::SINCE, &mut report);
    for skipped in &report.skipped {
        println!("skipped: {skipped}");
    }
    for (path, count) in &report.unsafe_blocks {
        println!("unsafe: {path}: {count} blocks");
    }
    for line in &report.modules {
        println!("modules: {line}");
    }
    let blocks: usize = report.unsafe_blocks.iter().map(|(_, count)| count).sum();
    println!(
        "tidy: {} errors, {blocks} unsafe blocks in {} files",
        report.errors.len(),
        report.unsafe_blocks.len()
    );
    if report.errors.is_empty() { Ok(()) } else { Err(report.errors.join("\n")) }
}

/// Prints every arrow between modules of the crate `krate`. It helps to remove cycles.
pub(crate) fn list_modules(root: &Path, krate: &str) -> Result<(), String> {
    let files = read_tree(root).map_err(|e| format!("cannot read the repository: {e}"))?;
    for line in modules::list(&files, krate)? {
        println!("{line}");
    }
    Ok(())
}

fn check(root: &Path, tables: Tables) -> Result<Report, String> {
    let mut report = Report::default();
    let workspace = metadata::load_all(root)?;
    arrows::check(&workspace.arrows, &mut report);
    published::check(&workspace, &mut report);
    let files = read_tree(root).map_err(|e| format!("cannot read the repository: {e}"))?;
    manifest::check(&files, &mut report);
    for (file, place) in files.iter().filter_map(|file| Some((file, Place::of(&file.path)?))) {
        let tokens = tokens::tokens(file.stream.clone());
        source::check(file, &place, &tokens, &mut report);
        costs::check(file, &place, &mut report);
        words::check(file, &place, &mut report);
        sizes::check_file(file, tables.long_files, &mut report);
        if !place.is_test() {
            sizes::check_functions(file, &tokens, &mut report);
        }
    }
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        wrap::check_comments(file, &mut report);
    }
    let is_old = |file: &&File| file.path == wrap::PAST_FIGURES || tables.old_pages.contains(&&*file.path);
    for page in files.iter().filter(|file| file.has_extension("md") && !is_old(file)) {
        wrap::check_page(page, &mut report);
        words::check_page(page, &mut report);
    }
    sizes::check_list(&files, tables.long_files, &mut report);
    modules::check(&files, tables.known_cycles, tables.rooms, &mut report);
    text::check(root, &files, &mut report);
    Ok(report)
}

/// The folders that are built, downloaded, or not part of the repository.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules", "__pycache__"];
/// The hidden folders that belong to the repository.
const HIDDEN_FOLDERS: &[&str] = &[".ci", ".cargo"];
/// The extensions of text files. The script `run` of continuous integration has no extension, but is also
/// read.
const TEXT_EXTENSIONS: &[&str] = &["rs", "toml", "md", "py", "pyi", "txt", "sh"];
const TEXT_NAMES: &[&str] = &["Makefile", "run"];

/// Reads all text files below `root`, sorted by path, so that reports are stable.
fn read_tree(root: &Path) -> std::io::Result<Vec<File>> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_dir() && is_ours(&name) {
                folders.push(entry.path());
            } else if kind.is_file() && is_text(&name) {
                let path = entry.path();
                let relative = path.strip_prefix(root).unwrap_or(&path);
                let relative = relative.to_string_lossy().replace('\\', "/");
                // Fixtures are input data: rows of numbers, and deliberately malformed rows.
                if !relative.starts_with("fixtures/") || name.ends_with(".md") {
                    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                    files.push(File::new(relative, text).map_err(std::io::Error::other)?);
                }
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_ours(folder: &str) -> bool {
    let skipped = SKIPPED_FOLDERS.contains(&folder) || folder.ends_with(".egg-info");
    !skipped && (!folder.starts_with('.') || HIDDEN_FOLDERS.contains(&folder))
}

fn is_text(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, e)| e);
    TEXT_NAMES.contains(&name) || extension.is_some_and(|e| TEXT_EXTENSIONS.contains(&e))
}
