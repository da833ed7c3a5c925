//! The release under construction: its version, its folders, and the commands that make its parts.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::metadata;
use crate::stages::plan::target_folder;
use crate::stages::python;
use crate::stages::shell::Step;

/// The release under construction.
pub(super) struct Release {
    pub(super) root: PathBuf,
    pub(super) version: String,
    /// The compiler's target, such as `x86_64-unknown-linux-gnu`.
    pub(super) target: String,
    /// The folder of the released files.
    pub(super) folder: PathBuf,
    /// The folder in which the stages try the released files.
    pub(super) scratch: PathBuf,
    /// The time of the commit in seconds. All files in archives have it, so that a second build makes equal
    /// archives.
    pub(super) time: String,
}

/// The oldest glibc on which a release runs: 2.17. `manylinux2014` requires it, and rustc supports no older
/// one.
pub(super) const GLIBC: (u32, u32) = (2, 17);

impl Release {
    /// Returns the release of the present state of the checkout.
    pub(super) fn of(root: &Path) -> Result<Release, String> {
        let workspace = metadata::load(root)?;
        let package = workspace.published().next().ok_or("no crate is published")?;
        let compiler = output("rustc", root, &["-vV"])?;
        let target = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let target = target.ok_or("`rustc -vV` names no host")?;
        if !target.ends_with("-unknown-linux-gnu") {
            return Err(format!("a release is built on Linux with glibc, and not yet on {target}"));
        }
        Ok(Release {
            version: package.version.clone(),
            target: target.to_owned(),
            folder: root.join("target/dist"),
            scratch: root.join("target/dist-scratch"),
            time: output("git", root, &["log", "-1", "--format=%ct"])?.trim().to_owned(),
            root: root.to_path_buf(),
        })
    }

    /// Returns the name of the processor in the tags of wheels, such as `x86_64`.
    pub(super) fn processor(&self) -> &str {
        self.target.split('-').next().unwrap_or_default()
    }

    /// Returns `step` with Zig's C compiler and linker, which link to the old glibc.
    pub(super) fn with_zig(&self, step: Step) -> Step {
        let cache = target_folder(&self.root).join("zig").to_string_lossy().into_owned();
        step.env("CARGO_ZIGBUILD_PYTHON_PATH", &python::program(&self.root, "python").to_string_lossy())
            .env("CARGO_ZIGBUILD_CACHE_DIR", &cache)
            .env("ZIG_GLOBAL_CACHE_DIR", &cache)
            .env("SOURCE_DATE_EPOCH", &self.time)
    }

    /// Packs the folder `folder/inside` into the release, as `NAME.tar.gz` with one folder `NAME`.
    pub(super) fn pack(&self, folder: &Path, inside: &str, name: &str) -> Result<(), String> {
        let archive = self.folder.join(format!("{name}.tar.gz")).to_string_lossy().into_owned();
        let (time, rename) = (format!("--mtime=@{}", self.time), format!("--transform=s,^{inside},{name},"));
        let arguments =
            ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=go=u-w", &time, &rename];
        // With `-n`, gzip stores no time, which would differ from build to build.
        let arguments = [&arguments[..], &["--use-compress-program=gzip -9n", "-cf"]].concat();
        let arguments = [&arguments[..], &[archive.as_str(), inside]].concat();
        done(&Step::new("tar", folder, &arguments))
    }

    /// Writes the checksums of all files, and returns them with the sizes of the files.
    pub(super) fn summed(&self) -> Result<String, String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(|e| broken(&self.folder, &e))? {
            let entry = entry.map_err(|e| broken(&self.folder, &e))?;
            let size = entry.metadata().map_err(|e| broken(&entry.path(), &e))?.len();
            names.push((entry.file_name().to_string_lossy().into_owned(), size));
        }
        names.sort();
        let files: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let sums = output("sha256sum", &self.folder, &files)?;
        let path = self.folder.join("SHA256SUMS");
        fs::write(&path, &sums).map_err(|e| broken(&path, &e))?;
        let line = |((name, size), sum): (&(String, u64), &str)| {
            format!("{size:>10} bytes  {name}  {}", sum.split(' ').next().unwrap_or_default())
        };
        let lines: Vec<String> = names.iter().zip(sums.lines()).map(line).collect();
        Ok(lines.join("\n"))
    }
}

/// Runs a step and shows its output.
pub(super) fn done(step: &Step) -> Result<(), String> {
    python::done(step).map_err(|failure| failure.what)
}

/// Returns the standard output of a program.
pub(super) fn output(
    program: impl AsRef<OsStr>,
    folder: &Path,
    arguments: &[&str],
) -> Result<String, String> {
    let shown = || format!("{} {}", program.as_ref().to_string_lossy(), arguments.join(" "));
    let output = Command::new(&program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| format!("cannot run `{}`: {e}", shown()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`{}`: {}\n{errors}", shown(), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the message for an error of a file.
pub(super) fn broken(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
