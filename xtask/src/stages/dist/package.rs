//! The Python package: its source distribution and its wheel.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::release::{GLIBC, Release, broken, done, output};
use crate::stages::python;
use crate::stages::shell::Step;

/// The tag of wheels for [`GLIBC`].
const TAG: &str = "manylinux2014";
/// The files that the source distribution must contain. With them, a build needs only crates of the registry.
const SOURCES: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "PKG-INFO",
    "README.md",
    "crates/hedgerow-python/Cargo.toml",
    "pyproject.toml",
];
/// The files that the wheel must contain, by the ends of their paths.
const IN_WHEEL: [&str; 6] = [
    "hedgerow/__init__.py",
    "hedgerow/_native.abi3.so",
    "hedgerow/_native.pyi",
    "hedgerow/py.typed",
    "licenses/LICENSE-APACHE",
    "licenses/LICENSE-MIT",
];

/// Packs the sources. Checks that they include the files for a build, and that a build uses the versions of
/// the lock file.
pub(super) fn source(release: &Release) -> Result<(), String> {
    let folder = release.folder.to_string_lossy();
    done(
        &python::maturin(&release.root, &["sdist", "--out", &folder]).env("SOURCE_DATE_EPOCH", &release.time),
    )?;
    let name = format!("hedgerow-{}", release.version);
    let archive = release.folder.join(format!("{name}.tar.gz")).to_string_lossy().into_owned();
    let listing = output("tar", &release.scratch, &["-tzf", &archive])?;
    let is_there = |file: &&str| listing.lines().any(|line| line == format!("{name}/{file}"));
    if let Some(file) = SOURCES.iter().find(|file| !is_there(file)) {
        return Err(format!("{archive}: has no {file}"));
    }
    done(&Step::new("tar", &release.scratch, &["-xzf", &archive]))?;
    let sources = release.scratch.join(&name);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = "crates/hedgerow-python/Cargo.toml";
    // Cargo reads the manifests, and removes the entries of absent crates from the lock file.
    output(cargo, &sources, &["metadata", "--quiet", "--format-version=1", "--manifest-path", manifest])?;
    let lock = |folder: &Path| {
        let path = folder.join("Cargo.lock");
        fs::read_to_string(&path).map_err(|e| broken(&path, &e))
    };
    let (taken, own) = (lock(&sources)?, lock(&release.root)?);
    match locked(&taken).difference(&locked(&own)).next() {
        Some((name, version)) => Err(format!("a build takes {name} {version}, which the lock file has not")),
        None => Ok(()),
    }
}

/// Returns the names and versions of the crates in a lock file.
pub(super) fn locked(lock: &str) -> BTreeSet<(&str, &str)> {
    let entries = lock.split("[[package]]").skip(1);
    entries
        .filter_map(|entry| Some((quoted(entry, "\nname = \"")?, quoted(entry, "\nversion = \"")?)))
        .collect()
}

/// Returns the text between `before` and the next quotation mark.
fn quoted<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(before)?;
    after.split_once('"').map(|(text, _)| text)
}

/// Builds the wheel, checks its tag, and tries it in a separate environment.
pub(super) fn wheel(release: &Release) -> Result<(), String> {
    let folder = release.folder.to_string_lossy();
    let options = ["build", "--locked", "--profile", "wheel", "--features", "extension-module"];
    let options = [&options[..], &["--compatibility", TAG, "--zig", "--out", &folder]].concat();
    done(&release.with_zig(python::maturin(&release.root, &options)))?;
    let wheel = wheel_in(&release.folder)?;
    let name = wheel.to_string_lossy();
    let listing =
        output(python::program(&release.root, "python"), &release.root, &["-m", "zipfile", "-l", &name])?;
    let paths: Vec<&str> = listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    if let Some(file) = IN_WHEEL.iter().find(|file| !paths.iter().any(|path| path.ends_with(**file))) {
        return Err(format!("{name}: has no {file}"));
    }
    audit(release, &name)?;
    try_out(release, &name)
}

fn wheel_in(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|e| broken(folder, &e))?;
    let mut wheels = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = wheels.find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.ok_or_else(|| format!("{}: there is no wheel", folder.display()))
}

/// Checks by the wheel's symbols that it runs with the old glibc, and that it needs no library that it would
/// have to include.
fn audit(release: &Release, wheel: &str) -> Result<(), String> {
    let auditwheel = python::program(&release.root, "auditwheel");
    let shown = output(&auditwheel, &release.root, &["show", wheel])?;
    println!("{}", shown.trim());
    let tag = consistent_with(&shown).ok_or("auditwheel names no platform tag")?;
    let glibc = tag.strip_prefix("manylinux_").and_then(|rest| {
        let mut numbers = rest.split('_').map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    if glibc.is_none_or(|glibc| glibc > GLIBC) {
        return Err(format!("the wheel is {tag}, and has to be {TAG}"));
    }
    let (platform, repaired) = (
        format!("{TAG}_{}", release.processor()),
        release.scratch.join("repaired").to_string_lossy().into_owned(),
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = std::iter::once(release.root.join(".venv/bin")).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(tools).unwrap_or_default();
    let arguments = ["repair", "--plat", &platform, "--wheel-dir", &repaired, wheel];
    // Auditwheel needs patchelf on the path.
    done(&Step::new(&auditwheel, &release.root, &arguments).env("PATH", &path.to_string_lossy()))
}

/// Returns the platform tag in the output of `auditwheel show`, which wraps its lines.
pub(super) fn consistent_with(shown: &str) -> Option<String> {
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    quoted(&words, "is consistent with the following platform tag: \"").map(str::to_owned)
}

/// Installs the wheel into a fresh environment, and runs README's program with it. Also installs it into
/// `package`, which is the input of the site.
fn try_out(release: &Release, wheel: &str) -> Result<(), String> {
    let (root, scratch) = (&release.root, &release.scratch);
    let python = scratch.join("environment/bin/python");
    done(&Step::new("python3", scratch, &["-m", "venv", "environment"]))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let with_numpy = [&pip[..], &["--constraint", "python/requirements-test.txt", wheel]].concat();
    done(&Step::new(&python, root, &with_numpy))?;
    let package = scratch.join("package").to_string_lossy().into_owned();
    done(&Step::new(&python, root, &[&pip[..], &["--no-deps", "--target", &package, wheel]].concat()))?;
    let readme = root.join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|e| broken(&readme, &e))?;
    let snippet = first_python(&readme).ok_or("README.md: there is no Python")?;
    let version = format!("import hedgerow; assert hedgerow.__version__ == '{}'", release.version);
    // `-I` makes Python import the package from the environment, and not from a folder of the checkout.
    done(&Step::new(&python, scratch, &["-I", "-c", &version]))?;
    let printed = output(&python, scratch, &["-I", "-c", snippet])?;
    println!("README's program prints: {}", printed.trim());
    if printed.trim().is_empty() { Err("README's program prints nothing".to_owned()) } else { Ok(()) }
}

/// Returns the first Python program of a page.
pub(super) fn first_python(page: &str) -> Option<&str> {
    let (_, after) = page.split_once("```python\n")?;
    after.split_once("```").map(|(code, _)| code)
}
